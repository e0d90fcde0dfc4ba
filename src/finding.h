/*
 * Findings: why nothing moves, as far as it is certain. A closed list of kinds; what is not certain is not found.
 *
 * They are looked for once a session, after the walk, in a file for each family of kinds: finding_task.c, … Each is kept as what it is
 * about, in ids and addresses; finding_text.c says it in words.
 */
#ifndef PA_FINDING_H
#define PA_FINDING_H

#include "wait.h"

/** In the order in which they are told. */
enum pa_finding_kind {
    PA_FINDING_DEADLOCK,        /* tasks that wait, through others, for themselves, and for nothing else */
    PA_FINDING_LOOP_ASLEEP,     /* a loop sleeps while handles are ready to run */
    PA_FINDING_HUB_BLOCKED,     /* a greenlet keeps gevent's Hub, and so all others, from running */
    PA_FINDING_LOOP_BLOCKED,    /* the thread of a loop waits in a call that others must end */
    PA_FINDING_DONE_NOT_WOKEN,  /* what a task awaits is done, but nothing will wake the task */
    PA_FINDING_FREE_BUT_WAITED, /* a lock or semaphore is free, has waiters, and nothing will wake them */
    PA_FINDING_QUEUE_STALLED,   /* nobody but those who wait on a queue can get at it */
    PA_FINDING_EXECUTOR_FULL,   /* all threads of an executor are busy, and calls wait for one */
    PA_FINDING_CHILD_GONE,      /* a child process that is waited for has ended */
    PA_FINDING_ORPHANED,        /* pending tasks of a loop that can never run again */
    PA_FINDING_UNREACHABLE,     /* pending tasks that nothing but what they wait for refers to */
    PA_FINDING_RUNAWAY,         /* far too many cancel requests, callbacks or ended awaiters */
    PA_FINDING_COUNT,
};

/** Of what there is too much: pa_finding.variant of PA_FINDING_RUNAWAY. */
enum pa_runaway { PA_RUNAWAY_CANCELS, PA_RUNAWAY_CALLBACKS, PA_RUNAWAY_AWAITERS };

/** Why no loop runs the tasks: of PA_FINDING_ORPHANED. */
enum pa_orphaned {
    PA_ORPHANED_CLOSED,      /* their loop is closed */
    PA_ORPHANED_LOOP_THREAD, /* the thread that runs their loop is gone: after a fork */
    PA_ORPHANED_THREAD,      /* their thread has exited, and their loop does not run */
};

/** What would let a blocked loop go on: of PA_FINDING_LOOP_BLOCKED, whose number is the thread. */
enum pa_release {
    PA_RELEASE_UNKNOWN,
    PA_RELEASE_TASK,       /* the first task, of another loop */
    PA_RELEASE_OWN_TASK,   /* the first task, which only the loop itself could run: nothing */
    PA_RELEASE_OWN_HANDLE, /* a handle that only the loop itself could run: nothing */
};

/** Of PA_FINDING_CHILD_GONE, whose number is the process. */
enum pa_child { PA_CHILD_GONE, PA_CHILD_ZOMBIE };

/** A step of a circle: who waits, and on what. */
struct pa_finding_step {
    uint32_t task;   /* node, or PA_NONE */
    uint32_t thread; /* where there is no task: index */
    uint64_t object; /* the lock, which the next one holds; 0: the next one is awaited, or is the thread of the task's loop */
};

struct pa_finding {
    uint8_t kind;    /* enum pa_finding_kind */
    uint8_t variant; /* of its kind's own */
    uint32_t first_task, task_count;
    uint32_t first_object, object_count;
    uint32_t first_step, step_count; /* of a deadlock: the circle */
    uint64_t queued;                 /* of PA_FINDING_EXECUTOR_FULL: calls that wait */
    uint64_t number;                 /* how much there is of something */
};

struct pa_findings {
    struct pa_graph *graph;
    PA_ARRAY(struct pa_finding) items; /* by kind, then in the order in which they were met */
    PA_ARRAY(uint32_t) tasks;          /* nodes, of each finding a run of them */
    PA_ARRAY(uint64_t) objects;        /* locks, queues, loops …, likewise */
    PA_ARRAY(struct pa_finding_step) steps;
    uint64_t told_cycles; /* cycles of awaiters that are deadlocks, a bit each */
    uint32_t more;        /* that are not kept */
    bool made;
};

/** Look for them. Nodes in one get PA_NODE_IN_FINDING. Does nothing the second time. */
enum pa_status pa_findings_make(struct pa_findings *findings, struct pa_graph *graph);
void pa_findings_free(struct pa_findings *findings);

/** "loop-asleep", as in the JSON. */
const char *pa_finding_kind_name(enum pa_finding_kind kind);

static inline const uint32_t *pa_finding_tasks(const struct pa_findings *findings, const struct pa_finding *finding)
{
    return finding->task_count ? findings->tasks.items + finding->first_task : NULL;
}

static inline uint64_t pa_finding_object(const struct pa_findings *findings, const struct pa_finding *finding, uint32_t place)
{
    return place < finding->object_count ? findings->objects.items[finding->first_object + place] : 0;
}

#endif
