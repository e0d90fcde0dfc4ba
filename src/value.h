/*
 * Values as text: what repr() would give for an object, bounded, without secrets.
 *
 * Nothing of the target runs, so a repr that is written in Python is not followed: such an instance shows its type and attributes.
 *
 *     None, bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset    as repr()
 *     namedtuples, dataclasses, enum members, exceptions, functions, methods, modules, classes     as their usual repr()
 *     <module.Class object at 0x7f…: host='a', port=1>    instances: as object's repr(), with attributes
 *     <Class at 0x7f…: [1, 2]>                            a subclass of a builtin type with a repr() of its own
 *     <type at 0x7f…>                                     all else
 *
 * What is left out is marked with an ellipsis and, where known, counted. Nothing recurses over the target: containers that are open stand
 * on a stack of our own, and an object that is open already is written as repr() writes cycles: "[...]".
 */
#ifndef PA_VALUE_H
#define PA_VALUE_H

#include "instance.h"
#include "redact.h"
#include "variables.h"

/** A value as text. */
struct pa_value {
    const char *text; /* UTF-8, printable as it is; until the next value is rendered */
    uint32_t length;
    uint64_t address;    /* of the object; 0 for a tagged int, which has none */
    struct pa_text type; /* its type's name, in the arena of objects */
    bool truncated;      /* something was left out */
    bool hidden;         /* something was taken for a secret */
};

/** How much of a value is shown. */
struct pa_value_limits {
    uint32_t depth;  /* levels of containers in containers; 0: PA_DEFAULT_VALUE_DEPTH */
    uint32_t length; /* elements of one container and characters of one str; 0: PA_DEFAULT_VALUE_LENGTH */
    bool secrets;    /* show them */
};

/** As the user asked for. */
struct pa_value_limits pa_request_value_limits(const struct pa_request *request);

struct pa_values;

/** Room for rendering, reused from value to value. @return NULL without memory. */
struct pa_values *pa_values_new(struct pa_objects *objects, struct pa_value_limits limits);
void pa_values_free(struct pa_values *values);

/** Render the object at @p object. @p name is that of the variable or attribute that holds it: it may tell of a secret. May be "". */
void pa_value_render(struct pa_values *values, const char *name, uint32_t name_length, uint64_t object, struct pa_value *value);

/** Render what a variable refers to. */
void pa_value_render_variable(struct pa_values *values, const struct pa_variables *variable, struct pa_value *value);

/**
 * What str() would give for an exception, for the usual ones: one argument as str(), else the tuple; KeyError's as repr(); OSError's errno,
 * text and file names; the message of a group. A __str__ that is written in Python is not followed.
 */
void pa_value_render_message(struct pa_values *values, uint64_t exception, struct pa_value *value);

#endif
