/* The session's own memory, containers and poll clock: see work.h. */
#include "work.h"

#include "limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void pa_work_init(struct pa_work *work, const struct pa_target *target)
{
    *work = (struct pa_work){.target = target, .limit = PA_MAX_MEMORY, .steps = PA_POLL_STEPS};
}

enum pa_status pa_fail(char *error, size_t capacity, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, capacity, format, arguments);
    va_end(arguments);
    return PA_FAILED;
}

bool pa_work_poll(struct pa_work *work)
{
    work->steps = PA_POLL_STEPS;
    if (work->fatal != PA_OK)
        return false;

    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (nanoseconds - work->last_poll < PA_POLL_NANOSECONDS)
        return true;
    work->last_poll = nanoseconds;
    if (work->target->poll() != PA_OK)
        work->fatal = PA_ABORTED;
    return work->fatal == PA_OK;
}

void *pa_work_resize(struct pa_work *work, void *block, size_t old_size, size_t new_size)
{
    if (new_size == 0) {
        free(block);
        work->bytes -= old_size;
        return NULL;
    }
    if (new_size > old_size && new_size - old_size > work->limit - work->bytes) {
        work->fatal = PA_NO_MEMORY;
        return NULL;
    }
    void *moved = realloc(block, new_size);
    if (!moved) {
        work->fatal = PA_NO_MEMORY;
        return NULL;
    }
    work->bytes += new_size - old_size;
    if (work->bytes > work->peak)
        work->peak = work->bytes;
    return moved;
}

bool pa_array_grow(struct pa_work *work, void **items, uint32_t *capacity, uint32_t count, size_t item_size, uint32_t limit)
{
    if (count >= limit)
        return false;
    /* By half: the unused tail of an array of a million tasks is memory too. */
    uint64_t wanted = (uint64_t)*capacity + *capacity / 2 + 16;
    if (wanted > limit)
        wanted = limit;
    void *moved = pa_work_resize(work, *items, *capacity * item_size, wanted * item_size);
    if (!moved)
        return false;
    *items = moved;
    *capacity = (uint32_t)wanted;
    return true;
}

static uint64_t key_of(const void *items, size_t item_size, uint32_t id)
{
    uint64_t key;
    memcpy(&key, (const char *)items + item_size * id, sizeof(key));
    return key;
}

uint32_t pa_index_find(const struct pa_index *index, const void *items, size_t item_size, uint64_t key)
{
    if (index->capacity == 0)
        return PA_NONE;
    uint32_t mask = index->capacity - 1;
    uint32_t hash = pa_hash(key);
    for (uint32_t slot = hash & mask; index->slots[slot].id != 0; slot = (slot + 1) & mask) {
        uint32_t id = index->slots[slot].id - 1;
        if (index->slots[slot].hash == hash && key_of(items, item_size, id) == key)
            return id;
    }
    return PA_NONE;
}

static void index_insert(struct pa_index *index, struct pa_slot entry)
{
    uint32_t mask = index->capacity - 1;
    uint32_t slot = entry.hash & mask;
    while (index->slots[slot].id != 0)
        slot = (slot + 1) & mask;
    index->slots[slot] = entry;
}

bool pa_index_add(struct pa_work *work, struct pa_index *index, const void *items, size_t item_size, uint32_t id)
{
    /* Full at three quarters. */
    if (index->count >= index->capacity - index->capacity / 4) {
        struct pa_index bigger = {.capacity = index->capacity ? index->capacity * 2 : 64, .count = index->count};
        size_t size = (size_t)bigger.capacity * sizeof(struct pa_slot);
        bigger.slots = bigger.capacity ? pa_work_resize(work, NULL, 0, size) : NULL;
        if (!bigger.slots)
            return false;
        memset(bigger.slots, 0, size);
        for (uint32_t slot = 0; slot < index->capacity; slot++) {
            if (index->slots[slot].id != 0)
                index_insert(&bigger, index->slots[slot]);
        }
        pa_index_free(work, index);
        *index = bigger;
    }
    index_insert(index, (struct pa_slot){pa_hash(key_of(items, item_size, id)), id + 1});
    index->count++;
    return true;
}

void pa_index_free(struct pa_work *work, struct pa_index *index)
{
    pa_work_resize(work, index->slots, (size_t)index->capacity * sizeof(struct pa_slot), 0);
    *index = (struct pa_index){0};
}

bool pa_addresses_have(const struct pa_addresses *set, uint64_t address)
{
    return pa_index_find(&set->index, set->items, sizeof(address), address) != PA_NONE;
}

bool pa_addresses_add(struct pa_work *work, struct pa_addresses *set, uint64_t address, uint32_t limit)
{
    if (pa_addresses_have(set, address))
        return true;
    uint64_t *slot = pa_array_push(work, set, limit);
    if (!slot)
        return false;
    *slot = address;
    if (pa_index_add(work, &set->index, set->items, sizeof(address), set->count - 1))
        return true;
    set->count--;
    return false;
}

void pa_addresses_free(struct pa_work *work, struct pa_addresses *set)
{
    pa_array_free(work, set);
    pa_index_free(work, &set->index);
}

uint8_t *pa_byte_of(struct pa_work *work, struct pa_bytes *bytes, uint32_t id, uint32_t all)
{
    if (id >= bytes->count) {
        uint8_t *moved = pa_work_resize(work, bytes->items, bytes->count, all);
        if (!moved)
            return NULL;
        memset(moved + bytes->count, PA_BYTE_UNKNOWN, all - bytes->count);
        *bytes = (struct pa_bytes){moved, all};
    }
    return &bytes->items[id];
}

void pa_bytes_free(struct pa_work *work, struct pa_bytes *bytes)
{
    pa_work_resize(work, bytes->items, bytes->count, 0);
    *bytes = (struct pa_bytes){0};
}

struct pa_text pa_arena_add(struct pa_work *work, struct pa_arena *arena, const char *bytes, size_t length)
{
    if (length == 0)
        return (struct pa_text){0};
    if (length > arena->capacity - arena->count) {
        uint64_t wanted = (uint64_t)arena->capacity + arena->capacity / 2 + length + 4096;
        char *moved = wanted <= UINT32_MAX ? pa_work_resize(work, arena->bytes, arena->capacity, wanted) : NULL;
        if (!moved) {
            work->fatal = PA_NO_MEMORY;
            return (struct pa_text){0};
        }
        arena->bytes = moved;
        arena->capacity = (uint32_t)wanted;
    }
    struct pa_text text = {arena->count, (uint32_t)length};
    memcpy(arena->bytes + text.offset, bytes, length);
    arena->count += (uint32_t)length;
    return text;
}

bool pa_text_is(const struct pa_arena *arena, struct pa_text text, const char *whole)
{
    return text.length == strlen(whole) && memcmp(pa_arena_text(arena, text), whole, text.length) == 0;
}

bool pa_text_begins(const struct pa_arena *arena, struct pa_text text, const char *begin)
{
    size_t length = strlen(begin);
    return text.length >= length && memcmp(pa_arena_text(arena, text), begin, length) == 0;
}

bool pa_text_ends(const struct pa_arena *arena, struct pa_text text, const char *end)
{
    size_t length = strlen(end);
    return text.length >= length && memcmp(pa_arena_text(arena, text) + text.length - length, end, length) == 0;
}

void pa_arena_free(struct pa_work *work, struct pa_arena *arena)
{
    pa_work_resize(work, arena->bytes, arena->capacity, 0);
    *arena = (struct pa_arena){0};
}
