/* Who holds an object, in the JSON document. See json_values.h. */
#include "json_values.h"

#include "holder.h"
#include "limits.h"

static void write_holder(struct pa_output *out, struct pa_graph *graph, const struct pa_holder *holder)
{
    uint32_t thread = holder->node == PA_NONE ? holder->thread : graph->nodes.items[holder->node].thread;
    uint32_t number = thread < graph->threads.count ? graph->threads.items[thread].number : 0;
    if (holder->node == PA_NONE)
        pa_out(out, PA_STYLE_PLAIN, "{\"id\": null");
    else
        pa_out_format(out, PA_STYLE_PLAIN, "{\"id\": \"0x%llx\"", (unsigned long long)graph->nodes.items[holder->node].address);
    if (number)
        pa_out_format(out, PA_STYLE_PLAIN, ", \"thread\": %u, \"function\": ", number);
    else
        pa_out(out, PA_STYLE_PLAIN, ", \"thread\": null, \"function\": ");
    if (holder->frame == PA_NONE) {
        pa_out(out, PA_STYLE_PLAIN, "null, \"file\": null, \"line\": null");
    } else {
        const struct pa_frame *frame = &graph->codes->frames.items[holder->frame];
        pa_out_json(out, pa_arena_text(&graph->objects->text, frame->function), frame->function.length);
        pa_out(out, PA_STYLE_PLAIN, ", \"file\": ");
        pa_out_json(out, pa_arena_text(&graph->objects->text, frame->file), frame->file.length);
        if (frame->line > 0)
            pa_out_format(out, PA_STYLE_PLAIN, ", \"line\": %d", frame->line);
        else
            pa_out(out, PA_STYLE_PLAIN, ", \"line\": null");
    }
    pa_out_format(out, PA_STYLE_PLAIN, ", \"how\": \"%s\"}", pa_how_name(holder->how));
}

void pa_json_holders(struct pa_output *out, struct pa_graph *graph, uint64_t object)
{
    struct pa_holder items[PA_HOLDERS_SHOWN];
    struct pa_held held;
    uint32_t count = pa_holders_of(graph, object, items, PA_HOLDERS_SHOWN, &held);
    pa_out(out, PA_STYLE_PLAIN,
           held.state == PA_HOLD_UNKNOWN ? ", \"held\": null"
           : held.state == PA_HOLD_HELD  ? ", \"held\": true"
                                         : ", \"held\": false");
    pa_out(out, PA_STYLE_PLAIN, ", \"holders\": [");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            pa_out(out, PA_STYLE_PLAIN, ", ");
        write_holder(out, graph, &items[i]);
    }
    /* That it is held by nobody is known only where no stack can have been missed. */
    if (held.total > 0 || held.none || held.state == PA_HOLD_FREE)
        pa_out_format(out, PA_STYLE_PLAIN, "], \"holders_total\": %u", held.total);
    else
        pa_out(out, PA_STYLE_PLAIN, "], \"holders_total\": null");
}
