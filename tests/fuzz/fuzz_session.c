/*
 * Fuzzing whole sessions over memory that was real and is now damaged.
 *
 * An input chooses a seed image (directory PYASYNC_SEEDS, see image.h), how it is served, a few requests, and a list of mutations of objects
 * that the library reads. The mutations are undone afterwards, so that an execution costs what the library reads and no more. Whatever the
 * damage: no crash, no endless work, bounded memory, and output that is clean.
 */
#include "image.h"

#include "session.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Only the library's own branches are to guide the fuzzer; counting them costs time too. */
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)

#include "../unit/wellformed.h"

/* Work that no request on an image of a few MB needs: poll() is called every 20 ms of it. Sanitizers take a factor of five. */
#define MAX_POLLS     500u
#define PAGE          4096u
#define NEIGHBOURS    2u /* pages kept beside those that are read */
#define MAX_OUTPUT    (256u << 20)
#define MAX_MEMORY    (512u << 20)
#define MAX_OBJECTS   16384u
#define OBJECT_WORDS  32u
#define MAX_MUTATIONS 64u
#define MAX_UNDO      65536u

struct seed {
    uint64_t run_count, name_count;
    struct seed_run *runs;
    struct seed_name *names;
    uint8_t *bytes; /* shared mapping of the memory file that serves as core */
    uint64_t size;
    char core_path[32];
    uint64_t objects[MAX_OBJECTS]; /* what the library reads, and what these refer to */
    uint32_t object_count;
    struct pa_thread_info threads[8];
    uint32_t thread_count;
};

static struct seed *seeds[16];
static uint32_t seed_count;

/* The execution at hand. */
static struct {
    struct seed *seed;
    bool core, sections, symbols;
    uint64_t calls, abort_at;
    uint32_t polls;
    int64_t member_offset;
    uint8_t *touched; /* by page of the seed: it was read; NULL: not of interest */
    char *output;
    size_t output_length;
} run;

__attribute__((noreturn)) static void fail(const char *why)
{
    fprintf(stderr, "fuzz_session: %s\n", why);
    abort();
}

/* ---- target ---- */

static bool count_call(void)
{
    return ++run.calls != run.abort_at;
}

/* The bytes at an address and how many there are; NULL if none. */
static uint8_t *find_bytes(const struct seed *seed, uint64_t address, uint64_t *there)
{
    uint64_t offset = 0;
    for (uint64_t i = 0; i < seed->run_count; i++) {
        uint64_t inside = address - seed->runs[i].address;
        if (inside < seed->runs[i].size) {
            *there = seed->runs[i].size - inside;
            return seed->bytes + offset + inside;
        }
        offset += seed->runs[i].size;
    }
    return NULL;
}

