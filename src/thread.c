/* Interpreters, thread states and their frames; which of the debugger's threads is which. */
#include "graph.h"

#include "limits.h"

#include <stdlib.h>

/*
 * Whether C code stands between a suspended greenlet's frame and its caller's. greenlet links each frame to the next one of Python code and
 * keeps the link that was there, which led to a frame of the interpreter's own, in the frame object.
 * greenlet: TGreenlet.cpp, Greenlet::expose_frames().
 */
static bool was_called_from_c(struct pa_graph *graph, uint64_t address, const struct pa_iframe *iframe)
{
    const struct pa_layout *layout = graph->layout;
    uint64_t object, link;
    return pa_memory_u64(graph->memory, address + PA_OFFSET(layout, frame_object), &object) && object != 0 &&
           pa_memory_u64(graph->memory, object + PA_OFFSET(layout, frame_object_data), &link) && link != 0 &&
           link != iframe->previous;
}

/* Add one frame. @return the problem if that cannot be, NULL if all is well. */
static const char *add_frame(struct pa_graph *graph, uint64_t address, const struct pa_iframe *iframe, uint32_t limit,
                             struct pa_thread_frame frame, struct pa_thread_frames *frames)
{
    bool suspended = frame.greenlet != PA_NONE;
    frame.frame = pa_frame_at(graph->codes, &iframe->position);
    if (frame.frame == PA_NONE)
        return suspended ? "has no code object; the greenlet's outer frames are missing"
                         : "has no code object; the thread's outer frames are missing";
    struct pa_thread_frame *slot = pa_array_push(graph->work, frames, limit);
    if (!slot)
        return suspended ? "is one frame of the greenlet too many; the outer ones are missing"
                         : "is one frame of the thread too many; the outer ones are missing";
    frame.is_gen = iframe->owner == graph->layout->version->owner_generator;
    frame.object = frame.is_gen ? address - PA_OFFSET(graph->layout, gen_iframe) : address;
    *slot = frame;
    return NULL;
}

/*
 * Frames of the interpreter's own are left out: where one stood, C code called the frame inside of it.
 * CPython: Python/pystate.c; tstate->current_frame, then _PyInterpreterFrame.previous.
 */
void pa_read_frames(struct pa_graph *graph, uint64_t innermost, uint64_t owner, uint32_t greenlet, struct pa_thread_frames *frames)
{
    bool suspended = greenlet != PA_NONE;
    uint64_t address = innermost, mark = 0;
    uint32_t first = frames->count;
    for (uint32_t step = 0; address != 0; step++) {
        struct pa_iframe iframe;
        if (address == mark || step == 2 * PA_MAX_STACK_DEPTH) {
            pa_graph_problem(graph, suspended ? "greenlet" : "thread", owner, "its frames go round in a circle, or are too many",
                             PA_NONE);
            return;
        }
        if ((step & (step - 1)) == 0)
            mark = address;
        if (!pa_work_step(graph->work) || !pa_iframe_read(graph->codes, address, &iframe)) {
            pa_graph_problem(graph, "frame", address,
                             suspended ? "cannot be read; the greenlet's outer frames are missing"
                                       : "cannot be read; the thread's outer frames are missing",
                             PA_NONE);
            return;
        }
        if (pa_iframe_is_complete(graph->codes, &iframe)) {
            struct pa_thread_frame frame = {.greenlet = greenlet};
            frame.from_c = suspended && iframe.previous != 0 && was_called_from_c(graph, address, &iframe);
            const char *problem = add_frame(graph, address, &iframe, first + PA_MAX_STACK_DEPTH, frame, frames);
            if (problem) {
                pa_graph_problem(graph, "frame", address, problem, PA_NONE);
                return;
            }
        } else if (frames->count > first && iframe.previous != 0) {
            frames->items[frames->count - 1].from_c = true;
        }
        address = iframe.previous;
    }
}

/*
 * In a thread that runs another greenlet than its main one, the frames end where that greenlet began: the greenlets that it returns to, one
 * after the other, are suspended and have theirs.
 */
