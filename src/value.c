/* Values as text: what is written how, and what is hidden. See value.h. */
#include "value_parts.h"

#include <stdlib.h>

/* Numbers of fewer digits tell nothing under an everyday word. */
#define HARMLESS_NUMBER 100000

struct pa_value_limits pa_request_value_limits(const struct pa_request *request)
{
    return (struct pa_value_limits){request->value_depth, request->value_length, request->flags & PA_REQUEST_SHOW_SECRETS};
}

struct pa_values *pa_values_new(struct pa_objects *objects, struct pa_value_limits limits)
{
    struct pa_values *values = pa_work_resize(objects->work, NULL, 0, sizeof(*values));
    if (!values)
        return NULL;
    values->objects = objects;
    values->limits = limits;
    memset(values->recent, 0, sizeof(values->recent));
    if (values->limits.depth == 0)
        values->limits.depth = PA_DEFAULT_VALUE_DEPTH;
    if (values->limits.length == 0)
        values->limits.length = PA_DEFAULT_VALUE_LENGTH;
    /* One level more is for the text around a value that has a repr() of its own. */
    if (values->limits.depth > MAX_LEVELS - 2)
        values->limits.depth = MAX_LEVELS - 2;
    uint64_t total = 20ull * values->limits.length;
    values->total = total < PA_MAX_VALUE_BYTES ? (uint32_t)total : PA_MAX_VALUE_BYTES;
    if (values->total < 256)
        values->total = 256;
    return values;
}

void pa_values_free(struct pa_values *values)
{
    if (values)
        pa_work_resize(values->objects->work, values, sizeof(*values), 0);
}

bool is_builtin(struct pa_values *values, uint64_t object)
{
    uint32_t id = pa_type_of(values->objects, object);
    return id != PA_NONE && pa_type_is_exact(&values->objects->types.items[id]);
}

/* A type that is not known to be exactly the builtin one has its repr() if tp_repr is the same. */
bool has_repr_of(struct pa_values *values, uint64_t object, enum pa_kind kind)
{
    struct pa_objects *objects = values->objects;
    uint32_t id = pa_type_of(objects, object);
    uint64_t own, builtin, known = pa_objects_known(objects, kind);
    uint64_t type = id == PA_NONE ? 0 : objects->types.items[id].address;
    if (type == 0 || is_builtin(values, object) || known == 0)
        return true;
    return PA_HAS(objects->layout, type_repr) &&
           pa_memory_u64(objects->memory, type + PA_OFFSET(objects->layout, type_repr), &own) &&
           pa_memory_u64(objects->memory, known + PA_OFFSET(objects->layout, type_repr), &builtin) && own == builtin;
}

enum pa_telling telling_object(struct pa_values *values, uint64_t object)
{
    struct pa_objects *objects = values->objects;
    enum pa_kind kind = pa_kind_of(objects, object);
    char name[4 * MAX_NAME];
    uint32_t length;
    uint64_t left = 0, count;
    if (kind == PA_KIND_STR) {
        if (!pa_str_read_some(objects, object, MAX_NAME, name, &length, &left))
            return PA_NOT_TELLING;
    } else if (kind == PA_KIND_BYTES) {
        if (!pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, bytes_length), &count) || count > MAX_NAME ||
            !pa_memory_read(objects->memory, object + PA_OFFSET(objects->layout, bytes_data), count, name))
            return PA_NOT_TELLING;
        length = (uint32_t)count;
    } else {
        return PA_NOT_TELLING;
    }
    /* A sentence, a path and a URL are no names; "--token=V" and "password=V" hold their value themselves. */
    for (uint32_t i = 0; i < length; i++) {
        if (left > 0 || strchr(" =/@", name[i]))
            return PA_NOT_TELLING;
    }
    while (length > 0 && (name[length - 1] == ':' || name[length - 1] == '\0'))
        length--;
    return pa_telling_name(name, length);
}

