/* Selecting greenlets and grouping them. See greenlet_view.h. */
#include "greenlet_view.h"

#include "details.h"
#include "limits.h"

#include <stdlib.h>

/* --state of py-greenlets. */
static const struct {
    const char *name;
    uint8_t states; /* bits by enum pa_greenlet_state */
} state_filters[] = {
    {"any", 0xff},
    {"live", 1u << PA_GREENLET_PENDING | 1u << PA_GREENLET_RUNNING | 1u << PA_GREENLET_SUSPENDED},
    {"pending", 1u << PA_GREENLET_PENDING},
    {"running", 1u << PA_GREENLET_RUNNING},
    {"suspended", 1u << PA_GREENLET_SUSPENDED},
    {"dead", 1u << PA_GREENLET_DEAD},
    {"exited", 1u << PA_GREENLET_THREAD_EXITED},
};

static enum pa_status states_of(const struct pa_request *request, uint8_t *states, char *error, size_t capacity)
{
    *states = 0xff;
    for (size_t i = 0; request->state && i < sizeof(state_filters) / sizeof(*state_filters); i++) {
        *states = state_filters[i].states;
        if (strcmp(state_filters[i].name, request->state) == 0)
            return PA_OK;
    }
    if (!request->state)
        return PA_OK;
    return pa_fail(error, capacity,
                   "--state: no state \"%s\" of greenlets; there are any, live, pending, running, suspended, dead and exited",
                   request->state);
}

static bool select_one(struct pa_greenlet_view *view, uint32_t id)
{
    for (uint32_t i = 0; view->request->operand_count > 0 && i < view->selected.count; i++) {
        if (view->selected.items[i] == id)
            return true;
    }
    uint32_t *slot = pa_array_push(view->graph->work, &view->selected, PA_MAX_GREENLETS);
    if (slot)
        *slot = id;
    return slot != NULL;
}

static enum pa_status select_operand(struct pa_greenlet_view *view, const struct pa_operand *operand, char *error, size_t capacity)
{
    struct pa_graph *graph = view->graph;
    if (operand->kind != PA_OPERAND_ADDRESS)
        return pa_fail(error, capacity, "a greenlet is named by its address, not \"%s\"; py-greenlets lists them", operand->text);
    uint32_t id = pa_index_find(&graph->greenlet_index, graph->greenlets.items, sizeof(struct pa_greenlet), operand->address);
    if (id != PA_NONE) {
        select_one(view, id);
        return PA_OK;
    }
    uint32_t type = pa_type_of(graph->objects, operand->address);
    struct pa_text name = type == PA_NONE ? pa_no_text : graph->objects->types.items[type].name;
    if (type == PA_NONE)
        return pa_fail(error, capacity, "%s = 0x%llx is no Python object", operand->text, (unsigned long long)operand->address);
    return pa_fail(error, capacity, "%s = 0x%llx is a \"%.*s\" object, no greenlet that is alive", operand->text,
                   (unsigned long long)operand->address, name.length ? (int)name.length : 1,
                   name.length ? pa_arena_text(&graph->objects->text, name) : "?");
}

bool pa_asks_of_greenlets(struct pa_graph *graph, const struct pa_request *request)
{
    if (request->command != PA_COMMAND_AWAITED_BY || request->operand_count == 0 || graph->greenlets.count == 0)
        return false;
    for (uint32_t i = 0; i < request->operand_count; i++) {
        const struct pa_operand *operand = &request->operands[i];
        if (operand->kind != PA_OPERAND_ADDRESS ||
            pa_index_find(&graph->greenlet_index, graph->greenlets.items, sizeof(struct pa_greenlet), operand->address) ==
                PA_NONE ||
            pa_task_of_greenlet(graph, operand->address) != PA_NONE)
            return false;
    }
    return true;
}

