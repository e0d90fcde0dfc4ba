/* Values in the JSON document. See json_values.h. */
#include "json_values.h"

#include "variables.h"

void pa_json_value(struct pa_output *out, struct pa_objects *objects, const struct pa_value *value)
{
    pa_out(out, PA_STYLE_PLAIN, "{\"type\": ");
    if (value->address == 0)
        pa_out(out, PA_STYLE_PLAIN, "\"int\", \"address\": null");
    else {
        pa_out_json(out, pa_arena_text(&objects->text, value->type), value->type.length);
        pa_out_format(out, PA_STYLE_PLAIN, ", \"address\": \"0x%llx\"", (unsigned long long)value->address);
    }
    pa_out(out, PA_STYLE_PLAIN, ", \"value\": ");
    pa_out_json(out, value->text, value->length);
    pa_out_format(out, PA_STYLE_PLAIN, ", \"truncated\": %s, \"hidden\": %s}", value->truncated ? "true" : "false",
                  value->hidden ? "true" : "false");
}

static void write_frame(struct pa_output *out, struct pa_graph *graph, struct pa_values *values, uint64_t iframe)
{
    struct pa_variables variables;
    struct pa_value value;
    const char *comma = "";
    pa_out(out, PA_STYLE_PLAIN, "{");
    if (iframe != 0)
        pa_variables_begin(graph->codes, iframe, &variables);
    while (iframe != 0 && pa_variables_next(&variables)) {
        pa_value_render_variable(values, &variables, &value);
        pa_out(out, PA_STYLE_PLAIN, comma);
        pa_out_json(out, variables.name, variables.name_length);
        pa_out(out, PA_STYLE_PLAIN, ": ");
        pa_json_value(out, graph->objects, &value);
        comma = ", ";
    }
    pa_out(out, PA_STYLE_PLAIN, "}");
}

void pa_json_locals(struct pa_output *out, struct pa_graph *graph, struct pa_values *values, uint32_t node)
{
    struct pa_links iframes = {0};
    pa_task_iframes(graph, node, &iframes);
    pa_out(out, PA_STYLE_PLAIN, ", \"locals\": [");
    for (uint32_t i = 0; i < iframes.count && pa_work_step(graph->work); i++) {
        if (i > 0)
            pa_out(out, PA_STYLE_PLAIN, ", ");
        write_frame(out, graph, values, iframes.items[i]);
    }
    pa_out(out, PA_STYLE_PLAIN, "]");
    pa_array_free(graph->work, &iframes);
}
