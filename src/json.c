/*
 * The JSON document. See json.h.
 *
 * It is written straight to the output, a task at a time: a million of them must not be built up in memory.
 */
#include "json.h"

#include "holder.h"
#include "json_values.h"
#include "limits.h"
#include "redact.h"
#include "report.h"
#include "stats.h"
#include "text.h"

enum { DEFINED = 1, REFERRED = 2 };

struct writer {
    struct pa_graph *graph;
    struct pa_view *view;
    const struct pa_greenlet_view *greenlets;
    struct pa_output *out;
    PA_ARRAY(uint32_t) stack_ids; /* stacks in the document, in their order there */
    uint32_t *stack_number;       /* by stack: its place in stack_ids, or PA_NONE */
    uint32_t stacks;              /* length of stack_number */
    uint8_t *marks;               /* by node: DEFINED in the document, REFERRED to */
    uint32_t nodes;               /* length of marks */
    PA_ARRAY(uint32_t) referred;  /* nodes that were referred to before they were defined */
    PA_ARRAY(uint64_t) unknown;   /* addresses that are referred to and are no node */
    bool wrote_task, wrote_future;
    struct pa_links links;          /* of the task that is written */
    struct pa_links greenlet_links; /* likewise, the greenlets */
    struct pa_waits waits;
    struct pa_json_pools pools;
    struct pa_frame_list frames;
    struct pa_natives natives;
    struct pa_values *values; /* NULL until a value is written */
    char name[PA_STRING_BYTES];
    char safe[2 * PA_STRING_BYTES];
};

static void raw(struct writer *writer, const char *text)
{
    pa_out(writer->out, PA_STYLE_PLAIN, text);
}

#define number(writer, ...) pa_out_format((writer)->out, PA_STYLE_PLAIN, __VA_ARGS__)

static void string(struct writer *writer, const char *text)
{
    if (text)
        pa_out_json(writer->out, text, strlen(text));
    else
        raw(writer, "null");
}

static void quoted_hex(struct writer *writer, uint64_t value)
{
    raw(writer, "\"");
    pa_out_hex(writer->out, PA_STYLE_PLAIN, value);
    raw(writer, "\"");
}

static void address(struct writer *writer, uint64_t value)
{
    if (value)
        quoted_hex(writer, value);
    else
        raw(writer, "null");
}

static void target_text(struct writer *writer, struct pa_text text)
{
    pa_out_json(writer->out, pa_arena_text(&writer->graph->objects->text, text), text.length);
}

/* Stacks that the graph has and had not before: tracebacks are read when they are written. */
static bool add_stacks(struct writer *writer)
{
    uint32_t count = writer->graph->codes->stacks.count;
    uint32_t *moved =
        pa_work_resize(writer->graph->work, writer->stack_number, writer->stacks * sizeof(uint32_t), count * sizeof(uint32_t));
    if (!moved)
        return false;
    memset(moved + writer->stacks, 0xff, (count - writer->stacks) * sizeof(uint32_t));
    writer->stack_number = moved;
    writer->stacks = count;
    return true;
}

static struct pa_values *values_of(struct writer *writer)
{
    if (!writer->values)
        writer->values = pa_values_new(writer->graph->objects, pa_request_value_limits(writer->view->request));
    return writer->values;
}

/* The place of a stack in the document; a stack that is new gets the next one. */
static uint32_t stack_number(struct writer *writer, uint32_t stack)
{
    if (stack >= writer->stacks && !add_stacks(writer))
        return 0;
    if (writer->stack_number[stack] == PA_NONE) {
        uint32_t *slot = pa_array_push(writer->graph->work, &writer->stack_ids, PA_NONE);
        if (!slot)
            return 0;
        *slot = stack;
        writer->stack_number[stack] = writer->stack_ids.count - 1;
    }
    return writer->stack_number[stack];
}

