/*
 * Interpreter frames, and the objects that own one: coroutines, generators and async generators.
 */
#ifndef PA_FRAME_H
#define PA_FRAME_H

#include "code.h"

/** The object that a _PyStackRef refers to; 0: none. Include/internal/pycore_stackref.h: 3 in the low bits is a small int, a masked 0 is no object. */
static inline uint64_t pa_stackref_object(const struct pa_layout *layout, uint64_t bits)
{
    uint64_t mask = layout->free_threaded ? layout->version->tag_mask_free_threaded : layout->version->tag_mask;
    return (bits & 3) == 3 ? 0 : bits & ~mask;
}

/** The same, telling a tagged int, which is no object: it sets @p is_int and @p number. */
static inline uint64_t pa_stackref(const struct pa_layout *layout, uint64_t bits, bool *is_int, int64_t *number)
{
    *is_int = (bits & 3) == 3;
    *number = *is_int ? (int64_t)bits >> 2 : 0;
    return pa_stackref_object(layout, bits);
}

/** What the _PyStackRef at an address of the target refers to, likewise. */
static inline uint64_t pa_slot_object(struct pa_objects *objects, uint64_t address)
{
    uint64_t bits;
    return pa_memory_u64(objects->memory, address, &bits) ? pa_stackref_object(objects->layout, bits) : 0;
}

/** What an interpreter frame holds that we use. */
struct pa_iframe {
    uint64_t previous;
    uint64_t stackpointer;
    struct pa_position position;
    uint8_t owner;
};

/**
 * Read the interpreter frame at @p address. @return false if it cannot be read.
 *
 * CPython: Include/internal/pycore_interpframe_structs.h, struct _PyInterpreterFrame.
 */
bool pa_iframe_read(struct pa_codes *codes, uint64_t address, struct pa_iframe *iframe);

/** Where the value stack of the interpreter frame at @p address begins: behind its variables. @return false if it cannot be told. */
bool pa_iframe_stack(struct pa_codes *codes, uint64_t address, const struct pa_iframe *iframe, uint64_t *bottom);

/** Whether it is a frame of Python code that has begun: entry frames and trampolines of the interpreter are none. */
bool pa_iframe_is_complete(struct pa_codes *codes, const struct pa_iframe *iframe);

/** The state of a coroutine, generator or async generator, in words that do not differ between versions. */
enum pa_gen_state {
    PA_GEN_CREATED,
    PA_GEN_SUSPENDED,  /* at a plain yield */
    PA_GEN_YIELD_FROM, /* awaits another object */
    PA_GEN_EXECUTING,
    PA_GEN_CLEARED, /* has ended */
    PA_GEN_INVALID,
};

/** A coroutine, generator or async generator as read. */
struct pa_gen {
    enum pa_gen_state state;
    uint64_t iframe; /* address of its frame */
    struct pa_iframe frame;
};

/** Read the generator-like object at @p address, whose kind has been checked. @return false if it cannot be read. */
bool pa_gen_read(struct pa_codes *codes, uint64_t address, struct pa_gen *gen);

/** Whether objects of this kind have a frame of their own (the layout of PyGenObject). */
static inline bool pa_kind_is_gen(enum pa_kind kind)
{
    return kind == PA_KIND_COROUTINE || kind == PA_KIND_GENERATOR || kind == PA_KIND_ASYNC_GENERATOR;
}

#endif
