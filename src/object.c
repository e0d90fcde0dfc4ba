/* Types of the target. See object.h. */
#include "object.h"

#include "cython.h"

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

bool pa_module_attribute(struct pa_objects *objects, const char *module, const char *attribute, uint64_t *value)
{
    uint64_t object, dict;
    return objects->sys_modules != 0 && pa_dict_get(objects, objects->sys_modules, module, &object) &&
           pa_memory_u64(objects->memory, object + PA_OFFSET(objects->layout, wrapper_module_dict), &dict) &&
           pa_dict_get(objects, dict, attribute, value);
}
