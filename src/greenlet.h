/*
 * Greenlets as they are shown. What reads them is a part of pa_graph_build(): see graph.h, pa_read_greenlets().
 */
#ifndef PA_GREENLET_H
#define PA_GREENLET_H

#include "callable.h"
#include "graph.h"

/** Whether they were searched for in memory, and why; NULL: the garbage collector's lists have them. */
const char *pa_greenlets_searched(const struct pa_graph *graph);

/** "pending", "running", …: as in the JSON. */
const char *pa_greenlet_state_name(enum pa_greenlet_state state);

/** What a greenlet that has not started will call. Its run must not be 0. */
void pa_greenlet_run(struct pa_graph *graph, const struct pa_greenlet *greenlet, struct pa_callable *callable);

/**
 * The frames of a greenlet, innermost first: those of the thread that runs it, or its own.
 *
 * @param[out] count 0 if it has none: it has not started, has ended, or is in C code only.
 */
const struct pa_thread_frame *pa_greenlet_frames(const struct pa_graph *graph, uint32_t id, uint32_t *count);

#endif
