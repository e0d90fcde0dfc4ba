/* Looking for findings, one kind after the other. See finding.h and finder.h. */
#include "finder.h"

#include <stdlib.h>

/* One line a kind, in the order in which they are told; a function may find several kinds. */
static const struct {
    const char *name;
    void (*find)(struct pa_finder *finder);
} kinds[PA_FINDING_COUNT] = {
    [PA_FINDING_DEADLOCK] = {"deadlock", pa_find_deadlocks},
    [PA_FINDING_LOOP_ASLEEP] = {"loop-asleep", pa_find_asleep},
    [PA_FINDING_HUB_BLOCKED] = {"hub-blocked", pa_find_blocked_hubs},
    [PA_FINDING_LOOP_BLOCKED] = {"loop-blocked", pa_find_blocked},
    [PA_FINDING_EXECUTOR_FULL] = {"executor-full", pa_find_full},
    [PA_FINDING_CHILD_GONE] = {"child-gone", pa_find_children},
    [PA_FINDING_DONE_NOT_WOKEN] = {"done-not-woken", pa_find_not_woken},
    [PA_FINDING_FREE_BUT_WAITED] = {"free-but-waited", pa_find_free},
    [PA_FINDING_QUEUE_STALLED] = {"queue-stalled", pa_find_stalled},
    [PA_FINDING_UNREACHABLE] = {"unreachable", pa_find_unreachable},
    [PA_FINDING_ORPHANED] = {"orphaned", pa_find_orphaned},
    [PA_FINDING_RUNAWAY] = {"runaway", pa_find_runaway},
};

const char *pa_finding_kind_name(enum pa_finding_kind kind)
{
    return kinds[kind].name;
}

bool pa_finder_is_true(struct pa_graph *graph, uint64_t object, const char *attribute)
{
    uint64_t value;
    int64_t number;
    return pa_attribute(graph, object, attribute, &value) && pa_kind_of(graph->objects, value) == PA_KIND_BOOL &&
           pa_int_read(graph->objects, value, &number) && number != 0;
}

/* ---- keeping */

struct pa_finding *pa_finding_begin(struct pa_finder *finder, enum pa_finding_kind kind, uint8_t variant, uint64_t number)
{
    struct pa_findings *findings = finder->findings;
    struct pa_finding *finding = pa_array_push(finder->graph->work, &findings->items, PA_MAX_FINDINGS);
    finder->is_open = finding != NULL;
    findings->more += finding == NULL;
    if (finding)
        *finding = (struct pa_finding){.kind = (uint8_t)kind,
                                       .variant = variant,
                                       .first_task = findings->tasks.count,
                                       .first_object = findings->objects.count,
                                       .first_step = findings->steps.count,
                                       .number = number};
    return finding;
}

void pa_finding_add_task(struct pa_finder *finder, uint32_t node)
{
    struct pa_findings *findings = finder->findings;
    uint32_t *slot = finder->is_open ? pa_array_push(finder->graph->work, &findings->tasks, PA_NONE) : NULL;
    if (!slot)
        return;
    *slot = node;
    findings->items.items[findings->items.count - 1].task_count++;
}

void pa_finding_add_object(struct pa_finder *finder, uint64_t object)
{
    struct pa_findings *findings = finder->findings;
    uint64_t *slot = finder->is_open ? pa_array_push(finder->graph->work, &findings->objects, PA_NONE) : NULL;
    if (!slot)
        return;
    *slot = object;
    findings->items.items[findings->items.count - 1].object_count++;
}

void pa_finding_add_step(struct pa_finder *finder, struct pa_finding_step step)
{
    struct pa_findings *findings = finder->findings;
    struct pa_finding_step *slot = finder->is_open ? pa_array_push(finder->graph->work, &findings->steps, PA_NONE) : NULL;
    if (!slot)
        return;
    *slot = step;
    findings->items.items[findings->items.count - 1].step_count++;
    if (step.task != PA_NONE)
        pa_finding_add_task(finder, step.task);
    if (step.object != 0)
        pa_finding_add_object(finder, step.object);
}

void pa_finding_drop(struct pa_finder *finder)
{
    struct pa_findings *findings = finder->findings;
    if (!finder->is_open)
        return;
    const struct pa_finding *finding = &findings->items.items[--findings->items.count];
    findings->tasks.count = finding->first_task;
    findings->objects.count = finding->first_object;
    findings->steps.count = finding->first_step;
    finder->is_open = false;
}

