/*
 * Findings about tasks and their loops: tasks that nothing will wake though what they await is done, tasks of a loop that can never run
 * again, and what there is far too much of.
 */
#include "finder.h"

#include "deque.h"
#include "future.h"
#include "limits.h"

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
static bool is_own_method(struct pa_graph *graph, uint64_t loop, const char *name)
{
    uint64_t function, code, file;
    char text[PA_STRING_BYTES];
    uint32_t length, type = pa_type_of(graph->objects, loop);
    static const char end[] = "/asyncio/base_events.py";
    return type != PA_NONE && pa_class_attribute(graph->objects, graph->objects->types.items[type].address, name, &function) &&
           pa_kind_of(graph->objects, function) == PA_KIND_FUNCTION &&
           pa_memory_u64(graph->memory, function + PA_OFFSET(graph->layout, function_code), &code) &&
           pa_kind_of(graph->objects, code) == PA_KIND_CODE &&
           pa_memory_u64(graph->memory, code + PA_OFFSET(graph->layout, code_filename), &file) &&
           pa_str_read(graph->objects, file, text, &length) && length >= strlen(end) &&
           memcmp(text + length - strlen(end), end, strlen(end)) == 0;
}

/* The handle that a loop's thread has taken out of the queue and is about to run, or runs. @return false if it cannot be told. */
static bool push_current(struct pa_finder *finder, struct woken *woken, const struct pa_thread *thread)
{
    struct pa_graph *graph = finder->graph;
    uint64_t handle;
    for (uint32_t i = 0; i < thread->frame_count; i++) {
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
    struct pa_deque_iterator ready;
    uint64_t deque, handle;
    woken->objects.count = 0;
    woken->known = false;
    if (!is_own_method(graph, item->address, "call_soon") || !is_own_method(graph, item->address, "_run_once") ||
        !pa_instance_attribute(graph->objects, item->address, "_ready", &deque) || !pa_deque_begin(graph->objects, deque, &ready) ||
        ready.left > PA_MAX_DEQUE)
        return;
    while (pa_deque_next(graph->objects, &ready, &handle)) {
        if (!push_handle(finder, woken, handle))
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

static bool is_true(struct pa_graph *graph, uint64_t object, const char *attribute)
{
    uint64_t value;
    int64_t number;
    return pa_instance_attribute(graph->objects, object, attribute, &value) && pa_kind_of(graph->objects, value) == PA_KIND_BOOL &&
           pa_int_read(graph->objects, value, &number) && number != 0;
}

void pa_find_not_woken(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct woken woken = {0};
    uint16_t read = PA_NO_LOOP; /* the loop that woken is about */
    for (uint32_t id = 0; id < graph->nodes.count && !finder->in_call_soon && pa_work_step(graph->work); id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        uint64_t future = node->wait == PA_WAIT_READY && node->activity == PA_READY ? pa_task_fut_waiter(graph, id) : 0;
        if (future == 0 || node->loop == PA_NO_LOOP || is_true(graph, graph->loops.items[node->loop].address, "_closed"))
            continue;
        if (read != node->loop)
            read_woken(finder, node->loop, &woken);
        read = node->loop;
        if (!woken.known || is_woken(&woken, future) || is_woken(&woken, node->address) ||
            !has_told(graph, future, graph->loops.items[node->loop].address))
            continue;
        if (pa_finding_begin(finder, PA_FINDING_DONE_NOT_WOKEN, 0, 0)) {
            pa_finding_add_task(finder, id);
            pa_finding_add_object(finder, future);
        }
    }
    pa_array_free(graph->work, &woken.objects);
}

/* ---- [orphaned]: no loop will ever run these tasks */

/* Whether no thread state is that of the thread that a loop notes to run in. Lib/asyncio/base_events.py, run_forever() */
static bool is_thread_gone(struct pa_graph *graph, uint64_t loop)
{
    uint64_t value;
    int64_t ident;
    if (!pa_instance_attribute(graph->objects, loop, "_thread_id", &value) || !pa_int_read(graph->objects, value, &ident) ||
        ident == 0)
        return false;
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        if (graph->threads.items[i].pthread_id == (uint64_t)ident)
            return false;
    }
    return graph->threads.count > 0;
}

/* Thread lists that are damaged may have lost the thread in question. */
static bool knows_threads(const struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->problems.count; i++) {
        const char *what = graph->problems.items[i].what;
        if (strcmp(what, "thread list") == 0 || strcmp(what, "thread state") == 0 || strncmp(what, "interpreter", 11) == 0)
            return false;
    }
    return graph->problem_count <= PA_MAX_PROBLEMS;
}

static bool is_pending_task(const struct pa_node *node)
{
    return node->flags & PA_NODE_TASK && node->state == PA_PENDING && !(node->flags & PA_NODE_BAD);
}

static void add_orphans(struct pa_finder *finder, uint32_t loop, enum pa_orphaned why)
{
    struct pa_graph *graph = finder->graph;
    bool begun = false;
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        if (node->loop != loop || !is_pending_task(node) || node->activity == PA_RUNNING || node->activity == PA_EXECUTING)
            continue;
        /* Of a thread that has exited the tasks are in the list of its interpreter. */
        if (why == PA_ORPHANED_THREAD && (!(node->flags & PA_NODE_LISTED) || node->thread != PA_NO_THREAD))
            continue;
        if (!begun && !pa_finding_begin(finder, PA_FINDING_ORPHANED, (uint8_t)why, 0))
            return;
        begun = true;
        pa_finding_add_task(finder, id);
    }
    if (begun)
        pa_finding_add_object(finder, graph->loops.items[loop].address);
}

