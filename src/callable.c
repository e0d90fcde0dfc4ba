/* Callable objects. See callable.h. */
#include "callable.h"

#include "instance.h"

/* partial() of partial() is one partial(), unless a subclass is among them. */
#define MAX_PARTIALS 8u

uint64_t pa_partial_function(struct pa_objects *objects, uint64_t object)
{
    for (uint32_t i = 0; i < MAX_PARTIALS; i++) {
        /* Modules/_functoolsmodule.c, partialobject: fn is its first field */
        if (!pa_is_of_type(objects, object, "functools.partial") ||
            !pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, wrapper_object), &object))
            break;
    }
    return object;
}

/* The function of a bound method, and what it is bound to; the object itself, bound to nothing (0), if it is none. */
static uint64_t method_function(struct pa_objects *objects, uint64_t object, uint64_t *self)
{
    uint64_t function;
    *self = 0;
    if (pa_kind_of(objects, object) != PA_KIND_METHOD || !pa_object_word(objects, object, PA_F_method_function, &function) ||
        !pa_object_word(objects, object, PA_F_method_self, self))
        return object;
    return function;
}

bool pa_is_builtin(struct pa_objects *objects, uint64_t object)
{
    uint32_t type = pa_type_of(objects, object), base_type;
    uint64_t base;
    if (type == PA_NONE)
        return false;
    if (objects->types.items[type].kind != PA_KIND_OTHER)
        return objects->types.items[type].kind == PA_KIND_BUILTIN_FUNCTION;
    if (!pa_object_word(objects, objects->types.items[type].address, PA_F_type_base, &base) || base == 0)
        return false;
    base_type = pa_type_at(objects, base);
    return base_type != PA_NONE && objects->types.items[base_type].kind == PA_KIND_BUILTIN_FUNCTION;
}

uint32_t pa_c_type_of(struct pa_objects *objects, uint64_t object)
{
    uint32_t type = pa_type_of(objects, object);
    uint64_t flags, base;
    for (uint32_t i = 0; type != PA_NONE && i < PA_MAX_BASES; i++) {
        uint64_t address = objects->types.items[type].address;
        if (!pa_object_word(objects, address, PA_F_type_flags, &flags) ||
            (flags & (PA_TPFLAGS_HEAPTYPE | PA_TPFLAGS_IMMUTABLETYPE)) != PA_TPFLAGS_HEAPTYPE ||
            !pa_object_word(objects, address, PA_F_type_base, &base))
            break;
        type = pa_type_at(objects, base);
    }
    return type;
}

/* The name under which a dict has a function; of a type's, the descriptor of the method with this definition. */
static uint32_t name_in(struct pa_objects *objects, uint64_t dict, uint64_t function, uint64_t definition, char *text,
                        uint32_t capacity)
{
    struct pa_dict_iterator iterator;
    uint64_t key, value, method, left;
    uint32_t length;
    if (!pa_dict_begin(objects, dict, &iterator) || iterator.count > PA_MAX_CLASS_ENTRIES)
        return 0;
    while (pa_dict_next(objects, &iterator, &key, &value)) {
        /* Include/cpython/descrobject.h, PyMethodDescrObject: d_type, d_name, d_qualname, d_method */
        bool found =
            value == function ||
            (pa_kind_of(objects, value) == PA_KIND_METHOD_DESCRIPTOR &&
             pa_memory_u64(objects->memory, value + PA_OFFSET(objects->layout, object_size) + 24, &method) && method == definition);
        if (found && pa_str_read_some(objects, key, (capacity - 1) / 4, text, &length, &left))
            return length;
    }
    return 0;
}

uint32_t pa_builtin_name(struct pa_objects *objects, uint64_t object, char *text, uint32_t capacity)
{
    uint64_t definition, name, self, dict;
    uint32_t length = 0, type;
    text[0] = '\0';
    if (!pa_is_builtin(objects, object) || !pa_object_word(objects, object, PA_F_builtin_definition, &definition) ||
        !pa_object_word(objects, object, PA_F_builtin_self, &self))
        return 0;
    /* Include/methodobject.h, PyMethodDef: ml_name is its first field */
    if (pa_memory_u64(objects->memory, definition, &name))
        length = pa_memory_string(objects->memory, name, text, capacity - 1);
    if (length == 0 && pa_kind_of(objects, self) == PA_KIND_MODULE) {
        if (pa_object_word(objects, self, PA_F_wrapper_module_dict, &dict))
            length = name_in(objects, dict, object, definition, text, capacity);
    } else if (length == 0 && (type = pa_c_type_of(objects, self)) != PA_NONE) {
        if (pa_object_word(objects, objects->types.items[type].address, PA_F_type_dict, &dict))
            length = name_in(objects, dict, object, definition, text, capacity);
    }
    text[length] = '\0';
    return length;
}

/* The id of the code object of a function made in Python; PA_NONE if it is none. */
static uint32_t code_of(struct pa_codes *codes, uint64_t function)
{
    uint64_t code;
    return pa_kind_of(codes->objects, function) == PA_KIND_FUNCTION &&
                   pa_object_word(codes->objects, function, PA_F_function_code, &code)
               ? pa_code_at(codes, code)
               : PA_NONE;
}

void pa_callable_read(struct pa_codes *codes, uint64_t object, struct pa_callable *callable)
{
    uint64_t self;
    uint32_t code = code_of(codes, method_function(codes->objects, object, &self));
    *callable = (struct pa_callable){0};
    if (code != PA_NONE) {
        const struct pa_code *item = &codes->codes.items[code];
        *callable = (struct pa_callable){item->qualname, item->filename, item->firstlineno};
        return;
    }
    callable->name = pa_type_name_of(codes->objects, object);
}

uint32_t pa_function_cells(struct pa_objects *objects, uint64_t function, uint64_t held[PA_MAX_CELLS])
{
    uint64_t closure, items, count, cell;
    uint32_t found = 0;
    if (pa_kind_of(objects, function) != PA_KIND_FUNCTION || !pa_object_word(objects, function, PA_F_function_closure, &closure) ||
        closure == 0 || !pa_sequence(objects, closure, &items, &count) || count > PA_MAX_CELLS)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!pa_memory_u64(objects->memory, items + 8 * i, &cell))
            return 0;
        if (pa_kind_of(objects, cell) == PA_KIND_CELL && pa_object_word(objects, cell, PA_F_wrapper_object, &held[found]) &&
            held[found] != 0)
            found++;
    }
    return found;
}

bool pa_is_function(struct pa_codes *codes, uint64_t object, const char *qualname, const char *file)
{
    uint32_t code = code_of(codes, object);
    const struct pa_arena *text = &codes->objects->text;
    return code != PA_NONE && pa_text_is(text, codes->codes.items[code].qualname, qualname) &&
           pa_text_ends(text, codes->codes.items[code].filename, file);
}
