/*
 * gevent: what its greenlets wait for, where they were spawned, and the Hubs.
 *
 * gevent is compiled by Cython: what a greenlet waits for leaves no Python frame, and its objects publish no offsets. They are read by
 * structure instead: an object of gevent's own that refers to a greenlet's switch(), or to a Waiter that does, is what that greenlet waits
 * for. gevent: _abstract_linkable.py (_links), _waiter.py (Waiter.greenlet), queue.py (getters, putters), libev/corecext.pyx (watcher).
 */
#ifndef PA_GEVENT_H
#define PA_GEVENT_H

#include "greenlet.h"

/** That a suspended greenlet waits for an object. */
struct pa_gevent_wait {
    uint64_t greenlet, object;
    uint32_t type; /* gevent's own class of the object, in objects */
};

/** That an object of gevent's, on which others may wait, is told when a greenlet ends: an AsyncResult, or the Event of a pool. */
struct pa_gevent_link {
    uint64_t greenlet, object;
};

/** A code object and a line. */
struct pa_gevent_place {
    uint64_t spawner; /* the greenlet that called spawn(); 0: gone */
    uint32_t code;    /* in codes */
    int32_t line;
};

struct pa_gevent {
    struct pa_graph *graph;
    struct pa_gevent_wait *items; /* waits, sorted by greenlet */
    uint32_t count, capacity;
    uint32_t *by_object;                   /* their places, sorted by object */
    PA_ARRAY(struct pa_gevent_link) links; /* sorted by greenlet */
};

/** Find all waits. Costs a walk over all objects, and nothing in a process without gevent. */
void pa_gevent_read(struct pa_graph *graph, struct pa_gevent *gevent);
void pa_gevent_free(struct pa_gevent *gevent);

/** The waits of a greenlet: @p count of them. */
const struct pa_gevent_wait *pa_gevent_waits(const struct pa_gevent *gevent, uint64_t greenlet, uint32_t *count);

/** Those who wait for an object: @p count places in items. */
const uint32_t *pa_gevent_waiters(const struct pa_gevent *gevent, uint64_t object, uint32_t *count);

/** The objects that are told when a greenlet ends: @p count of them. */
const struct pa_gevent_link *pa_gevent_links(const struct pa_gevent *gevent, uint64_t greenlet, uint32_t *count);

/** "event", "queue", …: a kind of wait as in the JSON. */
const char *pa_gevent_kind(const struct pa_gevent *gevent, const struct pa_gevent_wait *wait);

/** Whether it is a Hub, which runs the event loop of its thread. */
bool pa_gevent_is_hub(struct pa_graph *graph, const struct pa_greenlet *greenlet);

/** The name that was given to a greenlet. @p text has PA_STRING_BYTES of room. @return false if it has none. */
bool pa_gevent_name(struct pa_graph *graph, const struct pa_greenlet *greenlet, char *text, uint32_t *length);

/** Where a greenlet was spawned. @return false if that is not known. */
bool pa_gevent_spawned(struct pa_graph *graph, const struct pa_greenlet *greenlet, struct pa_gevent_place *place);

#endif
