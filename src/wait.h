/*
 * What a task waits for: the lock, queue, timer … behind the future that it is suspended on.
 *
 * It is known from the innermost frame, if that is one of asyncio's own: by its file, its function, the class of its self and, what makes it
 * certain, the variable that holds the very future that the task is suspended on. All else is just a future.
 */
#ifndef PA_WAIT_H
#define PA_WAIT_H

#include "blocked.h"
#include "details.h"
#include "executor.h"
#include "future.h"
#include "variables.h"

enum pa_wait_kind {
    PA_WAITS_READY, /* for nothing: its future is done, or it yielded */
    PA_WAITS_TASK,
    PA_WAITS_FUTURE, /* nothing more is known */
    PA_WAITS_TIMER,
    PA_WAITS_LOCK,
    PA_WAITS_EVENT,
    PA_WAITS_CONDITION,
    PA_WAITS_SEMAPHORE,
    PA_WAITS_QUEUE_GET,
    PA_WAITS_QUEUE_PUT,
    PA_WAITS_GATHER,
    PA_WAITS_WAIT,
    PA_WAITS_TASKGROUP,
    PA_WAITS_SOCKET,
    PA_WAITS_PIPE,
    PA_WAITS_PROCESS,
    PA_WAITS_EXECUTOR,
    PA_WAITS_COUNT,
};

/** A number that is not known. */
#define PA_WAIT_UNKNOWN (-1)

struct pa_waits_on {
    enum pa_wait_kind kind;
    uint64_t future; /* that the task is suspended on; 0: none */
    uint64_t
        object; /* the lock, queue, task group …, the awaited task, the TimerHandle; of a socket it or its transport, of a pipe the
                        transport, of a process the transport or asyncio.subprocess.Process, of an executor it; 0: none */
    int64_t
        waiters; /* PA_WAIT_UNKNOWN in each: not of this kind, or not to be read. Lock, event, condition, semaphore, queue: futures
                        in its deque, as its repr() counts them */
    int64_t size, maximum; /* of a queue; a maximum of 0 or less: none */
    int64_t left, total;   /* gather, wait, task group: that are not done; a task group does not keep how many it had */
    double when;           /* PA_WAITS_TIMER: when it is due, by its loop's clock; NaN: unknown */
    double due;            /* in how many seconds that is, less than 0 if it was before; NaN: unknown. See pa_loop_facts.now */
    int64_t fd;            /* socket, pipe */
    bool writes;           /* of these: it waits to write, or to be connected; else to read */
    uint64_t peer;         /* socket: its peer's address as Python has it; 0: unknown, or it has none */
    int64_t pid;           /* process */
    uint32_t thread;       /* executor: the thread (index) that runs it; PA_NONE: none yet, or a process */
    int64_t place;         /* executor: in its queue, 1 is next; PA_WAIT_UNKNOWN: it is not queued */
    int64_t queued, busy, workers; /* executor: what is queued, threads that run something, the most that there may be */
};

/** A future that a loop sets when a socket is readable or writable. */
struct pa_watched {
    uint64_t future; /* first: of the index */
    uint64_t socket;
    int64_t fd;
    bool writes;
};

/** What is remembered from task to task. */
struct pa_waits {
    struct pa_graph *graph;
    struct pa_bytes rules; /* by frame: which rule it falls under */
    uint64_t named_type;   /* the type that was looked at last, … */
    const char *name;      /* … for this name … */
    bool is_named;         /* … and whether it has it */
    uint64_t counted;      /* elements that were looked at one by one, for all tasks: bounded by PA_MAX_COUNTED */
    struct pa_links links; /* scratch */
    struct pa_executors executors;
    PA_ARRAY(struct pa_watched) watched; /* wait_watched.c */
    struct pa_index watched_index;
    uint32_t watched_keys; /* that were looked at, of all loops together */
    bool watched_made;
    uint32_t clock_loop; /* the loop whose clock was read last, its id plus 1; 0: none */
    double clock;
};

void pa_waits_init(struct pa_waits *waits, struct pa_graph *graph);
void pa_waits_deinit(struct pa_waits *waits);

/**
 * What a task waits for.
 *
 * @param innermost The object that owns the innermost frame of its stack (pa_task_objects()); 0 if there is none.
 * @return false if it waits for nothing that is known: it runs, or has ended.
 */
bool pa_waits_read(struct pa_waits *waits, uint32_t node, uint64_t innermost, struct pa_waits_on *waits_on);

/** What a task that waits waits on as its stack tells: but code may only look like asyncio's. PA_WAITS_COUNT: it does not tell. */
enum pa_wait_kind pa_waits_of_stack(struct pa_waits *waits, const struct pa_node *node);

/** "a lock", as in "waiting for a lock"; NULL: of such a kind there is no more to say than that it waits. */
const char *pa_wait_kind_noun(enum pa_wait_kind kind);

/* Parts of pa_waits_read(). They change nothing if it is not so. */

/** The interpreter frame of the coroutine that called the innermost one, if it is that function of a file whose name ends so; else 0. */
uint64_t pa_waits_outer_frame(struct pa_waits *waits, uint32_t node, const char *function, const char *file);

/* wait_lock.c */

/** A task in asyncio.Event.wait() that in truth waits for anyio's CapacityLimiter. */
void pa_waits_on_limiter(struct pa_waits *waits, uint32_t node, struct pa_waits_on *waits_on);
/** A task that runs and is blocked in acquiring a threading lock, with its thread and loop. @return whether it is. */
bool pa_waits_on_thread_lock(struct pa_waits *waits, uint32_t node, struct pa_waits_on *waits_on);

/* wait_io.c */

/**
 * A task that stands in @p function of asyncio, which waits for a socket, pipe or process: of which one. If that is not certain it is just a
 * future.
 *
 * @param iframe The innermost frame, whose self is @p self.
 */
void pa_waits_on_io(struct pa_waits *waits, uint32_t node, uint64_t iframe, const char *function, uint64_t self,
                    struct pa_waits_on *waits_on);
/** A task that waits for a future: whether an executor will set it. In anyio's frame (PA_WAITS_EXECUTOR): which thread. */
void pa_waits_on_executor(struct pa_waits *waits, uint64_t iframe, struct pa_waits_on *waits_on);

/** wait_watched.c: a task that waits for a future: whether its loop will set it when a socket is ready. */
void pa_waits_on_watched(struct pa_waits *waits, struct pa_waits_on *waits_on);
/** The file descriptor of a socket object; PA_WAIT_UNKNOWN: it is none, or closed. */
int64_t pa_socket_fd(struct pa_graph *graph, uint64_t socket);

/** Room for an address of a socket as text. */
#define PA_PEER_BYTES 512u
/** The address of a socket: "127.0.0.1:80", "[::1]:80", the path of a Unix socket. @return its length; 0: it is none of these. */
uint32_t pa_peer_text(struct pa_graph *graph, uint64_t peer, char text[PA_PEER_BYTES]);

/** Whether what is waited for can be held by somebody (holder.h). */
bool pa_wait_has_holders(enum pa_wait_kind kind);

/** The name of a kind in the JSON: queues have one. */
const char *pa_wait_kind_name(enum pa_wait_kind kind);

#endif
