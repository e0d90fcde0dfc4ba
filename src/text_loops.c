/* What an event loop does, a line of the head. See text.h. */
#include "text.h"

#include "loop.h"
#include "number.h"

#include <math.h>

/* "epoll, next timer in 4.2 s, 0 ready" */
static void print_select(struct pa_printer *printer, const struct pa_loop_facts *facts)
{
    struct pa_output *out = printer->out;
    double next = pa_loop_next_timer(facts);
    char text[PA_FLOAT_BYTES];
    pa_out_format(out, PA_STYLE_PLAIN, " in %s", facts->poll ? facts->poll : "its selector");
    if (isfinite(next)) {
        pa_seconds_text(next, text);
        pa_out_format(out, PA_STYLE_PLAIN, next < 0 ? ", next timer overdue by %s" : ", next timer in %s", text);
    } else if (facts->scheduled == 0) {
        pa_out(out, PA_STYLE_PLAIN, ", no timer");
    }
    if (facts->ready >= 0) {
        pa_out(out, PA_STYLE_PLAIN, ", ");
        pa_out_count(out, (uint64_t)facts->ready);
        pa_out(out, PA_STYLE_PLAIN, " ready");
    }
}

/* "runs callback tick (app.py:7)" */
static void print_callback(struct pa_printer *printer, const struct pa_loop_facts *facts)
{
    struct pa_graph *graph = printer->graph;
    const struct pa_frame *frame = NULL;
    struct pa_text name = facts->called.name;
    if (facts->callback_frame != PA_NONE)
        frame = &graph->codes->frames.items[graph->thread_frames.items[facts->callback_frame].frame];
    pa_out(printer->out, PA_STYLE_PLAIN, " runs callback");
    if (facts->callback == 0 && frame)
        name = frame->function;
    if (name.length == 0)
        return;
    pa_out(printer->out, PA_STYLE_PLAIN, " ");
    pa_out_target(printer->out, PA_STYLE_FUNCTION, pa_arena_text(&graph->objects->text, name), name.length);
    const char *where = frame ? pa_arena_text(&graph->objects->text, frame->file) : NULL;
    const char *slash = where ? memrchr(where, '/', frame->file.length) : NULL;
    if (!where)
        return;
    uint32_t skip = slash ? (uint32_t)(slash - where) + 1 : 0;
    pa_out(printer->out, PA_STYLE_PLAIN, " (");
    pa_out_target(printer->out, PA_STYLE_FILENAME, where + skip, frame->file.length - skip);
    pa_out_format(printer->out, PA_STYLE_PLAIN, ":%d)", frame->line);
}

/* ", in time.sleep for 5.0 s": the call that waits, if its thread is in one; else, unless @p told, ", its thread is in f (app.py:5)" */
static void print_innermost(struct pa_printer *printer, const struct pa_loop *loop, bool told)
{
    const struct pa_graph *graph = printer->graph;
    uint32_t frame = graph->codes->stacks.items[graph->threads.items[loop->thread].stack].frame;
    struct pa_blocked blocked;
    pa_blocked_read(printer->graph, loop->thread, &blocked);
    if (blocked.kind > PA_BLOCKED_CALL) {
        pa_out(printer->out, PA_STYLE_PLAIN, ", ");
        pa_print_call(printer, &blocked);
        return;
    }
    if (told)
        return;
    if (frame != PA_NONE)
        pa_out(printer->out, PA_STYLE_PLAIN, ", its thread is ");
    pa_print_place(printer, frame);
}

static void print_task(struct pa_printer *printer, const struct pa_loop *loop)
{
    const struct pa_graph *graph = printer->graph;
    pa_out(printer->out, PA_STYLE_PLAIN, " runs ");
    pa_print_short(printer, loop->task);
    uint32_t frame = graph->codes->stacks.items[graph->nodes.items[loop->task].stack].frame;
    if (frame != PA_NONE)
        pa_out(printer->out, PA_STYLE_PLAIN, ", ");
    pa_print_place(printer, frame);
    print_innermost(printer, loop, true);
}

static void print_signals(struct pa_printer *printer, uint64_t signals)
{
    char name[16];
    const char *before = "; handles ";
    for (uint32_t number = 1; number <= 64; number++) {
        if (!(signals >> (number - 1) & 1))
            continue;
        pa_out_format(printer->out, PA_STYLE_PLAIN, "%s%s", before, pa_signal_name(number, name));
        before = ", ";
    }
}

void pa_print_loop(struct pa_printer *printer, uint32_t id)
{
    struct pa_graph *graph = printer->graph;
    struct pa_output *out = printer->out;
    const struct pa_loop *loop = &graph->loops.items[id];
    struct pa_loop_facts facts;
    pa_loop_read(graph, id, &facts);
    if (loop->thread != PA_NONE) {
        pa_print_thread(printer, loop->thread);
        pa_out(out, PA_STYLE_PLAIN, ": ");
    }
    pa_out(out, PA_STYLE_PLAIN, "loop ");
    pa_out_address(out, loop->address);
    switch (facts.state) {
    case PA_LOOP_TASK:
        print_task(printer, loop);
        break;
    case PA_LOOP_CALLBACK:
        print_callback(printer, &facts);
        print_innermost(printer, loop, graph->threads.items[loop->thread].first_frame == facts.callback_frame);
        break;
    case PA_LOOP_SELECT:
        print_select(printer, &facts);
        break;
    case PA_LOOP_RUNNING:
        pa_out(out, PA_STYLE_PLAIN, " runs no task");
        print_innermost(printer, loop, false);
        break;
    default:
        pa_out_format(out, PA_STYLE_PLAIN, " is %s", pa_loop_state_name(facts.state));
        break;
    }
    print_signals(printer, facts.signals);
    if (loop->tasks > 0) {
        pa_out(out, PA_STYLE_PLAIN, "; ");
        pa_out_count(out, loop->waiting);
        pa_out(out, PA_STYLE_PLAIN, " of its ");
        pa_out_counted(out, loop->tasks, "task waits", loop->waiting == 1 ? "tasks waits" : "tasks wait");
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}
