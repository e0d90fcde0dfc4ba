/* Serving a seed to the library. See seed.h. */
#include "seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

NOT_LIBRARY

#include "../unit/wellformed.h"

/* Work that no request on an image of a few MB needs: poll() is called every 20 ms of it. Sanitizers take a factor of five. */
#define MAX_POLLS 500u

struct run run;

__attribute__((noreturn)) void fail(const char *why)
{
    fprintf(stderr, "fuzz_session: %s\n", why);
    abort();
}

bool count_call(void)
{
    return ++run.calls != run.abort_at;
}

/* Which run an address is in; the number of runs if in none. */
static uint64_t find_run(const struct seed *seed, uint64_t address)
{
    uint64_t low = 0, high = seed->head.runs;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (seed->runs[middle].address + seed->runs[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == seed->head.runs || address < seed->runs[low].address ? seed->head.runs : low;
}

uint8_t *seed_find(const struct seed *seed, uint64_t address, uint64_t *there)
{
    uint64_t found = find_run(seed, address);
    if (found == seed->head.runs)
        return NULL;
    uint64_t inside = address - seed->runs[found].address;
    *there = seed->runs[found].size - inside;
    return seed->bytes + seed->offsets[found] + inside;
}

static int32_t target_read(uint64_t address, uint64_t length, void *buffer)
{
    if (!count_call())
        return PA_ABORTED;
    /* What does not get a whole block asks for its pages. */
    if (run.touched && length > PAGE)
        return PA_UNREADABLE;
    for (uint64_t done = 0, there; done < length; done += there) {
        const uint8_t *bytes = seed_find(run.seed, address + done, &there);
        if (!bytes || (!run.files && !(run.seed->runs[find_run(run.seed, address + done)].flags & PA_RANGE_WRITABLE)))
            return PA_UNREADABLE;
        if (run.touched)
            run.touched[(uint64_t)(bytes - run.seed->bytes) / PAGE] = 1;
        there = there < length - done ? there : length - done;
        memcpy((uint8_t *)buffer + done, bytes, there);
    }
    return PA_OK;
}

static int64_t target_sections(const char *name, uint64_t *addresses, uint64_t capacity)
{
    int64_t count = 0;
    if (!count_call())
        return -2;
    for (uint64_t i = 0; run.sections && i < run.seed->head.names; i++) {
        if (strcmp(run.seed->names[i].name, name) == 0 && (uint64_t)count < capacity)
            addresses[count++] = run.seed->names[i].address;
    }
    return count;
}

static int32_t target_symbol(const char *name, uint64_t *address)
{
    if (!count_call())
        return PA_ABORTED;
    for (uint64_t i = 0; run.symbols && i < run.seed->head.names; i++) {
        if (strcmp(run.seed->names[i].name, name) == 0) {
            *address = run.seed->names[i].address;
            return PA_OK;
        }
    }
    return PA_UNREADABLE;
}

static int32_t target_symbol_at(uint64_t address, const char *name)
{
    uint64_t found;
    int32_t status = target_symbol(name, &found);
    return status == PA_OK && found != address ? PA_UNREADABLE : status;
}

static int64_t target_member_offset(const char *type, const char *path)
{
    (void)type;
    (void)path;
    return count_call() ? run.member_offset : -2;
}

/* Of a process nothing at all may be listed. A core has what is writable; the rest a debugger reads from files. */
static int64_t target_ranges(struct pa_range *ranges, uint64_t capacity)
{
    const struct seed *seed = run.seed;
    uint64_t count = 0;
    if (!count_call())
        return -2;
    for (uint64_t i = 0; i < seed->head.runs && (run.core || run.listed); i++) {
        uint64_t end = seed->runs[i].address + seed->runs[i].size;
        uint32_t flags = (uint32_t)seed->runs[i].flags | (run.core ? PA_RANGE_IN_CORE : 0);
        if (run.core && !(flags & PA_RANGE_WRITABLE))
            continue;
        if (count < capacity)
            ranges[count] = (struct pa_range){seed->runs[i].address, end, seed->offsets[i], flags, 0};
        count++;
    }
    return (int64_t)count;
}

static int64_t target_threads(struct pa_thread_info *threads, uint64_t capacity)
{
    const struct seed *seed = run.seed;
    if (!count_call())
        return -2;
    for (uint32_t i = 0; i < seed->head.threads && i < capacity; i++)
        threads[i] = (struct pa_thread_info){.number = i + 1,
                                             .selected = i == 0,
                                             .lwp = (int64_t)seed->threads[i].lwp,
                                             .pthread_id = seed->threads[i].pthread_id,
                                             .name = "\xff\x1b"};
    return (int64_t)seed->head.threads;
}

static int32_t target_source_line(const char *file, int32_t line, char *buffer, uint64_t capacity)
{
    (void)file;
    (void)line;
    snprintf(buffer, capacity, "\treturn \"\x1b[31m\xff\xe2\x82\" # \xe2\x80\xae");
    return count_call() ? PA_OK : PA_ABORTED;
}

static int32_t target_write(uint32_t style, const char *bytes, uint64_t length)
{
    if (style >= PA_STYLE_COUNT)
        fail("no such style");
    if (first_bad_byte(bytes, length) != length)
        fail("a write is no clean UTF-8");
    if (run.output_length + length > MAX_OUTPUT)
        fail("too much output");
    memcpy(run.output + run.output_length, bytes, length);
    run.output_length += length;
    return count_call() ? PA_OK : PA_ABORTED;
}

static int32_t target_poll(void)
{
    if (++run.polls > MAX_POLLS)
        fail("too much work");
    return count_call() ? PA_OK : PA_ABORTED;
}

struct pa_target target = {
    .abi_version = PA_ABI_VERSION,
    .debugger = "18.1",
    .executable = "/usr/bin/python3",
    .signal = "SIGABRT",
    .pid = 4711,
    .read = target_read,
    .sections = target_sections,
    .symbol = target_symbol,
    .member_offset = target_member_offset,
    .ranges = target_ranges,
    .threads = target_threads,
    .source_line = target_source_line,
    .write = target_write,
    .poll = target_poll,
    .symbol_at = target_symbol_at,
};

void serve(struct seed *seed, bool core)
{
    run.seed = seed;
    run.core = core;
    target.flags = core ? PA_TARGET_CORE : PA_TARGET_LIVE;
    target.core_path = core ? seed->core_path : NULL;
    target.core_name = core ? "core" : NULL;
    run.calls = run.abort_at = run.polls = run.native = 0;
    serve_native(&target);
    run.output_length = 0;
    if (!run.output)
        run.output = malloc(MAX_OUTPUT);
}

/* ---- loading ---- */

static void *read_file(const char *path, uint64_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        fail(path);
    *size = (uint64_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*size);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        fail(path);
    fclose(file);
    return bytes;
}

/* Serve the bytes of a seed from a file in memory. */
static void set_bytes(struct seed *seed, const uint8_t *bytes)
{
    int file = memfd_create("seed", 0);
    if (file < 0 || write(file, bytes, seed->size) != (ssize_t)seed->size)
        fail("no memory file");
    seed->bytes = mmap(NULL, seed->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (seed->bytes == MAP_FAILED)
        fail("no mapping");
    snprintf(seed->core_path, sizeof(seed->core_path), "/proc/self/fd/%d", file);
}

struct seed *seed_load(const char *path)
{
    struct seed *seed = calloc(1, sizeof(*seed));
    uint64_t size;
    uint8_t *bytes = read_file(path, &size), *at = bytes + sizeof(seed->head);
    if (size < sizeof(seed->head) || memcmp(bytes, SEED_MAGIC, sizeof(seed->head.magic)) != 0)
        fail(path);
    memcpy(&seed->head, bytes, sizeof(seed->head));
    seed->runs = (struct seed_run *)(void *)at;
    seed->names = (struct seed_name *)(void *)(seed->runs + seed->head.runs);
    seed->objects = (uint64_t *)(void *)(seed->names + seed->head.names);
    seed->threads = (struct seed_thread *)(void *)(seed->objects + seed->head.objects);
    at = (uint8_t *)(seed->threads + seed->head.threads);
    seed->offsets = calloc(seed->head.runs + 1, sizeof(*seed->offsets));
    for (uint64_t i = 0; i < seed->head.runs; i++) {
        if (i > 0 && seed->runs[i].address < seed->runs[i - 1].address + seed->runs[i - 1].size)
            fail(path);
        seed->offsets[i] = seed->size;
        seed->size += seed->runs[i].size;
    }
    if (seed->size != size - (uint64_t)(at - bytes))
        fail(path);
    set_bytes(seed, at);
    return seed;
}

NOT_LIBRARY_END
