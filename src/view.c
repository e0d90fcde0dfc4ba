/* Grouping what was selected. See view.h; the selection is select.c's. */
#include "view.h"

#include <stdlib.h>

/* Selected twice, by two operands or because one task runs in two thread states: shown once. */
static void drop_duplicates(struct pa_view *view, uint8_t *seen)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < view->selected.count; i++) {
        uint32_t id = view->selected.items[i];
        if (!seen[id])
            view->selected.items[kept++] = id;
        seen[id] = 1;
    }
    view->selected.count = kept;
}

bool pa_view_grouped(const struct pa_view *view)
{
    uint32_t flags = view->request->flags;
    if (flags & (PA_REQUEST_COMPAT | PA_REQUEST_NO_GROUP))
        return false;
    if (flags & PA_REQUEST_GROUP)
        return true;
    /* What differs from task to task is shown of each. */
    if (flags & (PA_REQUEST_LOCALS | PA_REQUEST_CONTEXT))
        return false;
    return view->request->command != PA_COMMAND_TASKS && view->reason != PA_BECAUSE_NAMED;
}

/* Never 0, since every stack, state and so on fits below the mark. */
static uint64_t group_key(const struct pa_node *node, bool selected)
{
    uint64_t found = node->flags & (PA_NODE_LISTED | PA_NODE_REGISTERED | PA_NODE_TRACKED | PA_NODE_SCANNED);
    return (uint64_t)node->stack << 32 | found << 17 | 1u << 16 | (uint32_t)selected << 8 | node->state << 6 | node->activity << 3 |
           node->wait;
}

static uint32_t group_of(struct pa_view *view, const struct pa_node *node, bool selected, bool grouped)
{
    struct pa_work *work = view->graph->work;
    bool alone = !grouped || !(node->flags & PA_NODE_TASK) || node->flags & PA_NODE_IN_CYCLE ||
                 (view->request->flags & PA_REQUEST_NATIVE && node->activity <= PA_EXECUTING);
    uint64_t key = alone ? 0 : group_key(node, selected);
    if (!alone && view->recent_group.key == key)
        return view->recent_group.id;
    uint32_t id = alone ? PA_NONE : pa_index_find(&view->group_index, view->groups.items, sizeof(struct pa_group), key);
    if (id != PA_NONE) {
        view->recent_group = (struct pa_recent){key, id};
        return id;
    }
    struct pa_group *group = pa_array_push(work, &view->groups, PA_NONE);
    if (!group)
        return PA_NONE;
    *group = (struct pa_group){.key = key, .selected = selected};
    id = view->groups.count - 1;
    if (!alone && !pa_index_add(work, &view->group_index, view->groups.items, sizeof(struct pa_group), id))
        return PA_NONE;
    return id;
}

/* Members by group: count, then place. */
static void place_members(struct pa_view *view)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < view->groups.count; i++) {
        view->groups.items[i].first = first;
        first += view->groups.items[i].count;
        view->groups.items[i].count = 0;
    }
    for (uint32_t id = 0; id < view->nodes; id++) {
        if (view->group_of[id] == PA_NONE)
            continue;
        struct pa_group *group = &view->groups.items[view->group_of[id]];
        view->members[group->first + group->count++] = id;
    }
}

static bool make_groups(struct pa_view *view, const uint8_t *selected)
{
    struct pa_graph *graph = view->graph;
    bool grouped = pa_view_grouped(view);
    for (uint32_t id = 0; id < view->nodes; id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        view->group_of[id] = PA_NONE;
        if (!pa_work_step(graph->work))
            return false;
        if (!selected[id] && (node->state != PA_PENDING || node->flags & PA_NODE_BAD))
            continue;
        uint32_t group = group_of(view, node, selected[id], grouped);
        if (group == PA_NONE)
            return false;
        view->group_of[id] = group;
        view->groups.items[group].count++;
        view->groups.items[group].in_finding |= (node->flags & PA_NODE_IN_FINDING) != 0;
    }
    place_members(view);
    for (uint32_t id = 0; id < view->nodes; id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        uint32_t own = view->group_of[id];
        for (uint32_t i = 0; own != PA_NONE && i < node->edge_count; i++) {
            uint32_t awaiter = view->group_of[graph->edges.items[node->first_edge + i]];
            if (awaiter != PA_NONE && awaiter != own)
                view->groups.items[awaiter].awaits = 1;
        }
    }
    return true;
}

/* Running tasks first, then those that a finding is about, then members of cycles, then the biggest, then the oldest. */
static int rank(const struct pa_view *view, uint32_t group)
{
    const struct pa_node *node = &view->graph->nodes.items[view->members[view->groups.items[group].first]];
    if (view->reason == PA_BECAUSE_FOREST && view->groups.items[group].awaits)
        return 5;
    if (node->activity == PA_RUNNING || node->activity == PA_EXECUTING)
        return node->activity == PA_RUNNING ? 0 : 1;
    return view->groups.items[group].in_finding ? 2 : node->flags & PA_NODE_IN_CYCLE ? 3 : 4;
}

