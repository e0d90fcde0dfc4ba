/* What gevent's greenlets wait for. See gevent.h. */
#include "gevent.h"

#include "gc.h"
#include "instance.h"
#include "limits.h"

#include <stdlib.h>

/* Modules/_collectionsmodule.c, dequeobject: ob_size, leftblock, rightblock, leftindex, rightindex; block: leftlink, data[64], rightlink */
#define DEQUE_BLOCK_ITEMS 64u

/* _gevent_cgreenlet.pxd, class _Frame: f_code, f_lineno, f_back */
#define FRAME_CODE 0u
#define FRAME_LINE 8u

/* What a type is to us, by its first base of gevent's own. */
enum role { ROLE_UNKNOWN, ROLE_OTHER, ROLE_WAITER, ROLE_SOURCE };

struct source {
    uint64_t address;
    uint32_t type;
};

/* A Waiter, and the greenlet that is blocked in it. */
struct waiter {
    uint64_t address; /* first: of the index */
    uint64_t greenlet;
};

struct reader {
    struct pa_graph *graph;
    struct pa_gevent *gevent;
    PA_ARRAY(struct source) sources;
    PA_ARRAY(struct waiter) waiters;
    struct pa_index waiter_index;
    uint64_t looked_at; /* items of lists and deques, bounded all together */
    uint8_t *roles;     /* by type */
    uint32_t *bases;    /* likewise: gevent's own class */
    uint32_t types;
};

static bool name_ends(const struct pa_objects *objects, uint32_t type, const char *end)
{
    return pa_text_ends(&objects->text, objects->types.items[type].name, end);
}

/* The first of a type and its bases that gevent made itself; PA_NONE if there is none. A class statement's tp_name has no module. */
static uint32_t own_class(struct pa_graph *graph, uint32_t type)
{
    for (uint32_t step = 0; type != PA_NONE && step < PA_MAX_BASES; step++) {
        uint64_t base;
        if (pa_text_begins(&graph->objects->text, graph->objects->types.items[type].name, "gevent."))
            return type;
        if (!pa_memory_u64(graph->memory, graph->objects->types.items[type].address + PA_OFFSET(graph->layout, type_base), &base))
            break;
        type = base ? pa_type_at(graph->objects, base) : PA_NONE;
    }
    return PA_NONE;
}

/* The words of an object behind its header, or behind what greenlet has there, at most @p capacity. @return how many. */
static uint32_t read_words(struct pa_graph *graph, uint64_t object, uint32_t type, uint64_t *words, uint32_t capacity)
{
    const struct pa_layout *layout = graph->layout;
    bool greenlet = graph->objects->types.items[type].kind == PA_KIND_GREENLET;
    uint64_t size, header = greenlet ? PA_OFFSET(layout, greenlet_size) : PA_OFFSET(layout, object_size);
    if (!PA_HAS(layout, type_basicsize) ||
        !pa_memory_u64(graph->memory, graph->objects->types.items[type].address + PA_OFFSET(layout, type_basicsize), &size) ||
        size < header)
        return 0;
    uint64_t count = (size - header) / 8 < capacity ? (size - header) / 8 : capacity;
    return pa_memory_read(graph->memory, object + header, count * 8, words) ? (uint32_t)count : 0;
}

static const struct pa_greenlet *greenlet_at(const struct pa_graph *graph, uint64_t address)
{
    uint32_t id = pa_index_find(&graph->greenlet_index, graph->greenlets.items, sizeof(struct pa_greenlet), address);
    return id == PA_NONE ? NULL : &graph->greenlets.items[id];
}

bool pa_gevent_is_hub(struct pa_graph *graph, const struct pa_greenlet *greenlet)
{
    uint32_t own = own_class(graph, greenlet->type);
    return own != PA_NONE && name_ends(graph->objects, own, ".WaitOperationsGreenlet");
}

/* What a word refers to. Anything may look like an object of a type that has some flag: only a type that is known by its address or name counts. */
static enum pa_kind kind_of_word(struct pa_graph *graph, uint64_t word, uint32_t *type)
{
    *type = word % 8 == 0 && word > PA_CACHE_PAGE ? pa_type_of(graph->objects, word) : PA_NONE;
    if (*type == PA_NONE)
        return PA_KIND_OTHER;
    const struct pa_type *item = &graph->objects->types.items[*type];
    return pa_type_is_exact(item) ? item->kind : PA_KIND_OTHER;
}

