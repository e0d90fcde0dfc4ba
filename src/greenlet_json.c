/* Greenlets in the JSON document. See greenlet_view.h. */
#include "greenlet_view.h"
#include "json_parts.h"
#include "limits.h"
#include "output.h"
#include "redact.h"

/* Places in the stack: C code called this frame, out of the one behind it. */
static void print_c_calls(struct pa_graph *graph, struct pa_output *out, uint32_t id)
{
    uint32_t count;
    const struct pa_thread_frame *frames = pa_greenlet_frames(graph, id, &count);
    const char *comma = "";
    raw(out, ", \"c_calls\": [");
    for (uint32_t i = 0; i + 1 < count && pa_work_step(graph->work); i++) {
        if (!frames[i].from_c)
            continue;
        pa_out_format(out, PA_STYLE_PLAIN, "%s%u", comma, i);
        comma = ", ";
    }
    raw(out, "]");
}

static void print_run(struct pa_graph *graph, struct pa_output *out, const struct pa_greenlet *greenlet)
{
    struct pa_callable callable;
    if (greenlet->run == 0)
        return;
    pa_greenlet_run(graph, greenlet, &callable);
    raw(out, ", \"run\": {\"object\": ");
    address(out, greenlet->run);
    raw(out, callable.line ? ", \"function\": " : ", \"type\": ");
    arena_text(out, &graph->objects->text, callable.name);
    if (callable.line) {
        raw(out, ", \"file\": ");
        arena_text(out, &graph->objects->text, callable.file);
        pa_out_format(out, PA_STYLE_PLAIN, ", \"line\": %d", callable.line);
    }
    raw(out, "}");
}

static void print_tools(const struct pa_greenlet_view *view, struct pa_output *out, uint8_t tools)
{
    char name[PA_STRING_BYTES], safe[PA_REDACTED_BYTES(PA_MAX_TOOL_NAME)];
    const char *comma = "";
    for (uint32_t tool = 0; tool < PA_TOOLS; tool++) {
        if (!(tools >> tool & 1))
            continue;
        uint32_t length = pa_tool_name(view->graph, &view->instrumentation, tool, name);
        length = pa_redact(name, length < PA_MAX_TOOL_NAME ? length : PA_MAX_TOOL_NAME, safe, sizeof(safe));
        raw(out, comma);
        pa_out_json(out, safe, length);
        comma = ", ";
    }
}

/* What is not as it should be: nothing for frames that are fresh, and for those of a greenlet that runs. */
static void print_verdicts(const struct pa_greenlet_view *view, struct pa_output *out, uint32_t id)
{
    static const char *const names[] = {[PA_CODE_STALE] = "stale",
                                        [PA_CODE_MISSES] = "misses",
                                        [PA_CODE_EXTRA] = "extra",
                                        [PA_CODE_CRASHES] = "crashes",
                                        [PA_CODE_UNKNOWN] = "stale"};
    struct pa_graph *graph = view->graph;
    char text[PA_VERDICT_BYTES];
    uint32_t count;
    const struct pa_thread_frame *frames = pa_greenlet_frames(graph, id, &count);
    const char *comma = "";
    raw(out, ", \"instrumentation\": [");
    for (uint32_t i = 0; graph->greenlets.items[id].state != PA_GREENLET_RUNNING && i < count && pa_work_step(graph->work); i++) {
        struct pa_code_verdict verdict = pa_frame_verdict(graph, &view->instrumentation, &frames[i]);
        for (uint8_t flags = verdict.flags; flags != 0;) {
            uint8_t flag = pa_verdict_next(&flags);
            pa_out_format(out, PA_STYLE_PLAIN, "%s{\"frame\": %u, \"verdict\": \"%s\", \"tools\": [", comma, i, names[flag]);
            print_tools(view, out, flag == PA_CODE_MISSES ? verdict.misses : flag == PA_CODE_EXTRA ? verdict.extra : 0);
            raw(out, "], \"text\": ");
            pa_out_json(out, text, pa_verdict_text(graph, &view->instrumentation, verdict, flag, text));
            raw(out, "}");
            comma = ", ";
        }
    }
    raw(out, "]");
}

static void print_name(const struct pa_greenlet_view *view, struct pa_output *out, const struct pa_greenlet *greenlet)
{
    char name[PA_STRING_BYTES], safe[2 * PA_STRING_BYTES];
    uint32_t length;
    raw(out, ", \"name\": ");
    if (!pa_gevent_name(view->graph, greenlet, name, &length))
        raw(out, "null");
    else if (view->request->flags & PA_REQUEST_SHOW_SECRETS)
        pa_out_json(out, name, length);
    else
        pa_out_json(out, safe, pa_redact(name, length, safe, sizeof(safe)));
}