static int by_rank(const void *a, const void *b, void *context)
{
    const struct pa_view *view = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct pa_group *left_group = &view->groups.items[left], *right_group = &view->groups.items[right];
    int left_rank = rank(view, left), right_rank = rank(view, right);
    if (left_rank != right_rank)
        return left_rank - right_rank;
    if (left_group->count != right_group->count)
        return left_group->count > right_group->count ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void make_order(struct pa_view *view)
{
    struct pa_work *work = view->graph->work;
    /* What the user named stays in the order that it was named in. */
    for (uint32_t i = 0; view->reason == PA_BECAUSE_NAMED && i < view->selected.count; i++) {
        uint32_t group = view->group_of[view->selected.items[i]];
        bool first = view->members[view->groups.items[group].first] == view->selected.items[i];
        uint32_t *slot = first ? pa_array_push(work, &view->order, PA_NONE) : NULL;
        if (slot)
            *slot = group;
    }
    if (view->reason == PA_BECAUSE_NAMED)
        return;
    for (uint32_t i = 0; i < view->groups.count; i++) {
        uint32_t *slot = view->groups.items[i].selected ? pa_array_push(work, &view->order, PA_NONE) : NULL;
        if (slot)
            *slot = i;
    }
    if (pa_view_grouped(view) && view->order.items)
        qsort_r(view->order.items, view->order.count, sizeof(uint32_t), by_rank, view);
}

enum pa_status pa_view_init(struct pa_view *view, struct pa_graph *graph, const struct pa_request *request, char *error,
                            size_t capacity)
{
    struct pa_work *work = graph->work;
    *view = (struct pa_view){.graph = graph, .request = request};
    enum pa_status status = pa_view_select(view, error, capacity);
    if (status != PA_OK || graph->nodes.count == 0)
        return status;

    view->nodes = graph->nodes.count;
    size_t size = (size_t)view->nodes * sizeof(uint32_t);
    uint8_t *selected = pa_work_resize(work, NULL, 0, view->nodes);
    view->group_of = pa_work_resize(work, NULL, 0, size);
    view->members = pa_work_resize(work, NULL, 0, size);
    if (selected && view->group_of && view->members) {
        memset(selected, 0, view->nodes);
        drop_duplicates(view, selected);
        /* Statistics count tasks, not groups. */
        if (!(request->flags & PA_REQUEST_STATS) && make_groups(view, selected))
            make_order(view);
    }
    pa_work_resize(work, selected, selected ? view->nodes : 0, 0);
    return work->fatal;
}

void pa_view_deinit(struct pa_view *view)
{
    struct pa_work *work = view->graph->work;
    size_t size = (size_t)view->nodes * sizeof(uint32_t);
    pa_work_resize(work, view->group_of, view->group_of ? size : 0, 0);
    pa_work_resize(work, view->members, view->members ? size : 0, 0);
    pa_work_resize(work, view->seen, view->seen ? view->nodes : 0, 0);
    pa_work_resize(work, view->slot_of, view->slot_of ? view->groups.count * sizeof(uint32_t) : 0, 0);
    pa_array_free(work, &view->selected);
    pa_array_free(work, &view->groups);
    pa_array_free(work, &view->order);
    pa_index_free(work, &view->group_index);
}

/* Scratch that is zero between calls, made when it is first needed. */
static bool make_scratch(struct pa_view *view)
{
    struct pa_work *work = view->graph->work;
    size_t groups = view->groups.count * sizeof(uint32_t);
    if (!view->seen && (view->seen = pa_work_resize(work, NULL, 0, view->nodes)) != NULL)
        memset(view->seen, 0, view->nodes);
    if (!view->slot_of && (view->slot_of = pa_work_resize(work, NULL, 0, groups)) != NULL)
        memset(view->slot_of, 0, groups);
    return view->seen && view->slot_of;
}

static void count_awaiter(struct pa_view *view, uint32_t node, struct pa_awaiters *awaiters)
{
    uint32_t group = view->group_of[node];
    if (group == PA_NONE || view->seen[node])
        return;
    view->seen[node] = 1;
    uint32_t *slot = &view->slot_of[group];
    if (*slot == 0) {
        struct pa_awaiter *awaiter = pa_array_push(view->graph->work, awaiters, PA_NONE);
        if (!awaiter)
            return;
        *awaiter = (struct pa_awaiter){group, 0};
        *slot = awaiters->count;
    }
    awaiters->items[*slot - 1].count++;
}

void pa_view_awaiters(struct pa_view *view, uint32_t group, struct pa_awaiters *awaiters)
{
    struct pa_graph *graph = view->graph;
    const uint32_t *members = view->members + view->groups.items[group].first;
    uint32_t count = view->groups.items[group].count, base = awaiters->count;
    if (!make_scratch(view))
        return;
    /* An awaiting task counts once, however many members it awaits. */
    for (uint32_t m = 0; m < count && pa_work_step(graph->work); m++) {
        const struct pa_node *node = &graph->nodes.items[members[m]];
        for (uint32_t i = 0; i < node->edge_count; i++)
            count_awaiter(view, graph->edges.items[node->first_edge + i], awaiters);
    }
    for (uint32_t m = 0; m < count; m++) {
        const struct pa_node *node = &graph->nodes.items[members[m]];
        for (uint32_t i = 0; i < node->edge_count; i++)
            view->seen[graph->edges.items[node->first_edge + i]] = 0;
    }
    for (uint32_t i = base; i < awaiters->count; i++)
        view->slot_of[awaiters->items[i].group] = 0;
}
