/* What the heads and the JSON's findings say about stale instrumentation. See instrumentation.h. */
#include "greenlet_view.h"
#include "text.h"

/* "2 greenlets will crash …" */
static void print_count(struct pa_output *out, uint32_t count, const char *what, const char **before)
{
    if (count == 0)
        return;
    pa_out(out, PA_STYLE_PLAIN, *before);
    pa_out_counted(out, count, "greenlet ", "greenlets ");
    pa_out(out, PA_STYLE_PLAIN, what);
    *before = ", ";
}

static const char *cause_of(uint8_t flags)
{
    return flags & PA_CODE_CRASHES ? "CPython reads what is not there when an exception passes through such a frame (gh-142186)"
                                   : "a debug build checks that, and aborts";
}

uint32_t pa_instrumentation_print(struct pa_printer *printer, uint32_t room)
{
    struct pa_graph *graph = printer->graph;
    struct pa_output *out = printer->out;
    struct pa_instrumentation instrumentation;
    struct pa_instrumentation_findings findings;
    uint32_t lines = 0;
    pa_instrumentation_read(graph, &instrumentation);
    pa_instrumentation_find(graph, &instrumentation, &findings);
    if (findings.thread != PA_NONE && lines < room) {
        lines++;
        pa_out(out, PA_STYLE_HIGHLIGHT, "! likely cause of death: ");
        pa_print_thread(printer, findings.thread);
        pa_out(out, PA_STYLE_PLAIN, " was ");
        pa_print_place(printer, findings.frame);
        pa_out(out, PA_STYLE_PLAIN, ", whose instrumentation is stale: ");
        pa_out(out, PA_STYLE_PLAIN, cause_of(findings.flags));
        pa_out(out, PA_STYLE_PLAIN, "\n");
    }
    if (findings.crashes + findings.misses + findings.extra > 0 && lines < room) {
        const char *before = "";
        lines++;
        pa_out(out, PA_STYLE_HIGHLIGHT, "! stale instrumentation: ");
        print_count(out, findings.crashes, "will crash (SIGSEGV) when an exception passes through", &before);
        print_count(out, findings.misses, "with frames that miss events of a tool", &before);
        print_count(out, findings.extra, "with frames that have extra events", &before);
        pa_out(out, PA_STYLE_PLAIN,
               printer->request->flags & PA_REQUEST_INSTRUMENTATION ? "\n" : "; py-greenlets --instrumentation\n");
    }
    return lines;
}

void pa_refreshed_json(const struct pa_greenlet_view *view, struct pa_output *out)
{
    struct pa_graph *graph = view->graph;
    struct pa_refreshed_list list = {0};
    pa_find_refreshed(graph, &view->instrumentation, &list);
    pa_out(out, PA_STYLE_PLAIN, "\"refreshes\": [");
    for (uint32_t i = 0; i < list.count && pa_work_step(graph->work); i++) {
        const struct pa_frame *frame = &graph->codes->frames.items[list.items[i].frame];
        pa_out(out, PA_STYLE_PLAIN, i > 0 ? ",\n {\"function\": " : "\n {\"function\": ");
        pa_out_json(out, pa_arena_text(&graph->objects->text, frame->function), frame->function.length);
        pa_out(out, PA_STYLE_PLAIN, ", \"file\": ");
        pa_out_json(out, pa_arena_text(&graph->objects->text, frame->file), frame->file.length);
        pa_out_format(out, PA_STYLE_PLAIN, ", \"line\": %d, \"count\": %u}", frame->line, list.items[i].count);
    }
    pa_out(out, PA_STYLE_PLAIN, "],\n");
    pa_array_free(graph->work, &list);
}

static void print_objects(const struct pa_greenlet_view *view, struct pa_output *out, uint8_t flag)
{
    struct pa_graph *graph = view->graph;
    const char *comma = "";
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++) {
        if (!(pa_greenlet_verdict(graph, &view->instrumentation, i) & flag))
            continue;
        pa_out_format(out, PA_STYLE_PLAIN, "%s\"0x%llx\"", comma, (unsigned long long)graph->greenlets.items[i].address);
        comma = ", ";
    }
}

void pa_instrumentation_json(const struct pa_greenlet_view *view, struct pa_output *out, const char *comma)
{
    static const struct {
        uint8_t flag;
        const char *text;
    } kinds[] = {
        {PA_CODE_CRASHES, "will crash (SIGSEGV) when an exception passes through a frame that is stale"},
        {PA_CODE_MISSES, "frames miss events of a tool"},
        {PA_CODE_EXTRA, "frames have extra events of a tool that is off or not interested"},
    };
    struct pa_graph *graph = view->graph;
    struct pa_instrumentation_findings findings;
    pa_instrumentation_find(graph, &view->instrumentation, &findings);
    const uint32_t counts[] = {findings.crashes, findings.misses, findings.extra};
    if (findings.thread != PA_NONE) {
        struct pa_text function = graph->codes->frames.items[findings.frame].function;
        pa_out_format(out, PA_STYLE_PLAIN, "%s\n {\"kind\": \"stale_instrumentation_death\", \"thread\": %u, \"function\": ", comma,
                      graph->threads.items[findings.thread].number);
        pa_out_json(out, pa_arena_text(&graph->objects->text, function), function.length);
        pa_out_format(out, PA_STYLE_PLAIN, ", \"text\": \"likely cause of death: %s\", \"tasks\": [], \"objects\": []}",
                      cause_of(findings.flags));
        comma = ",";
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (counts[i] == 0)
            continue;
        pa_out_format(out, PA_STYLE_PLAIN,
                      "%s\n {\"kind\": \"stale_instrumentation\", \"text\": \"%s\", \"tasks\": [], \"objects\": [", comma,
                      kinds[i].text);
        print_objects(view, out, kinds[i].flag);
        pa_out(out, PA_STYLE_PLAIN, "]}");
        comma = ",";
    }
}
