/*
 * What holder.c and holder_owner.c share: the index of who holds what.
 */
#ifndef PA_HOLDER_PARTS_H
#define PA_HOLDER_PARTS_H

#include "holder.h"
#include "with.h"

/** What kind of lock an object is, by what it is made of. */
enum pa_lock_kind {
    LOCK_OTHER,
    LOCK_ONE,      /* one holder: asyncio.Lock, threading.Lock */
    LOCK_MANY,     /* many: semaphores */
    LOCK_TASK,     /* knows the task: anyio.Lock */
    LOCK_THREAD,   /* knows the thread: RLock */
    LOCK_BORROWED, /* knows all its borrowers: anyio.CapacityLimiter */
};

/** What a lock says of itself. */
struct pa_lock {
    uint64_t object; /* of a condition that was asked for: its lock */
    enum pa_lock_kind kind;
    enum pa_hold state;
    uint64_t owner; /* LOCK_TASK: the task; LOCK_THREAD: pthread_self(); LOCK_BORROWED: the set */
};

/** What was answered about a lock: each of its many waiters asks. */
struct pa_answer {
    uint64_t object;        /* first: of the index; that was asked for */
    uint32_t first, stored; /* in answered */
    struct pa_held held;
};

/** An object that is held, and its entries. */
struct pa_held_object {
    uint64_t object; /* first: of the index */
    uint32_t first, last, count;
};

/** A context manager that is to be looked at. */
struct pa_pending {
    uint64_t manager;
    uint8_t how;
};

struct pa_holders {
    struct pa_graph *graph;
    struct pa_withs withs;
    PA_ARRAY(struct pa_held_object) objects;
    struct pa_index index;
    PA_ARRAY(struct pa_holder) entries;
    bool cut; /* a bound was met: nobody is said to be no holder */
    PA_ARRAY(struct pa_answer) answers;
    struct pa_index answer_index;
    PA_ARRAY(struct pa_holder) answered;
    uint32_t answered_nodes;    /* nodes that there were: more may be met by name later */
    uint64_t looked;            /* places in sets of borrowers, bounded by PA_MAX_LOOKED */
    struct pa_addresses moving; /* holder_owner.c: what is just being taken, given back or handed over */
    bool moving_made;
    struct pa_bytes roles, frames; /* of types and frames, what they are to us */
    /* Scratch. */
    PA_ARRAY(struct pa_pending) pending;
    struct pa_links links;
    uint8_t *seen_greenlets;
    uint64_t released[PA_MAX_RELEASED];
    uint32_t released_count;
};

/** What there is about a place in the program. */
enum pa_frame_flags {
    PA_FRAME_WITH = PA_HAS_WITH,
    PA_FRAME_ASYNC_FOR = PA_HAS_ASYNC_FOR,
    PA_FRAME_CONDITION_WAIT = 4, /* Condition.wait() */
    PA_FRAME_TAKES = 8,          /* a method that takes its self, or gives it back */
};

/** The flags of a frame (an id of codes); 0 without memory. */
uint8_t pa_holders_frame(struct pa_holders *holders, uint32_t frame);

/** The index, made if there is none yet; NULL without memory. */
struct pa_holders *pa_holders_made(struct pa_graph *graph);

#endif
