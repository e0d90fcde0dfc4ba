/* Finding the runtime and the asyncio table: sections, symbols, then a search of memory. See find.h. */
#include "find.h"

#include "limits.h"

#include <stdio.h>

/* Include/internal/pycore_debug_offsets.h, _Py_Debug_Cookie: "xdebugpy", read as a little-endian word. */
#define COOKIE 0x7970677562656478u

#define MAX_CANDIDATES 64u

/* Places where a table is. */
struct candidates {
    struct pa_memory *memory;
    const struct pa_layout *layout; /* NULL: the runtime is looked for; else the asyncio table */
    uint64_t addresses[MAX_CANDIDATES];
    uint32_t count;
    uint64_t rejected; /* where a section or symbol says, but what stands there is no such table; 0: nowhere */
    const char *how;
};

void pa_version_text(uint32_t hexversion, char *text)
{
    /* Include/patchlevel.h: major, minor, micro, release level (a alpha, b beta, c candidate, f final), serial */
    uint32_t level = hexversion >> 4 & 0xf, serial = hexversion & 0xf;
    int length = snprintf(text, 32, "%u.%u.%u", hexversion >> 24, hexversion >> 16 & 0xff, hexversion >> 8 & 0xff);
    if (level != 0xf)
        snprintf(text + length, 32 - (size_t)length, "%s%u", level == 0xa ? "a" : level == 0xb ? "b" : "rc", serial);
}

static bool has_cookie(struct pa_memory *memory, uint64_t address)
{
    uint64_t word;
    return address % 8 == 0 && pa_memory_u64(memory, address, &word) && word == COOKIE;
}

/* @return false when there is no more room. */
static bool add_candidate(struct candidates *candidates, uint64_t address)
{
    for (uint32_t i = 0; i < candidates->count; i++) {
        if (candidates->addresses[i] == address)
            return true;
    }
    if (candidates->count < MAX_CANDIDATES)
        candidates->addresses[candidates->count++] = address;
    return candidates->count < MAX_CANDIDATES;
}

/*
 * A place that a section or a symbol names. The debugger may have loaded another file than the one that ran. Both tables are writable data,
 * which a core always has: what is not in it comes from a file, and proves nothing.
 */
static void try_named(struct candidates *candidates, uint64_t address)
{
    struct pa_memory *memory = candidates->memory;
    bool there = !memory->map || pa_memory_in_core(memory, address);
    if (there &&
        (candidates->layout ? pa_layout_is_asyncio_table(candidates->layout, memory, address) : has_cookie(memory, address)))
        add_candidate(candidates, address);
    else
        candidates->rejected = address;
}

static void try_sections(struct candidates *candidates, const char *name)
{
    struct pa_work *work = candidates->memory->work;
    uint64_t addresses[MAX_CANDIDATES];
    int64_t count = work->target->sections(name, addresses, MAX_CANDIDATES);
    if (count == -2)
        work->fatal = PA_ABORTED;
    for (int64_t i = 0; i < count && i < MAX_CANDIDATES; i++)
        try_named(candidates, addresses[i]);
}

static void try_symbol(struct candidates *candidates, const char *name)
{
    struct pa_work *work = candidates->memory->work;
    uint64_t address;
    int32_t status = work->target->symbol(name, &address);
    if (status == PA_OK)
        try_named(candidates, address);
    else if (status == PA_ABORTED)
        work->fatal = PA_ABORTED;
}

/* A hit of the search is taken if what follows the cookie can be a version and a flag. */
static bool runtime_hit(void *context, uint64_t address)
{
    struct candidates *candidates = context;
    uint64_t version, free_threaded;
    if (!pa_memory_u64(candidates->memory, address + 8, &version) ||
        !pa_memory_u64(candidates->memory, address + 16, &free_threaded) || version >> 24 != 3 || free_threaded > 1)
        return true;
    return add_candidate(candidates, address);
}

