/* Code objects, frames and stacks, each kept once. See code.h. */
#include "code.h"

#include "limits.h"

/* Include/cpython/code.h, CO_* */
#define CO_GENERATOR       0x20u
#define CO_COROUTINE       0x80u
#define CO_ASYNC_GENERATOR 0x200u

void pa_codes_init(struct pa_codes *codes, struct pa_objects *objects)
{
    *codes = (struct pa_codes){.objects = objects};
    memset(codes->recent_instructions, 0xff, sizeof(codes->recent_instructions));
    memset(codes->recent_stacks, 0xff, sizeof(codes->recent_stacks));
    /* Stack 0 is empty; its key is one that no other stack has. */
    struct pa_stack *empty = pa_array_push(objects->work, &codes->stacks, PA_NONE);
    if (empty)
        *empty = (struct pa_stack){.key = UINT64_MAX, .outer = PA_NONE, .frame = PA_NONE};
}

void pa_codes_deinit(struct pa_codes *codes)
{
    struct pa_work *work = codes->objects->work;
    pa_array_free(work, &codes->codes);
    pa_array_free(work, &codes->frames);
    pa_array_free(work, &codes->instructions);
    pa_array_free(work, &codes->stacks);
    pa_index_free(work, &codes->code_index);
    pa_index_free(work, &codes->frame_index);
    pa_index_free(work, &codes->instruction_index);
    pa_index_free(work, &codes->stack_index);
}

static struct pa_text read_text(struct pa_objects *objects, uint64_t address)
{
    char text[PA_STRING_BYTES];
    uint32_t length;
    if (!pa_str_read(objects, address, text, &length))
        return (struct pa_text){0};
    return pa_arena_add(objects->work, &objects->text, text, length);
}

static void read_linetable(struct pa_objects *objects, uint64_t bytes, struct pa_code *code)
{
    uint64_t length;
    code->linetable = bytes + PA_OFFSET(objects->layout, bytes_data);
    code->linetable_length = 0;
    if (pa_memory_u64(objects->memory, bytes + PA_OFFSET(objects->layout, bytes_length), &length) && length <= PA_MAX_LINETABLE)
        code->linetable_length = (uint32_t)length;
}

static void read_code(struct pa_objects *objects, struct pa_code *code)
{
    const struct pa_layout *layout = objects->layout;
    uint8_t scratch[PA_MAX_OBJECT_SIZE];
    if (pa_kind_of(objects, code->address) != PA_KIND_CODE)
        return;
    const uint8_t *bytes = pa_memory_view(objects->memory, code->address, PA_OFFSET(layout, code_size), scratch);
    if (!bytes)
        return;
    code->valid = true;
    code->flags = pa_get_u32(bytes, PA_OFFSET(layout, code_flags));
    code->firstlineno = (int32_t)pa_get_u32(bytes, PA_OFFSET(layout, code_firstlineno));
    code->units = pa_get_u64(bytes, PA_OFFSET(layout, code_units));
    if (PA_HAS(layout, code_firsttraceable))
        code->firsttraceable = pa_get_u32(bytes, PA_OFFSET(layout, code_firsttraceable));
    code->qualname = read_text(objects, pa_get_u64(bytes, PA_OFFSET(layout, code_qualname)));
    code->filename = read_text(objects, pa_get_u64(bytes, PA_OFFSET(layout, code_filename)));
    read_linetable(objects, pa_get_u64(bytes, PA_OFFSET(layout, code_linetable)), code);
}

uint32_t pa_code_at(struct pa_codes *codes, uint64_t address)
{
    struct pa_work *work = codes->objects->work;
    uint32_t id = pa_index_find(&codes->code_index, codes->codes.items, sizeof(struct pa_code), address);
    if (id == PA_NONE) {
        struct pa_code *code = pa_array_push(work, &codes->codes, PA_MAX_CODES);
        if (!code)
            return PA_NONE;
        *code = (struct pa_code){.address = address};
        read_code(codes->objects, code);
        id = codes->codes.count - 1;
        if (!pa_index_add(work, &codes->code_index, codes->codes.items, sizeof(struct pa_code), id)) {
            codes->codes.count--;
            return PA_NONE;
        }
    }
    return codes->codes.items[id].valid ? id : PA_NONE;
}

