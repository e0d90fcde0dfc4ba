/*
 * Cycles of awaiters: tasks that wait, through others, for themselves.
 *
 * Nearly every graph has none, which is found out in one pass: nodes that nobody waits behind are peeled off until nothing is left. Only
 * what is left is searched for knots (strongly connected components), and of each knot one cycle is named.
 */
#include "graph.h"

#include "limits.h"

/* Per node: how many edges lead from it as an awaiter, less those of peeled nodes. */
struct peel {
    uint32_t *awaits;
    uint32_t *queue;
    uint32_t left;
};

/*
 * Peel nodes that wait for nobody: they cannot be in a cycle; without them their awaiters may wait for nobody either.
 * What is left has, on every path along its edges backward, a cycle.
 */
static void peel(struct pa_graph *graph, struct peel *peel)
{
    uint32_t queued = 0;
    peel->left = graph->nodes.count;
    memset(peel->awaits, 0, graph->nodes.count * sizeof(uint32_t));
    for (uint32_t id = 0; id < graph->nodes.count; id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        for (uint32_t i = 0; i < node->edge_count; i++)
            peel->awaits[graph->edges.items[node->first_edge + i]]++;
    }
    for (uint32_t id = 0; id < graph->nodes.count; id++) {
        if (peel->awaits[id] == 0)
            peel->queue[queued++] = id;
    }
    for (uint32_t next = 0; next < queued && pa_work_step(graph->work); next++) {
        const struct pa_node *node = &graph->nodes.items[peel->queue[next]];
        peel->left--;
        for (uint32_t i = 0; i < node->edge_count; i++) {
            uint32_t awaiter = graph->edges.items[node->first_edge + i];
            if (--peel->awaits[awaiter] == 0)
                peel->queue[queued++] = awaiter;
        }
    }
}

/* Tarjan's strongly connected components over the nodes that are left, with a stack of our own instead of recursion. */
struct knots {
    uint32_t *order;     /* when a node was met, from 1; 0: not yet */
    uint32_t *low;       /* the earliest node on the path that it leads back to; its knot when finished */
    uint32_t *path;      /* nodes whose knot is open */
    uint32_t *call;      /* nodes being visited */
    uint32_t *next_edge; /* of the node at each depth of call */
    uint32_t path_count, met;
};
#define FINISHED 0x80000000u /* in low: the knot is closed, the rest is its number */

/* Close the knot that @p root is the first node of. Only one with more than one node, or a node that waits for itself, is a cycle. */
static void close_knot(struct pa_graph *graph, struct knots *knots, uint32_t root)
{
    const struct pa_node *node = &graph->nodes.items[root];
    bool cycle = knots->path[knots->path_count - 1] != root;
    for (uint32_t i = 0; i < node->edge_count && !cycle; i++)
        cycle = graph->edges.items[node->first_edge + i] == root;
    uint32_t id;
    do {
        id = knots->path[--knots->path_count];
        knots->low[id] = FINISHED | root;
        if (cycle)
            graph->nodes.items[id].flags |= PA_NODE_IN_CYCLE;
    } while (id != root);
}

static void meet(struct knots *knots, uint32_t depth, uint32_t id)
{
    knots->call[depth] = id;
    knots->next_edge[depth] = 0;
    knots->order[id] = knots->low[id] = ++knots->met;
    knots->path[knots->path_count++] = id;
}

static void visit(struct pa_graph *graph, const uint32_t *awaits, struct knots *knots, uint32_t start)
{
    uint32_t depth = 0;
    meet(knots, 0, start);
    while (pa_work_step(graph->work)) {
        uint32_t id = knots->call[depth];
        const struct pa_node *node = &graph->nodes.items[id];
        if (knots->next_edge[depth] < node->edge_count) {
            uint32_t awaiter = graph->edges.items[node->first_edge + knots->next_edge[depth]++];
            if (awaits[awaiter] == 0)
                continue;
            if (knots->order[awaiter] == 0)
                meet(knots, ++depth, awaiter);
            else if (!(knots->low[awaiter] & FINISHED) && knots->order[awaiter] < knots->low[id])
                knots->low[id] = knots->order[awaiter];
            continue;
        }
        uint32_t low = knots->low[id];
        if (low == knots->order[id])
            close_knot(graph, knots, id);
        if (depth == 0)
            return;
        uint32_t caller = knots->call[--depth];
        if (low < knots->low[caller])
            knots->low[caller] = low;
    }
}

