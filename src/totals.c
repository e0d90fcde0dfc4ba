/* What all pending tasks do. See totals.h. */
#include "totals.h"

#include "limits.h"

void pa_totals_count(struct pa_totals *totals, struct pa_graph *graph)
{
    struct pa_waits waits; /* its own: what counting spends of a wait's bounds the text has left */
    struct pa_links links = {0};
    struct pa_waits_on waits_on;
    uint32_t asked = 0;
    *totals = (struct pa_totals){0};
    pa_waits_init(&waits, graph);
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        if (!(node->flags & PA_NODE_TASK))
            continue;
        totals->activities[node->activity]++;
        if (node->activity != PA_WAITING)
            continue;
        enum pa_wait_kind kind = pa_waits_of_stack(&waits, node);
        if (kind == PA_WAITS_COUNT && asked < PA_MAX_TOTALS) {
            asked++;
            pa_task_objects(graph, id, &links);
            if (pa_waits_read(&waits, id, links.count ? links.items[0] : 0, &waits_on))
                kind = waits_on.kind;
        }
        if (kind != PA_WAITS_COUNT)
            totals->waits[kind]++;
    }
    pa_array_free(graph->work, &links);
    pa_waits_deinit(&waits);
}
