/*
 * Pieces of JSON: what all files write that have a part in the document. For json*.c and *_json.c alone.
 */
#ifndef PA_JSON_PARTS_H
#define PA_JSON_PARTS_H

#include "output.h"

#include <string.h>

/** Text of our own, as it is. */
static inline void raw(struct pa_output *out, const char *text)
{
    pa_out(out, PA_STYLE_PLAIN, text);
}

/** The same with numbers, or names of ours, in it. */
#define number(out, ...) pa_out_format(out, PA_STYLE_PLAIN, __VA_ARGS__)

/** A string; null for NULL. */
static inline void string(struct pa_output *out, const char *text)
{
    if (text)
        pa_out_json(out, text, strlen(text));
    else
        raw(out, "null");
}

/** Text of the target that is kept. */
static inline void arena_text(struct pa_output *out, const struct pa_arena *arena, struct pa_text text)
{
    pa_out_json(out, pa_arena_text(arena, text), text.length);
}

/** The same; null if it is empty. */
static inline void arena_text_or_null(struct pa_output *out, const struct pa_arena *arena, struct pa_text text)
{
    if (text.length)
        arena_text(out, arena, text);
    else
        raw(out, "null");
}

/** "0x7f3001360d70", a string */
static inline void quoted_hex(struct pa_output *out, uint64_t value)
{
    raw(out, "\"");
    pa_out_hex(out, PA_STYLE_PLAIN, value);
    raw(out, "\"");
}

/** The same; null for 0. */
static inline void address(struct pa_output *out, uint64_t value)
{
    if (value)
        quoted_hex(out, value);
    else
        raw(out, "null");
}

#endif
