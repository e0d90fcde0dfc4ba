/* The library's parts set up over a miniature CPython, up to where a test needs them: what a session does, in steps. */
#ifndef WALK_H
#define WALK_H

#include "find.h"
#include "graph.h"
#include "python.h"

struct walk {
    struct python *python;
    struct pa_work work;
    struct pa_memory memory;
    struct pa_layout layout;
    struct pa_found found;
    struct pa_objects objects;
    struct pa_codes codes;
    struct pa_graph graph;
    char error[1024];
};

/** Find the tables and set up objects and codes. Ends the test if that fails. */
void walk_open(struct walk *walk, struct python *python);
/** The same and the whole graph. */
void walk_build(struct walk *walk, struct python *python);
/** Free everything but the process. Ends the test if the library kept memory or lost count of it. */
void walk_leave(struct walk *walk);
/** The same, then build it anew: something in the process has been changed. */
void walk_again(struct walk *walk);
/** Free everything, the process too. */
void walk_close(struct walk *walk);

/** The node of an object; ends the test if there is none. */
uint32_t walk_node(const struct walk *walk, uint64_t address);
/** What is known of it. */
const struct pa_node *walk_item(const struct walk *walk, uint64_t address);
/** Its stack as "outer:10 inner:20", outermost first; of the chain of a coroutine likewise. */
const char *walk_stack(const struct walk *walk, uint64_t task);
const char *walk_chain(struct walk *walk, uint64_t coroutine);
/** The stack of the nth thread. */
const char *walk_thread_stack(const struct walk *walk, uint32_t thread);
/** The names of the tasks in the order of the graph, with blanks between; or of a node's awaiters. */
const char *walk_tasks(struct walk *walk);
const char *walk_awaiters(struct walk *walk, uint64_t address);
/** Whether a problem of this text was noted. */
bool walk_has_problem(const struct walk *walk, const char *why);

#endif
