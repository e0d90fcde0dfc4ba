/*
 * What an event loop does: facts of one loop of asyncio's, read when it is shown.
 *
 * CPython: Lib/asyncio/base_events.py, BaseEventLoop. All of it comes from attributes of the loop and variables of the _run_once() that runs
 * it; a loop without these, such as uvloop's, has only a state.
 */
#ifndef PA_LOOP_H
#define PA_LOOP_H

#include "callable.h"
#include "graph.h"

enum pa_loop_state {
    PA_LOOP_TASK,     /* runs a step of a task */
    PA_LOOP_CALLBACK, /* runs another callback */
    PA_LOOP_SELECT,   /* its thread is in the selector: as far as Python code tells, it sleeps */
    PA_LOOP_RUNNING,  /* runs, and does none of these */
    PA_LOOP_NOT_RUNNING,
    PA_LOOP_CLOSED,
    PA_LOOP_STATE_COUNT,
};

/** A number that is not known. */
#define PA_LOOP_UNKNOWN (-1)

struct pa_loop_facts {
    enum pa_loop_state state;
    uint64_t run_once; /* the interpreter frame of its _run_once(); 0: it does not run, or is none of asyncio's */
    uint64_t selector; /* the object; 0: unknown */
    const char *poll;  /* what its selector calls: "epoll"; NULL: unknown */

    /* PA_LOOP_CALLBACK */
    uint64_t callback;         /* the object that it calls, without functools.partial(); 0: unknown */
    struct pa_callable called; /* that; the name of a function made in C has no file */
    uint32_t callback_frame;   /* its own frame, in thread_frames; PA_NONE: it is in C code */

    int64_t ready;     /* callbacks, and steps of tasks, that will be run: len(loop._ready) */
    int64_t scheduled; /* timers that are not cancelled */
    double next_when;  /* when the next of them is due, by the loop's clock; NaN: none, or unknown */
    uint64_t signals;  /* bit N - 1: add_signal_handler() was called for signal N */

    /*
     * The loop's time(); NaN if unknown. Live that is CLOCK_MONOTONIC when the target was walked, if the loop uses it and it is this
     * host's (struct pa_target, PA_TARGET_OWN_CLOCK). In a core, and otherwise: when it began to wait in select(), if a timer told for how
     * long, else the end_time of the _run_once() that runs, so it is not later than the truth.
     */
    double now;

    /*
     * PA_LOOP_SELECT: for how many seconds it was told to wait; infinite: until something happens; NaN: unknown.
     *
     * A thread that select() has woken still stands there in Python's eyes until it gets the GIL: what is ready may have been made so by
     * call_soon_threadsafe() a moment ago.
     */
    double timeout;
};

void pa_loop_read(struct pa_graph *graph, uint32_t loop, struct pa_loop_facts *facts);

/** Seconds until the next timer is due; less than 0 if it was before; NaN: none, or unknown. */
static inline double pa_loop_next_timer(const struct pa_loop_facts *facts)
{
    return facts->next_when - facts->now;
}

/** The loop's time() alone: see pa_loop_facts. */
double pa_loop_now(struct pa_graph *graph, uint32_t loop);

/** The names of states in the JSON. */
const char *pa_loop_state_name(enum pa_loop_state state);

/** "SIGTERM" for the number of a signal; "signal 40" for one without a name. @p text has 16 bytes of room. */
const char *pa_signal_name(uint32_t number, char text[16]);

#endif
