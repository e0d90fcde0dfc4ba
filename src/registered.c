/*
 * Tasks that are not in the lists of asyncio's C code: those of its Python code, and duck-typed ones that were registered as tasks.
 *
 * CPython: Lib/asyncio/tasks.py keeps the former in _scheduled_tasks, a WeakSet, and while they are started eagerly in _eager_tasks, a set;
 * _current_tasks maps each loop to the one that runs in it. Modules/_asynciomodule.c has the like in its state for what is registered with
 * it and is no task of its own: non_asyncio_tasks and non_asyncio_eager_tasks. No name leads to those two.
 */
#include "future.h"
#include "instance.h"

/* The modules of one interpreter that matter, as dicts; 0: not imported. */
struct modules {
    uint32_t interpreter;
    uint64_t tasks, futures; /* asyncio.tasks and asyncio.futures */
    uint64_t accelerator;    /* _asyncio, the module */
};

static uint64_t module_in(struct pa_graph *graph, uint64_t modules, const char *name)
{
    uint64_t module;
    /* sys.modules["_asyncio"] = None blocks it. */
    return pa_dict_get(graph->objects, modules, name, &module) && pa_kind_of(graph->objects, module) == PA_KIND_MODULE ? module : 0;
}

static uint64_t dict_of(struct pa_graph *graph, uint64_t module)
{
    uint64_t dict;
    return module && pa_memory_u64(graph->memory, module + PA_OFFSET(graph->layout, wrapper_module_dict), &dict) ? dict : 0;
}

static struct modules modules_of(struct pa_graph *graph, uint32_t interpreter)
{
    struct modules modules = {.interpreter = interpreter};
    uint64_t all, address = graph->interpreters.items[interpreter].address;
    if (!pa_memory_u64(graph->memory, address + PA_OFFSET(graph->layout, interpreter_imports_modules), &all) || all == 0)
        return modules;
    modules.tasks = dict_of(graph, module_in(graph, all, "asyncio.tasks"));
    modules.futures = dict_of(graph, module_in(graph, all, "asyncio.futures"));
    modules.accelerator = module_in(graph, all, "_asyncio");
    return modules;
}

void pa_learn_classes(struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->interpreters.count && pa_work_step(graph->work); i++) {
        struct modules modules = modules_of(graph, i);
        uint64_t class;
        if (modules.tasks && pa_dict_get(graph->objects, modules.tasks, "_PyTask", &class))
            pa_objects_add_class(graph->objects, class, PA_KIND_PYTHON_TASK);
        if (modules.futures && pa_dict_get(graph->objects, modules.futures, "_PyFuture", &class))
            pa_objects_add_class(graph->objects, class, PA_KIND_PYTHON_FUTURE);
    }
}

/* Whatever its type, it was registered as a task. */
static void add_task(struct pa_graph *graph, uint32_t interpreter, uint64_t address)
{
    if (pa_type_of(graph->objects, address) == PA_NONE) {
        pa_graph_problem(graph, "set of tasks", address, "holds what is no object; tasks may be missing", PA_NONE);
        return;
    }
    uint32_t count = graph->nodes.count, id = pa_graph_node(graph, address);
    if (id == PA_NONE)
        return;
    graph->registered_count++;
    graph->nodes.items[id].flags |= PA_NODE_REGISTERED;
    if (id == count)
        graph->nodes.items[id].interpreter = interpreter & 0xfff;
}

/* The tasks of a set; of a set of weak references those that are still there. */
static void add_set(struct pa_graph *graph, uint32_t interpreter, uint64_t set, bool weak)
{
    struct pa_set_iterator iterator;
    uint64_t element;
    pa_set_begin(graph->objects, set, &iterator);
    while (pa_set_next(graph->objects, &iterator, &element)) {
        /* Include/cpython/weakrefobject.h, PyWeakReference: wr_object is the first field, None when the object has gone. */
        if (weak && !pa_memory_u64(graph->memory, element + PA_OFFSET(graph->layout, wrapper_object), &element)) {
            iterator.damaged = true;
            continue;
        }
        if (pa_kind_of(graph->objects, element) != PA_KIND_NONE_TYPE)
            add_task(graph, interpreter, element);
    }
    if (iterator.damaged)
        pa_graph_problem(graph, "set of tasks", set, "is damaged; tasks may be missing", PA_NONE);
}

