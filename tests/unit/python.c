/* The miniature CPython. See python.h. */
#include "python.h"

/* Include/object.h, Py_TPFLAGS_* */
#define HEAPTYPE         (1u << 9)
#define LONG_SUBCLASS    (1u << 24)
#define UNICODE_SUBCLASS (1u << 28)
#define DICT_SUBCLASS    (1u << 29)

static const int32_t slots[SLOT_COUNT][PYTHON_BUILDS] = {
#define SLOT(name, a, b, c, d) [SLOT_##name] = {a, b, c, d},
#include "slots.h"
};

/* Measured, but for the sizes of free-threaded thread states and the places of their loops. */
static const struct python_asyncio asyncio_tables[PYTHON_BUILDS] = {
    {168, 136, 96, 108, 109, 128, 152, 225864, 10880, 912, 864, 872, 880},
    {168, 136, 96, 108, 109, 128, 152, 226240, 10856, 1104, 1024, 1032, 1048},
    {192, 152, 112, 124, 125, 144, 168, 232808, 17632, 1200, 928, 936, 944},
    {192, 152, 112, 124, 125, 144, 168, 233184, 17632, 1400, 1088, 1096, 1112},
};

static const uint32_t hexversions[PYTHON_BUILDS] = {0x30e08f0, 0x30f00f0, 0x30e08f0, 0x30f00f0};

static const struct {
    enum pa_kind kind;
    const char *name;
    uint64_t flags;
} static_types[] = {
    {PA_KIND_COROUTINE, "coroutine", 0},
    {PA_KIND_GENERATOR, "generator", 0},
    {PA_KIND_ASYNC_GENERATOR, "async_generator", 0},
    {PA_KIND_COROUTINE_WRAPPER, "coroutine_wrapper", 0},
    {PA_KIND_ASYNC_GEN_ASEND, "async_generator_asend", 0},
    {PA_KIND_ASYNC_GEN_ATHROW, "async_generator_athrow", 0},
    {PA_KIND_ANEXT_AWAITABLE, "anext_awaitable", 0},
    {PA_KIND_CODE, "code", 0},
    {PA_KIND_STR, "str", UNICODE_SUBCLASS},
    {PA_KIND_INT, "int", LONG_SUBCLASS},
    {PA_KIND_BOOL, "bool", LONG_SUBCLASS},
    {PA_KIND_SET, "set", 0},
    {PA_KIND_DICT, "dict", DICT_SUBCLASS},
    {PA_KIND_MODULE, "module", 0},
    {PA_KIND_NONE_TYPE, "NoneType", 0},
};

uint64_t python_offset(const struct python *python, enum python_slot slot)
{
    check_fast(slots[slot][python->build] >= 0);
    return (uint64_t)slots[slot][python->build];
}

#define OFFSET(name) python_offset(python, SLOT_##name)

const struct python_asyncio *python_asyncio(const struct python *python)
{
    return &asyncio_tables[python->build];
}

uint32_t python_table_index(const struct python *python, enum python_slot slot)
{
    uint32_t index = 3;
    for (enum python_slot i = 0; i < slot; i++)
        index += slots[i][python->build] >= 0;
    return index;
}

uint32_t python_table_words(const struct python *python)
{
    return python_table_index(python, SLOT_COUNT);
}

static void put(struct python *python, uint64_t address, uint64_t value)
{
    image_put_u64(python->image, address, value);
}

uint64_t python_alloc(struct python *python, uint64_t size)
{
    uint64_t address = python->next_object;
    python->next_object += (size + 15) / 16 * 16;
    if (python->next_object > python->end_of_objects)
        ck_abort_msg("the heap of the image is full");
    return address;
}

#define GC_HEAD 16u

uint64_t python_object(struct python *python, uint64_t type, uint64_t size)
{
    uint64_t object = python_alloc(python, GC_HEAD + size) + GC_HEAD;
    put(python, object + OFFSET(object_ob_type), type);
    return object;
}

