/* Types and plain values of the target. See object.h. */
#include "object.h"

#include "cython.h"

#include <math.h>
#include <stdio.h>

/* Include/object.h, Py_TPFLAGS_*: builtin types whose instances, and those of subclasses, have a bit of their own. bool is a subclass of int. */
static const struct {
    enum pa_kind kind;
    uint32_t flag;
} flagged_types[] = {
    {PA_KIND_INT, 1u << 24}, {PA_KIND_LIST, 1u << 25}, {PA_KIND_TUPLE, 1u << 26},     {PA_KIND_BYTES, 1u << 27},
    {PA_KIND_STR, 1u << 28}, {PA_KIND_DICT, 1u << 29}, {PA_KIND_EXCEPTION, 1u << 30}, {PA_KIND_TYPE, 1u << 31},
};

/* Longest tp_name that is kept. */
#define MAX_TYPE_NAME 256u

/* Static types: how to find them. Their names are in .rodata, which a core does not have. */
static const struct {
    enum pa_kind kind;
    const char *name, *symbol, *module, *attribute;
} known_types[] = {
    {PA_KIND_COROUTINE, "coroutine", "PyCoro_Type", "types", "CoroutineType"},
    {PA_KIND_GENERATOR, "generator", "PyGen_Type", "types", "GeneratorType"},
    {PA_KIND_ASYNC_GENERATOR, "async_generator", "PyAsyncGen_Type", "types", "AsyncGeneratorType"},
    {PA_KIND_COROUTINE_WRAPPER, "coroutine_wrapper", "_PyCoroWrapper_Type", NULL, NULL},
    {PA_KIND_ASYNC_GEN_ASEND, "async_generator_asend", "_PyAsyncGenASend_Type", NULL, NULL},
    {PA_KIND_ASYNC_GEN_ATHROW, "async_generator_athrow", "_PyAsyncGenAThrow_Type", NULL, NULL},
    {PA_KIND_ANEXT_AWAITABLE, "anext_awaitable", "_PyAnextAwaitable_Type", NULL, NULL},
    {PA_KIND_CODE, "code", "PyCode_Type", "types", "CodeType"},
    {PA_KIND_STR, "str", "PyUnicode_Type", "builtins", "str"},
    {PA_KIND_INT, "int", "PyLong_Type", "builtins", "int"},
    {PA_KIND_BOOL, "bool", "PyBool_Type", "builtins", "bool"},
    {PA_KIND_SET, "set", "PySet_Type", "builtins", "set"},
    {PA_KIND_DICT, "dict", "PyDict_Type", "builtins", "dict"},
    {PA_KIND_MODULE, "module", "PyModule_Type", "types", "ModuleType"},
    {PA_KIND_NONE_TYPE, "NoneType", "_PyNone_Type", "types", "NoneType"},
    {PA_KIND_FLOAT, "float", "PyFloat_Type", "builtins", "float"},
    {PA_KIND_COMPLEX, "complex", "PyComplex_Type", "builtins", "complex"},
    {PA_KIND_BYTES, "bytes", "PyBytes_Type", "builtins", "bytes"},
    {PA_KIND_BYTEARRAY, "bytearray", "PyByteArray_Type", "builtins", "bytearray"},
    {PA_KIND_TUPLE, "tuple", "PyTuple_Type", "builtins", "tuple"},
    {PA_KIND_LIST, "list", "PyList_Type", "builtins", "list"},
    {PA_KIND_FROZENSET, "frozenset", "PyFrozenSet_Type", "builtins", "frozenset"},
    {PA_KIND_FUNCTION, "function", "PyFunction_Type", "types", "FunctionType"},
    {PA_KIND_METHOD, "method", "PyMethod_Type", "types", "MethodType"},
    {PA_KIND_BUILTIN_FUNCTION, "builtin_function_or_method", "PyCFunction_Type", "types", "BuiltinFunctionType"},
    {PA_KIND_METHOD_DESCRIPTOR, "method_descriptor", "PyMethodDescr_Type", "types", "MethodDescriptorType"},
    {PA_KIND_CELL, "cell", "PyCell_Type", "types", "CellType"},
    {PA_KIND_TYPE, "type", "PyType_Type", "builtins", "type"},
    {PA_KIND_EXCEPTION, "BaseException", NULL, "builtins", "BaseException"}, /* the symbol is that of a pointer */
    {PA_KIND_TRACEBACK, "traceback", "PyTraceBack_Type", "types", "TracebackType"},
    {PA_KIND_FRAME, "frame", "PyFrame_Type", "types", "FrameType"},
    {PA_KIND_ELLIPSIS, "ellipsis", "PyEllipsis_Type", "types", "EllipsisType"},
    {PA_KIND_NOT_IMPLEMENTED, "NotImplementedType", "_PyNotImplemented_Type", "types", "NotImplementedType"},
    {PA_KIND_CONTEXT, "_contextvars.Context", "PyContext_Type", "_contextvars", "Context"},
    {PA_KIND_CONTEXT_VAR, "_contextvars.ContextVar", "PyContextVar_Type", "_contextvars", "ContextVar"},
    {PA_KIND_HAMT, "hamt", "_PyHamt_Type", NULL, NULL},
    {PA_KIND_HAMT_BITMAP, "hamt_bitmap_node", "_PyHamt_BitmapNode_Type", NULL, NULL},
    {PA_KIND_HAMT_ARRAY, "hamt_array_node", "_PyHamt_ArrayNode_Type", NULL, NULL},
    {PA_KIND_HAMT_COLLISION, "hamt_collision_node", "_PyHamt_CollisionNode_Type", NULL, NULL},
    {PA_KIND_GREENLET, "greenlet.greenlet", "PyGreenlet_Type", "greenlet._greenlet", "greenlet"},
};
#define KNOWN_TYPES (sizeof(known_types) / sizeof(*known_types))

