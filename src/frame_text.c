/* A frame of a stack as text, with its source line. See text.h. */
#include "text.h"

static void print_source(struct pa_printer *printer, uint32_t spaces, const struct pa_frame *frame)
{
    struct pa_output *out = printer->out;
    char line[512], *text = line, path[4096];
    if (frame->line <= 0 || frame->file.length == 0 || frame->file.length >= sizeof(path))
        return;
    memcpy(path, pa_arena_text(&printer->graph->objects->text, frame->file), frame->file.length);
    path[frame->file.length] = '\0';
    line[0] = '\0';
    int32_t status = printer->graph->work->target->source_line(path, frame->line, line, sizeof(line));
    if (status == PA_ABORTED)
        printer->graph->work->fatal = PA_ABORTED;
    line[sizeof(line) - 1] = '\0';
    while (*text == ' ' || *text == '\t')
        text++;
    if (status != PA_OK || *text == '\0')
        return;
    pa_out_indent(out, spaces);
    pa_out(out, PA_STYLE_PLAIN, "  |       ");
    pa_out_target(out, PA_STYLE_PLAIN, text, strlen(text));
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

void pa_print_frame_line(struct pa_printer *printer, const char *before, uint32_t id)
{
    static const char *const kinds[PA_FRAME_KIND_COUNT] = {"", "async ", "generator ", "async generator ", ""};
    struct pa_output *out = printer->out;
    const struct pa_arena *text = &printer->graph->objects->text;
    const struct pa_frame *frame = &printer->graph->codes->frames.items[id];
    pa_out(out, PA_STYLE_PLAIN, before);
    pa_out_repr(out, PA_STYLE_FILENAME, pa_arena_text(text, frame->file), frame->file.length);
    if (frame->line > 0)
        pa_out_format(out, PA_STYLE_PLAIN, ", line %d, in %s", frame->line, kinds[frame->kind]);
    else
        pa_out_format(out, PA_STYLE_PLAIN, ", line None, in %s", kinds[frame->kind]);
    pa_out_target(out, PA_STYLE_FUNCTION, pa_arena_text(text, frame->function), frame->function.length);
    pa_out(out, PA_STYLE_PLAIN, "()\n");
}

void pa_print_frame(struct pa_printer *printer, uint32_t spaces, uint32_t id, uint64_t iframe)
{
    pa_out_indent(printer->out, spaces);
    pa_print_frame_line(printer, "  |   File ", id);
    if (printer->request->flags & PA_REQUEST_SOURCE)
        print_source(printer, spaces, &printer->graph->codes->frames.items[id]);
    pa_print_locals(printer, spaces, iframe);
}