/* Lib/_weakrefset.py: a WeakSet has its weak references in the set .data. */
static void add_weak_set(struct pa_graph *graph, uint32_t interpreter, uint64_t weak_set)
{
    uint64_t data;
    if (pa_instance_attribute(graph->objects, weak_set, "data", &data))
        add_set(graph, interpreter, data, true);
    else
        pa_graph_problem(graph, "set of tasks", weak_set, "is no WeakSet; tasks may be missing", PA_NONE);
}

/* Words of asyncio_state that are looked at; it has 20. */
#define STATE_WORDS 24u

/*
 * The state of _asyncio is known by what it must hold: one WeakSet, and behind that a set. Its first words are types, always there.
 */
static void add_accelerator(struct pa_graph *graph, const struct modules *modules)
{
    struct pa_objects *objects = graph->objects;
    uint64_t state, tasks, eager, weak_set, type;
    if (!modules->accelerator || !PA_HAS(graph->layout, module_state) ||
        !pa_memory_u64(graph->memory, modules->accelerator + PA_OFFSET(graph->layout, module_state), &state) || state % 8 != 0 ||
        !pa_dict_get(objects, modules->tasks, "_scheduled_tasks", &weak_set) ||
        !pa_memory_u64(graph->memory, weak_set + PA_OFFSET(graph->layout, object_type), &type))
        return;
    for (uint32_t i = 0; i < STATE_WORDS; i++) {
        uint32_t id;
        if (!pa_memory_u64(graph->memory, state + 8 * (uint64_t)i, &tasks) ||
            !pa_memory_u64(graph->memory, state + 8 * (uint64_t)i + 8, &eager))
            return;
        if ((id = pa_type_of(objects, tasks)) == PA_NONE || objects->types.items[id].address != type ||
            pa_kind_of(objects, eager) != PA_KIND_SET)
            continue;
        add_weak_set(graph, modules->interpreter, tasks);
        add_set(graph, modules->interpreter, eager, false);
        return;
    }
}

void pa_read_registered(struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->interpreters.count && pa_work_step(graph->work); i++) {
        struct modules modules = modules_of(graph, i);
        uint64_t set;
        if (!modules.tasks)
            continue;
        if (pa_dict_get(graph->objects, modules.tasks, "_scheduled_tasks", &set))
            add_weak_set(graph, i, set);
        if (pa_dict_get(graph->objects, modules.tasks, "_eager_tasks", &set))
            add_set(graph, i, set, false);
        add_accelerator(graph, &modules);
    }
}

/* A loop that asyncio's C code does not know to run: Lib/asyncio/base_events.py notes the thread in _thread_id, threading.get_ident(). */
static void place_loop(struct pa_graph *graph, uint32_t id)
{
    struct pa_loop *loop = &graph->loops.items[id];
    uint64_t object;
    int64_t ident;
    if (loop->thread != PA_NONE || !pa_instance_attribute(graph->objects, loop->address, "_thread_id", &object) ||
        !pa_int_read(graph->objects, object, &ident))
        return;
    for (uint32_t i = pa_thread_with_id(graph, (uint64_t)ident); i != PA_NONE; i = graph->threads.items[i].same) {
        struct pa_thread *thread = &graph->threads.items[i];
        if (thread->loop != 0)
            continue;
        thread->loop = loop->address;
        loop->thread = i;
        return;
    }
}

/* The task that runs in a loop, for asyncio's Python code. */
static void place_task(struct pa_graph *graph, uint64_t loop, uint64_t task)
{
    uint32_t id = pa_index_find(&graph->loop_index, graph->loops.items, sizeof(struct pa_loop), loop);
    uint32_t thread = id == PA_NONE ? PA_NONE : graph->loops.items[id].thread;
    if (thread != PA_NONE && graph->threads.items[thread].loop == loop && graph->threads.items[thread].task == 0 &&
        pa_graph_find(graph, task) != PA_NONE)
        graph->threads.items[thread].task = task;
}

void pa_place_registered(struct pa_graph *graph)
{
    for (uint32_t i = 0; i < graph->loops.count && pa_work_step(graph->work); i++)
        place_loop(graph, i);
    for (uint32_t i = 0; i < graph->interpreters.count && pa_work_step(graph->work); i++) {
        struct modules modules = modules_of(graph, i);
        struct pa_dict_iterator iterator;
        uint64_t dict, loop, task;
        if (!modules.tasks || !pa_dict_get(graph->objects, modules.tasks, "_current_tasks", &dict) ||
            !pa_dict_begin(graph->objects, dict, &iterator))
            continue;
        while (pa_dict_next(graph->objects, &iterator, &loop, &task))
            place_task(graph, loop, task);
    }
}
