/* Hiding secrets. See redact.h. */
#include "redact.h"

#include "ascii.h"

#define HIDDEN        "<redacted>"
#define HIDDEN_LENGTH 10u

struct redaction {
    const char *text;
    uint32_t length;
    char *out;
    uint32_t capacity, written;
    bool full; /* the room has ended: nothing more is written */
};

/* A part of the text: [from, to). */
struct span {
    uint32_t from, to;
};

/* What names, paths, Base64, hex and JWT are made of. */
static bool is_run(char c)
{
    return is_alnum(c) || (c != '\0' && strchr("_-./+%~", c));
}

static char at(const struct redaction *r, uint32_t i)
{
    return i < r->length ? r->text[i] : '\0';
}

static bool starts(const struct redaction *r, uint32_t i, const char *what)
{
    size_t length = strlen(what);
    return i <= r->length && length <= r->length - i && memcmp(r->text + i, what, length) == 0;
}

static void put(struct redaction *r, const char *bytes, uint32_t length)
{
    uint32_t part = length;
    if (r->full)
        return;
    if (part > r->capacity - r->written) {
        part = r->capacity - r->written;
        while (part > 0 && ((unsigned char)bytes[part] & 0xc0) == 0x80)
            part--;
        r->full = true;
    }
    memcpy(r->out + r->written, bytes, part);
    r->written += part;
}

static void keep(struct redaction *r, uint32_t from, uint32_t to)
{
    put(r, r->text + from, to - from);
}

static void hide(struct redaction *r)
{
    put(r, HIDDEN, HIDDEN_LENGTH);
}

static bool is_jwt(const char *text, struct span span)
{
    /* The header is JSON: {" is eyJ in Base64. An encrypted one has five parts, one without signature an empty third. */
    uint32_t dots = 0;
    for (uint32_t i = span.from; i < span.to; i++)
        dots += text[i] == '.';
    return dots >= 2 && span.to - span.from >= PA_SHORTEST_RANDOM && memcmp(text + span.from, "eyJ", 3) == 0;
}

/* Keep a run of characters, less what is random in it: all of it, else a part between slashes, else a piece of letters and digits. */
static void keep_run(struct redaction *r, struct span run, int level)
{
    if (run.to - run.from >= PA_SHORTEST_RANDOM && (is_jwt(r->text, run) || pa_is_random(r->text + run.from, run.to - run.from))) {
        hide(r);
        return;
    }
    if (run.to - run.from < PA_SHORTEST_RANDOM || level == 3) {
        keep(r, run.from, run.to);
        return;
    }
    struct span part = {run.from, run.from};
    while (part.to < run.to) {
        char c = r->text[part.to];
        if (level == 0 ? c != '/' : level == 1 ? c != '/' && c != '.' : is_alnum(c)) {
            part.to++;
            continue;
        }
        keep_run(r, part, level + 1);
        keep(r, part.to, part.to + 1);
        part.from = ++part.to;
    }
    keep_run(r, part, level + 1);
}

/* ---- values ---- */

/* A quote as it stands in the text: '"' in plain text, '\"' in a string within a string. */
struct quote {
    char mark;
    uint32_t slashes;
};

/* @return Where the quote ends; @p from if there is none. */
static uint32_t read_quote(const struct redaction *r, uint32_t from, struct quote *quote)
{
    uint32_t i = from;
    while (at(r, i) == '\\')
        i++;
    *quote = (struct quote){at(r, i), i - from};
    return is_quote(quote->mark) ? i + 1 : from;
}

/* Where the closing quote begins, with its backslashes; the end of the text if it was cut. */
static uint32_t find_quote(const struct redaction *r, uint32_t from, struct quote quote)
{
    uint32_t slashes = 0;
    for (uint32_t i = from; i < r->length; i++) {
        bool closes = quote.slashes ? slashes <= quote.slashes : slashes % 2 == 0;
        if (r->text[i] == quote.mark && closes)
            return i - (quote.slashes ? slashes : 0);
        slashes = r->text[i] == '\\' ? slashes + 1 : 0;
    }
    return r->length;
}

static uint32_t skip_blanks(const struct redaction *r, uint32_t i)
{
    while (at(r, i) == ' ' || at(r, i) == '\t')
        i++;
    return i;
}

