/*
 * What all pending tasks do: by activity, and those that wait by what they wait on.
 */
#ifndef PA_TOTALS_H
#define PA_TOTALS_H

#include "wait.h"

struct pa_totals {
    uint32_t activities[PA_ENDED + 1];
    uint32_t waits[PA_WAITS_COUNT]; /* of activities[PA_WAITING]; a task on others' futures may be in none, if there are too many */
};

/**
 * Count all tasks of the graph.
 *
 * Tasks are asked one by one what they wait on, at most PA_MAX_TOTALS of them; but where the stack tells it, only the first
 * PA_TRUSTED_STACK with that stack, if all of them say the same.
 */
void pa_totals_count(struct pa_totals *totals, struct pa_graph *graph);

#endif
