/*
 * Tasks: the lists that hold them, their fields, their stacks, and who waits for them.
 *
 * CPython: Modules/_asynciomodule.c. Pending tasks of a thread stand in a circular list headed in the thread's state; those of threads
 * that have exited in one headed in the interpreter's. Ended tasks are in no list. A future's awaited_by is NULL, one object, or a set.
 */
#include "future.h"
#include "limits.h"

#include <stdlib.h>

/* Modules/_asynciomodule.c, enum fut_state */
enum { FUT_CANCELLED = 1, FUT_FINISHED = 2 };

static uint16_t loop_at(struct pa_graph *graph, uint64_t address)
{
    if (address == 0 || address % 8 != 0)
        return PA_NO_LOOP;
    if (graph->recent_loop.key == address)
        return (uint16_t)graph->recent_loop.id;
    uint32_t id = pa_index_find(&graph->loop_index, graph->loops.items, sizeof(struct pa_loop), address);
    if (id == PA_NONE) {
        struct pa_loop *loop = pa_array_push(graph->work, &graph->loops, PA_MAX_LOOPS);
        if (!loop)
            return PA_NO_LOOP;
        *loop = (struct pa_loop){.address = address, .thread = PA_NONE, .task = PA_NONE};
        id = graph->loops.count - 1;
        if (!pa_index_add(graph->work, &graph->loop_index, graph->loops.items, sizeof(struct pa_loop), id)) {
            graph->loops.count--;
            return PA_NO_LOOP;
        }
    }
    graph->recent_loop = (struct pa_recent){address, id};
    return (uint16_t)id;
}

/* The loops that run in threads, before tasks are read, so that they come first. */
static void read_running_loops(struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        uint16_t id = loop_at(graph, graph->threads.items[i].loop);
        if (id != PA_NO_LOOP && graph->loops.items[id].thread == PA_NONE)
            graph->loops.items[id].thread = i;
    }
}

/* The node of an awaiter, or PA_NONE with a problem noted. */
static uint32_t awaiter_at(struct pa_graph *graph, uint32_t node, uint64_t awaiter)
{
    if (graph->recent_awaiter.key == awaiter)
        return graph->recent_awaiter.id;
    if (!pa_is_future(graph, awaiter)) {
        pa_graph_problem(graph, "awaiter", awaiter, "is neither a task nor a future", node);
        return PA_NONE;
    }
    uint32_t id = pa_graph_node(graph, awaiter);
    if (id != PA_NONE)
        graph->recent_awaiter = (struct pa_recent){awaiter, id};
    return id;
}

static void add_edge(struct pa_graph *graph, uint32_t node, uint64_t awaiter)
{
    uint32_t id = awaiter_at(graph, node, awaiter);
    uint32_t *edge = id == PA_NONE ? NULL : pa_array_push(graph->work, &graph->edges, PA_NONE);
    if (edge)
        *edge = id;
}