/* Memory in .data: the tables, static types, interpreters. */
static uint64_t data_alloc(struct python *python, uint64_t size)
{
    uint64_t address = python->next_data;
    python->next_data += (size + 15) / 16 * 16;
    image_at(python->image, address, size);
    return address;
}

uint64_t python_type(struct python *python, const char *name, uint64_t base, bool heap, uint64_t flags)
{
    uint64_t length = strlen(name) + 1;
    uint64_t type = heap ? python_alloc(python, OFFSET(type_size)) : data_alloc(python, OFFSET(type_size));
    uint64_t text = heap ? python_alloc(python, length) : python->next_name;
    if (!heap)
        python->next_name += length;
    image_put(python->image, text, name, length);
    put(python, type + OFFSET(type_name), text);
    put(python, type + OFFSET(type_flags), flags | (heap ? HEAPTYPE : 0));
    put(python, type + (python->free_threaded ? 272 : 256), base);
    return type;
}

/* sys.modules with the modules that types are looked up in. */
static void make_modules(struct python *python)
{
    static const struct {
        const char *module, *attribute;
        enum pa_kind kind;
    } attributes[] = {
        {"builtins", "str", PA_KIND_STR},
        {"builtins", "int", PA_KIND_INT},
        {"builtins", "bool", PA_KIND_BOOL},
        {"builtins", "set", PA_KIND_SET},
        {"builtins", "dict", PA_KIND_DICT},
        {"types", "CoroutineType", PA_KIND_COROUTINE},
        {"types", "GeneratorType", PA_KIND_GENERATOR},
        {"types", "AsyncGeneratorType", PA_KIND_ASYNC_GENERATOR},
        {"types", "CodeType", PA_KIND_CODE},
        {"types", "ModuleType", PA_KIND_MODULE},
        {"types", "NoneType", PA_KIND_NONE_TYPE},
        {"_asyncio", "Task", PA_KIND_TASK},
    };
    static const char *const names[] = {"sys", "builtins", "types", "_asyncio"};
    uint64_t dicts[COUNT(names)];
    python->modules = python_dict(python, 1);
    for (size_t i = 0; i < COUNT(names); i++)
        dicts[i] = python_module_dict(python, python_module(python, names[i]));
    for (size_t i = 0; i < COUNT(attributes); i++) {
        size_t module = 0;
        while (strcmp(attributes[i].module, names[module]) != 0)
            module++;
        python_dict_set(python, dicts[module], attributes[i].attribute, python->types[attributes[i].kind]);
    }
    put(python, python->interpreter + OFFSET(interpreter_imports_modules), python->modules);
}

static void make_tables(struct python *python)
{
    const struct python_asyncio *asyncio = python_asyncio(python);
    uint64_t word = python->runtime;
    put(python, word, 0x7970677562656478u);
    put(python, word + 8, hexversions[python->build]);
    put(python, word + 16, python->free_threaded);
    word += 24;
    for (enum python_slot slot = 0; slot < SLOT_COUNT; slot++) {
        if (slots[slot][python->build] < 0)
            continue;
        put(python, word, (uint64_t)slots[slot][python->build]);
        word += 8;
    }
    image_put(python->image, python->asyncio, asyncio, sizeof(*asyncio));
}

struct python *python_new_sized(enum python_build build, uint64_t heap)
{
    struct python *python = calloc(1, sizeof(*python));
    ck_assert_ptr_nonnull(python);
    *python = (struct python){
        .image = image_new(),
        .build = build,
        .free_threaded = build >= PYTHON_3_14T,
        .minor = build == PYTHON_3_14 || build == PYTHON_3_14T ? 14 : 15,
        .next_data = PYTHON_DATA + 0x100,
        .next_name = PYTHON_RODATA,
        .next_object = PYTHON_HEAP + 0x100,
        .end_of_objects = PYTHON_HEAP + heap,
    };
    image_map(python->image, PYTHON_RODATA, 0x1000, PA_RANGE_FILE_BACKED);
    image_map(python->image, PYTHON_DATA, 0x200000, PA_RANGE_FILE_BACKED | PA_RANGE_WRITABLE);
    image_map(python->image, PYTHON_HEAP, heap, PA_RANGE_WRITABLE);

