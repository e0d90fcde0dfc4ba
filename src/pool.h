/*
 * The objects that a task waits in: connection pools, clients, queues of any library, by one rule that knows none of them.
 *
 * Where what a task waits for tells nothing by itself (a future, an event, a queue of somebody's own), the objects whose methods its innermost
 * frames are do: so many connections of at most so many, so many requests. Of each its numbers and the lengths of its containers are
 * shown; nothing of the target runs, so properties are not. Objects of the standard library, whose insides asyncio's own waits have been
 * told from, are left out, and those with nothing to show.
 */
#ifndef PA_POOL_H
#define PA_POOL_H

#include "wait.h"

/** A number of an object, or the length of a container. */
struct pa_member {
    char name[PA_ATTRIBUTE_NAME];
    uint32_t name_length;
    enum { PA_MEMBER_INT, PA_MEMBER_FLOAT, PA_MEMBER_BOOL, PA_MEMBER_LENGTH } kind;
    int64_t number;      /* PA_MEMBER_INT, PA_MEMBER_BOOL, PA_MEMBER_LENGTH */
    double real;         /* PA_MEMBER_FLOAT */
    struct pa_text type; /* PA_MEMBER_LENGTH: of the container, "list" */
};

/** What is shown of an object. */
struct pa_members {
    struct pa_member items[PA_POOL_MEMBERS];
    uint32_t count;
    bool more; /* there are others */
};

/** What is remembered from task to task. */
struct pa_pools {
    struct pa_graph *graph;
    struct pa_bytes selves, types; /* by code object, whether its first variable is "self"; by type, whether it is to be shown */
    struct pa_links iframes;       /* scratch */
    struct pa_members members;
};

void pa_pools_init(struct pa_pools *pools, struct pa_graph *graph);
void pa_pools_deinit(struct pa_pools *pools);

/** Whether a wait is one that tells nothing by itself. */
bool pa_wait_is_unexplained(const struct pa_waits_on *waits_on);

/** The objects that a task waits in, innermost first. @return how many. */
uint32_t pa_pools_of(struct pa_pools *pools, uint32_t node, uint64_t objects[PA_POOLS_SHOWN]);

/** What is to be shown of an object, in the order of its attributes; numbers under names that tell of a secret are left out. */
const struct pa_members *pa_pool_members(struct pa_pools *pools, uint64_t object);

#endif
