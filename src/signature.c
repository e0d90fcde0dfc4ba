/* A name for a crash. See report.h. */
#include "report.h"

#include "instance.h"
#include "limits.h"

#include <stdio.h>

/* FNV-1a, which has no seed: equal everywhere and for ever. */
#define FNV_BASIS 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * FNV_PRIME;
    return hash * FNV_PRIME; /* as of a NUL behind it */
}

/* The entries of sys.path, a text each. */
struct search_path {
    PA_ARRAY(struct pa_text) entries;
    struct pa_arena text;
};

static void read_search_path(struct pa_graph *graph, struct search_path *path)
{
    char text[4 * PA_MAX_ARGUMENT];
    uint64_t list, items, count, item, left;
    uint32_t length;
    if (!pa_module_attribute(graph->objects, "sys", "path", &list) || !pa_sequence(graph->objects, list, &items, &count))
        return;
    for (uint64_t i = 0; i < count && i < PA_MAX_ARGUMENTS && pa_work_step(graph->work); i++) {
        if (!pa_memory_u64(graph->memory, items + 8 * i, &item) ||
            !pa_str_read_some(graph->objects, item, PA_MAX_ARGUMENT, text, &length, &left) || left > 0)
            continue;
        struct pa_text *slot = pa_array_push(graph->work, &path->entries, PA_MAX_ARGUMENTS);
        if (slot)
            *slot = pa_arena_add(graph->work, &path->text, text, length);
    }
}

/* How much of a file's name to leave out: the longest entry of sys.path that it is below; else all but its last component. */
static uint32_t skip_of(const struct search_path *path, const char *file, uint32_t length)
{
    uint32_t longest = 0;
    for (uint32_t i = 0; i < path->entries.count; i++) {
        struct pa_text entry = path->entries.items[i];
        if (entry.length > longest && entry.length < length && file[entry.length] == '/' &&
            memcmp(pa_arena_text(&path->text, entry), file, entry.length) == 0)
            longest = entry.length;
    }
    const char *slash = longest == 0 && length > 0 ? memrchr(file, '/', length) : NULL;
    return longest ? longest + 1 : slash ? (uint32_t)(slash - file) + 1 : 0;
}

static bool is_met(const uint32_t *frames, uint32_t count, uint32_t code)
{
    for (uint32_t i = 0; i < count; i++) {
        if (frames[i] == code)
            return true;
    }
    return false;
}

/* Each function once, innermost first: how deep a recursion went is chance. More than these tell nothing more. */
#define MAX_FUNCTIONS 256u

static uint64_t hash_frames(const struct pa_report *report, uint64_t hash, uint32_t first, uint32_t end)
{
    const struct pa_graph *graph = report->graph;
    const struct pa_arena *text = &graph->objects->text;
    struct search_path path = {0};
    uint32_t codes[MAX_FUNCTIONS], count = 0;
    read_search_path(report->graph, &path);
    for (uint32_t i = first; i < end && count < MAX_FUNCTIONS; i++) {
        const struct pa_frame *frame = &graph->codes->frames.items[graph->thread_frames.items[i].frame];
        uint32_t code = (uint32_t)(frame->key >> 32);
        if (!pa_work_step(graph->work) || is_met(codes, count, code))
            continue;
        codes[count++] = code;
        const char *file = pa_arena_text(text, frame->file);
        uint32_t skip = skip_of(&path, file, frame->file.length);
        hash = hash_bytes(hash, pa_arena_text(text, frame->function), frame->function.length);
        hash = hash_bytes(hash, file + skip, frame->file.length - skip);
    }
    pa_array_free(graph->work, &path.entries);
    pa_arena_free(graph->work, &path.text);
    return hash;
}

/* "crash" of crash.cpython-315-x86_64-linux-gnu.so, "libpq" of libpq.so.5.17: what follows differs from host to host. */
static uint64_t hash_object(struct pa_report *report, uint64_t hash)
{
    const struct pa_native *native = pa_natives_get(&report->natives, report->graph, report->number);
    for (uint32_t i = 0; native && i < native->frames.count; i++) {
        struct pa_text object = pa_native_object(native, i);
        const char *name = pa_arena_text(&native->text, object);
        if (!pa_native_is_foreign(native, i))
            continue;
        const char *dot = memchr(name, '.', object.length);
        return hash_bytes(hash, name, dot ? (size_t)(dot - name) : object.length);
    }
    return hash;
}

void pa_report_sign(struct pa_report *report)
{
    const struct pa_graph *graph = report->graph;
    const char *signal = graph->work->target->signal ? graph->work->target->signal : "";
    const struct pa_executing *task = pa_report_task(report);
    uint64_t hash = hash_bytes(FNV_BASIS, signal, strlen(signal));
    if (task)
        hash = hash_frames(report, hash, task->first, task->last + 1);
    for (uint32_t i = 0; !task && report->number != 0 && i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        if (thread->number == report->number)
            hash = hash_frames(report, hash, thread->first_frame, thread->first_frame + thread->frame_count);
    }
    snprintf(report->signature, sizeof(report->signature), "s1:%016llx", (unsigned long long)hash_object(report, hash));
}
