/* Coroutine chains. See coroutine.h. */
#include "coroutine.h"

#include "cython.h"
#include "held.h"
#include "limits.h"

static const char in_a_circle[] = "the chain of coroutines goes round in a circle";

void pa_chain_free(struct pa_work *work, struct pa_chain *chain)
{
    pa_array_free(work, &chain->links);
}

static void end_unknown(struct pa_chain *chain, uint64_t address, const char *why)
{
    chain->end = PA_END_UNKNOWN;
    chain->end_object = address;
    chain->why = why;
}

static bool add_link(struct pa_codes *codes, struct pa_chain *chain, uint64_t object, uint32_t frame)
{
    struct pa_link *link = frame == PA_NONE ? NULL : pa_array_push(codes->objects->work, &chain->links, PA_MAX_STACK_DEPTH);
    if (link)
        *link = (struct pa_link){.object = object, .frame = frame};
    return link != NULL;
}

/* End at an object of which only its type is known. */
static bool end_awaitable(struct pa_codes *codes, uint64_t object, struct pa_chain *chain)
{
    chain->end = PA_END_AWAITABLE;
    chain->end_object = object;
    return add_link(codes, chain, object, pa_frame_of_type(codes, pa_type_of(codes->objects, object)));
}

/*
 * An object of another kind: the chain ends here, or goes on derived. What is held counts only for objects of no kind that we know.
 */
static bool follow_object(struct pa_codes *codes, uint64_t object, struct pa_chain *chain, uint64_t *next)
{
    bool added = end_awaitable(codes, object, chain);
    *next = added && pa_kind_of(codes->objects, object) == PA_KIND_OTHER ? pa_held_coroutine(codes, object) : 0;
    if (*next != 0 && chain->derived > chain->links.count)
        chain->derived = chain->links.count;
    return *next != 0;
}

/*
 * The object that a suspended coroutine awaits: it lies on top of the frame's value stack, since 3.15 below one more word.
 * CPython: Objects/genobject.c, _PyGen_yf() in 3.14, gen_getyieldfrom() in 3.15.
 */
static bool read_awaited(struct pa_codes *codes, const struct pa_gen *gen, struct pa_chain *chain, uint64_t *awaited)
{
    const struct pa_layout *layout = codes->objects->layout;
    uint64_t slot = gen->frame.stackpointer - 8 * (uint64_t)layout->version->yield_from_slot;
    uint64_t bottom = gen->iframe + PA_OFFSET(layout, frame_localsplus);
    uint64_t bits;
    if (gen->frame.owner != layout->version->owner_generator) {
        end_unknown(chain, gen->iframe, "the frame of a suspended coroutine is not owned by it");
        return false;
    }
    if (slot % 8 != 0 || slot < bottom || slot - bottom > PA_MAX_STRUCT_SIZE ||
        !pa_memory_u64(codes->objects->memory, slot, &bits)) {
        end_unknown(chain, slot, "the stack pointer of a suspended coroutine is damaged");
        return false;
    }
    *awaited = pa_stackref_object(layout, bits);
    if (*awaited == 0)
        end_unknown(chain, slot, "a suspended coroutine awaits no object");
    return *awaited != 0;
}

/* Add the frame of a coroutine or generator and find what it awaits. @return false at the end of the chain. */
static bool follow_gen(struct pa_codes *codes, uint64_t object, struct pa_chain *chain, uint64_t *next)
{
    struct pa_gen gen;
    if (!pa_gen_read(codes, object, &gen)) {
        end_unknown(chain, object, "a coroutine cannot be read");
        return false;
    }
    if (gen.state == PA_GEN_INVALID) {
        end_unknown(chain, object, "a coroutine has an unknown frame state");
        return false;
    }
    if (gen.state == PA_GEN_CLEARED) {
        chain->end = PA_END_CLEARED;
        return false;
    }
    if (!add_link(codes, chain, object, pa_frame_at(codes, &gen.frame.position))) {
        end_unknown(chain, gen.frame.position.executable,
                    chain->links.count < PA_MAX_STACK_DEPTH ? "a frame has no code object" : "the chain is too long");
        return false;
    }
    switch (gen.state) {
    case PA_GEN_CREATED:
        chain->end = PA_END_CREATED;
        return false;
    case PA_GEN_SUSPENDED:
        chain->end = PA_END_YIELD;
        return false;
    case PA_GEN_EXECUTING:
        chain->end = PA_END_EXECUTING;
        return false;
    default:
        return read_awaited(codes, &gen, chain, next);
    }
}

/*
 * A coroutine or generator that Cython compiled: as follow_gen(). One that executes and awaits another runs by that other one, which
 * stands on a thread's stack if it has a frame.
 */