/* Behind the bracket that closes the one at @p from; strings may hold brackets. */
static uint32_t bracket_end(const struct redaction *r, uint32_t from)
{
    uint32_t depth = 0;
    for (uint32_t i = from; i < r->length; i++) {
        char c = r->text[i];
        if (is_quote(c)) {
            i = find_quote(r, i + 1, (struct quote){c, 0});
        } else if (c == '(' || c == '[' || c == '{') {
            depth++;
        } else if ((c == ')' || c == ']' || c == '}') && --depth == 0) {
            return i + 1;
        }
    }
    return r->length;
}

/* Whether "name=" or "name:" begins here: what stands before is then a value's end. */
static bool is_next_name(const struct redaction *r, uint32_t i)
{
    uint32_t from = i = skip_blanks(r, i);
    while (is_alnum(at(r, i)) || at(r, i) == '_' || at(r, i) == '-')
        i++;
    return i > from && (at(r, i) == '=' || at(r, i) == ':');
}

/* The end of a value without quotes: passwords may hold separators, so these end it only where something else follows. */
static uint32_t word_end(const struct redaction *r, uint32_t i)
{
    for (; i < r->length && !is_blank(r->text[i]); i++) {
        char c = r->text[i];
        bool last = i + 1 >= r->length || is_blank(r->text[i + 1]);
        if ((c == ',' || c == ';' || c == '&') && (last || is_next_name(r, i + 1)))
            break;
        if (strchr(")]}>'\"", c) && (last || strchr(",;:)]}>'\"", r->text[i + 1])))
            break;
    }
    return i;
}

/* The end of a header line; in a string of bytes its end is the characters \r\n. */
static uint32_t line_end(const struct redaction *r, uint32_t i, char enclosing)
{
    for (; i < r->length; i++) {
        char c = r->text[i];
        if (c == '\n' || c == '\r' || (enclosing && c == enclosing) || (c == '\\' && (at(r, i + 1) == 'r' || at(r, i + 1) == 'n')))
            break;
    }
    return i;
}

/* "<aiohttp.ClientSession object at 0x7f…>" tells nothing. @return Its end, or @p from. */
static uint32_t object_end(const struct redaction *r, uint32_t from)
{
    uint32_t i = from + 1;
    if (at(r, from) != '<')
        return from;
    while (is_alnum(at(r, i)) || at(r, i) == '_' || at(r, i) == '.')
        i++;
    if (!starts(r, i, " object at 0x"))
        return from;
    for (i += 13; is_alnum(at(r, i));)
        i++;
    return at(r, i) == '>' ? i + 1 : from;
}

static const char no_values[] = "none null true false undefined nil <redacted>";
static const char schemes[] = "bearer basic token digest negotiate apikey";
static const char line_words[] = "authorization cookie cookies passphrase mnemonic";

static bool is_all(const struct redaction *r, struct span span, char wanted)
{
    for (uint32_t i = span.from; i < span.to; i++) {
        if (wanted == '0' ? !is_digit(r->text[i]) : r->text[i] != wanted)
            return false;
    }
    return true;
}

/* Whether an unquoted value tells nothing: None, asterisks, a small number under an everyday word. */
static bool is_harmless(const struct redaction *r, struct span value, enum pa_telling telling)
{
    uint32_t length = value.to - value.from;
    return length == 0 || is_one_of(r->text + value.from, length, no_values) || is_all(r, value, '*') ||
           (telling == PA_WEAKLY_TELLING && length < 6 && is_all(r, value, '0'));
}

/* A name with a value that is to be hidden. */
struct named {
    struct span name;
    enum pa_telling telling;
    char enclosing; /* the quote just before the name, or 0 */
};

static bool is_line(const struct redaction *r, const struct named *named)
{
    return ends_with_one_of(r->text + named->name.from, named->name.to - named->name.from, line_words);
}

