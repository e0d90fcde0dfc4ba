/* Buffering, styles and escaping. See output.h. */
#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"

void pa_out_begin(struct pa_output *out, struct pa_work *work, bool styled)
{
    out->work = work;
    out->styled = styled;
    out->style = PA_STYLE_PLAIN;
    out->length = 0;
    out->quote = PA_QUOTE_NONE;
}

void pa_out_flush(struct pa_output *out)
{
    if (out->length > 0 && out->work->fatal == PA_OK && out->work->target->write(out->style, out->buffer, out->length) != PA_OK)
        out->work->fatal = PA_ABORTED;
    out->length = 0;
}

static void put_raw(struct pa_output *out, enum pa_style style, const char *bytes, size_t length)
{
    if (!out->styled)
        style = PA_STYLE_PLAIN;
    if (style != out->style) {
        pa_out_flush(out);
        out->style = style;
    }
    while (length > 0) {
        size_t part = PA_OUTPUT_BUFFER - out->length;
        if (part > length)
            part = length;
        /* Never cut a character in two: write() takes whole UTF-8. */
        if (part < length) {
            while (part > 0 && ((unsigned char)bytes[part] & 0xc0) == 0x80)
                part--;
        }
        memcpy(out->buffer + out->length, bytes, part);
        out->length += (uint32_t)part;
        bytes += part;
        length -= part;
        if (length > 0)
            pa_out_flush(out);
    }
}

/* What means something inside the quotes of Graphviz: the quote, the begin of an escape and that of an HTML entity. */
static const char *dot_escape(char byte)
{
    switch (byte) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '&':
        return "&amp;";
    case '\n':
        return "\\l"; /* ends a line that is aligned left */
    default:
        return NULL;
    }
}

static const char *json_escape(char byte)
{
    return byte == '"' ? "\\\"" : byte == '\\' ? "\\\\" : NULL;
}

static void put(struct pa_output *out, enum pa_style style, const char *bytes, size_t length)
{
    size_t run = 0; /* begin of what needs no escape */
    for (size_t i = 0; i < length && out->quote != PA_QUOTE_NONE; i++) {
        const char *text = out->quote == PA_QUOTE_DOT ? dot_escape(bytes[i]) : json_escape(bytes[i]);
        if (!text)
            continue;
        put_raw(out, style, bytes + run, i - run);
        put_raw(out, style, text, strlen(text));
        run = i + 1;
    }
    put_raw(out, style, bytes + run, length - run);
}

void pa_out_quote(struct pa_output *out, enum pa_quote quote)
{
    out->quote = quote;
}

void pa_out(struct pa_output *out, enum pa_style style, const char *text)
{
    put(out, style, text, strlen(text));
}

void pa_out_format(struct pa_output *out, enum pa_style style, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length > 0)
        put(out, style, text, (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

void pa_out_indent(struct pa_output *out, uint32_t spaces)
{
    static const char blanks[64] = "                                                               ";
    while (spaces > 0) {
        uint32_t part = spaces < 63 ? spaces : 63;
        put(out, PA_STYLE_PLAIN, blanks, part);
        spaces -= part;
    }
}

void pa_out_count(struct pa_output *out, uint64_t count)
{
    pa_out_count_in(out, 0, count);
}

void pa_out_count_in(struct pa_output *out, uint32_t width, uint64_t count)
{
    char digits[24], text[32];
    int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
    size_t length = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[length++] = ',';
        text[length++] = digits[i];
    }
    pa_out_indent(out, width > length ? width - (uint32_t)length : 0);
    put(out, PA_STYLE_PLAIN, text, length);
}

void pa_out_counted(struct pa_output *out, uint64_t count, const char *one, const char *many)
{
    pa_out_count(out, count);
    pa_out(out, PA_STYLE_PLAIN, " ");
    pa_out(out, PA_STYLE_PLAIN, count == 1 ? one : many);
}

/* By hand: in the document of a million tasks printf() took a third of the time, most of it for these. */
void pa_out_hex(struct pa_output *out, enum pa_style style, uint64_t value)
{
    char text[18];
    uint32_t at = sizeof(text);
    do {
        text[--at] = "0123456789abcdef"[value & 0xf];
        value >>= 4;
    } while (value != 0);
    text[--at] = 'x';
    text[--at] = '0';
    put(out, style, text + at, sizeof(text) - at);
}

void pa_out_address(struct pa_output *out, uint64_t address)
{
    pa_out_hex(out, PA_STYLE_ADDRESS, address);
}

uint32_t pa_utf8_decode(const char *text, size_t length, uint32_t *c)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t need = bytes[0] >= 0xf0 ? 3 : bytes[0] >= 0xe0 ? 2 : bytes[0] >= 0xc0 ? 1 : 0;
    static const unsigned char lead_mask[] = {0x7f, 0x1f, 0x0f, 0x07};
    static const uint32_t shortest[] = {0, 0x80, 0x800, 0x10000}; /* what fits into fewer bytes is no UTF-8 */
    *c = bytes[0];
    if (bytes[0] < 0x80 || need == 0 || need >= length)
        return 1;
    uint32_t value = bytes[0] & lead_mask[need];
    for (uint32_t i = 1; i <= need; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (bytes[i] & 0x3f);
    }
    if (value < shortest[need] || value > 0x10ffff)
        return 1;
    *c = value;
    return need + 1;
}