/* Where the bytecode begins that instr_ptr points into. Include/cpython/code.h, _PyCodeArray: size, entries[]. */
static uint64_t bytecode_start(struct pa_codes *codes, const struct pa_code *code, int32_t tlbc_index)
{
    const struct pa_layout *layout = codes->objects->layout;
    struct pa_memory *memory = codes->objects->memory;
    uint64_t array, size, entry;
    if (tlbc_index > 0 && tlbc_index < (int32_t)PA_MAX_TLBC && PA_HAS(layout, code_tlbc) &&
        pa_memory_u64(memory, code->address + PA_OFFSET(layout, code_tlbc), &array) && pa_memory_u64(memory, array, &size) &&
        (uint64_t)tlbc_index < size && pa_memory_u64(memory, array + 8 + 8 * (uint64_t)tlbc_index, &entry) && entry != 0)
        return entry;
    return code->address + PA_OFFSET(layout, code_bytecode);
}

int64_t pa_position_unit(struct pa_codes *codes, const struct pa_code *code, const struct pa_position *position)
{
    uint64_t offset = position->instruction - bytecode_start(codes, code, position->tlbc_index);
    return offset / 2 < code->units ? (int64_t)(offset / 2) : -1;
}

static int32_t line_at(struct pa_codes *codes, const struct pa_code *code, const struct pa_position *position)
{
    struct pa_objects *objects = codes->objects;
    int64_t unit = pa_position_unit(codes, code, position);
    if (unit < 0 || code->linetable_length == 0)
        return 0;
    /* Each KiB of a table is a step: damaged code objects may share a big one. */
    for (uint32_t i = 0; i < code->linetable_length / 1024; i++)
        pa_work_step(objects->work);
    const uint8_t *table = pa_memory_peek(objects->memory, code->linetable, code->linetable_length);
    uint8_t *copy = table ? NULL : pa_work_resize(objects->work, NULL, 0, code->linetable_length);
    if (copy)
        table = pa_memory_view(objects->memory, code->linetable, code->linetable_length, copy);
    int32_t line = table ? pa_line_of(table, code->linetable_length, code->firstlineno, unit) : 0;
    pa_work_resize(objects->work, copy, copy ? code->linetable_length : 0, 0);
    return line;
}

static enum pa_frame_kind kind_of_flags(uint32_t flags)
{
    if (flags & CO_COROUTINE)
        return PA_FRAME_COROUTINE;
    if (flags & CO_ASYNC_GENERATOR)
        return PA_FRAME_ASYNC_GENERATOR;
    return flags & CO_GENERATOR ? PA_FRAME_GENERATOR : PA_FRAME_FUNCTION;
}

/* The frame with this key, made of the code object if it is new, and then with the name @p function. */
static uint32_t frame_with_key(struct pa_codes *codes, uint64_t key, int32_t line, struct pa_text function)
{
    struct pa_work *work = codes->objects->work;
    uint32_t id = pa_index_find(&codes->frame_index, codes->frames.items, sizeof(struct pa_frame), key);
    if (id != PA_NONE)
        return id;
    struct pa_frame *frame = pa_array_push(work, &codes->frames, PA_NONE);
    if (!frame)
        return PA_NONE;
    const struct pa_code *code = &codes->codes.items[key >> 32];
    *frame = (struct pa_frame){
        .key = key, .function = function, .file = code->filename, .line = line, .kind = (uint8_t)kind_of_flags(code->flags)};
    id = codes->frames.count - 1;
    if (!pa_index_add(work, &codes->frame_index, codes->frames.items, sizeof(struct pa_frame), id)) {
        codes->frames.count--;
        return PA_NONE;
    }
    return id;
}

static uint32_t frame_of_line(struct pa_codes *codes, uint32_t code_id, int32_t line)
{
    return frame_with_key(codes, (uint64_t)code_id << 32 | (uint32_t)line, line, codes->codes.items[code_id].qualname);
}