void pa_json_frame(struct pa_output *out, struct pa_graph *graph, uint32_t id)
{
    static const char *const kinds[PA_FRAME_KIND_COUNT] = {"function", "coroutine", "generator", "async generator", "awaitable"};
    const struct pa_arena *text = &graph->objects->text;
    if (id == PA_NONE) {
        pa_out(out, PA_STYLE_PLAIN, "null");
        return;
    }
    const struct pa_frame *frame = &graph->codes->frames.items[id];
    pa_out(out, PA_STYLE_PLAIN, "{\"function\": ");
    pa_out_json(out, pa_arena_text(text, frame->function), frame->function.length);
    pa_out(out, PA_STYLE_PLAIN, ", \"file\": ");
    if (frame->kind == PA_FRAME_AWAITABLE)
        pa_out(out, PA_STYLE_PLAIN, "null");
    else
        pa_out_json(out, pa_arena_text(text, frame->file), frame->file.length);
    if (frame->line > 0)
        pa_out_format(out, PA_STYLE_PLAIN, ", \"line\": %d", frame->line);
    else
        pa_out(out, PA_STYLE_PLAIN, ", \"line\": null");
    pa_out_format(out, PA_STYLE_PLAIN, ", \"kind\": \"%s\"}", kinds[frame->kind]);
}

static uint32_t number_of_stack(void *context, uint32_t stack)
{
    return stack_number(context, stack);
}

static void thread_number(struct writer *writer, uint32_t thread)
{
    uint32_t num = thread == PA_NONE ? 0 : writer->graph->threads.items[thread].number;
    if (num)
        number(writer, "%u", num);
    else
        raw(writer, "null");
}

/* Note that the document refers to a node, so that it is defined in it or listed as unknown. */
static void refer(struct writer *writer, uint32_t node)
{
    if (node >= writer->nodes || writer->marks[node])
        return;
    uint32_t *slot = pa_array_push(writer->graph->work, &writer->referred, PA_NONE);
    if (slot)
        *slot = node;
    writer->marks[node] |= REFERRED;
}

static void write_python(struct writer *writer)
{
    struct pa_objects *objects = writer->graph->objects;
    uint64_t ignored;
    char version[32];
    if (writer->graph->layout->hexversion == 0) {
        raw(writer, "null");
        return;
    }
    pa_version_text(writer->graph->layout->hexversion, version);
    number(writer, "{\"version\": \"%s\", \"debug_build\": ", version);
    /* Structures are the same; only debug builds have sys.gettotalrefcount(). */
    if (pa_module_attribute(objects, "sys", "version", &ignored))
        raw(writer, pa_module_attribute(objects, "sys", "gettotalrefcount", &ignored) ? "true" : "false");
    else
        raw(writer, "null");
    number(writer, ", \"free_threaded\": %s}", writer->graph->layout->free_threaded ? "true" : "false");
}

static void write_head(struct writer *writer)
{
    const struct pa_target *target = writer->graph->work->target;
    raw(writer, "{\"schema\": \"pyasync/1\", \"producer\": {\"pyasync\": \"" PA_VERSION "\", \"gdb\": ");
    string(writer, target->debugger);
    raw(writer, "},\n\"python\": ");
    write_python(writer);
    raw(writer, ",\n\"process\": {\"pid\": ");
    if (target->pid > 0)
        number(writer, "%lld", (long long)target->pid);
    else
        raw(writer, "null");
    raw(writer, ", \"core\": ");
    string(writer, target->core_name);
    raw(writer, ", \"signal\": ");
    string(writer, target->signal);
    raw(writer, ", \"executable\": ");
    string(writer, target->executable);
    raw(writer, "},\n");
}

