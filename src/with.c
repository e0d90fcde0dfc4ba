/* The with statements that a frame is in the body of. See with.h. */
#include "with.h"

#include "instance.h"
#include "limits.h"

/* InternalDocs/exception_handling.md: big-endian, six bits a byte; the first byte of an entry is marked */
enum { TABLE_START = 0x80, TABLE_MORE = 0x40, TABLE_BITS = 0x3f };

/* An entry of an exception table, in code units. */
struct handler {
    uint64_t start, end, target;
    uint64_t depth;
};

/* A table that is being read. */
struct table {
    const uint8_t *at, *end;
};

void pa_withs_init(struct pa_withs *withs, struct pa_codes *codes)
{
    *withs = (struct pa_withs){.codes = codes};
}

void pa_withs_deinit(struct pa_withs *withs)
{
    struct pa_work *work = withs->codes->objects->work;
    pa_bytes_free(work, &withs->has);
    pa_array_free(work, &withs->places);
    pa_array_free(work, &withs->slots);
    pa_index_free(work, &withs->index);
}

static bool next_number(struct table *table, uint64_t *number)
{
    *number = 0;
    for (uint32_t i = 0; i < 6 && table->at < table->end; i++) {
        uint8_t byte = *table->at++;
        *number = *number << 6 | (byte & TABLE_BITS);
        if (!(byte & TABLE_MORE))
            return true;
    }
    return false;
}

static bool next_handler(struct table *table, struct handler *handler)
{
    uint64_t length, depth_and_lasti;
    if (table->at >= table->end || !(*table->at & TABLE_START) || !next_number(table, &handler->start) ||
        !next_number(table, &length) || !next_number(table, &handler->target) || !next_number(table, &depth_and_lasti))
        return false;
    handler->end = handler->start + length;
    handler->depth = depth_and_lasti >> 1;
    return true;
}

/* The exception table of a code object: a copy, which is @p length bytes, or empty. */
static uint8_t *read_table(struct pa_codes *codes, const struct pa_code *code, struct table *table, uint32_t *length)
{
    struct pa_objects *objects = codes->objects;
    const struct pa_layout *layout = objects->layout;
    uint64_t bytes, size;
    *table = (struct table){0};
    *length = 0;
    if (!PA_HAS(layout, code_exceptiontable) ||
        !pa_memory_u64(objects->memory, code->address + PA_OFFSET(layout, code_exceptiontable), &bytes) ||
        pa_kind_of(objects, bytes) != PA_KIND_BYTES ||
        !pa_memory_u64(objects->memory, bytes + PA_OFFSET(layout, bytes_length), &size) || size == 0 ||
        size > PA_MAX_EXCEPTIONTABLE)
        return NULL;
    uint8_t *copy = pa_work_resize(objects->work, NULL, 0, size);
    if (!copy)
        return NULL;
    *length = (uint32_t)size;
    if (pa_memory_read(objects->memory, bytes + PA_OFFSET(layout, bytes_data), size, copy))
        *table = (struct table){copy, copy + size};
    return copy;
}

/* Whether a handler is that of a with statement, which calls the exit method: PUSH_EXC_INFO, then WITH_EXCEPT_START, which no tool replaces. */
static bool is_with(struct pa_codes *codes, const struct pa_code *code, uint64_t target, bool *is_async)
{
    const struct pa_layout *layout = codes->objects->layout;
    uint64_t address = code->address + PA_OFFSET(layout, code_bytecode) + 2 * target;
    uint8_t opcode;
    if (target + 2 >= code->units || !pa_memory_u8(codes->objects->memory, address + 2, &opcode) ||
        opcode != layout->version->op_with_except_start || !pa_memory_u8(codes->objects->memory, address + 4, &opcode))
        return false;
    *is_async = opcode == layout->version->op_get_awaitable;
    return true;
}

/* The handler of an async for statement is one instruction. Where a tool has replaced it, nothing is known of the loop. */
static bool is_async_for(struct pa_codes *codes, const struct pa_code *code, uint64_t target)
{
    const struct pa_layout *layout = codes->objects->layout;
    uint8_t opcode;
    return target < code->units &&
           pa_memory_u8(codes->objects->memory, code->address + PA_OFFSET(layout, code_bytecode) + 2 * target, &opcode) &&
           opcode == layout->version->op_end_async_for;
}