/* Heap types of _asyncio and what their subclasses are to us. Modules/_asynciomodule.c, Task_spec and its neighbours. */
static const struct {
    enum pa_kind kind;
    const char *name;
} heap_types[] = {
    {PA_KIND_TASK, "_asyncio.Task"},
    {PA_KIND_FUTURE, "_asyncio.Future"},
    {PA_KIND_FUTURE_ITER, "_asyncio.FutureIter"},
};

const char *pa_evidence_name(enum pa_evidence evidence)
{
    static const char *const names[] = {"unknown", "symbol", "sys.modules", "name", "base type", "tp_flags"};
    return names[evidence];
}

const char *pa_kind_type_name(enum pa_kind kind)
{
    for (size_t i = 0; i < KNOWN_TYPES; i++) {
        if (known_types[i].kind == kind)
            return known_types[i].name;
    }
    return NULL;
}

void pa_objects_init(struct pa_objects *objects, struct pa_memory *memory, struct pa_layout *layout, uint64_t sys_modules)
{
    *objects = (struct pa_objects){.work = memory->work, .memory = memory, .layout = layout, .sys_modules = sys_modules};
    memset(objects->recent_types, 0xff, sizeof(objects->recent_types));
    /* tp_base is not published: bool's is int. */
    uint64_t truth, number;
    if (pa_module_attribute(objects, "builtins", "bool", &truth) && pa_module_attribute(objects, "builtins", "int", &number))
        pa_layout_calibrate_type_base(layout, memory, truth, number);
}

void pa_objects_deinit(struct pa_objects *objects)
{
    struct pa_work *work = objects->work;
    pa_array_free(work, &objects->classes);
    pa_array_free(work, &objects->types);
    pa_index_free(work, &objects->type_index);
    pa_arena_free(work, &objects->text);
}

void pa_objects_add_class(struct pa_objects *objects, uint64_t class, enum pa_kind kind)
{
    struct pa_class *slot = pa_array_push(objects->work, &objects->classes, PA_MAX_TYPES);
    if (slot)
        *slot = (struct pa_class){class, (uint8_t)kind};
}

