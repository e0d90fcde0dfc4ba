/*
 * Containers made in C that are no builtins: collections.deque, which asyncio keeps waiters and ready callbacks in, and queue.SimpleQueue,
 * which executors keep their work in.
 */
#ifndef PA_COLLECTION_H
#define PA_COLLECTION_H

#include "instance.h"

/** Going through the elements of a deque or a SimpleQueue, first to last. */
struct pa_collection {
    struct pa_objects *objects;
    uint64_t left;     /* elements not seen yet; before the first one their number */
    uint64_t block;    /* the array that they stand in, of a deque a part of it */
    uint64_t index;    /* in it */
    uint64_t capacity; /* of it */
    bool is_deque;
    bool damaged; /* something could not be read: elements are missing */
};

/** @return false if the object is neither of them, or is damaged. Subclasses of deque are none. */
bool pa_collection_begin(struct pa_objects *objects, uint64_t object, struct pa_collection *collection);

/** The next element. @return false at the end, which may come early: see @c damaged. */
bool pa_collection_next(struct pa_collection *collection, uint64_t *element);

#endif