static bool asyncio_hit(void *context, uint64_t address)
{
    struct candidates *candidates = context;
    uint64_t table = address - 8 * PA_ASYNCIO_INTERPRETER_SIZE_SLOT;
    return !pa_layout_is_asyncio_table(candidates->layout, candidates->memory, table) || add_candidate(candidates, table);
}

/*
 * Search memory for a word: mappings of files first, since both tables are initialised data; then, if that gave nothing, all of a
 * core, and all of a live target only when the user asks for it.
 */
static void search(struct candidates *candidates, uint64_t word, pa_scan_hit *hit, bool exhaustive, struct pa_found *found)
{
    struct pa_memory *memory = candidates->memory;
    /* The debugger has the files of another program: what only files have, such as the names of types, is not to be believed. */
    if (candidates->rejected && memory->map)
        memory->core_only = true;
    bool core = memory->work->target->flags & PA_TARGET_CORE;
    found->searched += pa_memory_scan(memory, PA_RANGE_FILE_BACKED | PA_RANGE_WRITABLE, word, hit, candidates);
    if (candidates->count == 0 && (core || exhaustive))
        found->searched += pa_memory_scan(memory, core ? PA_RANGE_IN_CORE : 0, word, hit, candidates);
    /* A core whose ranges are not mapped has them without that flag. */
    if (candidates->count == 0 && core && !memory->map)
        found->searched += pa_memory_scan(memory, 0, word, hit, candidates);
}

/* Python before 3.13 has the section and the symbol, but no debug offsets in it. Py_Version is exported since 3.11. */
static enum pa_status fail_old(struct pa_memory *memory, struct pa_layout *layout, char *error, size_t capacity)
{
    uint64_t address;
    uint32_t hexversion;
    char text[32] = "older than 3.13";
    memory->core_only = false; /* the version is read-only data */
    int32_t status = memory->work->target->symbol("Py_Version", &address);
    if (status == PA_ABORTED)
        return memory->work->fatal = PA_ABORTED;
    if (status == PA_OK && pa_memory_u32(memory, address, &hexversion) && hexversion >> 24 == 3) {
        layout->hexversion = hexversion;
        pa_version_text(hexversion, text);
    }
    return pa_fail(error, capacity,
                   "CPython %s is not supported: it publishes no debug offsets; pyasync reads CPython 3.14 and 3.15", text);
}

static enum pa_status fail_none(const struct pa_found *found, const struct pa_memory *memory, char *error, size_t capacity)
{
    bool live = !(memory->work->target->flags & PA_TARGET_CORE);
    return pa_fail(
        error, capacity,
        "no CPython here: looked for section .PyRuntime and symbol _PyRuntime in every object file, and for the cookie xdebugpy "
        "in %.1f MB of memory; %s",
        (double)found->searched / 1e6,
        live ? "is this the right process? (--exhaustive searches all of its memory)"
             : "is this the right core, and is it complete?");
}

/* Of several runtimes the one with interpreters: a second libpython that is only mapped has none. */
static enum pa_status choose_runtime(struct pa_found *found, struct candidates *candidates, struct pa_layout *layout, char *error,
                                     size_t capacity)
{
    struct pa_memory *memory = candidates->memory;
    uint32_t unsupported = 0;
    bool damaged = false, not_running = false;
    char version[32] = "";
    for (uint32_t i = 0; i < candidates->count; i++) {
        uint64_t address = candidates->addresses[i], head;
        enum pa_status status = pa_layout_read_runtime(layout, memory, address, error, capacity);
        if (status != PA_OK && !layout->version)
            unsupported = layout->hexversion;
        else if (status != PA_OK)
            damaged = true;
        else if (!pa_memory_u64(memory, address + PA_OFFSET(layout, runtime_interpreters_head), &head) || head == 0)
            not_running = true;
        else if (found->runtime == 0)
            found->runtime = address;
        if (layout->hexversion != 0 && (status == PA_OK || !*version))
            pa_version_text(layout->hexversion, version);
    }
    found->runtime_copies = candidates->count;
    if (memory->work->fatal != PA_OK)
        return memory->work->fatal;
    if (found->runtime != 0)
        return pa_layout_read_runtime(layout, memory, found->runtime, error, capacity);
    found->other_runtime = candidates->count > 0 ? candidates->addresses[0] : candidates->rejected;
    if (candidates->count == 0)
        return candidates->rejected ? fail_old(memory, layout, error, capacity) : fail_none(found, memory, error, capacity);
    if (not_running)
        return pa_fail(error, capacity, "CPython %s is here (%s), but has no interpreter: it has not started yet, or is finalised",
                       version, candidates->how);
    if (damaged)
        return PA_FAILED;
    pa_version_text(unsupported, version);
    return pa_fail(error, capacity, "CPython %s is not supported: pyasync has tables for the releases of 3.14 and 3.15", version);
}

