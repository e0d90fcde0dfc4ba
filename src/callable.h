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

/**
 * Whether an object is a function made in C, or a method that is bound to an object. CPython: Include/cpython/methodobject.h; methods that
 * want to know their class are of a type derived from the others', with the same fields first.
 */
bool pa_is_builtin(struct pa_objects *objects, uint64_t object);

/**
 * The name of a function made in C, by its definition. Where that cannot be read, as in a core without the files: by the module or type that
 * it is in.
 *
 * @return its length; 0 if it is none, or has no name. @p text has @p capacity bytes of room, of which a NUL takes one.
 */
uint32_t pa_builtin_name(struct pa_objects *objects, uint64_t object, char *text, uint32_t capacity);

/** The class made in C that an object is an instance of, past those made in Python: its methods made in C are that one's. As pa_type_of(). */
uint32_t pa_c_type_of(struct pa_objects *objects, uint64_t object);

/** Cells of a closure that are looked at: asyncio's functions have six at most. */
#define PA_MAX_CELLS 16u

/** The objects in the cells of a function's closure. @return how many; 0 also if it has more cells, or they cannot be read. */
uint32_t pa_function_cells(struct pa_objects *objects, uint64_t function, uint64_t held[PA_MAX_CELLS]);

/** Whether an object is the function with this qualified name (ASCII) of a file whose name ends with @p file. */
bool pa_is_function(struct pa_codes *codes, uint64_t object, const char *qualname, const char *file);

#endif
