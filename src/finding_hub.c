/* Findings about gevent's Hubs. */
#include "finder.h"
#include "hub.h"

/* [hub-blocked]: the Hub, and the greenlet that blocks it; number: the thread */
void pa_find_blocked_hubs(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct pa_hub_blocked blocked;
    for (uint32_t i = 0; graph->greenlets.count > 0 && i < graph->threads.count && pa_work_step(graph->work); i++) {
        if (!pa_hub_is_blocked(graph, i, &blocked))
            continue;
        pa_finding_begin(finder, PA_FINDING_HUB_BLOCKED, 0, i);
        pa_finding_add_object(finder, graph->greenlets.items[blocked.hub].address);
        pa_finding_add_object(finder, graph->greenlets.items[blocked.running].address);
    }
}
