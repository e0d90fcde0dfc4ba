/*
 * Context variables: walking a hash array mapped trie. See context.h.
 *
 * CPython: Python/context.c; Include/internal/pycore_hamt.h and Python/hamt.c. A context holds a HAMT, whose nodes are of three types, told
 * by their names; where no file has these, by what the nodes hold.
 */
#include "context.h"

/* Children of an array node, and pairs of a bitmap node at most. */
#define WIDTH 32u

static bool is_variable(struct pa_objects *objects, uint64_t object)
{
    return pa_kind_of(objects, object) == PA_KIND_CONTEXT_VAR;
}

static uint32_t count_bits(uint32_t bits)
{
    return (uint32_t)__builtin_popcount(bits);
}

/* What type a node is that has no name: a bitmap node has two words for each bit, an array node says how many children it has. */
static enum pa_kind guess_node(struct pa_objects *objects, uint64_t node)
{
    const struct pa_layout *layout = objects->layout;
    uint64_t length, children[WIDTH], count;
    uint32_t bitmap, used = 0;
    uint64_t items = node + PA_OFFSET(layout, hamt_array_items);
    if (pa_memory_u64(objects->memory, node + PA_OFFSET(layout, hamt_node_length), &length) &&
        pa_memory_u32(objects->memory, node + PA_OFFSET(layout, hamt_node_length) + 8, &bitmap) &&
        length == 2ull * count_bits(bitmap) && length > 0)
        return PA_KIND_HAMT_BITMAP;
    if (pa_memory_read(objects->memory, items, sizeof(children), children) &&
        pa_memory_u64(objects->memory, items + sizeof(children), &count)) {
        for (uint32_t i = 0; i < WIDTH; i++)
            used += children[i] != 0;
        if (count == used && used > 0)
            return PA_KIND_HAMT_ARRAY;
    }
    return PA_KIND_HAMT_COLLISION;
}

/* Open a node. @return false if it is damaged. */
static bool push(struct pa_context_iterator *iterator, uint64_t node)
{
    struct pa_objects *objects = iterator->objects;
    const struct pa_layout *layout = objects->layout;
    uint32_t type = pa_type_of(objects, node);
    uint64_t length = WIDTH;
    if (type == PA_NONE || iterator->depth == PA_MAX_HAMT_DEPTH || iterator->nodes_left == 0)
        return false;
    iterator->nodes_left--;
    enum pa_kind kind = objects->types.items[type].kind;
    if (kind == PA_KIND_OTHER && objects->types.items[type].name.length == 0)
        kind = guess_node(objects, node);
    struct pa_hamt_level *level = &iterator->levels[iterator->depth];
    if (kind == PA_KIND_HAMT_ARRAY) {
        level->items = node + PA_OFFSET(layout, hamt_array_items);
    } else if (kind == PA_KIND_HAMT_BITMAP || kind == PA_KIND_HAMT_COLLISION) {
        level->items = node + PA_OFFSET(layout, hamt_node_items);
        if (!pa_memory_u64(objects->memory, node + PA_OFFSET(layout, hamt_node_length), &length) || length % 2 != 0 ||
            length > (kind == PA_KIND_HAMT_BITMAP ? 2 * WIDTH : PA_MAX_DICT_ENTRIES))
            return false;
    } else {
        return false;
    }
    level->nodes = kind == PA_KIND_HAMT_ARRAY;
    level->index = 0;
    level->count = (uint32_t)length;
    iterator->depth++;
    return true;
}

bool pa_context_begin(struct pa_objects *objects, uint64_t context, struct pa_context_iterator *iterator)
{
    const struct pa_layout *layout = objects->layout;
    struct pa_memory *memory = objects->memory;
    uint64_t hamt, root;
    *iterator = (struct pa_context_iterator){.objects = objects, .damaged = true};
    if (!PA_HAS(layout, context_vars) || !PA_HAS(layout, hamt_root) || !PA_HAS(layout, hamt_node_items) ||
        !PA_HAS(layout, hamt_array_items) || pa_kind_of(objects, context) != PA_KIND_CONTEXT ||
        !pa_memory_u64(memory, context + PA_OFFSET(layout, context_vars), &hamt) ||
        !pa_memory_u64(memory, hamt + PA_OFFSET(layout, hamt_root), &root) ||
        !pa_memory_u64(memory, hamt + PA_OFFSET(layout, hamt_count), &iterator->left) || iterator->left > PA_MAX_DICT_ENTRIES)
        return false;
    iterator->nodes_left = iterator->left * PA_MAX_HAMT_DEPTH;
    iterator->damaged = iterator->left > 0 && !push(iterator, root);
    return !iterator->damaged;
}

/* The next words of the innermost node that has some. @return false at the end. */
static bool next_pair(struct pa_context_iterator *iterator, uint64_t *key, uint64_t *value)
{
    struct pa_memory *memory = iterator->objects->memory;
    while (iterator->depth > 0 && pa_work_step(iterator->objects->work)) {
        struct pa_hamt_level *level = &iterator->levels[iterator->depth - 1];
        if (level->index >= level->count) {
            iterator->depth--;
            continue;
        }
        uint64_t at = level->items + 8ull * level->index;
        *key = 0;
        level->index += level->nodes ? 1 : 2;
        if ((!level->nodes && !pa_memory_u64(memory, at, key)) || !pa_memory_u64(memory, level->nodes ? at : at + 8, value)) {
            iterator->damaged = true;
            return false;
        }
        if (*value != 0)
            return true;
    }
    return false;
}

bool pa_context_next(struct pa_context_iterator *iterator)
{
    struct pa_objects *objects = iterator->objects;
    uint64_t key, value;
    while (iterator->left > 0 && next_pair(iterator, &key, &value)) {
        if (key == 0 && push(iterator, value))
            continue;
        if (key == 0 || !is_variable(objects, key) ||
            !pa_memory_u64(objects->memory, key + PA_OFFSET(objects->layout, context_var_name), &iterator->name)) {
            iterator->damaged = true;
            return false;
        }
        iterator->variable = key;
        iterator->value = value;
        iterator->left--;
        return true;
    }
    iterator->damaged = iterator->damaged || iterator->left > 0;
    return false;
}
