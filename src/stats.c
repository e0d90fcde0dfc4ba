/* Counting tasks. See stats.h. */
#include "stats.h"

#include <stdlib.h>

const char *pa_stats_column_name(enum pa_stats_column column)
{
    static const char *const names[PA_STATS_COLUMNS] = {"running", "executing", "ready",  "waiting",
                                                        "created", "done",      "failed", "cancelled"};
    return names[column];
}

static enum pa_stats_column column_of(const struct pa_node *node)
{
    static const uint8_t by_activity[] = {
        [PA_RUNNING] = PA_STATS_RUNNING, [PA_EXECUTING] = PA_STATS_EXECUTING, [PA_READY] = PA_STATS_READY,
        [PA_CREATED] = PA_STATS_CREATED, [PA_WAITING] = PA_STATS_WAITING,     [PA_ENDED] = PA_STATS_DONE};
    static const uint8_t by_state[] = {
        [PA_DONE] = PA_STATS_DONE, [PA_FAILED_STATE] = PA_STATS_FAILED, [PA_CANCELLED] = PA_STATS_CANCELLED};
    return node->state == PA_PENDING ? by_activity[node->activity] : by_state[node->state];
}

/* What pa_stack_telling_frame() says of every stack, in one pass: an outer stack stands before the ones that it is part of. */
static void find_telling_frames(const struct pa_graph *graph, uint8_t *own, uint32_t *telling)
{
    const struct pa_codes *codes = graph->codes;
    for (uint32_t i = 0; i < codes->frames.count && pa_work_step(graph->work); i++)
        own[i] = pa_frame_is_own(graph, i);
    telling[0] = PA_NONE;
    for (uint32_t i = 1; i < codes->stacks.count && pa_work_step(graph->work); i++) {
        const struct pa_stack *stack = &codes->stacks.items[i];
        uint32_t outer = telling[stack->outer];
        bool outer_tells = outer != PA_NONE && own[outer] && !own[stack->frame];
        telling[i] = outer_tells || codes->frames.items[stack->frame].kind == PA_FRAME_AWAITABLE ? outer : stack->frame;
    }
}

static int most_tasks_first(const void *a, const void *b)
{
    const struct pa_stats_row *left = a, *right = b;
    if (left->tasks != right->tasks)
        return left->tasks > right->tasks ? -1 : 1;
    return left->frame < right->frame ? -1 : left->frame > right->frame;
}

static bool count(struct pa_stats *stats, const struct pa_view *view, const uint32_t *telling)
{
    const struct pa_graph *graph = view->graph;
    for (uint32_t i = 0; i < view->selected.count; i++) {
        const struct pa_node *node = &graph->nodes.items[view->selected.items[i]];
        if (!pa_work_step(graph->work))
            return false;
        if (!(node->flags & PA_NODE_TASK))
            continue;
        uint32_t frame = telling[node->stack];
        struct pa_stats_row *row = &stats->rows[frame == PA_NONE ? stats->allocated - 1 : frame];
        enum pa_stats_column column = column_of(node);
        row->tasks++;
        row->counts[column]++;
        stats->total.tasks++;
        stats->total.counts[column]++;
    }
    return true;
}

static void drop_empty_rows(struct pa_stats *stats)
{
    for (uint32_t i = 0; i < stats->allocated; i++) {
        if (stats->rows[i].tasks > 0)
            stats->rows[stats->count++] = stats->rows[i];
    }
    qsort(stats->rows, stats->count, sizeof(*stats->rows), most_tasks_first);
}

bool pa_stats_make(struct pa_stats *stats, const struct pa_view *view)
{
    const struct pa_graph *graph = view->graph;
    struct pa_work *work = graph->work;
    size_t stacks = graph->codes->stacks.count * sizeof(uint32_t);
    *stats = (struct pa_stats){.work = work, .total = {.frame = PA_NONE}};
    uint32_t rows = graph->codes->frames.count + 1;
    stats->rows = pa_work_resize(work, NULL, 0, rows * sizeof(*stats->rows));
    uint8_t *own = pa_work_resize(work, NULL, 0, rows);
    uint32_t *telling = pa_work_resize(work, NULL, 0, stacks);
    bool counted = stats->rows && own && telling;
    if (stats->rows) {
        stats->allocated = rows;
        memset(stats->rows, 0, rows * sizeof(*stats->rows));
        for (uint32_t i = 0; i < rows; i++)
            stats->rows[i].frame = i + 1 < rows ? i : PA_NONE;
    }
    if (counted) {
        find_telling_frames(graph, own, telling);
        counted = work->fatal == PA_OK && count(stats, view, telling);
        drop_empty_rows(stats);
    }
    pa_work_resize(work, own, own ? rows : 0, 0);
    pa_work_resize(work, telling, telling ? stacks : 0, 0);
    return counted;
}

void pa_stats_free(struct pa_stats *stats)
{
    pa_work_resize(stats->work, stats->rows, stats->allocated * sizeof(*stats->rows), 0);
    *stats = (struct pa_stats){.work = stats->work};
}