static enum pa_kind kind_of_class(const struct pa_objects *objects, uint64_t address)
{
    for (uint32_t i = 0; i < objects->classes.count; i++) {
        if (objects->classes.items[i].address == address)
            return objects->classes.items[i].kind;
    }
    return PA_KIND_OTHER;
}

/* The first of these classes in the tp_mro of a type: with several bases, tp_base need not lead to it. */
static enum pa_kind kind_by_class(struct pa_objects *objects, uint64_t type)
{
    const struct pa_layout *layout = objects->layout;
    enum pa_kind kind = PA_KIND_OTHER;
    uint64_t mro, count, class;
    if (objects->classes.count == 0 || !PA_HAS(layout, type_mro) || !PA_HAS(layout, tuple_item) || !PA_HAS(layout, tuple_length) ||
        !pa_memory_u64(objects->memory, type + PA_OFFSET(layout, type_mro), &mro) ||
        !pa_memory_u64(objects->memory, mro + PA_OFFSET(layout, tuple_length), &count))
        return PA_KIND_OTHER;
    for (uint64_t i = 0; i < count && i < PA_MAX_MRO && kind == PA_KIND_OTHER; i++) {
        if (!pa_memory_u64(objects->memory, mro + PA_OFFSET(layout, tuple_item) + 8 * i, &class))
            break;
        kind = kind_of_class(objects, class);
    }
    return kind;
}

/* What sys.modules holds had to be read before it could tell which types these were: dict and str. */
static void name_types(struct pa_objects *objects)
{
    for (size_t i = 0; i < KNOWN_TYPES; i++) {
        uint32_t id =
            pa_index_find(&objects->type_index, objects->types.items, sizeof(struct pa_type), objects->known[known_types[i].kind]);
        struct pa_type *type = id == PA_NONE ? NULL : &objects->types.items[id];
        if (!type || type->name.length > 0)
            continue;
        type->kind = (uint8_t)known_types[i].kind;
        type->evidence = objects->known_by[known_types[i].kind];
        type->name = pa_arena_add(objects->work, &objects->text, known_types[i].name, strlen(known_types[i].name));
    }
}

/*
 * Ask for the symbol of a static type, once and only when such a type is wanted: a debugger may have to read much to find a symbol.
 * With the files of another program its symbols are none of ours either.
 */
static uint64_t ask_symbol(struct pa_objects *objects, size_t i)
{
    enum pa_kind kind = known_types[i].kind;
    if (!objects->asked_symbol[kind] && objects->known[kind] == 0) {
        objects->asked_symbol[kind] = true;
        int32_t status = PA_UNREADABLE;
        if (known_types[i].symbol && !objects->memory->core_only)
            status = objects->work->target->symbol(known_types[i].symbol, &objects->known[kind]);
        if (status == PA_OK)
            objects->known_by[kind] = PA_BY_SYMBOL;
        else
            objects->known[kind] = 0;
        if (status == PA_ABORTED)
            objects->work->fatal = PA_ABORTED;
    }
    return objects->known[kind];
}

/* The same for an address that it probably has, which is asked for first. */
static uint64_t ask_symbol_at(struct pa_objects *objects, size_t i, uint64_t address)
{
    enum pa_kind kind = known_types[i].kind;
    const struct pa_target *target = objects->work->target;
    if (address != 0 && !objects->asked_symbol[kind] && objects->known[kind] == 0 && known_types[i].symbol &&
        !objects->memory->core_only && target->symbol_at) {
        int32_t status = target->symbol_at(address, known_types[i].symbol);
        if (status == PA_ABORTED)
            objects->work->fatal = PA_ABORTED;
        if (status == PA_OK) {
            objects->known[kind] = address;
            objects->known_by[kind] = PA_BY_SYMBOL;
        }
    }
    return ask_symbol(objects, i);
}

