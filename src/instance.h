/*
 * Instances of classes: their attributes by name, and all of them. Sequences: their elements.
 */
#ifndef PA_INSTANCE_H
#define PA_INSTANCE_H

#include "object.h"

/** Bytes of an attribute's name that are kept. */
#define PA_ATTRIBUTE_NAME 256u

/** Going through the attributes of an instance: its __dict__, wherever that is, then the __slots__ of its classes. */
struct pa_attributes {
    struct pa_objects *objects;
    uint64_t object;
    uint64_t size; /* of the object's fixed part: slots lie within */
    struct pa_dict_iterator dict;
    bool in_dict;
    uint64_t classes; /* the elements of tp_mro */
    uint64_t class_count;
    uint64_t member; /* PyMemberDef that comes next; 0: ask the next class */
    uint32_t members_left;
    bool damaged; /* something could not be read: attributes may be missing */
    /* The attribute that pa_attributes_next() found. */
    char name[PA_ATTRIBUTE_NAME];
    uint32_t name_length;
    uint64_t value;
};

/** Begin with the attributes of the object at @p object. @return false if it has no readable type. */
bool pa_attributes_begin(struct pa_objects *objects, uint64_t object, struct pa_attributes *attributes);

/** The next attribute: name, name_length and value are set. @return false at the end; see @c damaged. */
bool pa_attributes_next(struct pa_attributes *attributes);

/**
 * object.@p name for an attribute of the instance itself: in its __dict__ or a slot; class attributes and properties are none. Names are
 * literals: where one stood in the keys that the instances of a class share is remembered by the pointer.
 *
 * @return false if there is none.
 */
bool pa_instance_attribute(struct pa_objects *objects, uint64_t object, const char *name, uint64_t *value);

/** The elements of a tuple or list, or a subclass of one. @return false if it is none, or is damaged. */
bool pa_sequence(struct pa_objects *objects, uint64_t address, uint64_t *items, uint64_t *count);

/** What @p name is in the namespaces of a class and its bases, in the order of tp_mro; those of static types are not at hand. */
bool pa_class_attribute(struct pa_objects *objects, uint64_t type, const char *name, uint64_t *value);

/** Whether an object is an instance of a class of the module builtins, a literal, or of one derived from it by tp_base. */
bool pa_is_instance(struct pa_objects *objects, uint64_t object, const char *builtin);

/** Whether a class or one of its bases, which are known by tp_mro, is called @p name; those of static types are not asked. */
bool pa_class_is_named(struct pa_objects *objects, uint64_t type, const char *name);

#endif
