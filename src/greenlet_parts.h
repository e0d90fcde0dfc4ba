/*
 * What the files that read greenlets share. For greenlet.c and greenlet_thread.c alone.
 */
#ifndef PA_GREENLET_PARTS_H
#define PA_GREENLET_PARTS_H

#include "greenlet.h"

/* A main greenlet: the thread that it stands for. */
struct pa_main_greenlet {
    uint64_t address; /* first: of the index */
    uint64_t state;   /* greenlet's ThreadState; 0: the thread has exited */
    uint64_t current; /* the greenlet that runs; 0: unknown */
    uint32_t thread;  /* index, or PA_NONE */
};

/* The same by greenlet's ThreadState. */
struct pa_greenlet_state_of {
    uint64_t address; /* first: of the index */
    uint32_t main;
};

/* Where a thread state of CPython's begins. */
struct pa_thread_range {
    uint64_t address;
    uint32_t thread;
};

struct pa_greenlet_reader {
    struct pa_graph *graph;
    PA_ARRAY(struct pa_main_greenlet) mains;
    struct pa_index main_index;
    PA_ARRAY(struct pa_greenlet_state_of) states;
    struct pa_index state_index;
    PA_ARRAY(struct pa_thread_range) ranges; /* sorted */
    uint64_t items;                          /* of exception states that were followed */
    PA_ARRAY(uint64_t) types;                /* of greenlets, for a search of memory */
    uint64_t type;                           /* the one that is searched for */
    bool collecting;                         /* during a collection the links of its lists are no links */
};

/* greenlet_thread.c: which thread a main greenlet stands for. */

/** To be called once, before the others. */
void pa_greenlet_sort_threads(struct pa_greenlet_reader *reader);
/** Let greenlet's ThreadState at @p address be that of a main greenlet (index). */
void pa_greenlet_add_state(struct pa_greenlet_reader *reader, uint64_t address, uint32_t main);
/** The thread (index) that a suspended greenlet's saved exception state leads to, or PA_NONE. */
uint32_t pa_greenlet_thread_of_exceptions(struct pa_greenlet_reader *reader, uint64_t item);
/** The threads of those main greenlets that have none yet. */
void pa_greenlet_find_threads(struct pa_greenlet_reader *reader);

#endif
