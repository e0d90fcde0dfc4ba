/* What a task or a group waits for, a line under the stack. See text.h. */
#include "text.h"

#include "limits.h"

static void print_object(struct pa_printer *printer, uint64_t object)
{
    struct pa_text type = pa_object_type_name(printer->graph, object);
    pa_out_target(printer->out, PA_STYLE_FUNCTION, pa_arena_text(&printer->graph->objects->text, type), type.length);
    pa_out(printer->out, PA_STYLE_PLAIN, " ");
    pa_out_address(printer->out, object);
}

static void print_counted(struct pa_printer *printer, int64_t count, const char *one, const char *many)
{
    if (count < 0)
        return;
    pa_out(printer->out, PA_STYLE_PLAIN, ", ");
    pa_out_counted(printer->out, (uint64_t)count, one, many);
}

static void print_queue(struct pa_printer *printer, const struct pa_waits_on *waits_on)
{
    bool get = waits_on->kind == PA_WAITS_QUEUE_GET;
    pa_out(printer->out, PA_STYLE_PLAIN, get ? ", get" : ", put");
    if (waits_on->size >= 0 && waits_on->maximum > 0) {
        pa_out(printer->out, PA_STYLE_PLAIN, ", ");
        pa_out_count(printer->out, (uint64_t)waits_on->size);
        pa_out(printer->out, PA_STYLE_PLAIN, " of ");
        pa_out_counted(printer->out, (uint64_t)waits_on->maximum, "item", "items");
    } else {
        print_counted(printer, waits_on->size, "item", "items");
    }
    print_counted(printer, waits_on->waiters, get ? "getter" : "putter", get ? "getters" : "putters");
}

static void print_left(struct pa_printer *printer, const struct pa_waits_on *waits_on)
{
    if (waits_on->left < 0)
        return;
    pa_out(printer->out, PA_STYLE_PLAIN, ", ");
    pa_out_count(printer->out, (uint64_t)waits_on->left);
    if (waits_on->total >= 0) {
        pa_out(printer->out, PA_STYLE_PLAIN, " of ");
        pa_out_count(printer->out, (uint64_t)waits_on->total);
    }
    pa_out(printer->out, PA_STYLE_PLAIN, " left");
}

static bool read_node(struct pa_printer *printer, uint32_t node, struct pa_waits_on *waits_on)
{
    pa_task_objects(printer->graph, node, &printer->links);
    return pa_waits_read(&printer->waits, node, printer->links.count ? printer->links.items[0] : 0, waits_on);
}

/* Whether all of them wait for the same object; not known of too many. */
static bool wait_together(struct pa_printer *printer, const uint32_t *nodes, uint32_t count, const struct pa_waits_on *first)
{
    struct pa_waits_on other;
    if (count > PA_MAX_WAIT_TOGETHER || first->object == 0)
        return false;
    for (uint32_t i = 1; i < count && pa_work_step(printer->graph->work); i++) {
        if (!read_node(printer, nodes[i], &other) || other.kind != first->kind || other.object != first->object)
            return false;
    }
    return true;
}

static void print_line(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count,
                       const struct pa_waits_on *waits_on)
{
    pa_out_indent(printer->out, indent);
    pa_out(printer->out, PA_STYLE_PLAIN,
           count == 1                                       ? "  : waits on "
           : wait_together(printer, nodes, count, waits_on) ? "  : wait on "
                                                            : "  : the first waits on ");
    if (waits_on->kind == PA_WAITS_GATHER || waits_on->kind == PA_WAITS_WAIT) {
        pa_out(printer->out, PA_STYLE_PLAIN, pa_wait_kind_name(waits_on->kind));
        print_left(printer, waits_on);
    } else {
        print_object(printer, waits_on->object);
        if (waits_on->kind == PA_WAITS_TASKGROUP)
            print_left(printer, waits_on);
        else if (waits_on->kind == PA_WAITS_QUEUE_GET || waits_on->kind == PA_WAITS_QUEUE_PUT)
            print_queue(printer, waits_on);
        else
            print_counted(printer, waits_on->waiters, "waiter", "waiters");
        if (pa_wait_has_holders(waits_on->kind))
            pa_print_holders(printer, waits_on->object);
    }
    pa_out(printer->out, PA_STYLE_PLAIN, "\n");
}

void pa_print_waits_on(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count)
{
    struct pa_waits_on waits_on;
    if (!(printer->graph->nodes.items[nodes[0]].flags & PA_NODE_TASK) || !read_node(printer, nodes[0], &waits_on))
        return;
    /* Of a timer the stack tells as much, of a task the tree. */
    if (waits_on.kind > PA_WAITS_TIMER)
        print_line(printer, indent, nodes, count, &waits_on);
    if (pa_wait_is_unexplained(&waits_on))
        pa_print_pools(printer, indent, nodes, count);
}
