/*
 * Images on disk: what make-seeds and build/unit-tests --save-images write, and `fuzz-session trim` makes into seeds.
 *
 *     "PAIMAGE2", number of runs, names, objects, threads      8 bytes each, little-endian
 *     struct seed_run for each run, in the order of addresses
 *     struct seed_name for each name
 *     the address of each object that the library reads        8 bytes each
 *     struct seed_thread for each thread
 *     the bytes of the runs, one after the other
 *
 * Objects and threads are in trimmed images only. So what an input does depends on the image, and not on what the library finds in it today.
 */
#ifndef SEED_IMAGE_H
#define SEED_IMAGE_H

#include <stdint.h>

#define SEED_MAGIC "PAIMAGE2"

struct seed_head {
    char magic[8]; /* SEED_MAGIC, without a NUL */
    uint64_t runs, names, objects, threads;
};

struct seed_run {
    uint64_t address, size;
    uint64_t flags; /* PA_RANGE_WRITABLE, PA_RANGE_FILE_BACKED */
};

/** A section (its name begins with a dot) or a symbol. */
struct seed_name {
    char name[32];
    uint64_t address;
};

struct seed_thread {
    uint64_t lwp, pthread_id;
};

#endif
