/* The objects that a task waits in. See pool.h. */
#include "pool.h"

#include "collection.h"
#include "limits.h"
#include "redact.h"

void pa_pools_init(struct pa_pools *pools, struct pa_graph *graph)
{
    *pools = (struct pa_pools){.graph = graph};
}

void pa_pools_deinit(struct pa_pools *pools)
{
    struct pa_work *work = pools->graph->work;
    pa_bytes_free(work, &pools->selves);
    pa_bytes_free(work, &pools->types);
    pa_array_free(work, &pools->iframes);
}

bool pa_wait_is_unexplained(const struct pa_waits_on *waits_on)
{
    return waits_on->kind == PA_WAITS_FUTURE || waits_on->kind == PA_WAITS_EVENT || waits_on->kind == PA_WAITS_CONDITION ||
           waits_on->kind == PA_WAITS_QUEUE_GET || waits_on->kind == PA_WAITS_QUEUE_PUT;
}

/* Whether a function's first variable, which is its first parameter if it has one, is called "self". */
static bool begins_with_self(struct pa_graph *graph, uint32_t code)
{
    struct pa_objects *objects = graph->objects;
    uint64_t address = graph->codes->codes.items[code].address, names, items, count, name;
    return pa_object_word(objects, address, PA_F_code_localsplusnames, &names) && pa_sequence(objects, names, &items, &count) &&
           count > 0 && pa_memory_u64(objects->memory, items, &name) && pa_str_equals(objects, name, "self");
}

/* The object whose method a frame is, 0 if there is none. */
static uint64_t self_of(struct pa_pools *pools, uint32_t frame, uint64_t iframe)
{
    struct pa_graph *graph = pools->graph;
    const struct pa_frame *item = &graph->codes->frames.items[frame];
    if (iframe == 0 || item->kind == PA_FRAME_AWAITABLE)
        return 0;
    uint32_t code = (uint32_t)(item->key >> 32);
    uint8_t *has = pa_byte_of(graph->work, &pools->selves, code, graph->codes->codes.count);
    if (has && *has == PA_BYTE_UNKNOWN)
        *has = begins_with_self(graph, code);
    if (!has || !*has)
        return 0;
    uint64_t self = pa_slot_object(graph->objects, iframe + PA_OFFSET(graph->layout, frame_localsplus));
    if (self != 0 && pa_kind_of(graph->objects, self) == PA_KIND_CELL &&
        !pa_object_word(graph->objects, self, PA_F_wrapper_object, &self))
        return 0;
    return self;
}

/* Lib/sysconfig: sys.stdlib_module_names is a frozenset of the first parts of names. */
static bool is_of_stdlib(struct pa_objects *objects, uint64_t module)
{
    struct pa_set_iterator iterator;
    uint64_t names, name, left;
    char wanted[PA_ATTRIBUTE_NAME], text[PA_ATTRIBUTE_NAME];
    uint32_t length, other;
    if (!pa_str_read_some(objects, module, PA_ATTRIBUTE_NAME / 4, wanted, &length, &left))
        return true;
    const char *dot = memchr(wanted, '.', length);
    length = dot ? (uint32_t)(dot - wanted) : length;
    if (!pa_module_attribute(objects, "sys", "stdlib_module_names", &names) || !pa_set_begin(objects, names, &iterator))
        return (length == 7 && memcmp(wanted, "asyncio", 7) == 0) || (length == 8 && memcmp(wanted, "builtins", 8) == 0);
    while (pa_set_next(objects, &iterator, &name)) {
        if (pa_str_read_some(objects, name, PA_ATTRIBUTE_NAME / 4, text, &other, &left) && other == length &&
            memcmp(text, wanted, length) == 0)
            return true;
    }
    return false;
}

/* Whether objects of a type may be shown: a class made by a class statement outside of the standard library. */
static bool is_shown(struct pa_pools *pools, uint64_t object)
{
    struct pa_objects *objects = pools->graph->objects;
    uint32_t id = pa_type_of(objects, object);
    uint64_t flags, module;
    if (id == PA_NONE)
        return false;
    uint8_t *known = pa_byte_of(pools->graph->work, &pools->types, id, objects->types.count);
    if (!known)
        return false;
    if (*known == PA_BYTE_UNKNOWN) {
        uint64_t type = objects->types.items[id].address;
        *known = pa_object_word(objects, type, PA_F_type_flags, &flags) && flags & PA_TPFLAGS_HEAPTYPE &&
                 pa_class_attribute(objects, type, "__module__", &module) && !is_of_stdlib(objects, module);
    }
    return *known;
}

