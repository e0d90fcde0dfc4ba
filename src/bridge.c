/*
 * Coroutines that run through greenlets. The rules need no names:
 *
 * Bridges, as SQLAlchemy's greenlet_spawn(), switch to a greenlet that runs synchronous code; that switches back with an awaitable, which the
 * coroutine awaits in its place. So a suspended coroutine has a variable that is a suspended greenlet, and the greenlet's innermost frame has
 * one that is the very object that the coroutine awaits (or both have one of which that was made by its __await__). Then the greenlet's frames stand between the coroutine and what it awaits.
 *
 * Portals, as greenback's, run the task's coroutines themselves inside a greenlet; synchronous code in there drives another coroutine by
 * send() and hands what that yields to the task, through a generator that stands where the task's coroutine was. So a generator that has
 * yielded has a variable that is a suspended greenlet, and the greenlet's innermost frame has one that is a coroutine. This coroutine is
 * suspended on the very future that the task is. A task that has yielded no future (asyncio.sleep(0)) has no such proof: it ends here.
 */
#include "graph.h"

#include "held.h"
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

static uint64_t innermost_frame(const struct pa_graph *graph, const struct pa_greenlet *greenlet)
{
    const struct pa_thread_frame *frame = &graph->greenlet_frames.items[greenlet->first_frame];
    return frame->is_gen ? frame->object + PA_OFFSET(graph->layout, gen_iframe) : frame->object;
}

/* @return whether it is new. */
static bool add_awaitable(struct pa_graph *graph, uint64_t object, uint64_t variable)
{
    if (object == 0 ||
        pa_index_find(&graph->awaitable_index, graph->awaitables.items, sizeof(struct pa_awaitable), object) != PA_NONE)
        return false;
    struct pa_awaitable *slot = pa_array_push(graph->work, &graph->awaitables, PA_MAX_GREENLETS);
    if (!slot)
        return false;
    *slot = (struct pa_awaitable){object, variable};
    if (!pa_index_add(graph->work, &graph->awaitable_index, graph->awaitables.items, sizeof(struct pa_awaitable),
                      graph->awaitables.count - 1))
        graph->awaitables.count--;
    return true;
}

/* What awaiting an object leads to, as a chain has it: chains have no links for wrappers. The object itself if it is no awaitable of another. */
static uint64_t inside_of(struct pa_graph *graph, uint64_t object)
{
    uint64_t inside = 0;
    switch (pa_kind_of(graph->objects, object)) {
    case PA_KIND_COROUTINE_WRAPPER:
    case PA_KIND_ASYNC_GEN_ASEND:
    case PA_KIND_ASYNC_GEN_ATHROW:
    case PA_KIND_ANEXT_AWAITABLE:
        /* Objects/genobject.c: cw_coroutine, ags_gen, agt_gen and wrapped are the first field of these. */
        if (!pa_memory_u64(graph->memory, object + PA_OFFSET(graph->layout, wrapper_object), &inside))
            return object;
        break;
    case PA_KIND_OTHER:
        inside = pa_held_coroutine(graph->codes, object);
        break;
    default:
        break;
    }
    return inside ? inside : object;
}

/*
 * What the innermost frames of all suspended greenlets refer to: only a coroutine that awaits one of these can be a bridge. So a million
 * tasks cost no look at their variables.
 */
static void read_awaitables(struct pa_graph *graph)
{
    graph->awaitables_read = true;
    for (uint32_t id = 0; id < graph->greenlets.count && pa_work_step(graph->work); id++) {
        const struct pa_greenlet *greenlet = &graph->greenlets.items[id];
        if (greenlet->state != PA_GREENLET_SUSPENDED || greenlet->frame_count == 0)
            continue;
        uint64_t iframe = innermost_frame(graph, greenlet);
        uint32_t count = variable_count(graph, iframe);
        for (uint32_t i = 0; i < count && pa_work_step(graph->work); i++) {
            uint64_t variable = variable_at(graph, iframe, i), object = variable;
            for (uint32_t step = 0; add_awaitable(graph, object, variable) && step < PA_MAX_WRAPPERS; step++)
                object = inside_of(graph, object);
        }
    }
}