static bool follow_cython(struct pa_codes *codes, uint64_t object, struct pa_chain *chain, uint64_t *next)
{
    struct pa_cython_gen gen;
    if (!pa_cython_gen_read(codes->objects, object, &gen)) {
        end_awaitable(codes, object, chain);
        return false;
    }
    if (gen.ended) {
        chain->end = PA_END_CLEARED;
        return false;
    }
    if (!add_link(codes, chain, object, pa_frame_of_compiled(codes, gen.code, gen.qualname))) {
        end_unknown(chain, object, "the chain is too long");
        return false;
    }
    *next = gen.awaited;
    if (gen.started && gen.awaited != 0)
        return true;
    chain->end = !gen.started ? PA_END_CREATED : gen.executing ? PA_END_EXECUTING : PA_END_YIELD;
    return false;
}

/* The first word of an object of a type that has no readable name and nothing else to know it by. */
static bool read_nameless(struct pa_codes *codes, uint64_t object, uint64_t *inside)
{
    struct pa_objects *objects = codes->objects;
    uint32_t type = pa_type_of(objects, object);
    return type != PA_NONE && objects->types.items[type].kind == PA_KIND_OTHER && objects->types.items[type].name.length == 0 &&
           pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, wrapper_object), inside);
}

/*
 * Without an ELF file the small awaitables of the interpreter have no names. They are known by what they wrap: something with a frame, or
 * (anext() with a default) another one of them that does.
 */
static bool wraps_gen(struct pa_codes *codes, uint64_t object, uint64_t *next)
{
    uint64_t inner;
    return read_nameless(codes, object, next) &&
           (pa_kind_is_gen(pa_kind_of(codes->objects, *next)) ||
            (read_nameless(codes, *next, &inner) && pa_kind_is_gen(pa_kind_of(codes->objects, inner))));
}

/* One step inward. @return false at the end of the chain. */
static bool follow(struct pa_codes *codes, uint64_t object, struct pa_chain *chain, uint64_t *next)
{
    struct pa_objects *objects = codes->objects;
    uint32_t type_id = pa_type_of(objects, object);
    if (type_id == PA_NONE) {
        end_unknown(chain, object, "an awaited object has no readable type");
        return false;
    }
    const struct pa_type *type = &objects->types.items[type_id];
    switch ((enum pa_kind)type->kind) {
    case PA_KIND_COROUTINE:
    case PA_KIND_GENERATOR:
    case PA_KIND_ASYNC_GENERATOR:
        return follow_gen(codes, object, chain, next);
    case PA_KIND_CYTHON_GEN:
        return follow_cython(codes, object, chain, next);
    case PA_KIND_COROUTINE_WRAPPER:
    case PA_KIND_ASYNC_GEN_ASEND:
    case PA_KIND_ASYNC_GEN_ATHROW:
    case PA_KIND_ANEXT_AWAITABLE:
        /* Objects/genobject.c: cw_coroutine, ags_gen, agt_gen and wrapped are the first field of these. */
        if (pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, wrapper_object), next))
            return true;
        end_unknown(chain, object, "an awaitable cannot be read");
        return false;
    case PA_KIND_FUTURE_ITER:
        chain->end = PA_END_FUTURE;
        if (!pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, wrapper_future), &chain->end_object))
            end_unknown(chain, object, "a future's iterator cannot be read");
        return false;
    default:
        return wraps_gen(codes, object, next) || follow_object(codes, object, chain, next);
    }
}

/* Remember what the object at this level looks like, after it was followed to what it awaits. Free-threaded builds have one word more. */
static void learn_shape(struct pa_codes *codes, uint64_t object, uint32_t frame, struct pa_shape *shape)
{
    const struct pa_layout *layout = codes->objects->layout;
    uint32_t iframe = PA_OFFSET(layout, gen_iframe);
    uint32_t size = iframe + PA_OFFSET(layout, frame_size);
    const uint8_t *bytes = pa_memory_peek(codes->objects->memory, object, size);
    shape->extent = 0;
    if (!bytes || layout->free_threaded)
        return;
    uint64_t stackpointer = pa_get_u64(bytes, iframe + PA_OFFSET(layout, frame_stackpointer)) - object;
    uint64_t slot = stackpointer - 8 * (uint64_t)layout->version->yield_from_slot;
    if (slot > PA_MAX_OBJECT_SIZE)
        return;
    *shape = (struct pa_shape){
        .type = pa_get_u64(bytes, PA_OFFSET(layout, object_type)),
        .executable = pa_get_u64(bytes, iframe + PA_OFFSET(layout, frame_executable)),
        .instruction = pa_get_u64(bytes, iframe + PA_OFFSET(layout, frame_instr_ptr)),
        .stackpointer = stackpointer,
        .extent = slot + 8 > size ? (uint32_t)slot + 8 : size,
        .slot = (uint32_t)slot,
        .frame = frame,
        .state = bytes[PA_OFFSET(layout, gen_frame_state)],
        .owner = bytes[iframe + PA_OFFSET(layout, frame_owner)],
    };
}

