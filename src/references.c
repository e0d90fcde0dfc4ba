/* Counting references. See references.h. */
#include "references.h"

#include "collection.h"
#include "instance.h"
#include "limits.h"

/* Include/refcount.h: immortal objects have counts of 2^30 and more. */
#define MOST_REFERENCES (1u << 29)

void pa_references_begin(struct pa_references *references, struct pa_graph *graph)
{
    references->graph = graph;
    references->fellows.count = 0;
    references->parts.count = 0;
    pa_index_free(graph->work, &references->index);
    references->left = references->looked < PA_MAX_LOOKED ? PA_MAX_REFERENCES : 0;
    references->cut = references->has_timeout = false;
}

void pa_references_free(struct pa_references *references)
{
    if (!references->graph)
        return;
    pa_array_free(references->graph->work, &references->fellows);
    pa_array_free(references->graph->work, &references->parts);
    pa_index_free(references->graph->work, &references->index);
}

bool pa_refcnt(struct pa_graph *graph, uint64_t object, uint32_t *refcnt)
{
    *refcnt = 0;
    return PA_HAS(graph->layout, object_refcnt) && object != 0 && object % 8 == 0 &&
           pa_memory_u32(graph->memory, object + PA_OFFSET(graph->layout, object_refcnt), refcnt) && *refcnt > 0 &&
           *refcnt < MOST_REFERENCES;
}

void pa_references_add(struct pa_references *references, uint64_t object)
{
    struct pa_work *work = references->graph->work;
    uint32_t refcnt;
    if (pa_index_find(&references->index, references->fellows.items, sizeof(struct pa_fellow), object) != PA_NONE)
        return;
    struct pa_fellow *fellow =
        pa_refcnt(references->graph, object, &refcnt) ? pa_array_push(work, &references->fellows, PA_MAX_FELLOWS) : NULL;
    references->cut = references->cut || !fellow;
    if (!fellow)
        return;
    *fellow = (struct pa_fellow){.object = object, .refcnt = refcnt};
    pa_index_add(work, &references->index, references->fellows.items, sizeof(struct pa_fellow), references->fellows.count - 1);
}

/* Whether @p count places that may hold a reference can still be looked at. */
static bool look(struct pa_references *references, uint64_t count)
{
    if (count > references->left)
        references->cut = true;
    if (references->cut)
        return false;
    references->left -= count;
    references->looked += count;
    return pa_work_step(references->graph->work);
}

/* A reference from a fellow: to another one, or to what has no other reference and so is a part of it. */
static void count(struct pa_references *references, uint64_t object)
{
    uint32_t refcnt, place;
    if (object == 0)
        return;
    place = pa_index_find(&references->index, references->fellows.items, sizeof(struct pa_fellow), object);
    if (place != PA_NONE) {
        references->fellows.items[place].found++;
        return;
    }
    /* A part is met once: the reference that is counted here is its only one. */
    uint64_t *slot = pa_refcnt(references->graph, object, &refcnt) && refcnt == 1
                         ? pa_array_push(references->graph->work, &references->parts, PA_MAX_REFERENCES)
                         : NULL;
    if (slot)
        *slot = object;
}

static void count_word(struct pa_references *references, uint64_t address)
{
    uint64_t object;
    if (look(references, 1) && pa_memory_u64(references->graph->memory, address, &object))
        count(references, object);
}

static void count_words(struct pa_references *references, uint64_t address, uint64_t length)
{
    for (uint64_t i = 0; i < length && references->graph->work->fatal == PA_OK && !references->cut; i++)
        count_word(references, address + 8 * i);
}

/*
 * The variables and the value stack of a frame. Include/internal/pycore_stackref.h: a reference with a tag is none that is counted.
 */
static void count_frame(struct pa_references *references, uint64_t iframe, uint64_t stackpointer)
{
    struct pa_graph *graph = references->graph;
    uint64_t bits, first = iframe + PA_OFFSET(graph->layout, frame_localsplus);
    if (stackpointer < first || (stackpointer - first) / 8 > PA_MAX_VARIABLES) {
        references->cut = true;
        return;
    }
    for (uint64_t at = first; at < stackpointer; at += 8) {
        if (!look(references, 1) || !pa_memory_u64(graph->memory, at, &bits))
            return;
        uint64_t object = pa_stackref_object(graph->layout, bits);
        if (pa_is_of_type(graph->objects, object, "Timeout") || pa_is_of_type(graph->objects, object, "TimerHandle") ||
            pa_is_of_type(graph->objects, object, "CancelScope"))
            references->has_timeout = true;
        if (object == bits)
            count(references, object);
    }
}

static void count_generator(struct pa_references *references, uint64_t object)
{
    struct pa_gen gen;
    if (pa_gen_read(references->graph->codes, object, &gen) && (gen.state == PA_GEN_SUSPENDED || gen.state == PA_GEN_YIELD_FROM))
        count_frame(references, gen.iframe, gen.frame.stackpointer);
}

/* Include/internal/pycore_interpframe_structs.h, FRAME_OWNED_BY_FRAME_OBJECT: it has ended, and its variables are the object's. */
#define OWNER_FRAME_OBJECT 2

static bool read_ended(struct pa_graph *graph, uint64_t frame_object, uint64_t *address, struct pa_iframe *frame)
{
    return pa_object_word(graph->objects, frame_object, PA_F_frame_object_frame, address) &&
           pa_iframe_read(graph->codes, *address, frame) && frame->owner == OWNER_FRAME_OBJECT;
}

static void count_ended(struct pa_references *references, uint64_t frame_object)
{
    struct pa_iframe frame;
    uint64_t address;
    if (read_ended(references->graph, frame_object, &address, &frame))
        count_frame(references, address, frame.stackpointer);
}

