/* Objects that hold no others, as repr() writes them. See value.h. */
#include "value_parts.h"

#include "number.h"

#include <math.h>

/* Include/internal/pycore_long.h: sign in bits 0-1 (0 positive, 1 zero, 2 negative), number of 30-bit digits from bit 3. */
void put_int(struct pa_values *values, uint64_t object)
{
    struct pa_objects *objects = values->objects;
    uint32_t digits[PA_INT_DIGITS];
    uint64_t tag;
    if (!pa_object_word(values->objects, object, PA_F_long_tag, &tag)) {
        put_opaque(values, object, ">");
        return;
    }
    uint64_t count = (tag & 3) == 1 ? 0 : tag >> 3;
    if (count > PA_INT_DIGITS) {
        values->truncated = true;
        put_format(values, "<int of about %llu bits at 0x%llx>", (unsigned long long)(count > UINT32_MAX ? count : count * 30),
                   (unsigned long long)object);
        return;
    }
    bool read = (tag & 3) != 3;
    for (uint64_t i = 0; i < count && read; i++)
        read = pa_memory_u32(objects->memory, object + PA_OFFSET(objects->layout, long_digit) + 4 * i, &digits[i]) &&
               digits[i] < 1u << 30;
    if (!read) {
        put_opaque(values, object, ">");
        return;
    }
    uint32_t length = pa_int_repr(digits, (uint32_t)count, (tag & 3) == 2, values->raw);
    uint64_t left = put_escaped(values, values->raw, length, 0, values->limits.length);
    if (left > 0 && !values->full)
        put_more(values, left);
}

static void put_double(struct pa_values *values, double number, bool point)
{
    char text[PA_FLOAT_BYTES];
    uint32_t length = pa_float_repr(number, point, text);
    put_format(values, "%.*s", (int)length, text);
}

void put_float(struct pa_values *values, uint64_t object)
{
    uint64_t bits;
    double number;
    if (!pa_object_word(values->objects, object, PA_F_float_value, &bits)) {
        put_opaque(values, object, ">");
        return;
    }
    memcpy(&number, &bits, sizeof(number));
    put_double(values, number, true);
}

/* Objects/complexobject.c, complex_repr(): a real part of +0.0 is left out. */
void put_complex(struct pa_values *values, uint64_t object)
{
    double parts[2];
    const struct pa_layout *layout = values->objects->layout;
    if (!PA_HAS(layout, complex_value) ||
        !pa_memory_read(values->objects->memory, object + PA_OFFSET(layout, complex_value), sizeof(parts), parts)) {
        put_opaque(values, object, ">");
        return;
    }
    if (parts[0] == 0 && !signbit(parts[0])) {
        put_double(values, parts[1], false);
        put(values, "j");
        return;
    }
    put(values, "(");
    put_double(values, parts[0], false);
    if (isnan(parts[1]) || !signbit(parts[1]))
        put(values, "+");
    put_double(values, parts[1], false);
    put(values, "j)");
}

void put_type_name(struct pa_values *values, uint64_t object)
{
    struct pa_text name = pa_type_name_of(values->objects, object);
    if (name.length)
        put_escaped(values, pa_arena_text(&values->objects->text, name), name.length, 0, PA_MAX_STRING);
    else
        put(values, pa_type_of(values->objects, object) == PA_NONE ? "unreadable" : "object of an unknown type");
}

void put_short_type_name(struct pa_values *values, uint64_t object)
{
    struct pa_text name = pa_type_name_of(values->objects, object);
    const char *text = pa_arena_text(&values->objects->text, name);
    const char *dot = name.length ? memrchr(text, '.', name.length) : NULL;
    if (name.length)
        put_escaped(values, dot ? dot + 1 : text, name.length - (dot ? (uint32_t)(dot + 1 - text) : 0), 0, PA_MAX_STRING);
    else
        put_type_name(values, object);
}

void put_opaque(struct pa_values *values, uint64_t object, const char *close)
{
    put(values, "<");
    put_type_name(values, object);
    put_format(values, " at 0x%llx%s", (unsigned long long)object, close);
}