/* How many elements, characters or bytes: 0 is no secret. UINT64_MAX if that cannot be told. */
static uint64_t length_of(struct pa_values *values, uint64_t object, enum pa_kind kind)
{
    struct pa_objects *objects = values->objects;
    const struct pa_layout *layout = objects->layout;
    uint64_t items, count;
    uint32_t field;
    switch (kind) {
    case PA_KIND_STR:
        field = PA_OFFSET(layout, unicode_length);
        break;
    case PA_KIND_SET:
    case PA_KIND_FROZENSET:
        field = PA_OFFSET(layout, set_used);
        break;
    case PA_KIND_LIST:
    case PA_KIND_TUPLE:
        return pa_sequence(objects, object, &items, &count) ? count : UINT64_MAX;
    default:
        field = PA_OFFSET(layout, object_size); /* ob_size, ma_used */
    }
    return pa_memory_u64(objects->memory, object + field, &count) ? count : UINT64_MAX;
}

/* Whether an object must not be shown, given what its name tells. */
static bool is_secret(struct pa_values *values, uint64_t object, enum pa_kind kind, enum pa_telling telling)
{
    int64_t number;
    if (telling == PA_NOT_TELLING || values->limits.secrets)
        return false;
    switch (kind) {
    case PA_KIND_STR:
    case PA_KIND_BYTES:
    case PA_KIND_BYTEARRAY:
    case PA_KIND_LIST:
    case PA_KIND_TUPLE:
    case PA_KIND_SET:
    case PA_KIND_FROZENSET:
    case PA_KIND_DICT:
        return length_of(values, object, kind) != 0;
    case PA_KIND_INT:
        return telling == PA_TELLING || !pa_int_read(values->objects, object, &number) || number >= HARMLESS_NUMBER ||
               number <= -HARMLESS_NUMBER;
    case PA_KIND_FLOAT:
    case PA_KIND_COMPLEX:
    case PA_KIND_EXCEPTION:
        return telling == PA_TELLING;
    default:
        return false;
    }
}

/* An instance under a telling name: what it is, without what it holds. @return false if it is none. */
static bool put_secret_instance(struct pa_values *values, uint64_t object, enum pa_kind kind, enum pa_telling telling)
{
    if (telling != PA_TELLING || values->limits.secrets || (kind != PA_KIND_OTHER && kind != PA_KIND_METHOD))
        return false;
    struct pa_attributes *attributes = &values->levels[MAX_LEVELS - 1].members;
    if (kind == PA_KIND_OTHER && (!pa_attributes_begin(values->objects, object, attributes) || !pa_attributes_next(attributes)))
        return false;
    put_opaque(values, object, kind == PA_KIND_METHOD ? ">" : ": ");
    if (kind == PA_KIND_OTHER) {
        put_hidden(values);
        put(values, ">");
    }
    return true;
}

/* What holds no other objects. @return false if it is none of these. */
static bool put_leaf(struct pa_values *values, uint64_t object, enum pa_kind kind)
{
    int64_t number;
    switch (kind) {
    case PA_KIND_NONE_TYPE:
        put(values, "None");
        return true;
    case PA_KIND_ELLIPSIS:
        put(values, "Ellipsis");
        return true;
    case PA_KIND_NOT_IMPLEMENTED:
        put(values, "NotImplemented");
        return true;
    case PA_KIND_BOOL:
        put(values, pa_int_read(values->objects, object, &number) && number == 0 ? "False" : "True");
        return true;
    case PA_KIND_INT:
        put_int(values, object);
        return true;
    case PA_KIND_FLOAT:
        put_float(values, object);
        return true;
    case PA_KIND_COMPLEX:
        put_complex(values, object);
        return true;
    case PA_KIND_STR:
        put_str(values, object);
        return true;
    case PA_KIND_BYTES:
    case PA_KIND_BYTEARRAY:
        put_bytes(values, object, kind == PA_KIND_BYTEARRAY);
        return true;
    case PA_KIND_TYPE:
        put_class(values, object);
        return true;
    case PA_KIND_FUNCTION:
        put_function(values, object);
        return true;
    case PA_KIND_BUILTIN_FUNCTION:
        put_builtin_function(values, object);
        return true;
    case PA_KIND_MODULE:
        put_module(values, object);
        return true;
    case PA_KIND_COROUTINE:
        put_generator(values, object, "coroutine");
        return true;
    case PA_KIND_GENERATOR:
        put_generator(values, object, "generator");
        return true;
    case PA_KIND_ASYNC_GENERATOR:
        put_generator(values, object, "async_generator");
        return true;
    default:
        return false;
    }
}