void pa_references_add_traceback(struct pa_references *references, uint64_t exception)
{
    struct pa_objects *objects = references->graph->objects;
    struct pa_iframe frame;
    uint64_t traceback, frame_object, address;
    if (pa_kind_of(objects, exception) != PA_KIND_EXCEPTION ||
        !pa_object_word(objects, exception, PA_F_exception_traceback, &traceback))
        return;
    for (uint32_t i = 0; i < PA_MAX_FELLOWS && pa_kind_of(objects, traceback) == PA_KIND_TRACEBACK; i++) {
        if (!pa_work_step(objects->work) || !pa_object_word(objects, traceback, PA_F_traceback_frame, &frame_object))
            return;
        if (pa_kind_of(objects, frame_object) == PA_KIND_FRAME && read_ended(references->graph, frame_object, &address, &frame))
            pa_references_add(references, frame_object);
        if (!pa_object_word(objects, traceback, PA_F_traceback_next, &traceback))
            return;
    }
}

/* Modules/_asynciomodule.c, FutureObj and TaskObj: what they refer to that can lead back to who waits. */
static void count_future(struct pa_references *references, uint64_t future, bool is_task)
{
    const struct pa_layout *layout = references->graph->layout;
    count_word(references, future + PA_OFFSET(layout, task_callback0));
    count_word(references, future + PA_OFFSET(layout, task_callbacks));
    count_word(references, future + PA_OFFSET(layout, task_awaited_by));
    if (is_task) {
        count_word(references, future + PA_OFFSET(layout, task_fut_waiter));
        count_word(references, future + PA_OFFSET(layout, task_coro));
    }
}

static void count_set(struct pa_references *references, uint64_t set)
{
    struct pa_set_iterator iterator;
    uint64_t element;
    /* Most places of the table may be empty: they are looked at too. */
    if (!pa_set_begin(references->graph->objects, set, &iterator) || !look(references, iterator.slots))
        return;
    while (!references->cut && pa_set_next(references->graph->objects, &iterator, &element))
        count(references, element);
}

static void count_attributes(struct pa_references *references, uint64_t object)
{
    struct pa_attributes attributes;
    if (!pa_attributes_begin(references->graph->objects, object, &attributes))
        return;
    for (uint32_t i = 0; i < PA_MAX_HELD_ATTRIBUTES && look(references, 1) && pa_attributes_next(&attributes); i++)
        count(references, attributes.value);
}

/* Whatever else a deque's type or an instance refers to, they are all these are asked for. */
static void count_other(struct pa_references *references, uint64_t object)
{
    struct pa_collection iterator;
    uint64_t element;
    if (!pa_is_of_type(references->graph->objects, object, "collections.deque")) {
        count_attributes(references, object);
        return;
    }
    if (!pa_collection_begin(references->graph->objects, object, &iterator))
        return;
    while (look(references, 1) && pa_collection_next(&iterator, &element))
        count(references, element);
}

/* Whatever an object refers to. */
static void count_from(struct pa_references *references, uint64_t object)
{
    struct pa_graph *graph = references->graph;
    const struct pa_layout *layout = graph->layout;
    enum pa_kind kind = pa_kind_of(graph->objects, object);
    uint64_t items, length;
    switch (kind) {
    case PA_KIND_TASK:
    case PA_KIND_FUTURE:
        count_future(references, object, kind == PA_KIND_TASK);
        break;
    case PA_KIND_COROUTINE:
    case PA_KIND_GENERATOR:
    case PA_KIND_ASYNC_GENERATOR:
        count_generator(references, object);
        break;
    case PA_KIND_FRAME:
        count_ended(references, object);
        break;
    case PA_KIND_FUTURE_ITER:
        count_word(references, object + PA_OFFSET(layout, wrapper_future));
        break;
    case PA_KIND_COROUTINE_WRAPPER:
    case PA_KIND_ASYNC_GEN_ASEND:
    case PA_KIND_ASYNC_GEN_ATHROW:
    case PA_KIND_ANEXT_AWAITABLE:
    case PA_KIND_CELL:
        count_word(references, object + PA_OFFSET(layout, wrapper_object));
        break;
    case PA_KIND_BUILTIN_FUNCTION:
        count_word(references, object + PA_OFFSET(layout, builtin_self));
        break;
    case PA_KIND_METHOD:
        count_word(references, object + PA_OFFSET(layout, method_self));
        break;
    case PA_KIND_TUPLE:
    case PA_KIND_LIST:
        if (pa_sequence(graph->objects, object, &items, &length))
            count_words(references, items, length);
        break;
    case PA_KIND_SET:
        count_set(references, object);
        break;
    case PA_KIND_OTHER:
        count_other(references, object);
        break;
    default:
        break;
    }
}

void pa_references_count(struct pa_references *references)
{
    for (uint32_t i = 0; i < references->fellows.count && !references->cut; i++) {
        count_from(references, references->fellows.items[i].object);
        while (references->parts.count > 0 && !references->cut && pa_work_step(references->graph->work))
            count_from(references, references->parts.items[--references->parts.count]);
    }
}

static bool is_found(const struct pa_references *references, const struct pa_fellow *fellow)
{
    return !references->cut && references->graph->work->fatal == PA_OK && fellow->found == fellow->refcnt;
}

bool pa_references_all_found(const struct pa_references *references, uint64_t object)
{
    uint32_t place = pa_index_find(&references->index, references->fellows.items, sizeof(struct pa_fellow), object);
    return place != PA_NONE && is_found(references, &references->fellows.items[place]);
}

bool pa_references_closed(const struct pa_references *references)
{
    for (uint32_t i = 0; i < references->fellows.count; i++) {
        if (!is_found(references, &references->fellows.items[i]))
            return false;
    }
    return references->fellows.count > 0 && !references->cut;
}
