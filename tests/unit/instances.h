/* Objects of classes made in Python, and the containers that they hold, in a miniature CPython. */
#ifndef INSTANCES_H
#define INSTANCES_H

#include "python.h"

/** Make the types that the functions below need; to be called once for each python_new(). */
void instances_begin(struct python *python);

uint64_t make_tuple(uint32_t count, const uint64_t *items);
uint64_t make_list(uint32_t count, const uint64_t *items);
uint64_t make_bytes(const void *bytes, uint64_t length);
uint64_t make_float(double number);
uint64_t make_bool(bool value);
uint64_t make_none(void);

/** A deque of @p count elements, which begin at @p index of its first block of 64; @p length is what it says of itself. */
uint64_t make_deque_of(uint32_t count, const uint64_t *items, uint64_t index, uint64_t length);
/** A deque that only says how long it is. */
uint64_t make_deque(uint64_t length);
/** A SimpleQueue with a ring of 8; its first element is at @p index. */
uint64_t make_simple_queue(uint32_t count, const uint64_t *items, uint64_t index);

/** An instance of a class @p name, with a dict in its first word. Names end with NULL. */
uint64_t make_instance_of(const char *name, const char *const *attributes, const uint64_t *values);
uint64_t make_instance(const char *name, const char *attribute, uint64_t value);

/** Let the class of an instance have an attribute; its __dict__ is made anew for each call. */
void set_class_attributes(uint64_t object, const char *const *attributes, const uint64_t *values);

/** A function; @p closure is a tuple of cells, or 0. */
uint64_t make_function(const char *qualname, const char *file, uint64_t closure);
uint64_t make_cell(uint64_t held);

/** The names of a code object's variables, which are the first of a frame's localsplus. */
void set_variables(uint64_t code, uint32_t count, const char *const *names);

#endif