static void print_gevent(const struct pa_greenlet_view *view, struct pa_output *out, const struct pa_greenlet *greenlet)
{
    struct pa_graph *graph = view->graph;
    struct pa_gevent_place place;
    uint32_t count;
    const struct pa_gevent_wait *waits = pa_gevent_waits(&view->gevent, greenlet->address, &count);
    if (pa_gevent_is_hub(graph, greenlet))
        raw(out, ", \"hub\": true");
    if (count > 0) {
        raw(out, ", \"waits_on\": {\"kind\": \"");
        raw(out, pa_gevent_kind(&view->gevent, waits));
        raw(out, "\", \"type\": ");
        arena_text(out, &graph->objects->text, graph->objects->types.items[waits->type].name);
        raw(out, ", \"objects\": [");
        for (uint32_t i = 0; i < count; i++) {
            raw(out, i > 0 ? ", " : "");
            address(out, waits[i].object);
        }
        raw(out, "]}");
    }
    if (pa_gevent_spawned(graph, greenlet, &place)) {
        const struct pa_code *code = &graph->codes->codes.items[place.code];
        raw(out, ", \"spawned_at\": {\"function\": ");
        arena_text(out, &graph->objects->text, code->qualname);
        raw(out, ", \"file\": ");
        arena_text(out, &graph->objects->text, code->filename);
        pa_out_format(out, PA_STYLE_PLAIN, ", \"line\": %d, \"greenlet\": ", place.line);
        address(out, place.spawner);
        raw(out, "}");
    }
}

static void print_awaiters(const struct pa_greenlet_view *view, struct pa_output *out, uint32_t id,
                           struct pa_greenlet_awaiters *awaiters)
{
    struct pa_graph *graph = view->graph;
    awaiters->count = 0;
    pa_greenlet_awaiters(graph, &view->gevent, id, awaiters);
    raw(out, ", \"awaited_by\": [");
    for (uint32_t i = 0; i < awaiters->count && pa_work_step(graph->work); i++) {
        const struct pa_greenlet_awaiter *awaiter = &awaiters->items[i];
        raw(out, i > 0 ? ", {\"id\": " : "{\"id\": ");
        address(out, graph->greenlets.items[awaiter->greenlet].address);
        pa_out_format(out, PA_STYLE_PLAIN, ", \"how\": \"%s\"", pa_greenlet_how_name(awaiter->how));
        if (awaiter->object != 0) {
            raw(out, ", \"object\": ");
            address(out, awaiter->object);
        }
        raw(out, "}");
    }
    raw(out, "]");
}

void pa_greenlet_json_print(const struct pa_greenlet_view *view, struct pa_output *out, pa_stack_number *stack_number,
                            void *context)
{
    struct pa_graph *graph = view->graph;
    struct pa_greenlet_awaiters awaiters = {0};
    for (uint32_t i = 0; i < view->selected.count && pa_work_step(graph->work); i++) {
        uint32_t id = view->selected.items[i];
        const struct pa_greenlet *greenlet = &graph->greenlets.items[id];
        uint32_t thread = greenlet->thread == PA_NONE ? 0 : graph->threads.items[greenlet->thread].number;
        raw(out, i > 0 ? ",\n {\"id\": " : "\n {\"id\": ");
        address(out, greenlet->address);
        raw(out, ", \"type\": ");
        arena_text(out, &graph->objects->text, graph->objects->types.items[greenlet->type].name);
        pa_out_format(out, PA_STYLE_PLAIN,
                      ", \"state\": \"%s\", \"main\": %s, \"thread\": ", pa_greenlet_state_name(greenlet->state),
                      greenlet->is_main ? "true" : "false");
        if (thread)
            pa_out_format(out, PA_STYLE_PLAIN, "%u", thread);
        else
            raw(out, "null");
        raw(out, ", \"parent\": ");
        address(out, greenlet->parent);
        print_name(view, out, greenlet);
        print_run(graph, out, greenlet);
        print_gevent(view, out, greenlet);
        pa_out_format(out, PA_STYLE_PLAIN, ", \"stack\": %u", stack_number(context, greenlet->stack));
        print_c_calls(graph, out, id);
        print_awaiters(view, out, id, &awaiters);
        print_verdicts(view, out, id);
        raw(out, "}");
    }
    pa_array_free(graph->work, &awaiters);
}
