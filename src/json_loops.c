/* The loops, and what threads are blocked in, in the JSON document. See json_values.h. */
#include "blocked.h"
#include "json_parts.h"
#include "json_values.h"
#include "loop.h"
#include "number.h"

static void write_count(struct pa_output *out, const char *name, int64_t count)
{
    if (count >= 0)
        pa_out_format(out, PA_STYLE_PLAIN, ", \"%s\": %lld", name, (long long)count);
    else
        pa_out_format(out, PA_STYLE_PLAIN, ", \"%s\": null", name);
}

static void write_signals(struct pa_output *out, uint64_t signals)
{
    char name[16];
    const char *comma = "";
    pa_out(out, PA_STYLE_PLAIN, ", \"signal_handlers\": [");
    for (uint32_t signal = 1; signal <= 64; signal++) {
        if (!(signals >> (signal - 1) & 1))
            continue;
        pa_out_format(out, PA_STYLE_PLAIN, "%s\"%s\"", comma, pa_signal_name(signal, name));
        comma = ", ";
    }
    pa_out(out, PA_STYLE_PLAIN, "]");
}

void pa_json_loop(struct pa_output *out, struct pa_graph *graph, uint32_t id)
{
    const struct pa_loop *loop = &graph->loops.items[id];
    struct pa_loop_facts facts;
    char timer[PA_FLOAT_BYTES];
    uint32_t num = loop->thread == PA_NONE ? 0 : graph->threads.items[loop->thread].number;
    pa_loop_read(graph, id, &facts);
    pa_out(out, PA_STYLE_PLAIN, "{\"id\": \"");
    pa_out_hex(out, PA_STYLE_PLAIN, loop->address);
    pa_out(out, PA_STYLE_PLAIN, num ? "\", \"thread\": " : "\", \"thread\": null");
    if (num)
        pa_out_format(out, PA_STYLE_PLAIN, "%u", num);
    pa_out(out, PA_STYLE_PLAIN, ", \"type\": ");
    arena_text(out, &graph->objects->text, pa_type_name_of(graph->objects, loop->address));
    pa_out_format(out, PA_STYLE_PLAIN, ", \"state\": \"%s\", \"tasks\": %u, \"callback\": ", pa_loop_state_name(facts.state),
                  loop->tasks);
    if (facts.callback != 0)
        arena_text(out, &graph->objects->text, facts.called.name);
    else
        pa_out(out, PA_STYLE_PLAIN, "null");
    write_count(out, "ready", facts.ready);
    write_count(out, "scheduled", facts.scheduled);
    pa_seconds_repr(pa_loop_next_timer(&facts), timer);
    pa_out_format(out, PA_STYLE_PLAIN, ", \"next_timer\": %s", timer);
    write_signals(out, facts.signals);
    pa_out(out, PA_STYLE_PLAIN, "}");
}

void pa_json_blocked(struct pa_output *out, struct pa_graph *graph, uint32_t thread)
{
    struct pa_blocked blocked;
    char seconds[PA_FLOAT_BYTES];
    pa_blocked_read(graph, thread, &blocked);
    if (blocked.kind == PA_BLOCKED_NOT) {
        pa_out(out, PA_STYLE_PLAIN, ", \"blocked\": null");
        return;
    }
    pa_seconds_repr(blocked.seconds, seconds);
    pa_out_format(out, PA_STYLE_PLAIN, ", \"blocked\": {\"in\": \"%s\", \"function\": ", pa_blocked_kind_name(blocked.kind));
    pa_out_json(out, blocked.function, strlen(blocked.function));
    pa_out(out, PA_STYLE_PLAIN, blocked.object ? ", \"object\": \"" : ", \"object\": null");
    if (blocked.object) {
        pa_out_hex(out, PA_STYLE_PLAIN, blocked.object);
        pa_out(out, PA_STYLE_PLAIN, "\"");
    }
    pa_out_format(out, PA_STYLE_PLAIN, ", \"seconds\": %s}", seconds);
}