/* ---- looking */

bool pa_finder_look_at_set(struct pa_finder *finder, const struct pa_set_iterator *iterator)
{
    if (iterator->slots > PA_MAX_LOOKED - finder->looked)
        return false;
    finder->looked += (uint32_t)iterator->slots;
    return true;
}

void pa_loop_tasks_add(struct pa_finder *finder, struct pa_loop_tasks *tasks, uint32_t node)
{
    uint64_t *slot = pa_array_push(finder->graph->work, tasks, PA_NONE);
    if (slot)
        *slot = (uint64_t)finder->graph->nodes.items[node].loop << 32 | node;
}

static int by_number(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

void pa_loop_tasks_sort(struct pa_loop_tasks *tasks)
{
    if (tasks->count > 1)
        qsort(tasks->items, tasks->count, sizeof(uint64_t), by_number);
}

/* ---- what tasks wait on */

void pa_finder_ask(struct pa_finder *finder, uint32_t node, struct pa_waits_on *waits_on)
{
    pa_task_objects(finder->graph, node, &finder->links);
    pa_waits_read(&finder->waits, node, finder->links.count ? finder->links.items[0] : 0, waits_on);
}

static bool add_child(struct pa_finder *finder, uint64_t future)
{
    struct pa_graph *graph = finder->graph;
    uint32_t node = pa_graph_find(graph, future);
    bool is_task = node != PA_NONE && graph->nodes.items[node].flags & PA_NODE_TASK;
    if (is_task ? graph->nodes.items[node].state != PA_PENDING : pa_future_state(graph, future) != PA_PENDING)
        return true;
    uint32_t *slot = pa_array_push(graph->work, &finder->children, PA_MAX_PARTIES);
    if (slot)
        *slot = is_task ? node : PA_NONE;
    return slot != NULL;
}

static bool add_set_of_children(struct pa_finder *finder, uint64_t set)
{
    struct pa_set_iterator iterator;
    uint64_t child;
    if (!pa_set_begin(finder->graph->objects, set, &iterator) || !pa_finder_look_at_set(finder, &iterator))
        return false;
    while (pa_set_next(finder->graph->objects, &iterator, &child)) {
        if (!add_child(finder, child))
            return false;
    }
    return !iterator.damaged;
}

static bool add_sequence_of_children(struct pa_finder *finder, uint64_t sequence)
{
    struct pa_graph *graph = finder->graph;
    uint64_t items, count, child;
    if (!pa_sequence(graph->objects, sequence, &items, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!pa_finder_look(finder) || !pa_memory_u64(graph->memory, items + 8 * i, &child) || !add_child(finder, child))
            return false;
    }
    return true;
}

bool pa_finder_read_children(struct pa_finder *finder, const struct pa_waits_on *waits_on)
{
    struct pa_graph *graph = finder->graph;
    uint64_t children, innermost = finder->links.count ? finder->links.items[0] : 0;
    finder->children.count = 0;
    if (!pa_finder_look(finder))
        return false;
    switch (waits_on->kind) {
    case PA_WAITS_TASK:
        return add_child(finder, waits_on->object);
    case PA_WAITS_GATHER:
        return pa_attribute(graph, waits_on->object, "_children", &children) && add_sequence_of_children(finder, children);
    case PA_WAITS_TASKGROUP:
        return pa_attribute(graph, waits_on->object, "_tasks", &children) && add_set_of_children(finder, children);
    case PA_WAITS_WAIT:
        return pa_kind_of(graph->objects, innermost) == PA_KIND_COROUTINE &&
               pa_variable_get(graph->codes, innermost + PA_OFFSET(graph->layout, gen_iframe), "fs", &children) &&
               add_set_of_children(finder, children);
    default:
        return false;
    }
}

static void note_waited(struct pa_finder *finder, const struct pa_waits_on *waits_on, uint32_t node)
{
    struct pa_work *work = finder->graph->work;
    if (waits_on->object == 0 ||
        pa_index_find(&finder->waited_index, finder->waited.items, sizeof(struct pa_waited), waits_on->object) != PA_NONE)
        return;
    struct pa_waited *waited = pa_array_push(work, &finder->waited, PA_NONE);
    if (!waited)
        return;
    *waited = (struct pa_waited){waits_on->object, node, (uint8_t)waits_on->kind};
    pa_index_add(work, &finder->waited_index, finder->waited.items, sizeof(struct pa_waited), finder->waited.count - 1);
}

bool pa_survey_begin(struct pa_finder *finder, struct pa_survey *survey)
{
    survey->stacks = finder->graph->codes->stacks.count;
    survey->asked = pa_work_resize(finder->graph->work, NULL, 0, survey->stacks * sizeof(uint32_t));
    if (survey->asked)
        memset(survey->asked, 0, survey->stacks * sizeof(uint32_t));
    return survey->asked != NULL;
}

bool pa_survey_wants(struct pa_finder *finder, struct pa_survey *survey, uint32_t node)
{
    uint32_t stack = finder->graph->nodes.items[node].stack;
    return stack < survey->stacks && survey->asked[stack]++ < PA_MAX_SURVEY;
}

void pa_survey_end(struct pa_finder *finder, struct pa_survey *survey)
{
    pa_work_resize(finder->graph->work, survey->asked, survey->stacks * sizeof(uint32_t), 0);
}

/* A few tasks of each stack: those that wait on one object nearly always have the same, and the object knows all that wait on it. */
static void note_all_waited(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct pa_waits_on waits_on;
    struct pa_survey survey;
    if (!pa_survey_begin(finder, &survey))
        return;
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        if (graph->nodes.items[id].wait != PA_WAIT_FUTURE || !pa_survey_wants(finder, &survey, id))
            continue;
        pa_finder_ask(finder, id, &waits_on);
        note_waited(finder, &waits_on, id);
    }
    pa_survey_end(finder, &survey);
}