/* Objects/typeobject.c, type_module() and type_qualname(). A static type has its module in tp_name, unless it is a builtin. */
void put_class_name(struct pa_values *values, uint64_t type)
{
    struct pa_objects *objects = values->objects;
    uint64_t flags, qualname, dict, module;
    pa_object_word(values->objects, type, PA_F_type_flags, &flags);
    uint32_t id = pa_type_at(objects, type);
    struct pa_text name = id == PA_NONE ? pa_no_text : objects->types.items[id].name;
    if (flags & PA_TPFLAGS_HEAPTYPE && pa_object_word(values->objects, type, PA_F_heap_type_qualname, &qualname) &&
        pa_kind_of(objects, qualname) == PA_KIND_STR) {
        if (pa_object_word(values->objects, type, PA_F_type_dict, &dict) && pa_dict_get(objects, dict, "__module__", &module) &&
            !pa_str_equals(objects, module, "builtins") && put_identifier(values, module))
            put(values, ".");
        put_identifier(values, qualname);
        return;
    }
    if (name.length)
        put_escaped(values, pa_arena_text(&objects->text, name), name.length, 0, PA_MAX_STRING);
    else
        put_format(values, "type at 0x%llx", (unsigned long long)type);
}

void put_class(struct pa_values *values, uint64_t type)
{
    put(values, "<class '");
    put_class_name(values, type);
    put(values, "'>");
}

void put_function(struct pa_values *values, uint64_t object)
{
    uint64_t qualname;
    if (!pa_object_word(values->objects, object, PA_F_function_qualname, &qualname) ||
        pa_kind_of(values->objects, qualname) != PA_KIND_STR) {
        put_opaque(values, object, ">");
        return;
    }
    put(values, "<function ");
    put_identifier(values, qualname);
    put_format(values, " at 0x%llx>", (unsigned long long)object);
}

void put_generator(struct pa_values *values, uint64_t object, const char *word)
{
    uint64_t qualname;
    if (!pa_object_word(values->objects, object, PA_F_gen_qualname, &qualname) ||
        pa_kind_of(values->objects, qualname) != PA_KIND_STR) {
        put_opaque(values, object, ">");
        return;
    }
    put_format(values, "<%s object ", word);
    put_identifier(values, qualname);
    put_format(values, " at 0x%llx>", (unsigned long long)object);
}

/* Objects/methodobject.c, meth_repr(). The name is a C string, in a file that may not be at hand. */
void put_builtin_function(struct pa_values *values, uint64_t object)
{
    struct pa_memory *memory = values->objects->memory;
    uint64_t definition, self, name;
    if (!pa_object_word(values->objects, object, PA_F_builtin_definition, &definition) ||
        !pa_object_word(values->objects, object, PA_F_builtin_self, &self) || !pa_memory_u64(memory, definition, &name)) {
        put_opaque(values, object, ">");
        return;
    }
    uint32_t length = pa_memory_string(memory, name, values->raw, MAX_NAME);
    if (length == 0 || length == MAX_NAME) {
        put_opaque(values, object, ">");
        return;
    }
    bool method = self != 0 && pa_kind_of(values->objects, self) != PA_KIND_MODULE;
    put(values, method ? "<built-in method " : "<built-in function ");
    put_name(values, values->raw, length);
    if (method) {
        put(values, " of ");
        put_type_name(values, self);
        put_format(values, " object at 0x%llx", (unsigned long long)self);
    }
    put(values, ">");
}

/* Lib/importlib/_bootstrap.py, _module_repr(): the name and where the module came from, by its __spec__. */
void put_module(struct pa_values *values, uint64_t object)
{
    struct pa_objects *objects = values->objects;
    uint64_t dict, spec, name, origin, has_location;
    int64_t located = 0;
    if (!pa_object_word(values->objects, object, PA_F_wrapper_module_dict, &dict) ||
        !pa_dict_get(objects, dict, "__name__", &name) || pa_kind_of(objects, name) != PA_KIND_STR) {
        put_opaque(values, object, ">");
        return;
    }
    if (!pa_dict_get(objects, dict, "__spec__", &spec) || !pa_instance_attribute(objects, spec, "name", &origin)) {
        put(values, "<module ");
        put_str(values, name);
        if (pa_dict_get(objects, dict, "__file__", &origin) && pa_kind_of(objects, origin) == PA_KIND_STR) {
            put(values, " from ");
            put_str(values, origin);
        }
        put(values, ">");
        return;
    }
    put(values, "<module ");
    put_str(values, origin);
    if (pa_instance_attribute(objects, spec, "origin", &origin) && pa_kind_of(objects, origin) == PA_KIND_STR) {
        if (pa_instance_attribute(objects, spec, "_set_fileattr", &has_location))
            pa_int_read(objects, has_location, &located);
        put(values, located ? " from " : " (");
        if (located)
            put_str(values, origin);
        else
            put_str_plain(values, origin);
        put(values, located ? "" : ")");
    }
    put(values, ">");
}
