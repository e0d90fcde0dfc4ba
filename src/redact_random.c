/* Random strings among words. See redact.h. */
#include "redact.h"

#include "ascii.h"

/* The shortest piece between separators that a random string has. */
#define SHORTEST_PIECE 8u

/*
 * Pairs of neighbouring letters that make up 93% of those in the identifiers of Python's standard library, a bit for each second letter.
 * A third of all pairs is among them, so random letters fail two times in three.
 */
static const uint32_t common_pairs[26] = {20888910, 18237713, 1723797,  1329433, 15710333, 1198385, 401808,   540945,  45021311,
                                          0,        272,      18630937, 1364243, 3957117,  8322159, 18794769, 1048576, 18772317,
                                          18663829, 18794901, 964919,   273,     147729,   557076,  819200,   16};

static bool is_common_pair(char a, char b)
{
    return common_pairs[lower(a) - 'a'] >> (lower(b) - 'a') & 1;
}

/* Length of the UUID at @p from, or 0: it names a request or an object, and is no secret. */
static uint32_t uuid_at(const char *text, uint32_t from, uint32_t to)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    uint32_t length = sizeof(form) - 1;
    if (to - from < length || (to - from > length && is_alnum(text[from + length])))
        return 0;
    for (uint32_t i = 0; i < length; i++) {
        char c = lower(text[from + i]);
        if (form[i] == '-' ? c != '-' : !(is_digit(c) || (c >= 'a' && c <= 'f')))
            return 0;
    }
    return length;
}

/* 256 times the logarithm to base 2, by squaring: a bit of the result each time that the square passes 2. */
static uint64_t log2_of(uint32_t value)
{
    uint64_t result = 0, x = value;
    while (x >> (result + 1))
        result++;
    x = x << 31 >> result; /* 1.0 … 2.0, 31 bits behind the point */
    for (int bit = 0; bit < 8; bit++) {
        x = x * x >> 31;
        result <<= 1;
        if (x >> 32) {
            x >>= 1;
            result |= 1;
        }
    }
    return result;
}

/* Whether the characters of a text of @p total have an entropy of at least 3 bits: 8 different ones, equally often. */
static bool is_entropic(const uint32_t *counts, uint32_t total)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < 128; c++) {
        if (counts[c] > 0)
            sum += counts[c] * log2_of(counts[c]);
    }
    return sum + (uint64_t)total * 3 * 256 <= total * log2_of(total);
}

/* Whether a text does not read as words, numbers and UUIDs: see the tests for what each bound tells apart. */
bool pa_is_random(const char *text, uint32_t length)
{
    uint32_t counts[128] = {0};
    uint32_t total = 0, piece = 0, longest = 0, odd = 0, common = 0;
    bool lowers = false, uppers = false, digits = false;
    for (uint32_t i = 0; i < length; i++) {
        bool begins = i == 0 || !is_alnum(text[i - 1]);
        uint32_t uuid = begins ? uuid_at(text, i, length) : 0;
        if (uuid) {
            i += uuid - 1;
            continue;
        }
        char c = text[i];
        counts[(unsigned char)c & 127]++;
        total++;
        lowers |= is_lower(c);
        uppers |= is_upper(c);
        digits |= is_digit(c);
        piece = !is_alnum(c) ? 0 : begins ? 1 : piece + 1;
        longest = piece > longest ? piece : longest;
        if (begins || !is_alnum(c))
            continue;
        char before = text[i - 1];
        if (is_letter(before) != is_letter(c))
            odd++;
        else if (is_letter(c) && !(is_lower(before) && is_upper(c))) /* "fooBar" is two words */
            is_common_pair(before, c) ? common++ : odd++;
    }
    return total >= PA_SHORTEST_RANDOM && longest >= SHORTEST_PIECE && lowers + uppers + digits >= 2 && odd * 4 > common * 3 &&
           odd * 5 >= total && is_entropic(counts, total);
}