static void add_parents_frames(struct pa_graph *graph, const struct pa_thread *thread, uint32_t id)
{
    struct pa_thread_frames *frames = &graph->thread_frames;
    uint32_t mark = PA_NONE; /* a circle comes back to it: Brent's algorithm */
    for (uint32_t step = 0; id != PA_NONE && id != mark && pa_work_step(graph->work); step++) {
        uint64_t parent = graph->greenlets.items[id].parent;
        if ((step & (step - 1)) == 0)
            mark = id;
        id = pa_index_find(&graph->greenlet_index, graph->greenlets.items, sizeof(struct pa_greenlet), parent);
        const struct pa_greenlet *greenlet = id == PA_NONE ? NULL : &graph->greenlets.items[id];
        if (!greenlet || greenlet->thread != (uint32_t)(thread - graph->threads.items))
            return;
        if (greenlet->state != PA_GREENLET_SUSPENDED)
            continue; /* a parent that has ended is passed over, as greenlet does */
        if (frames->count > thread->first_frame)
            frames->items[frames->count - 1].from_c = true;
        for (uint32_t i = 0; i < greenlet->frame_count; i++) {
            struct pa_thread_frame *slot = pa_array_push(graph->work, frames, thread->first_frame + 2 * PA_MAX_STACK_DEPTH);
            if (!slot) {
                pa_graph_problem(graph, "thread", thread->address, "has too many frames; the outer ones are missing", PA_NONE);
                return;
            }
            *slot = graph->greenlet_frames.items[greenlet->first_frame + i];
        }
    }
}

uint32_t pa_stack_of_frames(struct pa_graph *graph, const struct pa_thread_frames *frames, uint32_t first, uint32_t count)
{
    uint32_t stack = 0;
    for (uint32_t i = count; i > 0; i--)
        stack = pa_stack_push(graph->codes, stack, frames->items[first + i - 1].frame);
    return stack;
}

static void index_frames(struct pa_graph *graph, const struct pa_thread *thread)
{
    const struct pa_thread_frame *frames = graph->thread_frames.items;
    for (uint32_t i = thread->first_frame; i < thread->first_frame + thread->frame_count; i++) {
        if (frames[i].is_gen && pa_index_find(&graph->thread_frame_index, frames, sizeof(*frames), frames[i].object) == PA_NONE)
            pa_index_add(graph->work, &graph->thread_frame_index, frames, sizeof(*frames), i);
    }
}

void pa_read_thread_frames(struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        struct pa_thread *thread = &graph->threads.items[i];
        uint64_t frame;
        thread->first_frame = graph->thread_frames.count;
        if (pa_memory_u64(graph->memory, thread->address + PA_OFFSET(graph->layout, thread_current_frame), &frame))
            pa_read_frames(graph, frame, thread->address, PA_NONE, &graph->thread_frames);
        thread->own_frames = graph->thread_frames.count - thread->first_frame;
        add_parents_frames(graph, thread, thread->greenlet);
        thread->frame_count = graph->thread_frames.count - thread->first_frame;
        index_frames(graph, thread);
        thread->stack = pa_stack_of_frames(graph, &graph->thread_frames, thread->first_frame, thread->frame_count);
        if (thread->greenlet != PA_NONE)
            graph->greenlets.items[thread->greenlet].stack =
                pa_stack_of_frames(graph, &graph->thread_frames, thread->first_frame, thread->own_frames);
    }
}

static bool read_thread(struct pa_graph *graph, uint64_t address, uint32_t interpreter, uint64_t *next)
{
    const struct pa_layout *layout = graph->layout;
    struct pa_memory *memory = graph->memory;
    struct pa_thread thread = {.address = address, .interpreter = interpreter, .greenlet = PA_NONE, .same = PA_NONE};
    uint64_t frame;
    if (address % 8 != 0 || !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_next), next) ||
        !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_current_frame), &frame) ||
        !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_thread_id), &thread.pthread_id) ||
        !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_native_thread_id), &thread.native_id))
        return false;
    if (pa_layout_has_asyncio(layout) &&
        (!pa_memory_u64(memory, address + PA_OFFSET(layout, thread_impl_running_loop), &thread.loop) ||
         !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_impl_running_task), &thread.task)))
        return false;
    /* Modules/_asynciomodule.c keeps the task only as long as a loop is set. */
    if (thread.loop == 0)
        thread.task = 0;
    struct pa_thread *slot = pa_array_push(graph->work, &graph->threads, PA_MAX_THREADS);
    if (!slot)
        return false;
    *slot = thread;
    return pa_index_add(graph->work, &graph->thread_index, graph->threads.items, sizeof(*slot), graph->threads.count - 1);
}

