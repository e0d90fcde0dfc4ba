/* Target memory: the mapped core, the block cache and the scan. See memory.h. */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGES_PER_BLOCK (PA_CACHE_BLOCK / PA_CACHE_PAGE)

enum page_state { PAGE_UNTRIED = 0, PAGE_READ, PAGE_MISSING };

/* One block of target memory. Pages are tried one by one only where the whole block could not be read. */
struct pa_block {
    uint64_t address;
    bool whole;                     /* all pages are PAGE_READ */
    uint8_t pages[PAGES_PER_BLOCK]; /* enum page_state */
    uint8_t bytes[PA_CACHE_BLOCK];
};

/* Where the block at an address stands if it is kept. */
struct pa_place {
    struct pa_block *block;
    uint64_t gone; /* address of the block that was here and is not kept any more, plus 1; 0: none */
};

/*
 * Copy from the target: PA_OK, PA_UNREADABLE, PA_ABORTED. The kernel copies straight from a process of this machine, which takes half of
 * what it takes through a debugger's buffers and Python's. What it does not give, the debugger is asked for.
 */
static int32_t fetch(struct pa_memory *memory, uint64_t address, size_t length, uint8_t *buffer)
{
    const struct pa_target *target = memory->work->target;
    if (memory->direct) {
        void *remote = (void *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr): nothing is read through it here */
        const struct iovec here = {buffer, length}, there = {remote, length};
        ssize_t copied = process_vm_readv((pid_t)target->process, &here, 1, &there, 1, 0);
        if (copied == (ssize_t)length)
            return PA_OK;
        memory->direct = copied >= 0 || errno == EFAULT; /* else the process is gone, or may not be read so */
    }
    return target->read(address, length, buffer);
}

static int by_start(const void *a, const void *b)
{
    const struct pa_range *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* Ask for the ranges until the room is enough: a live process may map more in between. */
static enum pa_status list_ranges(struct pa_memory *memory)
{
    struct pa_work *work = memory->work;
    int64_t count = work->target->ranges(NULL, 0);
    for (int attempt = 0; attempt < 3 && count > 0 && count <= PA_MAX_RANGES; attempt++) {
        size_t size = (size_t)count * sizeof(struct pa_range);
        struct pa_range *ranges = pa_work_resize(work, NULL, 0, size);
        if (!ranges)
            return PA_NO_MEMORY;
        int64_t stored = work->target->ranges(ranges, (uint64_t)count);
        if (stored >= 0 && stored <= count) {
            memory->ranges = pa_work_resize(work, ranges, size, (size_t)stored * sizeof(struct pa_range));
            memory->range_count = (uint32_t)stored;
            break;
        }
        pa_work_resize(work, ranges, size, 0);
        count = stored;
    }
    if (count == -2) {
        work->fatal = PA_ABORTED;
        return PA_ABORTED;
    }
    return PA_OK;
}

static void map_core(struct pa_memory *memory)
{
    const char *path = memory->work->target->core_path;
    struct stat status;
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (map != MAP_FAILED) {
            memory->map = map;
            memory->map_size = (size_t)status.st_size;
        }
    }
    close(file);
}

/* Drop what cannot be: empty or overlapping runs, and bytes that a truncated core does not have. */
static void check_ranges(struct pa_memory *memory)
{
    if (memory->range_count == 0)
        return;
    qsort(memory->ranges, memory->range_count, sizeof(*memory->ranges), by_start);
    uint32_t kept = 0, listed = memory->range_count;
    for (uint32_t i = 0; i < listed; i++) {
        struct pa_range range = memory->ranges[i];
        if (!memory->map)
            range.flags &= ~PA_RANGE_IN_CORE;
        if (range.flags & PA_RANGE_IN_CORE) {
            uint64_t there = range.file_offset < memory->map_size ? memory->map_size - range.file_offset : 0;
            if (range.end > range.start && range.end - range.start > there)
                range.end = range.start + there;
        }
        if (range.end > range.start && (kept == 0 || range.start >= memory->ranges[kept - 1].end))
            memory->ranges[kept++] = range;
    }
    memory->ranges = pa_work_resize(memory->work, memory->ranges, listed * sizeof(struct pa_range), kept * sizeof(struct pa_range));
    memory->range_count = kept;
}

enum pa_status pa_memory_init(struct pa_memory *memory, struct pa_work *work)
{
    *memory = (struct pa_memory){.work = work, .direct = work->target->process > 0};
    enum pa_status status = list_ranges(memory);
    if (status != PA_OK)
        return status;
    map_core(memory);
    check_ranges(memory);
    return PA_OK;
}

