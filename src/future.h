/*
 * Tasks and futures that keep their fields as attributes: asyncio's own classes in Python, which serve where its accelerator in C is
 * blocked and can be had beside it, and classes of anyone's that were registered as tasks ("duck-typed").
 *
 * CPython: Lib/asyncio/futures.py and tasks.py; what an instance has not set is the class's: pending, no exception, nobody waits.
 */
#ifndef PA_FUTURE_H
#define PA_FUTURE_H

#include "graph.h"

/** The fields of a task or future, wherever its class keeps them. */
struct pa_future {
    enum pa_state state;
    uint64_t loop;       /* 0 in each: none */
    uint64_t awaited_by; /* an object or, see below, a set of them */
    uint64_t coroutine;
    uint64_t fut_waiter;
    bool awaited_by_is_set;
    bool fut_waiter_known; /* it has such a field */
    bool is_notable;       /* of asyncio's C code: see PA_NODE_NOTABLE */
};

/** Whether objects of this kind are tasks or futures of asyncio's, in C or in Python. */
static inline bool pa_kind_is_future(enum pa_kind kind)
{
    return kind == PA_KIND_TASK || kind == PA_KIND_FUTURE || kind == PA_KIND_PYTHON_TASK || kind == PA_KIND_PYTHON_FUTURE;
}

/** Whether an object is a task or future: by its kind, or as one that was registered. */
bool pa_is_future(struct pa_graph *graph, uint64_t address);

/**
 * Read the attributes of a task or future.
 *
 * A duck-typed task that calls its coroutine otherwise than asyncio does is still followed if one attribute only holds a coroutine.
 *
 * @return false if none of its attributes can be read.
 */
bool pa_future_read(struct pa_graph *graph, uint64_t address, bool is_task, struct pa_future *future);

/** The only one who is noted to await a task or future of asyncio's C code; 0 if there is none, or more, or the object is no such future. */
uint64_t pa_future_only_awaiter(struct pa_graph *graph, uint64_t future);

/** object.@p name for the instance itself; 0 if there is no such attribute or it is None. @p name is a literal. */
uint64_t pa_future_attribute(struct pa_graph *graph, uint64_t address, const char *name);

#endif