    python->runtime = data_alloc(python, OFFSET(runtime_size));
    python->asyncio = data_alloc(python, sizeof(struct python_asyncio));
    make_tables(python);
    image_add_section(python->image, ".PyRuntime", python->runtime);
    image_add_section(python->image, ".AsyncioDebug", python->asyncio);

    python->object_type = python_type(python, "object", 0, false, 0);
    for (size_t i = 0; i < COUNT(static_types); i++) {
        uint64_t base = static_types[i].kind == PA_KIND_BOOL ? python->types[PA_KIND_INT] : python->object_type;
        python->types[static_types[i].kind] = python_type(python, static_types[i].name, base, false, static_types[i].flags);
    }
    python->types[PA_KIND_FUTURE] = python_type(python, "_asyncio.Future", python->object_type, true, 0);
    python->types[PA_KIND_TASK] = python_type(python, "_asyncio.Task", python->types[PA_KIND_FUTURE], true, 0);
    python->types[PA_KIND_FUTURE_ITER] = python_type(python, "_asyncio.FutureIter", python->object_type, true, 0);
    python->dummy = python_object(python, python->object_type, OFFSET(object_size));

    python->interpreter = python_interpreter(python, 0);
    python->thread = python_thread(python, python->interpreter, 0x7fff0100, 4711);
    make_modules(python);
    return python;
}

struct python *python_new(enum python_build build)
{
    return python_new_sized(build, 1 << 20);
}

void python_free(struct python *python)
{
    image_free(python->image);
    free(python);
}

void python_forget_files(struct python *python)
{
    python->image->section_count = python->image->symbol_count = 0;
    image_unmap(python->image, PYTHON_RODATA);
}

/* ---- plain objects ---- */

/* Include/cpython/unicodeobject.h, struct _PyUnicodeObject_state */
static uint32_t str_state(const struct python *python, uint32_t kind, bool compact, bool ascii)
{
    if (python->free_threaded)
        return kind << 8 | (uint32_t)compact << 11 | (uint32_t)ascii << 12;
    return kind << 2 | (uint32_t)compact << 5 | (uint32_t)ascii << 6;
}

static void put_characters(struct python *python, uint64_t data, const uint32_t *points, uint64_t length, uint32_t width)
{
    for (uint64_t i = 0; i < length; i++)
        image_put(python->image, data + i * width, &points[i], width); /* little-endian */
}

static uint64_t compact_size(const struct python *python)
{
    return python->minor >= 15 ? OFFSET(unicode_compact_size) : OFFSET(unicode_ascii_size) + 16;
}

uint64_t python_str_wide(struct python *python, const uint32_t *points, uint64_t length, uint32_t width)
{
    bool ascii = width == 1;
    for (uint64_t i = 0; i < length; i++)
        ascii = ascii && points[i] < 0x80;
    uint64_t data = ascii ? OFFSET(unicode_ascii_size) : compact_size(python);
    uint64_t str = python_object(python, python->types[PA_KIND_STR], data + (length + 1) * width);
    put(python, str + OFFSET(unicode_length), length);
    image_put_u32(python->image, str + OFFSET(unicode_state), str_state(python, width, true, ascii));
    put_characters(python, str + data, points, length, width);
    return str;
}

static uint64_t decode(const char *text, uint32_t *points)
{
    const unsigned char *in = (const unsigned char *)text;
    uint64_t length = 0;
    while (*in) {
        uint32_t more = *in >= 0xf0 ? 3 : *in >= 0xe0 ? 2 : *in >= 0xc0 ? 1 : 0;
        uint32_t c = more ? *in & (0x3fu >> more) : *in;
        for (in++; more > 0; more--)
            c = c << 6 | (*in++ & 0x3f);
        points[length++] = c;
    }
    return length;
}

