/* The text form: what its parts share, and the list of py-async-tasks. See text.h. */
#include "text.h"

#include "limits.h"
#include "redact.h"

const char *pa_state_name(enum pa_state state)
{
    static const char *const names[] = {"pending", "done", "failed", "cancelled"};
    return names[state];
}

const char *pa_activity_name(enum pa_activity activity)
{
    static const char *const names[] = {"running", "executing", "ready", "created", "waiting", "ended"};
    return names[activity];
}

/* A task's name without secrets, in the printer's scratch until the next call. */
static const char *name_of(struct pa_printer *printer, uint32_t node, uint32_t *length)
{
    pa_task_name(printer->graph, node, printer->name, length);
    if (printer->request->flags & PA_REQUEST_SHOW_SECRETS)
        return printer->name;
    *length = pa_redact(printer->name, *length, printer->safe, sizeof(printer->safe));
    return printer->safe;
}

void pa_print_node(struct pa_printer *printer, uint32_t node)
{
    struct pa_output *out = printer->out;
    if (printer->graph->nodes.items[node].flags & PA_NODE_TASK) {
        uint32_t length;
        const char *name = name_of(printer, node, &length);
        pa_out(out, PA_STYLE_PLAIN, "Task(name=");
        pa_out_repr(out, PA_STYLE_VARIABLE, name, length);
        pa_out(out, PA_STYLE_PLAIN, ", id=");
    } else {
        pa_out(out, PA_STYLE_PLAIN, "Future(id=");
    }
    pa_out_address(out, printer->graph->nodes.items[node].address);
    pa_out(out, PA_STYLE_PLAIN, ")");
}

void pa_print_short(struct pa_printer *printer, uint32_t node)
{
    if (!(printer->graph->nodes.items[node].flags & PA_NODE_TASK)) {
        pa_out(printer->out, PA_STYLE_PLAIN, "future ");
        pa_out_address(printer->out, printer->graph->nodes.items[node].address);
        return;
    }
    uint32_t length;
    const char *name = name_of(printer, node, &length);
    pa_out_target(printer->out, PA_STYLE_VARIABLE, name, length);
}

void pa_print_object(struct pa_printer *printer, uint64_t object)
{
    struct pa_text type = pa_type_name_of(printer->graph->objects, object);
    pa_out_target(printer->out, PA_STYLE_FUNCTION, pa_arena_text(&printer->graph->objects->text, type), type.length);
    pa_out(printer->out, PA_STYLE_PLAIN, " ");
    pa_out_address(printer->out, object);
}

void pa_print_place(struct pa_printer *printer, uint32_t frame)
{
    if (frame == PA_NONE)
        return;
    struct pa_output *out = printer->out;
    const struct pa_arena *text = &printer->graph->objects->text;
    const struct pa_frame *item = &printer->graph->codes->frames.items[frame];
    const char *file = pa_arena_text(text, item->file);
    const char *slash = item->file.length ? memrchr(file, '/', item->file.length) : NULL;
    uint32_t skip = slash ? (uint32_t)(slash - file) + 1 : 0;
    pa_out(out, PA_STYLE_PLAIN, "in ");
    pa_out_target(out, PA_STYLE_FUNCTION, pa_arena_text(text, item->function), item->function.length);
    pa_out(out, PA_STYLE_PLAIN, " (");
    pa_out_target(out, PA_STYLE_FILENAME, file + skip, item->file.length - skip);
    if (item->line > 0)
        pa_out_format(out, PA_STYLE_PLAIN, ":%d", item->line);
    pa_out(out, PA_STYLE_PLAIN, ")");
}

void pa_print_thread(struct pa_printer *printer, uint32_t thread)
{
    const struct pa_thread *item = &printer->graph->threads.items[thread];
    if (item->number == 0) {
        /* Gone, or of another process's namespace. */
        pa_out_format(printer->out, PA_STYLE_PLAIN, "thread with kernel id %llu", (unsigned long long)item->native_id);
        return;
    }
    pa_out_format(printer->out, PA_STYLE_PLAIN, "thread %u", item->number);
    if (*item->name) {
        pa_out(printer->out, PA_STYLE_PLAIN, " \"");
        pa_out_target(printer->out, PA_STYLE_PLAIN, item->name, strlen(item->name));
        pa_out(printer->out, PA_STYLE_PLAIN, "\"");
    }
}

void pa_print_cycle(struct pa_printer *printer, uint32_t cycle)
{
    const struct pa_graph *graph = printer->graph;
    uint32_t first = cycle > 0 ? graph->cycle_ends.items[cycle - 1] : 0, end = graph->cycle_ends.items[cycle];
    pa_print_short(printer, graph->cycle_members.items[first]);
    for (uint32_t i = 1; i <= end - first; i++) {
        if (i > PA_GROUP_NAMES && i < end - first) {
            pa_out(printer->out, PA_STYLE_PLAIN, ", \xe2\x80\xa6 ");
            pa_out_counted(printer->out, end - first - i, "more", "more");
            pa_out(printer->out, PA_STYLE_PLAIN, " \xe2\x80\xa6");
            i = end - first;
        }
        pa_out(printer->out, PA_STYLE_PLAIN, i == 1 ? " waits for " : ", which waits for ");
        pa_print_short(printer, graph->cycle_members.items[i < end - first ? first + i : first]);
    }
}

