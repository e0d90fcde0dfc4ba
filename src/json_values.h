/* Parts of the JSON document that show values: variables, context variables. */
#ifndef PA_JSON_VALUES_H
#define PA_JSON_VALUES_H

#include "details.h"
#include "output.h"
#include "pool.h"
#include "value.h"
#include "wait.h"

/** The member "locals" of a task, aligned with its stack: [{NAME: VALUE}]. Its comma stands before it. */
void pa_json_locals(struct pa_output *out, struct pa_graph *graph, struct pa_values *values, uint32_t node);

/** The member "context": [{"name", and those of a value}]. Its comma stands before it. */
void pa_json_context(struct pa_output *out, struct pa_graph *graph, struct pa_values *values, uint32_t node);

/** The member "source_traceback", if the task has one: [{"function", "file", "line"}], innermost first. Its comma stands before it. */
void pa_json_origin(struct pa_output *out, struct pa_graph *graph, uint32_t node);

/** The exception that a failed task ended with, as {"id", "type", "message", "stack", "never_retrieved", "chain"}; null if it cannot be read. */
void pa_json_exception(struct pa_output *out, struct pa_graph *graph, struct pa_values *values, uint32_t node,
                       pa_stack_number *stack_number, void *context);

/** json_loops.c: the member "blocked" of a thread: {"in", "function", "object", "seconds"} or null. Its comma stands before it. */
void pa_json_blocked(struct pa_output *out, struct pa_graph *graph, uint32_t thread);

/** json_loops.c: an event loop, an object. */
void pa_json_loop(struct pa_output *out, struct pa_graph *graph, uint32_t loop);

/** json_waits.c: the member "waits_on" of a task that waits. Its comma stands before it. */
void pa_json_waits_on(struct pa_output *out, struct pa_graph *graph, const struct pa_waits_on *waits_on);

/** json_holders.c: the members "held", "holders" and "holders_total" of what a task waits for. Their comma stands before them. */
void pa_json_holders(struct pa_output *out, struct pa_graph *graph, uint64_t object);

/** The objects that tasks wait in, each of which the document describes once. */
struct pa_json_pools {
    struct pa_pools pools;
    struct pa_addresses objects; /* the first PA_MAX_POOLS that tasks were said to wait in */
};

void pa_json_pools_init(struct pa_json_pools *json, struct pa_graph *graph);
void pa_json_pools_deinit(struct pa_json_pools *json);

/** json_pools.c: the member "within" of a task, if there are any: their ids, innermost first. Its comma stands before it. */
void pa_json_within(struct pa_output *out, struct pa_json_pools *json, uint32_t node);

/** The member "pools" of the document, behind its tasks. Its comma stands behind it. */
void pa_json_pools(struct pa_output *out, struct pa_json_pools *json);

#endif
