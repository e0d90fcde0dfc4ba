/*
 * What tests of objects begin with: one process at a time, and the library over it. Included once, by the file of a suite.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "instances.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

/** Bytes for objects, enough for nearly all tests. */
#define HEAP (1u << 20)

/** A process with @p heap bytes for objects, and the types that instances.h needs. */
static inline void begin_sized(int build, uint64_t heap)
{
    python = python_new_sized((enum python_build)build, heap);
    instances_begin(python);
}

static inline void put(uint64_t address, uint64_t value)
{
    image_put_u64(python->image, address, value);
}

#endif