static bool is_of_locks(const struct pa_arena *text, const struct pa_frame *frame)
{
    if (pa_text_ends(text, frame->file, "/asyncio/locks.py") || pa_text_ends(text, frame->file, "/asyncio/queues.py"))
        return true;
    return pa_text_ends(text, frame->file, "/anyio/_backends/_asyncio.py") &&
           (pa_text_begins(text, frame->function, "Lock.") || pa_text_begins(text, frame->function, "Semaphore.") ||
            pa_text_begins(text, frame->function, "CapacityLimiter."));
}

/* What threads are in the midst of: then an object may look as it never stays. */
static void look_at_threads(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    const struct pa_arena *text = &graph->objects->text;
    for (uint32_t i = 0; i < graph->thread_frames.count && pa_work_step(graph->work); i++) {
        const struct pa_frame *frame = &graph->codes->frames.items[graph->thread_frames.items[i].frame];
        if (is_of_locks(text, frame))
            finder->in_locks = true;
        if (pa_text_ends(text, frame->function, ".call_soon") || pa_text_ends(text, frame->function, ".call_soon_threadsafe") ||
            pa_text_ends(text, frame->function, "._call_soon"))
            finder->in_call_soon = true;
    }
}

/* ---- all of them */

static void mark_nodes(const struct pa_findings *findings)
{
    for (uint32_t i = 0; i < findings->tasks.count; i++)
        findings->graph->nodes.items[findings->tasks.items[i]].flags |= PA_NODE_IN_FINDING;
}

enum pa_status pa_findings_make(struct pa_findings *findings, struct pa_graph *graph)
{
    struct pa_finder finder = {.graph = graph, .findings = findings};
    if (findings->made)
        return PA_OK;
    *findings = (struct pa_findings){.graph = graph};
    pa_waits_init(&finder.waits, graph);
    look_at_threads(&finder);
    note_all_waited(&finder);
    for (uint32_t kind = 0; kind < PA_FINDING_COUNT && graph->work->fatal == PA_OK; kind++) {
        if (kinds[kind].find)
            kinds[kind].find(&finder);
        finder.is_open = false;
    }
    pa_waits_deinit(&finder.waits);
    pa_array_free(graph->work, &finder.waited);
    pa_index_free(graph->work, &finder.waited_index);
    pa_array_free(graph->work, &finder.links);
    pa_array_free(graph->work, &finder.waiting);
    pa_array_free(graph->work, &finder.children);
    pa_array_free(graph->work, &finder.failed);
    mark_nodes(findings);
    findings->made = graph->work->fatal == PA_OK;
    return graph->work->fatal;
}

void pa_findings_free(struct pa_findings *findings)
{
    if (!findings->graph)
        return;
    pa_array_free(findings->graph->work, &findings->items);
    pa_array_free(findings->graph->work, &findings->tasks);
    pa_array_free(findings->graph->work, &findings->objects);
    pa_array_free(findings->graph->work, &findings->steps);
    *findings = (struct pa_findings){0};
}
