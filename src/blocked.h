/*
 * What a thread is blocked in: the call that its innermost Python frames are in, as far as Python's memory tells.
 *
 * Known in two ways: by the frames of threading, queue, concurrent.futures, subprocess and selectors, with the object in their variables;
 * and by the C function that the innermost frame calls, which lies on its value stack with its arguments (CPython: a CALL instruction leaves
 * them there until it returns). That a thread waits in that function is not known from here: it is in it, or just came from it, so the kinds
 * are those of calls whose purpose is to wait; of all other C functions only the name is told (PA_BLOCKED_CALL).
 *
 * For whoever asks why a loop stands still: pa_blocked_read() of its thread. A loop in its own selector is no PA_BLOCKED_SELECT of
 * anyone's code: ask pa_loop_read() first.
 */
#ifndef PA_BLOCKED_H
#define PA_BLOCKED_H

#include "graph.h"

enum pa_blocked_kind {
    PA_BLOCKED_NOT,  /* nothing is known: it runs Python code, or has none */
    PA_BLOCKED_CALL, /* in a C function that may or may not wait: see function */
    PA_BLOCKED_SLEEP,
    PA_BLOCKED_LOCK,      /* object: a lock of threading */
    PA_BLOCKED_CONDITION, /* object in each: of threading */
    PA_BLOCKED_EVENT,
    PA_BLOCKED_SEMAPHORE,
    PA_BLOCKED_BARRIER,
    PA_BLOCKED_QUEUE,    /* get(), put() or join() of object, a queue of the module queue */
    PA_BLOCKED_FUTURE,   /* object: a future of concurrent.futures */
    PA_BLOCKED_FUTURES,  /* concurrent.futures.wait() */
    PA_BLOCKED_WORKER,   /* an idle thread of a ThreadPoolExecutor; object: its queue of work */
    PA_BLOCKED_THREAD,   /* joins object, a threading.Thread */
    PA_BLOCKED_SHUTDOWN, /* the interpreter ends and waits for all threads that are no daemons */
    PA_BLOCKED_PROCESS,  /* object: a subprocess.Popen */
    PA_BLOCKED_SOCKET,   /* object: a socket */
    PA_BLOCKED_RESOLVE,  /* getaddrinfo() */
    PA_BLOCKED_SELECT,   /* a selector, select(), poll() */
    PA_BLOCKED_READ,     /* of a file descriptor */
    PA_BLOCKED_COUNT,
};

struct pa_blocked {
    enum pa_blocked_kind kind;
    uint64_t object;    /* 0: none, or unknown */
    bool in_shutdown;   /* threading._shutdown() called it */
    uint32_t own;       /* in codes: the innermost frame of the user's own code; PA_NONE: it runs none */
    double seconds;     /* PA_BLOCKED_SLEEP: for how long; NaN: unknown */
    char function[256]; /* what blocks: "Queue.get", "time.sleep", "_socket.socket.recv"; from the target, not escaped */
};

/** What a thread (index) is blocked in. */
void pa_blocked_read(struct pa_graph *graph, uint32_t thread, struct pa_blocked *blocked);

/** Whether a socket object's methods wait: it has no timeout, or one of more than 0. asyncio's have 0. */
bool pa_socket_waits(struct pa_graph *graph, uint64_t socket);

/** The thread (index) that a threading.Thread is; PA_NONE if it is none, or does not run. */
uint32_t pa_thread_of_object(struct pa_graph *graph, uint64_t object);

/** The threading.Thread of a thread (index); 0: it has none, or is one of a sub-interpreter. */
uint64_t pa_thread_object(struct pa_graph *graph, uint32_t thread);

/**
 * The threads that threading._shutdown() waits for: those that are no daemons, without the main thread.
 *
 * @param threads Room for @p capacity objects of threading.Thread.
 * @return how many there are.
 */
uint32_t pa_threads_not_daemon(struct pa_graph *graph, uint64_t *threads, uint32_t capacity);

/** "sleep", "lock", …: as in the JSON. */
const char *pa_blocked_kind_name(enum pa_blocked_kind kind);

#endif