static uint64_t ask_modules(struct pa_objects *objects, size_t i)
{
    enum pa_kind kind = known_types[i].kind;
    if (objects->known[kind] == 0 && known_types[i].module && !objects->asked_modules[kind]) {
        objects->asked_modules[kind] = true;
        if (pa_module_attribute(objects, known_types[i].module, known_types[i].attribute, &objects->known[kind]))
            objects->known_by[kind] = PA_BY_SYS_MODULES;
        else
            objects->known[kind] = 0;
    }
    return objects->known[kind];
}

uint64_t pa_objects_known(struct pa_objects *objects, enum pa_kind kind)
{
    for (size_t i = 0; i < KNOWN_TYPES; i++) {
        if (known_types[i].kind != kind)
            continue;
        /* Most processes have no greenlets, and to find out that a symbol is nowhere takes a debugger longest. */
        uint64_t ignored;
        if (kind == PA_KIND_GREENLET && ask_modules(objects, i) == 0 && pa_module_attribute(objects, "builtins", "int", &ignored))
            return 0;
        uint64_t probable = 0;
        if (objects->known[kind] == 0 && known_types[i].module && !objects->memory->core_only)
            pa_module_attribute(objects, known_types[i].module, known_types[i].attribute, &probable);
        return ask_symbol_at(objects, i, probable) ? objects->known[kind] : ask_modules(objects, i);
    }
    return 0;
}

/* Once: a type of unknown name is rare. */
static void ask_all(struct pa_objects *objects)
{
    if (objects->asked_all)
        return;
    objects->asked_all = true;
    for (size_t i = 0; i < KNOWN_TYPES; i++)
        pa_objects_known(objects, known_types[i].kind);
    name_types(objects);
}

/* Fields of a type that classification needs. */
struct raw_type {
    uint64_t flags, base;
    char name[MAX_TYPE_NAME];
    uint32_t name_length;
};

static bool read_type(struct pa_objects *objects, uint64_t address, struct raw_type *type)
{
    struct pa_memory *memory = objects->memory;
    uint64_t name;
    if (!pa_memory_u64(memory, address + PA_OFFSET(objects->layout, type_name), &name) ||
        !pa_memory_u64(memory, address + PA_OFFSET(objects->layout, type_flags), &type->flags) ||
        !pa_memory_u64(memory, address + PA_OFFSET(objects->layout, type_base), &type->base))
        return false;
    type->name_length = pa_memory_string(memory, name, type->name, sizeof(type->name));
    return true;
}

static bool name_is(const struct raw_type *type, const char *name)
{
    return type->name_length == strlen(name) && memcmp(type->name, name, type->name_length) == 0;
}

/*
 * Whether @p type at @p address is a static type that we know: by the symbol of that name; by the name alone if there is no symbol. A type
 * whose name cannot be read is compared with all, also with those that sys.modules tells.
 */
static enum pa_kind kind_of_known(struct pa_objects *objects, uint64_t address, const struct raw_type *type,
                                  enum pa_evidence *evidence)
{
    bool named = type->name_length > 0;
    if (!named)
        ask_all(objects);
    for (size_t i = 0; i < KNOWN_TYPES; i++) {
        if (named && !name_is(type, known_types[i].name))
            continue;
        uint64_t known = named ? ask_symbol_at(objects, i, address) : ask_symbol(objects, i);
        /* Cython has static types of these names, of another layout. */
        if (known == address || (named && known == 0)) {
            *evidence = known ? objects->known_by[known_types[i].kind] : PA_BY_NAME;
            return known_types[i].kind;
        }
    }
    return PA_KIND_OTHER;
}

static bool is_plain(enum pa_kind kind)
{
    return kind == PA_KIND_SET || kind == PA_KIND_FROZENSET || kind == PA_KIND_FLOAT || kind == PA_KIND_COMPLEX ||
           kind == PA_KIND_BYTEARRAY;
}

