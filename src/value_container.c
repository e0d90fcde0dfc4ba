/* Objects that hold others: opening a level, writing its elements one by one, closing it. See value.h. */
#include "value_parts.h"

/* An instance leads to much that its user knows nothing of, so that it counts as two levels. */
static uint32_t cost_of(enum level_kind kind)
{
    return kind == LEVEL_ATTRIBUTES ? 2 : 1;
}

static struct level *push(struct pa_values *values, enum level_kind kind, uint64_t object, const char *close)
{
    struct level *level = &values->levels[values->depth++];
    /* Attributes hold a long name and are set up where they are needed. */
    memset(level, 0, offsetof(struct level, members));
    level->value = 0;
    level->telling = PA_NOT_TELLING;
    level->one_comma = level->named_pair = false;
    level->kind = kind;
    level->cost = cost_of(kind);
    values->spent += level->cost;
    level->object = object;
    level->close = close;
    return level;
}

static void pop(struct pa_values *values)
{
    values->spent -= values->levels[--values->depth].cost;
}

/* Whether no more levels may be opened: then "…" stands for the content. */
static bool too_deep(struct pa_values *values, const char *close)
{
    if (values->spent < values->limits.depth)
        return false;
    put_more(values, 0);
    put(values, close);
    return true;
}

static void open_sequence(struct pa_values *values, uint64_t object, const char *open, const char *close)
{
    uint64_t items, count;
    if (!pa_sequence(values->objects, object, &items, &count)) {
        put_opaque(values, object, ">");
        return;
    }
    put(values, open);
    if (count == 0) {
        put(values, close);
    } else if (!too_deep(values, close)) {
        struct level *level = push(values, LEVEL_SEQUENCE, object, close);
        level->items = items;
        level->count = count;
        level->one_comma = *close == ')' && count == 1 && *open == '(';
    }
}

/* Objects/setobject.c, set_repr_lock_held(): frozenset({1, 2}), set(). */
static void open_set(struct pa_values *values, uint64_t object, enum pa_kind kind, bool exact)
{
    struct pa_set_iterator iterator;
    bool named = kind == PA_KIND_FROZENSET || !exact;
    if (!pa_set_begin(values->objects, object, &iterator)) {
        put_opaque(values, object, ">");
        return;
    }
    if (named || iterator.left == 0)
        put_type_name(values, object);
    if (iterator.left == 0) {
        put(values, "()");
        return;
    }
    const char *close = named ? "})" : "}";
    put(values, named ? "({" : "{");
    if (!too_deep(values, close)) {
        struct level *level = push(values, LEVEL_SET, object, close);
        level->set = iterator;
        level->count = iterator.left;
    }
}

static void open_dict(struct pa_values *values, uint64_t object)
{
    struct pa_dict_iterator iterator, first;
    uint64_t key, value;
    if (!pa_dict_begin(values->objects, object, &iterator)) {
        put_opaque(values, object, ">");
        return;
    }
    first = iterator;
    put(values, "{");
    if (!pa_dict_next(values->objects, &first, &key, &value) && !first.damaged) {
        put(values, "}");
    } else if (!too_deep(values, "}")) {
        struct level *level = push(values, LEVEL_DICT, object, "}");
        level->dict = iterator;
        /* ma_used follows the object's header; it only says how many are left out. */
        if (!pa_memory_u64(values->objects->memory, object + PA_OFFSET(values->objects->layout, object_size), &level->count) ||
            level->count > PA_MAX_DICT_ENTRIES)
            level->count = 0;
    }
}

/* One object with text around it: the caller has written what stands before. */
static void open_wrap(struct pa_values *values, uint64_t object, uint64_t inner, const char *close)
{
    if (too_deep(values, close))
        return;
    struct level *level = push(values, LEVEL_WRAP, object, close);
    level->items = inner;
    level->count = 1;
}