static void write_problems(struct writer *writer)
{
    const struct pa_graph *graph = writer->graph;
    number(writer, "\"complete\": %s, \"problem_count\": %u,\n\"problems\": [", graph->problem_count == 0 ? "true" : "false",
           graph->problem_count);
    for (uint32_t i = 0; i < graph->problems.count; i++) {
        const struct pa_problem *problem = &graph->problems.items[i];
        raw(writer, i > 0 ? ",\n {\"what\": " : "\n {\"what\": ");
        string(writer, problem->what);
        raw(writer, ", \"address\": ");
        number(writer, "\"0x%llx\"", (unsigned long long)problem->address);
        raw(writer, ", \"why\": ");
        string(writer, problem->why);
        raw(writer, ", \"task\": ");
        bool task = problem->node != PA_NONE && graph->nodes.items[problem->node].flags & PA_NODE_TASK;
        address(writer, task ? graph->nodes.items[problem->node].address : 0);
        if (task)
            refer(writer, problem->node);
        raw(writer, "}");
    }
    raw(writer, "],\n");
}

static void write_selection(struct writer *writer)
{
    const struct pa_request *request = writer->view->request;
    const char *comma = "";
    number(writer, "\"selection\": {\"total\": %u, \"shown\": %u, \"filters\": [", writer->view->total,
           writer->view->selected.count);
    if (request->state) {
        raw(writer, "\"state=");
        raw(writer, request->state); /* one of a closed list */
        raw(writer, "\"");
        comma = ", ";
    }
    if (pa_request_thread(request) < PA_THREAD_ALL) {
        number(writer, "%s\"thread=%u\"", comma, request->thread);
        comma = ", ";
    }
    if (request->in) {
        raw(writer, comma);
        string(writer, request->in);
        comma = ", ";
    }
    for (uint32_t i = 0; i < request->operand_count; i++) {
        raw(writer, comma);
        string(writer, request->operands[i].text);
        comma = ", ";
    }
    const struct pa_left_out *left_out = &writer->view->left_out;
    number(writer, "], \"left_out\": {\"state\": %u, \"thread\": %u, \"in\": %u}},\n", left_out->state, left_out->thread,
           left_out->in);
}

static void write_stats_counts(struct writer *writer, const struct pa_stats_row *row)
{
    uint32_t pending = row->tasks - row->counts[PA_STATS_DONE] - row->counts[PA_STATS_FAILED] - row->counts[PA_STATS_CANCELLED];
    number(writer, "\"tasks\": %u, \"states\": {\"pending\": %u", row->tasks, pending);
    for (uint32_t i = PA_STATS_DONE; i <= PA_STATS_CANCELLED; i++)
        number(writer, ", \"%s\": %u", pa_stats_column_name(i), row->counts[i]);
    raw(writer, "}, \"activities\": {");
    for (uint32_t i = 0; i < PA_STATS_DONE; i++)
        number(writer, "\"%s\": %u, ", pa_stats_column_name(i), row->counts[i]);
    number(writer, "\"ended\": %u}", row->tasks - pending);
}

/* "frames": the tasks of each telling frame, those of none last of equal ones */
static void write_stats(struct writer *writer)
{
    struct pa_stats stats;
    if (pa_stats_make(&stats, writer->view)) {
        raw(writer, "\"stats\": {");
        write_stats_counts(writer, &stats.total);
        raw(writer, ", \"frames\": [");
        for (uint32_t i = 0; i < stats.count && pa_work_step(writer->graph->work); i++) {
            raw(writer, i > 0 ? ",\n {\"frame\": " : "\n {\"frame\": ");
            pa_json_frame(writer->out, writer->graph, stats.rows[i].frame);
            raw(writer, ", ");
            write_stats_counts(writer, &stats.rows[i]);
            raw(writer, "}");
        }
        raw(writer, "]},\n");
    }
    pa_stats_free(&stats);
}

static void write_loops(struct writer *writer)
{
    raw(writer, "\"loops\": [");
    for (uint32_t i = 0; i < writer->graph->loops.count && pa_work_step(writer->graph->work); i++) {
        raw(writer, i > 0 ? ",\n " : "\n ");
        pa_json_loop(writer->out, writer->graph, i);
    }
    raw(writer, "],\n");
}

