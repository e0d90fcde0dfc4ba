/* Tasks and futures in the JSON document, and what of them is referred to but not defined in it. See json_writer.h. */
#include "json_writer.h"

#include "redact.h"
#include "text.h"

enum { DEFINED = 1, REFERRED = 2 };

void pa_json_refer(struct pa_json_writer *writer, uint32_t node)
{
    if (node >= writer->nodes || writer->marks[node])
        return;
    uint32_t *slot = pa_array_push(writer->graph->work, &writer->referred, PA_NONE);
    if (slot)
        *slot = node;
    writer->marks[node] |= REFERRED;
}

static void write_awaited_by(struct pa_json_writer *writer, uint32_t id, const struct pa_node *node)
{
    raw(writer->out, ", \"awaited_by\": [");
    for (uint32_t i = 0; i < node->edge_count; i++) {
        uint32_t awaiter = writer->graph->edges.items[node->first_edge + i];
        raw(writer->out, i > 0 ? ", {\"id\": " : "{\"id\": ");
        quoted_hex(writer->out, writer->graph->nodes.items[awaiter].address);
        raw(writer->out,
            pa_edge_is_derived(writer->graph, id, awaiter) ? ", \"source\": \"derived\"}" : ", \"source\": \"published\"}");
        pa_json_refer(writer, awaiter);
    }
    number(writer->out, "], \"stale_awaiters\": %u", node->stale);
}

/*
 * Whether a future is a task's own affair: nobody else awaits it, and it is no node of the graph. Nearly every future is; a million of
 * them are written without being kept.
 */
static bool is_private(struct pa_json_writer *writer, uint32_t id, uint64_t future)
{
    struct pa_graph *graph = writer->graph;
    return future != 0 && pa_graph_find(graph, future) == PA_NONE && pa_kind_of(graph->objects, future) == PA_KIND_FUTURE &&
           pa_future_only_awaiter(graph, future) == graph->nodes.items[id].address;
}

/* What a task is suspended on. A future whose owner is not known is just that; one that is done leaves its task ready. */
static void write_waits_on(struct pa_json_writer *writer, uint32_t id)
{
    struct pa_waits_on waits_on;
    if (!pa_waits_read(&writer->waits, id, writer->links.count ? writer->links.items[0] : 0, &waits_on)) {
        raw(writer->out, ", \"waits_on\": null");
        return;
    }
    pa_json_waits_on(writer->out, writer->graph, &waits_on);
    if (pa_wait_is_unexplained(&waits_on))
        pa_json_within(writer->out, &writer->pools, id);
    uint64_t future = waits_on.future;
    if (future == 0)
        return;
    if (is_private(writer, id, future))
        return; /* pa_json_futures() comes to it */
    uint32_t other = pa_graph_find(writer->graph, future);
    uint64_t *slot = other == PA_NONE ? pa_array_push(writer->graph->work, &writer->unknown, PA_NONE) : NULL;
    if (slot)
        *slot = future;
    pa_json_refer(writer, other);
}

static void write_objects(struct pa_json_writer *writer, uint32_t id)
{
    pa_task_objects(writer->graph, id, &writer->links);
    raw(writer->out, ", \"objects\": [");
    for (uint32_t i = 0; i < writer->links.count; i++) {
        if (i > 0)
            raw(writer->out, ", ");
        address(writer->out, writer->links.items[i]);
    }
    raw(writer->out, "]");
    if (!pa_task_greenlets(writer->graph, id, &writer->greenlet_links))
        return;
    raw(writer->out, ", \"greenlets\": [");
    for (uint32_t i = 0; i < writer->greenlet_links.count; i++) {
        if (i > 0)
            raw(writer->out, ", ");
        address(writer->out, writer->greenlet_links.items[i]);
    }
    raw(writer->out, "]");
}

