/*
 * The function made in C that a frame of a thread calls.
 *
 * CPython: Python/bytecodes.c, CALL and CALL_KW and what they are specialised to: the callable, self or NULL, the arguments and the names of
 * keywords lie on top of the frame's value stack as long as the function runs; the argument count is the instruction's oparg. For
 * CALL_FUNCTION_EX it is the callable, NULL, a tuple and a dict or NULL. Through functools.partial() and Context.run(), which are C code too,
 * it goes on to what these call.
 */
#ifndef PA_C_CALL_H
#define PA_C_CALL_H

#include "frame.h"
#include "instance.h"

struct pa_c_call {
    uint64_t self;      /* what a method is called of; of a function its module */
    uint64_t arguments; /* where the first of them lies, as _PyStackRef, or as a pointer, which is the same without tag */
    uint32_t count;     /* of arguments, without self */
    bool
        at_call; /* the frame stands at the instruction that makes such a call: so the function has not returned. Else it is likely */
    char owner[128]; /* "_thread.lock", "time"; empty if it cannot be read */
    char name[128];  /* "acquire" */
};

/** The call that the interpreter frame at @p iframe is in. @return false if it is in none, or in one of another kind. */
bool pa_c_call_read(struct pa_codes *codes, uint64_t iframe, struct pa_c_call *call);

/** Whether it is a method that takes a lock of threading: by its name. */
bool pa_c_call_acquires(const struct pa_c_call *call);

/** Argument @p place, a number; NaN if it is none. */
double pa_c_call_number(struct pa_codes *codes, const struct pa_c_call *call, uint32_t place);

#endif
