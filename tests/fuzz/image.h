/*
 * Images on disk: what make-seeds and build/unit-tests --save-images write, and fuzz_session reads.
 *
 *     "PAIMAGE1", number of runs, number of names         8 bytes each, little-endian
 *     struct seed_run for each run
 *     struct seed_name for each name
 *     the bytes of the runs, one after the other
 */
#ifndef SEED_IMAGE_H
#define SEED_IMAGE_H

#include <stdint.h>

#define SEED_MAGIC "PAIMAGE1"

struct seed_run {
    uint64_t address, size;
    uint64_t flags; /* PA_RANGE_WRITABLE, PA_RANGE_FILE_BACKED */
};

/** A section (its name begins with a dot) or a symbol. */
struct seed_name {
    char name[32];
    uint64_t address;
};

#endif
