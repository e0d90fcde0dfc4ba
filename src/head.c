/* The head of a listing and its last line. See text.h. */
#include "greenlet_view.h"
#include "text.h"

#include "limits.h"

#include <stdio.h>

/* "--thread 3 leaves out 5" */
static const char *print_left_out(struct pa_printer *printer, const char *before, const char *option, const char *value,
                                  uint32_t count)
{
    struct pa_output *out = printer->out;
    if (count == 0)
        return before;
    pa_out(out, PA_STYLE_PLAIN, before);
    pa_out_format(out, PA_STYLE_PLAIN, "--%s ", option);
    pa_out_target(out, PA_STYLE_PLAIN, value, strlen(value));
    pa_out(out, PA_STYLE_PLAIN, " leaves out ");
    pa_out_count(out, count);
    return ", ";
}

/* That no task is left of the selection, and which filter left out how many. */
static void print_filtered_out(struct pa_printer *printer)
{
    const struct pa_request *request = printer->request;
    const struct pa_left_out *left_out = &printer->view->left_out;
    char thread[16];
    snprintf(thread, sizeof(thread), "%u", request->thread);
    pa_out(printer->out, PA_STYLE_TITLE, "No task");
    pa_out(printer->out, PA_STYLE_PLAIN, " is left of ");
    pa_out_count(printer->out, (uint64_t)left_out->state + left_out->thread + left_out->in);
    const char *before = print_left_out(printer, ": ", "state", pa_request_state(request), left_out->state);
    before = print_left_out(printer, before, "thread", thread, left_out->thread);
    print_left_out(printer, before, "in", request->in ? request->in : "", left_out->in);
    pa_out(printer->out, PA_STYLE_PLAIN, "\n");
}

