/* Tasks and futures with attributes. See future.h. */
#include "future.h"

#include "instance.h"

uint64_t pa_future_attribute(struct pa_graph *graph, uint64_t address, const char *name)
{
    uint64_t value;
    return pa_instance_attribute(graph->objects, address, name, &value) && pa_kind_of(graph->objects, value) != PA_KIND_NONE_TYPE
               ? value
               : 0;
}

uint64_t pa_future_only_awaiter(struct pa_graph *graph, uint64_t future)
{
    const struct pa_layout *layout = graph->layout;
    enum pa_kind kind = pa_kind_of(graph->objects, future);
    uint64_t awaiter;
    uint8_t is_set;
    return (kind == PA_KIND_FUTURE || kind == PA_KIND_TASK) &&
                   pa_memory_u8(graph->memory, future + PA_OFFSET(layout, task_awaited_by_is_set), &is_set) && is_set == 0 &&
                   pa_memory_u64(graph->memory, future + PA_OFFSET(layout, task_awaited_by), &awaiter)
               ? awaiter
               : 0;
}

bool pa_is_future(struct pa_graph *graph, uint64_t address)
{
    if (pa_kind_is_future(pa_kind_of(graph->objects, address)))
        return true;
    uint32_t node = pa_graph_find(graph, address);
    return node != PA_NONE && graph->nodes.items[node].flags & PA_NODE_REGISTERED;
}

/* Lib/asyncio/base_futures.py: _PENDING and its kin */
static enum pa_state read_state(struct pa_graph *graph, uint64_t address)
{
    uint64_t state = pa_future_attribute(graph, address, "_state");
    if (pa_str_equals(graph->objects, state, "CANCELLED"))
        return PA_CANCELLED;
    if (pa_str_equals(graph->objects, state, "FINISHED"))
        return pa_future_attribute(graph, address, "_exception") ? PA_FAILED_STATE : PA_DONE;
    return PA_PENDING;
}

/* The one attribute that holds a coroutine or generator; 0 if there is none, or more than one. */
static uint64_t only_coroutine(struct pa_graph *graph, uint64_t address)
{
    struct pa_attributes attributes;
    uint64_t found = 0;
    pa_attributes_begin(graph->objects, address, &attributes);
    for (uint32_t count = 0; pa_attributes_next(&attributes); count++) {
        if (count == PA_MAX_HELD_ATTRIBUTES)
            return 0;
        if (!pa_kind_is_gen(pa_kind_of(graph->objects, attributes.value)) || attributes.value == found)
            continue;
        if (found)
            return 0;
        found = attributes.value;
    }
    return found;
}

bool pa_future_read(struct pa_graph *graph, uint64_t address, bool is_task, struct pa_future *future)
{
    struct pa_attributes attributes;
    uint64_t waiter;
    *future = (struct pa_future){
        .state = read_state(graph, address),
        .loop = pa_future_attribute(graph, address, "_loop"),
        .awaited_by = pa_future_attribute(graph, address, "_Future__asyncio_awaited_by"),
        .awaited_by_is_set = true,
    };
    if (is_task) {
        future->coroutine = pa_future_attribute(graph, address, "_coro");
        if (future->coroutine == 0)
            future->coroutine = only_coroutine(graph, address);
        future->fut_waiter_known = pa_instance_attribute(graph->objects, address, "_fut_waiter", &waiter);
        future->fut_waiter = pa_future_attribute(graph, address, "_fut_waiter");
    }
    if (future->loop || future->coroutine)
        return true;
    return pa_attributes_begin(graph->objects, address, &attributes) && pa_attributes_next(&attributes);
}