/* The object whose __await__ is a function that yields: the generator has it for its first variable, self. 0 if there is none. */
static uint64_t self_of(struct pa_graph *graph, uint64_t generator)
{
    uint64_t iframe = generator + PA_OFFSET(graph->layout, gen_iframe);
    bool is_generator = pa_kind_of(graph->objects, generator) == PA_KIND_GENERATOR;
    return is_generator && variable_count(graph, iframe) > 0 ? variable_at(graph, iframe, 0) : 0;
}

static bool has_variable(struct pa_graph *graph, uint64_t iframe, uint64_t object)
{
    uint32_t count = variable_count(graph, iframe);
    for (uint32_t i = 0; i < count; i++) {
        if (variable_at(graph, iframe, i) == object)
            return true;
    }
    return false;
}

/* The suspended greenlet that a variable of a frame refers to, or PA_NONE. */
static uint32_t greenlet_in(struct pa_graph *graph, uint64_t iframe, uint32_t place)
{
    uint32_t id = pa_index_find(&graph->greenlet_index, graph->greenlets.items, sizeof(struct pa_greenlet),
                                variable_at(graph, iframe, place));
    const struct pa_greenlet *greenlet = id == PA_NONE ? NULL : &graph->greenlets.items[id];
    return greenlet && greenlet->state == PA_GREENLET_SUSPENDED && greenlet->frame_count > 0 ? id : PA_NONE;
}

/* The greenlet between a coroutine and what it awaits, if the greenlet has an awaitable that this is or was made by; or PA_NONE. */
static uint32_t find_with(struct pa_graph *graph, uint64_t coroutine, uint64_t awaited, uint64_t awaitable)
{
    uint64_t iframe = coroutine + PA_OFFSET(graph->layout, gen_iframe);
    uint32_t count = variable_count(graph, iframe);
    if (awaitable != awaited && !has_variable(graph, iframe, awaitable))
        return PA_NONE;
    for (uint32_t i = 0; i < count && pa_work_step(graph->work); i++) {
        uint32_t id = greenlet_in(graph, iframe, i);
        if (id != PA_NONE && has_variable(graph, innermost_frame(graph, &graph->greenlets.items[id]), awaitable))
            return id;
    }
    return PA_NONE;
}

