/*
 * The work of one session: its own memory, counted and bounded, the containers made of it, and why the work must end.
 *
 * Everything the library allocates goes through here, so that a hostile target cannot make it grow without bound. A failure is kept
 * in @c fatal and stays: loops look at it, nothing else needs to.
 */
#ifndef PA_WORK_H
#define PA_WORK_H

#include "pyasync.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** No item: the id that no array reaches. */
#define PA_NONE UINT32_MAX

struct pa_work {
    const struct pa_target *target;
    enum pa_status fatal; /* PA_OK, or PA_ABORTED or PA_NO_MEMORY once that has happened */
    uint64_t bytes;       /* allocated now */
    uint64_t peak;        /* the most ever allocated */
    uint64_t limit;       /* PA_MAX_MEMORY, less in tests */
    uint32_t steps;       /* until the clock is looked at */
    uint64_t last_poll;   /* CLOCK_MONOTONIC, ns */
};

void pa_work_init(struct pa_work *work, const struct pa_target *target);

/** Write one line that says why a request failed. @return PA_FAILED. */
__attribute__((format(printf, 3, 4))) enum pa_status pa_fail(char *error, size_t capacity, const char *format, ...);

/** Used by pa_work_step(): look at the clock. */
bool pa_work_poll(struct pa_work *work);

/** Count one step of work and call the front's poll() when it is due. @return false when the work must end. */
static inline bool pa_work_step(struct pa_work *work)
{
    return (--work->steps > 0 && work->fatal == PA_OK) || pa_work_poll(work);
}

/**
 * Allocate, grow, shrink or (@p new_size 0) free. New bytes are not cleared.
 *
 * @return The block; NULL if there is no memory (then @p block stays valid and @c fatal is set) or if it was freed.
 */
void *pa_work_resize(struct pa_work *work, void *block, size_t old_size, size_t new_size);

/** A growable array. Declare PA_ARRAY(T), use the items directly, grow by pa_array_push(). Items move when it grows. */
#define PA_ARRAY(T)                                                                                                                \
    struct {                                                                                                                       \
        T *items;                                                                                                                  \
        uint32_t count, capacity;                                                                                                  \
    }

/** Room for one more item: a pointer to it (not cleared, already counted), or NULL if there is no memory or @p limit is reached. */
#define pa_array_push(work, array, limit)                                                                                          \
    ((array)->count < (array)->capacity ||                                                                                         \
             pa_array_grow(work, (void **)&(array)->items, &(array)->capacity, (array)->count, sizeof(*(array)->items), (limit))   \
         ? &(array)->items[(array)->count++]                                                                                       \
         : NULL)

#define pa_array_free(work, array)                                                                                                 \
    do {                                                                                                                           \
        pa_work_resize(work, (array)->items, (size_t)(array)->capacity * sizeof(*(array)->items), 0);                              \
        (array)->items = NULL;                                                                                                     \
        (array)->count = (array)->capacity = 0;                                                                                    \
    } while (0)

/** Used by pa_array_push(). */
bool pa_array_grow(struct pa_work *work, void **items, uint32_t *capacity, uint32_t count, size_t item_size, uint32_t limit);

/**
 * An index over an array whose items begin with a uint64_t key: it holds 32-bit ids only, so it costs 11 to 22 bytes an item.
 * The array is passed to each call, since it moves.
 */
struct pa_index {
    struct pa_slot {
        uint32_t hash; /* of the key: an item is looked at only if it is equal, and growing looks at none */
        uint32_t id;   /* plus 1; 0: empty. Linear probing */
    } * slots;
    uint32_t capacity;
    uint32_t count;
};

/** Spread the bits of an address or id over a hash. */
static inline uint64_t pa_mix(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9e3779b97f4a7c15u;
    return key ^ (key >> 29);
}

/**
 * Where the search for @p key begins. Objects of one page of the target get neighbouring slots, pages are spread: a walk in the order of
 * addresses, which is nearly that of creation, then goes through the index in order too.
 */
static inline uint32_t pa_hash(uint64_t key)
{
    return (uint32_t)(pa_mix(key >> 12) + (key >> 3 & 0x1ff));
}

/** A look-up of @p key is to come. */
static inline void pa_index_prefetch(const struct pa_index *index, uint64_t key)
{
    if (index->capacity)
        __builtin_prefetch(&index->slots[pa_hash(key) & (index->capacity - 1)]);
}

/** The id of the item with @p key, or PA_NONE. */
uint32_t pa_index_find(const struct pa_index *index, const void *items, size_t item_size, uint64_t key);

/** Add item @p id, whose key is already in the array and not in the index. @return false if there is no memory. */
bool pa_index_add(struct pa_work *work, struct pa_index *index, const void *items, size_t item_size, uint32_t id);

void pa_index_free(struct pa_work *work, struct pa_index *index);

/** A set of addresses, in the order in which they were added; all zero it is empty. */
struct pa_addresses {
    uint64_t *items;
    uint32_t count, capacity;
    struct pa_index index;
};

bool pa_addresses_have(const struct pa_addresses *set, uint64_t address);

/** Add an address, once. @return false if it is not in the set: there is no memory, or @p limit is reached. */
bool pa_addresses_add(struct pa_work *work, struct pa_addresses *set, uint64_t address, uint32_t limit);

void pa_addresses_free(struct pa_work *work, struct pa_addresses *set);

/** A byte for each of some ids, all bits set (PA_BYTE_UNKNOWN) until it is known; all zero there are none. */
struct pa_bytes {
    uint8_t *items;
    uint32_t count;
};
#define PA_BYTE_UNKNOWN 0xffu

/** The byte of an id. @p all: how many ids there are by now. @return NULL without memory. */
uint8_t *pa_byte_of(struct pa_work *work, struct pa_bytes *bytes, uint32_t id, uint32_t all);
void pa_bytes_free(struct pa_work *work, struct pa_bytes *bytes);

/** What an index answered lately, by a few bits of the key: a walk asks the same again and again. All bits set is an empty entry. */
struct pa_recent {
    uint64_t key;
    uint32_t id;
};
#define PA_RECENT 64u /* a power of two */

static inline struct pa_recent *pa_recent_at(struct pa_recent *recent, uint64_t key)
{
    return &recent[(key * 0x9e3779b97f4a7c15u) >> 58];
}

/** Text kept in one growing block: an offset and a length, since the block moves. Not NUL terminated. */
struct pa_text {
    uint32_t offset;
    uint32_t length;
};

/** No text. */
static const struct pa_text pa_no_text = {0, 0};

struct pa_arena {
    char *bytes;
    uint32_t count, capacity;
};

/** Keep a copy of @p length bytes. Without memory the text is empty and @c fatal is set. */
struct pa_text pa_arena_add(struct pa_work *work, struct pa_arena *arena, const char *bytes, size_t length);

static inline const char *pa_arena_text(const struct pa_arena *arena, struct pa_text text)
{
    return text.length ? arena->bytes + text.offset : "";
}

/** Whether a text is, begins or ends with a NUL terminated one. */
bool pa_text_is(const struct pa_arena *arena, struct pa_text text, const char *whole);
bool pa_text_begins(const struct pa_arena *arena, struct pa_text text, const char *begin);
bool pa_text_ends(const struct pa_arena *arena, struct pa_text text, const char *end);

void pa_arena_free(struct pa_work *work, struct pa_arena *arena);

#endif