static int32_t target_read(uint64_t address, uint64_t length, void *buffer)
{
    if (!count_call())
        return PA_ABORTED;
    /* What does not get a whole block asks for its pages. */
    if (run.touched && length > PAGE)
        return PA_UNREADABLE;
    for (uint64_t done = 0, there; done < length; done += there) {
        const uint8_t *bytes = find_bytes(run.seed, address + done, &there);
        if (!bytes)
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
    for (uint64_t i = 0; run.sections && i < run.seed->name_count; i++) {
        if (strcmp(run.seed->names[i].name, name) == 0 && (uint64_t)count < capacity)
            addresses[count++] = run.seed->names[i].address;
    }
    return count;
}

static int32_t target_symbol(const char *name, uint64_t *address)
{
    if (!count_call())
        return PA_ABORTED;
    for (uint64_t i = 0; run.symbols && i < run.seed->name_count; i++) {
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

static int64_t target_ranges(struct pa_range *ranges, uint64_t capacity)
{
    const struct seed *seed = run.seed;
    uint64_t offset = 0;
    if (!count_call())
        return -2;
    for (uint64_t i = 0; i < seed->run_count; i++) {
        uint64_t end = seed->runs[i].address + seed->runs[i].size;
        uint32_t flags = (uint32_t)seed->runs[i].flags | (run.core ? PA_RANGE_IN_CORE : 0);
        if (i < capacity)
            ranges[i] = (struct pa_range){.start = seed->runs[i].address, .end = end, .file_offset = offset, .flags = flags};
        offset += seed->runs[i].size;
    }
    return (int64_t)seed->run_count;
}

static int64_t target_threads(struct pa_thread_info *threads, uint64_t capacity)
{
    if (!count_call())
        return -2;
    for (uint32_t i = 0; i < run.seed->thread_count && i < capacity; i++)
        threads[i] = run.seed->threads[i];
    return run.seed->thread_count;
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

static struct pa_target target = {
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

static void serve(struct seed *seed, bool core)
{
    run.seed = seed;
    run.core = core;
    target.flags = core ? PA_TARGET_CORE : PA_TARGET_LIVE;
    target.core_path = core ? seed->core_path : NULL;
    target.core_name = core ? "core" : NULL;
    run.calls = run.abort_at = run.polls = 0;
    run.output_length = 0;
}

/* ---- seeds ---- */

static void add_object(struct seed *seed, uint64_t address)
{
    uint64_t there;
    address &= ~7ull;
    if (seed->object_count == MAX_OBJECTS || !find_bytes(seed, address, &there) || there < 8)
        return;
    for (uint32_t i = 0; i < seed->object_count; i++) {
        if (seed->objects[i] == address)
            return;
    }
    seed->objects[seed->object_count++] = address;
}

/* What the words of the objects from @p first on point to. */
static void add_referred(struct seed *seed, uint32_t first)
{
    uint32_t end = seed->object_count;
    for (uint32_t i = first; i < end; i++) {
        for (uint32_t k = 0; k < OBJECT_WORDS; k++) {
            uint64_t there, word;
            const uint8_t *bytes = find_bytes(seed, seed->objects[i] + 8 * k, &there);
            if (!bytes || there < 8)
                break;
            memcpy(&word, bytes, sizeof(word));
            add_object(seed, word);
        }
    }
}

/* Everything that the library itself finds in the seed. */
static void find_objects(struct seed *seed)
{
    static const struct pa_request request = {.command = PA_COMMAND_TASKS, .format = PA_FORMAT_JSON, .thread = PA_THREAD_DEFAULT};
    struct pa_session *session;
    serve(seed, true);
    run.sections = run.symbols = true;
    run.member_offset = -1;
    if (pa_session_create(&target, &session) != PA_OK || pa_session_run(session, &request) != PA_OK)
        fail(session ? pa_session_error(session) : "no session");
    const struct pa_graph *graph = &session->graph;
    for (uint32_t i = 0; i < graph->problems.count; i++)
        fprintf(stderr, "%s 0x%llx: %s\n", graph->problems.items[i].what, (unsigned long long)graph->problems.items[i].address,
                graph->problems.items[i].why);
    if (graph->problem_count > 0 || graph->task_count < 10)
        fail("a seed is damaged from the start");
    fprintf(stderr, "%u tasks, %u greenlets: ", graph->task_count, graph->greenlets.count);
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        add_object(seed, thread->address);
        add_object(seed, thread->address + PA_OFFSET(graph->layout, thread_impl_running_loop));
        add_object(seed, thread->address + PA_OFFSET(graph->layout, thread_impl_asyncio_tasks_head));
        if (seed->thread_count < 8)
            seed->threads[seed->thread_count++] = (struct pa_thread_info){.number = i + 1,
                                                                          .selected = i == 0,
                                                                          .lwp = (int64_t)thread->native_id,
                                                                          .pthread_id = thread->pthread_id,
                                                                          .name = "\xff\x1b"};
    }
    for (uint32_t i = 0; i < graph->interpreters.count; i++) {
        add_object(seed, graph->interpreters.items[i].address + PA_OFFSET(graph->layout, interpreter_next));
        add_object(seed, graph->interpreters.items[i].address + PA_OFFSET(graph->layout, interpreter_threads_head));
        add_object(seed, graph->interpreters.items[i].address + PA_OFFSET(graph->layout, interpreter_asyncio_tasks_head));
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        add_object(seed, graph->nodes.items[i].address);
    for (uint32_t i = 0; i < graph->thread_frames.count; i++)
        add_object(seed, graph->thread_frames.items[i].object);
    for (uint32_t i = 0; i < graph->greenlets.count; i++) {
        add_object(seed, graph->greenlets.items[i].address);
        add_object(seed, graph->greenlets.items[i].impl);
    }
    for (uint32_t i = 0; i < graph->greenlet_frames.count; i++)
        add_object(seed, graph->greenlet_frames.items[i].object);
    for (uint32_t i = 0; i < graph->codes->codes.count; i++) {
        add_object(seed, graph->codes->codes.items[i].address);
        add_object(seed, graph->codes->codes.items[i].linetable);
    }
    uint32_t direct = seed->object_count;
    for (uint32_t i = 0; i < graph->objects->types.count; i++)
        add_object(seed, graph->objects->types.items[i].address);
    add_object(seed, session->found.runtime);
    add_object(seed, session->found.asyncio);
    pa_session_destroy(session);
    add_referred(seed, 0);
    add_referred(seed, direct); /* what a coroutine awaits, the characters of names, the tables of sets */
}

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
static void set_bytes(struct seed *seed, const uint8_t *bytes, uint64_t size)
{
    int file = memfd_create("seed", 0);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        fail("no memory file");
    seed->size = size;
    seed->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (seed->bytes == MAP_FAILED)
        fail("no mapping");
    snprintf(seed->core_path, sizeof(seed->core_path), "/proc/self/fd/%d", file);
}

/* Mark the pages that any request reads. */
static void touch(struct seed *seed, uint8_t *touched)
{
    for (uint32_t n = 0; n < 24; n++) {
        struct pa_request request = {.command = n % 6, .format = n / 6 % 2, .flags = PA_REQUEST_ALL, .thread = PA_THREAD_DEFAULT};
        request.flags |= PA_REQUEST_LOCALS | PA_REQUEST_CONTEXT | PA_REQUEST_INSTRUMENTATION;
        struct pa_session *session;
        serve(seed, false);
        run.sections = true;
        run.symbols = n < 12;
        run.member_offset = -1;
        run.touched = touched;
        enum pa_status status = pa_session_create(&target, &session);
        if (status == PA_OK)
            status = pa_session_run(session, &request);
        bool no_greenlets = status == PA_FAILED && request.command == PA_COMMAND_GREENLETS; /* images made by hand have none */
        if (status != PA_OK && !no_greenlets)
            fail(session ? pa_session_error(session) : "no session");
        pa_session_destroy(session);
    }
    run.touched = NULL;
}

/* Keep the pages that are read and their neighbours: copies, mappings and searches of the rest would only take time. */
static void trim(struct seed *seed)
{
    uint64_t pages = seed->size / PAGE + 1, page = 0, kept = 0, count = 0;
    uint8_t *touched = calloc(1, pages), *bytes = malloc(seed->size);
    struct seed_run *runs = calloc(pages, sizeof(*runs));
    touch(seed, touched);
    for (uint64_t i = 0; i < seed->run_count; i++) {
        uint64_t first = page, end = page + seed->runs[i].size / PAGE;
        for (; page < end; page++) {
            bool near = false;
            for (uint64_t k = page < first + NEIGHBOURS ? first : page - NEIGHBOURS; k < end && k <= page + NEIGHBOURS; k++)
                near = near || touched[k];
            uint64_t address = seed->runs[i].address + (page - first) * PAGE;
            if (!near)
                continue;
            if (count == 0 || runs[count - 1].address + runs[count - 1].size != address)
                runs[count++] = (struct seed_run){address, 0, seed->runs[i].flags};
            runs[count - 1].size += PAGE;
            memcpy(bytes + kept, seed->bytes + page * PAGE, PAGE);
            kept += PAGE;
        }
    }
    munmap(seed->bytes, seed->size);
    set_bytes(seed, bytes, kept);
    seed->runs = runs;
    seed->run_count = count;
    free(touched);
    free(bytes);
}

static void load_seed(const char *path)
{
    struct seed *seed = calloc(1, sizeof(*seed));
    uint64_t size;
    uint8_t *bytes = read_file(path, &size);
    if (size < 24 || memcmp(bytes, SEED_MAGIC, 8) != 0)
        fail(path);
    memcpy(&seed->run_count, bytes + 8, 8);
    memcpy(&seed->name_count, bytes + 16, 8);
    seed->runs = (struct seed_run *)(void *)(bytes + 24);
    seed->names = (struct seed_name *)(void *)(seed->runs + seed->run_count);
    const uint8_t *data = (const uint8_t *)(seed->names + seed->name_count);
    set_bytes(seed, data, size - (uint64_t)(data - bytes));
    seeds[seed_count++] = seed;
    trim(seed);
    find_objects(seed);
    fprintf(stderr, "%s: %u objects in %llu runs of %llu bytes\n", path, seed->object_count, (unsigned long long)seed->run_count,
            (unsigned long long)seed->size);
}

static int is_image(const struct dirent *entry)
{
    return strstr(entry->d_name, ".image") != NULL;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    const char *directory = getenv("PYASYNC_SEEDS");
    struct dirent **entries;
    int count = directory ? scandir(directory, &entries, is_image, alphasort) : -1;
    if (count <= 0)
        fail("PYASYNC_SEEDS names no directory with images");
    run.output = malloc(MAX_OUTPUT);
    for (int i = 0; i < count && seed_count < 16; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
        load_seed(path);
    }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return 0;
}

/* ---- input ---- */

struct input {
    const uint8_t *bytes;
    size_t left;
};

static uint8_t next_u8(struct input *input)
{
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->bytes++;
}

static uint32_t next_u16(struct input *input)
{
    uint32_t low = next_u8(input);
    return low | (uint32_t)next_u8(input) << 8;
}

static uint64_t next_u64(struct input *input)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)next_u8(input) << 8 * i;
    return value;
}

/* An object: those that the library reads first come more often. */
static uint64_t next_object(struct input *input)
{
    uint32_t choice = next_u16(input), count = run.seed->object_count;
    return run.seed->objects[(choice & 0x8000 ? choice & 0x7fff : choice & 0xff) % count];
}

/* ---- mutations ---- */

static struct {
    uint8_t *at;
    uint64_t old;
} undo[MAX_UNDO];
static uint32_t undo_count;

static uint64_t get(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

static void put(uint8_t *at, uint64_t word)
{
    if (undo_count == MAX_UNDO)
        return;
    undo[undo_count].at = at;
    undo[undo_count++].old = get(at);
    memcpy(at, &word, sizeof(word));
}

static void undo_all(void)
{
    while (undo_count > 0) {
        undo_count--;
        memcpy(undo[undo_count].at, &undo[undo_count].old, sizeof(uint64_t));
    }
}

/* The word at @p address, or NULL. */
static uint8_t *word_at(uint64_t address)
{
    uint64_t there;
    uint8_t *at = find_bytes(run.seed, address, &there);
    return at && there >= 8 ? at : NULL;
}

static void zero_page(uint64_t address)
{
    for (uint64_t offset = 0; offset < 4096; offset += 8) {
        uint8_t *at = word_at((address & ~4095ull) + offset);
        if (at)
            put(at, 0);
    }
}

static void copy_object(uint64_t from, uint64_t to)
{
    for (uint64_t offset = 0; offset < 64; offset += 8) {
        uint8_t *source = word_at(from + offset), *at = word_at(to + offset);
        if (source && at)
            put(at, get(source));
    }
}

static void mutate(struct input *input)
{
    static const uint64_t absurd[] = {1ull << 32,           INT64_MAX,  UINT64_MAX, 1ull << 20, 255,        65536,
                                      UINT64_MAX - 7,       1ull << 63, 0x3fffff,   4096,       UINT32_MAX, (1ull << 26) - 1,
                                      (1ull << 26) * 2 - 1, 1ull << 28, 7,          1};
    uint64_t object = next_object(input), address = object + 8 * (uint64_t)(next_u8(input) % OBJECT_WORDS);
    uint8_t operation = next_u8(input) % 12, value = next_u8(input);
    uint8_t *at = word_at(address);
    if (!at)
        return;
    uint8_t *other;
    switch (operation) {
    case 0:
        put(at, get(at) ^ 1ull << (value & 63));
        break;
    case 1:
        put(at, 0);
        break;
    case 2:
        put(at, absurd[value % (sizeof(absurd) / sizeof(*absurd))]);
        break;
    case 3:
        put(at, next_object(input) + (value & 0x80 ? (value & 0x7f) * 8u : 0));
        break;
    case 4:
        put(at, address + 8 * (uint64_t)(int64_t)(int8_t)value);
        break;
    case 5:
        put(at, get(at) + 8 * (uint64_t)(int64_t)(int8_t)value);
        break;
    case 6:
        put(at, get(at) + (uint64_t)(int64_t)(int8_t)value);
        break;
    case 7:
        zero_page(address);
        break;
    case 8:
        other = word_at(next_object(input) + 8 * (uint64_t)(value % OBJECT_WORDS));
        if (other) {
            uint64_t word = get(other);
            put(other, get(at));
            put(at, word);
        }
        break;
    case 9:
        copy_object(next_object(input), object);
        break;
    case 10:
        put(at, (get(at) & ~(0xffull << 8 * (value & 7))) | (uint64_t)next_u8(input) << 8 * (value & 7));
        break;
    default:
        put(at, next_u64(input));
        break;
    }
}

/* ---- requests ---- */

static void check_answer(const struct pa_session *session, const struct pa_request *request, enum pa_status status)
{
    const char *error = pa_session_error(session);
    if (status == PA_ABORTED && run.abort_at == 0)
        fail("aborted although nobody asked for it");
    if (status == PA_UNREADABLE || status > PA_FAILED)
        fail("no such status");
    if (status == PA_FAILED && (*error == '\0' || strchr(error, '\n') || first_bad_byte(error, strlen(error)) != strlen(error)))
        fail("the error is no clean line");
    if (status == PA_OK && run.output_length == 0 &&
        !(request->flags & PA_REQUEST_COMPAT)) /* asyncio's form of no tasks is nothing */
        fail("no output");
    if (status == PA_OK && request->format == PA_FORMAT_JSON && !is_json(run.output, run.output_length))
        fail("the output is no JSON");
    if (session->work.peak > MAX_MEMORY)
        fail("too much memory");
}

static void run_request(struct pa_session *session, struct input *input)
{
    static const char *const texts[] = {"*",       "Task-*",        "[", "\xff\x1b\n", "", "shared",
                                        "sleeper", "program.py:20", ":", "main.py:15"};
    static const char *const states[] = {"any", "ended", "waiting", "ready", "no such state", "live"};
    uint8_t what = next_u8(input), how = next_u8(input), text = next_u8(input);
    struct pa_operand operand = {.kind = how % 3, .text = texts[(text & 0x3f) % 10]};
    struct pa_request request = {.command = text & 0x80 ? (how & 4 ? PA_COMMAND_REPORT : PA_COMMAND_GREENLETS) : what & 3,
                                 .format = what >> 2 & 1,
                                 .flags = (what >> 3 & 7) | (how & 0xf8) << 1,
                                 .thread = PA_THREAD_DEFAULT};
    request.flags |= text & 0x40 ? PA_REQUEST_INSTRUMENTATION : 0;
    if (what & 0x40) {
        operand.address = next_object(input) + (how & 4 ? next_u8(input) : 0);
        request.operands = &operand;
        request.operand_count = 1;
    }
    if (what & 0x80) {
        uint8_t more = next_u8(input);
        request.flags |= more & 8 ? PA_REQUEST_LOCALS | PA_REQUEST_CONTEXT : 0;
        request.flags |= more & 16 ? PA_REQUEST_STATS : 0;
        if (more & 32 && request.command <= PA_COMMAND_AWAITED_BY)
            request.format = PA_FORMAT_DOT;
        if (more & 64 && operand.kind == PA_OPERAND_ADDRESS) {
            request.command = PA_COMMAND_DESCRIBE;
            request.format = PA_FORMAT_TEXT;
        }
        request.limit = more & 3;
        request.frames = more >> 2 & 3;
        request.depth = more >> 4 & 3;
        request.state = more & 0x40 ? states[next_u8(input) % 6] : NULL;
        request.in = more & 0x80 ? texts[next_u8(input) % 10] : NULL;
    }
    run.polls = 0;
    run.output_length = 0;
    check_answer(session, &request, pa_session_run(session, &request));
}

static void complete(struct pa_session *session)
{
    char buffer[256];
    uint64_t count = pa_session_complete(session, "", buffer, sizeof(buffer));
    const char *name = buffer;
    for (uint64_t i = 0; i < count; i++)
        name += strlen(name) + 1;
    if (name >= buffer + sizeof(buffer))
        fail("completion does not end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct pa_session *session;
    uint8_t mode = next_u8(&input), requests = next_u8(&input);
    serve(seeds[(mode & 0x3f) % seed_count], requests & 0x1c); /* live: its blocks are copied */
    uint8_t found = next_u8(&input);
    run.sections = found % 32 != 0; /* without them memory is searched, which is slow */
    run.symbols = mode & 0x80;
    run.member_offset = found % 2 ? (int64_t)next_u8(&input) - 1 : -1;
    if (requests & 0x80)
        run.abort_at = next_u16(&input);

    const uint8_t *request_bytes = input.bytes;
    size_t request_size = input.left < 12 ? input.left : 12;
    struct input request_input = {request_bytes, request_size};
    input.bytes += request_size;
    input.left -= request_size;
    for (uint32_t i = 0; i < MAX_MUTATIONS && input.left > 0; i++)
        mutate(&input);

    if (pa_session_create(&target, &session) != PA_OK)
        fail("no session");
    session->work.limit = MAX_MEMORY;
    for (uint32_t i = 0; i <= (requests & 3u) / 2; i++) {
        if (mode & 0x40 && found & 0x40 && i == 0)
            complete(session);
        run_request(session, &request_input);
    }
    pa_session_destroy(session);
    undo_all();
    return 0;
}

#pragma clang attribute pop
