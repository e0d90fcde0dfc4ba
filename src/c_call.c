/* What a frame calls in C. See c_call.h. */
#include "c_call.h"

#include "callable.h"

#include <math.h>

static void copy_type_name(struct pa_objects *objects, uint32_t type, char *text, uint32_t capacity)
{
    if (type == PA_NONE)
        return;
    struct pa_text name = objects->types.items[type].name;
    uint32_t length = name.length < capacity - 1 ? name.length : capacity - 1;
    memcpy(text, pa_arena_text(&objects->text, name), length);
    text[length] = '\0';
}

static void copy_str(struct pa_objects *objects, uint64_t object, char *text, uint32_t capacity)
{
    uint32_t length;
    uint64_t left;
    if (!pa_str_read_some(objects, object, (capacity - 1) / 4, text, &length, &left))
        length = 0;
    text[length] = '\0';
}

/* builtin_function_or_method: a function of a module, or a method that is bound to an object. */
static bool read_function(struct pa_objects *objects, uint64_t function, struct pa_c_call *call)
{
    uint64_t dict, module;
    if (!pa_object_word(objects, function, PA_F_builtin_self, &call->self) ||
        pa_builtin_name(objects, function, call->name, sizeof(call->name)) == 0)
        return false;
    if (pa_kind_of(objects, call->self) != PA_KIND_MODULE)
        copy_type_name(objects, pa_c_type_of(objects, call->self), call->owner, sizeof(call->owner));
    else if (pa_object_word(objects, call->self, PA_F_wrapper_module_dict, &dict) &&
             pa_dict_get(objects, dict, "__name__", &module))
        copy_str(objects, module, call->owner, sizeof(call->owner));
    return true;
}

/* Include/cpython/descrobject.h, PyDescrObject: d_type, d_name */
static bool read_descriptor(struct pa_objects *objects, uint64_t descriptor, struct pa_c_call *call)
{
    uint64_t type, name;
    if (!pa_object_word(objects, descriptor, PA_F_wrapper_object, &type) ||
        !pa_memory_u64(objects->memory, descriptor + PA_OFFSET(objects->layout, wrapper_object) + 8, &name))
        return false;
    copy_str(objects, name, call->name, sizeof(call->name));
    copy_type_name(objects, pa_type_at(objects, type), call->owner, sizeof(call->owner));
    return call->name[0] != '\0';
}

/* Modules/_functoolsmodule.c, partialobject: fn, args. The arguments that it was made with come first, so they are the ones that count. */
static bool open_partial(struct pa_objects *objects, uint64_t *function, struct pa_c_call *call)
{
    uint64_t items, count, tuple, partial = *function;
    if (!pa_object_word(objects, partial, PA_F_wrapper_object, function) ||
        !pa_memory_u64(objects->memory, partial + PA_OFFSET(objects->layout, wrapper_object) + 8, &tuple) ||
        !pa_sequence(objects, tuple, &items, &count))
        return false;
    if (count > 0) {
        call->arguments = items;
        call->count = (uint32_t)(count < PA_MAX_VARIABLES ? count : PA_MAX_VARIABLES);
    }
    return true;
}

/* One function made in C, called of @p self (0: of nothing). */
static bool read_one(struct pa_objects *objects, uint64_t function, uint64_t self, struct pa_c_call *call)
{
    uint32_t type = pa_type_of(objects, function);
    call->self = 0;
    call->name[0] = call->owner[0] = '\0';
    if (type == PA_NONE)
        return false;
    if (pa_is_builtin(objects, function))
        return self == 0 && read_function(objects, function, call);
    if (self == 0 || objects->types.items[type].kind != PA_KIND_METHOD_DESCRIPTOR || !read_descriptor(objects, function, call))
        return false;
    call->self = self;
    return true;
}

/* partial(Context.run, partial(time.sleep, 1)): what asyncio.to_thread() makes of a function, and more than anyone makes */
#define MAX_WRAPPERS 4u

/* The function made in C that calling @p function calls in the end, through functools.partial() and Context.run(). */
static bool read_callable(struct pa_codes *codes, uint64_t function, uint64_t self, struct pa_c_call *call)
{
    struct pa_objects *objects = codes->objects;
    for (uint32_t i = 0; i < MAX_WRAPPERS; i++) {
        uint32_t type = pa_type_of(objects, function);
        if (type != PA_NONE && pa_text_is(&objects->text, objects->types.items[type].name, "functools.partial")) {
            if (self != 0 || !open_partial(objects, &function, call))
                return false;
            continue;
        }
        if (!read_one(objects, function, self, call))
            return false;
        if (call->count == 0 || strcmp(call->name, "run") != 0 || pa_kind_of(objects, call->self) != PA_KIND_CONTEXT)
            return true;
        function = pa_slot_object(codes->objects, call->arguments);
        self = 0;
        call->arguments += 8;
        call->count--;
    }
    return false;
}