int pa_by_id(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static void read_awaited_by(struct pa_graph *graph, uint32_t id, uint64_t awaited_by, bool is_set)
{
    graph->nodes.items[id].first_edge = graph->edges.count;
    if (awaited_by == 0)
        return;
    if (!is_set) {
        add_edge(graph, id, awaited_by);
    } else {
        struct pa_set_iterator iterator;
        uint64_t awaiter;
        pa_set_begin(graph->objects, awaited_by, &iterator);
        while (pa_set_next(graph->objects, &iterator, &awaiter))
            add_edge(graph, id, awaiter);
        if (iterator.damaged)
            pa_graph_problem(graph, "awaited-by set", awaited_by, "is damaged; awaiters may be missing", id);
    }
    struct pa_node *node = &graph->nodes.items[id];
    node->edge_count = graph->edges.count - node->first_edge;
    /* The order of a set is that of addresses' hashes; ids are in the order of creation. */
    if (node->edge_count > 1)
        qsort(graph->edges.items + node->first_edge, node->edge_count, sizeof(uint32_t), pa_by_id);
}

static enum pa_state state_of(uint32_t fut_state, uint64_t exception)
{
    if (fut_state == FUT_CANCELLED)
        return PA_CANCELLED;
    if (fut_state == FUT_FINISHED)
        return exception != 0 ? PA_FAILED_STATE : PA_DONE;
    return PA_PENDING;
}

enum pa_state pa_future_state(struct pa_graph *graph, uint64_t address)
{
    uint32_t state;
    uint64_t exception;
    struct pa_future future;
    enum pa_kind kind = pa_kind_of(graph->objects, address);
    if (kind != PA_KIND_TASK && kind != PA_KIND_FUTURE)
        return pa_future_read(graph, address, false, &future) ? future.state : PA_PENDING;
    if (!pa_memory_u32(graph->memory, address + PA_OFFSET(graph->layout, task_state), &state) ||
        !pa_memory_u64(graph->memory, address + PA_OFFSET(graph->layout, task_exception), &exception))
        return PA_PENDING;
    return state_of(state, exception);
}

/* What a task is suspended on. A future that is done has already put the task's wakeup into the loop's queue. */
static enum pa_wait wait_of(struct pa_graph *graph, uint64_t future)
{
    if (future == 0)
        return PA_WAIT_READY;
    enum pa_kind kind = pa_kind_of(graph->objects, future);
    bool is_python = kind != PA_KIND_TASK && kind != PA_KIND_FUTURE;
    if (is_python && !pa_is_future(graph, future))
        return PA_WAIT_FUTURE;
    if (pa_future_state(graph, future) != PA_PENDING)
        return PA_WAIT_READY;
    /* A task that is awaited and in no list would else be missed; and who awaits a future of Python's is to be derived. */
    uint32_t id = PA_NONE;
    if (kind != PA_KIND_FUTURE)
        id = pa_graph_node(graph, future);
    else if (graph->registered_count > 0)
        id = pa_graph_find(graph, future);
    bool is_task =
        kind == PA_KIND_TASK || kind == PA_KIND_PYTHON_TASK || (id != PA_NONE && graph->nodes.items[id].flags & PA_NODE_REGISTERED);
    return is_task ? PA_WAIT_TASK : PA_WAIT_FUTURE;
}

/* The thread that a frame of thread_frames is of: the frames of one thread come after those of the one before. */
static uint32_t thread_of_frame(const struct pa_graph *graph, uint32_t frame)
{
    uint32_t low = 0, high = graph->threads.count; /* the last one whose first frame is not behind it */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (graph->threads.items[middle].first_frame <= frame)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/*
 * Note it if the task's coroutine, or else the first one of its chain that has a frame, stands on a thread's stack; the task's own is cut
 * from there when all tasks are known.
 */
static void find_executing(struct pa_graph *graph, uint32_t id)
{
    const struct pa_chain *chain = &graph->chain;
    uint32_t frame = PA_NONE, outer = 0, outer_stack = 0;
    for (; outer < chain->links.count; outer++) {
        const struct pa_link *link = &chain->links.items[outer];
        frame = pa_index_find(&graph->thread_frame_index, graph->thread_frames.items, sizeof(struct pa_thread_frame), link->object);
        if (frame != PA_NONE)
            break;
        outer_stack = pa_stack_push(graph->codes, outer_stack, link->frame);
    }
    if (frame == PA_NONE)
        return;
    if (graph->thread_frames.items[frame].claimed) {
        pa_graph_problem(graph, "coroutine", chain->links.items[outer].object, "belongs to another task too", id);
        return;
    }
    struct pa_executing *executing = pa_array_push(graph->work, &graph->executing, PA_NONE);
    if (executing)
        *executing = (struct pa_executing){
            .node = id, .thread = thread_of_frame(graph, frame), .last = frame, .outer = outer, .outer_stack = outer_stack};
    graph->thread_frames.items[frame].claimed = true;
}

/* The stack of the chain's frames. Where all of it looked as the last such chain did, it is that one's. */
static uint32_t stack_of_chain(struct pa_graph *graph, const struct pa_chain *chain)
{
    uint32_t count = chain->links.count;
    bool same = chain->shaped == count;
    if (same && graph->same.learned == chain->learned && graph->same.count == count)
        return graph->same.stack;
    uint32_t stack = 0;
    for (uint32_t i = 0; i < count; i++)
        stack = pa_stack_push(graph->codes, stack, chain->links.items[i].frame);
    if (same) {
        graph->same.learned = chain->learned;
        graph->same.count = count;
        graph->same.stack = stack;
    }
    return stack;
}

/* Whether it is the task that runs in some thread. */
static bool runs(const struct pa_graph *graph, uint32_t id)
{
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        if (graph->threads.items[i].task == graph->nodes.items[id].address)
            return true;
    }
    return false;
}

/* Its list of callbacks begins with the second one. What is none of asyncio's C code has another word there, and is looked at again. */
static bool has_callbacks(struct pa_graph *graph, uint64_t future)
{
    uint64_t callbacks;
    return pa_memory_u64(graph->memory, future + PA_OFFSET(graph->layout, task_callbacks), &callbacks) && callbacks != 0;
}

static void read_stack(struct pa_graph *graph, uint32_t id, const struct pa_future *fields)
{
    uint64_t coroutine = fields->coroutine, future = fields->fut_waiter;
    struct pa_chain *chain = &graph->chain;
    pa_chain_follow(graph->codes, coroutine, future, chain);
    if (chain->end == PA_END_EXECUTING && pa_chain_is_derived(chain) && !runs(graph, id))
        pa_chain_cut(chain);
    pa_bridge(graph, chain, future); /* more links than levels: no chain that looked as the last one did */
    uint32_t stack = stack_of_chain(graph, chain);
    if (chain->end == PA_END_UNKNOWN)
        pa_graph_problem(graph, "coroutine", chain->end_object, chain->why, id);

    if (chain->end == PA_END_EXECUTING)
        find_executing(graph, id);
    /* A task without such a field waits for what its coroutine does. */
    bool known = fields->fut_waiter_known;
    if (!known && chain->end == PA_END_FUTURE) {
        future = chain->end_object;
        known = true;
    }
    enum pa_wait wait = PA_WAIT_NONE;
    if (known && chain->end != PA_END_EXECUTING && chain->end != PA_END_CREATED)
        wait = wait_of(graph, future);
    struct pa_node *node = &graph->nodes.items[id];
    node->stack = stack;
    if (wait == PA_WAIT_FUTURE && has_callbacks(graph, future))
        node->flags |= PA_NODE_NOTABLE;
    if (chain->end == PA_END_EXECUTING)
        node->activity = PA_EXECUTING;
    else if (chain->end == PA_END_CREATED)
        node->activity = PA_CREATED;
    else
        node->activity = wait == PA_WAIT_READY ? PA_READY : PA_WAITING;
    node->wait = wait;
}

/* The fields of a task or future of asyncio's C code. A future that was registered as a task has those of a task as attributes. */
static bool read_struct(struct pa_graph *graph, uint64_t address, bool is_task, struct pa_future *fields)
{
    const struct pa_layout *layout = graph->layout;
    uint8_t scratch[PA_MAX_OBJECT_SIZE];
    bool is_duck = is_task && graph->registered_count > 0 && pa_kind_of(graph->objects, address) == PA_KIND_FUTURE;
    is_task = is_task && !is_duck;
    /* A plain future ends before the fields of a task begin. */
    size_t size = is_task ? PA_OFFSET(layout, task_size) : PA_OFFSET(layout, task_awaited_by_is_set) + 1u;
    const uint8_t *bytes = pa_memory_view(graph->memory, address, size, scratch);
    if (!bytes)
        return false;
    *fields = (struct pa_future){
        .state = state_of(pa_get_u32(bytes, PA_OFFSET(layout, task_state)), pa_get_u64(bytes, PA_OFFSET(layout, task_exception))),
        .loop = pa_get_u64(bytes, PA_OFFSET(layout, task_loop)),
        .awaited_by = pa_get_u64(bytes, PA_OFFSET(layout, task_awaited_by)),
        .coroutine = is_task ? pa_get_u64(bytes, PA_OFFSET(layout, task_coro)) : 0,
        .fut_waiter = is_task ? pa_get_u64(bytes, PA_OFFSET(layout, task_fut_waiter)) : 0,
        .awaited_by_is_set = bytes[PA_OFFSET(layout, task_awaited_by_is_set)] != 0,
        .fut_waiter_known = true,
        .is_notable = pa_get_u64(bytes, PA_OFFSET(layout, task_callbacks)) != 0 ||
                      (is_task && pa_get_u32(bytes, PA_OFFSET(layout, task_cancel_requests)) != 0),
    };
    struct pa_future attributes;
    if (is_duck && pa_future_read(graph, address, true, &attributes)) {
        fields->coroutine = attributes.coroutine;
        fields->fut_waiter = attributes.fut_waiter;
        fields->fut_waiter_known = attributes.fut_waiter_known;
    }
    return true;
}

/* Read the fields of a task or future whose type has been checked. */
static void read_node(struct pa_graph *graph, uint32_t id, enum pa_kind kind)
{
    struct pa_future fields;
    struct pa_node *node = &graph->nodes.items[id];
    bool in_struct = kind == PA_KIND_TASK || kind == PA_KIND_FUTURE;
    bool is_task = kind == PA_KIND_TASK || kind == PA_KIND_PYTHON_TASK || node->flags & PA_NODE_REGISTERED;
    if (is_task) {
        node->flags |= PA_NODE_TASK;
        graph->task_count++;
    }
    if (!in_struct || (is_task && kind == PA_KIND_FUTURE)) {
        node->flags |= PA_NODE_PYTHON;
        graph->python_count++;
    }
    bool read =
        in_struct ? read_struct(graph, node->address, is_task, &fields) : pa_future_read(graph, node->address, is_task, &fields);
    if (!read) {
        node->flags |= PA_NODE_BAD;
        graph->ended_count++;
        pa_graph_problem(graph, is_task ? "task" : "future", node->address, "cannot be read", id);
        return;
    }
    node->state = fields.state;
    node->activity = node->state == PA_PENDING ? PA_WAITING : PA_ENDED;
    graph->ended_count += node->state != PA_PENDING;
    node->loop = loop_at(graph, fields.loop);
    if (in_struct && fields.is_notable)
        node->flags |= PA_NODE_NOTABLE;
    read_awaited_by(graph, id, fields.awaited_by, fields.awaited_by_is_set);
    bool has_coroutine = fields.coroutine != 0 || !(graph->nodes.items[id].flags & PA_NODE_PYTHON);
    if (is_task && has_coroutine && fields.state == PA_PENDING)
        read_stack(graph, id, &fields);
}

/* Read the nodes that were not read yet. Awaiters and awaited tasks that are in no list turn up as new ones meanwhile. */
void pa_read_nodes(struct pa_graph *graph)
{
    for (; graph->read_count < graph->nodes.count && pa_work_step(graph->work); graph->read_count++) {
        uint32_t id = graph->read_count;
        const struct pa_node *node = &graph->nodes.items[id];
        read_node(graph, id, node->flags & PA_NODE_LISTED ? PA_KIND_TASK : pa_kind_of(graph->objects, node->address));
    }
}

/* The list a task stands in. */
struct task_list {
    uint64_t head;
    uint32_t thread;      /* index, or PA_NONE: tasks of threads that have exited */
    uint32_t interpreter; /* index */
};

/* Make a node of the task at a list's node. @return false if it is none, or one that was met already: then the list is damaged. */
static bool add_listed(struct pa_graph *graph, const struct task_list *list, uint64_t list_node, bool report)
{
    uint64_t address = list_node - PA_OFFSET(graph->layout, task_node);
    if (pa_kind_of(graph->objects, address) != PA_KIND_TASK) {
        if (report)
            pa_graph_problem(graph, "task list", address, "holds an object that is no task; tasks may be missing", PA_NONE);
        return false;
    }
    uint32_t id = pa_graph_node(graph, address);
    if (id == PA_NONE)
        return false;
    struct pa_node *node = &graph->nodes.items[id];
    if (node->flags & PA_NODE_LISTED) {
        if (report)
            pa_graph_problem(graph, "task list", list_node, "comes back to a task that it has had; tasks may be missing", PA_NONE);
        return false;
    }
    node->flags |= PA_NODE_LISTED;
    node->thread = list->thread == PA_NONE ? PA_NO_THREAD : (uint16_t)list->thread;
    node->interpreter = list->interpreter & 0xfff;
    return true;
}

/* Tasks are mostly allocated one after another: fetch one that is so far ahead that it has come when its turn is. */
static void look_ahead(const struct pa_graph *graph, uint64_t list_node, uint64_t before)
{
    uint64_t ahead = list_node + 4 * (list_node - before);
    pa_memory_prefetch(graph->memory, ahead - PA_OFFSET(graph->layout, task_node), PA_OFFSET(graph->layout, task_size));
}

/*
 * Walk a list in one direction: @p link is the offset of the pointer that is followed. Each node must link back to the one before it: else
 * a pointer to another node of the list would leave out those between, unseen.
 * CPython: Include/internal/pycore_llist.h, struct llist_node {next, prev}.
 *
 * @return true if it came back to its head.
 */
static bool walk_list(struct pa_graph *graph, const struct task_list *list, uint32_t link, bool report)
{
    uint64_t list_node, before = list->head, last;
    if (!pa_memory_u64(graph->memory, list->head + link, &list_node))
        list_node = 0;
    while (list_node != list->head) {
        if (!pa_work_step(graph->work))
            return true;
        if (list_node == 0 || list_node % 8 != 0) {
            if (report)
                pa_graph_problem(graph, "task list", list_node, "has a pointer that is none; tasks may be missing", PA_NONE);
            return false;
        }
        uint64_t links[2];
        if (!pa_memory_read(graph->memory, list_node, sizeof(links), links))
            memset(links, 0, sizeof(links));
        uint64_t next = links[link / 8];
        if (links[1 - link / 8] != before) {
            if (report)
                pa_graph_problem(graph, "task list", list_node, "has a link that leads not back; tasks may be missing", PA_NONE);
            return false;
        }
        pa_index_prefetch(&graph->run_index, pa_node_page(next - PA_OFFSET(graph->layout, task_node)));
        look_ahead(graph, list_node, before);
        if (!add_listed(graph, list, list_node, report))
            return false;
        if (graph->nodes.count - graph->read_count >= PA_READ_BATCH)
            pa_read_nodes(graph);
        before = list_node;
        list_node = next;
    }
    if (pa_memory_u64(graph->memory, list->head + 8 - link, &last) && last == before)
        return true;
    if (report)
        pa_graph_problem(graph, "task list", before,
                         "is not the last of its list, though it links to the head; tasks may be missing", PA_NONE);
    return false;
}

static void read_list(struct pa_graph *graph, const struct task_list *list)
{
    /* A list that is broken on the way forward is intact from its other end up to the damage. */
    if (walk_list(graph, list, 0, true) || graph->work->fatal != PA_OK)
        return;
    graph->damaged_lists++;
    walk_list(graph, list, 8, false);
}

/* Every list, before any task is read: so nodes are in the order of the lists, which is that of creation. */
static void read_lists(struct pa_graph *graph)
{
    const struct pa_layout *layout = graph->layout;
    if (!pa_layout_has_asyncio(layout))
        return;
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        struct task_list list = {thread->address + PA_OFFSET(layout, thread_impl_asyncio_tasks_head), i, thread->interpreter};
        read_list(graph, &list);
    }
    for (uint32_t i = 0; i < graph->interpreters.count; i++) {
        uint64_t head = graph->interpreters.items[i].address + PA_OFFSET(layout, interpreter_asyncio_tasks_head);
        struct task_list list = {head, PA_NONE, i};
        read_list(graph, &list);
    }
}

