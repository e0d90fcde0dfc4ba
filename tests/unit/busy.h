/* A process in which everything happens that the library tells of: for tests of whole answers, and as a seed of the fuzzer. */
#ifndef BUSY_H
#define BUSY_H

#include "python.h"

/** Addresses that tests ask for. */
struct busy {
    uint64_t running, parent, shielded, future, agen, awaited_agen;
};

/**
 * Two interpreters, three threads, remnants; a running task with an eager parent, groups, awaiters in sets, a cycle, a shielded task, async
 * generators, an unknown awaitable, hostile names and a secret. Nothing in it is damaged.
 */
struct busy busy_make(struct python *python);

#define BUSY_PARTS 6

/** Only one part of it, from 0 on. */
void busy_make_part(struct python *python, int part);

#endif