static uint8_t find_any(struct pa_codes *codes, const struct pa_code *code)
{
    struct table table;
    struct handler handler;
    uint32_t length;
    uint8_t found = 0;
    bool is_async;
    uint8_t *copy = read_table(codes, code, &table, &length);
    while (next_handler(&table, &handler) && pa_work_step(codes->objects->work)) {
        if (is_with(codes, code, handler.target, &is_async))
            found |= PA_HAS_WITH;
        else if (is_async_for(codes, code, handler.target))
            found |= PA_HAS_ASYNC_FOR;
    }
    pa_work_resize(codes->objects->work, copy, length, 0);
    return found;
}

uint8_t pa_withs_has(struct pa_withs *withs, uint32_t frame)
{
    struct pa_codes *codes = withs->codes;
    if (codes->frames.items[frame].kind == PA_FRAME_AWAITABLE)
        return 0;
    uint32_t id = (uint32_t)(codes->frames.items[frame].key >> 32);
    uint8_t *has = pa_byte_of(codes->objects->work, &withs->has, id, codes->codes.count);
    if (has && *has == PA_BYTE_UNKNOWN)
        *has = find_any(codes, &codes->codes.items[id]);
    return has ? *has : 0;
}

/* The handler of an instruction. @return false if an exception there leaves the function. */
static bool find_handler(struct pa_work *work, struct table table, uint64_t unit, struct handler *handler)
{
    while (next_handler(&table, handler) && pa_work_step(work)) {
        if (handler->start > unit)
            return false;
        if (unit < handler->end)
            return true;
    }
    return false;
}

/* Go the way of an exception, from handler to handler: each handler is itself protected by what stands around it. */
static void find_slots(struct pa_withs *withs, const struct pa_code *code, uint64_t unit, struct pa_with_place *place)
{
    struct pa_codes *codes = withs->codes;
    struct pa_work *work = codes->objects->work;
    struct table table;
    struct handler handler;
    uint32_t length;
    uint64_t outer = PA_MAX_VALUE_STACK;
    bool is_async;
    uint8_t *copy = read_table(codes, code, &table, &length);
    for (uint32_t i = 0; i < PA_MAX_HANDLERS && place->count < PA_MAX_WITHS && find_handler(work, table, unit, &handler); i++) {
        unit = handler.target;
        if (!is_with(codes, code, handler.target, &is_async))
            continue;
        /* The exit method, then its object; those of an outer statement lie below. */
        if (handler.depth < 2 || handler.depth > outer)
            break;
        struct pa_with_slot *slot = pa_array_push(work, &withs->slots, PA_MAX_WITH_PLACES);
        if (!slot)
            break;
        *slot = (struct pa_with_slot){.depth = (uint16_t)(handler.depth - 1), .is_async = is_async};
        place->count++;
        outer = handler.depth - 2;
    }
    pa_work_resize(work, copy, length, 0);
}

/* The with statements at a position; NULL without memory. */
static const struct pa_with_place *place_at(struct pa_withs *withs, const struct pa_code *code, const struct pa_position *position)
{
    struct pa_work *work = withs->codes->objects->work;
    uint64_t key = position->instruction ^ pa_mix(position->executable + (uint64_t)(uint32_t)position->tlbc_index);
    uint32_t id = pa_index_find(&withs->index, withs->places.items, sizeof(struct pa_with_place), key);
    if (id != PA_NONE) {
        const struct pa_with_place *met = &withs->places.items[id];
        /* One time in 2^64 another instruction has the key: nothing is said of that. */
        return met->executable == position->executable && met->instruction == position->instruction &&
                       met->tlbc_index == position->tlbc_index
                   ? met
                   : NULL;
    }
    struct pa_with_place *place = pa_array_push(work, &withs->places, PA_MAX_WITH_PLACES);
    if (!place)
        return NULL;
    *place = (struct pa_with_place){key, position->executable, position->instruction, position->tlbc_index, withs->slots.count, 0};
    int64_t unit = pa_position_unit(withs->codes, code, position);
    if (unit >= 0)
        find_slots(withs, code, (uint64_t)unit, place);
    if (!pa_index_add(work, &withs->index, withs->places.items, sizeof(*place), withs->places.count - 1)) {
        withs->places.count--;
        return NULL;
    }
    return place;
}

