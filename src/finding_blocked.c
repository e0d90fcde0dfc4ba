/*
 * [loop-blocked]: the thread of a loop waits in a call that keeps it from running the loop, and what would let it go on. Of a future of
 * concurrent.futures that is the task that run_coroutine_threadsafe() has made for it: if the very loop would have to run that, never.
 */
#include "finder.h"

#include "blocked.h"
#include "collection.h"
#include "holder.h"
#include "loop.h"

/* A future of concurrent.futures, and the task that sets it when it ends. */
struct setter {
    uint64_t future; /* first: of the index */
    uint32_t task;
};

struct setters {
    struct setter *items;
    uint32_t count, capacity;
    struct pa_index index;
    bool made;
};

/* Whether the thread certainly waits, for what only others can give it. That it reads a file is no finding, nor that it polls. */
static bool is_blocked(struct pa_graph *graph, uint32_t thread, const struct pa_blocked *blocked)
{
    switch (blocked->kind) {
    case PA_BLOCKED_LOCK:
    case PA_BLOCKED_CONDITION:
    case PA_BLOCKED_EVENT:
    case PA_BLOCKED_SEMAPHORE:
    case PA_BLOCKED_BARRIER:
    case PA_BLOCKED_FUTURE:
    case PA_BLOCKED_FUTURES:
        return pa_thread_awaited_lock(graph, thread, NULL) != 0;
    case PA_BLOCKED_SOCKET:
        return pa_socket_waits(graph, blocked->object);
    case PA_BLOCKED_SLEEP:
    case PA_BLOCKED_QUEUE:
    case PA_BLOCKED_THREAD:
    case PA_BLOCKED_PROCESS:
    case PA_BLOCKED_RESOLVE:
        return true;
    default:
        return false;
    }
}

static bool has_in_cell(struct pa_graph *graph, uint64_t function, uint64_t object)
{
    uint64_t held[PA_MAX_CELLS];
    uint32_t count = pa_function_cells(graph->objects, function, held);
    for (uint32_t i = 0; i < count; i++) {
        if (held[i] == object)
            return true;
    }
    return false;
}

/* Lib/asyncio/tasks.py, run_coroutine_threadsafe(): what it hands to the loop makes the task. Until then there is none. */
static bool is_in_ready(struct pa_finder *finder, uint64_t loop, uint64_t future)
{
    struct pa_graph *graph = finder->graph;
    struct pa_collection ready;
    uint64_t deque, handle, callback;
    if (!pa_attribute(graph, loop, "_ready", &deque) || !pa_collection_begin(graph->objects, deque, &ready) ||
        ready.left > PA_MAX_DEQUE)
        return false;
    while (pa_finder_look(finder) && pa_collection_next(&ready, &handle)) {
        if (pa_attribute(graph, handle, "_callback", &callback) &&
            pa_is_function(graph->codes, callback, "run_coroutine_threadsafe.<locals>.callback", "/asyncio/tasks.py") &&
            has_in_cell(graph, callback, future))
            return true;
    }
    return false;
}

static void add_setter(struct pa_finder *finder, struct setters *setters, uint64_t future, uint32_t task)
{
    struct pa_work *work = finder->graph->work;
    if (pa_index_find(&setters->index, setters->items, sizeof(struct setter), future) != PA_NONE)
        return;
    struct setter *slot = pa_array_push(work, setters, PA_MAX_LOOKED);
    if (!slot)
        return;
    *slot = (struct setter){future, task};
    if (!pa_index_add(work, &setters->index, setters->items, sizeof(*slot), setters->count - 1))
        setters->count--;
}

/* Lib/asyncio/futures.py, _chain_future(): a callback of the task sets the future, which is in one of its cells. */
static void look_at_callback(struct pa_finder *finder, struct setters *setters, uint64_t callback, uint32_t task)
{
    struct pa_graph *graph = finder->graph;
    uint64_t held[PA_MAX_CELLS];
    if (!pa_is_function(graph->codes, callback, "_chain_future.<locals>._call_set_state", "/asyncio/futures.py"))
        return;
    uint32_t count = pa_function_cells(graph->objects, callback, held);
    for (uint32_t i = 0; i < count; i++)
        add_setter(finder, setters, held[i], task);
}