/*
 * Name the shortest cycle through @p start, breadth first within its knot. @p from and @p queue have room for all nodes; @p from is
 * all PA_NONE and is left so.
 */
static void name_cycle(struct pa_graph *graph, const uint32_t *low, uint32_t start, uint32_t *from, uint32_t *queue)
{
    uint32_t queued = 0;
    queue[queued++] = start;
    for (uint32_t next = 0; next < queued && from[start] == PA_NONE && pa_work_step(graph->work); next++) {
        const struct pa_node *node = &graph->nodes.items[queue[next]];
        for (uint32_t i = 0; i < node->edge_count; i++) {
            uint32_t awaiter = graph->edges.items[node->first_edge + i];
            if (low[awaiter] != low[start] || from[awaiter] != PA_NONE)
                continue;
            from[awaiter] = queue[next];
            if (awaiter != start)
                queue[queued++] = awaiter;
        }
    }
    for (uint32_t id = start; from[start] != PA_NONE;) {
        uint32_t *member = pa_array_push(graph->work, &graph->cycle_members, PA_NONE);
        if (!member)
            break;
        *member = id;
        id = from[id];
        if (id == start)
            break;
    }
    uint32_t *end = pa_array_push(graph->work, &graph->cycle_ends, PA_NONE);
    if (end)
        *end = graph->cycle_members.count;
    for (uint32_t i = 0; i < queued; i++)
        from[queue[i]] = PA_NONE;
}

static void find_knots(struct pa_graph *graph, const uint32_t *awaits, uint32_t *block)
{
    uint32_t count = graph->nodes.count;
    struct knots knots = {block, block + count, block + 2 * (size_t)count, block + 3 * (size_t)count, block + 4 * (size_t)count, 0,
                          0};
    memset(knots.order, 0, count * sizeof(uint32_t));
    for (uint32_t id = 0; id < count && graph->work->fatal == PA_OK; id++) {
        if (awaits[id] != 0 && knots.order[id] == 0)
            visit(graph, awaits, &knots, id);
    }
    /* One cycle a knot, through its oldest node. */
    uint32_t *named = knots.order, *from = knots.path;
    memset(named, 0, count * sizeof(uint32_t));
    memset(from, 0xff, count * sizeof(uint32_t));
    for (uint32_t id = 0; id < count && graph->work->fatal == PA_OK; id++) {
        if (!(graph->nodes.items[id].flags & PA_NODE_IN_CYCLE) || named[knots.low[id] & ~FINISHED]++)
            continue;
        if (graph->cycle_ends.count == PA_MAX_CYCLES)
            graph->more_cycles++;
        else
            name_cycle(graph, knots.low, id, from, knots.call);
    }
}

/* Nearly always every awaiter is older than what it awaits: then there is no cycle. Edges are sorted, the last is the youngest. */
static bool only_older_await(const struct pa_graph *graph)
{
    for (uint32_t id = 0; id < graph->nodes.count; id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        if (node->edge_count > 0 && graph->edges.items[node->first_edge + node->edge_count - 1] >= id)
            return false;
    }
    return true;
}

void pa_find_cycles(struct pa_graph *graph)
{
    struct pa_work *work = graph->work;
    size_t size = (size_t)graph->nodes.count * sizeof(uint32_t);
    if (only_older_await(graph))
        return;
    struct peel state = {.awaits = pa_work_resize(work, NULL, 0, size), .queue = pa_work_resize(work, NULL, 0, size)};
    if (state.awaits && state.queue) {
        peel(graph, &state);
        uint32_t *block = state.left > 0 && work->fatal == PA_OK ? pa_work_resize(work, NULL, 0, 5 * size) : NULL;
        if (block)
            find_knots(graph, state.awaits, block);
        pa_work_resize(work, block, block ? 5 * size : 0, 0);
    }
    pa_work_resize(work, state.awaits, state.awaits ? size : 0, 0);
    pa_work_resize(work, state.queue, state.queue ? size : 0, 0);
}