/* ---- collecting gevent's objects */

/* Waiter.greenlet; the other greenlet that a Waiter refers to is its Hub. */
static void add_waiter(struct reader *reader, uint64_t object, uint32_t type)
{
    struct pa_graph *graph = reader->graph;
    uint64_t words[PA_MAX_GEVENT_WORDS];
    uint32_t count = read_words(graph, object, type, words, PA_MAX_GEVENT_WORDS);
    for (uint32_t i = 0; i < count; i++) {
        const struct pa_greenlet *greenlet = greenlet_at(graph, words[i]);
        if (!greenlet || pa_gevent_is_hub(graph, greenlet))
            continue;
        struct waiter *slot = pa_array_push(graph->work, &reader->waiters, PA_MAX_GREENLETS);
        if (slot)
            *slot = (struct waiter){object, words[i]};
        if (slot &&
            !pa_index_add(graph->work, &reader->waiter_index, reader->waiters.items, sizeof(*slot), reader->waiters.count - 1))
            reader->waiters.count--;
        return;
    }
}

static enum role role_of(struct reader *reader, uint32_t type)
{
    struct pa_graph *graph = reader->graph;
    if (type < reader->types && reader->roles[type] != ROLE_UNKNOWN)
        return reader->roles[type];
    uint32_t own = own_class(graph, type);
    /* An iterator over waits (of joinall()) is nothing that one waits for. */
    enum role role = ROLE_SOURCE;
    if (own == PA_NONE || name_ends(graph->objects, own, "Iterator"))
        role = ROLE_OTHER;
    else if (name_ends(graph->objects, own, "Waiter"))
        role = ROLE_WAITER;
    if (type < reader->types) {
        reader->roles[type] = (uint8_t)role;
        reader->bases[type] = own;
    }
    return role;
}

static bool collect(void *context, uint64_t object, uint32_t type)
{
    struct reader *reader = context;
    enum role role = role_of(reader, type);
    if (role == ROLE_WAITER)
        add_waiter(reader, object, type);
    if (role == ROLE_SOURCE) {
        struct source *slot = pa_array_push(reader->graph->work, &reader->sources, PA_MAX_GREENLETS);
        if (slot)
            *slot = (struct source){object, type};
    }
    return reader->graph->work->fatal == PA_OK;
}

/* ---- who waits for an object */

static void add_wait(struct reader *reader, uint64_t greenlet, const struct source *source)
{
    struct pa_gevent *gevent = reader->gevent;
    const struct pa_greenlet *item = greenlet_at(reader->graph, greenlet);
    if (!item || item->state != PA_GREENLET_SUSPENDED || greenlet == source->address)
        return;
    struct pa_gevent_wait *slot = pa_array_push(reader->graph->work, gevent, PA_MAX_GREENLETS);
    if (slot)
        *slot = (struct pa_gevent_wait){greenlet, source->address,
                                        source->type < reader->types ? reader->bases[source->type] : source->type};
}

/*
 * What is told when a greenlet ends, if it is something on which others wait: gevent calls each of Greenlet._links. An AsyncResult is one
 * itself, or a SpawnedLink has it; a pool has its own method there, and those who join it wait for its _empty_event. pool.py, Group.add().
 */
static void add_link(struct reader *reader, uint64_t callback, const struct source *source)
{
    struct pa_graph *graph = reader->graph;
    uint64_t object = callback, event;
    uint32_t type, kind = kind_of_word(graph, object, &type);
    if (type != PA_NONE && kind == PA_KIND_OTHER && name_ends(graph->objects, type, "SpawnedLink")) {
        if (!pa_memory_u64(graph->memory, callback + PA_OFFSET(graph->layout, object_size), &object))
            return;
        kind = kind_of_word(graph, object, &type);
    }
    if (kind == PA_KIND_METHOD || kind == PA_KIND_BUILTIN_FUNCTION) {
        uint32_t self = kind == PA_KIND_METHOD ? PA_OFFSET(graph->layout, method_self) : PA_OFFSET(graph->layout, builtin_self);
        if (!pa_memory_u64(graph->memory, object + self, &object))
            return;
        if (pa_instance_attribute(graph->objects, object, "_empty_event", &event))
            object = event;
        kind_of_word(graph, object, &type);
    }
    if (type == PA_NONE || graph->objects->types.items[type].kind == PA_KIND_GREENLET || role_of(reader, type) != ROLE_SOURCE)
        return;
    struct pa_gevent_link *slot = pa_array_push(graph->work, &reader->gevent->links, PA_MAX_GREENLETS);
    if (slot)
        *slot = (struct pa_gevent_link){source->address, object};
}