static bool have_thread(const struct pa_graph *graph, uint64_t address)
{
    return pa_index_find(&graph->thread_index, graph->threads.items, sizeof(struct pa_thread), address) != PA_NONE;
}

/*
 * A list that ends too early, since what is zero links nowhere: the main thread is missing, which has no older one behind it but those that
 * were started before it took its role. It is read, and what is newer. Include/cpython/pystate.h, struct _ts {prev, next}: newest first.
 */
static void read_missing_threads(struct pa_graph *graph, uint64_t main, uint32_t interpreter)
{
    uint64_t next, address = main;
    pa_graph_problem(graph, "thread list", main, "lacks the main thread; others may be missing", PA_NONE);
    graph->damaged_lists++;
    while (address != 0 && !have_thread(graph, address) && pa_work_step(graph->work) &&
           read_thread(graph, address, interpreter, &next)) {
        if (!pa_memory_u64(graph->memory, address + PA_OFFSET(graph->layout, thread_next) - 8, &address))
            return;
    }
}

static void read_thread_list(struct pa_graph *graph, uint64_t head, uint32_t interpreter)
{
    uint64_t address = head, before = 0, back;
    bool linked = true;
    while (address != 0) {
        if (have_thread(graph, address)) {
            pa_graph_problem(graph, "thread list", address, "goes round in a circle; older threads may be missing", PA_NONE);
            graph->damaged_lists++;
            return;
        }
        if (linked && pa_memory_u64(graph->memory, address + PA_OFFSET(graph->layout, thread_next) - 8, &back) && back != before) {
            pa_graph_problem(graph, "thread state", address, "links not back to a newer one; threads may be missing", PA_NONE);
            graph->damaged_lists++;
            linked = false;
        }
        before = address;
        if (!pa_work_step(graph->work) || !read_thread(graph, address, interpreter, &address)) {
            pa_graph_problem(graph, "thread state", address, "cannot be read; older threads are missing", PA_NONE);
            graph->damaged_lists++;
            return;
        }
    }
}

static bool have_interpreter(const struct pa_graph *graph, uint64_t address)
{
    for (uint32_t i = 0; i < graph->interpreters.count; i++) {
        if (graph->interpreters.items[i].address == address)
            return true;
    }
    return false;
}

static void read_interpreters(struct pa_graph *graph)
{
    const struct pa_layout *layout = graph->layout;
    struct pa_memory *memory = graph->memory;
    uint64_t address, id, next, head, main;
    if (!pa_memory_u64(memory, graph->runtime + PA_OFFSET(layout, runtime_interpreters_head), &address))
        address = 0;
    while (address != 0) {
        if (have_interpreter(graph, address)) {
            pa_graph_problem(graph, "interpreter list", address, "goes round in a circle; older interpreters may be missing",
                             PA_NONE);
            return;
        }
        if (!pa_work_step(graph->work) || address % 8 != 0 ||
            !pa_memory_u64(memory, address + PA_OFFSET(layout, interpreter_id), &id) ||
            !pa_memory_u64(memory, address + PA_OFFSET(layout, interpreter_next), &next) ||
            !pa_memory_u64(memory, address + PA_OFFSET(layout, interpreter_threads_head), &head) ||
            !pa_memory_u64(memory, address + PA_OFFSET(layout, interpreter_threads_main), &main)) {
            pa_graph_problem(graph, "interpreter", address, "cannot be read; older interpreters are missing", PA_NONE);
            return;
        }
        struct pa_interpreter *interpreter = pa_array_push(graph->work, &graph->interpreters, PA_MAX_INTERPRETERS);
        if (!interpreter) {
            pa_graph_problem(graph, "interpreter list", address, "is too long", PA_NONE);
            return;
        }
        *interpreter = (struct pa_interpreter){address, (int64_t)id};
        read_thread_list(graph, head, graph->interpreters.count - 1);
        if (main != 0 && !have_thread(graph, main))
            read_missing_threads(graph, main, graph->interpreters.count - 1);
        address = next;
    }
}

static void index_thread_id(struct pa_graph *graph, uint32_t thread)
{
    uint64_t pthread_id = graph->threads.items[thread].pthread_id;
    uint32_t place = pa_index_find(&graph->thread_id_index, graph->thread_ids.items, sizeof(struct pa_thread_id), pthread_id);
    if (place != PA_NONE) {
        struct pa_thread_id *met = &graph->thread_ids.items[place];
        graph->threads.items[met->last].same = thread;
        met->last = thread;
        return;
    }
    struct pa_thread_id *slot = pa_array_push(graph->work, &graph->thread_ids, PA_MAX_THREADS);
    if (!slot)
        return;
    *slot = (struct pa_thread_id){pthread_id, thread, thread};
    pa_index_add(graph->work, &graph->thread_id_index, graph->thread_ids.items, sizeof(*slot), graph->thread_ids.count - 1);
}