/* A thread that is blocked in a threading lock, with or without a task. */
static void write_thread_waits_on(struct writer *writer, uint32_t thread)
{
    bool is_condition;
    struct pa_waits_on waits_on = {.waiters = PA_WAIT_UNKNOWN};
    waits_on.object = pa_thread_awaited_lock(writer->graph, thread, &is_condition);
    waits_on.kind = is_condition ? PA_WAITS_CONDITION : PA_WAITS_LOCK;
    if (waits_on.object != 0)
        pa_json_waits_on(writer->out, writer->graph, &waits_on);
    else
        raw(writer, ", \"waits_on\": null");
}

static void write_threads(struct writer *writer)
{
    struct pa_graph *graph = writer->graph;
    raw(writer, "\"threads\": [");
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        uint32_t task = thread->task ? pa_graph_find(graph, thread->task) : PA_NONE;
        raw(writer, i > 0 ? ",\n {\"num\": " : "\n {\"num\": ");
        thread_number(writer, i);
        raw(writer, ", \"lwp\": ");
        if (thread->number && thread->lwp > 0)
            number(writer, "%lld", (long long)thread->lwp);
        else
            raw(writer, "null");
        number(writer, ", \"native_id\": %llu, \"interpreter\": %lld, \"name\": ", (unsigned long long)thread->native_id,
               (long long)graph->interpreters.items[thread->interpreter].id);
        string(writer, thread->name);
        raw(writer, ", \"loop\": ");
        address(writer, thread->loop);
        raw(writer, ", \"task\": ");
        address(writer, task == PA_NONE ? 0 : thread->task);
        refer(writer, task);
        raw(writer, ", \"greenlet\": ");
        address(writer, thread->greenlet == PA_NONE ? 0 : graph->greenlets.items[thread->greenlet].address);
        write_thread_waits_on(writer, i);
        pa_json_blocked(writer->out, graph, i);
        number(writer, ", \"stack\": %u}", stack_number(writer, thread->stack));
    }
    raw(writer, "],\n");
}

static void write_awaited_by(struct writer *writer, uint32_t id, const struct pa_node *node)
{
    raw(writer, ", \"awaited_by\": [");
    for (uint32_t i = 0; i < node->edge_count; i++) {
        uint32_t awaiter = writer->graph->edges.items[node->first_edge + i];
        raw(writer, i > 0 ? ", {\"id\": " : "{\"id\": ");
        quoted_hex(writer, writer->graph->nodes.items[awaiter].address);
        raw(writer, pa_edge_is_derived(writer->graph, id, awaiter) ? ", \"source\": \"derived\"}" : ", \"source\": \"published\"}");
        refer(writer, awaiter);
    }
    number(writer, "], \"stale_awaiters\": %u", node->stale);
}

/*
 * Whether a future is a task's own affair: nobody else awaits it, and it is no node of the graph. Nearly every future is; a million of
 * them are written without being kept.
 */
static bool is_private(struct writer *writer, uint32_t id, uint64_t future)
{
    struct pa_graph *graph = writer->graph;
    return future != 0 && pa_graph_find(graph, future) == PA_NONE && pa_kind_of(graph->objects, future) == PA_KIND_FUTURE &&
           pa_future_only_awaiter(graph, future) == graph->nodes.items[id].address;
}