static uint32_t find(struct pa_graph *graph, uint64_t coroutine, uint64_t awaited)
{
    if (awaited == 0)
        return PA_NONE;
    uint32_t known = pa_index_find(&graph->awaitable_index, graph->awaitables.items, sizeof(struct pa_awaitable), awaited);
    uint64_t self = known == PA_NONE ? self_of(graph, awaited) : 0;
    if (self != 0)
        known = pa_index_find(&graph->awaitable_index, graph->awaitables.items, sizeof(struct pa_awaitable), self);
    if (known == PA_NONE || !pa_kind_is_gen(pa_kind_of(graph->objects, coroutine)))
        return PA_NONE;
    uint32_t id = self == 0 ? find_with(graph, coroutine, awaited, awaited) : PA_NONE;
    return id != PA_NONE ? id : find_with(graph, coroutine, awaited, graph->awaitables.items[known].variable);
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

/* ---- portals */

/* What a generator that has yielded may stand for. */
struct portal {
    uint32_t greenlet;
    uint64_t coroutine; /* that the greenlet's innermost frame drives */
    uint32_t found;     /* how many there are: with several, none is certain */
    uint32_t tries;     /* chains that were followed */
};

/* Look for coroutines in a greenlet's innermost frame that lead to the future, or to another portal. */
static void look_inside(struct pa_graph *graph, uint32_t id, uint64_t waiter, struct portal *portal)
{
    uint64_t iframe = innermost_frame(graph, &graph->greenlets.items[id]);
    uint32_t count = variable_count(graph, iframe);
    for (uint32_t i = 0; i < count && portal->tries < PA_MAX_PORTAL_TRIES && pa_work_step(graph->work); i++) {
        uint64_t coroutine = variable_at(graph, iframe, i);
        if (!pa_kind_is_gen(pa_kind_of(graph->objects, coroutine)) ||
            (portal->found > 0 && portal->greenlet == id && portal->coroutine == coroutine))
            continue;
        portal->tries++;
        pa_chain_follow(graph->codes, coroutine, waiter, &graph->inner_chain);
        enum pa_chain_end end = graph->inner_chain.end;
        if (end != PA_END_YIELD && (end != PA_END_FUTURE || graph->inner_chain.end_object != waiter))
            continue;
        portal->greenlet = id;
        portal->coroutine = coroutine;
        portal->found++;
    }
}

/* Go on, from a chain that ends in a generator that has yielded, through the portal that this is. @return false if it is none. */
static bool enter(struct pa_graph *graph, struct pa_chain *chain, uint64_t waiter)
{
    uint32_t last = chain->links.count - 1;
    uint64_t iframe = chain->links.items[last].object + PA_OFFSET(graph->layout, gen_iframe);
    uint32_t count = variable_count(graph, iframe);
    struct portal portal = {0};
    for (uint32_t i = 0; i < count && pa_work_step(graph->work); i++) {
        uint32_t id = greenlet_in(graph, iframe, i);
        if (id != PA_NONE)
            look_inside(graph, id, waiter, &portal);
    }
    if (portal.found != 1 || insert(graph, chain, last, portal.greenlet) == 0)
        return false;
    pa_chain_follow(graph->codes, portal.coroutine, waiter, &graph->inner_chain);
    for (uint32_t i = 0; i < graph->inner_chain.links.count; i++) {
        struct pa_link *slot = pa_array_push(graph->work, &chain->links, PA_MAX_STACK_DEPTH);
        if (!slot)
            return false;
        *slot = graph->inner_chain.links.items[i];
    }
    chain->end = graph->inner_chain.end;
    chain->end_object = graph->inner_chain.end_object;
    return true;
}

static void enter_portals(struct pa_graph *graph, struct pa_chain *chain, uint64_t waiter)
{
    uint32_t count = chain->links.count;
    if (waiter == 0 || count == 0 || !pa_kind_is_gen(pa_kind_of(graph->objects, chain->links.items[count - 1].object)))
        return;
    for (uint32_t i = 0; i < PA_MAX_PORTALS && chain->end == PA_END_YIELD && enter(graph, chain, waiter); i++)
        continue;
    if (chain->end != PA_END_FUTURE || chain->end_object != waiter) {
        chain->links.count = count;
        chain->end = PA_END_YIELD;
        chain->end_object = 0;
    }
}

void pa_bridge(struct pa_graph *graph, struct pa_chain *chain, uint64_t waiter)
{
    if (graph->greenlets.count == 0 || chain->end == PA_END_EXECUTING || chain->end == PA_END_CREATED)
        return;
    if (!graph->awaitables_read)
        read_awaitables(graph);
    if (chain->end == PA_END_YIELD)
        enter_portals(graph, chain, waiter);
    for (uint32_t i = 0; i < chain->links.count && pa_work_step(graph->work); i++) {
        if (chain->links.items[i].greenlet != 0)
            continue; /* of a portal: it awaits nothing, but runs */
        uint64_t end = chain->end == PA_END_FUTURE ? chain->end_object : 0;
        uint64_t awaited = i + 1 < chain->links.count ? chain->links.items[i + 1].object : end;
        uint32_t id = find(graph, chain->links.items[i].object, awaited);
        i += id == PA_NONE ? 0 : insert(graph, chain, i, id);
    }
}
