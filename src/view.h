/*
 * What a request shows of the graph: the selected tasks, and the groups that everything falls into.
 */
#ifndef PA_VIEW_H
#define PA_VIEW_H

#include "finding.h"

/** Why these tasks were selected; the text's first line says it. */
enum pa_reason {
    PA_BECAUSE_NAMED,           /* the user named them */
    PA_BECAUSE_SELECTED_THREAD, /* the selected thread runs this task */
    PA_BECAUSE_OTHER_THREADS,   /* tasks run in other threads: these first, then all */
    PA_BECAUSE_NONE_RUNS,       /* no task runs: all */
    PA_BECAUSE_ALL,             /* the user asked for all, or filtered */
    PA_BECAUSE_FOREST,          /* py-awaited-by: all that nobody awaits through them */
};

/**
 * Tasks that look alike: equal state, activity, stack and kind of wait. A future, a member of a cycle, and every task where nothing is
 * to be grouped, is a group of its own.
 */
struct pa_group {
    uint64_t key;   /* first: of the index; 0: never looked up */
    uint32_t first; /* in members */
    uint32_t count;
    uint32_t awaits; /* 1 if it awaits another group, so that it is shown below that one */
    bool selected;
    bool in_finding; /* one of its members at least */
};

/** How many tasks each filter leaves out. They are asked in this order; what one leaves out the next ones do not see. */
struct pa_left_out {
    uint32_t state, thread, in;
};

struct pa_view {
    struct pa_graph *graph;
    const struct pa_request *request;
    const struct pa_findings *findings; /* set by its owner; empty where none are to be told */
    enum pa_reason reason;
    uint32_t total; /* tasks that could have been selected */
    struct pa_left_out left_out;
    PA_ARRAY(uint32_t) selected; /* nodes */
    PA_ARRAY(struct pa_group) groups;
    struct pa_index group_index;
    struct pa_recent recent_group; /* key 0: none */
    uint32_t *group_of;            /* by node; PA_NONE: an ended one that is not selected */
    uint32_t *members;             /* nodes, by group */
    uint32_t nodes;                /* length of both */
    uint8_t *seen;                 /* scratch of pa_view_awaiters(), by node */
    uint32_t *slot_of;             /* likewise, by group */
    PA_ARRAY(uint32_t) order;      /* groups to be printed at the top level, in this order */
};

/**
 * Select and group. A selection may be empty: then left_out tells why.
 *
 * @param[out] error On PA_FAILED: one line; text in it that came from the user or the target is not escaped yet.
 */
enum pa_status pa_view_init(struct pa_view *view, struct pa_graph *graph, const struct pa_request *request, char *error,
                            size_t capacity);
void pa_view_deinit(struct pa_view *view);

/** select.c: the part of pa_view_init() that selects; with duplicates. */
enum pa_status pa_view_select(struct pa_view *view, char *error, size_t capacity);

/** The value of --state, given or not. */
const char *pa_request_state(const struct pa_request *request);

/** Whether a filter, not the target, is why nothing is selected. */
static inline bool pa_view_filtered_out(const struct pa_view *view)
{
    return view->selected.count == 0 && (view->left_out.state || view->left_out.thread || view->left_out.in) &&
           (view->request->state || view->request->in || pa_request_thread(view->request) < PA_THREAD_ALL);
}

/** Whether equal tasks are shown as one. */
bool pa_view_grouped(const struct pa_view *view);

/** The awaiters of a group: groups, with how many of their members wait for it. Owned by the caller, reused. */
struct pa_awaiter {
    uint32_t group;
    uint32_t count;
};
struct pa_awaiters {
    struct pa_awaiter *items;
    uint32_t count, capacity;
};

/** Append the awaiters of @p group to @p awaiters, in the order of their first members. */
void pa_view_awaiters(struct pa_view *view, uint32_t group, struct pa_awaiters *awaiters);

#endif