uint64_t python_str(struct python *python, const char *text)
{
    uint32_t *points = calloc(strlen(text) + 1, sizeof(*points)), highest = 0;
    uint64_t length = decode(text, points);
    for (uint64_t i = 0; i < length; i++)
        highest = points[i] > highest ? points[i] : highest;
    uint64_t str = python_str_wide(python, points, length, highest < 0x100 ? 1 : highest < 0x10000 ? 2 : 4);
    free(points);
    return str;
}

uint64_t python_str_subclass(struct python *python, const char *text)
{
    static const char name[] = "Name";
    uint64_t type = python_type(python, name, python->types[PA_KIND_STR], true, UNICODE_SUBCLASS);
    uint64_t compact = python_str(python, text), str = python_object(python, type, OFFSET(unicode_size));
    uint32_t state;
    memcpy(&state, image_at(python->image, compact + OFFSET(unicode_state), 4), 4);
    bool ascii = state >> (python->free_threaded ? 12 : 6) & 1;
    uint64_t data = compact + (ascii ? OFFSET(unicode_ascii_size) : compact_size(python));
    put(python, str + OFFSET(unicode_length), image_u64(python->image, compact + OFFSET(unicode_length)));
    image_put_u32(python->image, str + OFFSET(unicode_state), state & ~(python->free_threaded ? 1u << 11 : 1u << 5));
    put(python, str + compact_size(python), data);
    return str;
}

uint64_t python_int(struct python *python, int64_t value)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, digits = 0;
    uint64_t object = python_object(python, python->types[PA_KIND_INT], OFFSET(long_digit) + 12);
    for (; magnitude > 0; magnitude >>= 30)
        image_put_u32(python->image, object + OFFSET(long_digit) + 4 * digits++, (uint32_t)(magnitude & 0x3fffffff));
    put(python, object + OFFSET(long_tag), digits << 3 | (value < 0 ? 2 : value == 0 ? 1 : 0));
    return object;
}

uint64_t python_bytes(struct python *python, const void *bytes, uint64_t length)
{
    static const char name[] = "bytes";
    uint64_t object =
        python_object(python, python_type(python, name, python->object_type, true, 0), OFFSET(bytes_data) + length + 1);
    put(python, object + OFFSET(bytes_length), length);
    if (length > 0)
        image_put(python->image, object + OFFSET(bytes_data), bytes, length);
    return object;
}

uint64_t python_set(struct python *python, const uint64_t *elements, uint32_t count)
{
    uint64_t slots_needed = 8, used = 0;
    while (slots_needed * 3 < (uint64_t)count * 5)
        slots_needed *= 2;
    uint64_t set = python_object(python, python->types[PA_KIND_SET], OFFSET(set_size));
    uint64_t table = python_alloc(python, slots_needed * 16);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t entry = table + 16 * ((uint64_t)i * 5 % slots_needed); /* 5 is coprime: no two entries in one slot */
        put(python, entry, elements[i] ? elements[i] : python->dummy);
        put(python, entry + 8, elements[i] ? elements[i] >> 4 : UINT64_MAX);
        used += elements[i] != 0;
    }
    put(python, set + OFFSET(set_mask), slots_needed - 1);
    put(python, set + OFFSET(set_used), used);
    put(python, set + OFFSET(set_table), table);
    return set;
}

/* Include/internal/pycore_dict.h, struct _dictkeysobject: 64 indices of a byte each, then entries. */
#define DICT_LOG2_SIZE 6u

uint64_t python_dict(struct python *python, uint8_t kind)
{
    uint64_t dict = python_object(python, python->types[PA_KIND_DICT], OFFSET(dict_size));
    uint64_t keys = python_alloc(python, 32 + (1u << DICT_LOG2_SIZE) + (1u << DICT_LOG2_SIZE) * 24);
    image_put_u8(python->image, keys + 8, DICT_LOG2_SIZE);
    image_put_u8(python->image, keys + 9, DICT_LOG2_SIZE);
    image_put_u8(python->image, keys + 10, kind);
    put(python, dict + OFFSET(dict_keys), keys);
    return dict;
}

