/* Objects that the garbage collector tracks. See gc.h. */
#include "gc.h"

_Static_assert(PA_KIND_COUNT <= 64, "a set of kinds is 64 bits");

/* Include/internal/pycore_gc.h, PyGC_Head */
#define HEAD_SIZE 16u
#define FLAGS     3u

/* Include/internal/pycore_interp_structs.h, struct gc_generation {PyGC_Head head; int threshold, count;}: three, then the permanent one. */
#define GENERATION_SIZE 24u
#define GENERATIONS     4u

enum link { NEXT = 0, PREVIOUS = 8 };

struct list {
    struct pa_objects *objects;
    uint64_t head;
    uint64_t kinds;
    bool collecting; /* there are no links back */
    pa_gc_visit *visit;
    void *context;
    struct pa_gc_walk *walk;
};

enum end { CAME_BACK, DAMAGED, ENDED };

static enum end damaged(struct list *list, uint64_t address, const char *why)
{
    if (!list->walk->damage) {
        list->walk->damage = why;
        list->walk->damaged_at = address;
    }
    return DAMAGED;
}

/* Tell of the object behind a head whose bytes are given. @return false if the walk is to end. */
static bool look(struct list *list, uint64_t node, const uint8_t *bytes)
{
    struct pa_objects *objects = list->objects;
    if (++list->walk->objects == list->walk->limit)
        return false;
    uint32_t type = pa_type_id(objects, pa_get_u64(bytes, HEAD_SIZE + PA_OFFSET(objects->layout, object_type)));
    if (type == PA_NONE || !(list->kinds >> objects->types.items[type].kind & 1))
        return objects->work->fatal == PA_OK;
    return list->visit(list->context, node + HEAD_SIZE, type);
}

/*
 * Follow a list in one direction. If each node's link back is right, no node is met twice: it would have to have two nodes before it. For
 * lists without links back: Brent's algorithm, which remembers one node and waits ever longer for it to come again.
 */
static enum end follow(struct list *list, enum link link)
{
    struct pa_memory *memory = list->objects->memory;
    uint8_t scratch[HEAD_SIZE + PA_MAX_OBJECT_SIZE];
    size_t size = HEAD_SIZE + PA_OFFSET(list->objects->layout, object_type) + 8;
    enum link back = link == NEXT ? PREVIOUS : NEXT;
    uint64_t node, before = list->head, remembered = 0, patience = 1, waited = 0;
    if (!pa_memory_u64(memory, list->head + link, &node))
        return damaged(list, list->head, "cannot be read");
    for (node &= ~(uint64_t)FLAGS; node != list->head;) {
        if (!pa_work_step(list->objects->work))
            return ENDED;
        if (node == 0 || node % 8 != 0)
            return damaged(list, before, "has a pointer that is none");
        const uint8_t *bytes = pa_memory_view(memory, node, size, scratch);
        if (!bytes)
            return damaged(list, before, "leads to where there is no memory");
        if (!list->collecting && (pa_get_u64(bytes, back) & ~(uint64_t)FLAGS) != before)
            return damaged(list, before, "leads to an object that is not in it");
        if (list->collecting && node == remembered)
            return damaged(list, node, "goes round in circles");
        if (list->collecting && ++waited == patience) {
            remembered = node;
            patience *= 2;
            waited = 0;
        }
        before = node;
        node = pa_get_u64(bytes, link) & ~(uint64_t)FLAGS;
        const uint8_t *ahead = pa_memory_peek(memory, node, size);
        if (ahead)
            __builtin_prefetch(ahead);
        if (!look(list, before, bytes))
            return ENDED;
    }
    if (list->collecting)
        return CAME_BACK;
    if (!pa_memory_u64(memory, list->head + back, &node) || (node & ~(uint64_t)FLAGS) != before)
        return damaged(list, before, "comes back to its head too early");
    return CAME_BACK;
}

const char *pa_gc_unavailable(const struct pa_layout *layout)
{
    if (layout->free_threaded)
        return "a build without the GIL has no lists of objects to search";
    if (!PA_HAS(layout, gc_size) || !PA_HAS(layout, gc_collecting) || !PA_HAS(layout, gc_generations) ||
        !PA_HAS(layout, interpreter_gc))
        return "the debug offsets of this process do not tell where its lists of objects are";
    return NULL;
}

bool pa_gc_walk(struct pa_objects *objects, uint64_t interpreter, uint64_t kinds, pa_gc_visit *visit, void *context,
                struct pa_gc_walk *walk)
{
    const struct pa_layout *layout = objects->layout;
    uint64_t gc = interpreter + PA_OFFSET(layout, interpreter_gc);
    uint32_t collecting;
    if (!pa_memory_u32(objects->memory, gc + PA_OFFSET(layout, gc_collecting), &collecting))
        collecting = 0;
    struct list list = {objects, 0, kinds, collecting != 0, visit, context, walk};
    walk->collecting += list.collecting;
    for (uint32_t i = 0; i < GENERATIONS; i++) {
        list.head = gc + PA_OFFSET(layout, gc_generations) + i * GENERATION_SIZE;
        enum end end = follow(&list, NEXT);
        if (end == DAMAGED) {
            walk->damaged++;
            if (!list.collecting)
                end = follow(&list, PREVIOUS);
        }
        if (end == ENDED)
            return false;
    }
    return true;
}
