/*
 * Findings about what a loop has ready to run: a loop that sleeps although there is something, and tasks that nothing will wake although
 * what they await is done.
 */
#include "finder.h"

#include "collection.h"
#include "future.h"
#include "loop.h"

#include <stdlib.h>

/* ---- [done-not-woken]: the future is done, and no handle of the loop refers to the task or to the future */

/* What the handles of one loop refer to, themselves or through a method or a tuple. */
struct woken {
    PA_ARRAY(uint64_t) objects; /* sorted */
    bool known;                 /* all of them were seen, and all that wakes tasks of the loop goes through them */
};

static int by_address(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static bool push(struct pa_finder *finder, struct woken *woken, uint64_t address)
{
    uint64_t *slot = pa_array_push(finder->graph->work, &woken->objects, PA_NONE);
    if (slot)
        *slot = address;
    return slot != NULL;
}

static bool push_words(struct pa_finder *finder, struct woken *woken, uint64_t address, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t word;
        if (!pa_memory_u64(finder->graph->memory, address + 8 * (uint64_t)i, &word) || !push(finder, woken, word))
            return false;
    }
    return true;
}

/* Bytes of a Handle behind its head, as Lib/asyncio/events.py has it: eight slots. Subclasses have more. */
#define HANDLE_WORDS 16u
/* Arguments of a callback that are looked at. A wakeup has one. */
#define HANDLE_ARGUMENTS 16u

/*
 * Each word of a handle, the words behind what it refers to (a task's wakeup is a method made in C, its step an object of its own; both
 * begin with the task or have it in their second word), and the elements of its arguments.
 */
static bool push_handle(struct pa_finder *finder, struct woken *woken, uint64_t handle)
{
    struct pa_objects *objects = finder->graph->objects;
    uint64_t type, size, head = PA_OFFSET(objects->layout, object_size), items, count;
    if (!pa_memory_u64(objects->memory, handle + PA_OFFSET(objects->layout, object_type), &type) ||
        !pa_memory_u64(objects->memory, type + PA_OFFSET(objects->layout, type_basicsize), &size) || size < head ||
        size > head + 8 * HANDLE_WORDS)
        return false;
    for (uint64_t at = handle + head; at + 8 <= handle + size; at += 8) {
        uint64_t word;
        if (!pa_memory_u64(objects->memory, at, &word))
            return false;
        if (word == 0 || pa_type_of(objects, word) == PA_NONE)
            continue;
        if (pa_sequence(objects, word, &items, &count)) {
            if (!push_words(finder, woken, items, count < HANDLE_ARGUMENTS ? (uint32_t)count : HANDLE_ARGUMENTS))
                return false;
        } else if (!push_words(finder, woken, word + head, 2)) {
            return false;
        }
    }
    return true;
}

/* Whether a method of the loop's class is that of asyncio's own BaseEventLoop. */
static bool is_own_method(struct pa_graph *graph, uint64_t loop, const char *name, const char *qualname)
{
    uint64_t function;
    uint32_t type = pa_type_of(graph->objects, loop);
    return type != PA_NONE && pa_class_attribute(graph->objects, graph->objects->types.items[type].address, name, &function) &&
           pa_is_function(graph->codes, function, qualname, "/asyncio/base_events.py");
}

/* Whether all that the loop runs goes through its _ready. */
static bool has_own_queue(struct pa_graph *graph, uint64_t loop)
{
    return is_own_method(graph, loop, "call_soon", "BaseEventLoop.call_soon") &&
           is_own_method(graph, loop, "_run_once", "BaseEventLoop._run_once");
}

/* The handle that a loop's thread has taken out of the queue and is about to run, or runs. @return false if it cannot be told. */
static bool push_current(struct pa_finder *finder, struct woken *woken, const struct pa_thread *thread)
{
    struct pa_graph *graph = finder->graph;
    uint64_t handle;
    for (uint32_t i = 0; i < thread->frame_count && pa_work_step(graph->work); i++) {
        const struct pa_thread_frame *item = &graph->thread_frames.items[thread->first_frame + i];
        const struct pa_frame *frame = &graph->codes->frames.items[item->frame];
        if (!pa_text_ends(&graph->objects->text, frame->function, "BaseEventLoop._run_once"))
            continue;
        if (pa_variable_get(graph->codes, item->object, "handle", &handle) &&
            pa_kind_of(graph->objects, handle) != PA_KIND_NONE_TYPE && !push_handle(finder, woken, handle))
            return false;
    }
    return true;
}

static void read_woken(struct pa_finder *finder, uint32_t loop, struct woken *woken)
{
    struct pa_graph *graph = finder->graph;
    const struct pa_loop *item = &graph->loops.items[loop];
    struct pa_collection ready;
    uint64_t deque, handle;
    woken->objects.count = 0;
    woken->known = false;
    if (!has_own_queue(graph, item->address) || !pa_attribute(graph, item->address, "_ready", &deque) ||
        !pa_collection_begin(graph->objects, deque, &ready) || ready.left > PA_MAX_DEQUE)
        return;
    while (pa_collection_next(&ready, &handle)) {
        if (!pa_finder_look(finder) || !push_handle(finder, woken, handle))
            return;
    }
    if (ready.damaged || (item->thread != PA_NONE && !push_current(finder, woken, &graph->threads.items[item->thread])))
        return;
    if (woken->objects.count > 0)
        qsort(woken->objects.items, woken->objects.count, sizeof(uint64_t), by_address);
    woken->known = graph->work->fatal == PA_OK;
}

static bool is_woken(const struct woken *woken, uint64_t address)
{
    return woken->objects.count > 0 &&
           bsearch(&address, woken->objects.items, woken->objects.count, sizeof(uint64_t), by_address) != NULL;
}

