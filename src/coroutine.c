/* Frames and coroutine chains. See coroutine.h. */
#include "coroutine.h"

#include "limits.h"

/* What a _PyStackRef refers to. Include/internal/pycore_stackref.h: 3 in the low bits is a small int, a masked 0 is no object. */
static uint64_t stackref_object(const struct pa_layout *layout, uint64_t bits)
{
    uint64_t mask = layout->free_threaded ? layout->version->tag_mask_free_threaded : layout->version->tag_mask;
    return (bits & 3) == 3 ? 0 : bits & ~mask;
}

static void iframe_from(const struct pa_layout *layout, const uint8_t *bytes, uint32_t at, struct pa_iframe *iframe)
{
    iframe->previous = pa_get_u64(bytes, at + PA_OFFSET(layout, frame_previous));
    iframe->stackpointer = pa_get_u64(bytes, at + PA_OFFSET(layout, frame_stackpointer));
    iframe->owner = bytes[at + PA_OFFSET(layout, frame_owner)];
    iframe->position.executable = stackref_object(layout, pa_get_u64(bytes, at + PA_OFFSET(layout, frame_executable)));
    iframe->position.instruction = pa_get_u64(bytes, at + PA_OFFSET(layout, frame_instr_ptr));
    iframe->position.tlbc_index =
        PA_HAS(layout, frame_tlbc_index) ? (int32_t)pa_get_u32(bytes, at + PA_OFFSET(layout, frame_tlbc_index)) : 0;
}

bool pa_iframe_read(struct pa_codes *codes, uint64_t address, struct pa_iframe *iframe)
{
    uint8_t scratch[PA_MAX_OBJECT_SIZE];
    const struct pa_layout *layout = codes->objects->layout;
    if (address == 0 || address % 8 != 0)
        return false;
    const uint8_t *bytes = pa_memory_view(codes->objects->memory, address, PA_OFFSET(layout, frame_size), scratch);
    if (bytes)
        iframe_from(layout, bytes, 0, iframe);
    return bytes != NULL;
}

bool pa_iframe_is_complete(struct pa_codes *codes, const struct pa_iframe *iframe)
{
    const struct pa_version *version = codes->objects->layout->version;
    if (iframe->owner >= version->owner_interpreter)
        return false;
    if (iframe->owner != version->owner_thread)
        return true;
    /* Trampolines stand at their first instruction; so does a function whose prologue has not run. _PyFrame_IsIncomplete(). */
    uint32_t id = pa_code_at(codes, iframe->position.executable);
    if (id == PA_NONE)
        return true; /* a damaged frame: let it be shown as one */
    const struct pa_code *code = &codes->codes.items[id];
    int64_t unit = pa_position_unit(codes, code, &iframe->position);
    return unit != 0 && !(unit > 0 && unit < code->firsttraceable);
}

static enum pa_gen_state gen_state(const struct pa_version *version, int8_t state)
{
    if (state == version->frame_created)
        return PA_GEN_CREATED;
    if (state == version->frame_suspended)
        return PA_GEN_SUSPENDED;
    if (state == version->frame_yield_from || state == version->frame_yield_from_locked)
        return PA_GEN_YIELD_FROM;
    if (state == version->frame_executing)
        return PA_GEN_EXECUTING;
    return state >= version->frame_cleared ? PA_GEN_CLEARED : PA_GEN_INVALID;
}

bool pa_gen_read(struct pa_codes *codes, uint64_t address, struct pa_gen *gen)
{
    uint8_t scratch[2 * PA_MAX_OBJECT_SIZE];
    const struct pa_layout *layout = codes->objects->layout;
    size_t size = (size_t)PA_OFFSET(layout, gen_iframe) + PA_OFFSET(layout, frame_size);
    const uint8_t *bytes = pa_memory_view(codes->objects->memory, address, size, scratch);
    if (!bytes)
        return false;
    gen->iframe = address + PA_OFFSET(layout, gen_iframe);
    gen->state = gen_state(layout->version, (int8_t)bytes[PA_OFFSET(layout, gen_frame_state)]);
    iframe_from(layout, bytes, PA_OFFSET(layout, gen_iframe), &gen->frame);
    return true;
}

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
        *link = (struct pa_link){object, frame};
    return link != NULL;
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
    *awaited = stackref_object(layout, bits);
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
        if (wraps_gen(codes, object, next))
            return true;
        chain->end = PA_END_AWAITABLE;
        chain->end_object = object;
        add_link(codes, chain, object, pa_frame_of_type(codes, type_id));
        return false;
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
    const uint8_t *next = pa_memory_peek(memory, 2 * object - shape->last, 192);
    for (uint32_t offset = 0; next && offset < 192; offset += 64)
        __builtin_prefetch(next + offset);
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
    *next = stackref_object(layout, pa_get_u64(bytes, shape->slot));
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
    if (shape && goes_on && chain->links.count == links + 1) {
        learn_shape(codes, object, chain->links.items[links].frame, shape);
        chain->learned++;
    }
    return goes_on;
}

void pa_chain_follow(struct pa_codes *codes, uint64_t coroutine, struct pa_chain *chain)
{
    uint64_t object = coroutine, mark = 0;
    chain->links.count = 0;
    chain->shaped = 0;
    chain->end_object = 0;
    chain->why = NULL;
    chain->end = PA_END_UNKNOWN;
    /* Wrappers add no link, so steps are counted, not links. A circle is found when the chain comes back to the mark, which moves
       to where the chain is at each power of two (Brent's algorithm). */
    for (uint32_t step = 0; step < 2 * PA_MAX_STACK_DEPTH; step++) {
        if (object == mark) {
            end_unknown(chain, object, "the chain of coroutines goes round in a circle");
            return;
        }
        if ((step & (step - 1)) == 0)
            mark = object;
        if (!pa_work_step(codes->objects->work) || !follow_level(codes, step, object, chain, &object))
            return;
    }
    end_unknown(chain, object, "the chain of coroutines is too long");
}
