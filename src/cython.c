/* Coroutines compiled by Cython. See cython.h. */
#include "cython.h"

#include <stdio.h>

#define PREFIX "_cython_"

/* The words around gi_name that are looked at, and where it may stand behind the object header: 56 bytes in 3.0 and 3.2, 64 in 3.1. */
enum { BEFORE_AM_SEND, BEFORE_NAME, NAME, QUALNAME, MODULE_NAME, CODE, FRAME, STATE, WORDS };
#define FIRST_PLACE 40u
#define LAST_PLACE  96u

/* resume_label counts the yields of one function. */
#define MAX_RESUME_LABEL (1 << 20)

static const struct {
    const char *name;
    enum pa_kind kind;
} types[] = {
    {".coroutine", PA_KIND_CYTHON_GEN},
    {".iterable_coroutine", PA_KIND_CYTHON_GEN},
    {".generator", PA_KIND_CYTHON_GEN},
    {".async_generator", PA_KIND_CYTHON_GEN},
    /* As in CPython, what they wrap is their first field. */
    {".coroutine_wrapper", PA_KIND_COROUTINE_WRAPPER},
    {".async_generator_asend", PA_KIND_ASYNC_GEN_ASEND},
    {".async_generator_athrow", PA_KIND_ASYNC_GEN_ATHROW},
};

enum pa_kind pa_cython_kind(const char *type_name, uint32_t length)
{
    size_t prefix = strlen(PREFIX);
    if (length <= prefix || memcmp(type_name, PREFIX, prefix) != 0)
        return PA_KIND_OTHER;
    const char *dot = memchr(type_name, '.', length);
    size_t rest = dot ? (size_t)(type_name + length - dot) : 0;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (dot && rest == strlen(types[i].name) && memcmp(dot, types[i].name, rest) == 0)
            return types[i].kind;
    }
    return PA_KIND_OTHER;
}

/* Cython 3.1 put yieldfrom_am_send between yieldfrom and gi_name. */
static bool has_am_send(struct pa_objects *objects, uint64_t address)
{
    char name[64];
    unsigned major = 0, minor = 0;
    uint32_t type = pa_type_of(objects, address);
    struct pa_text text = type == PA_NONE ? pa_no_text : objects->types.items[type].name;
    uint32_t length = text.length < sizeof(name) ? text.length : sizeof(name) - 1;
    memcpy(name, pa_arena_text(&objects->text, text), length);
    name[length] = '\0';
    return sscanf(name, PREFIX "%3u_%3u", &major, &minor) == 2 && (major > 3 || (major == 3 && minor >= 1));
}

static bool is_structure(struct pa_objects *objects, const uint8_t *words)
{
    int32_t resume_label = (int32_t)pa_get_u32(words, 8 * STATE);
    uint8_t is_running = words[8 * STATE + 4];
    return pa_kind_of(objects, pa_get_u64(words, 8 * NAME)) == PA_KIND_STR &&
           pa_kind_of(objects, pa_get_u64(words, 8 * QUALNAME)) == PA_KIND_STR &&
           pa_kind_of(objects, pa_get_u64(words, 8 * MODULE_NAME)) == PA_KIND_STR &&
           pa_kind_of(objects, pa_get_u64(words, 8 * CODE)) == PA_KIND_CODE && resume_label >= -1 &&
           resume_label <= MAX_RESUME_LABEL && is_running <= 1;
}

bool pa_cython_gen_read(struct pa_objects *objects, uint64_t address, struct pa_cython_gen *gen)
{
    uint8_t words[8 * WORDS];
    uint64_t first = address + PA_OFFSET(objects->layout, object_size);
    for (uint32_t place = FIRST_PLACE; place <= LAST_PLACE; place += 8) {
        if (!pa_memory_read(objects->memory, first + place - 8 * NAME, sizeof(words), words))
            return false;
        if (!is_structure(objects, words))
            continue;
        int32_t resume_label = (int32_t)pa_get_u32(words, 8 * STATE);
        *gen = (struct pa_cython_gen){
            .awaited = pa_get_u64(words, 8 * (has_am_send(objects, address) ? BEFORE_AM_SEND : BEFORE_NAME)),
            .qualname = pa_get_u64(words, 8 * QUALNAME),
            .code = pa_get_u64(words, 8 * CODE),
            .started = resume_label != 0,
            .ended = resume_label == -1,
            .executing = words[8 * STATE + 4] != 0,
        };
        return true;
    }
    return false;
}
