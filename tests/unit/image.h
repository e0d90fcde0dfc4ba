/*
 * Memory of a process made by hand, and the target over it: what the front would be for the library.
 *
 * An image is runs of bytes at addresses of the test's choice. It is served as a live process, or written to a file and served as a core.
 * The target's functions have no argument for it, so there is one image at a time; each test has a process of its own.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include "pyasync.h"

#include "tests.h"

struct image_run {
    uint64_t address, size;
    uint8_t *bytes;
    uint32_t flags; /* of the range: PA_RANGE_WRITABLE, PA_RANGE_FILE_BACKED */
    bool listed;    /* whether ranges() tells of it */
};

/** A name with a number: a section or symbol and its address, a member and its offset. */
struct image_name {
    const char *name, *path;
    uint64_t value;
};

struct image {
    struct pa_target target;
    struct image_run runs[64];
    uint32_t run_count;
    struct image_name sections[16], symbols[32], members[16];
    uint32_t section_count, symbol_count, member_count;
    struct pa_thread_info threads[16];
    uint32_t thread_count;
    struct pa_native_frame natives[32]; /* of every thread; PA_UNREADABLE's -1 if there are none */
    uint32_t native_count;
    const char *native_stopped;
    struct image_name files[8]; /* name: of a file; value: where it is mapped, for 64 KiB */
    uint32_t file_count;
    struct pa_object_file objects[4];
    uint32_t object_count;
    struct pa_stop stop;
    const char *arguments; /* with their NULs; NULL: unknown */
    uint64_t arguments_size;
    bool arguments_cut;
    const char *source; /* what source_line() answers; NULL: there is none */
    char path[32];      /* of the core file */

    char *output; /* what was written, NUL terminated */
    size_t output_length, output_capacity;
    uint32_t writes;

    uint64_t calls, reads, polls, read_bytes; /* how often the library asked */
    uint64_t abort_at;                        /* the number of the call, from 1, that is answered with an abort; 0: none */
    bool aborted;                             /* that happened */
    bool lists_nothing;                       /* ranges() cannot tell */
};

/** An empty live target. Ends the test without memory. */
struct image *image_new(void);
void image_free(struct image *image);

/** Add a run of zeros. Runs may adjoin, but not overlap. */
void image_map(struct image *image, uint64_t address, uint64_t size, uint32_t flags);

/** Take away the run that begins at an address. */
void image_unmap(struct image *image, uint64_t address);

/** The bytes at an address. Ends the test if they are not within one run. */
uint8_t *image_at(struct image *image, uint64_t address, uint64_t size);

void image_put(struct image *image, uint64_t address, const void *bytes, uint64_t size);
void image_put_u64(struct image *image, uint64_t address, uint64_t value);
void image_put_u32(struct image *image, uint64_t address, uint32_t value);
void image_put_u8(struct image *image, uint64_t address, uint8_t value);
uint64_t image_u64(struct image *image, uint64_t address);

void image_add_section(struct image *image, const char *name, uint64_t address);
void image_add_symbol(struct image *image, const char *name, uint64_t address);
void image_add_member(struct image *image, const char *type, const char *path, uint64_t offset);

/** Serve it as a core from now on: write a file with the runs, after which changes to the image have no effect. */
void image_make_core(struct image *image);

/** Cut the core file to @p size bytes, before the library maps it. */
void image_truncate_core(struct image *image, uint64_t size);

/** Write it to a file, as a seed of the fuzzer. */
void image_save(struct image *image, const char *path);

/** Forget what was written and counted. */
void image_reset(struct image *image);

#endif
