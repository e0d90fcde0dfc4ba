/* What all pending tasks do. See totals.h. */
#include "totals.h"

#include "limits.h"

/* What is counted with. */
struct counting {
    struct pa_graph *graph;
    struct pa_waits waits; /* its own: what counting spends of a wait's bounds the text has left */
    struct pa_links links; /* scratch */
    uint32_t asked;
    uint8_t *trusted; /* by stack: tasks that were what the stack tells; UINT8_MAX: one was not */
    uint32_t stacks;
};

static enum pa_wait_kind ask(struct counting *counting, uint32_t id)
{
    struct pa_waits_on waits_on;
    if (counting->asked == PA_MAX_TOTALS)
        return PA_WAITS_COUNT;
    counting->asked++;
    pa_task_objects(counting->graph, id, &counting->links);
    return pa_waits_read(&counting->waits, id, counting->links.count ? counting->links.items[0] : 0, &waits_on) ? waits_on.kind
                                                                                                                : PA_WAITS_COUNT;
}

/* What a task waits on; PA_WAITS_COUNT: not known. */
static enum pa_wait_kind kind_of(struct counting *counting, uint32_t id)
{
    const struct pa_node *node = &counting->graph->nodes.items[id];
    enum pa_wait_kind told = pa_waits_of_stack(&counting->waits, node);
    uint8_t *trusted = node->stack < counting->stacks ? &counting->trusted[node->stack] : NULL;
    if (told == PA_WAITS_TASK || (told != PA_WAITS_COUNT && trusted && *trusted == PA_TRUSTED_STACK))
        return told;
    enum pa_wait_kind kind = ask(counting, id);
    if (trusted && *trusted < PA_TRUSTED_STACK)
        *trusted = kind == told ? *trusted + 1 : UINT8_MAX;
    return kind;
}

void pa_totals_count(struct pa_totals *totals, struct pa_graph *graph)
{
    struct counting counting = {.graph = graph, .stacks = graph->codes->stacks.count};
    *totals = (struct pa_totals){0};
    counting.trusted = pa_work_resize(graph->work, NULL, 0, counting.stacks);
    if (!counting.trusted)
        return;
    memset(counting.trusted, 0, counting.stacks);
    pa_waits_init(&counting.waits, graph);
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        if (!(node->flags & PA_NODE_TASK))
            continue;
        totals->activities[node->activity]++;
        enum pa_wait_kind kind = node->activity == PA_WAITING ? kind_of(&counting, id) : PA_WAITS_COUNT;
        if (kind != PA_WAITS_COUNT)
            totals->waits[kind]++;
    }
    pa_array_free(graph->work, &counting.links);
    pa_waits_deinit(&counting.waits);
    pa_work_resize(graph->work, counting.trusted, counting.stacks, 0);
}
