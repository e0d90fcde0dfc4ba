/* What a thread is blocked in, in words. See text.h. */
#include "text.h"

#include "blocked.h"
#include "holder.h"
#include "instance.h"
#include "number.h"
#include "redact.h"

#include <math.h>

/* Threads that are named one by one. */
#define MAX_NAMES 3u

static void print_text(struct pa_printer *printer, const char *text)
{
    pa_out(printer->out, PA_STYLE_PLAIN, text);
}

/* "Thread-4 (thread 2)" */
static void print_thread_object(struct pa_printer *printer, uint64_t object)
{
    struct pa_graph *graph = printer->graph;
    uint32_t length, thread = pa_thread_of_object(graph, object);
    uint64_t name;
    const char *text = printer->name;
    if (pa_instance_attribute(graph->objects, object, "_name", &name) &&
        pa_str_read(graph->objects, name, printer->name, &length)) {
        if (!(printer->request->flags & PA_REQUEST_SHOW_SECRETS)) {
            length = pa_redact(printer->name, length, printer->safe, sizeof(printer->safe));
            text = printer->safe;
        }
        pa_out_target(printer->out, PA_STYLE_VARIABLE, text, length);
    } else {
        print_text(printer, "a thread");
    }
    if (thread != PA_NONE && graph->threads.items[thread].number != 0)
        pa_out_format(printer->out, PA_STYLE_PLAIN, " (thread %u)", graph->threads.items[thread].number);
}

static void print_not_daemon(struct pa_printer *printer)
{
    uint64_t threads[MAX_NAMES];
    uint32_t count = pa_threads_not_daemon(printer->graph, threads, MAX_NAMES);
    print_text(printer, count > 0 ? "waits for " : "waits for threads that are no daemons");
    for (uint32_t i = 0; i < count && i < MAX_NAMES; i++) {
        print_text(printer, i > 0 ? ", " : "");
        print_thread_object(printer, threads[i]);
    }
    if (count > MAX_NAMES) {
        print_text(printer, " and ");
        pa_out_counted(printer->out, count - MAX_NAMES, "other thread", "other threads");
    }
    if (count > 0)
        print_text(printer, count == 1 ? ", which is no daemon" : ", which are no daemons");
}

static void print_process(struct pa_printer *printer, uint64_t popen)
{
    uint64_t value;
    int64_t pid;
    if (pa_instance_attribute(printer->graph->objects, popen, "pid", &value) && pa_int_read(printer->graph->objects, value, &pid))
        pa_out_format(printer->out, PA_STYLE_PLAIN, "waits for process %lld", (long long)pid);
    else
        print_text(printer, "waits for a process");
}

/* "in Queue.get of Queue 0x7f…" */
static void print_function(struct pa_printer *printer, const struct pa_blocked *blocked)
{
    print_text(printer, "in ");
    pa_out_target(printer->out, PA_STYLE_FUNCTION, blocked->function, strlen(blocked->function));
    if (blocked->object == 0)
        return;
    struct pa_text type = pa_type_name_of(printer->graph->objects, blocked->object);
    print_text(printer, " of ");
    pa_out_target(printer->out, PA_STYLE_PLAIN, pa_arena_text(&printer->graph->objects->text, type), type.length);
    print_text(printer, " ");
    pa_out_address(printer->out, blocked->object);
}

void pa_print_call(struct pa_printer *printer, const struct pa_blocked *blocked)
{
    char seconds[PA_FLOAT_BYTES];
    if (blocked->in_shutdown)
        print_text(printer, "threading._shutdown ");
    switch (blocked->kind) {
    case PA_BLOCKED_THREAD:
        print_text(printer, "joins ");
        print_thread_object(printer, blocked->object);
        break;
    case PA_BLOCKED_SHUTDOWN:
        print_not_daemon(printer);
        break;
    case PA_BLOCKED_PROCESS:
        print_process(printer, blocked->object);
        break;
    case PA_BLOCKED_WORKER:
        print_text(printer, "idle worker of an executor");
        break;
    default:
        print_function(printer, blocked);
        if (blocked->kind != PA_BLOCKED_SLEEP || !isfinite(blocked->seconds))
            break;
        pa_seconds_text(blocked->seconds, seconds);
        pa_out_format(printer->out, PA_STYLE_PLAIN, " for %s", seconds);
        break;
    }
}

void pa_print_named_thread(struct pa_printer *printer, uint32_t thread)
{
    uint64_t object = pa_thread_object(printer->graph, thread);
    if (object != 0)
        print_thread_object(printer, object);
    else
        pa_print_thread(printer, thread);
}

void pa_print_blocked(struct pa_printer *printer, uint32_t thread)
{
    const struct pa_graph *graph = printer->graph;
    struct pa_blocked blocked;
    pa_blocked_read(printer->graph, thread, &blocked);
    if (blocked.own != PA_NONE)
        pa_print_place(printer, blocked.own);
    if (blocked.kind == PA_BLOCKED_NOT) {
        if (blocked.own == PA_NONE)
            pa_print_place(printer, graph->codes->stacks.items[graph->threads.items[thread].stack].frame);
        return;
    }
    if (blocked.own != PA_NONE)
        print_text(printer, ", ");
    pa_print_call(printer, &blocked);
    /* Where it may just have got it, nobody is said to have it. */
    if (blocked.kind == PA_BLOCKED_LOCK && pa_thread_awaited_lock(printer->graph, thread, NULL) == blocked.object)
        pa_print_holders(printer, blocked.object);
}
