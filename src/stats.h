/*
 * How many tasks stand where and are in which state: --stats.
 */
#ifndef PA_STATS_H
#define PA_STATS_H

#include "view.h"

/** A pending task is counted under its activity, another one under its state; both as the JSON names them. */
enum pa_stats_column {
    PA_STATS_RUNNING,
    PA_STATS_EXECUTING,
    PA_STATS_READY,
    PA_STATS_WAITING,
    PA_STATS_CREATED,
    PA_STATS_DONE,
    PA_STATS_FAILED,
    PA_STATS_CANCELLED,
    PA_STATS_COLUMNS,
};

/** The tasks of one telling frame: the innermost one of the user's own code, else the innermost. */
struct pa_stats_row {
    uint32_t frame; /* PA_NONE: they have no frames */
    uint32_t tasks;
    uint32_t counts[PA_STATS_COLUMNS];
};

struct pa_stats {
    struct pa_work *work;
    struct pa_stats_row *rows; /* those with the most tasks first */
    uint32_t count, allocated;
    struct pa_stats_row total;
};

/**
 * Count the selected tasks of a view. Takes the stacks of the graph and reads nothing of the target.
 *
 * @return false without memory or if the work must end; @p stats is to be freed in any case.
 */
bool pa_stats_make(struct pa_stats *stats, const struct pa_view *view);
void pa_stats_free(struct pa_stats *stats);

/** "waiting" */
const char *pa_stats_column_name(enum pa_stats_column column);

#endif
