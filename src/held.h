/*
 * The coroutine that an object holds: HTTP and database clients return objects that are coroutines by their methods only
 * (collections.abc.Coroutine), and pass send() on to a real one in an attribute. Nothing in such an object tells which attribute that is,
 * so what is found here is evidence: it counts if there is only one, and its user marks it as derived.
 */
#ifndef PA_HELD_H
#define PA_HELD_H

#include "frame.h"

/**
 * The only coroutine, generator or awaitable of one that has not ended and that @p object holds in an attribute.
 *
 * @return 0 if there is none, or more than one, or if not all attributes could be read.
 */
uint64_t pa_held_coroutine(struct pa_codes *codes, uint64_t object);

#endif
