/*
 * What a task waits for: the lock, queue, timer … behind the future that it is suspended on.
 *
 * It is known from the innermost frame, if that is one of asyncio's own: by its file, its function, the class of its self and, what makes it
 * certain, the variable that holds the very future that the task is suspended on. All else is just a future.
 */
#ifndef PA_WAIT_H
#define PA_WAIT_H

#include "details.h"
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
    PA_WAITS_COUNT,
};

/** A number that is not known. */
#define PA_WAIT_UNKNOWN (-1)

struct pa_waits_on {
    enum pa_wait_kind kind;
    uint64_t future; /* that the task is suspended on; 0: none */
    uint64_t object; /* the lock, queue, task group …, the awaited task, the TimerHandle; 0: none */
    int64_t
        waiters; /* PA_WAIT_UNKNOWN in each: not of this kind, or not to be read. Lock, event, condition, semaphore, queue: futures
                        in its deque, as its repr() counts them */
    int64_t size, maximum; /* of a queue; a maximum of 0 or less: none */
    int64_t left, total;   /* gather, wait, task group: that are not done; a task group does not keep how many it had */
    double when;           /* PA_WAITS_TIMER: when it is due, by its loop's clock; NaN: unknown */
};

/** What is remembered from task to task. */
struct pa_waits {
    struct pa_graph *graph;
    uint8_t *rules;       /* by frame: which rule it falls under */
    uint32_t rule_count;  /* length of rules */
    uint64_t named_type;  /* the type that was looked at last, … */
    const char *name;     /* … for this name … */
    bool is_named;        /* … and whether it has it */
    uint64_t counted;     /* elements that were looked at one by one, for all tasks: bounded by PA_MAX_COUNTED */
    uint64_t last_gather; /* the last one that was counted */
    int64_t last_left;
    struct pa_links links; /* scratch */
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

/* wait_lock.c: parts of pa_waits_read(). They change nothing if it is not so. */

/** A task in asyncio.Event.wait() that in truth waits for anyio's CapacityLimiter. */
void pa_waits_on_limiter(struct pa_waits *waits, uint32_t node, struct pa_waits_on *waits_on);
/** A task that runs and is blocked in acquiring a threading lock, with its thread and loop. @return whether it is. */
bool pa_waits_on_thread_lock(struct pa_waits *waits, uint32_t node, struct pa_waits_on *waits_on);

/** The name of an object's type, "Lock"; empty if unknown. In the arena of objects. */
struct pa_text pa_object_type_name(struct pa_graph *graph, uint64_t object);

/** Whether what is waited for can be held by somebody (holder.h). */
bool pa_wait_has_holders(enum pa_wait_kind kind);

/** The name of a kind in the JSON: queues have one. */
const char *pa_wait_kind_name(enum pa_wait_kind kind);

#endif
