/*
 * Edges that the process does not record: asyncio notes who awaits a future only if both are of its C code, or both of its Python code
 * while that serves alone (Lib/asyncio/futures.py, future_add_to_awaited_by()). For all others the same is told by
 *
 *   - what a task is suspended on (_fut_waiter), and the children of a gathering future;
 *   - the callbacks of what is awaited: of a task group its parent task; of gather(), shield(), wait() and as_completed() the task that
 *     called them, or the helper future that they keep, on which that task is suspended.
 */
#include "details.h"
#include "future.h"
#include "instance.h"

#include <stdlib.h>

/* A task that is suspended on a future. Several of one future are chained. */
struct waiting {
    uint64_t future; /* first: of the index */
    uint32_t task;   /* node */
    uint32_t next;   /* another one of the same future, or PA_NONE */
};

struct derivation {
    struct pa_graph *graph;
    PA_ARRAY(struct waiting) waiting;
    struct pa_index index;
    uint64_t cut; /* a future whose awaiter found no room; 0: none */
};

static const struct pa_node *node_at(const struct derivation *derivation, uint32_t id)
{
    return &derivation->graph->nodes.items[id];
}

/* Note that a task awaits a future, or that nothing is to be derived: the object is none, or the process records such edges itself. */
static void note(struct derivation *derivation, uint64_t future, uint64_t awaiter)
{
    struct pa_graph *graph = derivation->graph;
    if (!pa_is_future(graph, future) || !pa_is_future(graph, awaiter))
        return;
    enum pa_kind kind = pa_kind_of(graph->objects, future), other = pa_kind_of(graph->objects, awaiter);
    if ((kind == PA_KIND_TASK || kind == PA_KIND_FUTURE) && other == PA_KIND_TASK)
        return;
    uint32_t node = pa_graph_node(graph, future), by = pa_graph_node(graph, awaiter);
    struct pa_derived *slot = node == PA_NONE || by == PA_NONE ? NULL : pa_array_push(graph->work, &graph->derived, PA_MAX_DERIVED);
    if (slot)
        *slot = (struct pa_derived){node, by};
    else
        derivation->cut = future;
}

/* ---- forward: what a task is suspended on */

static void add_waiting(struct derivation *derivation, uint32_t task, uint64_t future)
{
    struct pa_work *work = derivation->graph->work;
    uint32_t first = pa_index_find(&derivation->index, derivation->waiting.items, sizeof(struct waiting), future);
    struct waiting *slot = pa_array_push(work, &derivation->waiting, PA_NONE);
    if (!slot)
        return;
    *slot = (struct waiting){future, task, PA_NONE};
    uint32_t id = derivation->waiting.count - 1;
    if (first == PA_NONE) {
        pa_index_add(work, &derivation->index, derivation->waiting.items, sizeof(struct waiting), id);
    } else {
        slot->next = derivation->waiting.items[first].next;
        derivation->waiting.items[first].next = id;
    }
}

/* Lib/asyncio/tasks.py, class _GatheringFuture */
static void note_children(struct derivation *derivation, uint64_t gathering, uint64_t task)
{
    struct pa_graph *graph = derivation->graph;
    uint64_t children, items, count, child;
    if (!pa_instance_attribute(graph->objects, gathering, "_children", &children) ||
        !pa_sequence(graph->objects, children, &items, &count))
        return;
    for (uint64_t i = 0; i < count && pa_work_step(graph->work); i++) {
        if (!pa_memory_u64(graph->memory, items + 8 * i, &child))
            return;
        note(derivation, child, task);
    }
}

static void look_forward(struct derivation *derivation, uint32_t id)
{
    struct pa_graph *graph = derivation->graph;
    const struct pa_node *node = node_at(derivation, id);
    if (!(node->flags & PA_NODE_TASK) || node->state != PA_PENDING)
        return;
    uint64_t task = node->address, future = pa_task_fut_waiter(graph, id);
    if (future == 0)
        return;
    add_waiting(derivation, id, future);
    note(derivation, future, task);
    enum pa_kind kind = pa_kind_of(graph->objects, future);
    if (kind == PA_KIND_FUTURE || kind == PA_KIND_PYTHON_FUTURE)
        note_children(derivation, future, task);
}

/* ---- backward: the callbacks of what is awaited */

/* The attribute of the object that a method is bound to: who awaits. */
static const struct {
    const char *method, *attribute;
} methods[] = {
    {"TaskGroup._on_task_done", "_parent_task"},
    {"_AsCompletedIterator._handle_completion", "_cur_task"},
};

/* Functions of asyncio's whose cells and defaults hold who awaits, or the helper future that is awaited. */
static const char *const functions[] = {
    "gather.<locals>._done_callback",
    "shield.<locals>._inner_done_callback",
    "shield.<locals>._clear_awaited_by_callback",
    "_wait.<locals>._on_completion",
};

