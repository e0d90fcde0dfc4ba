/* Text into a value: bounded, escaped, without secrets. See value.h. */
#include "value_parts.h"

#include "ascii.h"
#include "output.h"

#include <stdarg.h>
#include <stdio.h>

static const char ellipsis[] = "\xe2\x80\xa6";

/* So much of what was read is never shown: a secret that was cut there does not look like one. */
#define SHADOW 256u

static uint64_t text_limit(const struct pa_values *values)
{
    return values->limits.length < PA_MAX_STRING - SHADOW ? values->limits.length : PA_MAX_STRING - SHADOW;
}

static void put_bytes_of(struct pa_values *values, const char *text, size_t length)
{
    if (values->full)
        return;
    if (length > values->total - values->written) {
        values->full = values->truncated = true;
        memcpy(values->text + values->written, ellipsis, 3);
        values->written += 3;
        return;
    }
    memcpy(values->text + values->written, text, length);
    values->written += (uint32_t)length;
}

void put(struct pa_values *values, const char *text)
{
    put_bytes_of(values, text, strlen(text));
}

void put_format(struct pa_values *values, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    put(values, text);
}

void put_more(struct pa_values *values, uint64_t count)
{
    values->truncated = true;
    put(values, ellipsis);
    if (count > 0)
        put_format(values, " %llu more", (unsigned long long)count);
}

void put_hidden(struct pa_values *values)
{
    values->hidden = true;
    put(values, "<redacted>");
}

uint64_t put_escaped(struct pa_values *values, const char *text, uint32_t length, char quote, uint64_t limit)
{
    uint64_t count = 0, left = 0;
    for (uint32_t i = 0; i < length; count++) {
        char escaped[PA_ESCAPED_BYTES];
        uint32_t c, taken = pa_utf8_decode(text + i, length - i, &c);
        bool raw_byte = taken == 1 && c >= 0x80;
        if (count >= limit || values->full)
            left++;
        else if (!raw_byte && pa_is_printable(c) && (quote == 0 || (c != (uint32_t)quote && c != '\\')))
            put_bytes_of(values, text + i, taken);
        else
            put_bytes_of(values, escaped, pa_escape(c, escaped));
        i += taken;
    }
    return left;
}

/* Whether a text is "user:password@host", as a netloc is, though no URL. @return Where the host begins, else 0. */
static uint32_t bare_user_info(const char *text, uint32_t length)
{
    const char *colon = memchr(text, ':', length), *sign = memrchr(text, '@', length);
    if (!colon || !sign || sign < colon + 2 || colon == text || memmem(text, length, "://", 3))
        return 0;
    for (uint32_t i = 0; i < length; i++) {
        if (is_blank(text[i]))
            return 0;
    }
    return (uint32_t)(sign - text);
}

/* A short word can be no secret: it holds no name with a value, and random text is longer. */
static bool is_short_word(const char *text, uint32_t length)
{
    if (length >= PA_SHORTEST_RANDOM)
        return false;
    for (uint32_t i = 0; i < length; i++) {
        if (!is_alnum(text[i]) && text[i] != '_' && text[i] != '.')
            return false;
    }
    return true;
}

/* values->raw without its secrets. @return the text; its length in @p length. */
static const char *safe_text(struct pa_values *values, uint32_t *length)
{
    if (values->limits.secrets || is_short_word(values->raw, *length))
        return values->raw;
    uint32_t host = bare_user_info(values->raw, *length);
    if (host > 0) {
        values->hidden = true;
        memcpy(values->safe, "<redacted>", 10);
        memcpy(values->safe + 10, values->raw + host, *length - host);
        *length = *length - host + 10;
        return values->safe;
    }
    uint32_t safe = pa_redact(values->raw, *length, values->safe, sizeof(values->safe));
    if (safe != *length || memcmp(values->safe, values->raw, safe) != 0)
        values->hidden = true;
    *length = safe;
    return values->safe;
}

