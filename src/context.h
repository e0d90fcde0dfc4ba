/*
 * The variables of a contextvars.Context.
 */
#ifndef PA_CONTEXT_H
#define PA_CONTEXT_H

#include "instance.h"

/** Levels of a HAMT: 32 bits of hash, 5 a level, and one for collisions. CPython: Include/internal/pycore_hamt.h, _Py_HAMT_MAX_TREE_DEPTH */

/** Going through the variables of a context, in the order of iteration over it. */
struct pa_context_iterator {
    struct pa_objects *objects;
    struct pa_hamt_level { /* a node that is open */
        uint64_t items;
        uint32_t index, count;
        bool nodes; /* it holds nodes alone; else pairs of a variable and a value, or of NULL and a node */
    } levels[PA_MAX_HAMT_DEPTH];
    uint32_t depth;
    uint64_t left;       /* variables not seen yet, as the HAMT says */
    uint64_t nodes_left; /* that may be opened: none is without a variable below it */
    bool damaged;        /* something could not be read: variables may be missing */
    /* What pa_context_next() found. */
    uint64_t variable; /* the ContextVar */
    uint64_t name;     /* the str of its name */
    uint64_t value;
};

/** Begin with the context at @p context. @return false, with @c damaged set, if it is none. */
bool pa_context_begin(struct pa_objects *objects, uint64_t context, struct pa_context_iterator *iterator);

/** The next variable that is set. @return false at the end, which may come early: see @c damaged. */
bool pa_context_next(struct pa_context_iterator *iterator);

#endif