void python_dict_set(struct python *python, uint64_t dict, const char *key, uint64_t value)
{
    uint64_t keys = image_u64(python->image, dict + OFFSET(dict_keys)), count = image_u64(python->image, keys + 24);
    bool general = *image_at(python->image, keys + 10, 1) == 0;
    uint64_t entry = keys + 32 + (1u << DICT_LOG2_SIZE) + count * (general ? 24 : 16);
    check_fast(count < 1u << DICT_LOG2_SIZE);
    if (general)
        put(python, entry, 0x1234567);
    put(python, entry + (general ? 8 : 0), python_str(python, key));
    put(python, entry + (general ? 16 : 8), value);
    put(python, keys + 24, count + 1);
}

uint64_t python_module_dict(struct python *python, uint64_t module)
{
    return image_u64(python->image, module + OFFSET(object_size));
}

uint64_t python_module(struct python *python, const char *name)
{
    uint64_t module = python_object(python, python->types[PA_KIND_MODULE], OFFSET(object_size) + 40);
    put(python, module + OFFSET(object_size), python_dict(python, 1));
    python_dict_set(python, python->modules, name, module);
    return module;
}

/* ---- code and frames ---- */

#define UNITS 16u

uint64_t python_bytecode(const struct python *python, uint64_t code)
{
    return code + OFFSET(code_bytecode);
}

void python_set_linetable(struct python *python, uint64_t code, const void *table, uint64_t length, uint64_t units)
{
    put(python, code + OFFSET(code_linetable), python_bytes(python, table, length));
    put(python, code + OFFSET(object_size), units); /* ob_size */
}

uint64_t python_code(struct python *python, const char *qualname, const char *filename, int32_t line, uint32_t flags)
{
    uint64_t code = python_object(python, python->types[PA_KIND_CODE], OFFSET(code_size) + 2 * UNITS);
    uint8_t table[3 * UNITS];
    for (uint32_t i = 0; i < UNITS; i++) {
        table[3 * i] = (uint8_t)(0x80 | (i == 0 ? 10 : 11) << 3); /* the next line, one unit, two columns */
        table[3 * i + 1] = table[3 * i + 2] = 4;
    }
    put(python, code + OFFSET(code_qualname), python_str(python, qualname));
    put(python, code + OFFSET(code_filename), python_str(python, filename));
    image_put_u32(python->image, code + OFFSET(code_firstlineno), (uint32_t)line);
    image_put_u32(python->image, code + OFFSET(code_argcount) - 4, flags); /* co_flags */
    python_set_linetable(python, code, table, sizeof(table), UNITS);
    return code;
}

void python_set_tlbc(struct python *python, uint64_t code, const uint64_t *entries, uint64_t count)
{
    uint64_t array = python_alloc(python, 8 + 8 * count);
    put(python, array, count);
    put(python, array + 8, python_bytecode(python, code));
    for (uint64_t i = 1; i < count; i++)
        put(python, array + 8 + 8 * i, entries[i]);
    put(python, code + OFFSET(code_tlbc), array);
}

static void put_iframe(struct python *python, uint64_t iframe, uint64_t code, uint32_t unit, uint8_t owner)
{
    put(python, iframe + OFFSET(frame_executable), code);
    put(python, iframe + OFFSET(frame_instr_ptr), python_bytecode(python, code) + 2 * (uint64_t)unit);
    image_put_u8(python->image, iframe + OFFSET(frame_owner), owner);
}

uint64_t python_iframe(const struct python *python, uint64_t gen)
{
    return gen + OFFSET(gen_iframe);
}

/* Include/internal/pycore_frame.h, enum _framestate */
void python_set_state(struct python *python, uint64_t gen, enum python_state state)
{
    static const int8_t states[2][5] = {{-3, -2, -1, 0, 4}, {0, 1, 2, 4, 5}};
    image_put_u8(python->image, gen + OFFSET(gen_frame_state), (uint8_t)states[python->minor - 14][state]);
}

/* A frame in a generator: two locals, then the value stack. */
#define LOCALS 2u

uint64_t python_awaited_slot(struct python *python, uint64_t gen)
{
    return python_iframe(python, gen) + OFFSET(frame_localsplus) + 8 * LOCALS;
}