/* What a task is suspended on. A future whose owner is not known is just that; one that is done leaves its task ready. */
static void write_waits_on(struct writer *writer, uint32_t id)
{
    struct pa_waits_on waits_on;
    if (!pa_waits_read(&writer->waits, id, writer->links.count ? writer->links.items[0] : 0, &waits_on)) {
        raw(writer, ", \"waits_on\": null");
        return;
    }
    pa_json_waits_on(writer->out, writer->graph, &waits_on);
    if (pa_wait_is_unexplained(&waits_on))
        pa_json_within(writer->out, &writer->pools, id);
    uint64_t future = waits_on.future;
    if (future == 0)
        return;
    if (is_private(writer, id, future))
        return; /* write_futures() comes to it */
    uint32_t other = pa_graph_find(writer->graph, future);
    uint64_t *slot = other == PA_NONE ? pa_array_push(writer->graph->work, &writer->unknown, PA_NONE) : NULL;
    if (slot)
        *slot = future;
    refer(writer, other);
}

static void write_objects(struct writer *writer, uint32_t id)
{
    pa_task_objects(writer->graph, id, &writer->links);
    raw(writer, ", \"objects\": [");
    for (uint32_t i = 0; i < writer->links.count; i++) {
        if (i > 0)
            raw(writer, ", ");
        address(writer, writer->links.items[i]);
    }
    raw(writer, "]");
    if (!pa_task_greenlets(writer->graph, id, &writer->greenlet_links))
        return;
    raw(writer, ", \"greenlets\": [");
    for (uint32_t i = 0; i < writer->greenlet_links.count; i++) {
        if (i > 0)
            raw(writer, ", ");
        address(writer, writer->greenlet_links.items[i]);
    }
    raw(writer, "]");
}

static void write_task(struct writer *writer, uint32_t id)
{
    struct pa_graph *graph = writer->graph;
    struct pa_node node = graph->nodes.items[id];
    uint32_t length, requests, flags = writer->view->request->flags;
    bool must_cancel;
    pa_task_name(graph, id, writer->name, &length);
    const char *name = writer->name;
    if (!(writer->view->request->flags & PA_REQUEST_SHOW_SECRETS)) {
        length = pa_redact(writer->name, length, writer->safe, sizeof(writer->safe));
        name = writer->safe;
    }
    pa_task_cancelling(graph, id, &requests, &must_cancel);
    raw(writer, " {\"id\": ");
    quoted_hex(writer, node.address);
    raw(writer, ", \"name\": ");
    pa_out_json(writer->out, name, length);
    raw(writer, ", \"type\": ");
    target_text(writer, pa_node_type(graph, id));
    number(writer, ", \"found\": \"%s\"", pa_task_found(graph, id));
    number(writer, ", \"state\": \"%s\", \"activity\": \"%s\", \"cancel_requests\": %u, \"must_cancel\": %s, \"thread\": ",
           pa_state_name(node.state), pa_activity_name(node.activity), requests, must_cancel ? "true" : "false");
    thread_number(writer, node.thread == PA_NO_THREAD ? PA_NONE : node.thread);
    number(writer, ", \"interpreter\": %lld, \"loop\": ",
           (long long)(graph->interpreters.count ? graph->interpreters.items[node.interpreter].id : 0));
    address(writer, node.loop == PA_NO_LOOP ? 0 : graph->loops.items[node.loop].address);
    number(writer, ", \"stack\": %u", stack_number(writer, node.stack));
    uint32_t place;
    if (pa_stack_derived_from(graph, node.stack, &place) != PA_NONE)
        raw(writer, ", \"derived_stack\": true");
    write_objects(writer, id);
    if (flags & PA_REQUEST_LOCALS && values_of(writer))
        pa_json_locals(writer->out, graph, writer->values, id);
    if (flags & PA_REQUEST_CONTEXT && values_of(writer))
        pa_json_context(writer->out, graph, writer->values, id);
    pa_json_origin(writer->out, graph, id);
    write_awaited_by(writer, id, &node);
    write_waits_on(writer, id);
    raw(writer, ", \"exception\": ");
    if (node.state == PA_FAILED_STATE && values_of(writer))
        pa_json_exception(writer->out, graph, writer->values, id, number_of_stack, writer);
    else
        raw(writer, "null");
    raw(writer, "}");
}

