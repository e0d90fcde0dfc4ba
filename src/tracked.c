/*
 * Tasks that no list or set has: ended ones that something still refers to, and pending ones of a list that is damaged. They are found among
 * the objects that the garbage collector tracks (gc.h), which are several millions in a process with a million tasks. So all of them are
 * searched only when that is asked for or a list was damaged; else no more than a small process has.
 *
 * Pending ones of whole lists are not looked for unasked: after a fork, whose child empties its lists, they are those of the parent.
 *
 * Where the garbage collector's lists are damaged too (or there are none, or it was at work) pending tasks are searched for in memory: a
 * type of tasks is known by then, and its address stands in each of its objects.
 */
#include "future.h"
#include "gc.h"

struct search {
    struct pa_graph *graph;
    struct pa_gc_walk walk;
    uint32_t interpreter;
    bool pending; /* pending ones too */
    PA_ARRAY(struct found) found;
};

/* Types of tasks that are searched for. */
#define MAX_TYPES 64u

/* A task that is no node yet. Nodes are made when it is clear that the search is whole. */
struct found {
    uint64_t address;
    uint32_t interpreter;
};

/* A task whose __init__() was never called, or has not got to its coroutine, is none yet. */
static bool is_wanted(const struct search *search, uint64_t address, enum pa_kind kind)
{
    struct pa_graph *graph = search->graph;
    struct pa_future fields;
    uint64_t coroutine;
    if (kind == PA_KIND_PYTHON_TASK)
        return pa_future_read(graph, address, true, &fields) &&
               (fields.state != PA_PENDING || (search->pending && fields.coroutine != 0));
    if (pa_future_state(graph, address) != PA_PENDING)
        return true;
    return search->pending && pa_memory_u64(graph->memory, address + PA_OFFSET(graph->layout, task_coro), &coroutine) &&
           coroutine != 0;
}

static bool visit(void *context, uint64_t object, uint32_t type)
{
    struct search *search = context;
    struct pa_graph *graph = search->graph;
    if (pa_graph_find(graph, object) == PA_NONE && is_wanted(search, object, graph->objects->types.items[type].kind)) {
        struct found *slot = pa_array_push(graph->work, &search->found, PA_MAX_NODES);
        if (slot)
            *slot = (struct found){object, search->interpreter};
    }
    return graph->work->fatal == PA_OK;
}

/* @return false if there are more objects than are to be looked at. */
static bool walk(struct search *search)
{
    const uint64_t kinds = PA_GC_KIND(PA_KIND_TASK) | PA_GC_KIND(PA_KIND_PYTHON_TASK);
    struct pa_graph *graph = search->graph;
    for (uint32_t i = 0; i < graph->interpreters.count; i++) {
        search->interpreter = i;
        if (!pa_gc_walk(graph->objects, graph->interpreters.items[i].address, kinds, visit, search, &search->walk))
            return false;
    }
    return true;
}

static void add_nodes(struct search *search, uint32_t how)
{
    struct pa_graph *graph = search->graph;
    for (uint32_t i = 0; i < search->found.count && pa_work_step(graph->work); i++) {
        uint32_t id = pa_graph_node(graph, search->found.items[i].address);
        if (id == PA_NONE)
            return;
        graph->nodes.items[id].flags |= how & 0xfff;
        graph->nodes.items[id].interpreter = search->found.items[i].interpreter & 0xfff;
    }
    search->found.count = 0;
}

/* Whether an object that has the type of a task at the place of its type can be one that is alive and pending. A task that was freed has
   no coroutine any more (Modules/_asynciomodule.c, TaskObj_clear()) and, with the GIL, no references. */
static bool is_alive(struct pa_graph *graph, uint64_t object)
{
    uint64_t coroutine, loop;
    uint32_t references;
    return pa_memory_u32(graph->memory, object, &references) && (references != 0 || graph->layout->free_threaded) &&
           pa_object_word(graph->objects, object, PA_F_task_coro, &coroutine) &&
           pa_object_word(graph->objects, object, PA_F_task_loop, &loop) && pa_kind_is_gen(pa_kind_of(graph->objects, coroutine)) &&
           pa_type_of(graph->objects, loop) != PA_NONE;
}

static bool memory_hit(void *context, uint64_t address)
{
    struct search *search = context;
    struct pa_graph *graph = search->graph;
    uint64_t object = address - PA_OFFSET(graph->layout, object_type);
    uint32_t type = pa_type_of(graph->objects, object);
    return type == PA_NONE || !is_alive(graph, object) ? graph->work->fatal == PA_OK : visit(search, object, type);
}

static void search_memory(struct search *search)
{
    struct pa_objects *objects = search->graph->objects;
    uint64_t types[MAX_TYPES], base = 0;
    uint32_t count = 0;
    if (pa_module_attribute(objects, "_asyncio", "Task", &base))
        pa_type_id(objects, base);
    for (uint32_t i = 0; i < objects->types.count && count < MAX_TYPES; i++) {
        if (objects->types.items[i].kind == PA_KIND_TASK)
            types[count++] = objects->types.items[i].address;
    }
    for (uint32_t i = 0; i < count && search->graph->work->fatal == PA_OK; i++)
        pa_memory_scan(search->graph->memory, 0, types[i], memory_hit, search);
}

/* Why a search that was asked for is not whole. */
static void report(struct pa_graph *graph, const struct pa_gc_walk *walk)
{
    if (walk->collecting > 0)
        pa_graph_problem(graph, "list of objects", graph->interpreters.items[0].address,
                         "is being worked on by the garbage collector; ended tasks and tasks in no list may be missing", PA_NONE);
    if (walk->damage)
        pa_graph_problem(graph, "list of objects", walk->damaged_at, walk->damage, PA_NONE);
}

void pa_read_tracked(struct pa_graph *graph)
{
    bool needed = graph->search != PA_SEARCH_SMALL || graph->damaged_lists > 0;
    const char *unavailable = pa_gc_unavailable(graph->layout);
    struct search search = {.graph = graph, .walk.limit = needed ? 0 : PA_SMALL_PROCESS};
    search.pending = graph->search == PA_SEARCH_ALL || graph->damaged_lists > 0;
    /* A task, its coroutines, what it waits for and the handles of these: some eight objects. */
    bool big = graph->nodes.count > PA_SMALL_PROCESS / 8;
    if (graph->interpreters.count == 0 || (big && !needed))
        return;
    if (unavailable && needed)
        pa_graph_problem(graph, "list of objects", graph->interpreters.items[0].address, unavailable, PA_NONE);
    if (unavailable && !search.pending)
        return;
    bool whole = unavailable || walk(&search);
    if (needed)
        report(graph, &search.walk);
    else
        whole = whole && search.walk.damaged == 0 && search.walk.collecting == 0;
    if (whole && graph->work->fatal == PA_OK) {
        add_nodes(&search, PA_NODE_TRACKED);
        graph->searched = !unavailable;
    }
    if (search.pending && (unavailable || search.walk.damaged > 0 || search.walk.collecting > 0)) {
        search.interpreter = 0; /* memory does not tell */
        search_memory(&search);
        add_nodes(&search, PA_NODE_SCANNED);
    }
    pa_array_free(graph->work, &search.found);
}