uint64_t python_gen(struct python *python, enum pa_kind kind, uint64_t code, enum python_state state, uint32_t unit,
                    uint64_t awaited)
{
    uint64_t gen = python_object(python, python->types[kind], OFFSET(gen_iframe) + OFFSET(frame_localsplus) + 8 * (LOCALS + 3));
    uint64_t iframe = python_iframe(python, gen), slot = python_awaited_slot(python, gen);
    put_iframe(python, iframe, code, unit, 1);
    python_set_state(python, gen, state);
    put(python, slot, awaited);
    put(python, slot + 8, 1); /* 3.15: the null that SEND keeps on top */
    put(python, iframe + OFFSET(frame_stackpointer), slot + (python->minor >= 15 ? 16 : 8));
    return gen;
}

uint64_t python_coroutine(struct python *python, const char *name, uint64_t awaited)
{
    uint64_t code = python_code(python, name, "/app/main.py", 10, CO_FUNCTION | CO_COROUTINE);
    return python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 5, awaited);
}

uint64_t python_wrapper(struct python *python, enum pa_kind kind, uint64_t wrapped)
{
    uint64_t object = python_object(python, python->types[kind], OFFSET(object_size) + 16);
    put(python, object + OFFSET(object_size), wrapped);
    return object;
}

void python_link_frame(struct python *python, uint64_t frame, uint64_t previous)
{
    put(python, frame + OFFSET(frame_previous), previous);
}

uint64_t python_frame(struct python *python, uint64_t code, uint32_t unit, uint8_t owner, uint64_t previous)
{
    uint64_t frame = python_alloc(python, OFFSET(frame_size) + 32);
    put_iframe(python, frame, code, unit, owner);
    python_link_frame(python, frame, previous);
    return frame;
}

void python_set_frames(struct python *python, uint64_t thread, uint64_t innermost)
{
    put(python, thread + OFFSET(thread_current_frame), innermost);
}

/* ---- interpreters, threads, tasks ---- */

/* Include/internal/pycore_llist.h: an empty list points to itself. */
static void make_list(struct python *python, uint64_t head)
{
    put(python, head, head);
    put(python, head + 8, head);
}

uint64_t python_interpreter(struct python *python, int64_t id)
{
    uint64_t interpreter = data_alloc(python, python_asyncio(python)->interpreter_size);
    uint64_t head = python->runtime + OFFSET(runtime_interpreters_head);
    put(python, interpreter + OFFSET(interpreter_id), (uint64_t)id);
    put(python, interpreter + OFFSET(interpreter_next), image_u64(python->image, head));
    put(python, head, interpreter);
    make_list(python, python_interpreter_tasks(python, interpreter));
    for (uint32_t generation = 0; generation < 4 && !python->free_threaded; generation++)
        make_list(python, python_gc_list(python, interpreter, generation));
    return interpreter;
}

/* Measured: where struct _gc_runtime_state has its four heads of 24 bytes. */
uint64_t python_gc_list(const struct python *python, uint64_t interpreter, uint32_t generation)
{
    return interpreter + OFFSET(interpreter_gc) + (python->minor >= 15 ? 8 : 24) + 24 * (uint64_t)generation;
}

void python_track(struct python *python, uint64_t list, uint64_t object)
{
    uint64_t node = object - GC_HEAD, last = image_u64(python->image, list + 8);
    put(python, node, list);
    put(python, node + 8, last);
    put(python, last, node);
    put(python, list + 8, node);
}

void python_set_collecting(struct python *python, uint64_t interpreter, uint32_t collecting)
{
    image_put_u32(python->image, interpreter + OFFSET(interpreter_gc) + OFFSET(gc_collecting), collecting);
}

uint64_t python_thread(struct python *python, uint64_t interpreter, uint64_t pthread_id, uint64_t native_id)
{
    uint64_t thread = python_alloc(python, python_asyncio(python)->thread_size);
    uint64_t head = interpreter + OFFSET(interpreter_threads_head);
    uint64_t older = image_u64(python->image, head);
    put(python, thread + OFFSET(thread_next), older);
    if (older)
        put(python, older + OFFSET(thread_next) - 8, thread);
    put(python, head, thread);
    put(python, thread + OFFSET(thread_thread_id), pthread_id);
    put(python, thread + OFFSET(thread_native_thread_id), native_id);
    make_list(python, python_thread_tasks(python, thread));
    return thread;
}

