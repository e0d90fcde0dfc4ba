/*
 * Findings about tasks: those of a loop that can never run again, and what there is far too much of.
 */
#include "finder.h"

#include "future.h"

/* ---- [orphaned]: no loop will ever run these tasks */

/* Whether no thread state is that of the thread that a loop notes to run in. Lib/asyncio/base_events.py, run_forever() */
static bool is_thread_gone(struct pa_graph *graph, uint64_t loop)
{
    uint64_t value;
    int64_t ident;
    if (!pa_attribute(graph, loop, "_thread_id", &value) || !pa_int_read(graph->objects, value, &ident) || ident == 0)
        return false;
    return graph->threads.count > 0 && pa_thread_with_id(graph, (uint64_t)ident) == PA_NONE;
}

/* Thread lists that are damaged may have lost the thread in question. */
static bool knows_threads(const struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->problems.count; i++) {
        const char *what = graph->problems.items[i].what;
        if (strcmp(what, "thread list") == 0 || strcmp(what, "thread state") == 0 || strncmp(what, "interpreter", 11) == 0)
            return false;
    }
    return graph->problem_count <= PA_MAX_PROBLEMS;
}

static bool is_pending_task(const struct pa_node *node)
{
    return node->flags & PA_NODE_TASK && node->state == PA_PENDING && !(node->flags & PA_NODE_BAD);
}

enum { NOT_ORPHANED = 0xff };

static uint8_t why_orphaned(struct pa_graph *graph, const struct pa_loop *loop, bool knows)
{
    if (loop->tasks == 0 || loop->thread != PA_NONE)
        return NOT_ORPHANED;
    if (pa_finder_is_true(graph, loop->address, "_closed"))
        return PA_ORPHANED_CLOSED;
    return !knows ? NOT_ORPHANED : is_thread_gone(graph, loop->address) ? PA_ORPHANED_LOOP_THREAD : PA_ORPHANED_THREAD;
}

static bool is_orphan(const struct pa_node *node, uint8_t why)
{
    if (why == NOT_ORPHANED || !is_pending_task(node) || node->activity == PA_RUNNING || node->activity == PA_EXECUTING)
        return false;
    /* Of a thread that has exited the tasks are in the list of its interpreter. */
    return why != PA_ORPHANED_THREAD || (node->flags & PA_NODE_LISTED && node->thread == PA_NO_THREAD);
}

static void tell_orphans(struct pa_finder *finder, const struct pa_loop_tasks *orphans, const uint8_t *why)
{
    uint64_t told = PA_NO_LOOP;
    for (uint32_t i = 0; i < orphans->count && pa_work_step(finder->graph->work); i++) {
        uint64_t loop = orphans->items[i] >> 32;
        if (loop != told) {
            pa_finding_begin(finder, PA_FINDING_ORPHANED, why[loop], 0);
            pa_finding_add_object(finder, finder->graph->loops.items[loop].address);
        }
        told = loop;
        pa_finding_add_task(finder, (uint32_t)orphans->items[i]);
    }
}

void pa_find_orphaned(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct pa_loop_tasks orphans = {0};
    uint32_t loops = graph->loops.count;
    bool knows = knows_threads(graph), any = false;
    uint8_t *why = pa_work_resize(graph->work, NULL, 0, loops);
    for (uint32_t i = 0; why && i < loops && pa_work_step(graph->work); i++) {
        why[i] = why_orphaned(graph, &graph->loops.items[i], knows);
        any = any || why[i] != NOT_ORPHANED;
    }
    for (uint32_t id = 0; any && id < graph->nodes.count && pa_work_step(graph->work); id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        if (node->loop < loops && is_orphan(node, why[node->loop]))
            pa_loop_tasks_add(finder, &orphans, id);
    }
    pa_loop_tasks_sort(&orphans);
    if (any && graph->work->fatal == PA_OK)
        tell_orphans(finder, &orphans, why);
    pa_array_free(graph->work, &orphans);
    pa_work_resize(graph->work, why, why ? loops : 0, 0);
}