/* Follow tp_base to a type of _asyncio, that of greenlets, or a builtin one. */
static enum pa_kind kind_by_base(struct pa_objects *objects, struct raw_type type)
{
    for (uint32_t step = 0; step < PA_MAX_BASES; step++) {
        for (size_t i = 0; type.flags & PA_TPFLAGS_HEAPTYPE && i < sizeof(heap_types) / sizeof(*heap_types); i++) {
            if (name_is(&type, heap_types[i].name) && pa_layout_has_asyncio(objects->layout))
                return heap_types[i].kind;
        }
        uint64_t base = type.base;
        if (base == 0 || !read_type(objects, base, &type))
            break;
        /* Subclasses of builtin types without a flag of their own have the layout of these. */
        enum pa_evidence evidence;
        enum pa_kind kind = type.flags & PA_TPFLAGS_HEAPTYPE ? PA_KIND_OTHER : kind_of_known(objects, base, &type, &evidence);
        if (kind == PA_KIND_GREENLET || is_plain(kind))
            return kind;
    }
    return PA_KIND_OTHER;
}

static void classify(struct pa_objects *objects, uint64_t address, const struct raw_type *raw, struct pa_type *type)
{
    enum pa_kind kind = PA_KIND_OTHER;
    enum pa_evidence evidence = PA_BY_NOTHING;
    if (raw->flags & PA_TPFLAGS_HEAPTYPE) {
        kind = kind_by_base(objects, *raw);
        if (kind == PA_KIND_OTHER)
            kind = kind_by_class(objects, address);
        evidence = kind == PA_KIND_OTHER ? PA_BY_NOTHING : PA_BY_BASE;
    } else {
        kind = kind_of_known(objects, address, raw, &evidence);
        /* gevent's subclasses are static types. */
        if (kind == PA_KIND_OTHER && kind_by_base(objects, *raw) == PA_KIND_GREENLET) {
            kind = PA_KIND_GREENLET;
            evidence = PA_BY_BASE;
        }
    }
    if (kind == PA_KIND_OTHER && (kind = pa_cython_kind(raw->name, raw->name_length)) != PA_KIND_OTHER)
        evidence = PA_BY_NAME;
    if (kind == PA_KIND_OTHER) {
        for (size_t i = 0; i < sizeof(flagged_types) / sizeof(*flagged_types) && kind == PA_KIND_OTHER; i++)
            kind = raw->flags & flagged_types[i].flag ? flagged_types[i].kind : PA_KIND_OTHER;
        evidence = kind == PA_KIND_OTHER ? PA_BY_NOTHING : PA_BY_FLAGS;
    }
    type->kind = (uint8_t)kind;
    type->evidence = (uint8_t)evidence;
    if (raw->name_length)
        type->name = pa_arena_add(objects->work, &objects->text, raw->name, raw->name_length);
    else if (pa_kind_type_name(kind) && evidence != PA_BY_FLAGS)
        type->name = pa_arena_add(objects->work, &objects->text, pa_kind_type_name(kind), strlen(pa_kind_type_name(kind)));
}

uint32_t pa_type_at(struct pa_objects *objects, uint64_t address)
{
    uint32_t id = pa_index_find(&objects->type_index, objects->types.items, sizeof(struct pa_type), address);
    if (id == PA_NONE) {
        struct raw_type raw;
        struct pa_type type = {.address = address, .frame = PA_NONE};
        if (address == 0 || address % 8 != 0 || !read_type(objects, address, &raw))
            return PA_NONE;
        classify(objects, address, &raw, &type);
        /* classify() may itself have met this type while it asked sys.modules. */
        id = pa_index_find(&objects->type_index, objects->types.items, sizeof(struct pa_type), address);
        if (id == PA_NONE) {
            struct pa_type *slot = pa_array_push(objects->work, &objects->types, PA_MAX_TYPES);
            if (!slot)
                return PA_NONE;
            *slot = type;
            id = objects->types.count - 1;
            if (!pa_index_add(objects->work, &objects->type_index, objects->types.items, sizeof(struct pa_type), id)) {
                objects->types.count--;
                return PA_NONE;
            }
        }
    }
    *pa_recent_at(objects->recent_types, address) = (struct pa_recent){address, id};
    return id;
}