static void write_tasks(struct writer *writer)
{
    raw(writer, "\"tasks\": [");
    for (uint32_t i = 0; i < writer->view->selected.count && pa_work_step(writer->graph->work); i++) {
        uint32_t id = writer->view->selected.items[i];
        if (!(writer->graph->nodes.items[id].flags & PA_NODE_TASK)) {
            refer(writer, id);
            continue;
        }
        writer->marks[id] |= DEFINED;
        raw(writer, writer->wrote_task ? ",\n" : "\n");
        writer->wrote_task = true;
        write_task(writer, id);
    }
    raw(writer, "],\n");
}

static void write_future_head(struct writer *writer, uint64_t future, enum pa_state state)
{
    number(writer, "%s {\"id\": \"0x%llx\", \"type\": ", writer->wrote_future ? ",\n" : "\n", (unsigned long long)future);
    target_text(writer, pa_type_name_of(writer->graph->objects, future));
    number(writer, ", \"state\": \"%s\"", pa_state_name(state));
    writer->wrote_future = true;
}

static void write_private_future(struct writer *writer, uint32_t id)
{
    struct pa_graph *graph = writer->graph;
    uint64_t future = graph->nodes.items[id].wait == PA_WAIT_NONE ? 0 : pa_task_fut_waiter(graph, id);
    if (!is_private(writer, id, future))
        return;
    write_future_head(writer, future, pa_future_state(graph, future));
    number(writer, ", \"awaited_by\": [{\"id\": \"0x%llx\", \"source\": \"published\"}], \"stale_awaiters\": 0}",
           (unsigned long long)graph->nodes.items[id].address);
}

/* The futures that are referred to; more turn up while they are written. */
static void write_futures(struct writer *writer)
{
    raw(writer, "\"futures\": [");
    for (uint32_t i = 0; i < writer->view->selected.count && pa_work_step(writer->graph->work); i++)
        write_private_future(writer, writer->view->selected.items[i]);
    bool stats = writer->view->request->flags & PA_REQUEST_STATS; /* what findings refer to is listed as unknown */
    for (uint32_t i = 0; !stats && i < writer->referred.count && pa_work_step(writer->graph->work); i++) {
        uint32_t id = writer->referred.items[i];
        const struct pa_node *node = &writer->graph->nodes.items[id];
        if (node->flags & (PA_NODE_TASK | PA_NODE_BAD))
            continue;
        writer->marks[id] |= DEFINED;
        write_future_head(writer, node->address, node->state);
        write_awaited_by(writer, id, node);
        raw(writer, "}");
    }
    raw(writer, "],\n");
}

static void write_cycles(struct writer *writer)
{
    const struct pa_graph *graph = writer->graph;
    uint32_t first = 0;
    raw(writer, "\"cycles\": [");
    for (uint32_t i = 0; i < graph->cycle_ends.count; i++) {
        raw(writer, i > 0 ? ", [" : "[");
        for (uint32_t k = first; k < graph->cycle_ends.items[i]; k++) {
            number(writer, "%s\"0x%llx\"", k > first ? ", " : "",
                   (unsigned long long)graph->nodes.items[graph->cycle_members.items[k]].address);
            refer(writer, graph->cycle_members.items[k]);
        }
        raw(writer, "]");
        first = graph->cycle_ends.items[i];
    }
    raw(writer, "],\n");
}

static void write_greenlets(struct writer *writer)
{
    raw(writer, "\"greenlets\": [");
    pa_greenlet_json_print(writer->greenlets, writer->out, number_of_stack, writer);
    raw(writer, "],\n");
    if (writer->view->request->flags & PA_REQUEST_INSTRUMENTATION)
        pa_refreshed_json(writer->greenlets, writer->out);
}

