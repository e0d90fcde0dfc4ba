/* Parts of the JSON document that show values: variables, context variables. */
#ifndef PA_JSON_VALUES_H
#define PA_JSON_VALUES_H

#include "details.h"
#include "output.h"
#include "value.h"

/** {"type", "address", "value", "truncated", "hidden"} */
void pa_json_value(struct pa_output *out, struct pa_objects *objects, const struct pa_value *value);

/** The member "locals" of a task, aligned with its stack: [{NAME: VALUE}]. Its comma stands before it. */
void pa_json_locals(struct pa_output *out, struct pa_graph *graph, struct pa_values *values, uint32_t node);

#endif
