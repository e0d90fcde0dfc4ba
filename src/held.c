/* The coroutine that an object holds. See held.h. */
#include "held.h"

#include "cython.h"
#include "instance.h"
#include "limits.h"

static bool is_alive(struct pa_codes *codes, uint64_t object)
{
    struct pa_gen gen;
    struct pa_cython_gen cython_gen;
    switch (pa_kind_of(codes->objects, object)) {
    case PA_KIND_COROUTINE:
    case PA_KIND_GENERATOR:
    case PA_KIND_ASYNC_GENERATOR:
        return pa_gen_read(codes, object, &gen) && gen.state != PA_GEN_CLEARED && gen.state != PA_GEN_INVALID;
    case PA_KIND_CYTHON_GEN:
        return pa_cython_gen_read(codes->objects, object, &cython_gen) && !cython_gen.ended;
    case PA_KIND_COROUTINE_WRAPPER:
    case PA_KIND_ASYNC_GEN_ASEND:
    case PA_KIND_ASYNC_GEN_ATHROW:
    case PA_KIND_ANEXT_AWAITABLE:
        return true;
    default:
        return false;
    }
}

uint64_t pa_held_coroutine(struct pa_codes *codes, uint64_t object)
{
    struct pa_attributes attributes;
    uint64_t held = 0;
    if (!pa_attributes_begin(codes->objects, object, &attributes))
        return 0;
    for (uint32_t count = 0; pa_attributes_next(&attributes); count++) {
        if (count == PA_MAX_HELD_ATTRIBUTES || !pa_work_step(codes->objects->work))
            return 0;
        if (attributes.value == held || !is_alive(codes, attributes.value))
            continue;
        if (held != 0)
            return 0;
        held = attributes.value;
    }
    return attributes.damaged ? 0 : held;
}