/* greenlet.switch, made in C, by its name; Waiter.switch, made by Cython; or a Waiter itself. */
static void look_at(struct reader *reader, uint64_t object, const struct source *source)
{
    struct pa_graph *graph = reader->graph;
    const struct pa_layout *layout = graph->layout;
    uint32_t type;
    if (reader->looked_at++ >= PA_MAX_GEVENT_ITEMS)
        return;
    enum pa_kind kind = kind_of_word(graph, object, &type);
    uint64_t self = object, definition, name, text = 0;
    if (kind == PA_KIND_BUILTIN_FUNCTION) {
        if (!pa_memory_u64(graph->memory, object + PA_OFFSET(layout, builtin_self), &self) ||
            !pa_memory_u64(graph->memory, object + PA_OFFSET(layout, builtin_definition), &definition) ||
            !pa_memory_u64(graph->memory, definition, &name) || !pa_memory_read(graph->memory, name, 7, &text) ||
            memcmp(&text, "switch", 7) != 0)
            return;
        add_wait(reader, self, source);
        return;
    }
    const struct pa_greenlet *greenlet = greenlet_at(graph, source->address);
    if (greenlet && greenlet->state != PA_GREENLET_DEAD)
        add_link(reader, object, source);
    if (kind == PA_KIND_METHOD && !pa_memory_u64(graph->memory, object + PA_OFFSET(layout, method_self), &self))
        return;
    uint32_t id = pa_index_find(&reader->waiter_index, reader->waiters.items, sizeof(struct waiter), self);
    if (id != PA_NONE)
        add_wait(reader, reader->waiters.items[id].greenlet, source);
}

static void look_into_deque(struct reader *reader, uint64_t deque, const struct source *source)
{
    struct pa_graph *graph = reader->graph;
    uint64_t words[5], item;
    if (!pa_memory_read(graph->memory, deque + PA_OFFSET(graph->layout, object_size), sizeof(words), words))
        return;
    uint64_t left = words[0] <= PA_MAX_GREENLETS ? words[0] : 0, block = words[1], index = words[3];
    for (; left > 0 && index < DEQUE_BLOCK_ITEMS && reader->looked_at < PA_MAX_GEVENT_ITEMS && pa_work_step(graph->work); left--) {
        if (!pa_memory_u64(graph->memory, block + 8 * (1 + index), &item))
            return;
        look_at(reader, item, source);
        if (++index == DEQUE_BLOCK_ITEMS) {
            index = 0;
            if (!pa_memory_u64(graph->memory, block + 8 * (1 + DEQUE_BLOCK_ITEMS), &block))
                return;
        }
    }
}

static void look_into(struct reader *reader, const struct source *source)
{
    struct pa_graph *graph = reader->graph;
    uint64_t words[PA_MAX_GEVENT_WORDS], items, length, item;
    uint32_t count = read_words(graph, source->address, source->type, words, PA_MAX_GEVENT_WORDS);
    bool is_greenlet = greenlet_at(graph, source->address) != NULL;
    for (uint32_t i = 0; i < count && pa_work_step(graph->work); i++) {
        uint32_t type;
        enum pa_kind kind = kind_of_word(graph, words[i], &type);
        /* Greenlet._links is a list; what else a greenlet refers to was given to its function. */
        if (is_greenlet && kind != PA_KIND_LIST)
            continue;
        if (kind == PA_KIND_LIST || kind == PA_KIND_TUPLE) {
            bool read = pa_sequence(graph->objects, words[i], &items, &length);
            for (uint64_t k = 0; read && k < length && reader->looked_at < PA_MAX_GEVENT_ITEMS && pa_work_step(graph->work); k++) {
                if (!pa_memory_u64(graph->memory, items + 8 * k, &item))
                    break; /* the length is damaged, and may be anything */
                look_at(reader, item, source);
            }
        } else if (kind == PA_KIND_METHOD || kind == PA_KIND_BUILTIN_FUNCTION) {
            look_at(reader, words[i], source);
        } else if (type != PA_NONE && name_ends(graph->objects, type, "collections.deque")) {
            look_into_deque(reader, words[i], source);
        }
    }
}

