/*
 * The graph for Graphviz. See dot.h.
 *
 * A node is a group, so that 10,000 equal tasks make one box; what is said of it is the text form's. Everything in quotes is written
 * between begin_text() and end_text(), whatever it holds.
 */
#include "dot.h"

#include "limits.h"
#include "text.h"

/* Frames in the text that an SVG shows under the mouse. */
#define MAX_TOOLTIP_FRAMES 20u

struct dot {
    struct pa_printer *printer;
    struct pa_output *out;
    struct pa_awaiters awaiters; /* of the group that is being written */
    struct pa_awaiters queue;    /* groups to come; count is the level */
    uint8_t *marks;              /* by group: is in the document */
    uint32_t max_depth;
};

static void raw(struct dot *dot, const char *text)
{
    pa_out(dot->out, PA_STYLE_PLAIN, text);
}

static void begin_text(struct dot *dot, const char *attribute)
{
    pa_out_format(dot->out, PA_STYLE_PLAIN, "%s=\"", attribute);
    pa_out_quote(dot->out, PA_QUOTE_DOT);
}

static void end_text(struct dot *dot)
{
    pa_out_quote(dot->out, PA_QUOTE_NONE);
    raw(dot, "\"");
}

static void write_tooltip(struct dot *dot, uint32_t stack)
{
    struct pa_printer *printer = dot->printer;
    pa_stack_frames(printer->graph, stack, &printer->frames);
    if (printer->frames.count == 0)
        return;
    begin_text(dot, ", tooltip");
    for (uint32_t i = 0; i < printer->frames.count && i < MAX_TOOLTIP_FRAMES; i++) {
        pa_print_place(printer, printer->frames.items[i]);
        raw(dot, "\n");
    }
    if (printer->frames.count > MAX_TOOLTIP_FRAMES) {
        raw(dot, "\xe2\x80\xa6 ");
        pa_out_counted(dot->out, printer->frames.count - MAX_TOOLTIP_FRAMES, "more frame\n", "more frames\n");
    }
    end_text(dot);
}

static void write_title(struct dot *dot, const struct pa_group *group)
{
    const uint32_t *members = dot->printer->view->members + group->first;
    if (group->count > 1) {
        pa_out_counted(dot->out, group->count, "task\n", "tasks\n");
        for (uint32_t i = 0; i < group->count && i < PA_GROUP_NAMES; i++) {
            raw(dot, i > 0 ? ", " : "");
            pa_print_short(dot->printer, members[i]);
        }
        raw(dot, group->count > PA_GROUP_NAMES ? ", \xe2\x80\xa6\n" : "\n");
    } else {
        pa_print_short(dot->printer, members[0]);
        raw(dot, "\n");
    }
}

static void write_node(struct dot *dot, uint32_t id)
{
    struct pa_printer *printer = dot->printer;
    const struct pa_group *group = &printer->view->groups.items[id];
    const struct pa_node *node = &printer->graph->nodes.items[printer->view->members[group->first]];
    uint32_t frame = pa_stack_telling_frame(printer->graph, node->stack);
    bool task = node->flags & PA_NODE_TASK;
    bool runs = task && (node->activity == PA_RUNNING || node->activity == PA_EXECUTING);
    pa_out_format(dot->out, PA_STYLE_PLAIN, "  n%u [", id);
    begin_text(dot, "label");
    write_title(dot, group);
    if (frame != PA_NONE) {
        pa_print_place(printer, frame);
        raw(dot, "\n");
    }
    raw(dot, task && node->state == PA_PENDING ? pa_activity_name(node->activity) : pa_state_name(node->state));
    if (runs && node->thread != PA_NO_THREAD) {
        raw(dot, " in ");
        pa_print_thread(printer, node->thread);
    }
    raw(dot, "\n");
    end_text(dot);
    write_tooltip(dot, node->stack);
    raw(dot, task ? "" : ", shape=ellipse");
    raw(dot, node->flags & PA_NODE_IN_CYCLE ? ", color=red" : node->state != PA_PENDING ? ", color=gray, fontcolor=gray" : "");
    raw(dot, runs ? ", penwidth=2];\n" : "];\n");
}

/* An edge tells how many of the waiting group wait, if not all do. */
static void write_edge(struct dot *dot, const struct pa_awaiter *awaiter, uint32_t awaited)
{
    uint32_t all = dot->printer->view->groups.items[awaiter->group].count;
    pa_out_format(dot->out, PA_STYLE_PLAIN, "  n%u -> n%u", awaiter->group, awaited);
    if (awaiter->count < all) {
        begin_text(dot, " [label");
        pa_out_count(dot->out, awaiter->count);
        raw(dot, " of ");
        pa_out_count(dot->out, all);
        end_text(dot);
        raw(dot, "]");
    }
    raw(dot, ";\n");
}

