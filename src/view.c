/* Selecting tasks and grouping them. See view.h. */
#include "view.h"

#include "limits.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

/* --state: a value of the JSON's state or activity. */
static const struct {
    const char *name;
    uint8_t states;     /* bits by enum pa_state */
    uint8_t activities; /* bits by enum pa_activity */
} state_filters[] = {
    {"live", 1u << PA_PENDING, 0xff},
    {"any", 0xff, 0xff},
    {"ended", 1u << PA_DONE | 1u << PA_FAILED_STATE | 1u << PA_CANCELLED, 0xff},
    {"pending", 1u << PA_PENDING, 0xff},
    {"done", 1u << PA_DONE, 0xff},
    {"failed", 1u << PA_FAILED_STATE, 0xff},
    {"cancelled", 1u << PA_CANCELLED, 0xff},
    {"running", 1u << PA_PENDING, 1u << PA_RUNNING},
    {"executing", 1u << PA_PENDING, 1u << PA_EXECUTING},
    {"ready", 1u << PA_PENDING, 1u << PA_READY},
    {"created", 1u << PA_PENDING, 1u << PA_CREATED},
    {"waiting", 1u << PA_PENDING, 1u << PA_WAITING},
};

/* A filter as the request gives it, worked out once. */
struct filter {
    const char *state_name;
    uint8_t states, activities;
    uint32_t thread;        /* the debugger's number, or PA_THREAD_ALL or _DEFAULT */
    uint8_t *stack_matches; /* --in, by stack: whether a frame of it matches */
    uint32_t stacks;
};

static bool text_is(const struct pa_graph *graph, struct pa_text text, const char *other, size_t length)
{
    return text.length == length && memcmp(pa_arena_text(&graph->objects->text, text), other, length) == 0;
}

/* The part of a path behind its last slash, or of a qualname behind its last dot. */
static struct pa_text behind_last(const struct pa_graph *graph, struct pa_text text, char mark)
{
    const char *bytes = pa_arena_text(&graph->objects->text, text);
    const char *last = text.length ? memrchr(bytes, mark, text.length) : NULL;
    uint32_t skip = last ? (uint32_t)(last - bytes) + 1 : 0;
    return (struct pa_text){text.offset + skip, text.length - skip};
}

/* --in: a function (qualified or not), a file (path or name), or file:line. */
static bool frame_matches(const struct pa_graph *graph, const struct pa_frame *frame, const char *in)
{
    size_t length = strlen(in);
    if (text_is(graph, frame->function, in, length) || text_is(graph, behind_last(graph, frame->function, '.'), in, length) ||
        text_is(graph, frame->file, in, length) || text_is(graph, behind_last(graph, frame->file, '/'), in, length))
        return true;
    const char *colon = strrchr(in, ':');
    char *end;
    if (!colon || strtol(colon + 1, &end, 10) != frame->line || *end != '\0' || end == colon + 1)
        return false;
    length = (size_t)(colon - in);
    return text_is(graph, frame->file, in, length) || text_is(graph, behind_last(graph, frame->file, '/'), in, length);
}

static bool make_stack_matches(struct filter *filter, struct pa_graph *graph, const char *in)
{
    struct pa_codes *codes = graph->codes;
    filter->stacks = codes->stacks.count;
    filter->stack_matches = pa_work_resize(graph->work, NULL, 0, filter->stacks);
    if (!filter->stack_matches)
        return false;
    filter->stack_matches[0] = 0;
    /* A stack stands behind its outer one. */
    for (uint32_t i = 1; i < filter->stacks && pa_work_step(graph->work); i++) {
        const struct pa_stack *stack = &codes->stacks.items[i];
        filter->stack_matches[i] =
            filter->stack_matches[stack->outer] || frame_matches(graph, &codes->frames.items[stack->frame], in);
    }
    return true;
}

static bool passes(const struct filter *filter, const struct pa_graph *graph, uint32_t id)
{
    const struct pa_node *node = &graph->nodes.items[id];
    if (!(filter->states >> node->state & 1) || (node->flags & PA_NODE_TASK && !(filter->activities >> node->activity & 1)))
        return false;
    if (filter->thread < PA_THREAD_ALL &&
        (node->thread == PA_NO_THREAD || graph->threads.items[node->thread].number != filter->thread))
        return false;
    return !filter->stack_matches || (node->stack < filter->stacks && filter->stack_matches[node->stack]);
}