/* ---- all together */

static int by_greenlet(const void *a, const void *b)
{
    const struct pa_gevent_wait *left = a, *right = b;
    if (left->greenlet != right->greenlet)
        return left->greenlet < right->greenlet ? -1 : 1;
    return left->object < right->object ? -1 : left->object > right->object;
}

static int by_object(const void *a, const void *b, void *context)
{
    const struct pa_gevent *gevent = context;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct pa_gevent_wait *left_wait = &gevent->items[left], *right_wait = &gevent->items[right];
    if (left_wait->object != right_wait->object)
        return left_wait->object < right_wait->object ? -1 : 1;
    return left < right ? -1 : left > right;
}

static int by_linked(const void *a, const void *b)
{
    const struct pa_gevent_link *left = a, *right = b;
    if (left->greenlet != right->greenlet)
        return left->greenlet < right->greenlet ? -1 : 1;
    return left->object < right->object ? -1 : left->object > right->object;
}

static void sort(struct pa_gevent *gevent)
{
    uint32_t kept = 0;
    if (gevent->count > 0)
        qsort(gevent->items, gevent->count, sizeof(*gevent->items), by_greenlet);
    for (uint32_t i = 0; i < gevent->count; i++) {
        if (kept == 0 || by_greenlet(&gevent->items[kept - 1], &gevent->items[i]) != 0)
            gevent->items[kept++] = gevent->items[i];
    }
    gevent->count = kept;
    if (gevent->links.count > 0)
        qsort(gevent->links.items, gevent->links.count, sizeof(*gevent->links.items), by_linked);
    gevent->by_object = kept > 0 ? pa_work_resize(gevent->graph->work, NULL, 0, kept * sizeof(uint32_t)) : NULL;
    for (uint32_t i = 0; gevent->by_object && i < kept; i++)
        gevent->by_object[i] = i;
    if (gevent->by_object)
        qsort_r(gevent->by_object, kept, sizeof(uint32_t), by_object, gevent);
}

/* gevent is there if one of its own classes is among the greenlets'. */
static bool has_gevent(struct pa_graph *graph)
{
    for (uint32_t i = 0, last = PA_NONE; i < graph->greenlets.count && pa_work_step(graph->work); i++) {
        uint32_t type = graph->greenlets.items[i].type;
        if (type != last && own_class(graph, type) != PA_NONE)
            return true;
        last = type;
    }
    return false;
}

void pa_gevent_read(struct pa_graph *graph, struct pa_gevent *gevent)
{
    struct pa_work *work = graph->work;
    struct reader reader = {.graph = graph, .gevent = gevent, .types = PA_MAX_GEVENT_TYPES};
    struct pa_gc_walk walk = {0};
    *gevent = (struct pa_gevent){.graph = graph};
    if (pa_gc_unavailable(graph->layout) != NULL || !has_gevent(graph))
        return;
    size_t bytes = reader.types * sizeof(uint32_t);
    reader.roles = pa_work_resize(work, NULL, 0, reader.types);
    reader.bases = pa_work_resize(work, NULL, 0, bytes);
    if (reader.roles && reader.bases) {
        memset(reader.roles, ROLE_UNKNOWN, reader.types);
        for (uint32_t i = 0; i < graph->interpreters.count; i++) {
            if (graph->interpreters.items[i].id == 0)
                pa_gc_walk(graph->objects, graph->interpreters.items[i].address,
                           PA_GC_KIND(PA_KIND_OTHER) | PA_GC_KIND(PA_KIND_GREENLET), collect, &reader, &walk);
        }
        for (uint32_t i = 0; i < reader.sources.count && pa_work_step(work); i++)
            look_into(&reader, &reader.sources.items[i]);
        sort(gevent);
    }
    pa_work_resize(work, reader.roles, reader.roles ? reader.types : 0, 0);
    pa_work_resize(work, reader.bases, reader.bases ? bytes : 0, 0);
    pa_array_free(work, &reader.sources);
    pa_array_free(work, &reader.waiters);
    pa_index_free(work, &reader.waiter_index);
}