uint32_t pa_thread_with_id(struct pa_graph *graph, uint64_t pthread_id)
{
    for (uint32_t i = 0; i < graph->threads.count && (i > 0 || graph->thread_ids.count == 0); i++)
        index_thread_id(graph, i);
    uint32_t place = pa_index_find(&graph->thread_id_index, graph->thread_ids.items, sizeof(struct pa_thread_id), pthread_id);
    return place == PA_NONE ? PA_NONE : graph->thread_ids.items[place].first;
}

/* The thread state of one of the debugger's threads by the kernel's id: see match_threads(). */
static struct pa_thread *thread_with_lwp(struct pa_graph *graph, int64_t lwp)
{
    for (uint32_t i = 0; lwp > 0 && i < graph->threads.count && pa_work_step(graph->work); i++) {
        struct pa_thread *thread = &graph->threads.items[i];
        if (thread->number == 0 && thread->native_id == (uint64_t)lwp)
            return thread;
    }
    return NULL;
}

static void number_thread(struct pa_thread *thread, const struct pa_thread_info *info)
{
    thread->number = info->number;
    thread->lwp = info->lwp;
    thread->selected = info->selected != 0;
    memcpy(thread->name, info->name, sizeof(thread->name));
}

void pa_debugger_threads(struct pa_work *work, struct pa_thread_infos *infos)
{
    int64_t count = work->target->threads(NULL, 0), stored = 0;
    if (count > 0 && count <= PA_MAX_THREADS)
        infos->items = pa_work_resize(work, NULL, 0, (size_t)count * sizeof(*infos->items));
    infos->capacity = infos->items ? (uint32_t)count : 0;
    if (infos->items)
        stored = work->target->threads(infos->items, (uint64_t)count);
    if (count == -2 || stored == -2)
        work->fatal = PA_ABORTED;
    if (stored > 0)
        infos->count = (uint32_t)(stored < count ? stored : count);
    for (uint32_t i = 0; i < infos->count; i++)
        infos->items[i].name[sizeof(infos->items[i].name) - 1] = '\0';
}

uint32_t pa_stopped_thread(const struct pa_work *work, const struct pa_thread_infos *infos)
{
    for (uint32_t i = 0; i < infos->count && !(work->target->flags & PA_TARGET_CORE); i++) {
        if (infos->items[i].selected)
            return infos->items[i].number;
    }
    return infos->count ? infos->items[0].number : 0;
}

/*
 * thread_id is pthread_self(), which is $fs_base: right also when the process lives in another PID namespace, where native_thread_id is
 * a number that the debugger never sees. The kernel's id serves only for threads whose registers are not at hand. Several interpreters
 * may have a thread state for the same thread: the one that is first in its list wins, as it is the one made last.
 */
static void match_threads(struct pa_graph *graph)
{
    struct pa_thread_infos infos = {0};
    pa_debugger_threads(graph->work, &infos);
    graph->debugger_threads = infos.count;
    for (uint32_t i = 0; i < graph->threads.count; i++)
        graph->threads.items[i].number = 0;
    for (uint32_t i = 0; i < infos.count; i++) {
        const struct pa_thread_info *info = &infos.items[i];
        struct pa_thread *thread = info->pthread_id == 0 ? thread_with_lwp(graph, info->lwp) : NULL;
        if (thread)
            number_thread(thread, info);
        /* The same thread in all interpreters. */
        uint32_t id = info->pthread_id == 0 ? PA_NONE : pa_thread_with_id(graph, info->pthread_id);
        for (; id != PA_NONE; id = graph->threads.items[id].same) {
            if (graph->threads.items[id].number == 0)
                number_thread(&graph->threads.items[id], info);
        }
    }
    pa_array_free(graph->work, &infos);
}

void pa_read_selection(struct pa_graph *graph)
{
    match_threads(graph);
}

void pa_read_threads(struct pa_graph *graph)
{
    read_interpreters(graph);
    if (graph->work->fatal == PA_OK)
        match_threads(graph);
}
