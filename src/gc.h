/*
 * The objects that CPython's cyclic garbage collector tracks: every task, future, coroutine and greenlet is one, in whatever list of
 * asyncio's it is or is not. A way to find what nothing else leads to; it costs a look at every container object of the process.
 *
 * CPython: each interpreter has three generations and a permanent one (gc.freeze()), each the head of a circular doubly linked list
 * (Include/internal/pycore_interp_structs.h, struct _gc_runtime_state). 3.14.0 to 3.14.4 have one young and two old spaces instead, of the
 * same shape at the same place. A PyGC_Head {_gc_next, _gc_prev} stands directly before its object. The two lowest bits of both words are
 * flags, except during a collection, when _gc_prev holds a reference count (Python/gc.c). Builds without the GIL have no such lists.
 */
#ifndef PA_GC_H
#define PA_GC_H

#include "object.h"

/** The bit of a kind in a set of kinds. */
#define PA_GC_KIND(kind) (1ull << (kind))

/** What walks found; they add to it. Begin with zeros. */
struct pa_gc_walk {
    uint64_t limit;      /* set by the caller: the walk ends at so many objects; 0: at none */
    uint64_t objects;    /* that were looked at, of every kind */
    uint32_t collecting; /* interpreters that are in a collection: what that holds in lists of its own is missed */
    uint32_t damaged;    /* lists that are damaged: objects may be missing, or be told twice */
    uint64_t damaged_at; /* the first damage: where … */
    const char *damage;  /* … and what, a literal that fits behind "list of objects at 0x…"; NULL: none */
};

/**
 * Called for each object of the wanted kinds.
 *
 * @param type Its id in pa_objects.types. In a damaged list, and during a collection, it is what memory says and no more: check it.
 * @return false to end the walk.
 */
typedef bool pa_gc_visit(void *context, uint64_t object, uint32_t type);

/** Why there are no such lists to walk: a literal, one line. NULL: there are. */
const char *pa_gc_unavailable(const struct pa_layout *layout);

/**
 * Walk the lists of one interpreter. Needs no memory of its own, whatever the target holds, beyond the types that are met.
 *
 * Each link is checked against the link back, so a list cannot go round in circles unseen; it is followed from both ends up to where it
 * is damaged. During a collection there are no links back, and a list that comes back to itself is found by counting.
 *
 * @param interpreter PyInterpreterState, of a layout for which pa_gc_unavailable() is NULL.
 * @param kinds A set of PA_GC_KIND(): of each type it is asked once what it is, then an object costs its head and its ob_type only.
 * @return false if @p visit or the limit ended it, or the work must end.
 */
bool pa_gc_walk(struct pa_objects *objects, uint64_t interpreter, uint64_t kinds, pa_gc_visit *visit, void *context,
                struct pa_gc_walk *walk);

#endif
