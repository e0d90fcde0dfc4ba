/*
 * What the files that look for findings share. For finding*.c alone.
 */
#ifndef PA_FINDER_H
#define PA_FINDER_H

#include "finding.h"
#include "limits.h"

/** An object that tasks wait on: a lock, semaphore, queue … */
struct pa_waited {
    uint64_t object; /* first: of the index */
    uint32_t node;   /* one of the tasks */
    uint8_t kind;    /* enum pa_wait_kind; a queue may also have tasks that wait the other way */
};

struct pa_finder {
    struct pa_graph *graph;
    struct pa_findings *findings;
    struct pa_waits waits;
    PA_ARRAY(struct pa_waited) waited; /* all that at most PA_MAX_SURVEY tasks of each stack wait on */
    struct pa_index waited_index;
    struct pa_links links;       /* scratch */
    PA_ARRAY(uint32_t) waiting;  /* scratch: tasks, and those who wait for them */
    PA_ARRAY(uint32_t) children; /* of pa_finder_read_children() */
    PA_ARRAY(uint32_t) failed;   /* of pa_finder_failed() */
    uint32_t looked;             /* of pa_finder_look() */
    bool failed_known;
    bool is_open;      /* the finding that was begun last is kept */
    bool in_locks;     /* some thread is in the midst of a method of asyncio's locks or queues */
    bool in_call_soon; /* likewise of call_soon() */
};

/**
 * Count an element of a container that is to be looked at.
 *
 * @return false if all searches together have looked at PA_MAX_LOOKED, or the work must end: what is not looked at is not known.
 */
static inline bool pa_finder_look(struct pa_finder *finder)
{
    return finder->looked < PA_MAX_LOOKED && ++finder->looked && pa_work_step(finder->graph->work);
}

/** Count all places of a set's table: they are looked at, though most of them may be empty. */
bool pa_finder_look_at_set(struct pa_finder *finder, const struct pa_set_iterator *iterator);

/** Tasks, each with the loop that it belongs to: loop << 32 | node. To be sorted, so that those of a loop stand together. */
struct pa_loop_tasks {
    uint64_t *items;
    uint32_t count, capacity;
};
void pa_loop_tasks_add(struct pa_finder *finder, struct pa_loop_tasks *tasks, uint32_t node);
void pa_loop_tasks_sort(struct pa_loop_tasks *tasks);

/** Begin a finding; what follows belongs to it. NULL if there is no room: then it is counted. */
struct pa_finding *pa_finding_begin(struct pa_finder *finder, enum pa_finding_kind kind, uint8_t variant, uint64_t number);
/** Add a task (or a future that is a node) or an object to the finding that was begun last. */
void pa_finding_add_task(struct pa_finder *finder, uint32_t node);
void pa_finding_add_object(struct pa_finder *finder, uint64_t object);
/** A step of the circle, and its task and object. */
void pa_finding_add_step(struct pa_finder *finder, struct pa_finding_step step);
/** Take back the finding that was begun last. */
void pa_finding_drop(struct pa_finder *finder);

/** What a task waits on. */
void pa_finder_ask(struct pa_finder *finder, uint32_t node, struct pa_waits_on *waits_on);

/** finding_deadlock.c, finding_lock.c */
void pa_find_deadlocks(struct pa_finder *finder);
void pa_find_free(struct pa_finder *finder);
/** Add the tasks that wait for a lock, semaphore or limiter. @return false if one has been woken, or not all are known; or there is none. */
bool pa_finding_add_waiters(struct pa_finder *finder, uint64_t object, uint64_t *count);
/** finding_executor.c, finding_child.c */
void pa_find_full(struct pa_finder *finder);
void pa_find_children(struct pa_finder *finder);

/**
 * Read into finder->children for what a task waits that awaits a task, gather(), wait() or a TaskGroup: those of its children that are not
 * done, any of which may let it go on. PA_NONE stands for a future, which nobody is known to set.
 *
 * @param waits_on As pa_finder_ask() has found it last.
 * @return false if it waits for something else, or not all of them are known.
 */
bool pa_finder_read_children(struct pa_finder *finder, const struct pa_waits_on *waits_on);

/** The first PA_MAX_SURVEY tasks of each stack. */
struct pa_survey {
    uint32_t *asked; /* by stack */
    uint32_t stacks;
};
bool pa_survey_begin(struct pa_finder *finder, struct pa_survey *survey);
/** Whether a task is among them; asked once of each. */
bool pa_survey_wants(struct pa_finder *finder, struct pa_survey *survey, uint32_t node);
void pa_survey_end(struct pa_finder *finder, struct pa_survey *survey);

/** Whether object.@p attribute is True. */
bool pa_finder_is_true(struct pa_graph *graph, uint64_t object, const char *attribute);

/** finding_reference.c */
void pa_find_unreachable(struct pa_finder *finder);
void pa_find_stalled(struct pa_finder *finder);
/** finding_blocked.c */
void pa_find_blocked(struct pa_finder *finder);
/** finding_loop.c */
void pa_find_asleep(struct pa_finder *finder);
void pa_find_not_woken(struct pa_finder *finder);
/** finding_hub.c */
void pa_find_blocked_hubs(struct pa_finder *finder);
/** finding_task.c */
void pa_find_orphaned(struct pa_finder *finder);
void pa_find_runaway(struct pa_finder *finder);

#endif
