/*
 * Executors of concurrent.futures, their threads, and the work that was submitted to them.
 *
 * CPython: Lib/concurrent/futures/thread.py and process.py. A ThreadPoolExecutor is known by the frames of its threads, in _worker(): their
 * variables lead to its queue and, unless it is gone, to itself. A ProcessPoolExecutor by the frame of its manager thread.
 */
#ifndef PA_EXECUTOR_H
#define PA_EXECUTOR_H

#include "graph.h"

struct pa_executor {
    uint64_t queue;    /* first: of the index; a ThreadPoolExecutor's _work_queue; the manager thread of a ProcessPoolExecutor */
    uint64_t object;   /* the executor; 0: it is gone, its threads still work */
    uint32_t threads;  /* that it has; 0 of processes */
    uint32_t busy;     /* of these, that run something: exactly, not by its own count of idle ones */
    int64_t maximum;   /* threads or processes that it may have; -1: unknown */
    int64_t queued;    /* work that no thread has taken; of processes what has not ended; -1: more than is looked at */
    bool of_processes; /* which process runs what is not known */
};

/** Work that was submitted and has not ended. */
struct pa_submitted {
    uint64_t future;   /* first: of the index; concurrent.futures.Future */
    uint32_t executor; /* index */
    uint32_t thread;   /* that runs it, index; PA_NONE: none yet, or a process */
    uint64_t place;    /* in the queue, 1 is next; 0: it is not queued */
};

struct pa_executors {
    struct pa_graph *graph;
    PA_ARRAY(struct pa_executor) items;
    struct pa_index index;
    PA_ARRAY(struct pa_submitted) submitted;
    struct pa_index submitted_index;
    uint32_t looked; /* elements of all queues that were looked at: in damaged memory they may all be the same queue */
    bool made;
};

/** Find them all. Does nothing the second time. */
void pa_executors_make(struct pa_executors *executors, struct pa_graph *graph);
void pa_executors_free(struct pa_executors *executors);

/**
 * What was submitted and is behind a future of asyncio: what run_in_executor(), to_thread() and wrap_future() return. Its first callback
 * cancels the other one with it. NULL: nothing that is known.
 */
const struct pa_submitted *pa_executors_behind(const struct pa_executors *executors, uint64_t future);

#endif
