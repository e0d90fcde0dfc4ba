/* Attributes of instances and elements of sequences. See instance.h. */
#include "instance.h"

/* Include/object.h, Py_TPFLAGS_* */
#define TPFLAGS_INLINE_VALUES (1u << 2)
#define TPFLAGS_MANAGED_DICT  (1u << 4)

/* Include/descrobject.h, PyMemberDef: name, type, offset, flags, doc; what a type of Py_T_OBJECT_EX or _Py_T_OBJECT refers to is an object */
enum { MEMBER_TYPE = 8, MEMBER_OFFSET = 16, MEMBER_SIZE = 40, MEMBER_OBJECT = 6, MEMBER_OBJECT_EX = 16 };

static bool type_of(struct pa_objects *objects, uint64_t object, uint64_t *type)
{
    uint32_t id = pa_type_of(objects, object);
    *type = id == PA_NONE ? 0 : objects->types.items[id].address;
    return *type != 0;
}

bool pa_sequence(struct pa_objects *objects, uint64_t address, uint64_t *items, uint64_t *count)
{
    const struct pa_layout *layout = objects->layout;
    enum pa_kind kind = pa_kind_of(objects, address);
    *items = *count = 0;
    if (kind == PA_KIND_TUPLE && PA_HAS(layout, tuple_item) && PA_HAS(layout, tuple_length)) {
        *items = address + PA_OFFSET(layout, tuple_item);
        return pa_memory_u64(objects->memory, address + PA_OFFSET(layout, tuple_length), count) && *count <= PA_MAX_SEQUENCE;
    }
    return kind == PA_KIND_LIST && PA_HAS(layout, list_item) && PA_HAS(layout, list_length) &&
           pa_memory_u64(objects->memory, address + PA_OFFSET(layout, list_item), items) &&
           pa_memory_u64(objects->memory, address + PA_OFFSET(layout, list_length), count) && *count <= PA_MAX_SEQUENCE;
}

/* Where the instance has its __dict__: the values in the object itself, or a dict that it points to. @return false if it has none. */
static bool begin_dict(struct pa_objects *objects, uint64_t object, uint64_t type, struct pa_dict_iterator *dict)
{
    const struct pa_layout *layout = objects->layout;
    uint64_t flags, basicsize, keys, address = 0, dictoffset;
    uint8_t valid;
    *dict = (struct pa_dict_iterator){0};
    if (!pa_object_word(objects, type, PA_F_type_flags, &flags))
        return false;
    /* Objects/dictobject.c, _PyObject_InlineValues(): they are valid until the dict has taken them over. */
    if (flags & TPFLAGS_INLINE_VALUES && PA_HAS(layout, dict_values_valid) &&
        pa_object_word(objects, type, PA_F_type_basicsize, &basicsize) && basicsize <= PA_MAX_OBJECT_SIZE &&
        pa_object_word(objects, type, PA_F_heap_type_cached_keys, &keys) &&
        pa_memory_u8(objects->memory, object + basicsize + PA_OFFSET(layout, dict_values_valid), &valid) && valid == 1)
        return pa_dict_begin_split(objects, keys, object + basicsize, dict);
    if (flags & TPFLAGS_MANAGED_DICT) {
        uint64_t before = layout->free_threaded ? layout->version->managed_dict_free_threaded : layout->version->managed_dict;
        if (!pa_memory_u64(objects->memory, object - before, &address))
            dict->damaged = true;
    } else if (pa_object_word(objects, type, PA_F_type_dictoffset, &dictoffset) && dictoffset > 0 &&
               dictoffset <= PA_MAX_OBJECT_SIZE) {
        if (!pa_memory_u64(objects->memory, object + dictoffset, &address))
            dict->damaged = true;
    }
    return address != 0 && pa_dict_begin(objects, address, dict);
}

static bool begin_classes(struct pa_objects *objects, uint64_t type, uint64_t *classes, uint64_t *count)
{
    uint64_t mro;
    return pa_object_word(objects, type, PA_F_type_mro, &mro) && mro != 0 && pa_sequence(objects, mro, classes, count) &&
           *count <= PA_MAX_MRO;
}

bool pa_attributes_begin(struct pa_objects *objects, uint64_t object, struct pa_attributes *attributes)
{
    uint64_t type;
    *attributes = (struct pa_attributes){.objects = objects, .object = object};
    if (!type_of(objects, object, &type))
        return false;
    attributes->in_dict = begin_dict(objects, object, type, &attributes->dict);
    attributes->damaged = attributes->dict.damaged;
    if (!pa_object_word(objects, type, PA_F_type_basicsize, &attributes->size) || attributes->size > PA_MAX_OBJECT_SIZE ||
        !begin_classes(objects, type, &attributes->classes, &attributes->class_count))
        attributes->class_count = 0;
    return true;
}

/* Set the name from a C string of the target. */
static bool read_member_name(struct pa_attributes *attributes, uint64_t address)
{
    attributes->name_length = pa_memory_string(attributes->objects->memory, address, attributes->name, PA_ATTRIBUTE_NAME);
    return attributes->name_length > 0;
}

