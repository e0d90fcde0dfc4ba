/* Why a task failed, where it was created, its context variables. See text.h. */
#include "text.h"

#include "context.h"
#include "exception.h"
#include "limits.h"

static void begin_note(struct pa_printer *printer, uint32_t indent)
{
    pa_out_indent(printer->out, indent);
    pa_out(printer->out, PA_STYLE_PLAIN, "  : ");
}

static void print_traceback(struct pa_printer *printer, uint32_t indent, uint32_t stack)
{
    pa_stack_frames(printer->graph, stack, &printer->frames);
    for (uint32_t i = 0; i < printer->frames.count && pa_work_step(printer->graph->work); i++) {
        pa_out_indent(printer->out, indent);
        pa_print_frame_line(printer, "  :     File ", printer->frames.items[i]);
    }
}

/* "ValueError: message" */
static void print_exception(struct pa_printer *printer, uint64_t exception)
{
    struct pa_value value;
    struct pa_values *values = pa_printer_values(printer);
    if (!values)
        return;
    pa_value_render_message(values, exception, &value);
    const char *type = pa_arena_text(&printer->graph->objects->text, value.type);
    pa_out_target(printer->out, PA_STYLE_HIGHLIGHT, type, value.type.length);
    if (value.length > 0)
        pa_out(printer->out, PA_STYLE_PLAIN, ": ");
    pa_out_target(printer->out, PA_STYLE_PLAIN, value.text, value.length);
}

void pa_print_failure(struct pa_printer *printer, uint32_t indent, uint32_t node)
{
    static const char *const relations[] = {"failed with ", "caused by ", "while handling ", "with "};
    struct pa_exceptions exceptions = {0};
    pa_exception_chain(printer->graph->codes, pa_task_exception(printer->graph, node), &exceptions);
    if (exceptions.count == 0) {
        begin_note(printer, indent);
        pa_out(printer->out, PA_STYLE_PLAIN, "failed\n");
    }
    for (uint32_t i = 0; i < exceptions.count; i++) {
        const struct pa_exception *exception = &exceptions.items[i];
        begin_note(printer, indent);
        pa_out(printer->out, PA_STYLE_PLAIN, relations[exception->relation]);
        print_exception(printer, exception->address);
        if (i == 0 && pa_task_exception_is_new(printer->graph, node))
            pa_out(printer->out, PA_STYLE_PLAIN, " (never retrieved)");
        pa_out(printer->out, PA_STYLE_PLAIN, exception->stack ? ", raised at\n" : "\n");
        print_traceback(printer, indent, exception->stack);
    }
    if (exceptions.more) {
        begin_note(printer, indent);
        pa_out(printer->out, PA_STYLE_METADATA, "\xe2\x80\xa6 more exceptions\n");
    }
    pa_array_free(printer->graph->work, &exceptions);
}

void pa_print_failures(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < PA_GROUP_NAMES; i++) {
        uint64_t exception = pa_task_exception(printer->graph, nodes[i]);
        begin_note(printer, indent);
        pa_print_short(printer, nodes[i]);
        pa_out(printer->out, PA_STYLE_PLAIN, exception ? " failed with " : " failed");
        if (exception)
            print_exception(printer, exception);
        pa_out(printer->out, PA_STYLE_PLAIN, "\n");
    }
    if (count > PA_GROUP_NAMES) {
        begin_note(printer, indent);
        pa_out(printer->out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
        pa_out_count(printer->out, count - PA_GROUP_NAMES);
        pa_out(printer->out, PA_STYLE_PLAIN, " more failed; --no-group shows why, and where each was raised\n");
    }
}

/* The innermost frame of the user's own code, else the innermost. */
static uint32_t telling_origin(struct pa_printer *printer, const struct pa_origins *origins)
{
    uint32_t length;
    for (uint32_t i = 0; i < origins->count; i++) {
        if (pa_str_read(printer->graph->objects, origins->items[i].file, printer->name, &length) &&
            pa_file_is_own(printer->name, length))
            return i;
    }
    return 0;
}

void pa_print_origin(struct pa_printer *printer, uint32_t indent, uint32_t node)
{
    struct pa_origins origins = {0};
    uint32_t length;
    pa_task_origin(printer->graph, node, &origins);
    if (origins.count > 0) {
        const struct pa_origin *origin = &origins.items[telling_origin(printer, &origins)];
        begin_note(printer, indent);
        pa_out(printer->out, PA_STYLE_PLAIN, "created in ");
        if (pa_str_read(printer->graph->objects, origin->function, printer->name, &length))
            pa_out_target(printer->out, PA_STYLE_FUNCTION, printer->name, length);
        pa_out(printer->out, PA_STYLE_PLAIN, "() at ");
        if (pa_str_read(printer->graph->objects, origin->file, printer->name, &length))
            pa_out_target(printer->out, PA_STYLE_FILENAME, printer->name, length);
        pa_out_format(printer->out, PA_STYLE_PLAIN, ":%lld\n", (long long)origin->line);
    }
    pa_array_free(printer->graph->work, &origins);
}

void pa_print_context(struct pa_printer *printer, uint32_t indent, uint32_t node)
{
    struct pa_values *values = pa_printer_values(printer);
    struct pa_context_iterator iterator;
    struct pa_value value;
    uint64_t context = pa_task_context(printer->graph, node);
    uint32_t length;
    if (!values || context == 0)
        return;
    pa_context_begin(printer->graph->objects, context, &iterator);
    while (pa_context_next(&iterator)) {
        if (!pa_str_read(printer->graph->objects, iterator.name, printer->name, &length)) {
            printer->name[0] = '?';
            length = 1;
        }
        pa_value_render(values, printer->name, length, iterator.value, &value);
        begin_note(printer, indent);
        pa_out(printer->out, PA_STYLE_PLAIN, "context: ");
        pa_out_target(printer->out, PA_STYLE_VARIABLE, printer->name, length);
        pa_out(printer->out, PA_STYLE_PLAIN, " = ");
        pa_out_target(printer->out, PA_STYLE_PLAIN, value.text, value.length);
        pa_out(printer->out, PA_STYLE_PLAIN, "\n");
    }
    if (iterator.damaged) {
        begin_note(printer, indent);
        pa_out(printer->out, PA_STYLE_METADATA, "its context cannot be read to the end\n");
    }
}
