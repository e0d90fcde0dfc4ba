/*
 * The JSON document. See json.h.
 *
 * It is written straight to the output, a task at a time: a million of them must not be built up in memory.
 */
#include "json_writer.h"

#include "limits.h"
#include "redact.h"
#include "report.h"

static void write_python(struct pa_json_writer *writer)
{
    struct pa_objects *objects = writer->graph->objects;
    uint64_t ignored;
    char version[32];
    if (writer->graph->layout->hexversion == 0) {
        raw(writer->out, "null");
        return;
    }
    pa_version_text(writer->graph->layout->hexversion, version);
    number(writer->out, "{\"version\": \"%s\", \"debug_build\": ", version);
    /* Structures are the same; only debug builds have sys.gettotalrefcount(). */
    if (pa_module_attribute(objects, "sys", "version", &ignored))
        raw(writer->out, pa_module_attribute(objects, "sys", "gettotalrefcount", &ignored) ? "true" : "false");
    else
        raw(writer->out, "null");
    number(writer->out, ", \"free_threaded\": %s}", writer->graph->layout->free_threaded ? "true" : "false");
}

static void write_head(struct pa_json_writer *writer)
{
    const struct pa_target *target = writer->graph->work->target;
    raw(writer->out, "{\"schema\": \"pyasync/1\", \"producer\": {\"pyasync\": \"" PA_VERSION "\", \"gdb\": ");
    string(writer->out, target->debugger);
    raw(writer->out, "},\n\"python\": ");
    write_python(writer);
    raw(writer->out, ",\n\"process\": {\"pid\": ");
    if (target->pid > 0)
        number(writer->out, "%lld", (long long)target->pid);
    else
        raw(writer->out, "null");
    raw(writer->out, ", \"core\": ");
    string(writer->out, target->core_name);
    raw(writer->out, ", \"signal\": ");
    string(writer->out, target->signal);
    raw(writer->out, ", \"executable\": ");
    string(writer->out, target->executable);
    raw(writer->out, "},\n");
}

static void write_problems(struct pa_json_writer *writer)
{
    const struct pa_graph *graph = writer->graph;
    number(writer->out, "\"complete\": %s, \"problem_count\": %u,\n\"problems\": [", graph->problem_count == 0 ? "true" : "false",
           graph->problem_count);
    for (uint32_t i = 0; i < graph->problems.count; i++) {
        const struct pa_problem *problem = &graph->problems.items[i];
        raw(writer->out, i > 0 ? ",\n {\"what\": " : "\n {\"what\": ");
        string(writer->out, problem->what);
        raw(writer->out, ", \"address\": ");
        number(writer->out, "\"0x%llx\"", (unsigned long long)problem->address);
        raw(writer->out, ", \"why\": ");
        string(writer->out, problem->why);
        raw(writer->out, ", \"task\": ");
        bool task = problem->node != PA_NONE && graph->nodes.items[problem->node].flags & PA_NODE_TASK;
        address(writer->out, task ? graph->nodes.items[problem->node].address : 0);
        if (task)
            pa_json_refer(writer, problem->node);
        raw(writer->out, "}");
    }
    raw(writer->out, "],\n");
}

static void write_selection(struct pa_json_writer *writer)
{
    const struct pa_request *request = writer->view->request;
    const char *comma = "";
    number(writer->out, "\"selection\": {\"total\": %u, \"shown\": %u, \"filters\": [", writer->view->total,
           writer->view->selected.count);
    if (request->state) {
        raw(writer->out, "\"state=");
        raw(writer->out, request->state); /* one of a closed list */
        raw(writer->out, "\"");
        comma = ", ";
    }
    if (pa_request_thread(request) < PA_THREAD_ALL) {
        number(writer->out, "%s\"thread=%u\"", comma, request->thread);
        comma = ", ";
    }
    if (request->in) {
        raw(writer->out, comma);
        string(writer->out, request->in);
        comma = ", ";
    }
    for (uint32_t i = 0; i < request->operand_count; i++) {
        raw(writer->out, comma);
        string(writer->out, request->operands[i].text);
        comma = ", ";
    }
    const struct pa_left_out *left_out = &writer->view->left_out;
    number(writer->out, "], \"left_out\": {\"state\": %u, \"thread\": %u, \"in\": %u}},\n", left_out->state, left_out->thread,
           left_out->in);
}

static void write_report(struct pa_json_writer *writer)
{
    struct pa_report report;
    pa_report_make(&report, writer->graph, writer->view->request);
    pa_report_json(&report, writer->out, pa_json_number_of_stack, writer);
    writer->natives = report.natives; /* what was unwound is not unwound again */
    report.natives = (struct pa_natives){0};
    pa_report_free(&report);
}

static bool begin(struct pa_json_writer *writer)
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
    pa_json_stack_number(writer, 0); /* the empty stack is the first */
    return true;
}

struct pa_values *pa_json_values(struct pa_json_writer *writer)
{
    if (!writer->values)
        writer->values = pa_values_new(writer->graph->objects, pa_request_value_limits(writer->view->request));
    return writer->values;
}

enum pa_status pa_json_print(struct pa_session *session, struct pa_view *view, const struct pa_greenlet_view *greenlets,
                             struct pa_output *out)
{
    struct pa_work *work = view->graph->work;
    struct pa_json_writer *writer = pa_work_resize(work, NULL, 0, sizeof(*writer));
    if (!writer)
        return work->fatal;
    memset(writer, 0, offsetof(struct pa_json_writer, name));
    writer->graph = view->graph;
    writer->view = view;
    writer->greenlets = greenlets;
    writer->out = out;
    pa_waits_init(&writer->waits, writer->graph);
    pa_json_pools_init(&writer->pools, writer->graph);
    bool stats = view->request->flags & PA_REQUEST_STATS;
    if (!stats)
        pa_json_read_futures(writer);
    if (work->fatal == PA_OK && begin(writer)) {
        write_head(writer);
        if (view->request->command == PA_COMMAND_INFO)
            pa_info_json(session, out);
        if (view->request->command == PA_COMMAND_REPORT)
            write_report(writer);
        write_problems(writer);
        write_selection(writer);
        if (stats) {
            pa_json_stats(writer->out, writer->view);
            view->selected.count = 0; /* they are counted, not listed */
        }
        pa_json_loops(writer);
        pa_json_threads(writer);
        if (view->request->flags & PA_REQUEST_NATIVE)
            pa_native_json(&writer->natives, view, out);
        pa_json_tasks(writer);
        pa_json_cycles(writer);
        pa_json_greenlets(writer);
        pa_json_findings(writer);
        pa_json_futures(writer);
        pa_json_pools(writer->out, &writer->pools);
        pa_json_unknown(writer);
        pa_json_stacks(writer);
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
