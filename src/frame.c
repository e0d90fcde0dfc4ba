/* Interpreter frames and their owners. See frame.h. */
#include "frame.h"

#include "limits.h"

static void iframe_from(const struct pa_layout *layout, const uint8_t *bytes, uint32_t at, struct pa_iframe *iframe)
{
    iframe->previous = pa_get_u64(bytes, at + PA_OFFSET(layout, frame_previous));
    iframe->stackpointer = pa_get_u64(bytes, at + PA_OFFSET(layout, frame_stackpointer));
    iframe->owner = bytes[at + PA_OFFSET(layout, frame_owner)];
    iframe->position.executable = pa_stackref_object(layout, pa_get_u64(bytes, at + PA_OFFSET(layout, frame_executable)));
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

bool pa_iframe_stack(struct pa_codes *codes, uint64_t address, const struct pa_iframe *iframe, uint64_t *bottom)
{
    const struct pa_layout *layout = codes->objects->layout;
    uint32_t variables;
    if (!PA_HAS(layout, code_nlocalsplus) ||
        !pa_memory_u32(codes->objects->memory, iframe->position.executable + PA_OFFSET(layout, code_nlocalsplus), &variables) ||
        variables > PA_MAX_VARIABLES)
        return false;
    *bottom = address + PA_OFFSET(layout, frame_localsplus) + 8ull * variables;
    return true;
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