/* Nodes of a finding that are no tasks are objects. */
static const char *write_finding_nodes(struct writer *writer, const struct pa_finding *finding, bool tasks)
{
    const uint32_t *nodes = pa_finding_tasks(writer->view->findings, finding);
    const char *comma = "";
    for (uint32_t i = 0; i < finding->task_count && pa_work_step(writer->graph->work); i++) {
        const struct pa_node *node = &writer->graph->nodes.items[nodes[i]];
        if (((node->flags & PA_NODE_TASK) != 0) != tasks)
            continue;
        raw(writer, comma);
        quoted_hex(writer, node->address);
        refer(writer, nodes[i]);
        comma = ", ";
    }
    return comma;
}

static void write_finding(struct writer *writer, struct pa_printer *printer, uint32_t index)
{
    const struct pa_finding *finding = &writer->view->findings->items.items[index];
    number(writer, "%s\n {\"kind\": \"%s\", \"text\": \"", index > 0 ? "," : "", pa_finding_kind_name(finding->kind));
    pa_out_quote(writer->out, PA_QUOTE_JSON);
    pa_print_finding(printer, index);
    pa_out_quote(writer->out, PA_QUOTE_NONE);
    raw(writer, "\", \"tasks\": [");
    write_finding_nodes(writer, finding, true);
    raw(writer, "], \"objects\": [");
    const char *comma = write_finding_nodes(writer, finding, false);
    for (uint32_t i = 0; i < finding->object_count; i++) {
        raw(writer, comma);
        quoted_hex(writer, pa_finding_object(writer->view->findings, finding, i));
        comma = ", ";
    }
    raw(writer, "]}");
}

static void write_findings(struct writer *writer)
{
    uint32_t count = writer->view->findings->items.count;
    struct pa_printer *printer = count > 0 ? pa_printer_new(writer->graph, writer->view->request, writer->out) : NULL;
    raw(writer, "\"findings\": [");
    for (uint32_t i = 0; printer && i < count && pa_work_step(writer->graph->work); i++) {
        printer->view = writer->view;
        write_finding(writer, printer, i);
    }
    if (printer)
        pa_printer_free(printer);
    pa_instrumentation_json(writer->greenlets, writer->out, count > 0 ? "," : "");
    raw(writer, "],\n");
}

static void write_report(struct writer *writer)
{
    struct pa_report report;
    pa_report_make(&report, writer->graph, writer->view->request);
    pa_report_json(&report, writer->out, number_of_stack, writer);
    writer->natives = report.natives; /* what was unwound is not unwound again */
    report.natives = (struct pa_natives){0};
    pa_report_free(&report);
}

static void write_unknown(struct writer *writer)
{
    const char *comma = "";
    raw(writer, "\"unknown\": [");
    for (uint32_t i = 0; i < writer->referred.count; i++) {
        if (writer->marks[writer->referred.items[i]] & DEFINED)
            continue;
        number(writer, "%s\"0x%llx\"", comma, (unsigned long long)writer->graph->nodes.items[writer->referred.items[i]].address);
        comma = ", ";
    }
    for (uint32_t i = 0; i < writer->unknown.count; i++) {
        number(writer, "%s\"0x%llx\"", comma, (unsigned long long)writer->unknown.items[i]);
        comma = ", ";
    }
    raw(writer, "],\n");
}

static void write_stack(struct writer *writer, uint32_t stack)
{
    pa_stack_frames(writer->graph, stack, &writer->frames);
    raw(writer, "\n [");
    for (uint32_t i = 0; i < writer->frames.count; i++) {
        raw(writer, i > 0 ? ", " : "");
        pa_json_frame(writer->out, writer->graph, writer->frames.items[i]);
    }
    raw(writer, "]");
}

static void write_stacks(struct writer *writer)
{
    raw(writer, "\"stacks\": [");
    for (uint32_t i = 0; i < writer->stack_ids.count && pa_work_step(writer->graph->work); i++) {
        if (i > 0)
            raw(writer, ",");
        write_stack(writer, writer->stack_ids.items[i]);
    }
    raw(writer, "]}\n");
}