/* Python prefers single quotes, and takes double ones for a text with single quotes and no double ones. */
static char quote_for(const char *text, uint32_t length)
{
    return memchr(text, '\'', length) && !memchr(text, '"', length) ? '"' : '\'';
}

/* values->raw in quotes. @p left: characters of the object beyond it. */
static void put_quoted(struct pa_values *values, uint32_t length, uint64_t left)
{
    const char *text = safe_text(values, &length);
    char quote[2] = {quote_for(text, length), '\0'};
    put(values, quote);
    left += put_escaped(values, text, length, *quote, text_limit(values));
    put(values, quote);
    if (left > 0 && !values->full)
        put_more(values, left);
}

void put_str(struct pa_values *values, uint64_t object)
{
    uint32_t length;
    uint64_t left;
    if (pa_str_read_some(values->objects, object, PA_MAX_STRING, values->raw, &length, &left))
        put_quoted(values, length, left);
    else
        put_opaque(values, object, ">");
}

bool put_identifier(struct pa_values *values, uint64_t object)
{
    uint32_t length;
    uint64_t left;
    if (!pa_str_read_some(values->objects, object, PA_MAX_STRING, values->raw, &length, &left))
        return false;
    left += put_escaped(values, values->raw, length, 0, PA_MAX_STRING);
    if (left > 0 && !values->full)
        put_more(values, left);
    return true;
}

bool put_str_plain(struct pa_values *values, uint64_t object)
{
    uint32_t length;
    uint64_t left;
    if (!pa_str_read_some(values->objects, object, PA_MAX_STRING, values->raw, &length, &left))
        return false;
    const char *text = safe_text(values, &length);
    left += put_escaped(values, text, length, 0, text_limit(values));
    if (left > 0 && !values->full)
        put_more(values, left);
    return true;
}

/* Bytes: everything that is not ASCII is an escape. */
static uint64_t put_escaped_bytes(struct pa_values *values, const char *text, uint32_t length, char quote)
{
    uint32_t i = 0;
    for (; i < length && i < text_limit(values) && !values->full; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == (unsigned char)quote || c == '\\')
            put_format(values, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t')
            put(values, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (c < 0x20 || c >= 0x7f)
            put_format(values, "\\x%02x", c);
        else
            put_bytes_of(values, text + i, 1);
    }
    return length - i;
}

/* Objects/bytesobject.c; Objects/bytearrayobject.c: ob_start is where the bytes begin. */
void put_bytes(struct pa_values *values, uint64_t object, bool is_bytearray)
{
    struct pa_objects *objects = values->objects;
    uint64_t count, data = object + PA_OFFSET(objects->layout, bytes_data);
    uint32_t field = is_bytearray ? PA_OFFSET(objects->layout, bytearray_length) : PA_OFFSET(objects->layout, bytes_length);
    bool read = pa_memory_u64(objects->memory, object + field, &count) &&
                (!is_bytearray || pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, bytearray_start), &data));
    uint32_t length = count < PA_MAX_STRING ? (uint32_t)count : PA_MAX_STRING;
    if (!read || count > INT64_MAX || !pa_memory_read(objects->memory, data, length, values->raw)) {
        put_opaque(values, object, ">");
        return;
    }
    uint64_t left = count - length;
    const char *text = safe_text(values, &length);
    char quote[2] = {quote_for(text, length), '\0'};
    put(values, is_bytearray ? "bytearray(b" : "b");
    put(values, quote);
    left += put_escaped_bytes(values, text, length, *quote);
    put(values, quote);
    if (left > 0 && !values->full)
        put_more(values, left);
    if (is_bytearray)
        put(values, ")");
}

void put_name(struct pa_values *values, const char *text, uint32_t length)
{
    if (length > sizeof(values->raw))
        length = sizeof(values->raw);
    if (text != values->raw)
        memcpy(values->raw, text, length);
    const char *safe = safe_text(values, &length);
    put_escaped(values, safe, length, 0, PA_MAX_STRING);
}
