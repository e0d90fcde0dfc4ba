/*
 * Who holds an object: a lock, a semaphore, a limiter, a connection.
 *
 * A task or thread holds what it is in the body of a with or async with statement of: it lies on the value stack of its frame (with.h). What
 * is only being entered, or left, is not held. From there on: the generator of @contextmanager and @asynccontextmanager, whose own with
 * statements its caller is in the body of too; an asynchronous generator that it goes through, likewise; the exit callbacks of an ExitStack; the lock of a Condition, unless its wait() has given it
 * back. Some objects know their owner themselves (RLock, anyio's Lock and CapacityLimiter): that counts.
 *
 * All of it is made once, of all pending tasks and all threads, when it is first asked for. Tasks without a with statement on their stack
 * cost next to nothing.
 */
#ifndef PA_HOLDER_H
#define PA_HOLDER_H

#include "details.h"

/** How an object is held. */
enum pa_how {
    PA_HOW_WITH,
    PA_HOW_ASYNC_WITH,
    PA_HOW_EXIT_STACK,
    PA_HOW_ASYNC_FOR, /* by an asynchronous generator that it goes through */
    PA_HOW_OWNER,     /* the object says so; where it was acquired is not known, the frame is where the owner stands */
};

/** One who holds an object. */
struct pa_holder {
    uint32_t node;   /* the task; PA_NONE: none */
    uint32_t thread; /* where there is no task: the thread, index; PA_NONE: unknown, as the owner is neither */
    uint32_t frame;  /* in codes: the frame with the statement, at the line where it stands now; PA_NONE: unknown */
    uint32_t next;   /* of the same object, or PA_NONE */
    uint8_t how;     /* enum pa_how */
};

/** Whether another could have an object at once. */
enum pa_hold {
    PA_HOLD_UNKNOWN, /* it is none of the objects that we know, or cannot be read */
    PA_HOLD_FREE,
    PA_HOLD_HELD, /* of a semaphore or limiter: nothing is left */
};

/** What is known of one object. */
struct pa_held {
    enum pa_hold state;
    uint32_t total; /* how many hold it */
    bool none;      /* it is held, and whoever holds it is certainly on no stack: say "holder: none on any stack" */
};

/** The state of a lock, semaphore, condition (that of its lock) or limiter, of asyncio, threading or anyio. */
enum pa_hold pa_hold_state(struct pa_graph *graph, uint64_t object);

/**
 * Who holds an object: as far as it is certain, else nobody. For an edge from a waiter to whom it waits for.
 *
 * @param items Room for @p capacity of them; may be NULL with 0. No more than PA_MAX_LOCK_HOLDERS are stored.
 * @return how many were stored; held->total is how many there are.
 */
uint32_t pa_holders_of(struct pa_graph *graph, uint64_t object, struct pa_holder *items, uint32_t capacity, struct pa_held *held);

/**
 * The threading.Lock or RLock that a thread is blocked in acquiring, by a with statement or a call; its holders are whom it waits for. In
 * threading.Condition.wait(), which waits on a lock of its own making, it is the condition: nobody holds what that waits for.
 *
 * @param thread Index.
 * @param[out] is_condition May be NULL.
 * @return 0 if there is none, or if it is not certain.
 */
uint64_t pa_thread_awaited_lock(struct pa_graph *graph, uint32_t thread, bool *is_condition);

/** The same for the thread that a task runs in, if the task's own code waits. */
uint64_t pa_task_awaited_lock(struct pa_graph *graph, uint32_t node, bool *is_condition);

/** "with", "async with", "ExitStack", "async for", "owner": as in the JSON. */
const char *pa_how_name(enum pa_how how);

#endif