/* Kinds whose subclasses may have a repr() of their own. */
static bool is_subclassed(enum pa_kind kind)
{
    return kind == PA_KIND_INT || kind == PA_KIND_FLOAT || kind == PA_KIND_COMPLEX || kind == PA_KIND_STR ||
           kind == PA_KIND_BYTES || kind == PA_KIND_BYTEARRAY;
}

void put_object(struct pa_values *values, uint64_t object, enum pa_telling telling)
{
    enum pa_kind kind = object == 0 ? PA_KIND_OTHER : pa_kind_of(values->objects, object);
    if (values->full)
        return;
    if (object == 0) {
        put(values, "<NULL>");
        return;
    }
    if (is_secret(values, object, kind, telling)) {
        put_hidden(values);
        return;
    }
    if (put_secret_instance(values, object, kind, telling))
        return;
    bool own = is_subclassed(kind) && !has_repr_of(values, object, kind);
    if (!own && put_leaf(values, object, kind))
        return;
    if (open_container(values, object, kind))
        return;
    if (own) {
        /* open_container() has begun it: "<Class at 0x…: " */
        put_leaf(values, object, kind);
        put(values, ">");
        return;
    }
    put_opaque(values, object, ">");
}

static void begin(struct pa_values *values)
{
    values->written = 0;
    values->depth = values->spent = 0;
    values->classes = values->fields = 0;
    values->truncated = values->hidden = values->full = false;
}

static void run(struct pa_values *values)
{
    while (values->depth > 0 && pa_work_step(values->objects->work))
        step_level(values);
}

static void end(struct pa_values *values, uint64_t object, struct pa_value *value)
{
    *value = (struct pa_value){
        .text = values->text,
        .length = values->written,
        .address = object,
        .type = pa_type_name_of(values->objects, object),
        .truncated = values->truncated,
        .hidden = values->hidden,
    };
}

void pa_value_render(struct pa_values *values, const char *name, uint32_t name_length, uint64_t object, struct pa_value *value)
{
    begin(values);
    put_object(values, object, pa_telling_name(name, name_length));
    run(values);
    end(values, object, value);
}

/* A tagged int, which is no object (pa_stackref()). */
static void render_int(struct pa_values *values, const char *name, uint32_t name_length, int64_t number, struct pa_value *value)
{
    enum pa_telling telling = values->limits.secrets ? PA_NOT_TELLING : pa_telling_name(name, name_length);
    begin(values);
    if (telling == PA_TELLING || (telling == PA_WEAKLY_TELLING && (number >= HARMLESS_NUMBER || number <= -HARMLESS_NUMBER)))
        put_hidden(values);
    else
        put_format(values, "%lld", (long long)number);
    end(values, 0, value);
}

void pa_value_render_variable(struct pa_values *values, const struct pa_variables *variable, struct pa_value *value)
{
    if (variable->object != 0)
        pa_value_render(values, variable->name, variable->name_length, variable->object, value);
    else
        render_int(values, variable->name, variable->name_length, variable->number, value);
}

void pa_value_render_message(struct pa_values *values, uint64_t exception, struct pa_value *value)
{
    begin(values);
    put_message(values, exception);
    end(values, exception, value);
}
