/*
 * What holder.c and holder_owner.c share: the index of who holds what.
 */
#ifndef PA_HOLDER_PARTS_H
#define PA_HOLDER_PARTS_H

#include "holder.h"
#include "with.h"

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
    bool cut;              /* a bound was met: nobody is said to be no holder */
    uint64_t asked_object; /* that nobody holds, and whether it is just being taken or given back */
    bool is_on_its_way;
    /* Of types and frames, what they are to us: a byte an id. */
    uint8_t *roles, *frames;
    uint32_t role_count, frame_count;
    /* Scratch. */
    PA_ARRAY(struct pa_pending) pending;
    struct pa_links links;
    uint8_t *seen_greenlets;
    uint64_t released[PA_MAX_RELEASED];
    uint32_t released_count;
};

/** The index, made if there is none yet; NULL without memory. */
struct pa_holders *pa_holders_made(struct pa_graph *graph);

#endif
