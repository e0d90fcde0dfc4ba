/*
 * Fuzzing whole sessions over memory that was real and is now damaged.
 *
 * An input chooses a seed (directory PYASYNC_SEEDS, see image.h), how it is served, a few requests, and a list of mutations of objects
 * that the library reads. The mutations are undone afterwards, so that an execution costs what the library reads and no more. Whatever the
 * damage: no crash, no endless work, bounded memory, and output that is clean.
 */
#include "seed.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

NOT_LIBRARY

#include "../unit/wellformed.h"

#define MAX_MEMORY    (512u << 20)
#define OBJECT_WORDS  32u
#define MAX_MUTATIONS 64u
#define MAX_UNDO      65536u
#define MAX_SEEDS     64u
#define SLOTS         256u
#define BIG           1200u /* objects of a seed */

static struct seed *seeds[MAX_SEEDS];
static uint32_t seed_count;
static uint8_t slots[SLOTS]; /* which seed a byte of the input chooses */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_image(const struct dirent *entry)
{
    return strstr(entry->d_name, ".image") != NULL;
}

/* Work on a seed goes with what there is in it. Each gets about the same time: those with little in them are chosen more often. */
static void share_slots(void)
{
    double total = 0, filled = 0;
    for (uint32_t i = 0; i < seed_count; i++)
        total += 1.0 / (double)seeds[i]->head.objects;
    for (uint32_t i = 0, slot = 0; i < seed_count; i++) {
        filled += 1.0 / (double)seeds[i]->head.objects;
        for (uint32_t end = (uint32_t)(filled / total * (SLOTS - seed_count)) + i + 1; slot < end && slot < SLOTS; slot++)
            slots[slot] = (uint8_t)i;
    }
}

/* With the arguments "trim" and a directory: make its images into seeds. Else PYASYNC_SEEDS names the directory of seeds. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    bool trims = *argc == 3 && strcmp((*argv)[1], "trim") == 0;
    const char *directory = trims ? (*argv)[2] : getenv("PYASYNC_SEEDS");
    struct dirent **entries;
    int count = directory ? scandir(directory, &entries, is_image, alphasort) : -1;
    if (count <= 0)
        fail("PYASYNC_SEEDS names no directory with images");
    for (int i = 0; i < count && seed_count < MAX_SEEDS; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
        if (trims)
            seed_trim(path);
        else
            seeds[seed_count++] = seed_load(path);
    }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    if (trims)
        _Exit(0); /* without a search for leaks */
    share_slots();
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
    uint32_t choice = next_u16(input), count = (uint32_t)run.seed->head.objects;
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
    uint8_t *at = seed_find(run.seed, address, &there);
    return at && there >= 8 ? at : NULL;
}

static void zero_page(uint64_t address)
{
    uint64_t there;
    uint8_t *at = seed_find(run.seed, address & ~4095ull, &there);
    for (uint64_t offset = 0; at && offset + 8 <= there && offset < 4096; offset += 8)
        put(at + offset, 0);
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
    request.flags |= run.native % 2 ? PA_REQUEST_NATIVE : 0;
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

/*
 * The fuzzer comes to prefer inputs that reach much, which are those of the big seeds, and then tries a third of what it could. So seven of
 * eight of their inputs get a small one, whatever they are.
 */
static struct seed *choose_seed(uint8_t byte, const uint8_t *data, size_t size)
{
    uint32_t chosen = slots[byte], sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + data[i];
    for (uint32_t i = 0; i < seed_count && sum % 8 != 0 && seeds[chosen]->head.objects > BIG; i++)
        chosen = (sum / 8 + i) % seed_count;
    return seeds[chosen];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct pa_session *session;
    uint8_t mode = next_u8(&input), requests = next_u8(&input);
    serve(choose_seed(next_u8(&input), data, size), requests & 0xc); /* a core is mapped, of a process blocks are copied */
    run.listed = (requests & 0x70) == 0;                             /* what is listed may be searched as a whole, which is slow */
    run.files = requests & 0x30;
    uint8_t found = next_u8(&input);
    run.sections = found % 32 != 0; /* without them memory is searched, which is slow */
    run.symbols = mode & 0x80;
    run.member_offset = found % 2 ? (int64_t)next_u8(&input) - 1 : -1;
    run.native = found & 0x80 ? next_u16(&input) : 0;
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

NOT_LIBRARY_END
