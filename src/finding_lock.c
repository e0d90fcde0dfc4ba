/*
 * Findings about locks, semaphores and limiters: free, with waiters that nothing will wake.
 *
 * Whoever gives one back sets the future of a waiter, in the same step. So while none of these futures is done, nobody has been woken, and
 * nobody will be: there is no holder left that could give it back.
 */
#include "finder.h"

#include "collection.h"
#include "holder.h"

/* Add a task that awaits a waiter's future. @return false if the future is done, or is none: then a wakeup is under way, or is not known of. */
static bool add_waiter(struct pa_finder *finder, uint64_t future)
{
    struct pa_graph *graph = finder->graph;
    enum pa_kind kind = pa_kind_of(graph->objects, future);
    if ((kind != PA_KIND_FUTURE && kind != PA_KIND_PYTHON_FUTURE) || pa_future_state(graph, future) != PA_PENDING)
        return false;
    uint32_t node = pa_graph_find(graph, pa_future_only_awaiter(graph, future));
    if (node != PA_NONE)
        pa_finding_add_task(finder, node);
    return true;
}

/* The futures of a deque; in anyio's Lock they stand in pairs with their tasks. */
static bool add_deque(struct pa_finder *finder, uint64_t deque, uint64_t *count)
{
    struct pa_graph *graph = finder->graph;
    struct pa_collection iterator;
    uint64_t element, items, length;
    if (!pa_collection_begin(graph->objects, deque, &iterator) || iterator.left > PA_MAX_DEQUE)
        return false;
    *count += iterator.left;
    while (pa_collection_next(&iterator, &element)) {
        if (!pa_finder_look(finder))
            return false;
        if (pa_kind_of(graph->objects, element) == PA_KIND_TUPLE &&
            (!pa_sequence(graph->objects, element, &items, &length) || length != 2 ||
             !pa_memory_u64(graph->memory, items + 8, &element)))
            return false;
        if (!add_waiter(finder, element))
            return false;
    }
    return !iterator.damaged;
}

/* anyio/_backends/_asyncio.py, CapacityLimiter: a dict from borrower to an event that nobody else waits for. */
static bool add_events(struct pa_finder *finder, uint64_t dict, uint64_t *count)
{
    struct pa_graph *graph = finder->graph;
    struct pa_dict_iterator iterator;
    uint64_t key, event, waiters;
    if (!pa_dict_begin(graph->objects, dict, &iterator))
        return false;
    while (pa_dict_next(graph->objects, &iterator, &key, &event)) {
        if (!pa_finder_look(finder) || !pa_attribute(graph, event, "_waiters", &waiters) || !add_deque(finder, waiters, count))
            return false;
    }
    return !iterator.damaged;
}

bool pa_finding_add_waiters(struct pa_finder *finder, uint64_t object, uint64_t *count)
{
    uint64_t waiters;
    *count = 0;
    bool all = pa_attribute(finder->graph, object, "_waiters", &waiters)      ? add_deque(finder, waiters, count)
               : pa_attribute(finder->graph, object, "_wait_queue", &waiters) ? add_events(finder, waiters, count)
                                                                              : false;
    return all && *count > 0 && finder->graph->work->fatal == PA_OK;
}

void pa_find_free(struct pa_finder *finder)
{
    for (uint32_t i = 0; i < finder->waited.count && !finder->in_locks && pa_work_step(finder->graph->work); i++) {
        struct pa_waited waited = finder->waited.items[i];
        if ((waited.kind != PA_WAITS_LOCK && waited.kind != PA_WAITS_SEMAPHORE) ||
            pa_hold_state(finder->graph, waited.object) != PA_HOLD_FREE)
            continue;
        if (!pa_finding_begin(finder, PA_FINDING_FREE_BUT_WAITED, 0, 0))
            return;
        uint64_t count;
        if (pa_finding_add_waiters(finder, waited.object, &count))
            pa_finding_add_object(finder, waited.object);
        else
            pa_finding_drop(finder);
    }
}
