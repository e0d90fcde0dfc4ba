/* A seed: an image (image.h) in memory, and how it is served to the library. */
#ifndef SEED_H
#define SEED_H

#include "image.h"
#include "session.h"

#define PAGE       4096u
#define MAX_OUTPUT (256u << 20)

/* Only the library's own branches are to guide the fuzzer; counting them costs time too. Begins each file here, ended by NOT_LIBRARY_END. */
#define NOT_LIBRARY     _Pragma("clang attribute push(__attribute__((no_sanitize(\"coverage\"))), apply_to = function)")
#define NOT_LIBRARY_END _Pragma("clang attribute pop")

struct seed {
    struct seed_head head;
    struct seed_run *runs;
    struct seed_name *names;
    uint64_t *objects; /* what the library reads, and what these refer to */
    struct seed_thread *threads;
    uint64_t *offsets; /* of each run in the bytes */
    uint8_t *bytes;    /* shared mapping of the memory file that serves as core */
    uint64_t size;
    char core_path[32];
};

/** What is served to the library now, and what it has done. */
struct run {
    struct seed *seed;
    bool core, listed, files, sections, symbols;
    uint64_t calls, abort_at;
    uint32_t polls;
    uint32_t native; /* what native.c chooses by; 0: the debugger tells nothing of native code */
    int64_t member_offset;
    uint8_t *touched; /* by page of the seed: it was read; NULL: not of interest */
    char *output;
    size_t output_length;
};
extern struct run run;
extern struct pa_target target;

__attribute__((noreturn)) void fail(const char *why);

struct seed *seed_load(const char *path);

/** The bytes at an address and how many there are; NULL if none. */
uint8_t *seed_find(const struct seed *seed, uint64_t address, uint64_t *there);

void serve(struct seed *seed, bool core);

/** Set the callbacks about native code, files and the process. */
void serve_native(struct pa_target *target);

/** Whether a callback is to go on; it is not when the input says that the user interrupts there. */
bool count_call(void);

/** Keep of an image what the library reads, and list it. */
void seed_trim(const char *path);

#endif
