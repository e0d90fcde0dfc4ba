/*
 * Whether a few objects are referred to by each other only: as CPython's garbage collector finds what is unreachable, by counting.
 *
 * An object has as many references as its ob_refcnt says. Those that its fellows hold are looked for; where all of them are found, nothing
 * else refers to it. What is overlooked only makes it look referred to, so this never says too much. A list, frame or coroutine that has one
 * reference, from a fellow, is part of that fellow.
 *
 * CPython: Python/gc.c, subtract_refs(). Builds without the GIL count otherwise: there nothing is found.
 */
#ifndef PA_REFERENCES_H
#define PA_REFERENCES_H

#include "details.h"

/** An object, and how many of its references were found. */
struct pa_fellow {
    uint64_t object; /* first: of the index */
    uint32_t refcnt;
    uint32_t found;
};

struct pa_references {
    struct pa_graph *graph;
    PA_ARRAY(struct pa_fellow) fellows;
    struct pa_index index;
    PA_ARRAY(uint64_t) parts; /* that are to be looked at yet */
    uint64_t left;            /* references that may still be looked at */
    uint64_t looked;          /* that were looked at, since the first begin: bounded by PA_MAX_LOOKED */
    bool cut;                 /* there is more than is looked at */
    bool has_timeout;         /* something that can end a wait by itself was met: a timeout or timer */
};

/** Begin with no objects; @p references is zero, or was used before. */
void pa_references_begin(struct pa_references *references, struct pa_graph *graph);
void pa_references_free(struct pa_references *references);

/** The reference count of an object. @return false if it is unknown, or says nothing since the object is immortal. */
bool pa_refcnt(struct pa_graph *graph, uint64_t object, uint32_t *refcnt);

/** Add an object, once. */
void pa_references_add(struct pa_references *references, uint64_t object);

/** Add the frames of an exception's traceback: they have ended, but keep their variables. */
void pa_references_add_traceback(struct pa_references *references, uint64_t exception);

/** Count all references from the objects to one another. */
void pa_references_count(struct pa_references *references);

/** Whether all references to an object that was added come from these objects. */
bool pa_references_all_found(const struct pa_references *references, uint64_t object);
bool pa_references_closed(const struct pa_references *references);

#endif
