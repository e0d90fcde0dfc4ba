/*
 * [child-gone]: a task waits for a child process that has ended. Only the front can tell, of a process on this machine.
 */
#include "finder.h"

/* Lib/asyncio/base_subprocess.py, BaseSubprocessTransport._wait(): the transport that a task's innermost frame waits for. */
static uint64_t transport_of(struct pa_finder *finder, uint32_t id)
{
    struct pa_graph *graph = finder->graph;
    const struct pa_node *node = &graph->nodes.items[id];
    uint32_t frame = node->stack == 0 ? PA_NONE : graph->codes->stacks.items[node->stack].frame;
    uint64_t self, returncode;
    if (frame == PA_NONE || node->wait != PA_WAIT_FUTURE || node->activity != PA_WAITING)
        return 0;
    if (!pa_frame_is(graph->codes, frame, "BaseSubprocessTransport._wait", "/asyncio/base_subprocess.py"))
        return 0;
    pa_task_objects(graph, id, &finder->links);
    uint64_t coroutine = finder->links.count ? finder->links.items[0] : 0;
    return pa_kind_of(graph->objects, coroutine) == PA_KIND_COROUTINE &&
                   pa_variable_get(graph->codes, coroutine + PA_OFFSET(graph->layout, gen_iframe), "self", &self) &&
                   pa_attribute(graph, self, "_returncode", &returncode) &&
                   pa_kind_of(graph->objects, returncode) == PA_KIND_NONE_TYPE
               ? self
               : 0;
}

void pa_find_children(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    const struct pa_target *target = graph->work->target;
    struct pa_survey survey;
    if (!target->process_state || !(target->flags & PA_TARGET_LIVE) || !pa_survey_begin(finder, &survey))
        return;
    for (uint32_t id = 0; id < graph->nodes.count && pa_work_step(graph->work); id++) {
        uint64_t transport, value;
        int64_t pid;
        if (graph->nodes.items[id].wait != PA_WAIT_FUTURE || !pa_survey_wants(finder, &survey, id) ||
            (transport = transport_of(finder, id)) == 0 || !pa_attribute(graph, transport, "_pid", &value) ||
            !pa_int_read(graph->objects, value, &pid) || pid <= 0 || pid > INT32_MAX)
            continue;
        int32_t state = target->process_state(pid);
        if (state == -2)
            graph->work->fatal = PA_ABORTED;
        if ((state == 0 || state == 'Z' || state == 'X') &&
            pa_finding_begin(finder, PA_FINDING_CHILD_GONE, state == 0 ? PA_CHILD_GONE : PA_CHILD_ZOMBIE, (uint64_t)pid)) {
            pa_finding_add_task(finder, id);
            pa_finding_add_object(finder, transport);
        }
    }
    pa_survey_end(finder, &survey);
}