static bool is_enum(struct pa_values *values, uint64_t type)
{
    struct pa_objects *objects = values->objects;
    uint64_t metaclass;
    if (!pa_memory_u64(objects->memory, type + PA_OFFSET(objects->layout, object_type), &metaclass))
        return false;
    for (uint32_t i = 0; i < PA_MAX_BASES && metaclass != 0; i++) {
        uint32_t id = pa_type_at(objects, metaclass);
        if (id == PA_NONE)
            return false;
        if (pa_text_is(&objects->text, objects->types.items[id].name, "EnumType"))
            return true;
        if (!pa_memory_u64(objects->memory, metaclass + PA_OFFSET(objects->layout, type_base), &metaclass))
            return false;
    }
    return false;
}

static const struct class_facts *class_facts(struct pa_values *values, uint64_t type)
{
    static const struct class_facts nothing;
    struct class_facts *facts = &values->recent[pa_mix(type) % 16];
    if (facts->type == type)
        return facts;
    if (values->classes == PA_MAX_VALUE_CLASSES)
        return &nothing;
    values->classes++;
    *facts = (struct class_facts){.type = type, .is_enum = is_enum(values, type)};
    if (!pa_class_attribute(values->objects, type, "__dataclass_fields__", &facts->fields))
        facts->fields = 0;
    if (!pa_class_attribute(values->objects, type, "_fields", &facts->names))
        facts->names = 0;
    return facts;
}

/* Lib/enum.py, Enum.__repr__(): <Color.RED: 1>, and <Color: 8> for bits that have no name. */
static bool open_enum(struct pa_values *values, uint64_t object, const struct class_facts *class)
{
    uint64_t name, value;
    if (!class->is_enum || !pa_instance_attribute(values->objects, object, "_value_", &value))
        return false;
    put(values, "<");
    put_type_name(values, object);
    if (pa_instance_attribute(values->objects, object, "_name_", &name) && pa_kind_of(values->objects, name) == PA_KIND_STR) {
        put(values, ".");
        put_str_plain(values, name);
    }
    put(values, ": ");
    open_wrap(values, object, value, ">");
    return true;
}

/* Lib/collections/__init__.py, namedtuple(): Point(x=1, y=2) */
static bool open_namedtuple(struct pa_values *values, uint64_t object, const struct class_facts *class)
{
    uint64_t names, name_count, items, count;
    if (pa_kind_of(values->objects, class->names) != PA_KIND_TUPLE ||
        !pa_sequence(values->objects, class->names, &names, &name_count) || !pa_sequence(values->objects, object, &items, &count) ||
        name_count != count)
        return false;
    put_type_name(values, object);
    put(values, "(");
    if (count == 0) {
        put(values, ")");
    } else if (!too_deep(values, ")")) {
        struct level *level = push(values, LEVEL_NAMED, object, ")");
        level->items = items;
        level->names = names;
        level->count = count;
    }
    return true;
}

/* Lib/dataclasses.py, __repr__(): the class's qualname and the fields that are not excluded, in the order of their definition. */
static bool open_dataclass(struct pa_values *values, uint64_t object, const struct class_facts *class)
{
    uint64_t qualname;
    struct pa_dict_iterator iterator;
    if (class->fields == 0 || !pa_dict_begin(values->objects, class->fields, &iterator))
        return false;
    if (!PA_HAS(values->objects->layout, heap_type_qualname) ||
        !pa_memory_u64(values->objects->memory, class->type + PA_OFFSET(values->objects->layout, heap_type_qualname), &qualname) ||
        !put_identifier(values, qualname))
        put_type_name(values, object);
    put(values, "(");
    if (!too_deep(values, ")"))
        push(values, LEVEL_FIELDS, object, ")")->dict = iterator;
    return true;
}

/* Objects/exceptions.c, BaseException_repr(): the arguments, without a comma behind one; BaseExceptionGroup_repr(): a list of exceptions. */
static void open_exception(struct pa_values *values, uint64_t object)
{
    const struct pa_layout *layout = values->objects->layout;
    uint64_t args;
    put_short_type_name(values, object);
    if (!PA_HAS(layout, exception_args) ||
        !pa_memory_u64(values->objects->memory, object + PA_OFFSET(layout, exception_args), &args) ||
        pa_kind_of(values->objects, args) != PA_KIND_TUPLE) {
        put(values, "()");
        return;
    }
    open_sequence(values, args, "(", ")");
    if (values->depth > 0 && values->levels[values->depth - 1].object == args) {
        values->levels[values->depth - 1].object = object; /* a cycle goes through the exception */
        values->levels[values->depth - 1].one_comma = false;
    }
}