/* Tasks that run: the one that is started eagerly by another runs above it. */
static void read_running_tasks(struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        uint64_t task = graph->threads.items[i].task;
        enum pa_kind kind = task ? pa_kind_of(graph->objects, task) : PA_KIND_OTHER;
        if (kind == PA_KIND_TASK || kind == PA_KIND_PYTHON_TASK)
            pa_graph_node(graph, task);
    }
}

/* An awaiter that has ended waits no more: its entry is stale. Edges stay sorted. */
static void drop_stale_edges(struct pa_graph *graph, uint32_t first)
{
    for (uint32_t id = first; id < graph->nodes.count; id++) {
        struct pa_node *node = &graph->nodes.items[id];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < node->edge_count; i++) {
            uint32_t awaiter = graph->edges.items[node->first_edge + i];
            const struct pa_node *other = &graph->nodes.items[awaiter];
            if (other->state == PA_PENDING && !(other->flags & PA_NODE_BAD))
                graph->edges.items[node->first_edge + kept++] = awaiter;
        }
        node->stale += node->edge_count - kept;
        node->edge_count = kept;
    }
}

static int by_frame(const void *a, const void *b)
{
    const struct pa_executing *left = a, *right = b;
    return left->last < right->last ? -1 : left->last > right->last;
}

