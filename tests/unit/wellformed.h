/* What every output must be: UTF-8 without a byte that a terminal acts on, and JSON that parses. For the unit tests and the fuzzer. */
#ifndef WELLFORMED_H
#define WELLFORMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The offset of the first byte that must not be in the output; @p length if there is none. */
static inline size_t first_bad_byte(const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0; i < length;) {
        uint32_t c = bytes[i], more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
        static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
        if ((c < ' ' && c != '\n') || c == 0x7f || (c >= 0x80 && c < 0xc0) || c > 0xf7 || more >= length - i)
            return i;
        c = more ? c & (0x3fu >> more) : c;
        for (uint32_t k = 1; k <= more; k++) {
            if ((bytes[i + k] & 0xc0) != 0x80)
                return i;
            c = c << 6 | (bytes[i + k] & 0x3f);
        }
        bool control = c >= 0x80 && c < 0xa0, surrogate = c >= 0xd800 && c < 0xe000;
        bool bidi = (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
        if (c < least[more] || c > 0x10ffff || control || surrogate || bidi)
            return i;
        i += more + 1;
    }
    return length;
}

/* The end of a JSON string that begins at @p at; 0 if it is none. */
static inline size_t json_string_end(const char *text, size_t length, size_t at)
{
    if (at >= length || text[at] != '"')
        return 0;
    for (size_t i = at + 1; i < length; i++) {
        if (text[i] == '"')
            return i + 1;
        if ((unsigned char)text[i] < ' ')
            return 0;
        if (text[i] != '\\')
            continue;
        i++;
        if (i >= length || !strchr("\"\\/bfnrtu", text[i]))
            return 0;
        for (size_t k = 1; text[i] == 'u' && k <= 4; k++) {
            if (i + k >= length || !strchr("0123456789abcdefABCDEF", text[i + k]) || text[i + k] == '\0')
                return 0;
        }
    }
    return 0;
}

/* The end of a JSON number or word; 0 if it is none. */
static inline size_t json_word_end(const char *text, size_t length, size_t at)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        if (strlen(words[i]) <= length - at && memcmp(text + at, words[i], strlen(words[i])) == 0)
            return at + strlen(words[i]);
    }
    size_t end = at + (text[at] == '-'), digits = end;
    while (end < length && text[end] >= '0' && text[end] <= '9')
        end++;
    if (end == digits || (text[digits] == '0' && end > digits + 1))
        return 0;
    if (end < length && text[end] == '.') {
        digits = ++end;
        while (end < length && text[end] >= '0' && text[end] <= '9')
            end++;
        if (end == digits)
            return 0;
    }
    return end;
}

static inline size_t json_skip(const char *text, size_t length, size_t at)
{
    while (at < length && (text[at] == ' ' || text[at] == '\n'))
        at++;
    return at;
}

/** Whether the text is one JSON document. The open brackets are kept, so nothing recurses. */
static inline bool is_json(const char *text, size_t length)
{
    char open[64];
    size_t depth = 0, at = json_skip(text, length, 0);
    bool value = true; /* a value is to come, else a comma or a bracket that closes */
    while (at < length) {
        char c = text[at];
        bool object = depth > 0 && open[depth - 1] == '{';
        if (value && (c == '{' || c == '[')) {
            if (depth == sizeof(open))
                return false;
            open[depth++] = c;
            at = json_skip(text, length, at + 1);
            if (at < length && text[at] == (c == '{' ? '}' : ']')) {
                value = false;
                continue;
            }
        } else if (value) {
            at = c == '"' ? json_string_end(text, length, at) : json_word_end(text, length, at);
            if (at == 0)
                return false;
            value = false;
            at = json_skip(text, length, at);
            continue;
        } else if (depth > 0 && c == (object ? '}' : ']')) {
            depth--;
            at = json_skip(text, length, at + 1);
            continue;
        } else if (depth > 0 && c == ',') {
            value = true;
            at = json_skip(text, length, at + 1);
        } else {
            return false;
        }
        /* Behind "{" or a comma in an object: a name and a colon. */
        if (depth > 0 && open[depth - 1] == '{') {
            at = json_string_end(text, length, at);
            if (at == 0)
                return false;
            at = json_skip(text, length, at);
            if (at >= length || text[at] != ':')
                return false;
            at = json_skip(text, length, at + 1);
        }
    }
    return depth == 0 && !value;
}

#endif
