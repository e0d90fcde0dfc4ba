/* The merged stack of a thread. See native.h. */
#include "native.h"

#include "frame.h"
#include "limits.h"

#include <stdio.h>
#include <stdlib.h>

static bool begins(const struct pa_native *native, uint32_t frame, const char *prefix)
{
    return pa_text_begins(&native->text, native->frames.items[frame].function, prefix);
}

static struct pa_text keep(struct pa_native *native, const char *text)
{
    return text ? pa_arena_add(native->graph->work, &native->text, text, strnlen(text, PA_MAX_STRING)) : pa_no_text;
}

/* The same text as another frame's is kept once: a stack that overflows has ten thousands of them. */
static struct pa_text keep_as(struct pa_native *native, const char *text, struct pa_text other)
{
    return text && pa_text_is(&native->text, other, text) ? other : keep(native, text);
}

static struct pa_text file_at(struct pa_native *native, uint64_t address, struct pa_text other)
{
    const struct pa_target *target = native->graph->work->target;
    char path[4096];
    int32_t status = target->file_at ? target->file_at(address, path, sizeof(path)) : PA_UNREADABLE;
    if (status == PA_ABORTED)
        native->graph->work->fatal = PA_ABORTED;
    path[sizeof(path) - 1] = '\0';
    return status == PA_OK ? keep_as(native, path, other) : pa_no_text;
}

static void add_frame(struct pa_native *native, const struct pa_native_frame *frame)
{
    static const struct pa_native_item none;
    const struct pa_native_item *before = native->frames.count ? &native->frames.items[native->frames.count - 1] : &none;
    struct pa_native_item item = {.pc = frame->pc, .sp = frame->sp, .line = frame->line, .flags = frame->flags};
    item.function = keep_as(native, frame->function, before->function);
    item.file = keep_as(native, frame->file, before->file);
    item.object = file_at(native, frame->pc, before->object);
    struct pa_native_item *slot = pa_array_push(native->graph->work, &native->frames, PA_MAX_NATIVE_FRAMES);
    if (slot)
        *slot = item;
}

static bool unwind(struct pa_native *native)
{
    struct pa_work *work = native->graph->work;
    size_t size = PA_MAX_NATIVE_FRAMES * sizeof(struct pa_native_frame);
    struct pa_native_frame *frames = work->target->native_frames ? pa_work_resize(work, NULL, 0, size) : NULL;
    const char *stopped = NULL;
    int64_t count = frames ? work->target->native_frames(native->number, frames, PA_MAX_NATIVE_FRAMES, &stopped) : -1;
    if (count == -2)
        work->fatal = PA_ABORTED;
    for (int64_t i = 0; i < count && i < PA_MAX_NATIVE_FRAMES && pa_work_step(work); i++)
        add_frame(native, &frames[i]);
    if (count > 0)
        native->stopped = keep(native, stopped);
    pa_work_resize(work, frames, frames ? size : 0, 0);
    return native->frames.count > 0 && work->fatal == PA_OK;
}

static void cut(struct pa_native *native, uint32_t count, const char *why)
{
    native->frames.count = count;
    native->stopped = keep(native, why);
}

/* What the debugger finds outside of code that it has no file of is a guess, and so is what lies deeper in the stack than its caller. */
static void cut_guesses(struct pa_native *native)
{
    for (uint32_t i = 0; i + 1 < native->frames.count; i++) {
        if (native->frames.items[i].flags & PA_NATIVE_GUESS)
            cut(native, i + 1, "there is no file of the code here, which the debugger needs to go on");
        else if (native->frames.items[i + 1].sp < native->frames.items[i].sp)
            cut(native, i + 1, "the stack is damaged here");
    }
}

static const struct pa_thread *thread_numbered(const struct pa_native *native, uint32_t *from)
{
    const struct pa_graph *graph = native->graph;
    for (; *from < graph->threads.count; ++*from) {
        if (graph->threads.items[*from].number == native->number && native->number != 0)
            return &graph->threads.items[(*from)++];
    }
    return NULL;
}