void pa_memory_deinit(struct pa_memory *memory)
{
    struct pa_work *work = memory->work;
    if (memory->map)
        munmap((void *)memory->map, memory->map_size);
    pa_work_resize(work, memory->ranges, memory->range_count * sizeof(*memory->ranges), 0);
    for (uint32_t i = 0; i < memory->block_count; i++)
        pa_work_resize(work, memory->blocks[i], sizeof(struct pa_block), 0);
    pa_work_resize(work, memory->places, memory->places ? PA_CACHE_PLACES * sizeof(struct pa_place) : 0, 0);
    *memory = (struct pa_memory){0};
}

/* The range that holds @p address, or NULL. */
static const struct pa_range *find_range(const struct pa_memory *memory, uint64_t address)
{
    uint32_t low = 0, high = memory->range_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memory->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < memory->range_count && memory->ranges[low].start <= address)
        return &memory->ranges[low];
    return NULL;
}

bool pa_memory_in_core(const struct pa_memory *memory, uint64_t address)
{
    const struct pa_range *range = find_range(memory, address);
    return range && range->flags & PA_RANGE_IN_CORE;
}

static struct pa_place *place_of(const struct pa_memory *memory, uint64_t address)
{
    return &memory->places[address / PA_CACHE_BLOCK % PA_CACHE_PLACES];
}

/*
 * A block to read @p address into. Reading into memory that was used before costs half of what it costs in fresh memory, so there are
 * few blocks, taken in turn; there is one more when a block is wanted again that is not kept any more.
 */
static struct pa_block *take_block(struct pa_memory *memory, uint64_t address)
{
    struct pa_place *place = place_of(memory, address);
    struct pa_block *block = place->block;
    bool again = place->gone == address + 1;
    if (!block && (memory->block_count < PA_CACHE_FEW_BLOCKS || (again && memory->block_count < PA_CACHE_BLOCKS))) {
        block = pa_work_resize(memory->work, NULL, 0, sizeof(struct pa_block));
        if (!block)
            return NULL;
        memory->blocks[memory->block_count++] = block;
    } else {
        if (!block)
            block = memory->blocks[memory->taken++ % memory->block_count];
        struct pa_place *old = place_of(memory, block->address);
        old->block = NULL;
        old->gone = block->address + 1;
    }
    block->address = address;
    place->block = block;
    return block;
}

/* The block at @p address, a multiple of PA_CACHE_BLOCK, or NULL if it could not be asked for. */
static struct pa_block *block_at(struct pa_memory *memory, uint64_t address)
{
    struct pa_work *work = memory->work;
    size_t size = PA_CACHE_PLACES * sizeof(struct pa_place);
    if (!memory->places) {
        memory->places = pa_work_resize(work, NULL, 0, size);
        if (!memory->places)
            return NULL;
        memset(memory->places, 0, size);
    }
    struct pa_block *block = place_of(memory, address)->block;
    if (block && block->address == address)
        return block;
    block = take_block(memory, address);
    if (!block)
        return NULL;
    int32_t status = fetch(memory, address, PA_CACHE_BLOCK, block->bytes);
    if (status == PA_ABORTED) {
        block->address = address + 1; /* no block's address: what it holds is not known */
        work->fatal = PA_ABORTED;
        return NULL;
    }
    block->whole = status == PA_OK;
    memset(block->pages, status == PA_OK ? PAGE_READ : PAGE_UNTRIED, sizeof(block->pages));
    return block;
}

static bool page_read(struct pa_memory *memory, struct pa_block *block, uint32_t page)
{
    if (block->pages[page] == PAGE_UNTRIED) {
        uint32_t offset = page * PA_CACHE_PAGE;
        int32_t status = fetch(memory, block->address + offset, PA_CACHE_PAGE, block->bytes + offset);
        if (status == PA_ABORTED) {
            memory->work->fatal = PA_ABORTED;
            return false;
        }
        block->pages[page] = status == PA_OK ? PAGE_READ : PAGE_MISSING;
    }
    return block->pages[page] == PAGE_READ;
}

/* For pages that are only partly there: sections of an ELF file begin and end anywhere, and a debugger serves .rodata of a core from them. */
static bool read_exactly(struct pa_memory *memory, uint64_t address, size_t length, uint8_t *buffer)
{
    struct pa_work *work = memory->work;
    int32_t status = work->fatal == PA_OK ? fetch(memory, address, length, buffer) : PA_ABORTED;
    if (status == PA_ABORTED)
        work->fatal = PA_ABORTED;
    return status == PA_OK;
}

