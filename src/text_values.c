/* Variables and their values below the frames of a stack. See text.h. */
#include "text.h"

#include "variables.h"

struct pa_values *pa_printer_values(struct pa_printer *printer)
{
    const struct pa_request *request = printer->request;
    if (!printer->values)
        printer->values = pa_values_new(printer->graph->objects, pa_request_value_limits(request));
    return printer->values;
}

/* "name = value" */
static void print_value(struct pa_printer *printer, const char *name, uint32_t length, const struct pa_value *value)
{
    pa_out_target(printer->out, PA_STYLE_VARIABLE, name, length);
    pa_out(printer->out, PA_STYLE_PLAIN, " = ");
    pa_out_target(printer->out, PA_STYLE_PLAIN, value->text, value->length);
    pa_out(printer->out, PA_STYLE_PLAIN, "\n");
}

void pa_print_locals(struct pa_printer *printer, uint32_t indent, uint64_t iframe)
{
    struct pa_values *values = iframe == 0 ? NULL : pa_printer_values(printer);
    struct pa_variables variables;
    struct pa_value value;
    if (!values)
        return;
    pa_variables_begin(printer->graph->codes, iframe, &variables);
    while (pa_variables_next(&variables)) {
        pa_value_render_variable(values, &variables, &value);
        pa_out_indent(printer->out, indent);
        pa_out(printer->out, PA_STYLE_PLAIN, "  |         ");
        print_value(printer, variables.name, variables.name_length, &value);
    }
    if (variables.damaged) {
        pa_out_indent(printer->out, indent);
        pa_out(printer->out, PA_STYLE_METADATA, "  |         its variables cannot be read\n");
    }
}