/* Futures that tasks are suspended on, and others wait for too, become nodes: the document says who. */
static void read_waited_futures(struct writer *writer)
{
    struct pa_graph *graph = writer->graph;
    for (uint32_t i = 0; i < writer->view->selected.count && pa_work_step(graph->work); i++) {
        uint32_t id = writer->view->selected.items[i];
        uint64_t future = graph->nodes.items[id].wait != PA_WAIT_NONE ? pa_task_fut_waiter(graph, id) : 0;
        enum pa_kind kind = pa_kind_of(graph->objects, future);
        if ((kind == PA_KIND_FUTURE || kind == PA_KIND_TASK) && pa_graph_find(graph, future) == PA_NONE &&
            !is_private(writer, id, future))
            pa_read_reached_node(graph, future);
    }
}

static bool begin(struct writer *writer)
{
    struct pa_work *work = writer->graph->work;
    writer->stacks = writer->graph->codes->stacks.count;
    writer->nodes = writer->graph->nodes.count;
    writer->stack_number = pa_work_resize(work, NULL, 0, writer->stacks * sizeof(uint32_t));
    writer->marks = pa_work_resize(work, NULL, 0, writer->nodes + 1u);
    if (!writer->stack_number || !writer->marks)
        return false;
    memset(writer->stack_number, 0xff, writer->stacks * sizeof(uint32_t));
    memset(writer->marks, 0, writer->nodes + 1u);
    stack_number(writer, 0); /* the empty stack is the first */
    return true;
}

enum pa_status pa_json_print(struct pa_session *session, struct pa_view *view, const struct pa_greenlet_view *greenlets,
                             struct pa_output *out)
{
    struct pa_work *work = view->graph->work;
    struct writer *writer = pa_work_resize(work, NULL, 0, sizeof(*writer));
    if (!writer)
        return work->fatal;
    memset(writer, 0, offsetof(struct writer, name));
    writer->graph = view->graph;
    writer->view = view;
    writer->greenlets = greenlets;
    writer->out = out;
    pa_waits_init(&writer->waits, writer->graph);
    pa_json_pools_init(&writer->pools, writer->graph);
    bool stats = view->request->flags & PA_REQUEST_STATS;
    if (!stats)
        read_waited_futures(writer);
    if (work->fatal == PA_OK && begin(writer)) {
        write_head(writer);
        if (view->request->command == PA_COMMAND_INFO)
            pa_info_json(session, out);
        if (view->request->command == PA_COMMAND_REPORT)
            write_report(writer);
        write_problems(writer);
        write_selection(writer);
        if (stats) {
            write_stats(writer);
            view->selected.count = 0; /* they are counted, not listed */
        }
        write_loops(writer);
        write_threads(writer);
        if (view->request->flags & PA_REQUEST_NATIVE)
            pa_native_json(&writer->natives, view, out);
        write_tasks(writer);
        write_cycles(writer);
        write_greenlets(writer);
        write_findings(writer);
        write_futures(writer);
        pa_json_pools(writer->out, &writer->pools);
        write_unknown(writer);
        write_stacks(writer);
    }
    pa_work_resize(work, writer->stack_number, writer->stack_number ? writer->stacks * sizeof(uint32_t) : 0, 0);
    pa_work_resize(work, writer->marks, writer->marks ? writer->nodes + 1u : 0, 0);
    pa_array_free(work, &writer->stack_ids);
    pa_array_free(work, &writer->referred);
    pa_array_free(work, &writer->unknown);
    pa_array_free(work, &writer->links);
    pa_array_free(work, &writer->greenlet_links);
    pa_array_free(work, &writer->frames);
    pa_values_free(writer->values);
    pa_natives_deinit(&writer->natives, work);
    pa_waits_deinit(&writer->waits);
    pa_json_pools_deinit(&writer->pools);
    pa_work_resize(work, writer, sizeof(*writer), 0);
    return work->fatal;
}
