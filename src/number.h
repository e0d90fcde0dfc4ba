/*
 * Numbers as Python's repr() writes them, whatever the locale of the debugger.
 */
#ifndef PA_NUMBER_H
#define PA_NUMBER_H

#include <stdint.h>

/** Room for any float, NUL included: sign, 17 digits, point, "e-308". */
#define PA_FLOAT_BYTES 32u

/** repr() of a float: the shortest digits that give the same float again. With @p point false, 1.0 is "1", as in a complex. */
uint32_t pa_float_repr(double value, int point, char text[PA_FLOAT_BYTES]);

/** Seconds with six decimals, for a JSON document: "4.200000"; "null" for what is no number, or is not below 1e12. */
uint32_t pa_seconds_repr(double seconds, char text[PA_FLOAT_BYTES]);

/** Seconds for people: "4.2 s", "12 ms", "1,000 s"; without sign. */
uint32_t pa_seconds_text(double seconds, char text[PA_FLOAT_BYTES]);

/** Digits of 30 bits of the largest int that repr() writes: more than 4,300 decimals are an error by default. */
#define PA_INT_DIGITS 477u
/** Room for its decimals and the sign. */
#define PA_INT_BYTES (PA_INT_DIGITS * 10u + 2u)

/** The decimals of @p count digits of 30 bits, lowest first, which are used up. @return how many bytes were written. */
uint32_t pa_int_repr(uint32_t *digits, uint32_t count, int negative, char text[PA_INT_BYTES]);

#endif