/* An instance: as object.__repr__() if its class is one of Python's, with attributes if it has some. */
static void open_instance(struct pa_values *values, uint64_t object, uint64_t type)
{
    const struct pa_layout *layout = values->objects->layout;
    struct level *level;
    uint64_t flags = 0;
    pa_memory_u64(values->objects->memory, type + PA_OFFSET(layout, type_flags), &flags);
    if (!(flags & PA_TPFLAGS_HEAPTYPE)) {
        put_opaque(values, object, ">");
        return;
    }
    if (flags & PA_TPFLAGS_IMMUTABLETYPE) { /* made in C */
        put_opaque(values, object, "");
    } else {
        put(values, "<");
        put_class_name(values, type);
        put_format(values, " object at 0x%llx", (unsigned long long)object);
    }
    level = push(values, LEVEL_ATTRIBUTES, object, ">");
    pa_attributes_begin(values->objects, object, &level->members);
    if (values->spent <= values->limits.depth || values->depth == 1)
        return;
    /* Too deep for the attributes; whether there are some is said all the same. */
    bool some = pa_attributes_next(&level->members);
    pop(values);
    if (some) {
        put(values, ": ");
        put_more(values, 0);
    }
    put(values, ">");
}

/* Whether an object is open, so that to write it again would not end. The text is what repr() writes. */
static bool is_open(struct pa_values *values, uint64_t object, enum pa_kind kind)
{
    for (uint32_t i = 0; i < values->depth; i++) {
        if (values->levels[i].object != object)
            continue;
        if (kind == PA_KIND_SET || kind == PA_KIND_FROZENSET) {
            put_type_name(values, object);
            put(values, "(...)");
        } else {
            put(values, kind == PA_KIND_LIST ? "[...]" : kind == PA_KIND_DICT ? "{...}" : kind == PA_KIND_TUPLE ? "(...)" : "...");
        }
        return true;
    }
    return false;
}

/* The types whose objects hold others, or would, if a subclass of them had not a repr() of its own. */
static bool open_builtin(struct pa_values *values, uint64_t object, enum pa_kind kind, bool exact)
{
    switch (kind) {
    case PA_KIND_LIST:
        open_sequence(values, object, "[", "]");
        return true;
    case PA_KIND_TUPLE:
        open_sequence(values, object, "(", ")");
        return true;
    case PA_KIND_SET:
    case PA_KIND_FROZENSET:
        open_set(values, object, kind, exact);
        return true;
    case PA_KIND_DICT:
        open_dict(values, object);
        return true;
    default:
        return false;
    }
}

/* Objects/classobject.c, method_repr(): <bound method QUALNAME of SELF> */
static void open_method(struct pa_values *values, uint64_t object)
{
    struct pa_memory *memory = values->objects->memory;
    const struct pa_layout *layout = values->objects->layout;
    uint64_t function, self, qualname;
    if (!pa_memory_u64(memory, object + PA_OFFSET(layout, method_function), &function) ||
        !pa_memory_u64(memory, object + PA_OFFSET(layout, method_self), &self) ||
        pa_kind_of(values->objects, function) != PA_KIND_FUNCTION ||
        !pa_memory_u64(memory, function + PA_OFFSET(layout, function_qualname), &qualname)) {
        put_opaque(values, object, ">");
        return;
    }
    put(values, "<bound method ");
    if (!put_identifier(values, qualname))
        put(values, "?");
    put(values, " of ");
    open_wrap(values, object, self, ">");
}

