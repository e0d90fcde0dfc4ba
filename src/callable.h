/*
 * What can be called: functions, bound methods, functools.partial(), functions made in C.
 */
#ifndef PA_CALLABLE_H
#define PA_CALLABLE_H

#include "code.h"

/** A function of Python code with its place; of all else the type of the object, with line 0. */
struct pa_callable {
    struct pa_text name, file;
    int32_t line;
};

/** What calling an object calls. */
void pa_callable_read(struct pa_codes *codes, uint64_t object, struct pa_callable *callable);

/** The function inside of nested functools.partial(), else the object itself. */
uint64_t pa_partial_function(struct pa_objects *objects, uint64_t object);

/** The function of a bound method, and what it is bound to; the object itself, bound to nothing (0), if it is none. */
uint64_t pa_method_function(struct pa_objects *objects, uint64_t object, uint64_t *self);

/** The name of a function made in C; empty if it is none. In the arena of objects. */
struct pa_text pa_builtin_name(struct pa_objects *objects, uint64_t object);

/** Whether an object is the function with this qualified name (ASCII) of a file whose name ends with @p file. */
bool pa_is_function(struct pa_codes *codes, uint64_t object, const char *qualname, const char *file);

#endif