/* Objects of one level are mostly allocated one after another: fetch the one that the next task will have. */
static void look_ahead(const struct pa_memory *memory, struct pa_shape *shape, uint64_t object)
{
    pa_memory_prefetch(memory, 2 * object - shape->last, 192);
    shape->last = object;
}

/* Follow an object that looks as the last one at its level did. @return false if it does not, or is not at hand. */
static bool follow_shape(struct pa_codes *codes, struct pa_shape *shape, uint64_t object, uint64_t *next)
{
    const struct pa_layout *layout = codes->objects->layout;
    uint32_t iframe = PA_OFFSET(layout, gen_iframe);
    const uint8_t *bytes = shape->extent && object % 8 == 0 ? pa_memory_peek(codes->objects->memory, object, shape->extent) : NULL;
    if (!bytes || pa_get_u64(bytes, PA_OFFSET(layout, object_type)) != shape->type ||
        pa_get_u64(bytes, iframe + PA_OFFSET(layout, frame_executable)) != shape->executable ||
        pa_get_u64(bytes, iframe + PA_OFFSET(layout, frame_instr_ptr)) != shape->instruction ||
        pa_get_u64(bytes, iframe + PA_OFFSET(layout, frame_stackpointer)) - object != shape->stackpointer ||
        bytes[PA_OFFSET(layout, gen_frame_state)] != shape->state || bytes[iframe + PA_OFFSET(layout, frame_owner)] != shape->owner)
        return false;
    look_ahead(codes->objects->memory, shape, object);
    *next = pa_stackref_object(layout, pa_get_u64(bytes, shape->slot));
    return *next != 0;
}

/* One level of the chain: as the last chain had it, or worked out anew. @return false at the end of the chain. */
static bool follow_level(struct pa_codes *codes, uint32_t level, uint64_t object, struct pa_chain *chain, uint64_t *next)
{
    struct pa_shape *shape = level < PA_SHAPES ? &chain->shapes[level] : NULL;
    uint32_t links = chain->links.count;
    if (shape && follow_shape(codes, shape, object, next)) {
        chain->shaped += level == chain->shaped;
        return add_link(codes, chain, object, shape->frame);
    }
    bool goes_on = follow(codes, object, chain, next);
    if (shape && goes_on && chain->links.count == links + 1 && pa_kind_is_gen(pa_kind_of(codes->objects, object))) {
        learn_shape(codes, object, chain->links.items[links].frame, shape);
        chain->learned++;
    }
    return goes_on;
}

static void follow_all(struct pa_codes *codes, uint64_t object, struct pa_chain *chain)
{
    uint64_t mark = 0;
    /* Wrappers add no link, so steps are counted, not links. A circle is found when the chain comes back to the mark, which moves
       to where the chain is at each power of two (Brent's algorithm). */
    for (uint32_t step = 0; step < 2 * PA_MAX_STACK_DEPTH; step++) {
        if (object == mark) {
            end_unknown(chain, object, in_a_circle);
            return;
        }
        if ((step & (step - 1)) == 0)
            mark = object;
        if (!pa_work_step(codes->objects->work) || !follow_level(codes, step, object, chain, &object))
            return;
    }
    end_unknown(chain, object, "the chain of coroutines is too long");
}

/* Modules/_asynciomodule.c, task_step_handle_result_impl(): what a task is suspended on is what its innermost coroutine has yielded. */
static bool leads_to(struct pa_codes *codes, const struct pa_chain *chain, uint64_t waiter)
{
    uint32_t state;
    switch (chain->end) {
    case PA_END_FUTURE:
        /* A task that is suspended on no future is about to run, since the one that it awaited is done. */
        return waiter != 0 ? chain->end_object == waiter
                           : pa_memory_u32(codes->objects->memory,
                                           chain->end_object + PA_OFFSET(codes->objects->layout, task_state), &state) &&
                                 state != 0;
    case PA_END_CREATED:
    case PA_END_EXECUTING:
        return waiter == 0;
    case PA_END_UNKNOWN:
        return chain->why != in_a_circle;
    default:
        return true;
    }
}

void pa_chain_cut(struct pa_chain *chain)
{
    chain->links.count = chain->derived;
    chain->end = PA_END_AWAITABLE;
    chain->end_object = chain->links.items[chain->derived - 1].object;
    chain->why = NULL;
}

void pa_chain_follow(struct pa_codes *codes, uint64_t coroutine, uint64_t waiter, struct pa_chain *chain)
{
    chain->links.count = 0;
    chain->shaped = 0;
    chain->end_object = 0;
    chain->why = NULL;
    chain->end = PA_END_UNKNOWN;
    chain->derived = UINT32_MAX;
    follow_all(codes, coroutine, chain);
    if (pa_chain_is_derived(chain) && !leads_to(codes, chain, waiter))
        pa_chain_cut(chain);
}
