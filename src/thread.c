/* Interpreters, thread states and their frames; which of the debugger's threads is which. */
#include "graph.h"

#include "limits.h"

#include <stdlib.h>

/*
 * Walk the frames of a thread from the innermost outward. Frames of the interpreter's own are left out.
 * CPython: Python/pystate.c; tstate->current_frame, then _PyInterpreterFrame.previous.
 */
static void read_frames(struct pa_graph *graph, struct pa_thread *thread, uint64_t current)
{
    struct pa_codes *codes = graph->codes;
    uint64_t address = current, mark = 0;
    thread->first_frame = graph->thread_frames.count;
    for (uint32_t step = 0; address != 0; step++) {
        struct pa_iframe iframe;
        if (address == mark || step == 2 * PA_MAX_STACK_DEPTH) {
            pa_graph_problem(graph, "thread", thread->address, "its frames go round in a circle, or are too many", PA_NONE);
            break;
        }
        if ((step & (step - 1)) == 0)
            mark = address;
        if (!pa_work_step(graph->work) || !pa_iframe_read(codes, address, &iframe)) {
            pa_graph_problem(graph, "frame", address, "cannot be read; the thread's outer frames are missing", PA_NONE);
            break;
        }
        if (pa_iframe_is_complete(codes, &iframe)) {
            uint32_t frame = pa_frame_at(codes, &iframe.position);
            if (frame == PA_NONE) {
                pa_graph_problem(graph, "frame", address, "has no code object; the thread's outer frames are missing", PA_NONE);
                break;
            }
            struct pa_thread_frame *slot =
                pa_array_push(graph->work, &graph->thread_frames, thread->first_frame + PA_MAX_STACK_DEPTH);
            if (!slot) {
                pa_graph_problem(graph, "thread", thread->address, "has too many frames; the outer ones are missing", PA_NONE);
                break;
            }
            bool is_gen = iframe.owner == graph->layout->version->owner_generator;
            *slot =
                (struct pa_thread_frame){is_gen ? address - PA_OFFSET(graph->layout, gen_iframe) : address, frame, is_gen, false};
            uint32_t id = graph->thread_frames.count - 1;
            if (is_gen &&
                pa_index_find(&graph->thread_frame_index, graph->thread_frames.items, sizeof(*slot), slot->object) == PA_NONE)
                pa_index_add(graph->work, &graph->thread_frame_index, graph->thread_frames.items, sizeof(*slot), id);
        }
        address = iframe.previous;
    }
    thread->frame_count = graph->thread_frames.count - thread->first_frame;
    const struct pa_thread_frame *frames = graph->thread_frames.items;
    for (uint32_t i = thread->frame_count; frames && i > 0; i--)
        thread->stack = pa_stack_push(codes, thread->stack, frames[thread->first_frame + i - 1].frame);
}

static bool read_thread(struct pa_graph *graph, uint64_t address, uint32_t interpreter, uint64_t *next)
{
    const struct pa_layout *layout = graph->layout;
    struct pa_memory *memory = graph->memory;
    struct pa_thread thread = {.address = address, .interpreter = interpreter};
    uint64_t frame;
    if (address % 8 != 0 || !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_next), next) ||
        !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_current_frame), &frame) ||
        !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_thread_id), &thread.pthread_id) ||
        !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_native_thread_id), &thread.native_id) ||
        !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_impl_running_loop), &thread.loop) ||
        !pa_memory_u64(memory, address + PA_OFFSET(layout, thread_impl_running_task), &thread.task))
        return false;
    /* Modules/_asynciomodule.c keeps the task only as long as a loop is set. */
    if (thread.loop == 0)
        thread.task = 0;
    read_frames(graph, &thread, frame);
    struct pa_thread *slot = pa_array_push(graph->work, &graph->threads, PA_MAX_THREADS);
    if (!slot)
        return false;
    *slot = thread;
    return pa_index_add(graph->work, &graph->thread_index, graph->threads.items, sizeof(*slot), graph->threads.count - 1);
}

static void read_thread_list(struct pa_graph *graph, uint64_t head, uint32_t interpreter)
{
    uint64_t address = head;
    while (address != 0) {
        if (pa_index_find(&graph->thread_index, graph->threads.items, sizeof(struct pa_thread), address) != PA_NONE) {
            pa_graph_problem(graph, "thread list", address, "goes round in a circle; older threads may be missing", PA_NONE);
            return;
        }
        if (!pa_work_step(graph->work) || !read_thread(graph, address, interpreter, &address)) {
            pa_graph_problem(graph, "thread state", address, "cannot be read; older threads are missing", PA_NONE);
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
    uint64_t address, id, next, head;
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
            !pa_memory_u64(memory, address + PA_OFFSET(layout, interpreter_threads_head), &head)) {
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
        address = next;
    }
}

/* The thread state of one of the debugger's threads, by pthread_self(), else by the kernel's id: see match_threads(). */
static struct pa_thread *thread_of(struct pa_graph *graph, const struct pa_thread_info *info, bool by_pthread_id)
{
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        struct pa_thread *thread = &graph->threads.items[i];
        if (thread->number == 0 && by_pthread_id && info->pthread_id != 0 && thread->pthread_id == info->pthread_id)
            return thread;
        if (thread->number == 0 && !by_pthread_id && info->lwp > 0 && thread->native_id == (uint64_t)info->lwp)
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
    thread->name[sizeof(thread->name) - 1] = '\0';
}

/*
 * thread_id is pthread_self(), which is $fs_base: right also when the process lives in another PID namespace, where native_thread_id is
 * a number that the debugger never sees. The kernel's id serves only for threads whose registers are not at hand. Several interpreters
 * may have a thread state for the same thread: the one that is first in its list wins, as it is the one made last.
 */
static void match_threads(struct pa_graph *graph)
{
    struct pa_work *work = graph->work;
    int64_t count = work->target->threads(NULL, 0);
    if (count == -2)
        work->fatal = PA_ABORTED;
    if (count <= 0 || count > PA_MAX_THREADS)
        return;
    size_t size = (size_t)count * sizeof(struct pa_thread_info);
    struct pa_thread_info *infos = pa_work_resize(work, NULL, 0, size);
    if (!infos)
        return;
    int64_t stored = work->target->threads(infos, (uint64_t)count);
    if (stored == -2)
        work->fatal = PA_ABORTED;
    stored = stored < count ? stored : count;
    graph->debugger_threads = stored > 0 ? (uint32_t)stored : 0;
    for (uint32_t i = 0; i < graph->threads.count; i++)
        graph->threads.items[i].number = 0;
    for (int64_t i = 0; i < stored; i++) {
        struct pa_thread *thread = thread_of(graph, &infos[i], infos[i].pthread_id != 0);
        if (thread)
            number_thread(thread, &infos[i]);
        /* The same thread in other interpreters. */
        while (thread && infos[i].pthread_id != 0 && (thread = thread_of(graph, &infos[i], true)) != NULL)
            number_thread(thread, &infos[i]);
    }
    pa_work_resize(work, infos, size, 0);
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
