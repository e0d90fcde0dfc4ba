/* Objects of classes made in Python. See instances.h. */
#include "instances.h"

#include <string.h>

static struct python *python;
static uint64_t tuple_type, bytes_type, deque_type, queue_type, list_type, float_type, bool_type, none_type, function_type,
    cell_type;

void instances_begin(struct python *of)
{
    python = of;
    tuple_type = python_type(python, "tuple", python->object_type, false, 1u << 26);
    list_type = python_type(python, "list", python->object_type, false, 1u << 25);
    bytes_type = python_type(python, "bytes", python->object_type, false, 1u << 27);
    float_type = python_type(python, "float", python->object_type, false, 0);
    bool_type = python->types[PA_KIND_BOOL];
    function_type = python_type(python, "function", python->object_type, false, 0);
    cell_type = python_type(python, "cell", python->object_type, false, 0);
    none_type = python_type(python, "NoneType", python->object_type, false, 0);
    deque_type = python_type(python, "collections.deque", python->object_type, true, 0);
    queue_type = python_type(python, "_queue.SimpleQueue", python->object_type, true, 0);
}

static void put(uint64_t address, uint64_t value)
{
    image_put_u64(python->image, address, value);
}

uint64_t make_tuple(uint32_t count, const uint64_t *items)
{
    uint64_t tuple = python_object(python, tuple_type, python_offset(python, SLOT_tuple_item) + 8 * (count + 1));
    put(tuple + python_offset(python, SLOT_tuple_ob_size), count);
    for (uint32_t i = 0; i < count; i++)
        put(tuple + python_offset(python, SLOT_tuple_item) + 8 * i, items[i]);
    return tuple;
}

uint64_t make_list(uint32_t count, const uint64_t *items)
{
    uint64_t list = python_object(python, list_type, python_offset(python, SLOT_list_size)),
             array = python_alloc(python, 8 * (count + 1));
    put(list + python_offset(python, SLOT_list_ob_size), count);
    put(list + python_offset(python, SLOT_list_item), array);
    for (uint32_t i = 0; i < count; i++)
        put(array + 8 * i, items[i]);
    return list;
}

uint64_t make_bytes(const void *bytes, uint64_t length)
{
    uint64_t object = python_object(python, bytes_type, python_offset(python, SLOT_bytes_data) + length + 1);
    put(object + python_offset(python, SLOT_bytes_length), length);
    image_put(python->image, object + python_offset(python, SLOT_bytes_data), bytes, length);
    return object;
}

uint64_t make_float(double number)
{
    uint64_t object = python_object(python, float_type, python_offset(python, SLOT_float_size));
    image_put(python->image, object + python_offset(python, SLOT_float_value), &number, sizeof(number));
    return object;
}

uint64_t make_bool(bool value)
{
    uint64_t object = python_int(python, value);
    put(object + python_offset(python, SLOT_object_ob_type), bool_type);
    return object;
}

uint64_t make_none(void)
{
    return python_object(python, none_type, python_offset(python, SLOT_object_size));
}

/* Modules/_collectionsmodule.c: a block is leftlink, data[64], rightlink */
uint64_t make_deque_of(uint32_t count, const uint64_t *items, uint64_t index, uint64_t length)
{
    uint64_t deque = python_object(python, deque_type, 256), size = python_offset(python, SLOT_tuple_ob_size);
    uint64_t block = python_alloc(python, 66 * 8), at = index;
    put(deque + size, length);
    put(deque + size + 8, block);
    put(deque + size + 24, index);
    for (uint32_t i = 0; i < count; i++) {
        if (at == 64) {
            uint64_t next = python_alloc(python, 66 * 8);
            put(block + 65 * 8, next);
            block = next;
            at = 0;
        }
        put(block + 8 * ++at, items[i]);
    }
    return deque;
}

uint64_t make_deque(uint64_t length)
{
    return make_deque_of(0, NULL, 0, length);
}

/* Modules/_queuemodule.c: has_threads_waiting; put_idx, get_idx, items, items_cap, num_items */
uint64_t make_simple_queue(uint32_t count, const uint64_t *items, uint64_t index)
{
    uint64_t size = python_offset(python, SLOT_object_size), queue = python_object(python, queue_type, size + 56);
    uint64_t ring = python_alloc(python, 64);
    put(queue + size + 8, (index + count) % 8);
    put(queue + size + 16, index);
    put(queue + size + 24, ring);
    put(queue + size + 32, 8);
    put(queue + size + 40, count);
    for (uint32_t i = 0; i < count; i++)
        put(ring + 8 * ((index + i) % 8), items[i]);
    return queue;
}

/* Offsets in PyTypeObject with the GIL; without it they are 16 more. */
enum { BASICSIZE = 32, DICT = 264, DICTOFFSET = 288, MRO = 344 };

uint64_t make_instance_of(const char *name, const char *const *attributes, const uint64_t *values)
{
    uint64_t type = python_type(python, name, python->object_type, true, 0), more = python->free_threaded ? 16 : 0;
    uint64_t size = python_offset(python, SLOT_object_size), object = python_object(python, type, size + 8);
    uint64_t dict = python_dict(python, 1);
    for (uint32_t i = 0; attributes[i]; i++)
        python_dict_set(python, dict, attributes[i], values[i]);
    put(type + BASICSIZE + more, size + 8);
    put(type + DICTOFFSET + more, size);
    put(type + MRO + more, make_tuple(1, &type));
    put(object + size, dict);
    return object;
}

uint64_t make_instance(const char *name, const char *attribute, uint64_t value)
{
    const char *const attributes[] = {attribute, NULL};
    return make_instance_of(name, attributes, &value);
}

void set_class_attributes(uint64_t object, const char *const *attributes, const uint64_t *values)
{
    uint64_t type = image_u64(python->image, object + python_offset(python, SLOT_object_ob_type)), dict = python_dict(python, 1);
    for (uint32_t i = 0; attributes[i]; i++)
        python_dict_set(python, dict, attributes[i], values[i]);
    put(type + DICT + (python->free_threaded ? 16 : 0), dict);
}

/* Include/cpython/funcobject.h, PyFunctionObject: globals, builtins, name, qualname, code, defaults, kwdefaults, closure */
uint64_t make_function(const char *qualname, const char *file, uint64_t closure)
{
    uint64_t size = python_offset(python, SLOT_object_size), function = python_object(python, function_type, size + 136);
    put(function + size + 32, python_code(python, qualname, file, 10, CO_FUNCTION));
    put(function + size + 56, closure);
    return function;
}

uint64_t make_cell(uint64_t held)
{
    uint64_t size = python_offset(python, SLOT_object_size), cell = python_object(python, cell_type, size + 8);
    put(cell + size, held);
    return cell;
}

void set_variables(uint64_t code, uint32_t count, const char *const *names)
{
    uint64_t strings[8];
    image_put_u32(python->image, code + python_offset(python, SLOT_code_firstlineno) + 4, count); /* co_nlocalsplus */
    for (uint32_t i = 0; i < count; i++)
        strings[i] = python_str(python, names[i]);
    put(code + python_offset(python, SLOT_code_localsplusnames), make_tuple(count, strings));
    put(code + python_offset(python, SLOT_code_localspluskinds), make_bytes("\x20\x20\x20\x20\x20\x20\x20\x20", count));
}