uint64_t python_thread_tasks(const struct python *python, uint64_t thread)
{
    return thread + python_asyncio(python)->thread_tasks;
}

uint64_t python_main_tasks(const struct python *python)
{
    return python_thread_tasks(python, python->thread);
}

uint64_t python_interpreter_tasks(const struct python *python, uint64_t interpreter)
{
    return interpreter + python_asyncio(python)->interpreter_tasks;
}

void python_run_task(struct python *python, uint64_t thread, uint64_t loop, uint64_t task)
{
    put(python, thread + python_asyncio(python)->running_loop, loop);
    put(python, thread + python_asyncio(python)->running_task, task);
}

static uint64_t new_future(struct python *python, enum pa_kind kind, bool is_task)
{
    uint64_t future = python_object(python, python->types[kind], python_asyncio(python)->task_size);
    image_put_u8(python->image, future + python_asyncio(python)->is_task, is_task);
    return future;
}

uint64_t python_future(struct python *python)
{
    return new_future(python, PA_KIND_FUTURE, false);
}

void python_append(struct python *python, uint64_t list, uint64_t task)
{
    uint64_t node = task + python_asyncio(python)->node, last = image_u64(python->image, list + 8);
    put(python, node, list);
    put(python, node + 8, last);
    put(python, last, node);
    put(python, list + 8, node);
}

uint64_t python_task(struct python *python, uint64_t list, uint64_t name, uint64_t coroutine)
{
    uint64_t task = new_future(python, PA_KIND_TASK, true);
    put(python, task + python_asyncio(python)->name, name);
    put(python, task + python_asyncio(python)->coro, coroutine);
    if (list)
        python_append(python, list, task);
    return task;
}

void python_set_waiter(struct python *python, uint64_t task, uint64_t future)
{
    put(python, task + python_asyncio(python)->coro - 8, future); /* task_fut_waiter */
}

void python_set_awaiter(struct python *python, uint64_t future, uint64_t awaiter)
{
    put(python, future + python_asyncio(python)->awaited_by, awaiter);
    image_put_u8(python->image, future + python_asyncio(python)->is_set, 0);
}

void python_set_awaiters(struct python *python, uint64_t future, uint64_t set)
{
    put(python, future + python_asyncio(python)->awaited_by, set);
    image_put_u8(python->image, future + python_asyncio(python)->is_set, 1);
}

void python_await(struct python *python, uint64_t task, uint64_t future)
{
    uint64_t coroutine = image_u64(python->image, task + python_asyncio(python)->coro);
    put(python, python_awaited_slot(python, coroutine), python_wrapper(python, PA_KIND_FUTURE_ITER, future));
    python_set_waiter(python, task, future);
    python_set_awaiter(python, future, task);
}

uint64_t python_sleeper(struct python *python, const char *name)
{
    uint64_t coroutine = python_coroutine(python, "sleeper", 0);
    uint64_t task = python_task(python, python_thread_tasks(python, python->thread), python_str(python, name), coroutine);
    python_await(python, task, python_future(python));
    return task;
}

void python_finish(struct python *python, uint64_t future, uint32_t state, uint64_t exception)
{
    image_put_u32(python->image, future + python_asyncio(python)->is_task - 4, state); /* fut_state */
    put(python, future + python_asyncio(python)->awaited_by - 48, exception);          /* fut_exception */
}

uint64_t python_new_loop(struct python *python)
{
    static const char name[] = "_UnixSelectorEventLoop";
    return python_object(python, python_type(python, name, python->object_type, true, 0), OFFSET(object_size) + 32);
}

void python_set_loop(struct python *python, uint64_t future, uint64_t loop)
{
    put(python, future + OFFSET(object_size), loop); /* fut_loop */
}