static enum pa_status make_filter(struct filter *filter, struct pa_graph *graph, const struct pa_request *request, char *error,
                                  size_t capacity)
{
    /* Who names a task wants to see it, ended or not. */
    const char *state = request->state ? request->state : request->operand_count > 0 ? "any" : "live";
    size_t count = sizeof(state_filters) / sizeof(*state_filters), i = 0;
    while (i < count && strcmp(state_filters[i].name, state) != 0)
        i++;
    if (i == count)
        return pa_fail(error, capacity,
                       "--state: no state \"%s\"; there are live, ended, any, pending, done, failed, cancelled, running, "
                       "executing, ready, created and waiting",
                       state);
    *filter = (struct filter){state, state_filters[i].states, state_filters[i].activities, request->thread, NULL, 0};
    if (request->thread < PA_THREAD_ALL) {
        bool known = false;
        for (uint32_t k = 0; k < graph->threads.count; k++)
            known = known || graph->threads.items[k].number == request->thread;
        if (!known)
            return pa_fail(error, capacity,
                           "thread %u runs no Python; \"info threads\" lists the threads, py-async-info those of Python",
                           request->thread);
    }
    if (request->in && !make_stack_matches(filter, graph, request->in))
        return PA_NO_MEMORY;
    return PA_OK;
}

static bool select_node(struct pa_view *view, uint32_t id)
{
    uint32_t *slot = pa_array_push(view->graph->work, &view->selected, PA_NONE);
    if (slot)
        *slot = id;
    return slot != NULL;
}

/* The tasks that run now; only those of the selected thread if @p selected. */
static void select_running(struct pa_view *view, const struct filter *filter, bool selected)
{
    struct pa_graph *graph = view->graph;
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        uint32_t id = thread->task ? pa_graph_find(graph, thread->task) : PA_NONE;
        if (id != PA_NONE && thread->selected == selected && graph->nodes.items[id].flags & PA_NODE_TASK &&
            passes(filter, graph, id))
            select_node(view, id);
    }
}

static void select_all(struct pa_view *view, const struct filter *filter)
{
    struct pa_graph *graph = view->graph;
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        if (graph->nodes.items[id].flags & PA_NODE_TASK && passes(filter, graph, id))
            select_node(view, id);
    }
}

/* What stands at an address that no task was found for. */
static enum pa_status fail_address(struct pa_graph *graph, const struct pa_operand *operand, char *error, size_t capacity)
{
    struct pa_objects *objects = graph->objects;
    uint32_t type = pa_type_of(objects, operand->address);
    uint64_t word;
    if (type == PA_NONE)
        return pa_fail(error, capacity, "%s = 0x%llx is no Python object: %s", operand->text, (unsigned long long)operand->address,
                       pa_memory_u64(graph->memory, operand->address, &word) ? "what stands there has no type"
                                                                             : "there is no memory");
    struct pa_text name = objects->types.items[type].name;
    bool gen = pa_kind_is_gen(objects->types.items[type].kind);
    return pa_fail(error, capacity, "%s = 0x%llx is a \"%.*s\" object, %s", operand->text, (unsigned long long)operand->address,
                   name.length ? (int)name.length : 1, name.length ? pa_arena_text(&objects->text, name) : "?",
                   gen ? "on the stack of no pending task" : "no task, future, coroutine or generator");
}

static enum pa_status select_address(struct pa_view *view, const struct pa_operand *operand, char *error, size_t capacity)
{
    struct pa_graph *graph = view->graph;
    uint64_t object = operand->address;
    uint64_t frame_owner = object - PA_OFFSET(graph->layout, gen_iframe);
    enum pa_kind kind = pa_kind_of(graph->objects, object);
    uint32_t id = pa_graph_find(graph, object);
    /* The frame that a coroutine or generator holds stands for it. What is no object may look like one of any type. */
    if (id == PA_NONE && !pa_kind_is_gen(kind) && kind != PA_KIND_TASK && kind != PA_KIND_FUTURE &&
        pa_kind_is_gen(pa_kind_of(graph->objects, frame_owner))) {
        object = frame_owner;
        kind = pa_kind_of(graph->objects, object);
    }
    if (kind == PA_KIND_FUTURE_ITER && pa_memory_u64(graph->memory, object + PA_OFFSET(graph->layout, wrapper_future), &object))
        kind = pa_kind_of(graph->objects, object);
    if (id == PA_NONE && (kind == PA_KIND_TASK || kind == PA_KIND_FUTURE))
        id = pa_read_reached_node(graph, object);
    if (id == PA_NONE)
        id = pa_task_of_object(graph, object);
    if (id == PA_NONE || graph->nodes.items[id].flags & PA_NODE_BAD)
        return graph->work->fatal != PA_OK ? graph->work->fatal : fail_address(graph, operand, error, capacity);
    select_node(view, id);
    return PA_OK;
}

static enum pa_status select_named(struct pa_view *view, const struct filter *filter, const struct pa_operand *operand, char *error,
                                   size_t capacity)
{
    struct pa_graph *graph = view->graph;
    char name[PA_STRING_BYTES];
    uint32_t length, before = view->selected.count, ended = 0;
    size_t wanted = strlen(operand->text);
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        if (!(graph->nodes.items[id].flags & PA_NODE_TASK) || !pa_task_name(graph, id, name, &length))
            continue;
        name[length] = '\0';
        bool match = operand->kind == PA_OPERAND_GLOB ? fnmatch(operand->text, name, 0) == 0
                                                      : length == wanted && memcmp(name, operand->text, wanted) == 0;
        if (match && passes(filter, graph, id))
            select_node(view, id);
        else
            ended += match;
    }
    if (view->selected.count > before || graph->work->fatal != PA_OK)
        return graph->work->fatal;
    if (ended > 0)
        return pa_fail(error, capacity, "the tasks called \"%s\" are left out by the options given with it", operand->text);
    return pa_fail(error, capacity, "no task %s \"%s\" among %u; py-async-tasks lists them",
                   operand->kind == PA_OPERAND_GLOB ? "matches" : "is called", operand->text, graph->task_count);
}

