/* gevent's Hubs that cannot run. See hub.h. */
#include "hub.h"

#include "c_call.h"

/* Whether an argument of a call is there and true, or is not there and so by default. */
static bool is_true(struct pa_graph *graph, const struct pa_c_call *call, uint32_t place)
{
    double number = call->count > place ? pa_c_call_number(graph->codes, call, place) : 1;
    return number < 0 || number > 0;
}

/* Whether the function waits in any case: until something happens, or for a time. */
static bool waits(struct pa_graph *graph, const struct pa_blocked *blocked, const struct pa_c_call *call)
{
    switch (blocked->kind) {
    case PA_BLOCKED_SLEEP:
        return pa_c_call_number(graph->codes, call, 0) > 0;
    case PA_BLOCKED_SOCKET:
        return pa_socket_waits(graph, call->self);
    case PA_BLOCKED_RESOLVE:
        return true;
    case PA_BLOCKED_LOCK:
    case PA_BLOCKED_CONDITION:
    case PA_BLOCKED_EVENT:
    case PA_BLOCKED_SEMAPHORE:
    case PA_BLOCKED_BARRIER:
    case PA_BLOCKED_QUEUE:
    case PA_BLOCKED_FUTURE:
    case PA_BLOCKED_FUTURES:
        /* All of these wait in the acquire() of a lock, or in SimpleQueue.get(). */
        return (strcmp(call->name, "__enter__") == 0 || strcmp(call->name, "acquire") == 0 || strcmp(call->name, "get") == 0) &&
               is_true(graph, call, 0);
    default:
        return false;
    }
}

bool pa_hub_is_blocked(struct pa_graph *graph, uint32_t id, struct pa_hub_blocked *blocked)
{
    const struct pa_thread *thread = &graph->threads.items[id];
    struct pa_c_call call;
    *blocked = (struct pa_hub_blocked){.hub = PA_NONE, .running = thread->greenlet};
    if (thread->greenlet == PA_NONE || thread->own_frames == 0 ||
        pa_gevent_is_hub(graph, &graph->greenlets.items[thread->greenlet]))
        return false;
    const struct pa_thread_frame *frame = &graph->thread_frames.items[thread->first_frame];
    if (!pa_c_call_read(graph->codes, pa_thread_frame_address(graph, frame), &call))
        return false;
    pa_blocked_read(graph, id, &blocked->call);
    if (!waits(graph, &blocked->call, &call))
        return false;
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++) {
        const struct pa_greenlet *greenlet = &graph->greenlets.items[i];
        if (greenlet->thread != id || greenlet->state != PA_GREENLET_SUSPENDED)
            continue;
        if (pa_gevent_is_hub(graph, greenlet))
            blocked->hub = i;
        else
            blocked->others++;
    }
    return blocked->hub != PA_NONE && blocked->others > 0;
}