/* Bytes of text that @p c takes; writes them. Code points that Unicode has not become U+FFFD. */
static uint32_t encode(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c > 0x10ffff)
        c = 0xfffd;
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Where and how the characters of a str are stored. Include/cpython/unicodeobject.h, struct _PyUnicodeObject_state. */
struct str_storage {
    uint64_t data;
    uint64_t length; /* characters */
    uint32_t width;  /* bytes a character: 1, 2 or 4 */
    bool ascii;
};

static bool read_str_storage(struct pa_objects *objects, uint64_t address, struct str_storage *storage)
{
    const struct pa_layout *layout = objects->layout;
    uint32_t state;
    if (!pa_memory_u32(objects->memory, address + PA_OFFSET(layout, unicode_state), &state) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, unicode_length), &storage->length))
        return false;
    /* Without the GIL the interned state is a byte of its own, for atomic access, and kind begins with the next byte. */
    uint32_t kind_bit = layout->free_threaded ? 8 : 2;
    storage->width = state >> kind_bit & 7;
    bool compact = state >> (kind_bit + 3) & 1;
    storage->ascii = state >> (kind_bit + 4) & 1;
    if ((storage->width != 1 && storage->width != 2 && storage->width != 4) || storage->length > INT64_MAX / 4)
        return false;
    if (compact) {
        storage->data =
            address + (storage->ascii ? PA_OFFSET(layout, unicode_ascii_data) : PA_OFFSET(layout, unicode_compact_data));
        return true;
    }
    /* Instances of str subclasses: a pointer to the characters stands where a compact str has them. */
    return pa_memory_u64(objects->memory, address + PA_OFFSET(layout, unicode_compact_data), &storage->data);
}

static bool is_str(struct pa_objects *objects, uint64_t address)
{
    return pa_kind_of(objects, address) == PA_KIND_STR;
}

/* "1,234" */
static uint32_t write_count(uint64_t count, char *out)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
    uint32_t length = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            out[length++] = ',';
        out[length++] = digits[i];
    }
    return length;
}

bool pa_str_read_some(struct pa_objects *objects, uint64_t address, uint32_t limit, char *text, uint32_t *length, uint64_t *left)
{
    uint8_t scratch[256];
    struct str_storage storage;
    if (!is_str(objects, address) || !read_str_storage(objects, address, &storage))
        return false;
    uint64_t characters = storage.length <= limit ? storage.length : limit;
    uint32_t out = 0;
    for (uint64_t done = 0; done < characters;) {
        uint64_t part = sizeof(scratch) / storage.width;
        if (part > characters - done)
            part = characters - done;
        const uint8_t *bytes = pa_memory_view(objects->memory, storage.data + done * storage.width, part * storage.width, scratch);
        if (!bytes)
            return false;
        for (uint32_t i = 0; i < part; i++) {
            uint32_t c = storage.width == 1   ? bytes[i]
                         : storage.width == 2 ? bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8
                                              : pa_get_u32(bytes, 4 * i);
            out += encode(c, text + out);
        }
        done += part;
    }
    *length = out;
    *left = storage.length - characters;
    return true;
}

bool pa_str_read(struct pa_objects *objects, uint64_t address, char *text, uint32_t *length)
{
    uint64_t left;
    if (!pa_str_read_some(objects, address, PA_MAX_STRING, text, length, &left))
        return false;
    if (left > 0) {
        char *out = text + *length;
        memcpy(out, "\xe2\x80\xa6 (", 5);
        uint32_t digits = write_count(left, out + 5);
        memcpy(out + 5 + digits, " more characters)", 17);
        *length += 5 + digits + 17;
    }
    return true;
}

