/* Names that tell of a secret. See redact.h. */
#include "redact.h"

#include "ascii.h"

/* Words whose values are secret; also as the end of words written together: "authtoken", "PHPSESSID". */
static const char strong_words[] =
    "password passwords passwd passwort pwd passphrase passcode mnemonic secret secrets token tokens apikey apikeys "
    "secretkey accesskey privatekey accountkey authorization cookie cookies sessionid sessid credential credentials";
static const char strong_alone[] = "pin otp totp jwt bearer csrf xsrf creds sid";
static const char weak_words[] = "session auth key keys private pass";

/* "api_key" is as telling as "password"; "primary_key" is not telling at all. */
static const char secret_keys[] =
    "api access secret private signing encryption account shared ssh rsa master service client admin deploy license";
static const char plain_keys[] =
    "primary foreign sort cache partition routing dict public row lookup group index unique object redis map hot range "
    "hash cursor natural column storage bucket message event shard item search config order dedup composite idempotency";

/* Last words of names that speak of a secret and do not hold it: "token_expired", "password_field", "SessionError". */
static const char about_words[] =
    "error exception timeout ttl expires expiry expired type url uri host port user username name names file path dir "
    "field policy length len size count min max limit age manager handler provider service factory store class func method "
    "middleware backend server client pool lock event task loop queue index version status state required enabled valid "
    "invalid missing failed endpoint refresher worker maker";

/* A part of the name: [from, to). */
struct span {
    uint32_t from, to;
};

/* The next word of a name: words are joined by anything that is no letter, by a change to upper case, and by digits. */
static bool next_word(const char *name, uint32_t length, struct span *word)
{
    uint32_t i = word->to;
    while (i < length && !is_letter(name[i]))
        i++;
    word->from = i;
    for (; i < length && is_letter(name[i]); i++) {
        bool begins = is_upper(name[i]) && i > word->from && (is_lower(name[i - 1]) || (i + 1 < length && is_lower(name[i + 1])));
        if (begins)
            break;
    }
    word->to = i;
    return word->to > word->from;
}

enum pa_telling pa_telling_name(const char *name, uint32_t length)
{
    enum pa_telling strength = PA_NOT_TELLING;
    struct span word = {0, 0}, previous = {0, 0};
    while (next_word(name, length, &word)) {
        const char *text = name + word.from, *before = name + previous.from;
        uint32_t size = word.to - word.from, before_size = previous.to - previous.from;
        bool key = is_one_of(text, size, "key keys");
        if (ends_with_one_of(text, size, strong_words) || is_one_of(text, size, strong_alone) ||
            (key && is_one_of(before, before_size, secret_keys)))
            strength = PA_TELLING;
        else if (is_one_of(text, size, weak_words) && !(key && is_one_of(before, before_size, plain_keys)) &&
                 strength == PA_NOT_TELLING)
            strength = PA_WEAKLY_TELLING;
        previous = word;
    }
    return is_one_of(name + previous.from, previous.to - previous.from, about_words) ? PA_NOT_TELLING : strength;
}
