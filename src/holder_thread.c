/* The lock that a thread is blocked in. See holder.h. */
#include "holder_parts.h"

uint64_t pa_thread_awaited_lock(struct pa_graph *graph, uint32_t id)
{
    struct pa_holders *holders = pa_holders_made(graph);
    const struct pa_thread *thread = &graph->threads.items[id];
    bool calls;
    if (!holders || thread->frame_count == 0)
        return 0;
    const struct pa_thread_frame *frame = &graph->thread_frames.items[thread->first_frame];
    uint64_t iframe = frame->is_gen ? frame->object + PA_OFFSET(graph->layout, gen_iframe) : frame->object;
    if (!pa_withs_has(&holders->withs, frame->frame))
        return 0;
    uint64_t lock = pa_with_entered(&holders->withs, iframe, &calls);
    return lock != 0 && calls && pa_hold_state(graph, lock) == PA_HOLD_HELD ? lock : 0;
}
