/*
 * Who waits for a greenlet: its parent, to which it returns, and those who are linked to it by gevent.
 */
#ifndef PA_GREENLET_AWAITED_H
#define PA_GREENLET_AWAITED_H

#include "gevent.h"

enum pa_greenlet_how {
    PA_GREENLET_PARENT, /* goes on when it ends, if nobody switches to it before */
    PA_GREENLET_JOINS,  /* waits for the greenlet itself: join(), joinall(), get() */
    PA_GREENLET_LINKED, /* waits for an object that is told when it ends */
};

struct pa_greenlet_awaiter {
    uint32_t greenlet;
    uint64_t object; /* PA_GREENLET_LINKED: that object, else 0 */
    uint8_t how;     /* enum pa_greenlet_how */
};

struct pa_greenlet_awaiters {
    struct pa_greenlet_awaiter *items;
    uint32_t count, capacity;
};

/** Append those who wait for greenlet @p id. At most PA_MAX_GREENLET_AWAITERS. */
void pa_greenlet_awaiters(struct pa_graph *graph, const struct pa_gevent *gevent, uint32_t id,
                          struct pa_greenlet_awaiters *awaiters);

/** "parent", "join", "link": as in the JSON. */
const char *pa_greenlet_how_name(enum pa_greenlet_how how);

#endif
