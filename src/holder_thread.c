/*
 * The lock that a thread is blocked in. See holder.h.
 *
 * Certain are: its innermost Python frame stands at a call; what lies on the value stack, at the places that the call takes its arguments
 * from, is the method and the lock (they are gone from there once the method has returned, although the frame stays at the call for a moment
 * more); the lock is held, and a thread waits for it.
 */
#include "c_call.h"
#include "holder_parts.h"
#include "variables.h"

/* Include/cpython/lock.h, _Py_LOCKED and _Py_HAS_PARKED; both of the lock types begin with a PyMutex. */
enum { LOCKED_AND_WAITED_FOR = 3 };

static bool is_blocking(struct pa_objects *objects, uint64_t lock)
{
    uint8_t bits;
    return (pa_is_of_type(objects, lock, "_thread.lock") || pa_is_of_type(objects, lock, "_thread.RLock")) &&
           pa_memory_u8(objects->memory, lock + PA_OFFSET(objects->layout, object_size), &bits) && bits == LOCKED_AND_WAITED_FOR;
}

static uint64_t called_lock(struct pa_graph *graph, uint64_t iframe)
{
    struct pa_c_call call;
    return pa_c_call_read(graph->codes, iframe, &call) && call.at_call && pa_c_call_acquires(&call) &&
                   is_blocking(graph->objects, call.self)
               ? call.self
               : 0;
}

/* Lib/threading.py, _RLock: an RLock in Python has a lock. */
static uint64_t outer_lock(struct pa_graph *graph, uint32_t id, uint64_t iframe, uint64_t lock)
{
    uint64_t self, block;
    return pa_frame_is(graph->codes, id, "_RLock.acquire", "/threading.py") &&
                   pa_variable_get(graph->codes, iframe, "self", &self) && pa_attribute(graph, self, "_block", &block) &&
                   block == lock
               ? self
               : lock;
}

/* Lib/threading.py, Condition.wait(): what the thread is blocked in is a lock that it has made for this. */
static bool is_in_wait(struct pa_graph *graph, uint32_t id, uint64_t iframe, uint64_t lock, uint64_t *condition)
{
    uint64_t waiter;
    return pa_frame_is(graph->codes, id, "Condition.wait", "/threading.py") &&
           pa_variable_get(graph->codes, iframe, "waiter", &waiter) && waiter == lock &&
           pa_variable_get(graph->codes, iframe, "self", condition);
}

uint64_t pa_thread_awaited_lock(struct pa_graph *graph, uint32_t id, bool *is_condition)
{
    const struct pa_thread *thread = &graph->threads.items[id];
    uint64_t condition;
    if (is_condition)
        *is_condition = false;
    if (thread->own_frames == 0)
        return 0;
    const struct pa_thread_frame *frame = &graph->thread_frames.items[thread->first_frame];
    uint64_t iframe = pa_thread_frame_address(graph, frame);
    uint64_t lock = called_lock(graph, iframe);
    if (lock == 0 || !is_in_wait(graph, frame->frame, iframe, lock, &condition))
        return lock == 0 ? 0 : outer_lock(graph, frame->frame, iframe, lock);
    if (is_condition)
        *is_condition = true;
    return condition;
}

uint64_t pa_task_awaited_lock(struct pa_graph *graph, uint32_t node, bool *is_condition)
{
    const struct pa_executing *executing = pa_graph_executing(graph, node);
    return executing && executing->first == graph->threads.items[executing->thread].first_frame
               ? pa_thread_awaited_lock(graph, executing->thread, is_condition)
               : 0;
}