bool open_container(struct pa_values *values, uint64_t object, enum pa_kind kind)
{
    uint32_t id = pa_type_of(values->objects, object);
    uint64_t type = id == PA_NONE ? 0 : values->objects->types.items[id].address;
    bool exact = is_builtin(values, object);
    if (is_open(values, object, kind))
        return true;
    if (!exact && type != 0 && kind != PA_KIND_TYPE && kind != PA_KIND_EXCEPTION) {
        const struct class_facts *class = class_facts(values, type);
        if (open_enum(values, object, class) || (kind == PA_KIND_TUPLE && open_namedtuple(values, object, class)) ||
            open_dataclass(values, object, class))
            return true;
    }
    if (kind == PA_KIND_METHOD) {
        open_method(values, object);
        return true;
    }
    if (kind == PA_KIND_EXCEPTION) {
        open_exception(values, object);
        return true;
    }
    if (kind == PA_KIND_OTHER && type != 0) {
        open_instance(values, object, type);
        return true;
    }
    if (exact || kind == PA_KIND_OTHER || has_repr_of(values, object, kind))
        return open_builtin(values, object, kind, exact);
    /* A repr() of its own: the class, and the value that it has as what it is. */
    put_opaque(values, object, ": ");
    if (values->depth < MAX_LEVELS) {
        push(values, LEVEL_WRAP, 0, ">"); /* nothing in it but text: closed when what is opened now is */
        if (open_builtin(values, object, kind, true))
            return true;
        pop(values);
    }
    return false;
}

/* ---- steps ---- */

/* Text between elements. @return false if no more are to be written: the level is closed. */
static bool next_element(struct pa_values *values, struct level *level)
{
    if (values->full)
        return false;
    if (level->shown > 0)
        put(values, ", ");
    if (level->shown >= values->limits.length) {
        put_more(values, level->count > level->shown ? level->count - level->shown : 0);
        return false;
    }
    level->shown++;
    return true;
}

static void close_level(struct pa_values *values, struct level *level, bool damaged)
{
    if (damaged) {
        put(values, level->shown > 0 ? ", " : "");
        put_more(values, 0);
    }
    if (level->one_comma)
        put(values, ",");
    put(values, level->close);
    pop(values);
}

static void step_sequence(struct pa_values *values, struct level *level)
{
    uint64_t element;
    if (level->index == level->count || !next_element(values, level)) {
        close_level(values, level, false);
        return;
    }
    if (!pa_memory_u64(values->objects->memory, level->items + 8 * level->index++, &element)) {
        level->shown--;
        close_level(values, level, true);
        return;
    }
    /* What follows the name of a secret in a list is one: ("Authorization", …), ["--token", …]. In a pair an everyday word is enough. */
    enum pa_telling telling = level->telling;
    if (telling == PA_WEAKLY_TELLING && level->count != 2)
        telling = PA_NOT_TELLING;
    level->telling = telling == PA_NOT_TELLING ? telling_object(values, element) : PA_NOT_TELLING;
    put_object(values, element, telling);
}

static void step_set(struct pa_values *values, struct level *level)
{
    uint64_t element;
    bool more = !values->full && pa_set_next(values->objects, &level->set, &element);
    if (!more || !next_element(values, level)) {
        close_level(values, level, !more && level->set.damaged);
        return;
    }
    put_object(values, element, PA_NOT_TELLING);
}

/* Whether a str is one of two words. */
static bool is_word(struct pa_values *values, uint64_t object, const char *one, const char *other)
{
    return pa_str_equals(values->objects, object, one) || pa_str_equals(values->objects, object, other);
}

static void step_dict(struct pa_values *values, struct level *level)
{
    uint64_t key, value = level->value;
    if (value != 0) {
        level->value = 0;
        put(values, ": ");
        put_object(values, value, level->telling);
        return;
    }
    bool more = !values->full && pa_dict_next(values->objects, &level->dict, &key, &value);
    if (!more || !next_element(values, level)) {
        close_level(values, level, !more && level->dict.damaged);
        return;
    }
    level->value = value;
    level->telling = telling_object(values, key);
    /* {"name": "password", "value": …} */
    if (is_word(values, key, "name", "key"))
        level->named_pair = telling_object(values, value) == PA_TELLING;
    else if (level->named_pair && is_word(values, key, "value", "val"))
        level->telling = PA_TELLING;
    put_object(values, key, PA_NOT_TELLING);
}