/* The end of the part of the C stack that belongs to the greenlet that runs; 0: all of it. Beyond lies what its starter left there. */
static uint64_t greenlet_end(const struct pa_native *native)
{
    const struct pa_graph *graph = native->graph;
    uint32_t from = 0;
    for (const struct pa_thread *thread; (thread = thread_numbered(native, &from)) != NULL;) {
        uint64_t stop;
        if (thread->greenlet == PA_NONE || graph->greenlets.items[thread->greenlet].is_main)
            continue;
        if (pa_memory_u64(graph->memory,
                          graph->greenlets.items[thread->greenlet].impl + PA_OFFSET(graph->layout, greenlet_impl_stack_stop),
                          &stop))
            return stop;
    }
    return 0;
}

static void cut_greenlet(struct pa_native *native)
{
    uint64_t end = greenlet_end(native);
    for (uint32_t i = 0; end != 0 && i < native->frames.count; i++) {
        if (native->frames.items[i].sp >= end)
            cut(native, i, "here the greenlet began; the C stack of the one that it returns to is not whole");
    }
}

/* Whether an address lies in the part of the C stack that was unwound. */
static bool is_unwound(const struct pa_native *native, uint64_t address)
{
    uint32_t count = native->frames.count;
    return count > 0 && native->frames.items[0].sp <= address && address < native->frames.items[count - 1].sp;
}

static void add_entry(struct pa_native *native, uint64_t address, uint32_t first, uint32_t count)
{
    /* The outermost frame of all is no loop's, but the thread state's own: base_frame. */
    if (count == 0 && !is_unwound(native, address))
        return;
    struct pa_loop_entry *slot = pa_array_push(native->graph->work, &native->entries, 2 * PA_MAX_STACK_DEPTH);
    if (slot)
        *slot = (struct pa_loop_entry){address, first, count};
}

/* The frames of a thread state again, as pa_read_frames() went through them: this time for those of the interpreter's own. */
static void find_entries(struct pa_native *native, const struct pa_thread *thread)
{
    struct pa_graph *graph = native->graph;
    uint32_t first = thread->first_frame, next = first, end = first + thread->own_frames;
    uint64_t address;
    if (!pa_memory_u64(graph->memory, thread->address + PA_OFFSET(graph->layout, thread_current_frame), &address))
        return;
    for (uint32_t step = 0; address != 0 && step < 2 * PA_MAX_STACK_DEPTH && pa_work_step(graph->work); step++) {
        struct pa_iframe iframe;
        if (!pa_iframe_read(graph->codes, address, &iframe))
            break;
        if (iframe.owner >= graph->layout->version->owner_interpreter) {
            add_entry(native, address, first, next - first);
            first = next;
        } else if (pa_iframe_is_complete(graph->codes, &iframe) && next++ == end) {
            break;
        }
        address = iframe.previous;
    }
    if (next > first && next <= end)
        add_entry(native, 0, first, next - first);
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const struct pa_loop_entry *)a)->address, y = ((const struct pa_loop_entry *)b)->address;
    return x < y ? -1 : x > y;
}

/* Of all thread states of the thread: one interpreter may have called another. @return why they are of no use, or NULL. */
static const char *collect_entries(struct pa_native *native)
{
    uint32_t from = 0;
    for (const struct pa_thread *thread; (thread = thread_numbered(native, &from)) != NULL;) {
        uint32_t first = native->entries.count;
        find_entries(native, thread);
        for (uint32_t i = first; i < native->entries.count; i++) {
            const struct pa_loop_entry *entry = &native->entries.items[i];
            if (entry->address == 0)
                return "what called the outermost Python frame is not known";
            if (i > first && entry->address <= entry[-1].address)
                return "the frames that the interpreter keeps on the C stack are out of order";
        }
    }
    if (native->entries.count > 0)
        qsort(native->entries.items, native->entries.count, sizeof(struct pa_loop_entry), by_address);
    return NULL;
}

static void push(struct pa_native *native, uint32_t frame, uint32_t thread_frame)
{
    struct pa_merged *slot = pa_array_push(native->graph->work, &native->merged, PA_NONE);
    if (slot)
        *slot = (struct pa_merged){frame, thread_frame};
}

static void push_python(struct pa_native *native, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        push(native, PA_NONE, i);
}

/* The names of the loop: in builds that compile it to tail calls each instruction is a function, which the loop calls. */
static bool is_loop_name(const struct pa_native *native, uint32_t frame)
{
    return begins(native, frame, "_PyEval_EvalFrameDefault") || begins(native, frame, "_TAIL_CALL_");
}

