/* Who waits for a greenlet. See greenlet_awaited.h. */
#include "greenlet_awaited.h"

#include "limits.h"

static uint32_t greenlet_at(const struct pa_graph *graph, uint64_t address)
{
    return pa_index_find(&graph->greenlet_index, graph->greenlets.items, sizeof(struct pa_greenlet), address);
}

static void add(struct pa_graph *graph, struct pa_greenlet_awaiters *awaiters, uint32_t limit, struct pa_greenlet_awaiter awaiter)
{
    struct pa_greenlet_awaiter *slot = awaiter.greenlet == PA_NONE ? NULL : pa_array_push(graph->work, awaiters, limit);
    if (slot)
        *slot = awaiter;
}

/*
 * The greenlet that goes on when one ends: greenlet passes over parents that have ended. One that has not started is not waited for, and a
 * parent that runs does something else. A Hub runs the loop: it waits for none of its children. greenlet: TGreenlet.cpp, g_handle_exit();
 * TUserGreenlet.cpp, UserGreenlet::inner_bootstrap().
 */
static uint32_t parent_of(struct pa_graph *graph, uint32_t id)
{
    const struct pa_greenlet *greenlet = &graph->greenlets.items[id];
    uint32_t thread = greenlet->thread;
    if (greenlet->state != PA_GREENLET_RUNNING && greenlet->state != PA_GREENLET_SUSPENDED)
        return PA_NONE;
    for (uint32_t step = 0; step < PA_MAX_DEAD_PARENTS && pa_work_step(graph->work); step++) {
        uint32_t parent = greenlet_at(graph, greenlet->parent);
        if (parent == PA_NONE)
            return PA_NONE;
        greenlet = &graph->greenlets.items[parent];
        if (greenlet->state != PA_GREENLET_DEAD)
            return greenlet->state == PA_GREENLET_SUSPENDED && greenlet->thread == thread && parent != id &&
                           !pa_gevent_is_hub(graph, greenlet)
                       ? parent
                       : PA_NONE;
    }
    return PA_NONE;
}

void pa_greenlet_awaiters(struct pa_graph *graph, const struct pa_gevent *gevent, uint32_t id,
                          struct pa_greenlet_awaiters *awaiters)
{
    uint32_t limit = awaiters->count + PA_MAX_GREENLET_AWAITERS, count, link_count;
    uint64_t address = graph->greenlets.items[id].address;
    add(graph, awaiters, limit, (struct pa_greenlet_awaiter){parent_of(graph, id), 0, PA_GREENLET_PARENT});
    const uint32_t *waits = pa_gevent_waiters(gevent, address, &count);
    for (uint32_t i = 0; i < count && pa_work_step(graph->work); i++)
        add(graph, awaiters, limit,
            (struct pa_greenlet_awaiter){greenlet_at(graph, gevent->items[waits[i]].greenlet), 0, PA_GREENLET_JOINS});
    const struct pa_gevent_link *links = pa_gevent_links(gevent, address, &link_count);
    for (uint32_t k = 0; k < link_count && awaiters->count < limit && pa_work_step(graph->work); k++) {
        waits = pa_gevent_waiters(gevent, links[k].object, &count);
        for (uint32_t i = 0; i < count && awaiters->count < limit && pa_work_step(graph->work); i++) {
            uint32_t waiter = greenlet_at(graph, gevent->items[waits[i]].greenlet);
            add(graph, awaiters, limit, (struct pa_greenlet_awaiter){waiter, links[k].object, PA_GREENLET_LINKED});
        }
    }
}

const char *pa_greenlet_how_name(enum pa_greenlet_how how)
{
    static const char *const names[] = {"parent", "join", "link"};
    return names[how];
}