/*
 * A task that executes has its real stack on its thread's: from the innermost frame, or from just outside of the task that it started
 * eagerly, out to its own coroutine's frame.
 */
static void cut_executing_stacks(struct pa_graph *graph)
{
    pa_index_free(graph->work, &graph->executing_index);
    if (graph->executing.count > 1)
        qsort(graph->executing.items, graph->executing.count, sizeof(struct pa_executing), by_frame);
    for (uint32_t i = 0; i < graph->executing.count && pa_work_step(graph->work); i++) {
        struct pa_executing *executing = &graph->executing.items[i];
        executing->first = graph->threads.items[executing->thread].first_frame;
        if (i > 0 && executing[-1].thread == executing->thread)
            executing->first = executing[-1].last + 1;
        uint32_t stack = executing->outer_stack;
        for (uint32_t frame = executing->last + 1; frame > executing->first; frame--)
            stack = pa_stack_push(graph->codes, stack, graph->thread_frames.items[frame - 1].frame);
        graph->nodes.items[executing->node].stack = stack;
        if (!pa_index_add(graph->work, &graph->executing_index, graph->executing.items, sizeof(*executing), i))
            return;
    }
}

static void mark_running(struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        uint32_t id = thread->task ? pa_graph_find(graph, thread->task) : PA_NONE;
        if (id == PA_NONE || !(graph->nodes.items[id].flags & PA_NODE_TASK))
            continue;
        struct pa_node *node = &graph->nodes.items[id];
        if (node->state == PA_PENDING) {
            node->activity = PA_RUNNING;
            node->wait = PA_WAIT_NONE;
        }
        if (node->thread == PA_NO_THREAD)
            node->thread = (uint16_t)i;
        uint32_t loop = pa_index_find(&graph->loop_index, graph->loops.items, sizeof(struct pa_loop), thread->loop);
        if (loop != PA_NONE && graph->loops.items[loop].task == PA_NONE)
            graph->loops.items[loop].task = id;
    }
}

