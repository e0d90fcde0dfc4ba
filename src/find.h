/*
 * Finding CPython in a process: the runtime with its debug offsets, and the table of asyncio, with ever less to go on.
 */
#ifndef PA_FIND_H
#define PA_FIND_H

#include "layout.h"

/** What was found, and how. */
struct pa_found {
    uint64_t runtime;        /* address of _PyRuntime */
    uint64_t other_runtime;  /* without runtime: the address of one that cannot be read, or has not started; 0 if there is none */
    uint64_t asyncio;        /* address of the asyncio table */
    const char *runtime_how; /* literals: "section .PyRuntime", … */
    const char *asyncio_how;
    uint32_t runtime_copies; /* places with the cookie; more than one if a second libpython is mapped */
    uint32_t asyncio_copies;
    uint64_t searched; /* bytes that were scanned */
    bool no_asyncio;   /* there is no such table: asyncio's Python code may run without */
};

/**
 * Find both tables and fill in the layout. Without asyncio, greenlets can be read all the same.
 *
 * @param exhaustive Search all memory of a live target too, not only mappings of files.
 * @param[out] error On PA_FAILED: what was found, what was tried and what to do, in one line.
 * @return PA_OK, PA_FAILED, PA_ABORTED or PA_NO_MEMORY.
 */
enum pa_status pa_find_runtime(struct pa_found *found, struct pa_memory *memory, struct pa_layout *layout, bool exhaustive,
                               char *error, size_t capacity);
enum pa_status pa_find_asyncio(struct pa_found *found, struct pa_memory *memory, struct pa_layout *layout, bool exhaustive,
                               char *error, size_t capacity);
/** Both. */
enum pa_status pa_find(struct pa_found *found, struct pa_memory *memory, struct pa_layout *layout, bool exhaustive, char *error,
                       size_t capacity);

/** "3.15.0", "3.14.0rc2": PY_VERSION_HEX as text. @p text needs 32 bytes. */
void pa_version_text(uint32_t hexversion, char *text);

#endif
