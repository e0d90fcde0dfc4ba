/*
 * Coroutines that run through greenlets: SQLAlchemy's greenlet_spawn() and the like switch to a greenlet that runs synchronous code; that
 * switches back with an awaitable, which the coroutine awaits in its place.
 *
 * The rule needs no names: a suspended coroutine has a variable that is a suspended greenlet, and the greenlet's innermost frame has one that
 * is the very object that the coroutine awaits. Then the greenlet's frames stand between the coroutine and what it awaits.
 */
#include "graph.h"

#include "instance.h"
#include "limits.h"

/* A variable of a frame, 0 for none. */
static uint64_t variable_at(struct pa_graph *graph, uint64_t iframe, uint32_t place)
{
    uint64_t bits;
    bool is_int;
    int64_t ignored;
    if (!pa_memory_u64(graph->memory, iframe + PA_OFFSET(graph->layout, frame_localsplus) + 8 * (uint64_t)place, &bits))
        return 0;
    return pa_stackref(graph->layout, bits, &is_int, &ignored);
}

static uint32_t variable_count(struct pa_graph *graph, uint64_t iframe)
{
    struct pa_iframe frame;
    uint32_t count;
    if (!PA_HAS(graph->layout, code_nlocalsplus) || !pa_iframe_read(graph->codes, iframe, &frame) ||
        !pa_memory_u32(graph->memory, frame.position.executable + PA_OFFSET(graph->layout, code_nlocalsplus), &count))
        return 0;
    return count < PA_MAX_BRIDGE_VARIABLES ? count : PA_MAX_BRIDGE_VARIABLES;
}

static bool holds(struct pa_graph *graph, const struct pa_greenlet *greenlet, uint64_t awaited)
{
    const struct pa_thread_frame *frame = &graph->greenlet_frames.items[greenlet->first_frame];
    uint64_t iframe = frame->is_gen ? frame->object + PA_OFFSET(graph->layout, gen_iframe) : frame->object;
    uint32_t count = variable_count(graph, iframe);
    for (uint32_t i = 0; i < count; i++) {
        if (variable_at(graph, iframe, i) == awaited)
            return true;
    }
    return false;
}

/* The greenlet between a coroutine and what it awaits, or PA_NONE. */
static uint32_t find(struct pa_graph *graph, uint64_t coroutine, uint64_t awaited)
{
    if (awaited == 0 || !pa_kind_is_gen(pa_kind_of(graph->objects, coroutine)))
        return PA_NONE;
    uint64_t iframe = coroutine + PA_OFFSET(graph->layout, gen_iframe);
    uint32_t count = variable_count(graph, iframe);
    for (uint32_t i = 0; i < count && pa_work_step(graph->work); i++) {
        uint32_t id = pa_index_find(&graph->greenlet_index, graph->greenlets.items, sizeof(struct pa_greenlet),
                                    variable_at(graph, iframe, i));
        if (id == PA_NONE)
            continue;
        const struct pa_greenlet *greenlet = &graph->greenlets.items[id];
        if (greenlet->state == PA_GREENLET_SUSPENDED && greenlet->frame_count > 0 && holds(graph, greenlet, awaited))
            return id;
    }
    return PA_NONE;
}

/* Put a greenlet's frames behind the link at @p place, outermost first as links are. @return how many. */
static uint32_t insert(struct pa_graph *graph, struct pa_chain *chain, uint32_t place, uint32_t id)
{
    const struct pa_greenlet *greenlet = &graph->greenlets.items[id];
    uint32_t count = greenlet->frame_count, old = chain->links.count;
    for (uint32_t i = 0; i < count; i++) {
        const struct pa_link *slot = pa_array_push(graph->work, &chain->links, PA_MAX_STACK_DEPTH);
        if (!slot) {
            chain->links.count = old;
            return 0;
        }
    }
    struct pa_link *links = chain->links.items;
    memmove(links + place + 1 + count, links + place + 1, (old - place - 1) * sizeof(*links));
    for (uint32_t i = 0; i < count; i++) {
        const struct pa_thread_frame *frame = &graph->greenlet_frames.items[greenlet->first_frame + count - 1 - i];
        links[place + 1 + i] =
            (struct pa_link){.object = frame->is_gen ? frame->object : 0, .frame = frame->frame, .greenlet = id + 1};
    }
    return count;
}

void pa_bridge(struct pa_graph *graph, struct pa_chain *chain)
{
    if (graph->greenlets.count == 0 || chain->end == PA_END_EXECUTING || chain->end == PA_END_CREATED)
        return;
    for (uint32_t i = 0; i < chain->links.count && pa_work_step(graph->work); i++) {
        uint64_t end = chain->end == PA_END_FUTURE ? chain->end_object : 0;
        uint64_t awaited = i + 1 < chain->links.count ? chain->links.items[i + 1].object : end;
        uint32_t id = find(graph, chain->links.items[i].object, awaited);
        i += id == PA_NONE ? 0 : insert(graph, chain, i, id);
    }
}
