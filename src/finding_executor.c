/*
 * [executor-full]: all threads of a loop's executor, or all tokens of the limiter that anyio's worker threads are counted by, are in use, and
 * calls wait for one.
 */
#include "finder.h"

#include "blocked.h"
#include "callable.h"
#include "collection.h"
#include "holder.h"

/* ---- the default executor of a loop */

/* How many of an executor's threads there are and have work; one that is idle waits for work. @return false if not all are known. */
static bool count_busy(struct pa_finder *finder, uint64_t executor, uint64_t *threads, uint64_t *busy)
{
    struct pa_graph *graph = finder->graph;
    struct pa_set_iterator iterator;
    struct pa_blocked blocked;
    uint64_t set, thread;
    *threads = *busy = 0;
    if (!pa_attribute(graph, executor, "_threads", &set) || !pa_set_begin(graph->objects, set, &iterator) ||
        iterator.left > PA_MAX_THREADS || !pa_finder_look_at_set(finder, &iterator))
        return false;
    while (pa_set_next(graph->objects, &iterator, &thread)) {
        uint32_t id = pa_thread_of_object(graph, thread);
        if (id == PA_NONE || graph->threads.items[id].frame_count == 0)
            return false;
        pa_blocked_read(graph, id, &blocked);
        *busy += blocked.kind != PA_BLOCKED_WORKER;
        ++*threads;
    }
    return !iterator.damaged;
}

/* Lib/asyncio/futures.py, _chain_future(): a callback of the work's future holds the loop's future, which a task awaits, in a cell. */
static void add_waiting(struct pa_finder *finder, uint64_t item)
{
    struct pa_graph *graph = finder->graph;
    uint64_t future, callbacks, items, count, callback, held[PA_MAX_CELLS];
    if (!pa_attribute(graph, item, "future", &future) || !pa_attribute(graph, future, "_done_callbacks", &callbacks) ||
        !pa_sequence(graph->objects, callbacks, &items, &count) || count != 1 || !pa_memory_u64(graph->memory, items, &callback) ||
        !pa_is_function(graph->codes, callback, "_chain_future.<locals>._call_set_state", "/asyncio/futures.py"))
        return;
    uint32_t cells = pa_function_cells(graph->objects, callback, held);
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t node = pa_kind_of(graph->objects, held[i]) == PA_KIND_FUTURE
                            ? pa_graph_find(graph, pa_future_only_awaiter(graph, held[i]))
                            : PA_NONE;
        if (node != PA_NONE && graph->nodes.items[node].flags & PA_NODE_TASK)
            pa_finding_add_task(finder, node);
    }
}

/* The calls that wait for a thread: Lib/concurrent/futures/thread.py puts None behind them when it shuts down. */
static bool add_queued(struct pa_finder *finder, uint64_t queue, uint64_t *queued)
{
    struct pa_graph *graph = finder->graph;
    struct pa_collection work;
    uint64_t item;
    *queued = 0;
    if (!pa_collection_begin(graph->objects, queue, &work) || work.left > PA_MAX_DEQUE)
        return false;
    while (pa_collection_next(&work, &item)) {
        if (!pa_finder_look(finder))
            return false;
        if (pa_kind_of(graph->objects, item) == PA_KIND_NONE_TYPE)
            continue;
        ++*queued;
        add_waiting(finder, item);
    }
    return !work.damaged && *queued > 0;
}

static void look_at_executor(struct pa_finder *finder, uint64_t executor)
{
    struct pa_graph *graph = finder->graph;
    uint64_t value, queue, threads, busy, queued;
    int64_t maximum;
    if (!pa_attribute(graph, executor, "_max_workers", &value) || !pa_int_read(graph->objects, value, &maximum) ||
        !pa_attribute(graph, executor, "_work_queue", &queue) || !count_busy(finder, executor, &threads, &busy) || maximum < 1 ||
        threads < (uint64_t)maximum || busy < threads)
        return;
    struct pa_finding *finding = pa_finding_begin(finder, PA_FINDING_EXECUTOR_FULL, 0, busy);
    if (!finding)
        return;
    pa_finding_add_object(finder, executor);
    if (add_queued(finder, queue, &queued))
        finding->queued = queued;
    else
        pa_finding_drop(finder);
}

/* ---- anyio's limiter */

/* Whether one of the frames of a stack is that of the function that runs a call in a worker thread. */
static bool runs_in_thread(const struct pa_graph *graph, uint32_t stack)
{
    for (; stack != 0; stack = graph->codes->stacks.items[stack].outer) {
        if (pa_frame_is(graph->codes, graph->codes->stacks.items[stack].frame, "AsyncIOBackend.run_sync_in_worker_thread",
                        "/anyio/_backends/_asyncio.py"))
            return true;
    }
    return false;
}

static void look_at_limiter(struct pa_finder *finder, const struct pa_waited *waited)
{
    struct pa_graph *graph = finder->graph;
    struct pa_held held;
    uint64_t ignored;
    if (waited->kind != PA_WAITS_SEMAPHORE || !runs_in_thread(graph, graph->nodes.items[waited->node].stack) ||
        !pa_attribute(graph, waited->object, "_borrowers", &ignored))
        return;
    pa_holders_of(graph, waited->object, NULL, 0, &held);
    if (held.state != PA_HOLD_HELD)
        return;
    struct pa_finding *finding = pa_finding_begin(finder, PA_FINDING_EXECUTOR_FULL, 0, held.total);
    if (!finding)
        return;
    pa_finding_add_object(finder, waited->object);
    if (pa_finding_add_waiters(finder, waited->object, &finding->queued))
        return;
    pa_finding_drop(finder);
}

void pa_find_full(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct pa_addresses seen = {0}; /* loops may share one */
    for (uint32_t i = 0; i < graph->loops.count && pa_work_step(graph->work); i++) {
        uint64_t executor;
        if (pa_attribute(graph, graph->loops.items[i].address, "_default_executor", &executor) &&
            pa_kind_of(graph->objects, executor) == PA_KIND_OTHER && !pa_addresses_have(&seen, executor) &&
            pa_addresses_add(graph->work, &seen, executor, PA_MAX_LOOPS))
            look_at_executor(finder, executor);
    }
    pa_addresses_free(graph->work, &seen);
    for (uint32_t i = 0; i < finder->waited.count && !finder->in_locks && pa_work_step(graph->work); i++)
        look_at_limiter(finder, &finder->waited.items[i]);
}