/* Hide the value at @p i. @return Where it ends. */
static uint32_t hide_value(struct redaction *r, const struct named *named, uint32_t i)
{
    struct quote quote;
    uint32_t prefix = i;
    while (prefix < i + 2 && at(r, prefix) && strchr("bBfFrRuU", at(r, prefix))) /* b'…' */
        prefix++;
    uint32_t open = read_quote(r, prefix, &quote);
    if (open == prefix && prefix > i) /* letters before no quote are the value itself */
        open = read_quote(r, prefix = i, &quote);
    if (open > prefix) {
        uint32_t end = find_quote(r, open, quote);
        struct span value = {open, end};
        keep(r, i, open);
        if (is_harmless(r, value, named->telling))
            keep(r, open, end);
        else
            hide(r);
        return end;
    }
    if (strchr("([{", at(r, i)) && at(r, i)) {
        uint32_t end = bracket_end(r, i);
        if (end - i == 2)
            keep(r, i, end);
        else
            hide(r);
        return end;
    }
    struct span value = {i, object_end(r, i)};
    if (value.to > i) {
        keep(r, i, value.to);
        return value.to;
    }
    value.to = word_end(r, i);
    if (is_line(r, named))
        value.to = line_end(r, i, named->enclosing);
    else if (is_one_of(r->text + i, value.to - i, schemes) && at(r, value.to) == ' ')
        value.to = word_end(r, skip_blanks(r, value.to));
    if (is_harmless(r, value, named->telling))
        keep(r, value.from, value.to);
    else
        hide(r);
    return value.to;
}

/* What may stand between a name and its value: = : == != := => ->, with blanks. @return Where the value begins; @p from if none. */
static uint32_t separator_end(const struct redaction *r, uint32_t from, bool quoted, enum pa_telling telling)
{
    uint32_t i = skip_blanks(r, from), begin = i;
    if (starts(r, i, "::"))
        return from;
    if (starts(r, i, "!=") || starts(r, i, "->"))
        return skip_blanks(r, i + 2);
    while (at(r, i) == '=' || at(r, i) == ':' || (at(r, i) == '>' && i > begin))
        i++;
    if (i == begin)
        return from;
    /* "session:42" and "auth:refresh" are names of things. */
    if (telling == PA_WEAKLY_TELLING && !quoted && at(r, begin) == ':' && i == begin + 1 && !is_blank(at(r, i)))
        return from;
    return skip_blanks(r, i);
}

/* Values that follow a name without = or : as in "--token V", "'--token', 'V'" and ('token', 'V'). */
static uint32_t pair_end(const struct redaction *r, const struct named *named, uint32_t after)
{
    struct span name = named->name;
    struct quote quote;
    bool option = starts(r, name.from, "--");
    uint32_t i = skip_blanks(r, after);
    if (option && !named->enclosing)
        return i > after && at(r, i) != '-' ? i : after;
    if (!named->enclosing || at(r, i) != ',')
        return after;
    uint32_t before = name.from - 1;
    while (before > 0 && (r->text[before] == '\\' || is_letter(r->text[before]) || is_quote(r->text[before])))
        before--;
    if (!option && r->text[before] != '(')
        return after;
    i = skip_blanks(r, i + 1);
    uint32_t prefix = is_letter(at(r, i)) ? i + 1 : i;
    return read_quote(r, prefix, &quote) > prefix && at(r, quote.slashes + prefix + 1) != '-' ? i : after;
}

/* A name at the end of @p run and its value. @return Where the value ends; run.to with nothing written if the name is not telling. */
static uint32_t hide_named(struct redaction *r, struct span run)
{
    struct named named = {.name = run};
    struct quote quote;
    for (uint32_t i = run.from; i < run.to; i++) {
        if (strchr("/+%~", r->text[i]))
            named.name.from = i + 1;
    }
    if (named.name.from == run.from && run.from > 0 && is_quote(r->text[run.from - 1]))
        named.enclosing = r->text[run.from - 1];
    named.telling = pa_telling_name(r->text + named.name.from, named.name.to - named.name.from);
    if (named.telling == PA_NOT_TELLING)
        return run.to;
    uint32_t after = read_quote(r, run.to, &quote);
    bool quoted = after > run.to;
    if (quoted && at(r, after) == ']')
        after++;
    uint32_t value = separator_end(r, after, quoted, named.telling);
    if (value == after)
        value = pair_end(r, &named, after);
    if (value == after)
        return run.to;
    keep_run(r, (struct span){run.from, named.name.from}, 0);
    keep(r, named.name.from, value);
    uint32_t end = hide_value(r, &named, value);
    /* "password: str = 'V'" */
    uint32_t next = skip_blanks(r, end);
    if (at(r, next) == '=' && at(r, next + 1) != '=') {
        next = skip_blanks(r, next + 1);
        keep(r, end, next);
        end = hide_value(r, &named, next);
    }
    return end;
}

