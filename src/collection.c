/* Elements of deques and of SimpleQueues. See collection.h. */
#include "collection.h"

/* Modules/_collectionsmodule.c, struct BLOCK: leftlink, data[BLOCKLEN], rightlink */
#define BLOCK_ITEMS 64u

static bool begin_deque(struct pa_collection *collection, uint64_t object)
{
    struct pa_objects *objects = collection->objects;
    uint64_t block;
    if (!pa_object_word(objects, object, PA_F_deque_length, &collection->left) ||
        !pa_object_word(objects, object, PA_F_deque_left_block, &block) ||
        !pa_object_word(objects, object, PA_F_deque_left_index, &collection->index))
        return false;
    collection->is_deque = true;
    collection->block = block + 8;
    collection->capacity = BLOCK_ITEMS;
    return block != 0 && block % 8 == 0;
}

/* Modules/_queuemodule.c, struct RingBuf */
static bool begin_simple_queue(struct pa_collection *collection, uint64_t object)
{
    struct pa_objects *objects = collection->objects;
    return pa_object_word(objects, object, PA_F_simple_queue_count, &collection->left) &&
           pa_object_word(objects, object, PA_F_simple_queue_items, &collection->block) &&
           pa_object_word(objects, object, PA_F_simple_queue_get_index, &collection->index) &&
           pa_object_word(objects, object, PA_F_simple_queue_capacity, &collection->capacity) &&
           collection->capacity <= PA_MAX_SEQUENCE && collection->left <= collection->capacity && collection->block % 8 == 0;
}

bool pa_collection_begin(struct pa_objects *objects, uint64_t object, struct pa_collection *collection)
{
    struct pa_text name = pa_type_name_of(objects, object);
    *collection = (struct pa_collection){.objects = objects};
    bool begun = pa_text_is(&objects->text, name, "collections.deque")    ? begin_deque(collection, object)
                 : pa_text_is(&objects->text, name, "_queue.SimpleQueue") ? begin_simple_queue(collection, object)
                                                                          : false;
    begun = begun && collection->left <= PA_MAX_SEQUENCE && collection->index < collection->capacity;
    collection->damaged = !begun;
    return begun;
}

bool pa_collection_next(struct pa_collection *collection, uint64_t *element)
{
    struct pa_objects *objects = collection->objects;
    if (collection->damaged || collection->left == 0)
        return false;
    collection->damaged = !pa_work_step(objects->work) ||
                          !pa_memory_u64(objects->memory, collection->block + 8 * collection->index, element) || *element == 0;
    if (collection->damaged)
        return false;
    collection->left--;
    if (++collection->index < collection->capacity)
        return true;
    collection->index = 0;
    /* Without a next block the elements that are left are missing: the next call says so. */
    if (collection->is_deque && collection->left > 0) {
        uint64_t next;
        collection->damaged = !pa_memory_u64(objects->memory, collection->block + 8 * BLOCK_ITEMS, &next) || next % 8 != 0;
        collection->block = next + 8;
    }
    return true;
}
