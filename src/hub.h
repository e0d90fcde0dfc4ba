/*
 * gevent's Hubs that cannot run: one greenlet calls a function in C that blocks the whole thread, and all others wait with the loop.
 */
#ifndef PA_HUB_H
#define PA_HUB_H

#include "blocked.h"
#include "gevent.h"

struct pa_hub_blocked {
    uint32_t hub, running; /* greenlets */
    uint32_t others;       /* that are suspended, without the Hub */
    struct pa_blocked call;
};

/**
 * Whether the Hub of a thread (index) cannot run, since the greenlet that runs is in a call that waits in C. Silent where the call may be one
 * that does not wait: a lock that is only tried, a socket that does not block, as gevent's own do not.
 */
bool pa_hub_is_blocked(struct pa_graph *graph, uint32_t thread, struct pa_hub_blocked *blocked);

#endif
