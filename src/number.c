/* Numbers as text. See number.h. */
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Decimals of a finite float, without sign and point, and the power of ten of the first one. */
struct decimals {
    char digits[20];
    int count, exponent;
};

/* The fewest decimals that round back to the value. printf() and strtod() of the C library round correctly. */
static void shortest(double value, struct decimals *decimals)
{
    char text[64];
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    /* The locale decides what stands between the digits. */
    decimals->count = 0;
    const char *at = text;
    for (; *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9' && decimals->count < 20)
            decimals->digits[decimals->count++] = *at;
    }
    decimals->exponent = atoi(at + 1);
    while (decimals->count > 1 && decimals->digits[decimals->count - 1] == '0')
        decimals->count--;
}

uint32_t pa_float_repr(double value, int point, char text[PA_FLOAT_BYTES])
{
    struct decimals decimals = {{0}, 0, 0};
    char *out = text;
    if (isnan(value))
        return (uint32_t)snprintf(text, PA_FLOAT_BYTES, "nan");
    if (signbit(value))
        *out++ = '-';
    value = fabs(value);
    if (isinf(value))
        return (uint32_t)(out - text) + (uint32_t)snprintf(out, 8, "inf");
    shortest(value, &decimals);
    /* Python/pystrtod.c, format_float_short() with 'r': an exponent below 1e-4 and from 1e16 on */
    if (decimals.exponent < -4 || decimals.exponent >= 16) {
        *out++ = decimals.digits[0];
        if (decimals.count > 1)
            *out++ = '.';
        memcpy(out, decimals.digits + 1, (size_t)decimals.count - 1);
        out += decimals.count - 1;
        out += snprintf(out, 8, "e%+03d", decimals.exponent);
        return (uint32_t)(out - text);
    }
    if (decimals.exponent < 0) {
        out += sprintf(out, "0.");
        for (int i = decimals.exponent + 1; i < 0; i++)
            *out++ = '0';
    }
    for (int i = 0; i < decimals.count || i <= decimals.exponent; i++) {
        if (i == decimals.exponent + 1 && i > 0)
            *out++ = '.';
        *out++ = i < decimals.count ? decimals.digits[i] : '0';
    }
    if (point && decimals.exponent >= 0 && decimals.count <= decimals.exponent + 1)
        out += sprintf(out, ".0");
    return (uint32_t)(out - text);
}

uint32_t pa_int_repr(uint32_t *digits, uint32_t count, int negative, char text[PA_INT_BYTES])
{
    char reversed[PA_INT_BYTES] = "";
    uint32_t length = 0, out = 0;
    do {
        /* Divide by 10^9: nine decimals at a time, lowest first. */
        uint64_t rest = 0;
        for (uint32_t i = count; i > 0; i--) {
            rest = rest << 30 | digits[i - 1];
            digits[i - 1] = (uint32_t)(rest / 1000000000u);
            rest %= 1000000000u;
        }
        while (count > 0 && digits[count - 1] == 0)
            count--;
        for (int i = 0; i < 9 && (count > 0 || rest > 0 || length == 0); i++) {
            reversed[length++] = (char)('0' + rest % 10);
            rest /= 10;
        }
    } while (count > 0);
    if (negative)
        text[out++] = '-';
    while (length > 0)
        text[out++] = reversed[--length];
    return out;
}

/* The decimals of @p left, at least so many of them behind a point, written backwards from @p at. @return where they begin. */
static char *put_backwards(char *at, uint64_t left, int behind_point, int group)
{
    for (int i = 0; i <= behind_point || left > 0; i++) {
        if (i == behind_point && i > 0)
            *--at = '.';
        if (group && i > behind_point && (i - behind_point) % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + left % 10);
        left /= 10;
    }
    return at;
}

uint32_t pa_seconds_repr(double seconds, char text[PA_FLOAT_BYTES])
{
    char reversed[PA_FLOAT_BYTES], *end = reversed + sizeof(reversed), *at = end;
    if (!isfinite(seconds) || fabs(seconds) >= 1e12)
        return (uint32_t)sprintf(text, "null");
    uint64_t microseconds = (uint64_t)(fabs(seconds) * 1e6 + 0.5);
    at = put_backwards(at, microseconds, 6, 0);
    if (seconds < 0 && microseconds > 0)
        *--at = '-';
    memcpy(text, at, (size_t)(end - at));
    text[end - at] = '\0';
    return (uint32_t)(end - at);
}

uint32_t pa_seconds_text(double seconds, char text[PA_FLOAT_BYTES])
{
    char reversed[PA_FLOAT_BYTES], *end = reversed + sizeof(reversed), *at = end;
    seconds = fabs(seconds);
    if (!(seconds < 1e12))
        return (uint32_t)sprintf(text, "more than 1,000,000,000,000 s");
    const char *unit = seconds < 0.0995 ? " ms" : " s";
    size_t length = strlen(unit) + 1;
    at -= length;
    memcpy(at, unit, length);
    at = seconds < 0.0995  ? put_backwards(at, (uint64_t)(seconds * 1e3 + 0.5), 0, 0)
         : seconds < 99.95 ? put_backwards(at, (uint64_t)(seconds * 10 + 0.5), 1, 0)
                           : put_backwards(at, (uint64_t)(seconds + 0.5), 0, 1);
    memcpy(text, at, (size_t)(end - at));
    return (uint32_t)(end - at) - 1;
}
