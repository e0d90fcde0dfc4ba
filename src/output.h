/*
 * What is printed: buffered, styled and escaped. The only place that calls pa_target.write.
 *
 * Text of the target goes through pa_out_target() or pa_out_repr() alone, so that no byte of it reaches the terminal raw: control
 * characters, line ends, bidi controls, lone surrogates and everything else that is not printable is escaped, as Python's repr() does.
 */
#ifndef PA_OUTPUT_H
#define PA_OUTPUT_H

#include "work.h"

#define PA_OUTPUT_BUFFER 65536u

/** In whose quotes stands what is written. */
enum pa_quote {
    PA_QUOTE_NONE,
    PA_QUOTE_DOT,  /* of an attribute of Graphviz */
    PA_QUOTE_JSON, /* of a string of the JSON document: for a line of text, in which all is printable already */
};

struct pa_output {
    struct pa_work *work;
    bool styled;
    enum pa_quote quote;
    uint32_t style; /* of what is in the buffer */
    uint32_t length;
    char buffer[PA_OUTPUT_BUFFER];
};

void pa_out_begin(struct pa_output *out, struct pa_work *work, bool styled);

/** Hand everything to the front. */
void pa_out_flush(struct pa_output *out);

/** Text of our own. */
void pa_out(struct pa_output *out, enum pa_style style, const char *text);
__attribute__((format(printf, 3, 4))) void pa_out_format(struct pa_output *out, enum pa_style style, const char *format, ...);
void pa_out_indent(struct pa_output *out, uint32_t spaces);
/** "4,096" */
void pa_out_count(struct pa_output *out, uint64_t count);
/** The same, right-aligned in at least @p width columns. */
void pa_out_count_in(struct pa_output *out, uint32_t width, uint64_t count);
/** "1 task", "4,096 tasks" */
void pa_out_counted(struct pa_output *out, uint64_t count, const char *one, const char *many);
/** "0x7f3001360d70" */
void pa_out_hex(struct pa_output *out, enum pa_style style, uint64_t value);
/** "0x7f…" */
void pa_out_address(struct pa_output *out, uint64_t address);

/** Text of the target, escaped. */
void pa_out_target(struct pa_output *out, enum pa_style style, const char *text, size_t length);
/** The same as Python's repr() of that str, with its quotes. */
void pa_out_repr(struct pa_output *out, enum pa_style style, const char *text, size_t length);
/** The same as a JSON string, with its quotes. What is not printable is escaped there too. */
void pa_out_json(struct pa_output *out, const char *text, size_t length);

/** Room for the longest escape, "\U0001f40d". */
#define PA_ESCAPED_BYTES 12u
/** The escape of one code point as repr() writes it: "\n", "\x1b", "\ud800", "\'". @return its length. */
uint32_t pa_escape(uint32_t c, char out[PA_ESCAPED_BYTES]);

/** The number that a stack has in the JSON document; a new one gets the next. */
typedef uint32_t pa_stack_number(void *context, uint32_t stack);

/** From now on write what stands between such quotes, escaped for them. */
void pa_out_quote(struct pa_output *out, enum pa_quote quote);

/** Whether Python's repr() shows this code point as it is. */
bool pa_is_printable(uint32_t c);

/** Decode one code point of UTF-8 or WTF-8 at @p text. @return bytes taken; a byte that is none counts as one of Latin-1. */
uint32_t pa_utf8_decode(const char *text, size_t length, uint32_t *c);

#endif
