/*
 * Characters and words of ASCII, whatever the locale.
 */
#ifndef PA_ASCII_H
#define PA_ASCII_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline bool is_letter(char c)
{
    return is_lower(c) || is_upper(c);
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_alnum(char c)
{
    return is_letter(c) || is_digit(c);
}

static inline bool is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

static inline bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

static inline char lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static inline bool same(const char *text, const char *word, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        if (lower(text[i]) != word[i])
            return false;
    }
    return true;
}

/* Whether it is one of @p words, which are lower case with a blank between them; or, with @p as_end, ends with one of them. */
static inline bool is_in(const char *words, const char *text, uint32_t length, bool as_end)
{
    while (*words) {
        uint32_t size = (uint32_t)strcspn(words, " ");
        if ((size == length || (as_end && size < length)) && same(text + length - size, words, size))
            return true;
        words += size;
        words += *words == ' ';
    }
    return false;
}

static inline bool is_one_of(const char *text, uint32_t length, const char *words)
{
    return is_in(words, text, length, false);
}

static inline bool ends_with_one_of(const char *text, uint32_t length, const char *words)
{
    return is_in(words, text, length, true);
}

#endif