/* Whether a callable lies at @p callable, with self or NULL and @p count arguments behind it. */
static bool read_at(struct pa_codes *codes, uint64_t callable, uint32_t count, struct pa_c_call *call)
{
    *call = (struct pa_c_call){.arguments = callable + 16, .count = count};
    return read_callable(codes, pa_slot_object(codes->objects, callable), pa_slot_object(codes->objects, callable + 8), call);
}

/* CALL_FUNCTION_EX, function(*args, **keywords): the callable, NULL, a tuple, a dict or NULL. */
static bool read_unpacked(struct pa_codes *codes, uint64_t callable, struct pa_c_call *call)
{
    uint64_t tuple = pa_slot_object(codes->objects, callable + 16), keywords = pa_slot_object(codes->objects, callable + 24), items,
             count;
    if (pa_slot_object(codes->objects, callable + 8) != 0 || pa_kind_of(codes->objects, tuple) != PA_KIND_TUPLE ||
        (keywords != 0 && pa_kind_of(codes->objects, keywords) != PA_KIND_DICT) ||
        !pa_sequence(codes->objects, tuple, &items, &count) || count > PA_MAX_VARIABLES)
        return false;
    *call = (struct pa_c_call){.arguments = items, .count = (uint32_t)count};
    return read_callable(codes, pa_slot_object(codes->objects, callable), 0, call);
}

/* How many words lie above the callable and its object at a call: the arguments and, of CALL_KW, the names. -1: it is another instruction. */
static int32_t words_at(const struct pa_version *version, uint8_t opcode, uint8_t arguments)
{
    if (opcode == version->op_call_kw || opcode == version->op_instrumented_call_kw ||
        (opcode >= version->op_call_kw_first && opcode <= version->op_call_kw_last))
        return arguments + 1;
    return opcode == version->op_call || opcode == version->op_instrumented_call ||
                   (opcode >= version->op_call_first && opcode <= version->op_call_last)
               ? arguments
               : -1;
}

/* CALL_FUNCTION_EX and what it is specialised to, or an instruction that a tool has replaced: by what lies on the stack. */
static bool read_any(struct pa_codes *codes, uint64_t bottom, uint64_t top, uint8_t count, struct pa_c_call *call)
{
    uint64_t used = 8ull * (count + 2u);
    if (top - bottom >= used && read_at(codes, top - used, count, call))
        return true;
    /* With keywords a tuple of their names lies on top. */
    if (top - bottom >= used + 8 && pa_kind_of(codes->objects, pa_slot_object(codes->objects, top - 8)) == PA_KIND_TUPLE &&
        read_at(codes, top - used - 8, count, call))
        return true;
    return top - bottom >= 32 && read_unpacked(codes, top - 32, call);
}

bool pa_c_call_read(struct pa_codes *codes, uint64_t iframe, struct pa_c_call *call)
{
    struct pa_iframe frame;
    uint64_t bottom;
    uint8_t unit[2]; /* _Py_CODEUNIT: opcode, oparg. No call with 256 arguments or more waits for anything. */
    if (!pa_iframe_read(codes, iframe, &frame) ||
        !pa_memory_read(codes->objects->memory, frame.position.instruction, sizeof(unit), unit) ||
        pa_code_at(codes, frame.position.executable) == PA_NONE || !pa_iframe_stack(codes, iframe, &frame, &bottom) ||
        frame.stackpointer % 8 != 0)
        return false;
    uint64_t top = frame.stackpointer;
    if (top < bottom || top - bottom > 8ull * PA_MAX_VALUE_STACK)
        return false;
    int32_t words = words_at(codes->objects->layout->version, unit[0], unit[1]);
    uint64_t used = 8 * (uint64_t)(uint32_t)(words + 2);
    if (words >= 0 && top - bottom >= used && read_at(codes, top - used, unit[1], call)) {
        call->at_call = true;
        return true;
    }
    return read_any(codes, bottom, top, unit[1], call);
}

double pa_c_call_number(struct pa_codes *codes, const struct pa_c_call *call, uint32_t place)
{
    struct pa_objects *objects = codes->objects;
    uint64_t bits;
    bool is_int;
    int64_t number;
    if (place >= call->count || !pa_memory_u64(objects->memory, call->arguments + 8ull * place, &bits))
        return NAN;
    uint64_t object = pa_stackref(objects->layout, bits, &is_int, &number);
    return is_int ? (double)number : pa_number_read(objects, object);
}

bool pa_c_call_acquires(const struct pa_c_call *call)
{
    return strcmp(call->name, "acquire") == 0 || strcmp(call->name, "__enter__") == 0 || strcmp(call->name, "acquire_lock") == 0;
}