void pa_find_orphaned(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    bool knows = knows_threads(graph);
    for (uint32_t i = 0; i < graph->loops.count && pa_work_step(graph->work); i++) {
        const struct pa_loop *loop = &graph->loops.items[i];
        if (loop->tasks == 0 || loop->thread != PA_NONE)
            continue;
        if (is_true(graph, loop->address, "_closed"))
            add_orphans(finder, i, PA_ORPHANED_CLOSED);
        else if (knows && is_thread_gone(graph, loop->address))
            add_orphans(finder, i, PA_ORPHANED_LOOP_THREAD);
        else if (knows)
            add_orphans(finder, i, PA_ORPHANED_THREAD);
    }
}

/* ---- [runaway] */

/* Callbacks of a future of asyncio's C code: the first has a place of its own. */
static uint64_t count_callbacks(struct pa_graph *graph, uint64_t future)
{
    uint64_t callbacks, items, count;
    if (!pa_memory_u64(graph->memory, future + PA_OFFSET(graph->layout, task_callbacks), &callbacks) || callbacks == 0 ||
        !pa_sequence(graph->objects, callbacks, &items, &count))
        return 0;
    return count + 1;
}

static void tell_too_many(struct pa_finder *finder, enum pa_runaway what, uint64_t count, uint32_t node, uint64_t future)
{
    if (!pa_finding_begin(finder, PA_FINDING_RUNAWAY, (uint8_t)what, count))
        return;
    pa_finding_add_task(finder, node);
    if (future)
        pa_finding_add_object(finder, future);
}

/* Each task that awaits a future is one of its callbacks: these are not too many, however many they are. */
static void look_at_future(struct pa_finder *finder, uint32_t id)
{
    struct pa_graph *graph = finder->graph;
    const struct pa_node *node = &graph->nodes.items[id];
    if (node->state != PA_PENDING || node->flags & (PA_NODE_BAD | PA_NODE_PYTHON))
        return;
    uint64_t callbacks = count_callbacks(graph, node->address);
    if (callbacks > PA_MANY_CALLBACKS && callbacks - PA_MANY_CALLBACKS > node->edge_count)
        tell_too_many(finder, PA_RUNAWAY_CALLBACKS, callbacks, id, 0);
    if (node->stale > PA_MANY_CALLBACKS)
        tell_too_many(finder, PA_RUNAWAY_AWAITERS, node->stale, id, 0);
}

/* What a task is suspended on, if that is no node yet. One that has so many callbacks becomes one, so that its awaiters are known. */
static void look_at_waiter(struct pa_finder *finder, uint32_t id)
{
    struct pa_graph *graph = finder->graph;
    uint64_t future = pa_task_fut_waiter(graph, id);
    if (future == 0 || count_callbacks(graph, future) <= PA_MANY_CALLBACKS ||
        pa_kind_of(graph->objects, future) != PA_KIND_FUTURE || pa_graph_find(graph, future) != PA_NONE)
        return;
    uint32_t reached = pa_read_reached_node(graph, future);
    if (reached != PA_NONE)
        look_at_future(finder, reached);
}

void pa_find_runaway(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    uint32_t count = graph->nodes.count;
    for (uint32_t id = 0; id < count && pa_work_step(graph->work); id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        uint32_t requests;
        bool must_cancel;
        look_at_future(finder, id);
        if (!is_pending_task(node))
            continue;
        pa_task_cancelling(graph, id, &requests, &must_cancel);
        if (requests > PA_MANY_CANCELS)
            tell_too_many(finder, PA_RUNAWAY_CANCELS, requests, id, 0);
        if (node->wait == PA_WAIT_FUTURE && !(node->flags & PA_NODE_PYTHON))
            look_at_waiter(finder, id);
    }
}