static void print_reason(struct pa_printer *printer)
{
    struct pa_output *out = printer->out;
    const struct pa_view *view = printer->view;
    uint32_t others = view->total - view->selected.count;
    if (pa_view_filtered_out(view)) {
        print_filtered_out(printer);
        return;
    }
    switch (view->reason) {
    case PA_BECAUSE_SELECTED_THREAD:
        pa_out(out, PA_STYLE_TITLE, "The task that runs in the selected thread");
        if (others > 0) {
            pa_out(out, PA_STYLE_PLAIN, "; ");
            pa_out_counted(out, others, "more task: py-async-bt --all", "more tasks: py-async-bt --all");
        }
        break;
    case PA_BECAUSE_OTHER_THREADS:
        pa_out(out, PA_STYLE_TITLE, "All tasks, those first that run in other threads");
        pa_out(out, PA_STYLE_PLAIN, ": none runs in the selected one");
        break;
    case PA_BECAUSE_NONE_RUNS:
        pa_out(out, PA_STYLE_TITLE, "All tasks");
        pa_out(out, PA_STYLE_PLAIN, ": none is running");
        break;
    case PA_BECAUSE_FOREST:
        pa_out(out, PA_STYLE_TITLE, "Who awaits whom");
        pa_out(out, PA_STYLE_PLAIN, ": every task stands above those that await it");
        break;
    default:
        pa_out(out, PA_STYLE_TITLE, "All tasks");
        if (others > 0) {
            pa_out(out, PA_STYLE_PLAIN, " that match: ");
            pa_out_count(out, view->selected.count);
            pa_out(out, PA_STYLE_PLAIN, " of ");
            pa_out_count(out, view->total);
        }
        break;
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

/* Whether a thread is to be told of where no task is alive. Of those that run a loop that is done already. */
static bool runs_python(const struct pa_thread *thread)
{
    return thread->frame_count > 0 && thread->loop == 0;
}

/* While no task is alive: what the process does instead, the oldest thread first, which is the main thread. */
static void print_threads(struct pa_printer *printer, uint32_t room)
{
    const struct pa_graph *graph = printer->graph;
    uint32_t count = 0, lines = 0;
    for (uint32_t i = 0; i < graph->threads.count; i++)
        count += runs_python(&graph->threads.items[i]);
    uint32_t shown = count <= room || room == 0 ? room : room - 1;
    for (uint32_t i = graph->threads.count; i > 0 && lines < shown && pa_work_step(graph->work); i--) {
        if (!runs_python(&graph->threads.items[i - 1]))
            continue;
        pa_print_named_thread(printer, i - 1);
        pa_out(printer->out, PA_STYLE_PLAIN, ": ");
        pa_print_blocked(printer, i - 1);
        pa_out(printer->out, PA_STYLE_PLAIN, "\n");
        lines++;
    }
    if (room == 0 || lines == count)
        return;
    pa_out(printer->out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
    pa_out_counted(printer->out, count - lines, "more thread", "more threads");
    pa_out(printer->out, PA_STYLE_PLAIN, "\n");
}

/* Cycles of awaiters that are no deadlocks are told behind the findings, in the lines that these leave. */
static uint32_t count_finding_lines(const struct pa_printer *printer)
{
    const struct pa_findings *findings = printer->view->findings;
    uint64_t all = (uint64_t)findings->items.count + findings->more + printer->graph->cycle_ends.count +
                   printer->graph->more_cycles - (uint32_t)__builtin_popcountll(findings->told_cycles);
    return all <= PA_HEAD_FINDINGS ? (uint32_t)all : PA_HEAD_FINDINGS + 1;
}

static void print_findings(struct pa_printer *printer)
{
    const struct pa_graph *graph = printer->graph;
    const struct pa_findings *findings = printer->view->findings;
    struct pa_output *out = printer->out;
    uint32_t lines = 0, cycles = 0, told = (uint32_t)__builtin_popcountll(findings->told_cycles);
    for (uint32_t i = 0; i < findings->items.count && lines < PA_HEAD_FINDINGS; i++, lines++) {
        pa_out_format(out, PA_STYLE_HIGHLIGHT, "! %s: ", pa_finding_kind_name(findings->items.items[i].kind));
        pa_print_finding(printer, i);
        pa_out(out, PA_STYLE_PLAIN, "\n");
    }
    uint64_t more = (uint64_t)findings->items.count + findings->more - lines;
    for (; cycles < graph->cycle_ends.count && lines < PA_HEAD_FINDINGS; cycles++) {
        if (cycles < 64 && findings->told_cycles >> cycles & 1)
            continue;
        pa_out(out, PA_STYLE_HIGHLIGHT, "! cycle: ");
        pa_print_cycle(printer, cycles);
        pa_out(out, PA_STYLE_PLAIN, "\n");
        lines++;
        told++;
    }
    uint64_t more_cycles = (uint64_t)graph->cycle_ends.count + graph->more_cycles - told;
    if (more == 0 && more_cycles == 0)
        return;
    pa_out(out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
    if (more > 0)
        pa_out_counted(out, more, "more finding", "more findings");
    if (more_cycles > 0) {
        pa_out(out, PA_STYLE_PLAIN, more > 0 ? " and " : "");
        pa_out_counted(out, more_cycles, "more cycle", "more cycles");
    }
    pa_out(out, PA_STYLE_PLAIN, "; --json lists them\n");
}

void pa_print_head(struct pa_printer *printer)
{
    const struct pa_graph *graph = printer->graph;
    struct pa_output *out = printer->out;
    uint32_t room = PA_HEAD_LINES - 2; /* less the first line and the totals */
    room -= graph->greenlets_how ? 2 : 0;
    uint32_t findings = count_finding_lines(printer);
    uint32_t loops = graph->loops.count <= room - findings ? graph->loops.count : room - findings - 1;
    if (printer->request->flags & (PA_REQUEST_COMPAT | PA_REQUEST_NO_HEAD) || printer->view->reason == PA_BECAUSE_NAMED) {
        if (pa_view_filtered_out(printer->view))
            print_filtered_out(printer);
        return;
    }
    if (printer->request->command != PA_COMMAND_REPORT)
        print_reason(printer);
    for (uint32_t i = 0; i < loops; i++)
        pa_print_loop(printer, i);
    if (loops < graph->loops.count) {
        pa_out(out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
        pa_out_counted(out, graph->loops.count - loops, "more loop", "more loops");
        pa_out(out, PA_STYLE_PLAIN, "\n");
    }
    print_findings(printer);
    if (graph->greenlets_how)
        pa_instrumentation_print(printer, 2);
    if (graph->live_count == 0)
        print_threads(printer, room - findings - loops - (loops < graph->loops.count));
    pa_print_totals(printer);
}

/* Problems that are printed one by one. */
#define MAX_PROBLEM_LINES 5u

void pa_print_end(struct pa_printer *printer)
{
    const struct pa_graph *graph = printer->graph;
    struct pa_output *out = printer->out;
    bool compat = printer->request->flags & PA_REQUEST_COMPAT;
    if (graph->problem_count == 0) {
        if (compat)
            return;
        pa_out(out, PA_STYLE_METADATA, "Complete: ");
        if (!printer->view)
            pa_out_counted(out, graph->greenlets.count, "greenlet", "greenlets");
        else
            pa_out_counted(out, graph->live_count, "task", "tasks");
        pa_out(out, PA_STYLE_PLAIN, " in ");
        pa_out_counted(out, graph->threads.count, "thread", "threads");
        if (graph->interpreters.count > 1) {
            pa_out(out, PA_STYLE_PLAIN, " of ");
            pa_out_counted(out, graph->interpreters.count, "interpreter", "interpreters");
        }
        pa_out(out, PA_STYLE_PLAIN, ".\n");
        return;
    }
    for (uint32_t i = 0; i < graph->problems.count && i < MAX_PROBLEM_LINES; i++) {
        const struct pa_problem *problem = &graph->problems.items[i];
        pa_out_format(out, PA_STYLE_HIGHLIGHT, "! %s ", problem->what);
        pa_out_address(out, problem->address);
        if (problem->node != PA_NONE && graph->nodes.items[problem->node].address != problem->address) {
            pa_out(out, PA_STYLE_PLAIN, " of ");
            pa_print_short(printer, problem->node);
        }
        pa_out_format(out, PA_STYLE_PLAIN, ": %s\n", problem->why);
    }
    pa_out(out, PA_STYLE_HIGHLIGHT, "INCOMPLETE: ");
    pa_out_counted(out, graph->problem_count, "problem", "problems");
    pa_out(out, PA_STYLE_PLAIN,
           graph->problem_count > MAX_PROBLEM_LINES ? ", the first of them above; --json lists more.\n" : ", above.\n");
}
