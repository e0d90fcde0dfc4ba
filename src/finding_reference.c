/*
 * Findings about what nothing else can get at: tasks that only what they wait for refers to, and queues that only those have who wait on
 * them, so that nobody is left to put or get.
 */
#include "finder.h"

#include "collection.h"
#include "references.h"

#include <stdlib.h>

/* ---- [unreachable] */

static bool is_among(const struct pa_finder *finder, uint32_t node)
{
    for (uint32_t i = 0; i < finder->waiting.count; i++) {
        if (finder->waiting.items[i] == node)
            return true;
    }
    return false;
}

static bool push_waiting(struct pa_finder *finder, uint32_t node)
{
    uint32_t *slot = pa_array_push(finder->graph->work, &finder->waiting, PA_MAX_FELLOWS);
    if (slot)
        *slot = node;
    return slot != NULL;
}

/* The task itself, what it is suspended on, and the lock or queue that this belongs to. */
static void add_task(struct pa_finder *finder, struct pa_references *references, uint32_t id)
{
    struct pa_waits_on waits_on;
    pa_references_add(references, finder->graph->nodes.items[id].address);
    pa_finder_ask(finder, id, &waits_on);
    if (waits_on.future != 0)
        pa_references_add(references, waits_on.future);
    if (waits_on.object != 0)
        pa_references_add(references, waits_on.object);
}

/* The task and those who await it, directly and through others. @return false if there are too many, or some are no suspended tasks. */
static bool gather_waiting(struct pa_finder *finder, uint32_t id)
{
    struct pa_graph *graph = finder->graph;
    finder->waiting.count = 0;
    if (!push_waiting(finder, id))
        return false;
    for (uint32_t i = 0; i < finder->waiting.count && pa_work_step(graph->work); i++) {
        const struct pa_node *node = &graph->nodes.items[finder->waiting.items[i]];
        if ((node->flags & (PA_NODE_TASK | PA_NODE_PYTHON)) != PA_NODE_TASK || node->activity != PA_WAITING)
            return false;
        for (uint32_t k = 0; k < node->edge_count; k++) {
            uint32_t awaiter = graph->edges.items[node->first_edge + k];
            if (!pa_finder_look(finder) || (!is_among(finder, awaiter) && !push_waiting(finder, awaiter)))
                return false;
        }
    }
    return graph->work->fatal == PA_OK;
}

static bool is_candidate(const struct pa_node *node)
{
    return (node->flags & (PA_NODE_TASK | PA_NODE_PYTHON | PA_NODE_BAD)) == PA_NODE_TASK && node->wait == PA_WAIT_FUTURE &&
           node->activity == PA_WAITING;
}

/* Of a task that nobody awaits its future has two references, the method that wakes it and the awaiter; most tasks have more. */
static bool has_few_references(struct pa_graph *graph, uint32_t id)
{
    uint32_t refcnt;
    return pa_refcnt(graph, graph->nodes.items[id].address, &refcnt) && (graph->nodes.items[id].edge_count > 0 || refcnt == 2);
}

static bool is_unreachable(struct pa_finder *finder, struct pa_references *references, uint32_t id)
{
    if (!has_few_references(finder->graph, id) || !gather_waiting(finder, id))
        return false;
    pa_references_begin(references, finder->graph);
    for (uint32_t i = 0; i < finder->waiting.count && !references->cut; i++)
        add_task(finder, references, finder->waiting.items[i]);
    pa_references_count(references);
    return pa_references_closed(references);
}

/* Nodes that were found more than once, since several of what they await are unreachable. */
static void drop_duplicates(struct pa_findings *findings)
{
    struct pa_finding *finding = &findings->items.items[findings->items.count - 1];
    uint32_t *tasks = findings->tasks.items + finding->first_task, kept = 0;
    qsort(tasks, finding->task_count, sizeof(uint32_t), pa_by_id);
    for (uint32_t i = 0; i < finding->task_count; i++) {
        if (i == 0 || tasks[i] != tasks[i - 1])
            tasks[kept++] = tasks[i];
    }
    finding->task_count = kept;
    findings->tasks.count = finding->first_task + kept;
}

