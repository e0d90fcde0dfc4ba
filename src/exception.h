/*
 * Exceptions of ended tasks: where they were raised, and what caused them. And where a task was created, in asyncio's debug mode.
 */
#ifndef PA_EXCEPTION_H
#define PA_EXCEPTION_H

#include "details.h"
#include "instance.h"

/** How an exception belongs to the one before it. */
enum pa_relation {
    PA_RAISED,  /* it is the first */
    PA_CAUSE,   /* raise … from it */
    PA_CONTEXT, /* it was being handled */
    PA_MEMBER,  /* of an exception group */
};

struct pa_exception {
    uint64_t address;
    uint32_t of;      /* the exception it belongs to: its place in the list */
    uint32_t stack;   /* of its traceback; 0: it has none */
    uint8_t relation; /* enum pa_relation */
    bool damaged;     /* its traceback could not be read to its end */
};

/** An exception and those that led to it, each once. Owned by the caller, reused. */
struct pa_exceptions {
    struct pa_exception *items;
    uint32_t count, capacity;
    bool more; /* there are more than PA_MAX_EXCEPTIONS */
};

/** "cause", "context", "member"; "" for the first */
const char *pa_relation_name(enum pa_relation relation);

/** Fill @p exceptions with the one at @p exception and those that it leads to. As a traceback shows them: a context that is suppressed is none. */
void pa_exception_chain(struct pa_codes *codes, uint64_t exception, struct pa_exceptions *exceptions);

/** The exception that a task or future ended with; 0 if it did not. */
uint64_t pa_task_exception(struct pa_graph *graph, uint32_t node);

/** Whether nobody has asked for it yet: "Task exception was never retrieved" would be logged at the task's end. */
bool pa_task_exception_is_new(struct pa_graph *graph, uint32_t node);

/** A frame of source_traceback. */
struct pa_origin {
    uint64_t function, file; /* str objects */
    int64_t line;            /* 0 if unknown */
};

/** Where a task was created, innermost frame first; empty unless asyncio was in debug mode. Owned by the caller, reused. */
struct pa_origins {
    struct pa_origin *items;
    uint32_t count, capacity;
};
void pa_task_origin(struct pa_graph *graph, uint32_t node, struct pa_origins *origins);

/** The contextvars.Context of a task; 0 if it has none. */
uint64_t pa_task_context(struct pa_graph *graph, uint32_t node);

#endif
