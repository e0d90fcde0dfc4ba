/*
 * The local variables of a frame: of a suspended coroutine or generator, or of one on a thread's stack.
 */
#ifndef PA_VARIABLES_H
#define PA_VARIABLES_H

#include "coroutine.h"
#include "instance.h"

/**
 * Going through the variables of an interpreter frame that have a value. Usable by whoever has a frame's address: pa_gen.iframe of a
 * coroutine or generator, pa_thread_frame of a thread, a frame of a greenlet.
 *
 *     struct pa_variables variables;
 *     if (pa_variables_begin(codes, iframe, &variables))
 *         while (pa_variables_next(&variables))
 *             use(variables.name, variables.object);
 */
struct pa_variables {
    struct pa_codes *codes;
    uint64_t localsplus; /* in the frame */
    uint64_t names;      /* the elements of co_localsplusnames */
    uint64_t kinds;      /* the bytes of co_localspluskinds */
    uint32_t index, count;
    bool damaged; /* something could not be read: variables may be missing */
    /* The variable that pa_variables_next() found. */
    char name[PA_ATTRIBUTE_NAME];
    uint32_t name_length;
    uint64_t object; /* its value; 0: a small int that is no object, see number */
    int64_t number;
};

/** Begin with the frame at @p iframe. @return false if it cannot be read. */
bool pa_variables_begin(struct pa_codes *codes, uint64_t iframe, struct pa_variables *variables);

/** The next variable that has a value: what a cell holds, not the cell. @return false at the end. */
bool pa_variables_next(struct pa_variables *variables);

/** The object that variable @p name (ASCII) of a frame refers to. @return false if there is none. */
bool pa_variable_get(struct pa_codes *codes, uint64_t iframe, const char *name, uint64_t *object);

#endif
