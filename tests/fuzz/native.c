/* What a debugger tells of native code, files and the process, chosen by a number of the input; all of it may be wrong. See seed.h. */
#include "seed.h"

#include <string.h>

NOT_LIBRARY

#define MAX_NATIVE 24u

/* A row of choices, the same for the same number: what is asked twice is told twice. */
static uint32_t choose(uint64_t about, uint32_t count)
{
    uint64_t mixed = (about + run.native) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(mixed >> 33) % count;
}

static const char *text(uint64_t about)
{
    static const char *const texts[] = {"_PyEval_EvalFrameDefault",
                                        "_PyEval_EvalFrameDefault",
                                        "_TAIL_CALL_SEND",
                                        "PyObject_Vectorcall",
                                        "g_switchstack",
                                        "/usr/lib/libpython3.15.so.1.0",
                                        "/lib/x86_64-linux-gnu/libc.so.6",
                                        "/app/\xff\x1b[31m\n",
                                        "--password=hunter2",
                                        "",
                                        "abort",
                                        NULL};
    return texts[choose(about, sizeof(texts) / sizeof(*texts))];
}

static uint64_t object(uint64_t about)
{
    return run.seed->objects[choose(about, (uint32_t)run.seed->head.objects)];
}

/* Stack pointers that mostly grow outward, and often stand where memory is. */
static int64_t native_frames(uint32_t number, struct pa_native_frame *frames, uint64_t capacity, const char **stopped)
{
    uint32_t count = choose(number + 1, MAX_NATIVE + 1);
    if (!count_call())
        return -2;
    if (run.native == 0 || count == MAX_NATIVE)
        return -1;
    uint64_t sp = object(number);
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        uint64_t about = number * 1000u + i * 10u;
        sp = choose(about, 16) == 0 ? UINT64_MAX - choose(about + 1, 64) : sp + choose(about + 1, 512);
        frames[i] = (struct pa_native_frame){.pc = choose(about + 2, 16) ? 0x400000 + choose(about + 3, 4096) : 0,
                                             .sp = sp,
                                             .function = text(about + 4),
                                             .file = text(about + 5),
                                             .line = (int32_t)choose(about + 6, 3) - 1,
                                             .flags = choose(about + 7, 4)};
    }
    *stopped = text(number + 2);
    return count;
}

static int32_t file_at(uint64_t address, char *path, uint64_t capacity)
{
    const char *file = text(address);
    if (!count_call())
        return PA_ABORTED;
    if (run.native == 0 || !file || strlen(file) >= capacity)
        return PA_UNREADABLE;
    strcpy(path, file);
    return PA_OK;
}

static int32_t stop(uint32_t number, struct pa_stop *stop)
{
    if (!count_call())
        return PA_ABORTED;
    *stop = (struct pa_stop){0};
    if (run.native == 0)
        return PA_OK;
    *stop = (struct pa_stop){.has_info = choose(number, 2),
                             .code = (int32_t)choose(number + 1, 12) - 6,
                             .address = object(number + 2),
                             .pid = (int64_t)choose(number + 3, 3) - 1,
                             .uid = choose(number + 4, 2) ? UINT32_MAX : 0,
                             .core_size = choose(number + 5, 3),
                             .core_whole = choose(number + 6, 3)};
    return PA_OK;
}

static int64_t object_files(struct pa_object_file *files, uint64_t capacity)
{
    uint32_t count = choose(7, 5);
    if (!count_call())
        return -2;
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        const char *path = text(100 + i);
        files[i] = (struct pa_object_file){
            .path = path ? path : "", .build_id = text(200 + i), .file_build_id = text(300 + i), .state = choose(400 + i, 3)};
    }
    return count;
}

static int32_t process_state(int64_t pid)
{
    static const int32_t states[] = {'Z', 'R', 'S', '\n', 0, -1};
    return count_call() ? states[choose((uint64_t)pid, sizeof(states) / sizeof(*states))] : -2;
}

/* Some words, the last one without its end or longer than there is room for. */
static int64_t arguments(char *buffer, uint64_t capacity, uint32_t *cut)
{
    uint64_t size = 0;
    if (!count_call())
        return -2;
    for (uint32_t i = 0; i < choose(8, 8); i++) {
        const char *word = text(500 + i);
        uint64_t length = word ? strlen(word) + 1 : 0;
        if (length <= capacity - size)
            memcpy(buffer + size, word ? word : "", length);
        size += length;
    }
    *cut = choose(9, 2);
    if (choose(10, 4) == 0)
        memset(buffer, 'x', capacity);
    return choose(10, 4) == 0 ? (int64_t)capacity + 1 : (int64_t)size - (size > 0 && choose(11, 2));
}

void serve_native(struct pa_target *target)
{
    target->native_frames = native_frames;
    target->file_at = file_at;
    target->stop = stop;
    target->object_files = object_files;
    target->process_state = process_state;
    target->arguments = arguments;
}

NOT_LIBRARY_END
