/*
 * Going through a collections.deque.
 */
#ifndef PA_DEQUE_H
#define PA_DEQUE_H

#include "object.h"

struct pa_deque_iterator {
    uint64_t block;
    uint64_t index; /* in the block */
    uint64_t left;  /* elements not seen yet */
    bool damaged;   /* something could not be read */
};

/** @return false, with @c damaged set, if the object is no readable deque (or subclass of it). */
bool pa_deque_begin(struct pa_objects *objects, uint64_t deque, struct pa_deque_iterator *iterator);

/** The next element. @return false at the end, which may come early: see @c damaged. */
bool pa_deque_next(struct pa_objects *objects, struct pa_deque_iterator *iterator, uint64_t *element);

#endif
