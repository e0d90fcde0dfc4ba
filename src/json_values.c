/* Values in the JSON document. See json_values.h. */
#include "json_values.h"

#include "context.h"
#include "exception.h"
#include "variables.h"

/* The members of a value. */
static void write_members(struct pa_output *out, struct pa_objects *objects, const struct pa_value *value)
{
    pa_out(out, PA_STYLE_PLAIN, "\"type\": ");
    if (value->address == 0)
        pa_out(out, PA_STYLE_PLAIN, "\"int\", \"address\": null");
    else {
        pa_out_json(out, pa_arena_text(&objects->text, value->type), value->type.length);
        pa_out_format(out, PA_STYLE_PLAIN, ", \"address\": \"0x%llx\"", (unsigned long long)value->address);
    }
    pa_out(out, PA_STYLE_PLAIN, ", \"value\": ");
    pa_out_json(out, value->text, value->length);
    pa_out_format(out, PA_STYLE_PLAIN, ", \"truncated\": %s, \"hidden\": %s", value->truncated ? "true" : "false",
                  value->hidden ? "true" : "false");
}

/* {"type", "address", "value", "truncated", "hidden"} */
static void write_value(struct pa_output *out, struct pa_objects *objects, const struct pa_value *value)
{
    pa_out(out, PA_STYLE_PLAIN, "{");
    write_members(out, objects, value);
    pa_out(out, PA_STYLE_PLAIN, "}");
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
        write_value(out, graph->objects, &value);
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

static void write_str(struct pa_output *out, struct pa_objects *objects, uint64_t str)
{
    char text[PA_STRING_BYTES];
    uint32_t length;
    if (pa_str_read(objects, str, text, &length))
        pa_out_json(out, text, length);
    else
        pa_out(out, PA_STYLE_PLAIN, "\"?\"");
}

void pa_json_context(struct pa_output *out, struct pa_graph *graph, struct pa_values *values, uint32_t node)
{
    struct pa_context_iterator iterator;
    struct pa_value value;
    char name[PA_STRING_BYTES];
    uint32_t length;
    const char *comma = "";
    pa_out(out, PA_STYLE_PLAIN, ", \"context\": [");
    pa_context_begin(graph->objects, pa_task_context(graph, node), &iterator);
    while (pa_context_next(&iterator)) {
        if (!pa_str_read(graph->objects, iterator.name, name, &length))
            length = 0;
        pa_value_render(values, name, length, iterator.value, &value);
        pa_out_format(out, PA_STYLE_PLAIN, "%s{\"name\": ", comma);
        pa_out_json(out, name, length);
        pa_out(out, PA_STYLE_PLAIN, ", ");
        write_members(out, graph->objects, &value);
        pa_out(out, PA_STYLE_PLAIN, "}");
        comma = ", ";
    }
    pa_out(out, PA_STYLE_PLAIN, "]");
}

void pa_json_origin(struct pa_output *out, struct pa_graph *graph, uint32_t node)
{
    struct pa_origins origins = {0};
    pa_task_origin(graph, node, &origins);
    for (uint32_t i = 0; i < origins.count; i++) {
        pa_out(out, PA_STYLE_PLAIN, i == 0 ? ", \"source_traceback\": [{\"function\": " : ", {\"function\": ");
        write_str(out, graph->objects, origins.items[i].function);
        pa_out(out, PA_STYLE_PLAIN, ", \"file\": ");
        write_str(out, graph->objects, origins.items[i].file);
        if (origins.items[i].line > 0)
            pa_out_format(out, PA_STYLE_PLAIN, ", \"line\": %lld}", (long long)origins.items[i].line);
        else
            pa_out(out, PA_STYLE_PLAIN, ", \"line\": null}");
    }
    if (origins.count > 0)
        pa_out(out, PA_STYLE_PLAIN, "]");
    pa_array_free(graph->work, &origins);
}

/* What all exceptions have. */
static void write_exception(struct pa_output *out, struct pa_graph *graph, struct pa_values *values,
                            const struct pa_exception *exception, uint32_t stack)
{
    struct pa_value value;
    pa_value_render_message(values, exception->address, &value);
    pa_out_format(out, PA_STYLE_PLAIN, "\"id\": \"0x%llx\", \"type\": ", (unsigned long long)exception->address);
    pa_out_json(out, pa_arena_text(&graph->objects->text, value.type), value.type.length);
    pa_out(out, PA_STYLE_PLAIN, ", \"message\": ");
    pa_out_json(out, value.text, value.length);
    pa_out_format(out, PA_STYLE_PLAIN, ", \"truncated\": %s, \"hidden\": %s, \"stack\": %u", value.truncated ? "true" : "false",
                  value.hidden ? "true" : "false", stack);
}

void pa_json_exception(struct pa_output *out, struct pa_graph *graph, struct pa_values *values, uint32_t node,
                       pa_stack_number *stack_number, void *context)
{
    struct pa_exceptions exceptions = {0};
    pa_exception_chain(graph->codes, pa_task_exception(graph, node), &exceptions);
    if (exceptions.count == 0)
        pa_out(out, PA_STYLE_PLAIN, "null");
    for (uint32_t i = 0; i < exceptions.count; i++) {
        const struct pa_exception *exception = &exceptions.items[i];
        pa_out(out, PA_STYLE_PLAIN, i > 1 ? ", {" : "{");
        if (i > 0)
            pa_out_format(out, PA_STYLE_PLAIN, "\"relation\": \"%s\", \"of\": \"0x%llx\", ", pa_relation_name(exception->relation),
                          (unsigned long long)exceptions.items[exception->of].address);
        write_exception(out, graph, values, exception, stack_number(context, exception->stack));
        if (i == 0)
            pa_out_format(out, PA_STYLE_PLAIN, ", \"never_retrieved\": %s, \"chain\": [",
                          pa_task_exception_is_new(graph, node) ? "true" : "false");
        else
            pa_out(out, PA_STYLE_PLAIN, "}");
    }
    if (exceptions.count > 0)
        pa_out(out, PA_STYLE_PLAIN, "]}");
    pa_array_free(graph->work, &exceptions);
}
