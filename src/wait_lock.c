/* What a task waits for that is no future of its innermost frame: anyio's limiter, or a threading lock that it blocks its thread in. */
#include "holder.h"
#include "wait.h"

/* Include/cpython/dictobject.h: ma_used is the first word behind the head */
static int64_t dict_length(struct pa_objects *objects, uint64_t dict)
{
    uint64_t used;
    return pa_kind_of(objects, dict) == PA_KIND_DICT &&
                   pa_memory_u64(objects->memory, dict + PA_OFFSET(objects->layout, object_size), &used) && used <= PA_MAX_SEQUENCE
               ? (int64_t)used
               : PA_WAIT_UNKNOWN;
}

/* anyio/_backends/_asyncio.py: it waits for an Event that it has made for this, in the frame inside of it. */
void pa_waits_on_limiter(struct pa_waits *waits, uint32_t node, struct pa_waits_on *waits_on)
{
    struct pa_graph *graph = waits->graph;
    uint64_t event, self, queue, iframe = 0;
    if (waits_on->kind == PA_WAITS_EVENT)
        iframe = pa_waits_outer_frame(waits, node, "CapacityLimiter.acquire_on_behalf_of", "/anyio/_backends/_asyncio.py");
    if (iframe == 0 || !pa_variable_get(graph->codes, iframe, "event", &event) || event != waits_on->object ||
        !pa_variable_get(graph->codes, iframe, "self", &self))
        return;
    waits_on->kind = PA_WAITS_SEMAPHORE;
    waits_on->object = self;
    waits_on->waiters = pa_attribute(graph, self, "_wait_queue", &queue) ? dict_length(graph->objects, queue) : PA_WAIT_UNKNOWN;
}

bool pa_waits_on_thread_lock(struct pa_waits *waits, uint32_t node, struct pa_waits_on *waits_on)
{
    const struct pa_node *item = &waits->graph->nodes.items[node];
    bool is_condition;
    if (item->activity != PA_RUNNING && item->activity != PA_EXECUTING)
        return false;
    waits_on->object = pa_task_awaited_lock(waits->graph, node, &is_condition);
    if (waits_on->object != 0)
        waits_on->kind = is_condition ? PA_WAITS_CONDITION : PA_WAITS_LOCK;
    return waits_on->object != 0;
}