uint32_t pa_pools_of(struct pa_pools *pools, uint32_t node, uint64_t found[PA_POOLS_SHOWN])
{
    struct pa_graph *graph = pools->graph;
    uint32_t count = 0, stack = graph->nodes.items[node].stack;
    pa_task_iframes(graph, node, &pools->iframes);
    for (uint32_t i = 0; i < pools->iframes.count && i < PA_MAX_POOL_FRAMES && stack != 0 && count < PA_POOLS_SHOWN; i++) {
        uint32_t frame = graph->codes->stacks.items[stack].frame, k = 0;
        uint64_t self = self_of(pools, frame, pools->iframes.items[i]);
        stack = graph->codes->stacks.items[stack].outer;
        while (k < count && found[k] != self)
            k++;
        if (self != 0 && k == count && is_shown(pools, self) && pa_pool_members(pools, self)->count > 0)
            found[count++] = self;
    }
    return count;
}

/* ---- what is shown of one */

/* Include/cpython/dictobject.h and setobject.h: how many there are is a word of its own. */
static bool length_of(struct pa_objects *objects, uint64_t object, int64_t *length)
{
    struct pa_collection collection;
    uint64_t items, count = PA_MAX_SEQUENCE + 1;
    switch (pa_kind_of(objects, object)) {
    case PA_KIND_LIST:
    case PA_KIND_TUPLE:
        if (!pa_sequence(objects, object, &items, &count))
            return false;
        break;
    case PA_KIND_DICT:
        if (!pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, object_size), &count))
            return false;
        break;
    case PA_KIND_SET:
    case PA_KIND_FROZENSET:
        if (!pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, set_used), &count))
            return false;
        break;
    default:
        if (!pa_collection_begin(objects, object, &collection))
            return false;
        count = collection.left;
    }
    *length = (int64_t)count;
    return count <= PA_MAX_SEQUENCE;
}

static bool read_member(struct pa_objects *objects, uint64_t value, struct pa_member *member)
{
    uint64_t bits;
    uint32_t type = pa_type_of(objects, value);
    if (type == PA_NONE)
        return false;
    switch ((enum pa_kind)objects->types.items[type].kind) {
    case PA_KIND_BOOL:
        member->kind = PA_MEMBER_BOOL;
        return pa_int_read(objects, value, &member->number);
    case PA_KIND_INT:
        member->kind = PA_MEMBER_INT;
        return pa_int_read(objects, value, &member->number);
    case PA_KIND_FLOAT:
        member->kind = PA_MEMBER_FLOAT;
        if (!pa_object_word(objects, value, PA_F_float_value, &bits))
            return false;
        memcpy(&member->real, &bits, sizeof(bits));
        return true;
    default:
        member->kind = PA_MEMBER_LENGTH;
        member->type = objects->types.items[type].name;
        return length_of(objects, value, &member->number);
    }
}

const struct pa_members *pa_pool_members(struct pa_pools *pools, uint64_t object)
{
    struct pa_members *members = &pools->members;
    struct pa_attributes attributes;
    members->count = 0;
    members->more = false;
    if (!pa_attributes_begin(pools->graph->objects, object, &attributes))
        return members;
    for (uint32_t i = 0; pa_attributes_next(&attributes) && pa_work_step(pools->graph->work); i++) {
        struct pa_member member;
        if (i == PA_MAX_POOL_ATTRIBUTES) {
            members->more = true;
            break;
        }
        if (!read_member(pools->graph->objects, attributes.value, &member) ||
            (member.kind != PA_MEMBER_LENGTH && pa_telling_name(attributes.name, attributes.name_length) == PA_TELLING))
            continue;
        if (members->count == PA_POOL_MEMBERS) {
            members->more = true;
            break;
        }
        member.name_length = attributes.name_length;
        memcpy(member.name, attributes.name, attributes.name_length);
        members->items[members->count++] = member;
    }
    return members;
}