/* What is called at the end of a body: a method and its object, or a bound method alone. */
static uint64_t manager_at(struct pa_objects *objects, uint64_t slot)
{
    uint64_t method, object;
    bool is_int;
    int64_t number;
    if (!pa_memory_u64(objects->memory, slot, &object) || !pa_memory_u64(objects->memory, slot - 8, &method))
        return 0;
    object = pa_stackref(objects->layout, object, &is_int, &number);
    if (object != 0 || is_int)
        return object;
    method = pa_stackref(objects->layout, method, &is_int, &number);
    return pa_kind_of(objects, method) == PA_KIND_METHOD && pa_object_word(objects, method, PA_F_method_self, &object) ? object : 0;
}

uint32_t pa_withs_of(struct pa_withs *withs, uint64_t iframe, bool suspended, struct pa_with *found)
{
    struct pa_codes *codes = withs->codes;
    struct pa_iframe frame;
    uint64_t bottom;
    uint32_t count = 0;
    if (!pa_iframe_read(codes, iframe, &frame))
        return 0;
    uint32_t code = pa_code_at(codes, frame.position.executable);
    const struct pa_with_place *place = code == PA_NONE ? NULL : place_at(withs, &codes->codes.items[code], &frame.position);
    if (!place || place->count == 0 || !pa_iframe_stack(codes, iframe, &frame, &bottom))
        return 0;
    for (uint32_t i = 0; i < place->count; i++) {
        const struct pa_with_slot *slot = &withs->slots.items[place->first + i];
        uint64_t address = bottom + 8 * (uint64_t)slot->depth;
        if (suspended && (address < bottom || address >= frame.stackpointer))
            continue;
        uint64_t manager = manager_at(codes->objects, address);
        if (pa_type_of(codes->objects, manager) != PA_NONE)
            found[count++] = (struct pa_with){manager, slot->is_async};
    }
    return count;
}

uint32_t pa_withs_iterated(struct pa_withs *withs, uint64_t iframe, uint64_t *found)
{
    struct pa_objects *objects = withs->codes->objects;
    struct pa_iframe frame;
    uint64_t slot;
    uint32_t count = 0;
    if (!pa_iframe_read(withs->codes, iframe, &frame) || !pa_iframe_stack(withs->codes, iframe, &frame, &slot))
        return 0;
    uint64_t end = frame.stackpointer;
    if (end < slot || end - slot > 8ull * PA_MAX_VALUE_STACK)
        return 0;
    for (; slot + 8 <= end && count < PA_MAX_WITHS && pa_work_step(objects->work); slot += 8) {
        uint64_t object = pa_slot_object(objects, slot);
        if (pa_kind_of(objects, object) == PA_KIND_ASYNC_GENERATOR)
            found[count++] = object;
    }
    return count;
}

/* Include/internal/pycore_opcode_metadata.h: a call, of whatever kind, is followed by three words of cache. */
enum { CALL_UNITS = 4 };

uint64_t pa_with_entered(struct pa_withs *withs, uint64_t iframe)
{
    struct pa_codes *codes = withs->codes;
    struct pa_iframe frame;
    uint64_t bottom;
    if (!pa_iframe_read(codes, iframe, &frame) || !pa_iframe_stack(codes, iframe, &frame, &bottom))
        return 0;
    uint32_t id = pa_code_at(codes, frame.position.executable);
    if (id == PA_NONE)
        return 0;
    const struct pa_code *code = &codes->codes.items[id];
    /* A frame stays at the call until the method has returned and the next instruction, which is in the body, does something. */
    struct pa_position after = frame.position;
    after.instruction += 2 * CALL_UNITS;
    const struct pa_with_place *place = place_at(withs, code, &frame.position);
    uint32_t outside = place ? place->count : PA_NONE;
    place = place_at(withs, code, &after);
    if (!place || place->count == 0 || place->count != outside + 1)
        return 0;
    return manager_at(codes->objects, bottom + 8 * (uint64_t)withs->slots.items[place->first].depth);
}
