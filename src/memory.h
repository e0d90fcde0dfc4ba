/*
 * The only way to the target's bytes.
 *
 * Two ways stand behind it. Of a core, the runs that the debugger lists are read from a mapping of the core file, since a heap of
 * many gigabytes must not be copied block by block. All else (live processes, file-backed memory that is not in the core, a list
 * that did not parse) goes through a bounded cache of blocks, which the kernel fills from a process of this machine, and else
 * pa_target.read. Neither interprets anything: bytes in, bytes out.
 */
#ifndef PA_MEMORY_H
#define PA_MEMORY_H

#include "limits.h"
#include "work.h"

#include <string.h>

struct pa_block;
struct pa_place;

/* Mapped runs that are found without a search: one for each of these last bits of an address's MiB, since that is an arena of CPython. */
#define PA_RECENT_RUNS 64u

struct pa_memory {
    struct pa_work *work;
    const uint8_t *map; /* the core file, read-only; NULL if it is not mapped */
    size_t map_size;
    struct pa_range *ranges; /* sorted by address, clamped to the core file; all that the debugger listed */
    uint32_t range_count;
    struct pa_run { /* mapped runs that served before, as [start, start + size) */
        uint64_t start, size;
        const uint8_t *bytes;
    } recent[PA_RECENT_RUNS];
    bool direct;                              /* pa_target.process is read without the debugger */
    bool core_only;                           /* what the core lacks is missing: the debugger has the files of another program */
    struct pa_block *blocks[PA_CACHE_BLOCKS]; /* in the order in which they are taken again */
    uint32_t block_count, taken;
    struct pa_place *places; /* PA_CACHE_PLACES of them, by a hash of the address; NULL until the first read */
};

/** Ask the target for its ranges and map the core file if there is one. Only a lack of memory or an abort fails. */
enum pa_status pa_memory_init(struct pa_memory *memory, struct pa_work *work);
void pa_memory_deinit(struct pa_memory *memory);

/** As pa_memory_view(), for addresses outside of the last run. */
const uint8_t *pa_memory_view_slow(struct pa_memory *memory, uint64_t address, size_t length, void *scratch);

/** The bytes at @p address if they are mapped and found without a search, else NULL. */
static inline const uint8_t *pa_memory_mapped(const struct pa_memory *memory, uint64_t address, size_t length)
{
    const struct pa_run *run = &memory->recent[address >> 20 & (PA_RECENT_RUNS - 1)];
    uint64_t offset = address - run->start;
    return offset < run->size && length <= run->size - offset ? run->bytes + offset : NULL;
}

/** The bytes at @p address if they stand in a block that was read whole, else NULL. Valid until the next read. */
const uint8_t *pa_memory_cached(const struct pa_memory *memory, uint64_t address, size_t length);

/** The bytes at @p address if they are at hand without a search or read, else NULL. Valid until the next read. */
static inline const uint8_t *pa_memory_peek(const struct pa_memory *memory, uint64_t address, size_t length)
{
    const uint8_t *bytes = pa_memory_mapped(memory, address, length);
    return bytes || memory->map ? bytes : pa_memory_cached(memory, address, length);
}

/** Have the processor fetch the bytes at @p address, which is a guess, if they are mapped. Blocks were only just copied: these it has. */
static inline void pa_memory_prefetch(const struct pa_memory *memory, uint64_t address, size_t length)
{
    const uint8_t *bytes = pa_memory_mapped(memory, address, length);
    for (size_t offset = 0; bytes && offset < length; offset += 64)
        __builtin_prefetch(bytes + offset);
    __asm__ volatile(""); /* GCC 12 drops calls of a function that does nothing but prefetch */
}

/**
 * Look at @p length bytes at @p address.
 *
 * @param scratch Room for @p length bytes, used when the bytes cannot be shown in place.
 * @return The bytes, unaligned, valid as long as @p scratch; NULL if any of them cannot be read.
 */
static inline const uint8_t *pa_memory_view(struct pa_memory *memory, uint64_t address, size_t length, void *scratch)
{
    const uint8_t *bytes = pa_memory_mapped(memory, address, length);
    return bytes ? bytes : pa_memory_view_slow(memory, address, length, scratch);
}

/** Copy a C string, at most @p capacity bytes of it, without its NUL. @return its length; 0 also if it cannot be read. */
uint32_t pa_memory_string(struct pa_memory *memory, uint64_t address, char *text, uint32_t capacity);

/** Copy @p length bytes. @return false if any of them cannot be read; then @p buffer is undefined. */
static inline bool pa_memory_read(struct pa_memory *memory, uint64_t address, size_t length, void *buffer)
{
    const uint8_t *bytes = pa_memory_view(memory, address, length, buffer);
    if (bytes && bytes != buffer)
        memcpy(buffer, bytes, length);
    return bytes != NULL;
}

static inline bool pa_memory_u64(struct pa_memory *memory, uint64_t address, uint64_t *value)
{
    *value = 0;
    return pa_memory_read(memory, address, sizeof(*value), value);
}

static inline bool pa_memory_u32(struct pa_memory *memory, uint64_t address, uint32_t *value)
{
    *value = 0;
    return pa_memory_read(memory, address, sizeof(*value), value);
}

static inline bool pa_memory_u8(struct pa_memory *memory, uint64_t address, uint8_t *value)
{
    *value = 0;
    return pa_memory_read(memory, address, sizeof(*value), value);
}

/** Fields of a view: the target is little-endian as the host is (x86-64). */
static inline uint64_t pa_get_u64(const uint8_t *bytes, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

static inline uint32_t pa_get_u32(const uint8_t *bytes, uint32_t offset)
{
    uint32_t value;
    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

/** Whether the mapped core itself has the byte at @p address. */
bool pa_memory_in_core(const struct pa_memory *memory, uint64_t address);

/** Called by pa_memory_scan() for each 8-aligned word that equals the wanted one. @return false to end the scan. */
typedef bool pa_scan_hit(void *context, uint64_t address);

/**
 * Search the listed ranges that have all of @p flags for an 8-aligned word.
 *
 * @return How many bytes were searched. Bounded by the ranges; polls.
 */
uint64_t pa_memory_scan(struct pa_memory *memory, uint32_t flags, uint64_t word, pa_scan_hit *hit, void *context);

#endif