/* What is left out, as a box without a border. */
static void write_more(struct dot *dot, uint64_t count, const char *one, const char *many)
{
    begin_text(dot, "label");
    raw(dot, "\xe2\x80\xa6 ");
    pa_out_counted(dot->out, count, one, many);
    end_text(dot);
    raw(dot, ", shape=plaintext];\n");
}

static void enqueue(struct dot *dot, uint32_t group, uint32_t level)
{
    struct pa_awaiter *slot = pa_array_push(dot->printer->graph->work, &dot->queue, PA_NONE);
    if (slot)
        *slot = (struct pa_awaiter){group, level};
    dot->marks[group] = 1;
}

static void write_group(struct dot *dot, uint32_t group, uint32_t level)
{
    uint32_t deeper = 0;
    write_node(dot, group);
    dot->awaiters.count = 0;
    pa_view_awaiters(dot->printer->view, group, &dot->awaiters);
    for (uint32_t i = 0; i < dot->awaiters.count && pa_work_step(dot->printer->graph->work); i++) {
        const struct pa_awaiter *awaiter = &dot->awaiters.items[i];
        bool known = dot->marks[awaiter->group];
        if (!known && level == dot->max_depth) {
            deeper++;
            continue;
        }
        if (!known)
            enqueue(dot, awaiter->group, level + 1);
        write_edge(dot, awaiter, group);
    }
    if (deeper > 0) {
        pa_out_format(dot->out, PA_STYLE_PLAIN, "  d%u -> n%u [style=dashed];\n  d%u [", group, group, group);
        write_more(dot, deeper, "group waits for it; --depth N shows more", "groups wait for it; --depth N shows more");
    }
}

/* Breadth first from one group: what hangs on it comes with it. */
static void write_from(struct dot *dot, uint32_t group)
{
    dot->queue.count = 0;
    enqueue(dot, group, 0);
    for (uint32_t i = 0; i < dot->queue.count && pa_work_step(dot->printer->graph->work); i++) {
        struct pa_awaiter next = dot->queue.items[i];
        write_group(dot, next.group, next.count);
    }
}

static void write_groups(struct dot *dot)
{
    const struct pa_view *view = dot->printer->view;
    const struct pa_request *request = view->request;
    uint32_t limit = request->limit ? request->limit : PA_DEFAULT_GROUPS, shown = 0, left = 0;
    if (request->flags & PA_REQUEST_ALL || view->reason == PA_BECAUSE_NAMED)
        limit = PA_NONE;
    for (uint32_t i = 0; i < view->order.count && pa_work_step(view->graph->work); i++) {
        uint32_t group = view->order.items[i];
        if (dot->marks[group])
            continue;
        if (shown == limit) {
            left++;
            continue;
        }
        write_from(dot, group);
        shown++;
    }
    if (left > 0) {
        raw(dot, "  more [");
        write_more(dot, left, "more group; --all shows it", "more groups; --all shows them");
    }
}

static void write_document(struct dot *dot)
{
    struct pa_printer *printer = dot->printer;
    raw(dot, "digraph pyasync {\n  graph [labelloc=t, labeljust=l, ");
    begin_text(dot, "label");
    pa_print_head(printer);
    pa_print_end(printer);
    end_text(dot);
    raw(dot, "];\n  node [shape=box];\n");
    write_groups(dot);
    raw(dot, "}\n");
}

enum pa_status pa_dot_print(struct pa_view *view, struct pa_output *out)
{
    struct pa_work *work = view->graph->work;
    struct dot dot = {.out = out, .max_depth = view->request->depth ? view->request->depth : PA_DEFAULT_DEPTH};
    dot.printer = pa_printer_new(view->graph, view->request, out);
    dot.marks = dot.printer ? pa_work_resize(work, NULL, 0, view->groups.count + 1u) : NULL;
    if (dot.marks) {
        memset(dot.marks, 0, view->groups.count + 1u);
        dot.printer->view = view;
        write_document(&dot);
        pa_work_resize(work, dot.marks, view->groups.count + 1u, 0);
    }
    pa_array_free(work, &dot.awaiters);
    pa_array_free(work, &dot.queue);
    if (dot.printer)
        pa_printer_free(dot.printer);
    return work->fatal;
}
