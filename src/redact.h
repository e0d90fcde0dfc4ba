/*
 * Default output is safe to paste: what looks like a secret in text of the target is replaced before it is printed.
 *
 * Two signs make a secret: the name that stands before a value (password=…, "token": "…", --api-key …), and the look of the value itself
 * (user-info of a URL, Bearer and Basic values, JWT, PEM blocks, long random strings). Words, paths, dotted names, numbers, addresses and
 * UUIDs stay. In doubt more is hidden than needed: --show-secrets shows it.
 */
#ifndef PA_REDACT_H
#define PA_REDACT_H

#include <stdbool.h>
#include <stdint.h>

/** Room in bytes that the redacted form of @p length bytes of text needs at most: the shortest "pin=1" becomes "pin=<redacted>". */
#define PA_REDACTED_BYTES(length) (3u * (length) + 16u)

/**
 * Copy text with its secrets replaced by "<redacted>".
 *
 * @param text @p length bytes of UTF-8 or WTF-8, before escaping; anything else is copied as it is.
 * @param out Room for @p capacity bytes, apart from @p text. Not NUL terminated. With less than PA_REDACTED_BYTES(length) the copy may be
 *   cut, between characters.
 * @return Bytes written. Never fails; the time is linear in @p length whatever the text.
 */
uint32_t pa_redact(const char *text, uint32_t length, char *out, uint32_t capacity);

/** Whether values under a name are secret. */
enum pa_telling {
    PA_NOT_TELLING,
    PA_WEAKLY_TELLING, /* also an everyday word: "session:42" and "key=3" stay */
    PA_TELLING,
};

/**
 * What a name tells of its value: for variables, keys and options too, whose value stands elsewhere. Known by the words in it, however
 * they are joined: "db_password", "X-Api-Key", "authToken".
 */
enum pa_telling pa_telling_name(const char *name, uint32_t length);

/** The shortest text in bytes that is taken for random. */
#define PA_SHORTEST_RANDOM 20u

/** Whether a text without blanks does not read as words, numbers and UUIDs, but as a key: Base64, hex, Base32, … */
bool pa_is_random(const char *text, uint32_t length);

#endif
