/*
 * Greenlets as text, in parts: the head, groups of greenlets, trees of those who wait for one.
 */
#ifndef PA_GREENLET_TEXT_H
#define PA_GREENLET_TEXT_H

#include "greenlet_view.h"
#include "text.h"

/** What the parts share. */
struct pa_greenlet_listing {
    struct pa_printer *printer;
    struct pa_graph *graph;
    struct pa_output *out;
    struct pa_greenlet_view *view;
    uint32_t level; /* of a tree */
};

/** The blanks before a line of the level. */
void pa_greenlet_indent(struct pa_greenlet_listing *listing);
/** "greenlet.greenlet(id=0x7f…)" */
void pa_greenlet_print_name(struct pa_greenlet_listing *listing, const struct pa_greenlet *greenlet);
/** The lines below its name: state, waits, stack … @p single: it does not stand for others too. */
void pa_greenlet_print_facts(struct pa_greenlet_listing *listing, uint32_t id, bool single);

/** greenlet_head.c */
void pa_greenlet_print_head(struct pa_greenlet_listing *listing);

/** greenlet_tree.c: the greenlets that the request names and, below each, who waits for it. */
void pa_greenlet_print_trees(struct pa_greenlet_listing *listing);

#endif