uint32_t pa_frame_of_compiled(struct pa_codes *codes, uint64_t code, uint64_t qualname)
{
    uint32_t code_id = pa_code_at(codes, code);
    if (code_id == PA_NONE)
        return PA_NONE;
    uint64_t key = (uint64_t)code_id << 32 | UINT32_MAX;
    uint32_t id = pa_index_find(&codes->frame_index, codes->frames.items, sizeof(struct pa_frame), key);
    return id != PA_NONE ? id : frame_with_key(codes, key, 0, read_text(codes->objects, qualname));
}

/* Not remembered when there is no memory or, one time in 2^64, its key is taken: it is worked out again. */
static void remember_instruction(struct pa_codes *codes, const struct pa_instruction *instruction)
{
    struct pa_work *work = codes->objects->work;
    struct pa_instruction *slot = pa_array_push(work, &codes->instructions, PA_NONE);
    if (!slot)
        return;
    *slot = *instruction;
    if (!pa_index_add(work, &codes->instruction_index, codes->instructions.items, sizeof(*slot), codes->instructions.count - 1))
        codes->instructions.count--;
}

uint32_t pa_frame_find(struct pa_codes *codes, const struct pa_position *position)
{
    uint64_t key = position->instruction ^ pa_mix(position->executable + (uint64_t)(uint32_t)position->tlbc_index);
    struct pa_instruction *recent = &codes->recent_instructions[position->instruction / 2 % PA_RECENT];
    uint32_t id = pa_index_find(&codes->instruction_index, codes->instructions.items, sizeof(struct pa_instruction), key);
    if (id != PA_NONE) {
        const struct pa_instruction *met = &codes->instructions.items[id];
        if (met->executable == position->executable && met->address == position->instruction &&
            met->tlbc_index == position->tlbc_index) {
            *recent = *met;
            return met->frame;
        }
    }
    uint32_t code_id = pa_code_at(codes, position->executable);
    if (code_id == PA_NONE)
        return PA_NONE;
    struct pa_instruction instruction = {key, position->executable, position->instruction, position->tlbc_index, PA_NONE};
    instruction.frame = frame_of_line(codes, code_id, line_at(codes, &codes->codes.items[code_id], position));
    if (id == PA_NONE && instruction.frame != PA_NONE)
        remember_instruction(codes, &instruction);
    return instruction.frame;
}

bool pa_frame_is(const struct pa_codes *codes, uint32_t id, const char *function, const char *file)
{
    const struct pa_arena *text = &codes->objects->text;
    const struct pa_frame *frame = &codes->frames.items[id];
    return pa_text_is(text, frame->function, function) && pa_text_ends(text, frame->file, file);
}

uint32_t pa_frame_of_type(struct pa_codes *codes, uint32_t type)
{
    if (type == PA_NONE)
        return PA_NONE;
    struct pa_type *item = &codes->objects->types.items[type];
    if (item->frame == PA_NONE) {
        struct pa_frame *frame = pa_array_push(codes->objects->work, &codes->frames, PA_NONE);
        if (!frame)
            return PA_NONE;
        *frame = (struct pa_frame){.function = item->name, .kind = PA_FRAME_AWAITABLE};
        item->frame = codes->frames.count - 1;
    }
    return item->frame;
}

uint32_t pa_stack_find(struct pa_codes *codes, uint64_t key)
{
    struct pa_work *work = codes->objects->work;
    uint32_t outer = (uint32_t)(key >> 32), frame = (uint32_t)key;
    uint32_t id = pa_index_find(&codes->stack_index, codes->stacks.items, sizeof(struct pa_stack), key);
    if (id == PA_NONE) {
        struct pa_stack *stack = pa_array_push(work, &codes->stacks, PA_NONE);
        if (!stack)
            return 0;
        *stack = (struct pa_stack){.key = key, .outer = outer, .frame = frame, .depth = codes->stacks.items[outer].depth + 1};
        id = codes->stacks.count - 1;
        if (!pa_index_add(work, &codes->stack_index, codes->stacks.items, sizeof(struct pa_stack), id)) {
            codes->stacks.count--;
            return 0;
        }
    }
    *pa_recent_at(codes->recent_stacks, key) = (struct pa_recent){key, id};
    return id;
}
