/* Cycles, greenlets and findings in the JSON document. See json_writer.h. */
#include "json_writer.h"

#include "text.h"

void pa_json_cycles(struct pa_json_writer *writer)
{
    const struct pa_graph *graph = writer->graph;
    uint32_t first = 0;
    raw(writer->out, "\"cycles\": [");
    for (uint32_t i = 0; i < graph->cycle_ends.count; i++) {
        raw(writer->out, i > 0 ? ", [" : "[");
        for (uint32_t k = first; k < graph->cycle_ends.items[i]; k++) {
            number(writer->out, "%s\"0x%llx\"", k > first ? ", " : "",
                   (unsigned long long)graph->nodes.items[graph->cycle_members.items[k]].address);
            pa_json_refer(writer, graph->cycle_members.items[k]);
        }
        raw(writer->out, "]");
        first = graph->cycle_ends.items[i];
    }
    raw(writer->out, "],\n");
}

void pa_json_greenlets(struct pa_json_writer *writer)
{
    raw(writer->out, "\"greenlets\": [");
    pa_greenlet_json_print(writer->greenlets, writer->out, pa_json_number_of_stack, writer);
    raw(writer->out, "],\n");
    if (writer->view->request->flags & PA_REQUEST_INSTRUMENTATION)
        pa_refreshed_json(writer->greenlets, writer->out);
}

/* Nodes of a finding that are no tasks are objects. */
static const char *write_finding_nodes(struct pa_json_writer *writer, const struct pa_finding *finding, bool tasks)
{
    const uint32_t *nodes = pa_finding_tasks(writer->view->findings, finding);
    const char *comma = "";
    for (uint32_t i = 0; i < finding->task_count && pa_work_step(writer->graph->work); i++) {
        const struct pa_node *node = &writer->graph->nodes.items[nodes[i]];
        if (((node->flags & PA_NODE_TASK) != 0) != tasks)
            continue;
        raw(writer->out, comma);
        quoted_hex(writer->out, node->address);
        pa_json_refer(writer, nodes[i]);
        comma = ", ";
    }
    return comma;
}

static void write_finding(struct pa_json_writer *writer, struct pa_printer *printer, uint32_t index)
{
    const struct pa_finding *finding = &writer->view->findings->items.items[index];
    number(writer->out, "%s\n {\"kind\": \"%s\", \"text\": \"", index > 0 ? "," : "", pa_finding_kind_name(finding->kind));
    pa_out_quote(writer->out, PA_QUOTE_JSON);
    pa_print_finding(printer, index);
    pa_out_quote(writer->out, PA_QUOTE_NONE);
    raw(writer->out, "\", \"tasks\": [");
    write_finding_nodes(writer, finding, true);
    raw(writer->out, "], \"objects\": [");
    const char *comma = write_finding_nodes(writer, finding, false);
    for (uint32_t i = 0; i < finding->object_count; i++) {
        raw(writer->out, comma);
        quoted_hex(writer->out, pa_finding_object(writer->view->findings, finding, i));
        comma = ", ";
    }
    raw(writer->out, "]}");
}

void pa_json_findings(struct pa_json_writer *writer)
{
    uint32_t count = writer->view->findings->items.count;
    struct pa_printer *printer = count > 0 ? pa_printer_new(writer->graph, writer->view->request, writer->out) : NULL;
    raw(writer->out, "\"findings\": [");
    for (uint32_t i = 0; printer && i < count && pa_work_step(writer->graph->work); i++) {
        printer->view = writer->view;
        write_finding(writer, printer, i);
    }
    if (printer)
        pa_printer_free(printer);
    pa_instrumentation_json(writer->greenlets, writer->out, count > 0 ? "," : "");
    raw(writer->out, "],\n");
}