void pa_find_unreachable(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct pa_references references = {0};
    struct pa_survey survey;
    bool begun = false;
    if (!PA_HAS(graph->layout, object_refcnt) || !pa_survey_begin(finder, &survey))
        return;
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        if (!is_candidate(&graph->nodes.items[id]) || !pa_survey_wants(finder, &survey, id) ||
            !is_unreachable(finder, &references, id))
            continue;
        if (!begun && !pa_finding_begin(finder, PA_FINDING_UNREACHABLE, 0, 0))
            break;
        begun = true;
        for (uint32_t i = 0; i < finder->waiting.count; i++)
            pa_finding_add_task(finder, finder->waiting.items[i]);
    }
    if (begun && graph->work->fatal == PA_OK)
        drop_duplicates(finder->findings);
    pa_survey_end(finder, &survey);
    pa_references_free(&references);
}

/* ---- [queue-stalled] */

/* Add the tasks that a queue's futures belong to. @return false if not all of them are known, or one has been woken. */
static bool gather_waiters(struct pa_finder *finder, uint64_t queue, const char *attribute)
{
    struct pa_graph *graph = finder->graph;
    struct pa_collection iterator;
    uint64_t deque, future;
    if (!pa_attribute(graph, queue, attribute, &deque) || !pa_collection_begin(graph->objects, deque, &iterator) ||
        iterator.left > PA_MAX_FELLOWS)
        return false;
    while (pa_collection_next(&iterator, &future)) {
        if (pa_kind_of(graph->objects, future) != PA_KIND_FUTURE || pa_future_state(graph, future) != PA_PENDING)
            return false;
        uint32_t node = pa_graph_find(graph, pa_future_only_awaiter(graph, future));
        if (node == PA_NONE || !push_waiting(finder, node))
            return false;
    }
    return !iterator.damaged;
}

/* The tasks that have failed, as many as are looked at and one more: read once. @return false if there are more. */
static bool read_failed(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    for (uint32_t id = 0; !finder->failed_known && graph->ended_count > 0 && id < graph->nodes.count && pa_work_step(graph->work);
         id++) {
        const struct pa_node *node = &graph->nodes.items[id];
        uint32_t *slot = node->state == PA_FAILED_STATE && !(node->flags & (PA_NODE_BAD | PA_NODE_PYTHON))
                             ? pa_array_push(graph->work, &finder->failed, PA_MAX_FELLOWS + 1)
                             : NULL;
        if (slot)
            *slot = id;
    }
    finder->failed_known = true;
    return finder->failed.count <= PA_MAX_FELLOWS;
}

/* Tracebacks of tasks that have failed keep the variables of what failed. With too many of them nothing is certain any more. */
static bool add_tracebacks(struct pa_finder *finder, struct pa_references *references)
{
    struct pa_graph *graph = finder->graph;
    if (!read_failed(finder))
        return false;
    for (uint32_t i = 0; i < finder->failed.count; i++) {
        uint64_t exception, task = graph->nodes.items[finder->failed.items[i]].address;
        if (pa_memory_u64(graph->memory, task + PA_OFFSET(graph->layout, task_exception), &exception))
            pa_references_add_traceback(references, exception);
    }
    return true;
}

/* Whether a task goes on only when one of those in finder->waiting has ended. That it is noted to await one of them does not tell that. */
static bool waits_for_these(struct pa_finder *finder, uint32_t id)
{
    struct pa_waits_on waits_on;
    if (finder->graph->nodes.items[id].activity != PA_WAITING)
        return false;
    pa_finder_ask(finder, id, &waits_on);
    if (!pa_finder_read_children(finder, &waits_on) || finder->children.count == 0)
        return false;
    for (uint32_t i = 0; i < finder->children.count; i++) {
        if (!is_among(finder, finder->children.items[i]))
            return false;
    }
    return true;
}

/*
 * Add those who cannot go on before the waiting ones do. Each is asked again when one that it awaits has been added, so when the last of
 * them has been.
 */