bool pa_is_printable(uint32_t c)
{
    if (c < 0x80)
        return c >= 0x20 && c != 0x7f;
    size_t low = 0, high = sizeof(unprintable) / sizeof(*unprintable);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (unprintable[middle].last < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low == sizeof(unprintable) / sizeof(*unprintable) || c < unprintable[low].first;
}

uint32_t pa_escape(uint32_t c, char out[PA_ESCAPED_BYTES])
{
    if (c == '\n' || c == '\r' || c == '\t')
        c = c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
    else if (c >= 0x80 || !pa_is_printable(c))
        return (uint32_t)snprintf(out, PA_ESCAPED_BYTES, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    out[0] = '\\';
    out[1] = (char)c;
    return 2;
}

/* Escape as repr() does. @p quote is escaped too; 0: none is. */
static void escape(struct pa_output *out, enum pa_style style, const char *text, size_t length, char quote)
{
    size_t run = 0; /* begin of what needs no escape */
    for (size_t i = 0; i < length;) {
        uint32_t c, taken = pa_utf8_decode(text + i, length - i, &c);
        bool raw_byte = taken == 1 && c >= 0x80; /* no UTF-8: shown as the byte it is */
        if (!raw_byte && pa_is_printable(c) && (quote == 0 || (c != (uint32_t)quote && c != '\\'))) {
            i += taken;
            continue;
        }
        put(out, style, text + run, i - run);
        i += taken;
        run = i;
        char escaped[PA_ESCAPED_BYTES];
        put(out, style, escaped, pa_escape(c, escaped));
    }
    put(out, style, text + run, length - run);
}

void pa_out_target(struct pa_output *out, enum pa_style style, const char *text, size_t length)
{
    escape(out, style, text, length, 0);
}

void pa_out_repr(struct pa_output *out, enum pa_style style, const char *text, size_t length)
{
    /* Python prefers single quotes, and takes double ones for a text with single quotes and no double ones. */
    char quote = memchr(text, '\'', length) && !memchr(text, '"', length) ? '"' : '\'';
    put(out, style, &quote, 1);
    escape(out, style, text, length, quote);
    put(out, style, &quote, 1);
}

void pa_out_json(struct pa_output *out, const char *text, size_t length)
{
    size_t run = 0;
    pa_out(out, PA_STYLE_PLAIN, "\"");
    for (size_t i = 0; i < length;) {
        uint32_t c, taken = pa_utf8_decode(text + i, length - i, &c);
        bool raw_byte = taken == 1 && c >= 0x80;
        if (!raw_byte && c != '"' && c != '\\' && pa_is_printable(c)) {
            i += taken;
            continue;
        }
        put(out, PA_STYLE_PLAIN, text + run, i - run);
        i += taken;
        run = i;
        if (c == '"' || c == '\\')
            pa_out_format(out, PA_STYLE_PLAIN, "\\%c", (char)c);
        else if (c < 0x10000)
            pa_out_format(out, PA_STYLE_PLAIN, "\\u%04x", c);
        else
            pa_out_format(out, PA_STYLE_PLAIN, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
    }
    put(out, PA_STYLE_PLAIN, text + run, length - run);
    pa_out(out, PA_STYLE_PLAIN, "\"");
}
