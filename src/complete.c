/*
 * The names of tasks for completion. See pa_session_complete() in pyasync.h.
 *
 * A debugger shows some hundred names and completes what all that it was given have in common. Of 100,000 names only a part is kept;
 * so that this part has no more in common than all, one that ends what the first has in common with the others stands second.
 */
#include "complete.h"

#include "details.h"
#include "limits.h"

/* A name that is kept, with its NUL in the arena. */
struct kept {
    uint64_t hash; /* first: of the index; equal names are kept once */
    struct pa_text text;
};

struct names {
    struct pa_work *work;
    struct pa_arena arena;
    PA_ARRAY(struct kept) kept;
    struct pa_index index;
    char first[PA_STRING_BYTES], witness[PA_STRING_BYTES];
    uint32_t first_length, witness_length; /* 0: none */
    uint32_t common;                       /* bytes that all names have in common */
};

/* FNV-1a */
static uint64_t hash_of(const char *name, uint32_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3u;
    return hash;
}

/* Whether a user can type it as a word: printable ASCII without a blank. */
static bool can_be_typed(const char *name, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        if (name[i] <= ' ' || name[i] >= 0x7f)
            return false;
    }
    return length > 0;
}

static void compare_with_first(struct names *names, const char *name, uint32_t length)
{
    uint32_t common = 0;
    if (names->first_length == 0) {
        memcpy(names->first, name, length);
        names->first_length = names->common = length;
        return;
    }
    while (common < names->common && common < length && names->first[common] == name[common])
        common++;
    if (common < names->common) {
        memcpy(names->witness, name, length);
        names->witness_length = length;
        names->common = common;
    }
}

static void keep(struct names *names, const char *name, uint32_t length)
{
    uint64_t hash = hash_of(name, length);
    if (pa_index_find(&names->index, names->kept.items, sizeof(struct kept), hash) != PA_NONE)
        return;
    struct kept *slot = pa_array_push(names->work, &names->kept, PA_NONE);
    if (!slot)
        return;
    *slot = (struct kept){hash, pa_arena_add(names->work, &names->arena, name, length)};
    pa_index_add(names->work, &names->index, names->kept.items, sizeof(struct kept), names->kept.count - 1);
}

/* Append one name, if it and the last NUL find room. */
static uint64_t put(char *buffer, uint64_t capacity, uint64_t *used, const char *name, uint32_t length)
{
    if (length == 0 || *used + length + 2 > capacity)
        return 0;
    memcpy(buffer + *used, name, length);
    buffer[*used + length] = '\0';
    *used += length + 1;
    return 1;
}

static uint64_t put_all(const struct names *names, char *buffer, uint64_t capacity)
{
    uint64_t used = 0, stored = put(buffer, capacity, &used, names->first, names->first_length);
    stored += put(buffer, capacity, &used, names->witness, names->witness_length);
    for (uint32_t i = 1; i < names->kept.count; i++) {
        struct pa_text text = names->kept.items[i].text;
        const char *name = pa_arena_text(&names->arena, text);
        if (text.length != names->witness_length || memcmp(name, names->witness, text.length) != 0)
            stored += put(buffer, capacity, &used, name, text.length);
    }
    buffer[used] = '\0';
    return stored;
}

uint64_t pa_complete(struct pa_graph *graph, const char *prefix, char *buffer, uint64_t capacity)
{
    struct pa_work *work = graph->work;
    char name[PA_STRING_BYTES];
    uint32_t length = 0;
    size_t wanted = strlen(prefix);
    struct names *names = pa_work_resize(work, NULL, 0, sizeof(*names));
    if (!names)
        return 0;
    memset(names, 0, sizeof(*names));
    names->work = work;
    for (uint32_t i = 0; i < graph->nodes.count && pa_work_step(work); i++) {
        if (!(graph->nodes.items[i].flags & PA_NODE_TASK) || !pa_task_name(graph, i, name, &length) || length < wanted ||
            memcmp(name, prefix, wanted) != 0 || !can_be_typed(name, length))
            continue;
        compare_with_first(names, name, length);
        if (names->arena.count < capacity)
            keep(names, name, length);
    }
    uint64_t stored = work->fatal == PA_OK ? put_all(names, buffer, capacity) : 0;
    pa_arena_free(work, &names->arena);
    pa_array_free(work, &names->kept);
    pa_index_free(work, &names->index);
    pa_work_resize(work, names, sizeof(*names), 0);
    return stored;
}