/* Whether a function is the one of this qualified name in asyncio. */
static bool is_function(struct pa_graph *graph, uint64_t function, const char *qualname)
{
    const struct pa_layout *layout = graph->layout;
    uint64_t code, name;
    return pa_kind_of(graph->objects, function) == PA_KIND_FUNCTION &&
           pa_memory_u64(graph->memory, function + PA_OFFSET(layout, function_code), &code) &&
           pa_kind_of(graph->objects, code) == PA_KIND_CODE &&
           pa_memory_u64(graph->memory, code + PA_OFFSET(layout, code_qualname), &name) &&
           pa_str_equals(graph->objects, name, qualname);
}

/* A task that a helper keeps awaits; so do the tasks that are suspended on a future that it keeps. */
static void note_kept(struct derivation *derivation, uint64_t future, uint64_t kept)
{
    struct pa_graph *graph = derivation->graph;
    enum pa_kind kind = pa_kind_of(graph->objects, kept);
    uint32_t id = pa_graph_find(graph, kept);
    if (kind == PA_KIND_TASK || kind == PA_KIND_PYTHON_TASK || (id != PA_NONE && node_at(derivation, id)->flags & PA_NODE_TASK)) {
        note(derivation, future, kept);
        return;
    }
    if (kind != PA_KIND_FUTURE && kind != PA_KIND_PYTHON_FUTURE)
        return;
    uint32_t at = pa_index_find(&derivation->index, derivation->waiting.items, sizeof(struct waiting), kept);
    for (; at < derivation->waiting.count && pa_work_step(graph->work); at = derivation->waiting.items[at].next)
        note(derivation, future, node_at(derivation, derivation->waiting.items[at].task)->address);
}

/* The elements of a tuple of a function: its cells, or its defaults. */
static void note_tuple(struct derivation *derivation, uint64_t future, uint64_t tuple, bool cells)
{
    struct pa_graph *graph = derivation->graph;
    uint64_t items, count, kept;
    if (tuple == 0 || !pa_sequence(graph->objects, tuple, &items, &count))
        return;
    for (uint64_t i = 0; i < count && pa_work_step(graph->work); i++) {
        if (!pa_memory_u64(graph->memory, items + 8 * i, &kept))
            return;
        if (cells && (pa_kind_of(graph->objects, kept) != PA_KIND_CELL ||
                      !pa_memory_u64(graph->memory, kept + PA_OFFSET(graph->layout, wrapper_object), &kept)))
            continue;
        note_kept(derivation, future, kept);
    }
}

static void look_at_callback(struct derivation *derivation, uint64_t future, uint64_t callback)
{
    struct pa_graph *graph = derivation->graph;
    const struct pa_layout *layout = graph->layout;
    uint64_t function, self, tuple;
    enum pa_kind kind = pa_kind_of(graph->objects, callback);
    if (kind == PA_KIND_METHOD && pa_memory_u64(graph->memory, callback + PA_OFFSET(layout, method_function), &function) &&
        pa_memory_u64(graph->memory, callback + PA_OFFSET(layout, method_self), &self)) {
        for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
            if (is_function(graph, function, methods[i].method))
                note_kept(derivation, future, pa_future_attribute(graph, self, methods[i].attribute));
        }
    }
    for (size_t i = 0; kind == PA_KIND_FUNCTION && i < sizeof(functions) / sizeof(*functions); i++) {
        if (!is_function(graph, callback, functions[i]))
            continue;
        if (pa_memory_u64(graph->memory, callback + PA_OFFSET(layout, function_closure), &tuple))
            note_tuple(derivation, future, tuple, true);
        if (pa_memory_u64(graph->memory, callback + PA_OFFSET(layout, function_defaults), &tuple))
            note_tuple(derivation, future, tuple, false);
    }
}

/* Modules/_asynciomodule.c and Lib/asyncio/futures.py alike: a list of tuples (callback, context). */
static void look_at_callbacks(struct derivation *derivation, uint64_t future, uint64_t list)
{
    struct pa_graph *graph = derivation->graph;
    uint64_t items, count, pair, elements, length, callback;
    if (list == 0 || !pa_sequence(graph->objects, list, &items, &count))
        return;
    for (uint64_t i = 0; i < count && pa_work_step(graph->work); i++) {
        if (!pa_memory_u64(graph->memory, items + 8 * i, &pair) || !pa_sequence(graph->objects, pair, &elements, &length) ||
            length != 2 || !pa_memory_u64(graph->memory, elements, &callback))
            return;
        look_at_callback(derivation, future, callback);
    }
}