/* ---- [runaway] */

/* Callbacks of a future of asyncio's C code by its list of them: the first has a place of its own. */
static uint64_t count_callbacks(struct pa_graph *graph, uint64_t list)
{
    uint64_t items, count;
    return list != 0 && pa_sequence(graph->objects, list, &items, &count) ? count + 1 : 0;
}

static uint64_t callbacks_of(struct pa_graph *graph, uint64_t future)
{
    uint64_t list;
    return pa_memory_u64(graph->memory, future + PA_OFFSET(graph->layout, task_callbacks), &list) ? count_callbacks(graph, list)
                                                                                                  : 0;
}

static void tell_too_many(struct pa_finder *finder, enum pa_runaway what, uint64_t count, uint32_t node)
{
    if (pa_finding_begin(finder, PA_FINDING_RUNAWAY, (uint8_t)what, count))
        pa_finding_add_task(finder, node);
}

/* Each task that awaits a future is one of its callbacks: how many of them are such is told (finding_text.c). */
static void look_at_callbacks(struct pa_finder *finder, uint32_t id, uint64_t callbacks)
{
    if (callbacks > PA_MANY_CALLBACKS)
        tell_too_many(finder, PA_RUNAWAY_CALLBACKS, callbacks, id);
}

/* What a task is suspended on, if that is no node yet. One that has so many callbacks becomes one, so that its awaiters are known. */
static void look_at_waiter(struct pa_finder *finder, uint64_t future)
{
    struct pa_graph *graph = finder->graph;
    uint64_t callbacks = future ? callbacks_of(graph, future) : 0;
    if (callbacks <= PA_MANY_CALLBACKS || pa_kind_of(graph->objects, future) != PA_KIND_FUTURE ||
        pa_graph_find(graph, future) != PA_NONE)
        return;
    uint32_t reached = pa_read_reached_node(graph, future);
    if (reached != PA_NONE)
        look_at_callbacks(finder, reached, callbacks);
}

static void look_at_task(struct pa_finder *finder, uint32_t id)
{
    struct pa_graph *graph = finder->graph;
    const struct pa_layout *layout = graph->layout;
    const struct pa_node node = graph->nodes.items[id];
    uint8_t scratch[PA_MAX_OBJECT_SIZE];
    const uint8_t *bytes = pa_memory_view(graph->memory, node.address, PA_OFFSET(layout, task_size), scratch);
    if (!bytes)
        return;
    uint32_t requests = pa_get_u32(bytes, PA_OFFSET(layout, task_cancel_requests));
    uint64_t list = pa_get_u64(bytes, PA_OFFSET(layout, task_callbacks)),
             future = pa_get_u64(bytes, PA_OFFSET(layout, task_fut_waiter));
    if (list != 0)
        look_at_callbacks(finder, id, count_callbacks(graph, list));
    if (requests > PA_MANY_CANCELS && requests <= INT32_MAX)
        tell_too_many(finder, PA_RUNAWAY_CANCELS, requests, id);
    if (node.wait == PA_WAIT_FUTURE)
        look_at_waiter(finder, future);
}

void pa_find_runaway(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    uint32_t count = graph->nodes.count;
    for (uint32_t id = 0; id < count && pa_work_step(graph->work); id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        if (node->state != PA_PENDING || node->flags & PA_NODE_BAD)
            continue;
        if (node->stale > PA_MANY_CALLBACKS)
            tell_too_many(finder, PA_RUNAWAY_AWAITERS, node->stale, id);
        if (node->flags & PA_NODE_PYTHON) {
            uint32_t requests;
            bool must_cancel;
            pa_task_cancelling(graph, id, &requests, &must_cancel);
            if (requests > PA_MANY_CANCELS)
                tell_too_many(finder, PA_RUNAWAY_CANCELS, requests, id);
        } else if (node->flags & PA_NODE_TASK) {
            if (node->flags & PA_NODE_NOTABLE)
                look_at_task(finder, id);
        } else {
            look_at_callbacks(finder, id, callbacks_of(graph, node->address));
        }
    }
}