static enum pa_status select_operands(struct pa_view *view, const struct filter *filter, char *error, size_t capacity)
{
    view->reason = PA_BECAUSE_NAMED;
    for (uint32_t i = 0; i < view->request->operand_count; i++) {
        const struct pa_operand *operand = &view->request->operands[i];
        enum pa_status status = operand->kind == PA_OPERAND_ADDRESS ? select_address(view, operand, error, capacity)
                                                                    : select_named(view, filter, operand, error, capacity);
        if (status != PA_OK)
            return status;
    }
    return PA_OK;
}

/* py-async-bt without operands: the task that runs in the selected thread, else those that run in other threads and then all. */
static void select_default(struct pa_view *view, const struct filter *filter)
{
    const struct pa_request *request = view->request;
    bool filtered = request->state || request->in || request->thread != PA_THREAD_DEFAULT || request->flags & PA_REQUEST_ALL;
    view->reason = request->command == PA_COMMAND_AWAITED_BY ? PA_BECAUSE_FOREST : PA_BECAUSE_ALL;
    if (request->command == PA_COMMAND_BACKTRACE && !filtered && request->format == PA_FORMAT_TEXT) {
        select_running(view, filter, true);
        view->reason = PA_BECAUSE_SELECTED_THREAD;
        if (view->selected.count > 0)
            return;
        select_running(view, filter, false);
        view->reason = view->selected.count > 0 ? PA_BECAUSE_OTHER_THREADS : PA_BECAUSE_NONE_RUNS;
        view->selected.count = 0; /* they are among all, and come first there */
    }
    select_all(view, filter);
}

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
    return view->request->command != PA_COMMAND_TASKS && view->reason != PA_BECAUSE_NAMED;
}

/* Never 0, since every stack, state and so on fits below the mark. */
static uint64_t group_key(const struct pa_node *node, bool selected)
{
    return (uint64_t)node->stack << 32 | 1u << 16 | (uint32_t)selected << 8 | node->state << 6 | node->activity << 3 | node->wait;
}

static uint32_t group_of(struct pa_view *view, const struct pa_node *node, bool selected, bool grouped)
{
    struct pa_work *work = view->graph->work;
    bool alone = !grouped || !(node->flags & PA_NODE_TASK) || node->flags & PA_NODE_IN_CYCLE;
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

/* Running tasks first, then members of cycles, then the biggest, then the oldest. */
static int rank(const struct pa_view *view, uint32_t group)
{
    const struct pa_node *node = &view->graph->nodes.items[view->members[view->groups.items[group].first]];
    if (view->reason == PA_BECAUSE_FOREST && view->groups.items[group].awaits)
        return 4;
    if (node->activity == PA_RUNNING || node->activity == PA_EXECUTING)
        return node->activity == PA_RUNNING ? 0 : 1;
    return node->flags & PA_NODE_IN_CYCLE ? 2 : 3;
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

static enum pa_status select_tasks(struct pa_view *view, char *error, size_t capacity)
{
    struct pa_graph *graph = view->graph;
    struct filter filter = {0};
    enum pa_status status = make_filter(&filter, graph, view->request, error, capacity);
    if (status == PA_OK && view->request->operand_count > 0)
        status = select_operands(view, &filter, error, capacity);
    else if (status == PA_OK)
        select_default(view, &filter);
    if (filter.stack_matches)
        pa_work_resize(graph->work, filter.stack_matches, filter.stacks, 0);
    if (status != PA_OK || graph->work->fatal != PA_OK)
        return graph->work->fatal != PA_OK ? graph->work->fatal : status;
    view->total = view->request->state || view->request->operand_count > 0 ? graph->task_count : graph->live_count;
    bool filtered = view->request->state || view->request->in || view->request->thread < PA_THREAD_ALL;
    /* No task at all is an answer, whatever was asked for. */
    if (view->selected.count == 0 && filtered && graph->task_count > 0)
        return pa_fail(error, capacity, "none of %u tasks matches these options", graph->task_count);
    return PA_OK;
}

enum pa_status pa_view_init(struct pa_view *view, struct pa_graph *graph, const struct pa_request *request, char *error,
                            size_t capacity)
{
    struct pa_work *work = graph->work;
    *view = (struct pa_view){.graph = graph, .request = request};
    enum pa_status status = select_tasks(view, error, capacity);
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
        if (make_groups(view, selected))
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