static void look_backward(struct derivation *derivation, uint32_t id)
{
    struct pa_graph *graph = derivation->graph;
    const struct pa_layout *layout = graph->layout;
    const struct pa_node *node = node_at(derivation, id);
    uint64_t address = node->address, callback, list;
    if (node->state != PA_PENDING || node->flags & PA_NODE_BAD)
        return;
    enum pa_kind kind = pa_kind_of(graph->objects, address);
    if (kind != PA_KIND_TASK && kind != PA_KIND_FUTURE) {
        look_at_callbacks(derivation, address, pa_future_attribute(graph, address, "_callbacks"));
        return;
    }
    /* The first callback has a place of its own. */
    if (pa_memory_u64(graph->memory, address + PA_OFFSET(layout, task_callback0), &callback) && callback != 0)
        look_at_callback(derivation, address, callback);
    if (pa_memory_u64(graph->memory, address + PA_OFFSET(layout, task_callbacks), &list))
        look_at_callbacks(derivation, address, list);
}

/* ---- all of them */

static int by_node(const void *a, const void *b)
{
    const struct pa_derived *left = a, *right = b;
    if (left->node != right->node)
        return left->node < right->node ? -1 : 1;
    return left->awaiter < right->awaiter ? -1 : left->awaiter > right->awaiter;
}

/* Whether the process records it. */
static bool has_edge(const struct pa_graph *graph, const struct pa_derived *edge)
{
    const struct pa_node *node = &graph->nodes.items[edge->node];
    return node->edge_count > 0 &&
           bsearch(&edge->awaiter, graph->edges.items + node->first_edge, node->edge_count, sizeof(uint32_t), pa_by_id) != NULL;
}

/* Sort, drop what is recorded or told twice, and what awaits no more. */
static void clean(struct pa_graph *graph)
{
    struct pa_derived *edges = graph->derived.items;
    uint32_t kept = 0;
    if (graph->derived.count > 1)
        qsort(edges, graph->derived.count, sizeof(*edges), by_node);
    for (uint32_t i = 0; i < graph->derived.count && pa_work_step(graph->work); i++) {
        const struct pa_node *awaiter = &graph->nodes.items[edges[i].awaiter];
        if (awaiter->state != PA_PENDING || awaiter->flags & PA_NODE_BAD ||
            (kept > 0 && by_node(&edges[kept - 1], &edges[i]) == 0) || has_edge(graph, &edges[i]))
            continue;
        edges[kept++] = edges[i];
    }
    graph->derived.count = kept;
}

static bool push_edge(struct pa_graph *graph, uint32_t awaiter)
{
    uint32_t *slot = pa_array_push(graph->work, &graph->edges, PA_NONE);
    if (slot)
        *slot = awaiter;
    return slot != NULL;
}

/* The edges of a node stand together: those of a node that gets more are moved to the end. */
static void merge(struct pa_graph *graph)
{
    uint32_t end;
    for (uint32_t i = 0; i < graph->derived.count; i = end) {
        struct pa_node *node = &graph->nodes.items[graph->derived.items[i].node];
        uint32_t first = graph->edges.count;
        for (uint32_t k = 0; k < node->edge_count; k++) {
            if (!push_edge(graph, graph->edges.items[node->first_edge + k]))
                return;
        }
        for (end = i; end < graph->derived.count && graph->derived.items[end].node == graph->derived.items[i].node; end++) {
            if (!push_edge(graph, graph->derived.items[end].awaiter))
                return;
        }
        node->first_edge = first;
        node->edge_count = graph->edges.count - first;
        qsort(graph->edges.items + first, node->edge_count, sizeof(uint32_t), pa_by_id);
    }
}

bool pa_edge_is_derived(const struct pa_graph *graph, uint32_t node, uint32_t awaiter)
{
    struct pa_derived edge = {node, awaiter};
    return graph->derived.count > 0 && bsearch(&edge, graph->derived.items, graph->derived.count, sizeof(edge), by_node) != NULL;
}

void pa_derive_edges(struct pa_graph *graph)
{
    struct derivation derivation = {.graph = graph};
    uint32_t done = 0;
    /* What is found on the way is looked at too, so that a task in no list is followed like any other. */
    while (done < graph->nodes.count && graph->work->fatal == PA_OK) {
        uint32_t end = graph->nodes.count;
        for (uint32_t id = done; id < end && pa_work_step(graph->work); id++)
            look_forward(&derivation, id);
        for (uint32_t id = done; id < end && pa_work_step(graph->work); id++)
            look_backward(&derivation, id);
        pa_read_nodes(graph);
        done = end;
    }
    if (derivation.cut)
        pa_graph_problem(graph, "derived awaiters", derivation.cut, "are too many; some are missing", PA_NONE);
    clean(graph);
    if (graph->work->fatal == PA_OK)
        merge(graph);
    pa_array_free(graph->work, &derivation.waiting);
    pa_index_free(graph->work, &derivation.index);
}