/* A task that is in no thread's list belongs to the thread that its loop runs in. */
static void place_tasks(struct pa_graph *graph)
{
    for (uint32_t id = 0; id < graph->nodes.count; id++) {
        struct pa_node *node = &graph->nodes.items[id];
        if (node->flags & (PA_NODE_PYTHON | PA_NODE_TRACKED | PA_NODE_SCANNED) && node->thread == PA_NO_THREAD &&
            node->loop != PA_NO_LOOP && node->state == PA_PENDING && graph->loops.items[node->loop].thread != PA_NONE)
            node->thread = (uint16_t)graph->loops.items[node->loop].thread;
    }
}

static void count_tasks(struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct pa_node *node = &graph->nodes.items[i];
        if (!(node->flags & PA_NODE_TASK) || node->state != PA_PENDING)
            continue;
        graph->live_count++;
        if (node->loop == PA_NO_LOOP)
            continue;
        graph->loops.items[node->loop].tasks++;
        graph->loops.items[node->loop].waiting += node->activity == PA_WAITING;
    }
}

uint32_t pa_read_reached_node(struct pa_graph *graph, uint64_t address)
{
    uint32_t first = graph->nodes.count, executing = graph->executing.count;
    uint32_t id = pa_graph_node(graph, address);
    pa_read_nodes(graph);
    drop_stale_edges(graph, first);
    if (graph->executing.count > executing)
        cut_executing_stacks(graph);
    return id;
}

void pa_read_tasks(struct pa_graph *graph)
{
    read_running_loops(graph);
    /* First, since a task of a list may await one that is a task by this only. */
    pa_read_registered(graph);
    read_lists(graph);
    read_running_tasks(graph);
    pa_read_nodes(graph);
    pa_read_tracked(graph);
    pa_read_nodes(graph);
    if (graph->python_count > 0) {
        pa_place_registered(graph);
        pa_derive_edges(graph);
    }
    if (graph->work->fatal != PA_OK)
        return;
    if (graph->ended_count > 0)
        drop_stale_edges(graph, 0);
    cut_executing_stacks(graph);
    mark_running(graph);
    if (graph->python_count > 0 || graph->searched)
        place_tasks(graph);
    count_tasks(graph);
}