enum pa_status pa_find_runtime(struct pa_found *found, struct pa_memory *memory, struct pa_layout *layout, bool exhaustive,
                               char *error, size_t capacity)
{
    struct candidates candidates = {.memory = memory, .how = "section .PyRuntime"};
    *found = (struct pa_found){0};
    try_sections(&candidates, ".PyRuntime");
    if (candidates.count == 0) {
        candidates.how = "symbol _PyRuntime";
        try_symbol(&candidates, "_PyRuntime");
    }
    if (candidates.count == 0) {
        candidates.how = "cookie xdebugpy in memory";
        search(&candidates, COOKIE, runtime_hit, exhaustive, found);
    }
    if (memory->work->fatal != PA_OK)
        return memory->work->fatal;
    found->runtime_how = candidates.how;
    return choose_runtime(found, &candidates, layout, error, capacity);
}

enum pa_status pa_find_asyncio(struct pa_found *found, struct pa_memory *memory, struct pa_layout *layout, bool exhaustive,
                               char *error, size_t capacity)
{
    struct candidates candidates = {.memory = memory, .layout = layout, .how = "section .AsyncioDebug"};
    char version[32];
    try_sections(&candidates, ".AsyncioDebug");
    if (candidates.count == 0) {
        candidates.how = "symbol";
        try_symbol(&candidates, layout->version->asyncio_symbol);
    }
    if (candidates.count == 0) {
        candidates.how = "its content in memory";
        search(&candidates, PA_OFFSET(layout, interpreter_size), asyncio_hit, exhaustive, found);
    }
    if (memory->work->fatal != PA_OK)
        return memory->work->fatal;
    pa_version_text(layout->hexversion, version);
    found->no_asyncio = candidates.count == 0;
    if (candidates.count == 0)
        return pa_fail(
            error, capacity,
            "this CPython %s has not loaded asyncio: no object file has a section .AsyncioDebug, and its table is not in %.1f MB "
            "of memory%s",
            version, (double)found->searched / 1e6,
            memory->work->target->flags & PA_TARGET_CORE ? "" : " (--exhaustive searches all of it)");
    found->asyncio_how = candidates.how;
    found->asyncio_copies = candidates.count;
    /* Copies in a second libpython say the same. */
    enum pa_status status = PA_FAILED;
    for (uint32_t i = 0; i < candidates.count && status != PA_OK; i++) {
        found->asyncio = candidates.addresses[i];
        status = pa_layout_read_asyncio(layout, memory, found->asyncio, error, capacity);
    }
    return status;
}

enum pa_status pa_find(struct pa_found *found, struct pa_memory *memory, struct pa_layout *layout, bool exhaustive, char *error,
                       size_t capacity)
{
    enum pa_status status = pa_find_runtime(found, memory, layout, exhaustive, error, capacity);
    if (status == PA_OK)
        status = pa_find_asyncio(found, memory, layout, exhaustive, error, capacity);
    return memory->work->fatal != PA_OK ? memory->work->fatal : status;
}
