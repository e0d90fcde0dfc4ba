/* The head of py-greenlets: what each thread runs, what is remarkable, how many of each state. */
#include "greenlet_text.h"
#include "hub.h"

#include "limits.h"

/* Hubs that are told of one by one. */
#define HUB_LINES 2u

static void print_totals(struct pa_greenlet_listing *listing)
{
    struct pa_output *out = listing->out;
    const struct pa_graph *graph = listing->graph;
    uint32_t states[PA_GREENLET_THREAD_EXITED + 1] = {0};
    for (uint32_t i = 0; i < graph->greenlets.count; i++)
        states[graph->greenlets.items[i].state]++;
    pa_out_counted(out, graph->greenlets.count, "greenlet", "greenlets");
    const char *before = ": ";
    for (uint32_t i = 0; i <= PA_GREENLET_THREAD_EXITED; i++) {
        /* Running first: in the order of rank, not of the enumeration. */
        static const uint8_t order[] = {PA_GREENLET_RUNNING, PA_GREENLET_SUSPENDED, PA_GREENLET_PENDING, PA_GREENLET_DEAD,
                                        PA_GREENLET_THREAD_EXITED};
        if (states[order[i]] == 0)
            continue;
        pa_out(out, PA_STYLE_PLAIN, before);
        pa_out_count(out, states[order[i]]);
        pa_out(out, PA_STYLE_PLAIN, " ");
        pa_out(out, PA_STYLE_PLAIN,
               order[i] == PA_GREENLET_THREAD_EXITED ? "whose thread has exited" : pa_greenlet_state_name(order[i]));
        before = ", ";
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

static bool has_hub(struct pa_greenlet_listing *listing, uint32_t thread)
{
    for (uint32_t i = 0; i < listing->graph->greenlets.count; i++) {
        const struct pa_greenlet *greenlet = &listing->graph->greenlets.items[i];
        if (greenlet->thread == thread && pa_gevent_is_hub(listing->graph, greenlet))
            return true;
    }
    return false;
}

/* The same that the heads of the other commands tell as a finding. */
static void print_blocked_hubs(struct pa_greenlet_listing *listing)
{
    struct pa_hub_blocked blocked;
    uint32_t count = 0;
    const struct pa_graph *graph = listing->graph;
    for (uint32_t i = 0; i < graph->threads.count && pa_work_step(graph->work); i++) {
        if (!pa_hub_is_blocked(listing->graph, i, &blocked) || count++ >= HUB_LINES)
            continue;
        pa_out(listing->out, PA_STYLE_HIGHLIGHT, "! hub-blocked: ");
        pa_print_blocked_hub(listing->printer, &blocked);
        pa_out(listing->out, PA_STYLE_PLAIN, "\n");
    }
    if (count > HUB_LINES) {
        pa_out(listing->out, PA_STYLE_HIGHLIGHT, "! hub-blocked: ");
        pa_out_counted(listing->out, count - HUB_LINES, "more Hub\n", "more Hubs\n");
    }
}

static void print_thread(struct pa_greenlet_listing *listing, uint32_t thread)
{
    struct pa_output *out = listing->out;
    const struct pa_graph *graph = listing->graph;
    uint32_t running = graph->threads.items[thread].greenlet, others = 0;
    for (uint32_t i = 0; i < graph->greenlets.count; i++)
        others += graph->greenlets.items[i].thread == thread && graph->greenlets.items[i].state == PA_GREENLET_SUSPENDED;
    pa_print_thread(listing->printer, thread);
    pa_out(out, PA_STYLE_PLAIN, " runs ");
    if (graph->greenlets.items[running].is_main) {
        pa_out(out, PA_STYLE_PLAIN, has_hub(listing, thread) ? "its main greenlet, not the Hub" : "its main greenlet");
    } else {
        pa_out(out, PA_STYLE_PLAIN, "greenlet ");
        pa_out_address(out, graph->greenlets.items[running].address);
        pa_out(out, PA_STYLE_PLAIN,
               pa_gevent_is_hub(listing->graph, &graph->greenlets.items[running]) ? ", the Hub"
               : has_hub(listing, thread)                                         ? ", not the Hub"
                                                                                  : ", not its main one");
    }
    pa_out(out, PA_STYLE_PLAIN, "; ");
    pa_out_counted(out, others, "other waits\n", "others wait\n");
}

void pa_greenlet_print_head(struct pa_greenlet_listing *listing)
{
    const struct pa_graph *graph = listing->graph;
    uint32_t lines = 0, more = 0;
    for (uint32_t i = 0; i < graph->threads.count && pa_work_step(graph->work); i++) {
        if (graph->threads.items[i].greenlet == PA_NONE)
            continue;
        if (lines < PA_HEAD_LINES - HUB_LINES - 5) /* and three lines more at the most */
            print_thread(listing, i);
        else
            more++;
        lines++;
    }
    if (more > 0) {
        pa_out(listing->out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
        pa_out_counted(listing->out, more, "more thread\n", "more threads\n");
    }
    print_blocked_hubs(listing);
    pa_instrumentation_print(listing->printer, 2);
    print_totals(listing);
}
