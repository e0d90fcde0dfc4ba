/* What a task or a group waits for, a line under the stack. See text.h. */
#include "text.h"

#include "limits.h"
#include "number.h"

#include <math.h>
#include <stdio.h>

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

const char *pa_group_waits_for(struct pa_printer *printer, uint32_t first)
{
    const struct pa_node *node = &printer->graph->nodes.items[first];
    struct pa_waits_on waits_on;
    if (node->activity != PA_WAITING || pa_waits_of_stack(&printer->waits, node) == PA_WAITS_COUNT ||
        !read_node(printer, first, &waits_on) || waits_on.kind != pa_waits_of_stack(&printer->waits, node))
        return NULL;
    return pa_wait_kind_noun(waits_on.kind);
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

/* "socket fd 7, to read from 127.0.0.1:80" */
static void print_file(struct pa_printer *printer, const struct pa_waits_on *waits_on)
{
    struct pa_output *out = printer->out;
    char peer[PA_PEER_BYTES];
    uint32_t length = pa_peer_text(printer->graph, waits_on->peer, peer);
    pa_out(out, PA_STYLE_PLAIN, pa_wait_kind_name(waits_on->kind));
    if (waits_on->fd >= 0)
        pa_out_format(out, PA_STYLE_PLAIN, " fd %lld", (long long)waits_on->fd);
    pa_out(out, PA_STYLE_PLAIN, waits_on->writes ? ", to write" : ", to read");
    if (length == 0)
        return;
    pa_out(out, PA_STYLE_PLAIN, ", peer ");
    pa_out_target(out, PA_STYLE_PLAIN, peer, length);
}

/* "ThreadPoolExecutor 0x7f…, runs in pool_0 (thread 5), in fetch (app.py:16), in time.sleep for 5.0 s; 4 of 4 threads busy, 12 queued" */
static void print_executor(struct pa_printer *printer, const struct pa_waits_on *waits_on, bool single)
{
    struct pa_output *out = printer->out;
    if (waits_on->object != 0)
        pa_print_object(printer, waits_on->object);
    else
        pa_out(out, PA_STYLE_PLAIN, "an executor that is gone");
    if (single && waits_on->thread != PA_NONE) {
        pa_out(out, PA_STYLE_PLAIN, ", runs in ");
        pa_print_named_thread(printer, waits_on->thread);
        pa_out(out, PA_STYLE_PLAIN, ", ");
        pa_print_blocked(printer, waits_on->thread);
    } else if (single && waits_on->place > 0) {
        pa_out(out, PA_STYLE_PLAIN, ", place ");
        pa_out_count(out, (uint64_t)waits_on->place);
        pa_out(out, PA_STYLE_PLAIN, " in its queue");
    }
    if (waits_on->busy < 0)
        return;
    pa_out(out, PA_STYLE_PLAIN, "; ");
    pa_out_count(out, (uint64_t)waits_on->busy);
    if (waits_on->workers >= 0) {
        pa_out(out, PA_STYLE_PLAIN, " of ");
        pa_out_count(out, (uint64_t)waits_on->workers);
    }
    pa_out(out, PA_STYLE_PLAIN, " threads busy");
    print_counted(printer, waits_on->queued, "queued", "queued");
}

/* What it is, behind "waits on"; of several who wait for the same, what is so for all of them. */
static void print_waited_for(struct pa_printer *printer, const struct pa_waits_on *waits_on, bool single)
{
    switch (waits_on->kind) {
    case PA_WAITS_GATHER:
    case PA_WAITS_WAIT:
        pa_out(printer->out, PA_STYLE_PLAIN, pa_wait_kind_name(waits_on->kind));
        print_left(printer, waits_on);
        break;
    case PA_WAITS_SOCKET:
    case PA_WAITS_PIPE:
        print_file(printer, waits_on);
        break;
    case PA_WAITS_PROCESS:
        pa_out_format(printer->out, PA_STYLE_PLAIN, "process %lld", (long long)waits_on->pid);
        break;
    case PA_WAITS_EXECUTOR:
        print_executor(printer, waits_on, single);
        break;
    case PA_WAITS_TASKGROUP:
        pa_print_object(printer, waits_on->object);
        print_left(printer, waits_on);
        break;
    case PA_WAITS_QUEUE_GET:
    case PA_WAITS_QUEUE_PUT:
        pa_print_object(printer, waits_on->object);
        print_queue(printer, waits_on);
        break;
    default:
        pa_print_object(printer, waits_on->object);
        print_counted(printer, waits_on->waiters, "waiter", "waiters");
        break;
    }
    if (pa_wait_has_holders(waits_on->kind))
        pa_print_holders(printer, waits_on->object);
}

/* "due in 4.2 s", "overdue by 12 ms" */
static uint32_t due_text(double due, char text[PA_FLOAT_BYTES + 16])
{
    uint32_t length = (uint32_t)sprintf(text, due < 0 ? "overdue by " : "due in ");
    return length + pa_seconds_text(due, text + length);
}

/* When a timer is due, of several the first and the last one; nothing if it is not known of all, or there are too many. */
static void print_timers(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count, double first)
{
    struct pa_waits_on other;
    double last = first;
    char text[PA_FLOAT_BYTES + 16], end[PA_FLOAT_BYTES + 16];
    if (isnan(first) || count > PA_MAX_WAIT_TOGETHER)
        return;
    for (uint32_t i = 1; i < count && pa_work_step(printer->graph->work); i++) {
        if (!read_node(printer, nodes[i], &other) || isnan(other.due))
            return;
        first = other.due < first ? other.due : first;
        last = other.due > last ? other.due : last;
    }
    due_text(first, text);
    due_text(last, end);
    pa_out_indent(printer->out, indent);
    pa_out_format(printer->out, PA_STYLE_PLAIN, count == 1 ? "  : waits on timer, %s" : "  : wait on timers, %s", text);
    if (strcmp(text, end) != 0)
        pa_out_format(printer->out, PA_STYLE_PLAIN, ", the last %s", end);
    pa_out(printer->out, PA_STYLE_PLAIN, "\n");
}

static void print_line(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count,
                       const struct pa_waits_on *waits_on)
{
    bool together = count > 1 && wait_together(printer, nodes, count, waits_on);
    pa_out_indent(printer->out, indent);
    pa_out(printer->out, PA_STYLE_PLAIN, count == 1 ? "  : waits on " : together ? "  : wait on " : "  : the first waits on ");
    print_waited_for(printer, waits_on, !together);
    pa_out(printer->out, PA_STYLE_PLAIN, "\n");
}

void pa_print_waits_on(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count)
{
    struct pa_waits_on waits_on;
    if (!(printer->graph->nodes.items[nodes[0]].flags & PA_NODE_TASK) || !read_node(printer, nodes[0], &waits_on))
        return;
    /* Of a task the tree tells as much. */
    if (waits_on.kind == PA_WAITS_TIMER)
        print_timers(printer, indent, nodes, count, waits_on.due);
    else if (waits_on.kind > PA_WAITS_TIMER)
        print_line(printer, indent, nodes, count, &waits_on);
    if (pa_wait_is_unexplained(&waits_on))
        pa_print_pools(printer, indent, nodes, count);
}
