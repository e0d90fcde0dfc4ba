/*
 * The JSON document while it is written: what its parts share. For json*.c alone.
 */
#ifndef PA_JSON_WRITER_H
#define PA_JSON_WRITER_H

#include "json.h"
#include "json_parts.h"
#include "json_values.h"

struct pa_json_writer {
    struct pa_graph *graph;
    struct pa_view *view;
    const struct pa_greenlet_view *greenlets;
    struct pa_output *out;
    PA_ARRAY(uint32_t) stack_ids; /* stacks in the document, in their order there */
    uint32_t *stack_number;       /* by stack: its place in stack_ids, or PA_NONE */
    uint32_t stacks;              /* length of stack_number */
    uint8_t *marks;               /* by node: DEFINED in the document, REFERRED to */
    uint32_t nodes;               /* length of marks */
    PA_ARRAY(uint32_t) referred;  /* nodes that were referred to before they were defined */
    PA_ARRAY(uint64_t) unknown;   /* addresses that are referred to and are no node */
    bool wrote_task, wrote_future;
    struct pa_links links;          /* of the task that is written */
    struct pa_links greenlet_links; /* likewise, the greenlets */
    struct pa_waits waits;
    struct pa_json_pools pools;
    struct pa_frame_list frames;
    struct pa_natives natives;
    struct pa_values *values; /* NULL until a value is written */
    char name[PA_STRING_BYTES];
    char safe[2 * PA_STRING_BYTES];
};

/** json.c: room for rendering values; NULL without memory. */
struct pa_values *pa_json_values(struct pa_json_writer *writer);

/** json_stacks.c: the place of a stack in the document; a stack that is new gets the next one. */
uint32_t pa_json_stack_number(struct pa_json_writer *writer, uint32_t stack);
/** The same as a pa_stack_number, whose context is the writer. */
uint32_t pa_json_number_of_stack(void *context, uint32_t stack);
/** The member "stacks", which is the last. */
void pa_json_stacks(struct pa_json_writer *writer);

/** json_threads.c: the debugger's number of a thread (index), or null. */
void pa_json_thread_number(struct pa_json_writer *writer, uint32_t thread);
/** The members "loops" and "threads". */
void pa_json_loops(struct pa_json_writer *writer);
void pa_json_threads(struct pa_json_writer *writer);

/** json_tasks.c: note that the document refers to a node, so that it is defined in it or listed as unknown. */
void pa_json_refer(struct pa_json_writer *writer, uint32_t node);
/** Before all else: futures that tasks are suspended on, and others wait for too, become nodes: the document says who. */
void pa_json_read_futures(struct pa_json_writer *writer);
/** The members "tasks", "futures" and "unknown", in this order. */
void pa_json_tasks(struct pa_json_writer *writer);
void pa_json_futures(struct pa_json_writer *writer);
void pa_json_unknown(struct pa_json_writer *writer);

/** json_findings.c: the members "cycles", "greenlets" and "findings". */
void pa_json_cycles(struct pa_json_writer *writer);
void pa_json_greenlets(struct pa_json_writer *writer);
void pa_json_findings(struct pa_json_writer *writer);

/** json_stats.c: the member "stats". */
void pa_json_stats(struct pa_output *out, struct pa_view *view);

#endif
