/* Sets and frozensets. See object.h. */
#include "object.h"

bool pa_set_begin(struct pa_objects *objects, uint64_t address, struct pa_set_iterator *iterator)
{
    const struct pa_layout *layout = objects->layout;
    uint64_t mask;
    *iterator = (struct pa_set_iterator){.damaged = true};
    enum pa_kind kind = pa_kind_of(objects, address);
    if ((kind != PA_KIND_SET && kind != PA_KIND_FROZENSET) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, set_mask), &mask) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, set_used), &iterator->left) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, set_table), &iterator->table))
        return false;
    /* A table has a power of two slots, and never more elements than slots. */
    if (mask >= PA_MAX_SET_SLOTS || (mask & (mask + 1)) != 0 || iterator->left > mask + 1)
        return false;
    iterator->slots = mask + 1;
    iterator->damaged = false;
    return true;
}

bool pa_set_next(struct pa_objects *objects, struct pa_set_iterator *iterator, uint64_t *element)
{
    uint8_t scratch[16];
    while (iterator->left > 0 && iterator->slot < iterator->slots) {
        /* Include/cpython/setobject.h, setentry: key, hash. Objects/setobject.c marks a deleted entry with hash -1. */
        const uint8_t *entry = pa_memory_view(objects->memory, iterator->table + iterator->slot * 16, 16, scratch);
        iterator->slot++;
        if (!entry || !pa_work_step(objects->work)) {
            iterator->damaged = true;
            return false;
        }
        *element = pa_get_u64(entry, 0);
        if (*element != 0 && pa_get_u64(entry, 8) != UINT64_MAX) {
            iterator->left--;
            return true;
        }
    }
    iterator->damaged = iterator->damaged || iterator->left > 0;
    return false;
}