/* The user-info of a URL whose "://" ends at @p from. @return Where the host begins; @p from if there is no user-info. */
static uint32_t user_info_end(const struct redaction *r, uint32_t from)
{
    uint32_t i = from, sign = from, colon = 0;
    bool port = true; /* only digits since the colon: "host:80/path@x" has no user-info, "user:a/b@host" has */
    for (; i < r->length && !is_blank(r->text[i]) && !strchr("'\"<>\\", r->text[i]); i++) {
        char c = r->text[i];
        if (c == ':' && starts(r, i, "://"))
            break;
        if (c == '@')
            sign = i;
        else if (c == ':' && !colon)
            colon = i;
        else if (strchr("/?#", c) && (!colon || port || sign > from))
            break;
        else if (colon && !is_digit(c))
            port = false;
    }
    return sign;
}

/* The end of a PEM block that begins at @p from. */
static uint32_t pem_end(const struct redaction *r, uint32_t from)
{
    for (uint32_t i = from + 5; i < r->length; i++) {
        if (!starts(r, i, "-----END"))
            continue;
        for (i += 8; i < r->length; i++) {
            if (starts(r, i, "-----"))
                return i + 5;
        }
    }
    return r->length;
}

static uint32_t find_pem(const struct redaction *r, struct span run)
{
    for (uint32_t i = run.from; i < run.to; i++) {
        if (r->text[i] == '-' && starts(r, i, "-----BEGIN "))
            return i;
    }
    return run.to;
}

/* "Bearer V" and "Basic V" anywhere. @return Where V begins, if this run is such a word; else run.to. */
static uint32_t scheme_value(const struct redaction *r, struct span run)
{
    static const char words[] = "bearer basic";
    static const char plain[] = "token tokens authentication auth authorization scheme header credentials";
    if (!is_one_of(r->text + run.from, run.to - run.from, words) || at(r, run.to) != ' ')
        return run.to;
    struct span value = {skip_blanks(r, run.to), 0};
    bool word = true; /* only lower case letters, but for the first */
    for (value.to = value.from; is_run(at(r, value.to)); value.to++) {
        char c = r->text[value.to];
        word = word && (is_lower(c) || c == '_' || value.to == value.from);
    }
    bool basic = run.to - run.from == 5, name = at(r, value.to) == '=';
    if (value.to - value.from < 8 || (word && (basic || name)) || is_one_of(r->text + value.from, value.to - value.from, plain))
        return run.to;
    return value.from;
}

/* One run of characters and, if it announces a secret, what follows. @return Where to go on. */
static uint32_t redact_run(struct redaction *r, struct span run)
{
    uint32_t pem = find_pem(r, run);
    if (pem < run.to) {
        keep_run(r, (struct span){run.from, pem}, 0);
        hide(r);
        return pem_end(r, pem);
    }
    uint32_t end = hide_named(r, run);
    if (end > run.to)
        return end;
    uint32_t value = scheme_value(r, run);
    if (value > run.to) {
        keep(r, run.from, value);
        hide(r);
        return word_end(r, value);
    }
    keep_run(r, run, 0);
    if (starts(r, run.to, "://")) {
        keep(r, run.to, run.to + 3);
        uint32_t host = user_info_end(r, run.to + 3);
        if (host > run.to + 3)
            hide(r);
        return host;
    }
    return run.to;
}

/* "Task-" and a number: the name that asyncio gives a task. There can be a million of them. */
static bool is_default_name(const char *text, uint32_t length)
{
    uint32_t i = 5;
    if (length <= i || memcmp(text, "Task-", i) != 0)
        return false;
    while (i < length && text[i] >= '0' && text[i] <= '9')
        i++;
    return i == length && length <= 5 + 10;
}

uint32_t pa_redact(const char *text, uint32_t length, char *out, uint32_t capacity)
{
    struct redaction r = {.text = text, .length = length, .out = out, .capacity = capacity};
    if (is_default_name(text, length))
        keep(&r, 0, length);
    for (uint32_t i = r.written; i < length;) {
        struct span run = {i, i};
        while (is_run(at(&r, run.to)))
            run.to++;
        if (run.to > run.from) {
            i = redact_run(&r, run);
        } else {
            for (run.to = i + 1; run.to < length && !is_run(text[run.to]);)
                run.to++;
            keep(&r, run.from, run.to);
            i = run.to;
        }
    }
    return r.written;
}
