/* Executors and what was submitted to them. See executor.h. */
#include "executor.h"

#include "callable.h"
#include "collection.h"
#include "future.h"
#include "instance.h"
#include "variables.h"

#define THREADS   "/concurrent/futures/thread.py"
#define PROCESSES "/concurrent/futures/process.py"

static bool variable(struct pa_graph *graph, const struct pa_thread_frame *frame, const char *name, uint64_t *object)
{
    return pa_variable_get(graph->codes, pa_thread_frame_address(graph, frame), name, object);
}

/* Where a weakref.ref leads to; 0: what was there is gone. PyWeakReference.wr_object is its first field. */
static uint64_t referent(struct pa_graph *graph, uint64_t reference)
{
    uint64_t object;
    return pa_object_word(graph->objects, reference, PA_F_wrapper_object, &object) &&
                   pa_kind_of(graph->objects, object) != PA_KIND_NONE_TYPE
               ? object
               : 0;
}

static uint32_t executor_at(struct pa_executors *executors, uint64_t queue, uint64_t reference)
{
    struct pa_graph *graph = executors->graph;
    uint64_t value;
    uint32_t id = pa_index_find(&executors->index, executors->items.items, sizeof(struct pa_executor), queue);
    if (id != PA_NONE)
        return id;
    struct pa_executor *executor = pa_array_push(graph->work, &executors->items, PA_MAX_THREADS);
    if (!executor)
        return PA_NONE;
    *executor = (struct pa_executor){.queue = queue, .object = referent(graph, reference), .maximum = -1};
    if (executor->object != 0 && pa_attribute(graph, executor->object, "_max_workers", &value) &&
        (!pa_int_read(graph->objects, value, &executor->maximum) || executor->maximum < 0))
        executor->maximum = -1;
    id = executors->items.count - 1;
    if (!pa_index_add(graph->work, &executors->index, executors->items.items, sizeof(*executor), id)) {
        executors->items.count--;
        return PA_NONE;
    }
    return id;
}

/* What was submitted with this concurrent.futures.Future; NULL: nothing. */
static const struct pa_submitted *find_submitted(const struct pa_executors *executors, uint64_t future)
{
    uint32_t id = pa_index_find(&executors->submitted_index, executors->submitted.items, sizeof(struct pa_submitted), future);
    return id == PA_NONE ? NULL : &executors->submitted.items[id];
}

/* Note a _WorkItem: its future. */
static void add_item(struct pa_executors *executors, uint64_t item, uint32_t executor, uint32_t thread, uint64_t place)
{
    struct pa_graph *graph = executors->graph;
    uint64_t future;
    if (!pa_attribute(graph, item, "future", &future) || find_submitted(executors, future))
        return;
    struct pa_submitted *submitted = pa_array_push(graph->work, &executors->submitted, PA_MAX_SUBMITTED);
    if (!submitted)
        return;
    *submitted = (struct pa_submitted){future, executor, thread, place};
    if (!pa_index_add(graph->work, &executors->submitted_index, executors->submitted.items, sizeof(*submitted),
                      executors->submitted.count - 1))
        executors->submitted.count--;
}

/* A thread of a ThreadPoolExecutor: the frame of _worker(), and inside of it _WorkItem.run() if it is at work. */
static void read_worker(struct pa_executors *executors, uint32_t thread, const struct pa_thread_frame *worker, bool is_innermost)
{
    struct pa_graph *graph = executors->graph;
    uint64_t queue, reference, item;
    if (!variable(graph, worker, "work_queue", &queue) || !variable(graph, worker, "executor_reference", &reference))
        return;
    uint32_t id = executor_at(executors, queue, reference);
    if (id == PA_NONE)
        return;
    struct pa_executor *executor = &executors->items.items[id];
    executor->threads++;
    if (is_innermost || !pa_frame_is(graph->codes, worker[-1].frame, "_WorkItem.run", THREADS) ||
        !variable(graph, worker - 1, "self", &item))
        return;
    executor->busy++;
    add_item(executors, item, id, thread, 0);
}

static bool may_look(const struct pa_executors *executors)
{
    return executors->looked < PA_MAX_SUBMITTED;
}

