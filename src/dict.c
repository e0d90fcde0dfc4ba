/*
 * Dictionaries: combined tables, and split ones, whose keys the instances of a class share. See object.h.
 *
 * CPython: Include/internal/pycore_dict.h, struct _dictkeysobject and struct _dictvalues; Objects/dictobject.c.
 */
#include "object.h"

/* dk_kind */
enum { DICT_KEYS_GENERAL = 0, DICT_KEYS_SPLIT = 2 };

/* Read the head of a table of keys. */
static bool begin_keys(struct pa_objects *objects, uint64_t keys, bool split, struct pa_dict_iterator *iterator)
{
    const struct pa_layout *layout = objects->layout;
    struct pa_memory *memory = objects->memory;
    uint8_t log2_size, log2_index_bytes, kind;
    *iterator = (struct pa_dict_iterator){.keys = keys, .damaged = true};
    if (keys % 8 != 0 || !pa_memory_u8(memory, keys + PA_OFFSET(layout, dict_keys_log2_size), &log2_size) ||
        !pa_memory_u8(memory, keys + PA_OFFSET(layout, dict_keys_log2_index_bytes), &log2_index_bytes) ||
        !pa_memory_u8(memory, keys + PA_OFFSET(layout, dict_keys_kind), &kind) ||
        !pa_memory_u64(memory, keys + PA_OFFSET(layout, dict_keys_nentries), &iterator->capacity))
        return false;
    if (kind > DICT_KEYS_SPLIT || (kind == DICT_KEYS_SPLIT) != split || log2_size > 40 || log2_index_bytes > 43 ||
        iterator->capacity > 1ull << log2_size || iterator->capacity > PA_MAX_DICT_ENTRIES)
        return false;
    /* Entries of a general table are hash, key, value; of the others key, value. */
    iterator->entry_size = kind == DICT_KEYS_GENERAL ? 24 : 16;
    iterator->entries = keys + PA_OFFSET(layout, dict_keys_indices) + (1ull << log2_index_bytes);
    iterator->count = iterator->capacity;
    iterator->damaged = false;
    return true;
}

bool pa_dict_begin_split(struct pa_objects *objects, uint64_t keys, uint64_t values, struct pa_dict_iterator *iterator)
{
    const struct pa_layout *layout = objects->layout;
    uint8_t capacity, count;
    if (!PA_HAS(layout, dict_values_items) || !begin_keys(objects, keys, true, iterator))
        return false;
    iterator->damaged = true;
    if (values % 8 != 0 || !pa_memory_u8(objects->memory, values + PA_OFFSET(layout, dict_values_capacity), &capacity) ||
        !pa_memory_u8(objects->memory, values + PA_OFFSET(layout, dict_values_count), &count) || count > capacity)
        return false;
    iterator->values = values + PA_OFFSET(layout, dict_values_items);
    iterator->order = iterator->values + 8ull * capacity; /* get_insertion_order_array() */
    iterator->count = count;
    if (iterator->capacity > capacity)
        iterator->capacity = capacity;
    iterator->damaged = false;
    return true;
}

bool pa_dict_begin(struct pa_objects *objects, uint64_t address, struct pa_dict_iterator *iterator)
{
    const struct pa_layout *layout = objects->layout;
    uint64_t keys, values = 0;
    *iterator = (struct pa_dict_iterator){.damaged = true};
    if (pa_kind_of(objects, address) != PA_KIND_DICT ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, dict_keys), &keys))
        return false;
    if (PA_HAS(layout, dict_values) && !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, dict_values), &values))
        return false;
    return values ? pa_dict_begin_split(objects, keys, values, iterator) : begin_keys(objects, keys, false, iterator);
}

/* The entry at a place of the table. @return false if it cannot be read. */
static bool read_entry(struct pa_objects *objects, const struct pa_dict_iterator *iterator, uint64_t place, uint64_t *key,
                       uint64_t *value)
{
    uint8_t scratch[24];
    uint32_t size = iterator->entry_size;
    const uint8_t *entry = pa_memory_view(objects->memory, iterator->entries + place * size, size, scratch);
    if (!entry)
        return false;
    *key = pa_get_u64(entry, size - 16);
    *value = pa_get_u64(entry, size - 8);
    return iterator->values == 0 || pa_memory_u64(objects->memory, iterator->values + 8 * place, value);
}

/* The next entry that is used, at whatever place. */
static bool next_entry(struct pa_objects *objects, struct pa_dict_iterator *iterator, uint64_t *key, uint64_t *value,
                       uint64_t *place)
{
    while (iterator->index < iterator->count) {
        uint8_t ordered;
        *place = iterator->index++;
        if (iterator->values) {
            iterator->damaged = !pa_memory_u8(objects->memory, iterator->order + *place, &ordered) || ordered >= iterator->capacity;
            *place = ordered;
        }
        if (iterator->damaged || !pa_work_step(objects->work) || !read_entry(objects, iterator, *place, key, value)) {
            iterator->damaged = true;
            return false;
        }
        if (*key != 0 && *value != 0)
            return true;
    }
    return false;
}

bool pa_dict_next(struct pa_objects *objects, struct pa_dict_iterator *iterator, uint64_t *key, uint64_t *value)
{
    uint64_t place;
    return next_entry(objects, iterator, key, value, &place);
}

bool pa_dict_find(struct pa_objects *objects, struct pa_dict_iterator *iterator, const char *name, uint64_t *value)
{
    struct pa_recent_key *recent =
        &objects->recent_keys[(pa_mix(iterator->keys) ^ pa_mix((uint64_t)(uintptr_t)name)) & (PA_RECENT - 1)];
    uint64_t key, place;
    if (iterator->values && recent->keys == iterator->keys && recent->name == name && recent->place < iterator->capacity &&
        read_entry(objects, iterator, recent->place, &key, value) && pa_str_equals(objects, key, name))
        return *value != 0;
    while (next_entry(objects, iterator, &key, value, &place)) {
        if (!pa_str_equals(objects, key, name))
            continue;
        if (iterator->values)
            *recent = (struct pa_recent_key){iterator->keys, name, (uint32_t)place};
        return true;
    }
    return false;
}

bool pa_dict_get(struct pa_objects *objects, uint64_t address, const char *key, uint64_t *value)
{
    struct pa_dict_iterator iterator;
    return pa_dict_begin(objects, address, &iterator) && pa_dict_find(objects, &iterator, key, value);
}
