/* Stacks in the JSON document: each of them once, referred to by its number. See json_writer.h. */
#include "json_writer.h"

/* Stacks that the graph has and had not before: tracebacks are read when they are written. */
static bool add_stacks(struct pa_json_writer *writer)
{
    uint32_t count = writer->graph->codes->stacks.count;
    uint32_t *moved =
        pa_work_resize(writer->graph->work, writer->stack_number, writer->stacks * sizeof(uint32_t), count * sizeof(uint32_t));
    if (!moved)
        return false;
    memset(moved + writer->stacks, 0xff, (count - writer->stacks) * sizeof(uint32_t));
    writer->stack_number = moved;
    writer->stacks = count;
    return true;
}

uint32_t pa_json_stack_number(struct pa_json_writer *writer, uint32_t stack)
{
    if (stack >= writer->stacks && !add_stacks(writer))
        return 0;
    if (writer->stack_number[stack] == PA_NONE) {
        uint32_t *slot = pa_array_push(writer->graph->work, &writer->stack_ids, PA_NONE);
        if (!slot)
            return 0;
        *slot = stack;
        writer->stack_number[stack] = writer->stack_ids.count - 1;
    }
    return writer->stack_number[stack];
}

uint32_t pa_json_number_of_stack(void *context, uint32_t stack)
{
    return pa_json_stack_number(context, stack);
}

void pa_json_frame(struct pa_output *out, struct pa_graph *graph, uint32_t id)
{
    static const char *const kinds[PA_FRAME_KIND_COUNT] = {"function", "coroutine", "generator", "async generator", "awaitable"};
    const struct pa_arena *text = &graph->objects->text;
    if (id == PA_NONE) {
        pa_out(out, PA_STYLE_PLAIN, "null");
        return;
    }
    const struct pa_frame *frame = &graph->codes->frames.items[id];
    pa_out(out, PA_STYLE_PLAIN, "{\"function\": ");
    pa_out_json(out, pa_arena_text(text, frame->function), frame->function.length);
    pa_out(out, PA_STYLE_PLAIN, ", \"file\": ");
    if (frame->kind == PA_FRAME_AWAITABLE)
        pa_out(out, PA_STYLE_PLAIN, "null");
    else
        pa_out_json(out, pa_arena_text(text, frame->file), frame->file.length);
    if (frame->line > 0)
        pa_out_format(out, PA_STYLE_PLAIN, ", \"line\": %d", frame->line);
    else
        pa_out(out, PA_STYLE_PLAIN, ", \"line\": null");
    pa_out_format(out, PA_STYLE_PLAIN, ", \"kind\": \"%s\"}", kinds[frame->kind]);
}

static void write_stack(struct pa_json_writer *writer, uint32_t stack)
{
    pa_stack_frames(writer->graph, stack, &writer->frames);
    raw(writer->out, "\n [");
    for (uint32_t i = 0; i < writer->frames.count; i++) {
        raw(writer->out, i > 0 ? ", " : "");
        pa_json_frame(writer->out, writer->graph, writer->frames.items[i]);
    }
    raw(writer->out, "]");
}

void pa_json_stacks(struct pa_json_writer *writer)
{
    raw(writer->out, "\"stacks\": [");
    for (uint32_t i = 0; i < writer->stack_ids.count && pa_work_step(writer->graph->work); i++) {
        if (i > 0)
            raw(writer->out, ",");
        write_stack(writer, writer->stack_ids.items[i]);
    }
    raw(writer->out, "]}\n");
}