static void write_task(struct pa_json_writer *writer, uint32_t id)
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
    raw(writer->out, " {\"id\": ");
    quoted_hex(writer->out, node.address);
    raw(writer->out, ", \"name\": ");
    pa_out_json(writer->out, name, length);
    raw(writer->out, ", \"type\": ");
    arena_text(writer->out, &writer->graph->objects->text, pa_node_type(graph, id));
    number(writer->out, ", \"found\": \"%s\"", pa_task_found(graph, id));
    number(writer->out, ", \"state\": \"%s\", \"activity\": \"%s\", \"cancel_requests\": %u, \"must_cancel\": %s, \"thread\": ",
           pa_state_name(node.state), pa_activity_name(node.activity), requests, must_cancel ? "true" : "false");
    pa_json_thread_number(writer, node.thread == PA_NO_THREAD ? PA_NONE : node.thread);
    number(writer->out, ", \"interpreter\": %lld, \"loop\": ",
           (long long)(graph->interpreters.count ? graph->interpreters.items[node.interpreter].id : 0));
    address(writer->out, node.loop == PA_NO_LOOP ? 0 : graph->loops.items[node.loop].address);
    number(writer->out, ", \"stack\": %u", pa_json_stack_number(writer, node.stack));
    uint32_t place;
    if (pa_stack_derived_from(graph, node.stack, &place) != PA_NONE)
        raw(writer->out, ", \"derived_stack\": true");
    write_objects(writer, id);
    if (flags & PA_REQUEST_LOCALS && pa_json_values(writer))
        pa_json_locals(writer->out, graph, writer->values, id);
    if (flags & PA_REQUEST_CONTEXT && pa_json_values(writer))
        pa_json_context(writer->out, graph, writer->values, id);
    pa_json_origin(writer->out, graph, id);
    write_awaited_by(writer, id, &node);
    write_waits_on(writer, id);
    raw(writer->out, ", \"exception\": ");
    if (node.state == PA_FAILED_STATE && pa_json_values(writer))
        pa_json_exception(writer->out, graph, writer->values, id, pa_json_number_of_stack, writer);
    else
        raw(writer->out, "null");
    raw(writer->out, "}");
}

void pa_json_tasks(struct pa_json_writer *writer)
{
    raw(writer->out, "\"tasks\": [");
    for (uint32_t i = 0; i < writer->view->selected.count && pa_work_step(writer->graph->work); i++) {
        uint32_t id = writer->view->selected.items[i];
        if (!(writer->graph->nodes.items[id].flags & PA_NODE_TASK)) {
            pa_json_refer(writer, id);
            continue;
        }
        writer->marks[id] |= DEFINED;
        raw(writer->out, writer->wrote_task ? ",\n" : "\n");
        writer->wrote_task = true;
        write_task(writer, id);
    }
    raw(writer->out, "],\n");
}

static void write_future_head(struct pa_json_writer *writer, uint64_t future, enum pa_state state)
{
    number(writer->out, "%s {\"id\": \"0x%llx\", \"type\": ", writer->wrote_future ? ",\n" : "\n", (unsigned long long)future);
    arena_text(writer->out, &writer->graph->objects->text, pa_type_name_of(writer->graph->objects, future));
    number(writer->out, ", \"state\": \"%s\"", pa_state_name(state));
    writer->wrote_future = true;
}

static void write_private_future(struct pa_json_writer *writer, uint32_t id)
{
    struct pa_graph *graph = writer->graph;
    uint64_t future = graph->nodes.items[id].wait == PA_WAIT_NONE ? 0 : pa_task_fut_waiter(graph, id);
    if (!is_private(writer, id, future))
        return;
    write_future_head(writer, future, pa_future_state(graph, future));
    number(writer->out, ", \"awaited_by\": [{\"id\": \"0x%llx\", \"source\": \"published\"}], \"stale_awaiters\": 0}",
           (unsigned long long)graph->nodes.items[id].address);
}

/* The futures that are referred to; more turn up while they are written. */
void pa_json_futures(struct pa_json_writer *writer)
{
    raw(writer->out, "\"futures\": [");
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
        raw(writer->out, "}");
    }
    raw(writer->out, "],\n");
}

void pa_json_read_futures(struct pa_json_writer *writer)
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

void pa_json_unknown(struct pa_json_writer *writer)
{
    const char *comma = "";
    raw(writer->out, "\"unknown\": [");
    for (uint32_t i = 0; i < writer->referred.count; i++) {
        if (writer->marks[writer->referred.items[i]] & DEFINED)
            continue;
        number(writer->out, "%s\"0x%llx\"", comma,
               (unsigned long long)writer->graph->nodes.items[writer->referred.items[i]].address);
        comma = ", ";
    }
    for (uint32_t i = 0; i < writer->unknown.count; i++) {
        number(writer->out, "%s\"0x%llx\"", comma, (unsigned long long)writer->unknown.items[i]);
        comma = ", ";
    }
    raw(writer->out, "],\n");
}
