/* Selecting tasks: operands and filters. See view.h. */
#include "view.h"

#include <fnmatch.h>
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

/* The filters as the request gives them, worked out once. */
struct filter {
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

/* The filter that leaves a task out, as its counter; NULL: it passes all. */
static uint32_t *left_out_by(struct pa_view *view, const struct filter *filter, uint32_t id)
{
    const struct pa_graph *graph = view->graph;
    const struct pa_node *node = &graph->nodes.items[id];
    if (!(filter->states >> node->state & 1) || !(filter->activities >> node->activity & 1))
        return &view->left_out.state;
    if (filter->thread < PA_THREAD_ALL &&
        (node->thread == PA_NO_THREAD || graph->threads.items[node->thread].number != filter->thread))
        return &view->left_out.thread;
    if (filter->stack_matches && (node->stack >= filter->stacks || !filter->stack_matches[node->stack]))
        return &view->left_out.in;
    return NULL;
}

const char *pa_request_state(const struct pa_request *request)
{
    /* Who names a task wants to see it, ended or not. */
    return request->state ? request->state : request->operand_count > 0 ? "any" : "live";
}

static enum pa_status make_filter(struct filter *filter, struct pa_graph *graph, const struct pa_request *request, char *error,
                                  size_t capacity)
{
    const char *state = pa_request_state(request);
    size_t count = sizeof(state_filters) / sizeof(*state_filters), i = 0;
    while (i < count && strcmp(state_filters[i].name, state) != 0)
        i++;
    if (i == count)
        return pa_fail(error, capacity,
                       "--state: no state \"%s\"; there are live, ended, any, pending, done, failed, cancelled, running, "
                       "executing, ready, created and waiting",
                       state);
    *filter = (struct filter){state_filters[i].states, state_filters[i].activities, pa_request_thread(request), NULL, 0};
    if (filter->thread < PA_THREAD_ALL) {
        bool known = false;
        for (uint32_t k = 0; k < graph->threads.count; k++)
            known = known || graph->threads.items[k].number == request->thread;
        if (!known)
            return pa_fail(
                error, capacity,
                "thread %u runs no Python, or is not there; \"info threads\" lists the threads, py-async-info those of Python",
                request->thread);
    }
    if (request->in && !make_stack_matches(filter, graph, request->in))
        return PA_NO_MEMORY;
    return PA_OK;
}

static void select_node(struct pa_view *view, const struct filter *filter, uint32_t id)
{
    uint32_t *left_out = left_out_by(view, filter, id);
    uint32_t *slot = left_out ? NULL : pa_array_push(view->graph->work, &view->selected, PA_NONE);
    if (left_out)
        ++*left_out;
    else if (slot)
        *slot = id;
}

/* The tasks that run now; only those of the selected thread if @p selected. */
static void select_running(struct pa_view *view, const struct filter *filter, bool selected)
{
    struct pa_graph *graph = view->graph;
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        uint32_t id = thread->task ? pa_graph_find(graph, thread->task) : PA_NONE;
        if (id != PA_NONE && thread->selected == selected && graph->nodes.items[id].flags & PA_NODE_TASK)
            select_node(view, filter, id);
    }
}

static void select_all(struct pa_view *view, const struct filter *filter)
{
    struct pa_graph *graph = view->graph;
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        if (graph->nodes.items[id].flags & PA_NODE_TASK)
            select_node(view, filter, id);
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
                   gen ? "on the stack of no pending task"
                   : objects->types.items[type].kind == PA_KIND_GREENLET
                       ? "a greenlet that no task runs through; py-greenlets shows it"
                       : "no task, future, coroutine or generator");
}

static enum pa_status select_address(struct pa_view *view, const struct filter *filter, const struct pa_operand *operand,
                                     char *error, size_t capacity)
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
        id = kind == PA_KIND_GREENLET ? pa_task_of_greenlet(graph, object) : pa_task_of_object(graph, object);
    if (id == PA_NONE || graph->nodes.items[id].flags & PA_NODE_BAD)
        return graph->work->fatal != PA_OK ? graph->work->fatal : fail_address(graph, operand, error, capacity);
    select_node(view, filter, id);
    return PA_OK;
}

static enum pa_status select_named(struct pa_view *view, const struct filter *filter, const struct pa_operand *operand, char *error,
                                   size_t capacity)
{
    struct pa_graph *graph = view->graph;
    char name[PA_STRING_BYTES];
    uint32_t length, matching = 0;
    size_t wanted = strlen(operand->text);
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        if (!(graph->nodes.items[id].flags & PA_NODE_TASK) || !pa_task_name(graph, id, name, &length))
            continue;
        name[length] = '\0';
        bool match = operand->kind == PA_OPERAND_GLOB ? fnmatch(operand->text, name, 0) == 0
                                                      : length == wanted && memcmp(name, operand->text, wanted) == 0;
        if (match)
            select_node(view, filter, id);
        matching += match;
    }
    if (matching > 0 || graph->work->fatal != PA_OK)
        return graph->work->fatal;
    return pa_fail(error, capacity, "no task %s \"%s\" among %u; py-async-tasks lists them%s",
                   operand->kind == PA_OPERAND_GLOB ? "matches" : "is called", operand->text, graph->task_count,
                   graph->searched ? "" : ", with --state any also those that have ended");
}

static enum pa_status select_operands(struct pa_view *view, const struct filter *filter, char *error, size_t capacity)
{
    view->reason = PA_BECAUSE_NAMED;
    for (uint32_t i = 0; i < view->request->operand_count; i++) {
        const struct pa_operand *operand = &view->request->operands[i];
        enum pa_status status = operand->kind == PA_OPERAND_ADDRESS ? select_address(view, filter, operand, error, capacity)
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
    bool filtered = request->state || request->in || pa_request_thread(request) != PA_THREAD_DEFAULT ||
                    request->flags & (PA_REQUEST_ALL | PA_REQUEST_STATS);
    view->reason = request->command == PA_COMMAND_AWAITED_BY ? PA_BECAUSE_FOREST : PA_BECAUSE_ALL;
    if (request->command == PA_COMMAND_BACKTRACE && !filtered && request->format == PA_FORMAT_TEXT) {
        select_running(view, filter, true);
        view->reason = PA_BECAUSE_SELECTED_THREAD;
        if (view->selected.count > 0)
            return;
        select_running(view, filter, false);
        view->reason = view->selected.count > 0 ? PA_BECAUSE_OTHER_THREADS : PA_BECAUSE_NONE_RUNS;
        view->selected.count = 0; /* they are among all, and come first there */
        view->left_out = (struct pa_left_out){0};
    }
    select_all(view, filter);
}

enum pa_status pa_view_select(struct pa_view *view, char *error, size_t capacity)
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
    return PA_OK;
}
