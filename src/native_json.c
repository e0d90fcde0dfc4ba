/* Merged stacks in the JSON document. See json.h. */
#include "json.h"
#include "json_parts.h"

static void write_native_frame(struct pa_output *out, const struct pa_native *native, uint32_t frame)
{
    const struct pa_native_item *item = &native->frames.items[frame];
    raw(out, "{\"function\": ");
    arena_text_or_null(out, &native->text, item->function);
    raw(out, ", \"file\": ");
    arena_text_or_null(out, &native->text, item->file);
    if (item->line > 0)
        number(out, ", \"line\": %d", item->line);
    else
        raw(out, ", \"line\": null");
    number(out, ", \"kind\": \"native\", \"number\": %u, \"pc\": \"0x%llx\", \"object\": ", frame, (unsigned long long)item->pc);
    arena_text_or_null(out, &native->text, item->object);
    raw(out, "}");
}

/* The tasks that execute in the thread, and which frames are theirs. */
static void write_tasks(struct pa_output *out, const struct pa_native *native)
{
    const struct pa_graph *graph = native->graph;
    const char *comma = "";
    uint32_t first, end;
    for (uint32_t i = 0; i < graph->executing.count; i++) {
        const struct pa_executing *executing = &graph->executing.items[i];
        if (graph->threads.items[executing->thread].number != native->number)
            continue;
        pa_native_slice(native, executing, &first, &end);
        number(out, "%s{\"id\": \"0x%llx\"", comma, (unsigned long long)graph->nodes.items[executing->node].address);
        if (native->matched)
            number(out, ", \"first\": %u, \"end\": %u}", first, end);
        else
            raw(out, ", \"first\": null, \"end\": null}");
        comma = ", ";
    }
}

static void write_native(struct pa_output *out, const struct pa_native *native)
{
    struct pa_graph *graph = native->graph;
    number(out, "{\"thread\": %u, \"matched\": %s, \"why\": ", native->number, native->matched ? "true" : "false");
    if (native->matched)
        raw(out, "null");
    else
        pa_out_json(out, native->why, strlen(native->why));
    raw(out, ", \"stopped\": ");
    arena_text_or_null(out, &native->text, native->stopped);
    raw(out, ", \"tasks\": [");
    write_tasks(out, native);
    raw(out, "], \"frames\": [");
    for (uint32_t i = 0; i < native->merged.count && pa_work_step(graph->work); i++) {
        const struct pa_merged *place = &native->merged.items[i];
        raw(out, i > 0 ? ",\n  " : "\n  ");
        if (place->thread_frame == PA_NONE)
            write_native_frame(out, native, place->native);
        else
            pa_json_frame(out, graph, graph->thread_frames.items[place->thread_frame].frame);
    }
    raw(out, "]}");
}

/* Whether a task that the document lists executes in the thread. */
static bool has_task(const struct pa_view *view, uint32_t thread)
{
    const struct pa_graph *graph = view->graph;
    for (uint32_t i = 0; i < graph->executing.count; i++) {
        uint32_t group = view->groups.count ? view->group_of[graph->executing.items[i].node] : PA_NONE;
        if (graph->threads.items[graph->executing.items[i].thread].number == thread && group != PA_NONE &&
            view->groups.items[group].selected)
            return true;
    }
    return false;
}

/* Threads without Python that a report tells of were unwound before. */
static bool is_told(const struct pa_natives *natives, const struct pa_request *request, uint32_t number)
{
    for (uint32_t i = 0; request->command == PA_COMMAND_REPORT && i < natives->count; i++) {
        if (natives->items[i].number == number)
            return true;
    }
    return false;
}

void pa_native_json(struct pa_natives *natives, struct pa_view *view, struct pa_output *out)
{
    struct pa_work *work = view->graph->work;
    struct pa_thread_infos infos = {0};
    const char *comma = "";
    raw(out, "\"native\": [");
    pa_debugger_threads(work, &infos);
    for (uint32_t i = 0; i < infos.count && pa_work_step(work); i++) {
        uint32_t number_of = infos.items[i].number;
        if (!pa_native_wanted(view->graph, view->request, &infos, i) && !has_task(view, number_of) &&
            !is_told(natives, view->request, number_of))
            continue;
        const struct pa_native *native = pa_natives_get(natives, view->graph, number_of);
        if (!native || native->frames.count == 0)
            continue;
        raw(out, comma);
        raw(out, "\n ");
        write_native(out, native);
        comma = ",";
    }
    raw(out, "],\n");
    pa_array_free(work, &infos);
}
