/*
 * Coroutines and generators that Cython compiles: objects with no interpreter frame, in a layout of their own.
 *
 * Cython: Cython/Utility/Coroutine.c, __pyx_CoroutineObject. The layout is in no table and differs between releases of Cython, so it is
 * found by its structure in every object: three str and a code object in a row.
 */
#ifndef PA_CYTHON_H
#define PA_CYTHON_H

#include "object.h"

/** A compiled coroutine, generator or async generator as read. */
struct pa_cython_gen {
    uint64_t awaited;  /* yieldfrom: what it awaits, 0 if nothing */
    uint64_t qualname; /* gi_qualname */
    uint64_t code;     /* gi_code: a code object for the sake of file and name; it holds no bytecode that runs */
    bool started, ended, executing;
};

/**
 * Read the object at @p address, whose kind is PA_KIND_CYTHON_GEN.
 *
 * @return false if it has not the structure of one.
 */
bool pa_cython_gen_read(struct pa_objects *objects, uint64_t address, struct pa_cython_gen *gen);

/**
 * The kind of a type by its tp_name, "_cython_3_1_6.coroutine": each release of Cython has types of its own, which all modules that it
 * compiled share. PA_KIND_OTHER if it is none that we know.
 */
enum pa_kind pa_cython_kind(const char *type_name, uint32_t length);

#endif