/* The members of the next class that has some. Static types have theirs for fields of C, which are no attributes to us. */
static bool next_class(struct pa_attributes *attributes)
{
    struct pa_objects *objects = attributes->objects;
    while (attributes->class_count > 0 && pa_work_step(objects->work)) {
        uint64_t type, flags, members;
        bool read = pa_memory_u64(objects->memory, attributes->classes, &type);
        attributes->classes += 8;
        attributes->class_count--;
        if (!read || pa_type_at(objects, type) == PA_NONE || !pa_object_word(objects, type, PA_F_type_flags, &flags)) {
            attributes->damaged = true;
            continue;
        }
        if (flags & PA_TPFLAGS_HEAPTYPE && pa_object_word(objects, type, PA_F_type_members, &members) && members != 0 &&
            members % 8 == 0) {
            attributes->member = members;
            attributes->members_left = PA_MAX_OBJECT_SIZE / 8;
            return true;
        }
    }
    return false;
}

/* The next slot that holds an object. */
static bool next_slot(struct pa_attributes *attributes)
{
    struct pa_memory *memory = attributes->objects->memory;
    uint8_t scratch[MEMBER_SIZE];
    while (attributes->member != 0 || next_class(attributes)) {
        const uint8_t *member = pa_memory_view(memory, attributes->member, MEMBER_SIZE, scratch);
        if (!member || !pa_work_step(attributes->objects->work)) {
            attributes->damaged = true;
            attributes->member = 0;
            continue;
        }
        uint64_t name = pa_get_u64(member, 0), offset = pa_get_u64(member, MEMBER_OFFSET);
        uint32_t kind = pa_get_u32(member, MEMBER_TYPE);
        attributes->member = name != 0 && --attributes->members_left > 0 ? attributes->member + MEMBER_SIZE : 0;
        if (name != 0 && (kind == MEMBER_OBJECT || kind == MEMBER_OBJECT_EX) && offset % 8 == 0 && offset < attributes->size &&
            pa_memory_u64(memory, attributes->object + offset, &attributes->value) && attributes->value != 0 &&
            read_member_name(attributes, name))
            return true;
    }
    return false;
}

bool pa_attributes_next(struct pa_attributes *attributes)
{
    uint64_t key, left;
    while (attributes->in_dict) {
        if (!pa_dict_next(attributes->objects, &attributes->dict, &key, &attributes->value)) {
            attributes->in_dict = false;
            attributes->damaged = attributes->damaged || attributes->dict.damaged;
        } else if (pa_str_read_some(attributes->objects, key, PA_ATTRIBUTE_NAME / 4, attributes->name, &attributes->name_length,
                                    &left)) {
            return true;
        }
    }
    return next_slot(attributes);
}

bool pa_instance_attribute(struct pa_objects *objects, uint64_t object, const char *name, uint64_t *value)
{
    struct pa_attributes attributes;
    uint64_t type;
    *value = 0;
    if (!type_of(objects, object, &type))
        return false;
    if (begin_dict(objects, object, type, &attributes.dict) && pa_dict_find(objects, &attributes.dict, name, value))
        return true;
    if (!pa_attributes_begin(objects, object, &attributes))
        return false;
    attributes.in_dict = false;
    while (pa_attributes_next(&attributes)) {
        if (attributes.name_length == strlen(name) && memcmp(attributes.name, name, attributes.name_length) == 0) {
            *value = attributes.value;
            return true;
        }
    }
    return false;
}

bool pa_class_attribute(struct pa_objects *objects, uint64_t type, const char *name, uint64_t *value)
{
    struct pa_dict_iterator dict;
    uint64_t classes, count, each, address, entries = 0;
    *value = 0;
    if (!begin_classes(objects, type, &classes, &count))
        return false;
    for (uint64_t i = 0; i < count && pa_work_step(objects->work); i++) {
        if (!pa_memory_u64(objects->memory, classes + 8 * i, &each) || pa_type_at(objects, each) == PA_NONE ||
            !pa_object_word(objects, each, PA_F_type_dict, &address) || address == 0 || !pa_dict_begin(objects, address, &dict))
            continue;
        entries += dict.count;
        if (entries > PA_MAX_CLASS_ENTRIES)
            return false;
        if (pa_dict_find(objects, &dict, name, value))
            return true;
    }
    return false;
}

bool pa_is_instance(struct pa_objects *objects, uint64_t object, const char *builtin)
{
    uint64_t wanted, type;
    if (!pa_module_attribute(objects, "builtins", builtin, &wanted) ||
        !pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, object_type), &type))
        return false;
    for (uint32_t i = 0; i < PA_MAX_BASES && type != 0 && type != wanted; i++) {
        if (!pa_memory_u64(objects->memory, type + PA_OFFSET(objects->layout, type_base), &type))
            return false;
    }
    return type == wanted;
}

bool pa_class_is_named(struct pa_objects *objects, uint64_t type, const char *name)
{
    uint64_t classes, count, each, flags;
    if (!begin_classes(objects, type, &classes, &count))
        return false;
    for (uint64_t i = 0; i < count && pa_work_step(objects->work); i++) {
        uint32_t id = pa_memory_u64(objects->memory, classes + 8 * i, &each) ? pa_type_at(objects, each) : PA_NONE;
        if (id == PA_NONE || !pa_object_word(objects, each, PA_F_type_flags, &flags) || !(flags & PA_TPFLAGS_HEAPTYPE))
            continue;
        if (pa_text_is(&objects->text, objects->types.items[id].name, name))
            return true;
    }
    return false;
}