static void add_blocked(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    for (uint32_t i = 0; i < finder->waiting.count && pa_work_step(graph->work); i++) {
        const struct pa_node node = graph->nodes.items[finder->waiting.items[i]];
        for (uint32_t k = 0; k < node.edge_count && k < PA_MAX_FELLOWS && pa_finder_look(finder); k++) {
            uint32_t awaiter = graph->edges.items[node.first_edge + k];
            if (!is_among(finder, awaiter) && waits_for_these(finder, awaiter))
                push_waiting(finder, awaiter);
        }
    }
}

/* An object in a variable of a task's frames that has the queue as an attribute: a service that owns it. */
static void add_owners(struct pa_finder *finder, struct pa_references *references, uint32_t id, uint64_t queue)
{
    struct pa_graph *graph = finder->graph;
    struct pa_links objects = {0};
    pa_task_objects(graph, id, &objects);
    for (uint32_t i = 0; i < objects.count && pa_work_step(graph->work); i++) {
        struct pa_variables variables;
        struct pa_attributes attributes;
        if (!pa_kind_is_gen(pa_kind_of(graph->objects, objects.items[i])) ||
            !pa_variables_begin(graph->codes, objects.items[i] + PA_OFFSET(graph->layout, gen_iframe), &variables))
            continue;
        while (pa_finder_look(finder) && pa_variables_next(&variables)) {
            if (variables.object == 0 || pa_kind_of(graph->objects, variables.object) != PA_KIND_OTHER ||
                !pa_attributes_begin(graph->objects, variables.object, &attributes))
                continue;
            for (uint32_t k = 0; k < PA_MAX_HELD_ATTRIBUTES && pa_finder_look(finder) && pa_attributes_next(&attributes); k++) {
                if (attributes.value == queue)
                    pa_references_add(references, variables.object);
            }
        }
    }
    pa_array_free(graph->work, &objects);
}

/* Whether all that refer to the queue, or to an object that owns it, are tasks that will not go on before somebody puts or gets. */
static bool is_stalled(struct pa_finder *finder, struct pa_references *references, uint64_t queue)
{
    struct pa_graph *graph = finder->graph;
    pa_references_begin(references, graph);
    pa_references_add(references, queue);
    for (uint32_t i = 0; i < finder->waiting.count && !references->cut; i++)
        add_owners(finder, references, finder->waiting.items[i], queue);
    uint32_t owned = references->fellows.count;
    for (uint32_t i = 0; i < finder->waiting.count && !references->cut; i++)
        pa_references_add(references, graph->nodes.items[finder->waiting.items[i]].address);
    if (!add_tracebacks(finder, references))
        return false;
    pa_references_count(references);
    for (uint32_t i = 0; i < owned; i++) {
        if (!pa_references_all_found(references, references->fellows.items[i].object))
            return false;
    }
    return !references->has_timeout && !references->cut;
}

void pa_find_stalled(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct pa_references references = {0};
    for (uint32_t i = 0; i < finder->waited.count && !finder->in_locks && pa_work_step(graph->work); i++) {
        struct pa_waited waited = finder->waited.items[i];
        struct pa_waits_on waits_on;
        if (waited.kind != PA_WAITS_QUEUE_GET && waited.kind != PA_WAITS_QUEUE_PUT)
            continue;
        bool get = waited.kind == PA_WAITS_QUEUE_GET;
        pa_finder_ask(finder, waited.node, &waits_on);
        if (get ? waits_on.size != 0 : waits_on.maximum <= 0 || waits_on.size < waits_on.maximum)
            continue;
        finder->waiting.count = 0;
        if (!gather_waiters(finder, waited.object, get ? "_putters" : "_getters") || finder->waiting.count > 0 ||
            !gather_waiters(finder, waited.object, get ? "_getters" : "_putters"))
            continue;
        uint32_t count = finder->waiting.count;
        add_blocked(finder);
        if (!is_stalled(finder, &references, waited.object))
            continue;
        if (!pa_finding_begin(finder, PA_FINDING_QUEUE_STALLED, get, (uint64_t)waits_on.size))
            break;
        pa_finding_add_object(finder, waited.object);
        for (uint32_t k = 0; k < count; k++)
            pa_finding_add_task(finder, finder->waiting.items[k]);
    }
    pa_references_free(&references);
}