bool pa_native_is_interpreter(const struct pa_native *native, uint32_t frame)
{
    struct pa_text object = native->frames.items[frame].object, interpreter = native->interpreter;
    return object.length > 0 && object.length == interpreter.length &&
           memcmp(pa_arena_text(&native->text, object), pa_arena_text(&native->text, interpreter), object.length) == 0;
}

bool pa_native_is_foreign(const struct pa_native *native, uint32_t frame)
{
    static const char *const libc[] = {"libc.", "libc-", "libpthread", "ld-linux", "ld-2.", "[vdso]"};
    struct pa_text object = pa_native_object(native, frame);
    for (size_t i = 0; i < sizeof(libc) / sizeof(*libc); i++) {
        if (pa_text_begins(&native->text, object, libc[i]))
            return false;
    }
    return object.length > 0 && !pa_native_is_interpreter(native, frame);
}

/*
 * Symbols as a check. Frames that are inlined into the loop have its stack pointer and come before it.
 * @return why the native frames that end with @p frame cannot be the loop, or NULL.
 */
static const char *contradiction(const struct pa_native *native, uint32_t frame)
{
    const struct pa_native_item *items = native->frames.items;
    if (native->interpreter.length && items[frame].object.length && !pa_native_is_interpreter(native, frame))
        return "is no code of the interpreter";
    bool debug = false;
    for (uint32_t i = frame; i != PA_NONE && items[i].sp == items[frame].sp; i--) {
        debug = debug || items[i].flags & PA_NATIVE_DEBUG;
        if (is_loop_name(native, i))
            return NULL;
    }
    return debug ? "is another function than the interpreter's loop" : NULL;
}

/* Take back the instructions of a loop that is compiled to tail calls. */
static void drop_instructions(struct pa_native *native)
{
    struct pa_merged *items = native->merged.items;
    while (native->merged.count > 0 && items[native->merged.count - 1].native != PA_NONE &&
           begins(native, items[native->merged.count - 1].native, "_TAIL_CALL_"))
        native->merged.count--;
}

/* The part of the stack of the last frame of a list that was cut has no known end. */
static bool holds(const struct pa_native *native, uint32_t frame, uint64_t address)
{
    return frame + 1 < native->frames.count && native->frames.items[frame].sp <= address &&
           address < native->frames.items[frame + 1].sp;
}

static bool fail(struct pa_native *native, uint32_t frame, const char *why)
{
    if (frame == PA_NONE)
        snprintf(native->why, sizeof(native->why), "%s", why);
    else
        snprintf(native->why, sizeof(native->why), "#%u, where Python's frames belong, %s", frame, why);
    return false;
}

/* Put together. @return false, with why, if anything contradicts. */
static bool match(struct pa_native *native)
{
    const struct pa_loop_entry *entries = native->entries.items;
    uint32_t next = 0;
    for (uint32_t i = 0; i < native->frames.count && pa_work_step(native->graph->work); i++) {
        uint32_t held = next;
        while (held < native->entries.count && holds(native, i, entries[held].address))
            held++;
        if (held == next) {
            if (begins(native, i, "_PyEval_EvalFrameDefault") && native->frames.items[i].flags & PA_NATIVE_DEBUG && next > 0 &&
                i + 1 < native->frames.count && native->frames.items[i + 1].sp > native->frames.items[i].sp)
                return fail(native, i, "executes none of them");
            if (next < native->entries.count && entries[next].address < native->frames.items[i].sp)
                return fail(native, PA_NONE, "the interpreter keeps a frame where the C stack has ended");
            push(native, i, PA_NONE);
            continue;
        }
        if (held > next + 1)
            return fail(native, i, "holds more than one loop of the interpreter");
        const char *why = contradiction(native, i);
        if (why)
            return fail(native, i, why);
        if (entries[next].count == 0)
            push(native, i, PA_NONE); /* it executes none at the moment: for one, a frame that ends is let go */
        else
            drop_instructions(native);
        push_python(native, entries[next].first, entries[next].count);
        next = held;
    }
    for (; next < native->entries.count; next++) {
        if (entries[next].count > 0 && native->stopped.length == 0)
            return fail(native, PA_NONE, "Python has more frames than the C stack has loops of the interpreter");
        push_python(native, entries[next].first, entries[next].count);
    }
    return native->graph->work->fatal == PA_OK;
}

