/* The names of tasks for completion. */
#ifndef PA_COMPLETE_H
#define PA_COMPLETE_H

#include "graph.h"

/** pa_session_complete() on a graph. @p capacity is at least 2. */
uint64_t pa_complete(struct pa_graph *graph, const char *prefix, char *buffer, uint64_t capacity);

#endif