/* The manager thread of a ProcessPoolExecutor has all that has not ended in a dict by number. */
static void read_manager(struct pa_executors *executors, const struct pa_thread_frame *frame)
{
    struct pa_graph *graph = executors->graph;
    struct pa_dict_iterator iterator;
    uint64_t self, reference, dict, key, item;
    if (!variable(graph, frame, "self", &self) || !pa_attribute(graph, self, "executor_reference", &reference) ||
        !pa_attribute(graph, self, "pending_work_items", &dict) || !pa_dict_begin(graph->objects, dict, &iterator))
        return;
    uint32_t id = executor_at(executors, self, reference);
    if (id == PA_NONE)
        return;
    struct pa_executor *executor = &executors->items.items[id];
    if (executor->of_processes)
        return; /* its dict has been read for another frame */
    executor->of_processes = true;
    while (may_look(executors) && pa_dict_next(graph->objects, &iterator, &key, &item)) {
        executors->looked++;
        executor->queued++;
        add_item(executors, item, id, PA_NONE, 0);
    }
    if (!may_look(executors))
        executor->queued = -1;
}

static void read_queue(struct pa_executors *executors, uint32_t id)
{
    struct pa_executor *executor = &executors->items.items[id];
    struct pa_collection queue;
    uint64_t item, future;
    if (executor->of_processes || !pa_collection_begin(executors->graph->objects, executor->queue, &queue))
        return;
    while (may_look(executors) && pa_collection_next(&queue, &item)) {
        executors->looked++;
        /* None tells a thread to end. */
        if (pa_kind_of(executors->graph->objects, item) == PA_KIND_NONE_TYPE ||
            !pa_attribute(executors->graph, item, "future", &future))
            continue;
        add_item(executors, item, id, PA_NONE, (uint64_t)++executor->queued);
    }
    if (!may_look(executors))
        executor->queued = -1;
}

void pa_executors_make(struct pa_executors *executors, struct pa_graph *graph)
{
    if (executors->made)
        return;
    *executors = (struct pa_executors){.graph = graph, .made = true};
    for (uint32_t i = 0; i < graph->threads.count && pa_work_step(graph->work); i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        if (thread->frame_count == 0)
            continue;
        const struct pa_thread_frame *frames = graph->thread_frames.items + thread->first_frame;
        for (uint32_t k = 0; k < thread->frame_count && pa_work_step(graph->work); k++) {
            if (pa_frame_is(graph->codes, frames[k].frame, "_worker", THREADS))
                read_worker(executors, i, &frames[k], k == 0);
            else if (pa_frame_is(graph->codes, frames[k].frame, "_ExecutorManagerThread.run", PROCESSES))
                read_manager(executors, &frames[k]);
        }
    }
    for (uint32_t i = 0; i < executors->items.count && pa_work_step(graph->work); i++)
        read_queue(executors, i);
}

void pa_executors_free(struct pa_executors *executors)
{
    if (!executors->made)
        return;
    struct pa_work *work = executors->graph->work;
    pa_array_free(work, &executors->items);
    pa_array_free(work, &executors->submitted);
    pa_index_free(work, &executors->index);
    pa_index_free(work, &executors->submitted_index);
    executors->made = false;
}

/* The first callback of a future: in C it has a place of its own, in Python it stands in a list of (callback, context). */
static uint64_t first_callback(struct pa_graph *graph, uint64_t future)
{
    enum pa_kind kind = pa_kind_of(graph->objects, future);
    uint64_t callback, list, items, count;
    if (kind == PA_KIND_FUTURE)
        return pa_object_word(graph->objects, future, PA_F_task_callback0, &callback) ? callback : 0;
    list = kind == PA_KIND_PYTHON_FUTURE ? pa_future_attribute(graph, future, "_callbacks") : 0;
    for (uint32_t level = 0; level < 2; level++) {
        if (list == 0 || !pa_sequence(graph->objects, list, &items, &count) || count == 0 ||
            !pa_memory_u64(graph->memory, items, &list))
            return 0;
    }
    return list;
}

const struct pa_submitted *pa_executors_behind(const struct pa_executors *executors, uint64_t future)
{
    struct pa_graph *graph = executors->graph;
    uint64_t held[PA_MAX_CELLS];
    if (executors->submitted.count == 0)
        return NULL;
    /* Lib/asyncio/futures.py; its cells are dest_loop, source, source_loop, … */
    uint64_t callback = first_callback(graph, future);
    if (!pa_is_function(graph->codes, callback, "_chain_future.<locals>._call_check_cancel", "/asyncio/futures.py"))
        return NULL;
    uint32_t count = pa_function_cells(graph->objects, callback, held);
    for (uint32_t i = 0; i < count; i++) {
        const struct pa_submitted *found = find_submitted(executors, held[i]);
        if (found)
            return found;
    }
    return NULL;
}