/* The frames of greenlets that wait for the one that runs. */
static void add_parents(struct pa_native *native)
{
    uint32_t from = 0;
    for (const struct pa_thread *thread; (thread = thread_numbered(native, &from)) != NULL;)
        push_python(native, thread->first_frame + thread->own_frames, thread->frame_count - thread->own_frames);
}

static void add_separately(struct pa_native *native)
{
    uint32_t from = 0;
    native->merged.count = 0;
    for (uint32_t i = 0; i < native->frames.count; i++)
        push(native, i, PA_NONE);
    for (const struct pa_thread *thread; (thread = thread_numbered(native, &from)) != NULL;)
        push_python(native, thread->first_frame, thread->frame_count);
}

/* Unwind and put together. */
static void read_native(struct pa_native *native, struct pa_graph *graph, uint32_t number)
{
    *native = (struct pa_native){.graph = graph, .number = number};
    if (!unwind(native))
        return;
    native->interpreter = file_at(native, graph->runtime, native->frames.items[0].object);
    cut_guesses(native);
    cut_greenlet(native);
    const char *why = collect_entries(native);
    native->matched = why ? fail(native, PA_NONE, why) : match(native);
    if (native->matched)
        add_parents(native);
    else
        add_separately(native);
    while (native->first_foreign < native->merged.count && native->merged.items[native->first_foreign].thread_frame == PA_NONE &&
           !pa_native_is_foreign(native, native->merged.items[native->first_foreign].native))
        native->first_foreign++;
}

static void free_native(struct pa_native *native)
{
    struct pa_work *work = native->graph->work;
    pa_array_free(work, &native->frames);
    pa_array_free(work, &native->merged);
    pa_array_free(work, &native->entries);
    pa_arena_free(work, &native->text);
}

const struct pa_native *pa_natives_get(struct pa_natives *natives, struct pa_graph *graph, uint32_t number)
{
    for (uint32_t i = 0; i < natives->count; i++) {
        if (natives->items[i].number == number)
            return &natives->items[i];
    }
    struct pa_native *slot = number ? pa_array_push(graph->work, natives, PA_NONE) : NULL;
    if (slot)
        read_native(slot, graph, number);
    return slot;
}

void pa_natives_deinit(struct pa_natives *natives, struct pa_work *work)
{
    for (uint32_t i = 0; i < natives->count; i++)
        free_native(&natives->items[i]);
    pa_array_free(work, natives);
}

bool pa_native_wanted(const struct pa_graph *graph, const struct pa_request *request, const struct pa_thread_infos *infos,
                      uint32_t index)
{
    uint32_t number = infos->items[index].number;
    if (!(request->flags & PA_REQUEST_NATIVE) || (request->operand_count > 0 && request->thread == PA_THREAD_DEFAULT))
        return false;
    if (request->thread < PA_THREAD_ALL)
        return request->thread == number;
    if (request->command == PA_COMMAND_REPORT)
        return number == pa_stopped_thread(graph->work, infos);
    return request->thread == PA_THREAD_ALL || infos->items[index].selected != 0;
}

void pa_native_slice(const struct pa_native *native, const struct pa_executing *executing, uint32_t *first, uint32_t *end)
{
    const struct pa_merged *items = native->merged.items;
    bool below_others = executing->first > native->graph->threads.items[executing->thread].first_frame;
    *first = 0;
    *end = native->merged.count;
    for (uint32_t i = 0; native->matched && i < native->merged.count; i++) {
        if (below_others && items[i].thread_frame == executing->first - 1)
            *first = i + 1;
        if (items[i].thread_frame == executing->last)
            *end = i + 1;
    }
}

struct pa_text pa_native_object(const struct pa_native *native, uint32_t frame)
{
    struct pa_text object = native->frames.items[frame].object;
    const char *path = pa_arena_text(&native->text, object);
    const char *slash = object.length ? memrchr(path, '/', object.length) : NULL;
    uint32_t skip = slash ? (uint32_t)(slash - path) + 1 : 0;
    return (struct pa_text){object.offset + skip, object.length - skip};
}