/* Those who wait for the named ones, directly or through others, each once. */
static void select_awaiters(struct pa_greenlet_view *view)
{
    struct pa_graph *graph = view->graph;
    struct pa_greenlet_awaiters awaiters = {0};
    uint8_t *seen = pa_work_resize(graph->work, NULL, 0, graph->greenlets.count);
    if (!seen)
        return;
    memset(seen, 0, graph->greenlets.count);
    for (uint32_t i = 0; i < view->named; i++)
        seen[view->selected.items[i]] = 1;
    for (uint32_t i = 0; i < view->selected.count && pa_work_step(graph->work); i++) {
        awaiters.count = 0;
        pa_greenlet_awaiters(graph, &view->gevent, view->selected.items[i], &awaiters);
        for (uint32_t k = 0; k < awaiters.count; k++) {
            uint32_t id = awaiters.items[k].greenlet,
                     *slot = seen[id] ? NULL : pa_array_push(graph->work, &view->selected, PA_NONE);
            if (slot)
                *slot = id;
            seen[id] = 1;
        }
    }
    pa_array_free(graph->work, &awaiters);
    pa_work_resize(graph->work, seen, graph->greenlets.count, 0);
}

static enum pa_status select_all(struct pa_greenlet_view *view, char *error, size_t capacity)
{
    struct pa_graph *graph = view->graph;
    const struct pa_request *request = view->request;
    bool mine = request->command == PA_COMMAND_GREENLETS;
    uint8_t states = 0xff;
    enum pa_status status = mine ? states_of(request, &states, error, capacity) : PA_OK;
    for (uint32_t id = 0; status == PA_OK && id < graph->greenlets.count && pa_work_step(graph->work); id++) {
        const struct pa_greenlet *greenlet = &graph->greenlets.items[id];
        uint32_t number = greenlet->thread == PA_NONE ? 0 : graph->threads.items[greenlet->thread].number;
        if (states >> greenlet->state & 1 && (!mine || pa_request_thread(request) >= PA_THREAD_ALL || request->thread == number))
            select_one(view, id);
    }
    if (status == PA_OK && mine && view->selected.count == 0 && graph->greenlets.count > 0)
        return pa_fail(error, capacity, "none of %u greenlets matches these options", graph->greenlets.count);
    return status;
}

/* ---- groups */

/* Those that run first, then those that can run, then what is left of others. */
static uint32_t rank(const struct pa_greenlet *greenlet)
{
    static const uint8_t ranks[] = {3, 0, 1, 4, 2};
    return ranks[greenlet->state];
}

static int by_rank(const void *a, const void *b, void *context)
{
    const struct pa_greenlet_view *view = context;
    const struct pa_greenlet_group *left = a, *right = b;
    const struct pa_greenlet *items = view->graph->greenlets.items;
    uint32_t left_rank = rank(&items[view->order[left->first]]), right_rank = rank(&items[view->order[right->first]]);
    if (left_rank != right_rank)
        return left_rank < right_rank ? -1 : 1;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return left->first < right->first ? -1 : 1;
}

static bool is_grouped(const struct pa_request *request)
{
    return request->flags & PA_REQUEST_GROUP || (request->operand_count == 0 && !(request->flags & PA_REQUEST_NO_GROUP));
}

/* The kind of object that gevent's greenlets wait for: those of one group must wait for the same. */
static uint32_t waits_on(const struct pa_greenlet_view *view, const struct pa_greenlet *greenlet)
{
    uint32_t count;
    const struct pa_gevent_wait *waits = pa_gevent_waits(&view->gevent, greenlet->address, &count);
    return count > 0 ? waits->type : PA_NONE;
}

/* Two keys that mix to the same value, one time in 2^64, would show a greenlet below another's stack: so the members are compared too. */
static uint64_t group_key(const struct pa_greenlet_view *view, const struct pa_greenlet *greenlet)
{
    return pa_mix(greenlet->run + waits_on(view, greenlet) + pa_mix((uint64_t)greenlet->stack << 32 | greenlet->type) +
                  ((uint64_t)greenlet->thread << 32 | (uint32_t)greenlet->is_main << 8 | greenlet->state)) |
           1;
}

static bool alike(const struct pa_greenlet_view *view, const struct pa_greenlet *one, const struct pa_greenlet *other)
{
    return one->stack == other->stack && one->type == other->type && one->thread == other->thread && one->state == other->state &&
           one->is_noticed == other->is_noticed && one->run == other->run && waits_on(view, one) == waits_on(view, other) &&
           !one->is_main && !other->is_main;
}