bool pa_str_equals(struct pa_objects *objects, uint64_t address, const char *ascii)
{
    uint8_t scratch[256];
    struct str_storage storage;
    size_t length = strlen(ascii);
    if (!is_str(objects, address) || !read_str_storage(objects, address, &storage))
        return false;
    if (storage.length != length || storage.width != 1 || length > sizeof(scratch))
        return false;
    const uint8_t *bytes = pa_memory_view(objects->memory, storage.data, length, scratch);
    return bytes && memcmp(bytes, ascii, length) == 0;
}

bool pa_int_read(struct pa_objects *objects, uint64_t address, int64_t *value)
{
    const struct pa_layout *layout = objects->layout;
    enum pa_kind kind = pa_kind_of(objects, address);
    uint64_t tag;
    if ((kind != PA_KIND_INT && kind != PA_KIND_BOOL) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, long_tag), &tag))
        return false;
    /* Include/internal/pycore_long.h: sign in bits 0-1 (0 positive, 1 zero, 2 negative), number of 30-bit digits from bit 3. */
    uint64_t digits = tag >> 3;
    if (digits > 2)
        return false;
    uint64_t magnitude = 0;
    for (uint32_t i = 0; i < digits; i++) {
        uint32_t digit;
        if (!pa_memory_u32(objects->memory, address + PA_OFFSET(layout, long_digit) + 4 * i, &digit) || digit >= 1u << 30)
            return false;
        magnitude |= (uint64_t)digit << 30 * i;
    }
    switch (tag & 3) {
    case 0:
        *value = (int64_t)magnitude;
        return true;
    case 1:
        *value = 0;
        return true;
    case 2:
        *value = -(int64_t)magnitude;
        return true;
    default:
        return false;
    }
}

double pa_number_read(struct pa_objects *objects, uint64_t object)
{
    uint64_t bits;
    int64_t number;
    double value;
    if (pa_int_read(objects, object, &number))
        return (double)number;
    if (pa_kind_of(objects, object) != PA_KIND_FLOAT || !pa_object_word(objects, object, PA_F_float_value, &bits))
        return NAN;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

bool pa_set_begin(struct pa_objects *objects, uint64_t address, struct pa_set_iterator *iterator)
{
    const struct pa_layout *layout = objects->layout;
    uint64_t mask;
    *iterator = (struct pa_set_iterator){.damaged = true};
    enum pa_kind kind = pa_kind_of(objects, address);
    if ((kind != PA_KIND_SET && kind != PA_KIND_FROZENSET) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, set_mask), &mask) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, set_used), &iterator->left) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, set_table), &iterator->table))
        return false;
    /* A table has a power of two slots, and never more elements than slots. */
    if (mask >= PA_MAX_SET_SLOTS || (mask & (mask + 1)) != 0 || iterator->left > mask + 1)
        return false;
    iterator->slots = mask + 1;
    iterator->damaged = false;
    return true;
}

bool pa_set_next(struct pa_objects *objects, struct pa_set_iterator *iterator, uint64_t *element)
{
    uint8_t scratch[16];
    while (iterator->left > 0 && iterator->slot < iterator->slots) {
        /* Include/cpython/setobject.h, setentry: key, hash. Objects/setobject.c marks a deleted entry with hash -1. */
        const uint8_t *entry = pa_memory_view(objects->memory, iterator->table + iterator->slot * 16, 16, scratch);
        iterator->slot++;
        if (!entry || !pa_work_step(objects->work)) {
            iterator->damaged = true;
            return false;
        }
        *element = pa_get_u64(entry, 0);
        if (*element != 0 && pa_get_u64(entry, 8) != UINT64_MAX) {
            iterator->left--;
            return true;
        }
    }
    iterator->damaged = iterator->damaged || iterator->left > 0;
    return false;
}

bool pa_module_attribute(struct pa_objects *objects, const char *module, const char *attribute, uint64_t *value)
{
    uint64_t object, dict;
    return objects->sys_modules != 0 && pa_dict_get(objects, objects->sys_modules, module, &object) &&
           pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, wrapper_module_dict), &dict) &&
           pa_dict_get(objects, dict, attribute, value);
}