/* A future that is done lets go of its callbacks before it puts them into the loop's queue. */
static bool has_told(struct pa_graph *graph, uint64_t future, uint64_t loop)
{
    const struct pa_layout *layout = graph->layout;
    uint64_t callback, callbacks, own_loop, items, count;
    enum pa_kind kind = pa_kind_of(graph->objects, future);
    if (pa_future_state(graph, future) == PA_PENDING)
        return false;
    if (kind == PA_KIND_PYTHON_TASK || kind == PA_KIND_PYTHON_FUTURE)
        return pa_future_attribute(graph, future, "_loop") == loop &&
               pa_sequence(graph->objects, pa_future_attribute(graph, future, "_callbacks"), &items, &count) && count == 0;
    return (kind == PA_KIND_TASK || kind == PA_KIND_FUTURE) &&
           pa_memory_u64(graph->memory, future + PA_OFFSET(layout, task_loop), &own_loop) && own_loop == loop &&
           pa_memory_u64(graph->memory, future + PA_OFFSET(layout, task_callback0), &callback) && callback == 0 &&
           pa_memory_u64(graph->memory, future + PA_OFFSET(layout, task_callbacks), &callbacks) && callbacks == 0;
}

/* Look at the tasks of one loop that are ready, as far as is known since what they await is done. */
static void look_at_ready(struct pa_finder *finder, struct woken *woken, const uint64_t *tasks, uint32_t count)
{
    struct pa_graph *graph = finder->graph;
    uint32_t loop = (uint32_t)(tasks[0] >> 32);
    if (pa_finder_is_true(graph, graph->loops.items[loop].address, "_closed"))
        return;
    read_woken(finder, loop, woken);
    for (uint32_t i = 0; i < count && woken->known && pa_work_step(graph->work); i++) {
        uint32_t id = (uint32_t)tasks[i];
        uint64_t future = pa_task_fut_waiter(graph, id);
        if (is_woken(woken, future) || is_woken(woken, graph->nodes.items[id].address) ||
            !has_told(graph, future, graph->loops.items[loop].address))
            continue;
        if (pa_finding_begin(finder, PA_FINDING_DONE_NOT_WOKEN, 0, 0)) {
            pa_finding_add_task(finder, id);
            pa_finding_add_object(finder, future);
        }
    }
}

void pa_find_not_woken(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct woken woken = {0};
    struct pa_loop_tasks ready = {0};
    for (uint32_t id = 0; id < graph->nodes.count && !finder->in_call_soon && pa_work_step(graph->work); id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        if (node->wait == PA_WAIT_READY && node->activity == PA_READY && node->loop != PA_NO_LOOP &&
            pa_task_fut_waiter(graph, id) != 0)
            pa_loop_tasks_add(finder, &ready, id);
    }
    pa_loop_tasks_sort(&ready);
    for (uint32_t i = 0, end; i < ready.count && pa_work_step(graph->work); i = end) {
        for (end = i + 1; end < ready.count && ready.items[end] >> 32 == ready.items[i] >> 32;)
            end++;
        look_at_ready(finder, &woken, ready.items + i, end - i);
    }
    pa_array_free(graph->work, &ready);
    pa_array_free(graph->work, &woken.objects);
}

/* ---- [loop-asleep]: what is ready was put there from another thread or a signal handler, which does not wake the loop */

/* Lib/asyncio/events.py: call_soon_threadsafe() uses a class of its own, and wakes the loop. @return false if any of them is one. */
static bool count_unsafe(struct pa_finder *finder, uint64_t loop, uint64_t *count)
{
    struct pa_graph *graph = finder->graph;
    struct pa_collection ready;
    uint64_t deque, handle;
    *count = 0;
    if (!pa_attribute(graph, loop, "_ready", &deque) || !pa_collection_begin(graph->objects, deque, &ready) ||
        ready.left > PA_MAX_DEQUE)
        return false;
    while (pa_collection_next(&ready, &handle)) {
        if (!pa_finder_look(finder) || !pa_is_of_type(graph->objects, handle, "Handle"))
            return false;
        *count += !pa_finder_is_true(graph, handle, "_cancelled");
    }
    return !ready.damaged && *count > 0;
}

void pa_find_asleep(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct woken woken = {0};
    for (uint32_t i = 0; i < graph->loops.count && !finder->in_call_soon && pa_work_step(graph->work); i++) {
        struct pa_loop_facts facts;
        uint64_t count;
        if (graph->loops.items[i].thread == PA_NONE || !has_own_queue(graph, graph->loops.items[i].address))
            continue;
        pa_loop_read(graph, i, &facts);
        /* Had anything been ready when it went to sleep, it would have been told to wait for no time. */
        if (facts.state != PA_LOOP_SELECT || facts.ready <= 0 || !(facts.timeout > 0) ||
            !count_unsafe(finder, graph->loops.items[i].address, &count))
            continue;
        if (!pa_finding_begin(finder, PA_FINDING_LOOP_ASLEEP, 0, count))
            break;
        pa_finding_add_object(finder, graph->loops.items[i].address);
        read_woken(finder, i, &woken);
        for (uint32_t k = 0; woken.known && k < woken.objects.count && pa_work_step(graph->work); k++) {
            uint32_t node = k > 0 && woken.objects.items[k] == woken.objects.items[k - 1]
                                ? PA_NONE
                                : pa_graph_find(graph, woken.objects.items[k]);
            if (node != PA_NONE && graph->nodes.items[node].flags & PA_NODE_TASK && graph->nodes.items[node].state == PA_PENDING)
                pa_finding_add_task(finder, node);
        }
    }
    pa_array_free(graph->work, &woken.objects);
}
