/* The local variables of a frame. See variables.h. */
#include "variables.h"

/* Include/internal/pycore_code.h, _PyLocals_Kind */
#define CO_FAST_CELL 0x40u
#define CO_FAST_FREE 0x80u

bool pa_variables_begin(struct pa_codes *codes, uint64_t iframe, struct pa_variables *variables)
{
    struct pa_objects *objects = codes->objects;
    struct pa_memory *memory = objects->memory;
    const struct pa_layout *layout = objects->layout;
    struct pa_iframe frame;
    uint64_t code, names, kinds, name_count, kind_count;
    uint32_t count;
    *variables = (struct pa_variables){.codes = codes, .damaged = true};
    if (!PA_HAS(layout, code_nlocalsplus) || !PA_HAS(layout, code_localsplusnames) || !PA_HAS(layout, code_localspluskinds) ||
        !pa_iframe_read(codes, iframe, &frame))
        return false;
    code = frame.position.executable;
    if (pa_kind_of(objects, code) != PA_KIND_CODE || !pa_memory_u32(memory, code + PA_OFFSET(layout, code_nlocalsplus), &count) ||
        !pa_memory_u64(memory, code + PA_OFFSET(layout, code_localsplusnames), &names) ||
        !pa_memory_u64(memory, code + PA_OFFSET(layout, code_localspluskinds), &kinds) ||
        pa_kind_of(objects, names) != PA_KIND_TUPLE || pa_kind_of(objects, kinds) != PA_KIND_BYTES ||
        !pa_sequence(objects, names, &variables->names, &name_count) ||
        !pa_memory_u64(memory, kinds + PA_OFFSET(layout, bytes_length), &kind_count))
        return false;
    if (count > PA_MAX_VARIABLES || name_count != count || kind_count != count)
        return false;
    variables->count = count;
    variables->localsplus = iframe + PA_OFFSET(layout, frame_localsplus);
    variables->kinds = kinds + PA_OFFSET(layout, bytes_data);
    variables->damaged = false;
    return true;
}

/* The value of variable number @p index. @return false if it has none. */
static bool read_value(struct pa_variables *variables, uint32_t index)
{
    struct pa_objects *objects = variables->codes->objects;
    uint64_t bits, held;
    uint8_t kind;
    bool is_int;
    if (!pa_memory_u64(objects->memory, variables->localsplus + 8ull * index, &bits) ||
        !pa_memory_u8(objects->memory, variables->kinds + index, &kind)) {
        variables->damaged = true;
        return false;
    }
    variables->object = pa_stackref(objects->layout, bits, &is_int, &variables->number);
    if (is_int || variables->object == 0)
        return is_int;
    /* A parameter becomes a cell only when the function begins. */
    if (kind & (CO_FAST_CELL | CO_FAST_FREE) && pa_kind_of(objects, variables->object) == PA_KIND_CELL) {
        if (!pa_memory_u64(objects->memory, variables->object + PA_OFFSET(objects->layout, wrapper_object), &held)) {
            variables->damaged = true;
            return false;
        }
        variables->object = held;
    }
    return variables->object != 0;
}

bool pa_variables_next(struct pa_variables *variables)
{
    struct pa_objects *objects = variables->codes->objects;
    while (variables->index < variables->count && pa_work_step(objects->work)) {
        uint32_t index = variables->index++;
        uint64_t name, left;
        if (!read_value(variables, index))
            continue;
        if (pa_memory_u64(objects->memory, variables->names + 8ull * index, &name) &&
            pa_str_read_some(objects, name, PA_ATTRIBUTE_NAME / 4, variables->name, &variables->name_length, &left))
            return true;
        variables->damaged = true;
    }
    return false;
}

bool pa_variable_get(struct pa_codes *codes, uint64_t iframe, const char *name, uint64_t *object)
{
    struct pa_variables variables;
    if (!pa_variables_begin(codes, iframe, &variables))
        return false;
    while (pa_variables_next(&variables)) {
        if (variables.object != 0 && variables.name_length == strlen(name) &&
            memcmp(variables.name, name, variables.name_length) == 0) {
            *object = variables.object;
            return true;
        }
    }
    return false;
}
