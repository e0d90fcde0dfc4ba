/* Callable objects. See callable.h. */
#include "callable.h"

/* partial() of partial() is one partial(), unless a subclass is among them. */
#define MAX_PARTIALS 8u

uint64_t pa_partial_function(struct pa_objects *objects, uint64_t object)
{
    for (uint32_t i = 0; i < MAX_PARTIALS; i++) {
        uint32_t type = pa_type_of(objects, object);
        /* Modules/_functoolsmodule.c, partialobject: fn is its first field */
        if (type == PA_NONE || !pa_text_is(&objects->text, objects->types.items[type].name, "functools.partial") ||
            !pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, wrapper_object), &object))
            break;
    }
    return object;
}

uint64_t pa_method_function(struct pa_objects *objects, uint64_t object, uint64_t *self)
{
    uint64_t function;
    *self = 0;
    if (pa_kind_of(objects, object) != PA_KIND_METHOD || !pa_object_word(objects, object, PA_F_method_function, &function) ||
        !pa_object_word(objects, object, PA_F_method_self, self))
        return object;
    return function;
}

struct pa_text pa_builtin_name(struct pa_objects *objects, uint64_t object)
{
    uint64_t definition, name;
    char text[128];
    /* Include/methodobject.h, PyMethodDef: ml_name is its first field */
    if (pa_kind_of(objects, object) != PA_KIND_BUILTIN_FUNCTION ||
        !pa_object_word(objects, object, PA_F_builtin_definition, &definition) ||
        !pa_memory_u64(objects->memory, definition, &name))
        return pa_no_text;
    return pa_arena_add(objects->work, &objects->text, text, pa_memory_string(objects->memory, name, text, sizeof(text)));
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
    uint32_t code = code_of(codes, pa_method_function(codes->objects, object, &self));
    *callable = (struct pa_callable){0};
    if (code != PA_NONE) {
        const struct pa_code *item = &codes->codes.items[code];
        *callable = (struct pa_callable){item->qualname, item->filename, item->firstlineno};
        return;
    }
    uint32_t type = pa_type_of(codes->objects, object);
    if (type != PA_NONE)
        callable->name = codes->objects->types.items[type].name;
}

bool pa_is_function(struct pa_codes *codes, uint64_t object, const char *qualname, const char *file)
{
    uint32_t code = code_of(codes, object);
    const struct pa_arena *text = &codes->objects->text;
    return code != PA_NONE && pa_text_is(text, codes->codes.items[code].qualname, qualname) &&
           pa_text_ends(text, codes->codes.items[code].filename, file);
}
