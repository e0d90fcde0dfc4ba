/*
 * What py-greenlets, and py-awaited-by about greenlets, shows: the selected greenlets, in the order in which they are shown, and the groups of those that look alike.
 */
#ifndef PA_GREENLET_VIEW_H
#define PA_GREENLET_VIEW_H

#include "greenlet_awaited.h"
#include "instrumentation.h"
#include "output.h"

/** Greenlets of equal type, state, thread and stack. */
struct pa_greenlet_group {
    uint64_t key;          /* first: of the index */
    uint32_t first, count; /* in order */
};

struct pa_printer;

struct pa_greenlet_view {
    struct pa_graph *graph;
    struct pa_instrumentation instrumentation;
    struct pa_gevent gevent;
    const struct pa_request *request;
    bool awaited;                              /* it answers py-awaited-by: selected are those named, then all who wait for them */
    uint32_t named;                            /* how many of the selected ones the request names */
    PA_ARRAY(uint32_t) selected;               /* greenlets, in the order in which they were found, or named */
    PA_ARRAY(struct pa_greenlet_group) groups; /* in the order in which they are shown */
    uint32_t *order;                           /* the selected ones by group */
};

/** Whether a request is py-awaited-by of greenlets that no task runs through: then it is no request about tasks. */
bool pa_asks_of_greenlets(struct pa_graph *graph, const struct pa_request *request);

/**
 * Select and group the greenlets of a request; all of them if it is one of another command.
 *
 * @param[out] error On PA_FAILED: one line; text in it that came from the user is not escaped yet.
 */
enum pa_status pa_greenlet_view_init(struct pa_greenlet_view *view, struct pa_graph *graph, const struct pa_request *request,
                                     char *error, size_t capacity);
void pa_greenlet_view_deinit(struct pa_greenlet_view *view);

/** greenlet_text.c: the answer to py-greenlets as text. */
enum pa_status pa_greenlet_text_print(struct pa_greenlet_view *view, struct pa_output *out);

/** The groups alone, as a part of another text. */
void pa_greenlet_groups_print(struct pa_greenlet_view *view, struct pa_printer *printer);

/** instrumentation_text.c: a line each of what there is to say in a head; at most @p room. @return how many. */
uint32_t pa_instrumentation_print(struct pa_printer *printer, uint32_t room);
/** The same as elements of the JSON document's findings; @p comma stands before the first. */
/** --instrumentation: the member "refreshes" of the JSON document, with the comma behind it. */
void pa_refreshed_json(const struct pa_greenlet_view *view, struct pa_output *out);
void pa_instrumentation_json(const struct pa_greenlet_view *view, struct pa_output *out, const char *comma);

/** greenlet_json.c: the selected greenlets as elements of a JSON array. */
void pa_greenlet_json_print(const struct pa_greenlet_view *view, struct pa_output *out, pa_stack_number *stack_number,
                            void *context);

#endif
