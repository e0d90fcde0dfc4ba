/*
 * The chain of coroutines that a task is suspended in.
 */
#ifndef PA_COROUTINE_H
#define PA_COROUTINE_H

#include "frame.h"

/** One frame of a chain: the object that owns it, and the place. */
struct pa_link {
    uint64_t object;   /* coroutine, generator or async generator; of another awaitable: that object */
    uint32_t frame;    /* id in codes */
    uint32_t greenlet; /* bridge.c: the greenlet whose frame it is, its id plus 1; 0: none */
};

/** Why a chain ended where it did. */
enum pa_chain_end {
    PA_END_FUTURE,    /* a future's iterator: the normal end of a task that waits */
    PA_END_YIELD,     /* a plain yield: asyncio.sleep(0) */
    PA_END_CREATED,   /* not started */
    PA_END_EXECUTING, /* runs, or was running: what it calls stands on a thread's stack */
    PA_END_CLEARED,   /* has ended */
    PA_END_AWAITABLE, /* an object of a type that we cannot follow; it is the chain's last link */
    PA_END_UNKNOWN,   /* what is awaited could not be read: see @c why */
};

/**
 * What a coroutine looked like at one level of the chain that was followed last, in the words of its memory. A million tasks that do the
 * same differ in nothing but addresses: where the next chain looks the same, nothing has to be worked out again.
 */
struct pa_shape {
    uint64_t last;                          /* the object that looked so */
    uint64_t type, executable, instruction; /* ob_type, f_executable with its tag, instr_ptr */
    uint64_t stackpointer;                  /* less the object's address */
    uint32_t extent;                        /* bytes that are looked at; 0: no shape */
    uint32_t slot;                          /* where in them the awaited object is */
    uint32_t frame;
    uint8_t state, owner;
};

/** Levels of a chain that have a shape. */
#define PA_SHAPES 16u

/** The chain of a coroutine, outermost frame first. */
struct pa_chain {
    PA_ARRAY(struct pa_link) links;
    enum pa_chain_end end;
    uint64_t end_object; /* PA_END_FUTURE: the future; PA_END_UNKNOWN: the address that was tried */
    const char *why;     /* PA_END_UNKNOWN: what was wrong */
    uint32_t derived;    /* how many links, from the outermost on, are certain; the rest is derived from what an object holds */
    struct pa_shape shapes[PA_SHAPES];
    uint32_t shaped;  /* levels, from the first on without a gap, that looked as in the last chain */
    uint32_t learned; /* how often a shape has changed: while it does not, equally many of these levels are the same frames */
};

void pa_chain_free(struct pa_work *work, struct pa_chain *chain);

/**
 * Follow a coroutine to what it is suspended on. @p chain is reused: its links are replaced.
 *
 * Goes on through async generators, anext() with a default, generator-based coroutines, coroutine wrappers, coroutines compiled by Cython
 * and objects whose __await__ returns one of these. From an object of another kind it goes on to the only coroutine that this holds, unless
 * that leads to something else than the future @p waiter, which the task is suspended on (0: it is suspended on none). Bounded by
 * PA_MAX_STACK_DEPTH and by a check for circles.
 */
void pa_chain_follow(struct pa_codes *codes, uint64_t coroutine, uint64_t waiter, struct pa_chain *chain);

/** Take back what was derived from the coroutine that an object holds: the chain ends at that object. */
void pa_chain_cut(struct pa_chain *chain);

/** Whether a part of the chain is derived. */
static inline bool pa_chain_is_derived(const struct pa_chain *chain)
{
    return chain->derived < chain->links.count;
}

#endif
