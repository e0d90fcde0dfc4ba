/* Deques. See deque.h. */
#include "deque.h"

/* Modules/_collectionsmodule.c, dequeobject: ob_size, leftblock, rightblock, leftindex; block: leftlink, data[64], rightlink */
enum { BLOCK_ITEMS = 64 };

static bool is_deque(struct pa_objects *objects, uint64_t object)
{
    uint32_t id = pa_type_of(objects, object);
    for (uint32_t i = 0; i < PA_MAX_BASES && id != PA_NONE; i++) {
        uint64_t base;
        if (pa_text_is(&objects->text, objects->types.items[id].name, "collections.deque"))
            return true;
        if (!pa_object_word(objects, objects->types.items[id].address, PA_F_type_base, &base) || base == 0)
            return false;
        id = pa_type_at(objects, base);
    }
    return false;
}

bool pa_deque_begin(struct pa_objects *objects, uint64_t deque, struct pa_deque_iterator *iterator)
{
    uint64_t words[4];
    *iterator = (struct pa_deque_iterator){.damaged = true};
    if (!is_deque(objects, deque) ||
        !pa_memory_read(objects->memory, deque + PA_OFFSET(objects->layout, object_size), sizeof(words), words) ||
        words[0] > PA_MAX_SEQUENCE || words[3] >= BLOCK_ITEMS)
        return false;
    *iterator = (struct pa_deque_iterator){.block = words[1], .index = words[3], .left = words[0]};
    return true;
}

bool pa_deque_next(struct pa_objects *objects, struct pa_deque_iterator *iterator, uint64_t *element)
{
    if (iterator->left == 0 || !pa_work_step(objects->work))
        return false;
    if (iterator->index == BLOCK_ITEMS) {
        iterator->index = 0;
        if (!pa_memory_u64(objects->memory, iterator->block + 8 * (1 + BLOCK_ITEMS), &iterator->block))
            iterator->damaged = true;
    }
    if (iterator->damaged || !pa_memory_u64(objects->memory, iterator->block + 8 * (1 + iterator->index), element)) {
        iterator->damaged = true;
        iterator->left = 0;
        return false;
    }
    iterator->index++;
    iterator->left--;
    return true;
}
