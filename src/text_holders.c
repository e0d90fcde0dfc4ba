/* Who holds what a task waits for, on the line that says what it is. See text.h. */
#include "text.h"

#include "holder.h"
#include "limits.h"

/* "pool.py:41" */
static void print_line(struct pa_printer *printer, uint32_t id)
{
    const struct pa_frame *frame = &printer->graph->codes->frames.items[id];
    const char *file = pa_arena_text(&printer->graph->objects->text, frame->file);
    const char *slash = frame->file.length ? memrchr(file, '/', frame->file.length) : NULL;
    uint32_t skip = slash ? (uint32_t)(slash - file) + 1 : 0;
    pa_out_target(printer->out, PA_STYLE_FILENAME, file + skip, frame->file.length - skip);
    if (frame->line > 0)
        pa_out_format(printer->out, PA_STYLE_PLAIN, ":%d", frame->line);
}

/* "Task-3 at pool.py:41 (in its async with)" */
static void print_holder(struct pa_printer *printer, const struct pa_holder *holder)
{
    static const char *const hows[] = {" (in its with)", " (in its async with)", " (in its ExitStack)", " (in its async for)",
                                       " (its owner)"};
    if (holder->node != PA_NONE)
        pa_print_short(printer, holder->node);
    else if (holder->thread != PA_NONE)
        pa_print_thread(printer, holder->thread);
    else
        pa_out(printer->out, PA_STYLE_PLAIN, "what is no task");
    if (holder->frame != PA_NONE) {
        pa_out(printer->out, PA_STYLE_PLAIN, " at ");
        print_line(printer, holder->frame);
    }
    pa_out(printer->out, PA_STYLE_PLAIN, hows[holder->how]);
}

void pa_print_holders(struct pa_printer *printer, uint64_t object)
{
    struct pa_holder items[PA_HOLDERS_NAMED];
    struct pa_held held;
    uint32_t count = pa_holders_of(printer->graph, object, items, PA_HOLDERS_NAMED, &held);
    if (held.none)
        pa_out(printer->out, PA_STYLE_PLAIN, ", holder: none on any stack");
    for (uint32_t i = 0; i < count; i++) {
        pa_out(printer->out, PA_STYLE_PLAIN, i > 0 ? ", " : ", held by ");
        print_holder(printer, &items[i]);
    }
    if (held.total > count) {
        pa_out(printer->out, PA_STYLE_PLAIN, " and ");
        pa_out_counted(printer->out, held.total - count, "other", "others");
    }
}