/* Copy through the block cache. */
static bool read_cached(struct pa_memory *memory, uint64_t address, size_t length, uint8_t *buffer)
{
    while (length > 0) {
        if (memory->work->fatal != PA_OK)
            return false;
        uint32_t offset = (uint32_t)(address % PA_CACHE_BLOCK);
        uint32_t page = offset / PA_CACHE_PAGE;
        size_t part = PA_CACHE_PAGE - offset % PA_CACHE_PAGE;
        if (part > length)
            part = length;
        struct pa_block *block = block_at(memory, address - offset);
        if (!block)
            return false;
        if (page_read(memory, block, page))
            memcpy(buffer, block->bytes + offset, part);
        else if (!read_exactly(memory, address, part, buffer))
            return false;
        address += part;
        buffer += part;
        length -= part;
    }
    return true;
}

const uint8_t *pa_memory_cached(const struct pa_memory *memory, uint64_t address, size_t length)
{
    uint64_t offset = address % PA_CACHE_BLOCK;
    if (!memory->places || length > PA_CACHE_BLOCK - offset)
        return NULL;
    const struct pa_block *block = place_of(memory, address)->block;
    return block && block->address == address - offset && block->whole ? block->bytes + offset : NULL;
}

uint32_t pa_memory_string(struct pa_memory *memory, uint64_t address, char *text, uint32_t capacity)
{
    uint32_t length = 0;
    for (uint8_t byte; length < capacity; text[length++] = (char)byte) {
        if (!pa_memory_u8(memory, address + length, &byte))
            return 0;
        if (byte == 0)
            break;
    }
    return length;
}

const uint8_t *pa_memory_view_slow(struct pa_memory *memory, uint64_t address, size_t length, void *scratch)
{
    const uint8_t *cached = memory->map ? NULL : pa_memory_cached(memory, address, length); /* nearly all of a live target */
    if (cached && length == sizeof(uint64_t))
        return memcpy(scratch, cached, sizeof(uint64_t)); /* without a call */
    if (cached)
        return memcpy(scratch, cached, length);
    if (length == 0)
        return scratch;
    if (address > UINT64_MAX - length)
        return NULL;
    uint8_t *out = scratch;
    uint64_t next = address;
    size_t left = length;
    /* Neighbouring runs of a core may carry one object; so may a run and memory that only the debugger can read. */
    while (left > 0) {
        const struct pa_range *range = find_range(memory, next);
        size_t part = left;
        if (memory->map && range && range->flags & PA_RANGE_IN_CORE) {
            const uint8_t *bytes = memory->map + range->file_offset + (next - range->start);
            if (part > range->end - next)
                part = range->end - next;
            if (part == length) {
                memory->recent[next >> 20 & (PA_RECENT_RUNS - 1)] =
                    (struct pa_run){range->start, range->end - range->start, memory->map + range->file_offset};
                return bytes;
            }
            memcpy(out, bytes, part);
        } else {
            uint64_t to_page_end = PA_CACHE_PAGE - next % PA_CACHE_PAGE;
            if (part > to_page_end)
                part = to_page_end;
            if (memory->core_only || !read_cached(memory, next, part, out))
                return NULL;
        }
        next += part;
        out += part;
        left -= part;
    }
    return scratch;
}

/* Search one piece that can be looked at in place. @return false when @p hit ended the scan. */
static bool scan_piece(const uint8_t *bytes, uint64_t address, size_t length, uint64_t word, pa_scan_hit *hit, void *context)
{
    size_t skip = (8 - address % 8) % 8;
    for (size_t offset = skip; offset + 8 <= length; offset += 8) {
        if (pa_get_u64(bytes, (uint32_t)offset) == word && !hit(context, address + offset))
            return false;
    }
    return true;
}

uint64_t pa_memory_scan(struct pa_memory *memory, uint32_t flags, uint64_t word, pa_scan_hit *hit, void *context)
{
    uint8_t page[PA_CACHE_PAGE];
    uint64_t searched = 0;
    for (uint32_t i = 0; i < memory->range_count; i++) {
        if ((memory->ranges[i].flags & flags) != flags)
            continue;
        uint64_t address = memory->ranges[i].start, end = memory->ranges[i].end;
        while (address < end) {
            size_t part = PA_CACHE_PAGE - address % PA_CACHE_PAGE;
            if (part > end - address)
                part = end - address;
            if (!pa_work_step(memory->work))
                return searched;
            const uint8_t *bytes = pa_memory_view(memory, address, part, page);
            if (bytes && !scan_piece(bytes, address, part, word, hit, context))
                return searched + part;
            searched += part;
            address += part;
        }
    }
    return searched;
}