static void put_attribute(struct pa_values *values, const char *name, uint32_t length, uint64_t object)
{
    enum pa_telling telling = pa_telling_name(name, length);
    put_name(values, name, length);
    put(values, "=");
    put_object(values, object, telling);
}

static void step_attributes(struct pa_values *values, struct level *level)
{
    bool more = !values->full && pa_attributes_next(&level->members);
    if (more && level->shown == 0)
        put(values, ": ");
    if (!more || !next_element(values, level)) {
        bool damaged = !more && level->members.damaged;
        if (damaged && level->shown == 0)
            put(values, ": ");
        close_level(values, level, damaged);
        return;
    }
    put_attribute(values, level->members.name, level->members.name_length, level->members.value);
}

/* The instance's own value of a field of its dataclass. */
static bool find_field(struct pa_values *values, struct level *level, const char *name, uint32_t length)
{
    struct pa_attributes *members = &level->members;
    pa_attributes_begin(values->objects, level->object, members);
    for (uint32_t i = 0; i < PA_MAX_ATTRIBUTES && values->fields < PA_MAX_FIELD_SEARCH && pa_attributes_next(members); i++) {
        values->fields++;
        if (members->name_length == length && memcmp(members->name, name, length) == 0)
            return true;
    }
    return false;
}

static void step_fields(struct pa_values *values, struct level *level)
{
    uint64_t key, field, in_repr, left;
    int64_t shown = 1;
    char name[PA_ATTRIBUTE_NAME];
    uint32_t length;
    bool enough = level->index++ == PA_MAX_ATTRIBUTES || values->fields == PA_MAX_FIELD_SEARCH;
    if (values->full || enough || !pa_dict_next(values->objects, &level->dict, &key, &field)) {
        close_level(values, level, level->dict.damaged || enough);
        return;
    }
    if (pa_instance_attribute(values->objects, field, "repr", &in_repr))
        pa_int_read(values->objects, in_repr, &shown);
    if (!shown || !pa_str_read_some(values->objects, key, PA_ATTRIBUTE_NAME / 4, name, &length, &left) ||
        !find_field(values, level, name, length))
        return;
    if (next_element(values, level))
        put_attribute(values, name, length, level->members.value);
    else
        close_level(values, level, false);
}

static void step_named(struct pa_values *values, struct level *level)
{
    uint64_t element, key, left;
    char name[PA_ATTRIBUTE_NAME];
    uint32_t length;
    if (level->index == level->count || !next_element(values, level)) {
        close_level(values, level, false);
        return;
    }
    uint64_t at = 8 * level->index++;
    if (!pa_memory_u64(values->objects->memory, level->items + at, &element) ||
        !pa_memory_u64(values->objects->memory, level->names + at, &key) ||
        !pa_str_read_some(values->objects, key, PA_ATTRIBUTE_NAME / 4, name, &length, &left)) {
        level->shown--;
        close_level(values, level, true);
        return;
    }
    put_attribute(values, name, length, element);
}

static void step_wrap(struct pa_values *values, struct level *level)
{
    if (level->count == 0) {
        close_level(values, level, false);
        return;
    }
    level->count = 0;
    put_object(values, level->items, PA_NOT_TELLING);
}

void step_level(struct pa_values *values)
{
    static void (*const steps[])(struct pa_values *, struct level *) = {
        [LEVEL_SEQUENCE] = step_sequence, [LEVEL_SET] = step_set,
        [LEVEL_DICT] = step_dict,         [LEVEL_ATTRIBUTES] = step_attributes,
        [LEVEL_FIELDS] = step_fields,     [LEVEL_NAMED] = step_named,
        [LEVEL_WRAP] = step_wrap,
    };
    struct level *level = &values->levels[values->depth - 1];
    steps[level->kind](values, level);
}
