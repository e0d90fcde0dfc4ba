/* Making an image into a seed. See seed.h. */
#include "seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

NOT_LIBRARY

#define MAX_OBJECTS  16384u
#define MAX_THREADS  8u
#define OBJECT_WORDS 32u

static void add_object(struct seed *seed, uint64_t address)
{
    uint64_t there;
    address &= ~7ull;
    if (seed->head.objects == MAX_OBJECTS || !seed_find(seed, address, &there) || there < 8)
        return;
    for (uint64_t i = 0; i < seed->head.objects; i++) {
        if (seed->objects[i] == address)
            return;
    }
    seed->objects[seed->head.objects++] = address;
}

/* What the words of the objects from @p first on point to. */
static void add_referred(struct seed *seed, uint64_t first)
{
    uint64_t end = seed->head.objects;
    for (uint64_t i = first; i < end; i++) {
        for (uint32_t k = 0; k < OBJECT_WORDS; k++) {
            uint64_t there, word;
            const uint8_t *bytes = seed_find(seed, seed->objects[i] + 8 * k, &there);
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
    run.sections = run.symbols = run.files = true;
    run.member_offset = -1;
    if (pa_session_create(&target, &session) != PA_OK || pa_session_run(session, &request) != PA_OK)
        fail(session ? pa_session_error(session) : "no session");
    const struct pa_graph *graph = &session->graph;
    for (uint32_t i = 0; i < graph->problems.count; i++)
        fprintf(stderr, "%s 0x%llx: %s\n", graph->problems.items[i].what, (unsigned long long)graph->problems.items[i].address,
                graph->problems.items[i].why);
    if (graph->problem_count > 0 || graph->task_count + graph->greenlets.count == 0)
        fail("a seed is damaged from the start");
    fprintf(stderr, "%u tasks, %u greenlets: ", graph->task_count, graph->greenlets.count);
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        add_object(seed, thread->address);
        add_object(seed, thread->address + PA_OFFSET(graph->layout, thread_impl_running_loop));
        add_object(seed, thread->address + PA_OFFSET(graph->layout, thread_impl_asyncio_tasks_head));
        if (seed->head.threads < MAX_THREADS)
            seed->threads[seed->head.threads++] = (struct seed_thread){thread->native_id, thread->pthread_id};
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
    uint64_t direct = seed->head.objects;
    for (uint32_t i = 0; i < graph->objects->types.count; i++)
        add_object(seed, graph->objects->types.items[i].address);
    add_object(seed, session->found.runtime);
    add_object(seed, session->found.asyncio);
    pa_session_destroy(session);
    add_referred(seed, 0);
    add_referred(seed, direct); /* what a coroutine awaits, the characters of names, the tables of sets */
}

/* Mark the pages that any request reads. */
static void touch(struct seed *seed, uint8_t *touched)
{
    for (uint32_t n = 0; n < 48; n++) {
        struct pa_request request = {.command = n % 6, .format = n / 6 % 2, .flags = PA_REQUEST_ALL, .thread = PA_THREAD_DEFAULT};
        request.flags |= PA_REQUEST_LOCALS | PA_REQUEST_CONTEXT | PA_REQUEST_INSTRUMENTATION;
        struct pa_session *session;
        serve(seed, false);
        run.sections = run.listed = true;
        run.symbols = n / 12 % 2;
        run.files = n / 24;
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

/* The pages that are read: searches of the rest would only take time. */
static void choose_pages(struct seed *seed, struct seed_run *runs, uint64_t *count, uint8_t *bytes, uint64_t *size)
{
    uint64_t pages = seed->size / PAGE + 1, page = 0;
    uint8_t *touched = calloc(1, pages);
    touch(seed, touched);
    for (uint64_t i = 0; i < seed->head.runs; i++) {
        uint64_t first = page, end = page + seed->runs[i].size / PAGE;
        for (; page < end; page++) {
            uint64_t address = seed->runs[i].address + (page - first) * PAGE;
            if (!touched[page])
                continue;
            if (*count == 0 || runs[*count - 1].address + runs[*count - 1].size != address)
                runs[(*count)++] = (struct seed_run){address, 0, seed->runs[i].flags};
            runs[*count - 1].size += PAGE;
            memcpy(bytes + *size, seed->bytes + page * PAGE, PAGE);
            *size += PAGE;
        }
    }
    free(touched);
}

static void save(const char *path, const struct seed *seed, const uint8_t *bytes, uint64_t size)
{
    const struct seed_head *head = &seed->head;
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(head, sizeof(*head), 1, file) != 1 ||
        fwrite(seed->runs, sizeof(*seed->runs), head->runs, file) != head->runs ||
        fwrite(seed->names, sizeof(*seed->names), head->names, file) != head->names ||
        fwrite(seed->objects, sizeof(*seed->objects), head->objects, file) != head->objects ||
        fwrite(seed->threads, sizeof(*seed->threads), head->threads, file) != head->threads ||
        fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        fail(path);
}

void seed_trim(const char *path)
{
    struct seed *seed = seed_load(path);
    uint64_t count = 0, size = 0;
    uint8_t *bytes = malloc(seed->size);
    struct seed_run *runs = calloc(seed->size / PAGE + 1, sizeof(*runs));
    if (seed->head.objects > 0)
        return; /* it is one already */
    seed->objects = calloc(MAX_OBJECTS, sizeof(*seed->objects));
    seed->threads = calloc(MAX_THREADS, sizeof(*seed->threads));
    choose_pages(seed, runs, &count, bytes, &size);
    find_objects(seed);
    seed->runs = runs;
    seed->head.runs = count;
    save(path, seed, bytes, size);
    fprintf(stderr, "%llu objects in %llu pages: %s\n", (unsigned long long)seed->head.objects, (unsigned long long)size / PAGE,
            path);
}

NOT_LIBRARY_END