void pa_gevent_free(struct pa_gevent *gevent)
{
    if (!gevent->graph)
        return;
    struct pa_work *work = gevent->graph->work;
    pa_work_resize(work, gevent->by_object, gevent->by_object ? gevent->count * sizeof(uint32_t) : 0, 0);
    pa_work_resize(work, gevent->items, (size_t)gevent->capacity * sizeof(*gevent->items), 0);
    pa_array_free(work, &gevent->links);
    *gevent = (struct pa_gevent){0};
}

const uint32_t *pa_gevent_waiters(const struct pa_gevent *gevent, uint64_t object, uint32_t *count)
{
    uint32_t low = 0, high = gevent->by_object ? gevent->count : 0, end = high;
    *count = 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gevent->items[gevent->by_object[middle]].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + *count < end && gevent->items[gevent->by_object[low + *count]].object == object)
        (*count)++;
    return *count ? &gevent->by_object[low] : NULL;
}

const struct pa_gevent_link *pa_gevent_links(const struct pa_gevent *gevent, uint64_t greenlet, uint32_t *count)
{
    uint32_t low = 0, high = gevent->links.count;
    *count = 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gevent->links.items[middle].greenlet < greenlet)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + *count < gevent->links.count && gevent->links.items[low + *count].greenlet == greenlet)
        (*count)++;
    return *count ? &gevent->links.items[low] : NULL;
}

const struct pa_gevent_wait *pa_gevent_waits(const struct pa_gevent *gevent, uint64_t greenlet, uint32_t *count)
{
    uint32_t low = 0, high = gevent->count;
    *count = 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (gevent->items[middle].greenlet < greenlet)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + *count < gevent->count && gevent->items[low + *count].greenlet == greenlet)
        (*count)++;
    return *count ? &gevent->items[low] : NULL;
}

const char *pa_gevent_kind(const struct pa_gevent *gevent, const struct pa_gevent_wait *wait)
{
    static const struct {
        const char *end, *kind;
    } kinds[] = {
        {".Event", "event"}, {".AsyncResult", "event"}, {"Semaphore", "semaphore"},
        {"Queue", "queue"},  {".Channel", "queue"},     {".timer", "timer"},
        {".io", "socket"},   {".child", "process"},     {".Greenlet", "greenlet"},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (wait->type != PA_NONE && name_ends(gevent->graph->objects, wait->type, kinds[i].end))
            return kinds[i].kind;
    }
    return "future";
}

bool pa_gevent_name(struct pa_graph *graph, const struct pa_greenlet *greenlet, char *text, uint32_t *length)
{
    uint64_t dict, name;
    return own_class(graph, greenlet->type) != PA_NONE &&
           pa_memory_u64(graph->memory, greenlet->address + PA_OFFSET(graph->layout, greenlet_dict), &dict) && dict != 0 &&
           pa_dict_get(graph->objects, dict, "name", &name) && pa_str_read(graph->objects, name, text, length);
}

/* Greenlet.spawning_greenlet, a weak reference, and spawning_stack, whose first frame is where spawn() was called. _gevent_cgreenlet.pxd. */
bool pa_gevent_spawned(struct pa_graph *graph, const struct pa_greenlet *greenlet, struct pa_gevent_place *place)
{
    uint64_t words[PA_MAX_GEVENT_WORDS], code;
    uint32_t own = own_class(graph, greenlet->type), line, header = PA_OFFSET(graph->layout, object_size);
    *place = (struct pa_gevent_place){.code = PA_NONE};
    if (own == PA_NONE || !name_ends(graph->objects, own, ".Greenlet"))
        return false;
    uint32_t count = read_words(graph, greenlet->address, own, words, PA_MAX_GEVENT_WORDS);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type;
        kind_of_word(graph, words[i], &type);
        if (type == PA_NONE)
            continue;
        if (name_ends(graph->objects, type, "weakref.ReferenceType") && place->spawner == 0 &&
            pa_memory_u64(graph->memory, words[i] + header, &place->spawner) && !greenlet_at(graph, place->spawner))
            place->spawner = 0;
        if (name_ends(graph->objects, type, "gevent._gevent_cgreenlet._Frame") && place->code == PA_NONE &&
            pa_memory_u64(graph->memory, words[i] + header + FRAME_CODE, &code) &&
            pa_kind_of(graph->objects, code) == PA_KIND_CODE &&
            pa_memory_u32(graph->memory, words[i] + header + FRAME_LINE, &line)) {
            place->code = pa_code_at(graph->codes, code);
            place->line = (int32_t)line;
        }
    }
    return place->code != PA_NONE;
}