/* Count the members of each group, then place them: @p group_of is the group of each selected greenlet. */
static void make_groups(struct pa_greenlet_view *view, uint32_t *group_of)
{
    struct pa_graph *graph = view->graph;
    struct pa_work *work = graph->work;
    struct pa_index index = {0};
    for (uint32_t i = 0; i < view->selected.count && pa_work_step(work); i++) {
        const struct pa_greenlet *greenlet = &graph->greenlets.items[view->selected.items[i]];
        uint64_t key = group_key(view, greenlet);
        uint32_t id =
            is_grouped(view->request) ? pa_index_find(&index, view->groups.items, sizeof(struct pa_greenlet_group), key) : PA_NONE;
        /* Until they are placed, first is one of the members. */
        if (id == PA_NONE || !alike(view, greenlet, &graph->greenlets.items[view->groups.items[id].first])) {
            struct pa_greenlet_group *group = pa_array_push(work, &view->groups, PA_NONE);
            if (!group)
                break;
            *group = (struct pa_greenlet_group){.key = key, .first = view->selected.items[i]};
            bool known = id != PA_NONE;
            id = view->groups.count - 1;
            if (!known && is_grouped(view->request))
                pa_index_add(work, &index, view->groups.items, sizeof(*group), id);
        }
        view->groups.items[id].count++;
        group_of[i] = id;
    }
    pa_index_free(work, &index);
    if (work->fatal != PA_OK || !view->groups.items)
        return;
    uint32_t first = 0;
    for (uint32_t i = 0; i < view->groups.count; i++) {
        view->groups.items[i].first = first;
        first += view->groups.items[i].count;
        view->groups.items[i].count = 0;
    }
    for (uint32_t i = 0; i < view->selected.count; i++) {
        struct pa_greenlet_group *group = &view->groups.items[group_of[i]];
        view->order[group->first + group->count++] = view->selected.items[i];
    }
    if (view->request->operand_count == 0 && view->groups.count > 0)
        qsort_r(view->groups.items, view->groups.count, sizeof(struct pa_greenlet_group), by_rank, view);
}

enum pa_status pa_greenlet_view_init(struct pa_greenlet_view *view, struct pa_graph *graph, const struct pa_request *request,
                                     char *error, size_t capacity)
{
    struct pa_work *work = graph->work;
    enum pa_status status = PA_OK;
    *view = (struct pa_greenlet_view){.graph = graph, .request = request};
    pa_instrumentation_read(graph, &view->instrumentation);
    view->awaited = pa_asks_of_greenlets(graph, request);
    bool is_shown = request->command == PA_COMMAND_GREENLETS || request->command == PA_COMMAND_REPORT;
    if (is_shown || view->awaited || request->format == PA_FORMAT_JSON)
        pa_gevent_read(graph, &view->gevent);
    if (view->awaited || (request->command == PA_COMMAND_GREENLETS && request->operand_count > 0)) {
        for (uint32_t i = 0; i < request->operand_count && status == PA_OK; i++)
            status = select_operand(view, &request->operands[i], error, capacity);
        view->named = view->selected.count;
        if (view->awaited)
            select_awaiters(view);
    } else {
        status = select_all(view, error, capacity);
    }
    if (status != PA_OK || view->selected.count == 0 || !is_shown)
        return work->fatal != PA_OK ? work->fatal : status;
    size_t size = (size_t)view->selected.count * sizeof(uint32_t);
    uint32_t *group_of = pa_work_resize(work, NULL, 0, size);
    view->order = pa_work_resize(work, NULL, 0, size);
    if (group_of && view->order)
        make_groups(view, group_of);
    pa_work_resize(work, group_of, group_of ? size : 0, 0);
    return work->fatal;
}

void pa_greenlet_view_deinit(struct pa_greenlet_view *view)
{
    struct pa_work *work = view->graph->work;
    pa_work_resize(work, view->order, view->order ? (size_t)view->selected.count * sizeof(uint32_t) : 0, 0);
    pa_gevent_free(&view->gevent);
    pa_array_free(work, &view->selected);
    pa_array_free(work, &view->groups);
}