/* The first callback of a task has a place of its own, the others stand in a list of (callback, context). */
static void look_at_callbacks(struct pa_finder *finder, struct setters *setters, uint32_t id)
{
    struct pa_graph *graph = finder->graph;
    uint64_t task = graph->nodes.items[id].address, callback, list, items, count, pair, elements, length;
    if (pa_memory_u64(graph->memory, task + PA_OFFSET(graph->layout, task_callback0), &callback) && callback != 0)
        look_at_callback(finder, setters, callback, id);
    if (!(graph->nodes.items[id].flags & PA_NODE_NOTABLE) ||
        !pa_memory_u64(graph->memory, task + PA_OFFSET(graph->layout, task_callbacks), &list) || list == 0 ||
        !pa_sequence(graph->objects, list, &items, &count))
        return;
    for (uint64_t i = 0; i < count && pa_finder_look(finder); i++) {
        if (pa_memory_u64(graph->memory, items + 8 * i, &pair) && pa_sequence(graph->objects, pair, &elements, &length) &&
            length == 2 && pa_memory_u64(graph->memory, elements, &callback))
            look_at_callback(finder, setters, callback, id);
    }
}

/* The task whose end sets a future of concurrent.futures; PA_NONE if there is none. All of them are looked at once. */
static uint32_t task_that_sets(struct pa_finder *finder, struct setters *setters, uint64_t future)
{
    struct pa_graph *graph = finder->graph;
    for (uint32_t id = 0; !setters->made && id < graph->nodes.count && pa_work_step(graph->work); id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        if ((node->flags & (PA_NODE_TASK | PA_NODE_PYTHON | PA_NODE_BAD)) == PA_NODE_TASK && node->state == PA_PENDING)
            look_at_callbacks(finder, setters, id);
    }
    setters->made = true;
    uint32_t place = pa_index_find(&setters->index, setters->items, sizeof(struct setter), future);
    return place < setters->count && setters->items ? setters->items[place].task : PA_NONE;
}

/* A deadlock that the thread is part of says more. */
static bool is_in_deadlock(const struct pa_findings *findings, uint32_t thread)
{
    for (uint32_t i = 0; i < findings->steps.count; i++) {
        if (findings->steps.items[i].task == PA_NONE && findings->steps.items[i].thread == thread)
            return true;
    }
    return false;
}

static void tell(struct pa_finder *finder, struct setters *setters, uint32_t loop, const struct pa_blocked *blocked)
{
    struct pa_graph *graph = finder->graph;
    const struct pa_loop *item = &graph->loops.items[loop];
    uint32_t setter = PA_NONE;
    enum pa_release release = PA_RELEASE_UNKNOWN;
    if (blocked->kind == PA_BLOCKED_FUTURE) {
        setter = task_that_sets(finder, setters, blocked->object);
        if (is_in_ready(finder, item->address, blocked->object))
            release = PA_RELEASE_OWN_HANDLE;
        else if (setter != PA_NONE)
            release = graph->nodes.items[setter].loop == loop ? PA_RELEASE_OWN_TASK : PA_RELEASE_TASK;
    }
    if (!pa_finding_begin(finder, PA_FINDING_LOOP_BLOCKED, (uint8_t)release, item->thread))
        return;
    if (setter != PA_NONE)
        pa_finding_add_task(finder, setter);
    if (item->task != PA_NONE)
        pa_finding_add_task(finder, item->task);
    pa_finding_add_object(finder, item->address);
    if (blocked->object != 0)
        pa_finding_add_object(finder, blocked->object);
}

void pa_find_blocked(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct setters setters = {0};
    for (uint32_t i = 0; i < graph->loops.count && pa_work_step(graph->work); i++) {
        struct pa_loop_facts facts;
        struct pa_blocked blocked;
        uint32_t thread = graph->loops.items[i].thread;
        if (thread == PA_NONE || is_in_deadlock(finder->findings, thread))
            continue;
        pa_loop_read(graph, i, &facts);
        pa_blocked_read(graph, thread, &blocked);
        if (facts.state != PA_LOOP_SELECT && is_blocked(graph, thread, &blocked))
            tell(finder, &setters, i, &blocked);
    }
    pa_array_free(graph->work, &setters);
    pa_index_free(graph->work, &setters.index);
}