/* One line a task: address, activity, thread, name, place, who awaits it. */
static void print_task_line(struct pa_printer *printer, uint32_t id)
{
    struct pa_graph *graph = printer->graph;
    struct pa_output *out = printer->out;
    const struct pa_node *node = &graph->nodes.items[id];
    const char *activity = node->state == PA_PENDING ? pa_activity_name(node->activity) : pa_state_name(node->state);
    pa_out_address(out, node->address);
    pa_out_format(out, PA_STYLE_PLAIN, "  %-9s  ", activity);
    if (node->thread != PA_NO_THREAD)
        pa_print_thread(printer, node->thread);
    else
        pa_out(out, PA_STYLE_PLAIN, "no thread");
    pa_out(out, PA_STYLE_PLAIN, "  ");
    uint32_t length;
    const char *name = name_of(printer, id, &length);
    pa_out_repr(out, PA_STYLE_VARIABLE, name, length);
    uint32_t frame = pa_stack_telling_frame(graph, node->stack);
    if (frame != PA_NONE)
        pa_out(out, PA_STYLE_PLAIN, "  ");
    pa_print_place(printer, frame);
    if (node->edge_count > 0) {
        pa_out(out, PA_STYLE_PLAIN, "  awaited by ");
        pa_print_short(printer, graph->edges.items[node->first_edge]);
    }
    if (node->edge_count > 1) {
        pa_out(out, PA_STYLE_PLAIN, " and ");
        pa_out_counted(out, node->edge_count - 1, "other", "others");
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

static void print_task_lines(struct pa_printer *printer)
{
    const struct pa_request *request = printer->request;
    uint32_t count = printer->view->selected.count;
    uint32_t shown = request->limit && request->limit < count && !(request->flags & PA_REQUEST_ALL) ? request->limit : count;
    for (uint32_t i = 0; i < shown && pa_work_step(printer->graph->work); i++)
        print_task_line(printer, printer->view->selected.items[i]);
    if (shown < count) {
        pa_out(printer->out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
        pa_out_counted(printer->out, count - shown, "more task\n", "more tasks\n");
    }
}

struct pa_printer *pa_printer_new(struct pa_graph *graph, const struct pa_request *request, struct pa_output *out)
{
    /* Too big for the stack of a thread that may be small. */
    struct pa_printer *printer = pa_work_resize(graph->work, NULL, 0, sizeof(*printer));
    if (!printer)
        return NULL;
    memset(printer, 0, offsetof(struct pa_printer, name));
    printer->graph = graph;
    printer->out = out;
    printer->request = request;
    pa_waits_init(&printer->waits, graph);
    pa_pools_init(&printer->pools, graph);
    return printer;
}

void pa_printer_free(struct pa_printer *printer)
{
    struct pa_work *work = printer->graph->work;
    pa_array_free(work, &printer->frames);
    pa_array_free(work, &printer->links);
    pa_array_free(work, &printer->iframes);
    pa_values_free(printer->values);
    pa_natives_deinit(&printer->natives, work);
    pa_waits_deinit(&printer->waits);
    pa_pools_deinit(&printer->pools);
    pa_work_resize(work, printer, sizeof(*printer), 0);
}

enum pa_status pa_text_print(struct pa_view *view, struct pa_output *out)
{
    struct pa_work *work = view->graph->work;
    struct pa_printer *printer = pa_printer_new(view->graph, view->request, out);
    if (!printer)
        return work->fatal;
    printer->view = view;
    pa_print_head(printer);
    pa_print_native_threads(printer);
    if (view->request->flags & PA_REQUEST_STATS)
        pa_print_stats(printer);
    else if (view->request->command == PA_COMMAND_TASKS && !pa_view_grouped(view))
        print_task_lines(printer);
    else
        pa_print_trees(printer);
    pa_print_end(printer);
    pa_printer_free(printer);
    return work->fatal;
}

static void print_description(struct pa_printer *printer, uint32_t id)
{
    const struct pa_node *node = &printer->graph->nodes.items[id];
    struct pa_output *out = printer->out;
    bool task = node->flags & PA_NODE_TASK;
    pa_out(out, PA_STYLE_PLAIN, task ? "<Task " : "<Future ");
    if (task) {
        uint32_t length;
        const char *name = name_of(printer, id, &length);
        pa_out_repr(out, PA_STYLE_VARIABLE, name, length);
        pa_out(out, PA_STYLE_PLAIN, " ");
    }
    pa_out(out, PA_STYLE_PLAIN, pa_state_name(node->state));
    if (task && node->state == PA_PENDING && node->activity != PA_WAITING) {
        pa_out(out, PA_STYLE_PLAIN, ", ");
        pa_out(out, PA_STYLE_PLAIN, pa_activity_name(node->activity));
    }
    uint32_t frame = pa_stack_telling_frame(printer->graph, node->stack);
    if (frame != PA_NONE)
        pa_out(out, PA_STYLE_PLAIN, ", ");
    pa_print_place(printer, frame);
    pa_out(out, PA_STYLE_PLAIN, ">");
}

enum pa_status pa_text_describe(struct pa_graph *graph, const struct pa_request *request, struct pa_output *out, char *error,
                                size_t capacity)
{
    uint64_t address = request->operand_count == 1 ? request->operands->address : 0;
    uint32_t id = pa_graph_find(graph, address);
    enum pa_kind kind = pa_kind_of(graph->objects, address);
    if (id == PA_NONE && (kind == PA_KIND_TASK || kind == PA_KIND_FUTURE))
        id = pa_read_reached_node(graph, address);
    if (id == PA_NONE || graph->nodes.items[id].flags & PA_NODE_BAD)
        return graph->work->fatal != PA_OK ? graph->work->fatal
                                           : pa_fail(error, capacity, "0x%llx is no task or future", (unsigned long long)address);
    struct pa_printer *printer = pa_printer_new(graph, request, out);
    if (printer) {
        print_description(printer, id);
        pa_printer_free(printer);
    }
    return graph->work->fatal;
}
