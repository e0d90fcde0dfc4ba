/*
 * The with statements that a frame is in the body of, and the context managers of these.
 *
 * The exception table tells: it is what the interpreter itself goes by when an exception leaves the body. Where the handler of an instruction
 * begins with WITH_EXCEPT_START, the exit method and its object lie on the value stack at the depth that the table gives. So this holds for
 * frames that execute too, whose stack pointer is nowhere. A frame that is only entering, or already leaving, is in no body.
 *
 * What statements there are at one instruction never changes: it is worked out once for each.
 */
#ifndef PA_WITH_H
#define PA_WITH_H

#include "frame.h"

/** The with statements at one instruction. */
struct pa_with_place {
    uint64_t key; /* first: of the index */
    uint64_t executable, instruction;
    int32_t tlbc_index;
    uint32_t first, count; /* in slots */
};

/** Where a context manager lies: so many words above the variables. */
struct pa_with_slot {
    uint16_t depth;
    bool is_async;
};

struct pa_withs {
    struct pa_codes *codes;
    struct pa_bytes has; /* by code object: what statements it has at all, enum pa_statements */
    PA_ARRAY(struct pa_with_place) places;
    struct pa_index index;
    PA_ARRAY(struct pa_with_slot) slots;
};

/** A context manager in whose body a frame is. */
struct pa_with {
    uint64_t manager;
    bool is_async;
};

void pa_withs_init(struct pa_withs *withs, struct pa_codes *codes);
void pa_withs_deinit(struct pa_withs *withs);

/** What a function has: nearly all have none of it, and then nothing else need be read. */
enum pa_statements {
    PA_HAS_WITH = 1,
    PA_HAS_ASYNC_FOR = 2,
};

/** What the function of a frame (an id of codes) has; 0: neither. */
uint8_t pa_withs_has(struct pa_withs *withs, uint32_t frame);

/**
 * The context managers whose bodies the interpreter frame at @p iframe is in, innermost first.
 *
 * @param found Room for PA_MAX_WITHS.
 * @param suspended The frame is that of a suspended coroutine or generator: then its stack pointer is checked too.
 * @return how many.
 *
 * CPython: Python/ceval.c, get_exception_handler(); InternalDocs/exception_handling.md; Python/codegen.c, codegen_with_inner().
 */
uint32_t pa_withs_of(struct pa_withs *withs, uint64_t iframe, bool suspended, struct pa_with *found);

/**
 * The asynchronous generators that are on the value stack of a suspended frame: those that it goes through by async for.
 *
 * @param found Room for PA_MAX_WITHS. @return how many.
 */
uint32_t pa_withs_iterated(struct pa_withs *withs, uint64_t iframe, uint64_t *found);

/** The context manager that a frame is entering: it calls the enter method, or has just done so. 0: none. */
uint64_t pa_with_entered(struct pa_withs *withs, uint64_t iframe);

#endif
