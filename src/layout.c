/* The layout table: published, derived, constant, calibrated and DWARF offsets, and their checks. See layout.h. */
#include "layout.h"

#include "limits.h"

#define REQUIRED true
#define OPTIONAL false

const struct pa_field_info pa_field_info[PA_F_COUNT] = {
#define PA_STRUCT(id, need, dwarf)                                                                                                 \
    [PA_F_##id##_size] = {#id ".size", PA_F_##id##_size, 0, need, true, dwarf, "", "bounds its fields"},
#define PA_FIELD(struct_id, field, bytes, need, path, reason)                                                                      \
    [PA_F_##struct_id##_##field] = {#struct_id "." #field, PA_F_##struct_id##_size, bytes, need, false, NULL, path, reason},
#include "layout_fields.h"
};

#define OBJECT(name, bytes)                                                                                                        \
    {                                                                                                                              \
        PA_F_##name##_size, PA_F_object_size, bytes                                                                                \
    }
#define FIELD(owner, name, distance)                                                                                               \
    {                                                                                                                              \
        PA_F_##owner##_##name, PA_F_object_size, distance                                                                          \
    }

/* A field that adjoins another one. A later line may build on an earlier one. */
static const struct {
    uint16_t field, base;
    int32_t distance;
} derived[] = {
    /* Include/object.h, PyVarObject: ob_size follows the object header */
    {PA_F_code_units, PA_F_object_size, 0},
    /* Include/cpython/code.h, struct PyCodeObject */
    {PA_F_code_flags, PA_F_code_argcount, -4},
    {PA_F_code_exceptiontable, PA_F_code_argcount, -12},
    {PA_F_code_nlocalsplus, PA_F_code_firstlineno, 4},
    /* Include/cpython/unicodeobject.h: utf8_length and utf8 behind PyASCIIObject; 3.15 publishes it */
    {PA_F_unicode_compact_data, PA_F_unicode_ascii_data, 16},
    /* Include/cpython/object.h, PyTypeObject and PyHeapTypeObject; 3.15 publishes the first */
    {PA_F_type_basicsize, PA_F_type_name, 8},
    {PA_F_heap_type_qualname, PA_F_heap_type_cached_keys, -8},
    /* Modules/_asynciomodule.c, FutureObj_HEAD and TaskObj: no padding between these */
    {PA_F_task_loop, PA_F_object_size, 0},
    {PA_F_task_callback0, PA_F_object_size, 8},
    {PA_F_task_callbacks, PA_F_object_size, 24},
    {PA_F_task_exception, PA_F_task_awaited_by, -48},
    {PA_F_task_state, PA_F_task_is_task, -4},
    {PA_F_task_bits, PA_F_task_is_task, 2},
    {PA_F_task_source_traceback, PA_F_task_awaited_by, -24},
    {PA_F_task_context, PA_F_task_name, 8},
    {PA_F_task_cancel_requests, PA_F_task_is_task, 4},
    {PA_F_task_fut_waiter, PA_F_task_coro, -8},
    /* Objects whose fields are words behind the header; PyVarObject has ob_size first. Include/cpython/, Include/internal/pycore_hamt.h */
    OBJECT(complex, 16),
    FIELD(complex, value, 0),
    OBJECT(bytearray, 40),
    FIELD(bytearray, length, 0),
    FIELD(bytearray, start, 24),
    /* Modules/_collectionsmodule.c, struct dequeobject; Modules/_queuemodule.c, simplequeueobject */
    OBJECT(deque, 200),
    FIELD(deque, length, 0),
    FIELD(deque, left_block, 8),
    FIELD(deque, left_index, 24),
    OBJECT(simple_queue, 56),
    FIELD(simple_queue, get_index, 16),
    FIELD(simple_queue, items, 24),
    FIELD(simple_queue, capacity, 32),
    FIELD(simple_queue, count, 40),
    OBJECT(function, 136),
    FIELD(function, qualname, 24),
    FIELD(function, code, 32),
    FIELD(function, defaults, 40),
    FIELD(function, closure, 56),
    OBJECT(method, 32),
    FIELD(method, function, 0),
    FIELD(method, self, 8),
    OBJECT(builtin, 40),
    FIELD(builtin, definition, 0),
    FIELD(builtin, self, 8),
    OBJECT(exception, 56),
    FIELD(exception, args, 8),
    FIELD(exception, traceback, 24),
    FIELD(exception, context, 32),
    FIELD(exception, cause, 40),
    FIELD(exception, suppress_context, 48),
    OBJECT(os_error, 96),
    FIELD(os_error, number, 56),
    FIELD(os_error, text, 64),
    FIELD(os_error, filename, 72),
    FIELD(os_error, filename2, 80),
    OBJECT(group, 72),
    FIELD(group, message, 56),
    FIELD(group, exceptions, 64),
    OBJECT(traceback, 24),
    FIELD(traceback, next, 0),
    FIELD(traceback, frame, 8),
    FIELD(traceback, lasti, 16),
    OBJECT(frame_object, 64),
    FIELD(frame_object, frame, 8),
    FIELD(frame_object, data, 56),
    OBJECT(context, 32),
    FIELD(context, vars, 8),
    OBJECT(context_var, 48),
    FIELD(context_var, name, 0),
    OBJECT(hamt, 24),
    FIELD(hamt, root, 0),
    FIELD(hamt, count, 16),
    OBJECT(hamt_node, 24),
    FIELD(hamt_node, length, 0),
    FIELD(hamt_node, items, 16),
    OBJECT(hamt_array, 264),
    FIELD(hamt_array, items, 0),
    /* Include/internal/pycore_interpframe_structs.h, _PyGenObject_HEAD(): gi_weakreflist, gi_name, gi_qualname */
    {PA_F_gen_qualname, PA_F_object_size, 16},
    /* Small objects with one field of interest, the first */
    {PA_F_wrapper_size, PA_F_object_size, 8},
    {PA_F_wrapper_future, PA_F_object_size, 0},
    {PA_F_wrapper_object, PA_F_object_size, 0},
    {PA_F_wrapper_module_dict, PA_F_object_size, 0},
};

/* Modules/_asynciomodule.c, struct _Py_AsyncioModuleDebugOffsets: 13 words, the same in 3.14 and 3.15 */
const uint16_t pa_asyncio_slots[] = {
    PA_F_task_size,
    PA_F_task_name,
    PA_F_task_awaited_by,
    PA_F_task_is_task,
    PA_F_task_awaited_by_is_set,
    PA_F_task_coro,
    PA_F_task_node,
    PA_F_UNUSED, /* the interpreter's size: checked, it must agree with the other table */
    PA_F_interpreter_asyncio_tasks_head,
    PA_F_thread_impl_size,
    PA_F_thread_impl_running_loop,
    PA_F_thread_impl_running_task,
    PA_F_thread_impl_asyncio_tasks_head,
};
const uint32_t pa_asyncio_slot_count = sizeof(pa_asyncio_slots) / sizeof(*pa_asyncio_slots);

/* Words of _Py_DebugOffsets before the slots of struct pa_version: cookie, version, free_threaded. */
#define RUNTIME_HEADER_WORDS 3u
#define MAX_SLOTS            256u

const char *pa_source_name(enum pa_source source)
{
    static const char *const names[] = {"unknown", "published", "derived", "constant", "calibrated", "DWARF"};
    return names[source];
}

/* The data of a minor version; NULL if it is none that is known, or a pre-release. */
static const struct pa_version *find_version(uint32_t hexversion)
{
    static const struct pa_version *const versions[] = {&pa_version_3_14, &pa_version_3_15, NULL};
    /* Tables of pre-releases (release level below 0xf) moved from one to the next. */
    if (((hexversion >> 4) & 0xf) != 0xf)
        return NULL;
    for (size_t i = 0; versions[i]; i++) {
        if (versions[i]->major == hexversion >> 24 && versions[i]->minor == ((hexversion >> 16) & 0xff))
            return versions[i];
    }
    return NULL;
}

static void set(struct pa_layout *layout, uint32_t field, uint64_t offset, enum pa_source source)
{
    if (field == PA_F_UNUSED)
        return;
    /* What does not fit is made to fail the check instead of being cut to something plausible. */
    layout->offset[field] = offset <= PA_MAX_STRUCT_SIZE ? (uint32_t)offset : UINT32_MAX;
    layout->source[field] = (uint8_t)source;
}

static void set_derived(struct pa_layout *layout)
{
    for (size_t i = 0; i < sizeof(derived) / sizeof(*derived); i++) {
        uint16_t field = derived[i].field, base = derived[i].base;
        if (layout->source[field] == PA_SOURCE_NONE && layout->source[base] != PA_SOURCE_NONE)
            set(layout, field, (uint64_t)layout->offset[base] + (uint64_t)(int64_t)derived[i].distance, PA_SOURCE_DERIVED);
    }
}

/*
 * What tracing keeps is in no table, but near what is. Include/cpython/code.h, PyCodeObject: without the GIL co_tlbc comes between.
 * Include/internal/pycore_interp_structs.h: an interpreter begins with struct _ceval_state {instrumentation_version, recursion_limit, gil};
 * what stands behind its monitors is the same in release and debug builds.
 */
static void set_tracing(struct pa_layout *layout)
{
    uint32_t code = PA_OFFSET(layout, code_bytecode) - (layout->free_threaded ? 8 : 0);
    set(layout, PA_F_interpreter_instrumentation_version, (uint64_t)PA_OFFSET(layout, interpreter_ceval_gil) - 16,
        PA_SOURCE_DERIVED);
    set(layout, PA_F_code_instrumentation_version, (uint64_t)code - 40, PA_SOURCE_DERIVED);
    set(layout, PA_F_code_monitoring, (uint64_t)code - 32, PA_SOURCE_DERIVED);
    set(layout, PA_F_code_firsttraceable, (uint64_t)code - 16, PA_SOURCE_DERIVED);
    if (layout->free_threaded)
        return;
    uint64_t size = PA_OFFSET(layout, interpreter_size);
    set(layout, PA_F_interpreter_monitors, size - layout->version->monitors_from_end, PA_SOURCE_DERIVED);
    set(layout, PA_F_interpreter_tool_names, size - layout->version->tool_names_from_end, PA_SOURCE_DERIVED);
}

static bool field_fits(const struct pa_layout *layout, uint32_t field)
{
    const struct pa_field_info *info = &pa_field_info[field];
    uint32_t size = layout->offset[info->owner];
    if (info->is_size) {
        bool state = field == PA_F_runtime_size || field == PA_F_interpreter_size || field == PA_F_thread_size ||
                     field == PA_F_thread_impl_size;
        return size > 0 && size <= (state ? PA_MAX_STRUCT_SIZE : PA_MAX_OBJECT_SIZE);
    }
    return size <= PA_MAX_STRUCT_SIZE && (uint64_t)layout->offset[field] + info->width <= size;
}

/* Check every known field against its structure; drop optional ones that do not fit. */
static enum pa_status check(struct pa_layout *layout, const char *table, char *error, size_t capacity)
{
    for (uint32_t field = 0; field < PA_F_COUNT; field++) {
        const struct pa_field_info *info = &pa_field_info[field];
        /* The size of what the other table describes is not known yet. */
        if (layout->source[field] == PA_SOURCE_NONE || layout->source[info->owner] == PA_SOURCE_NONE || field_fits(layout, field))
            continue;
        if (!info->required) {
            layout->source[field] = PA_SOURCE_NONE;
            continue;
        }
        return pa_fail(error, capacity, "the %s of this process are damaged: %s at offset %u does not fit into %s = %u bytes",
                       table, info->name, layout->offset[field], pa_field_info[info->owner].name, layout->offset[info->owner]);
    }
    return PA_OK;
}

static bool read_words(struct pa_memory *memory, uint64_t address, uint64_t *words, uint32_t count)
{
    return pa_memory_read(memory, address, count * sizeof(*words), words);
}

enum pa_status pa_layout_read_runtime(struct pa_layout *layout, struct pa_memory *memory, uint64_t runtime, char *error,
                                      size_t capacity)
{
    uint64_t words[MAX_SLOTS];
    *layout = (struct pa_layout){0};
    if (!read_words(memory, runtime, words, RUNTIME_HEADER_WORDS))
        return pa_fail(error, capacity, "the debug offsets at 0x%llx cannot be read", (unsigned long long)runtime);
    layout->hexversion = (uint32_t)words[1];
    layout->free_threaded = words[2] != 0;
    const struct pa_version *version = words[1] <= UINT32_MAX ? find_version(layout->hexversion) : NULL;
    if (!version)
        return pa_fail(error, capacity, "no table for version 0x%llx", (unsigned long long)words[1]);
    if (!read_words(memory, runtime + RUNTIME_HEADER_WORDS * 8, words, version->slot_count))
        return pa_fail(error, capacity, "the debug offsets at 0x%llx cannot be read whole", (unsigned long long)runtime);

    layout->version = version;
    for (uint32_t i = 0; i < version->slot_count; i++)
        set(layout, version->slots[i], words[i], PA_SOURCE_PUBLISHED);
    if (!layout->free_threaded)
        layout->source[PA_F_frame_tlbc_index] = layout->source[PA_F_code_tlbc] = PA_SOURCE_NONE;
    for (uint32_t i = 0; i < version->constant_count; i++) {
        const struct pa_constant *constant = &version->constants[i];
        uint16_t offset = layout->free_threaded ? constant->free_threaded_offset : constant->offset;
        if (offset != PA_NO_OFFSET)
            set(layout, constant->field, offset, PA_SOURCE_CONSTANT);
    }
    set_derived(layout);
    set_tracing(layout);
    return check(layout, "debug offsets", error, capacity);
}

enum pa_status pa_layout_read_asyncio(struct pa_layout *layout, struct pa_memory *memory, uint64_t table, char *error,
                                      size_t capacity)
{
    uint64_t words[MAX_SLOTS];
    if (!read_words(memory, table, words, pa_asyncio_slot_count))
        return pa_fail(error, capacity, "the asyncio debug offsets at 0x%llx cannot be read", (unsigned long long)table);
    /* A table that turns out to be damaged leaves nothing behind: another copy may be tried. */
    struct pa_layout whole = *layout;
    for (uint32_t i = 0; i < pa_asyncio_slot_count; i++)
        set(&whole, pa_asyncio_slots[i], words[i], PA_SOURCE_PUBLISHED);
    if (words[PA_ASYNCIO_INTERPRETER_SIZE_SLOT] != PA_OFFSET(layout, interpreter_size))
        return pa_fail(error, capacity,
                       "the two tables of debug offsets disagree: PyInterpreterState has %u bytes in one and %llu in the other",
                       PA_OFFSET(layout, interpreter_size), (unsigned long long)words[PA_ASYNCIO_INTERPRETER_SIZE_SLOT]);
    set_derived(&whole);
    enum pa_status status = check(&whole, "asyncio debug offsets", error, capacity);
    if (status == PA_OK)
        *layout = whole;
    return status;
}

bool pa_layout_is_asyncio_table(const struct pa_layout *layout, struct pa_memory *memory, uint64_t table)
{
    uint64_t words[MAX_SLOTS];
    if (!read_words(memory, table, words, pa_asyncio_slot_count))
        return false;
    uint64_t task_size = words[0], thread_size = words[9];
    for (uint32_t i = 1; i < PA_ASYNCIO_INTERPRETER_SIZE_SLOT; i++) {
        if (words[i] == 0 || words[i] >= task_size)
            return false;
    }
    /* The asyncio fields of a thread stand in _PyThreadStateImpl, behind the PyThreadState that it begins with. */
    for (uint32_t i = 10; i < pa_asyncio_slot_count; i++) {
        if (words[i] < PA_OFFSET(layout, thread_size) || words[i] >= thread_size)
            return false;
    }
    return task_size < PA_CACHE_PAGE && words[PA_ASYNCIO_INTERPRETER_SIZE_SLOT] == PA_OFFSET(layout, interpreter_size) &&
           words[8] < words[PA_ASYNCIO_INTERPRETER_SIZE_SLOT] && thread_size <= PA_MAX_STRUCT_SIZE;
}

void pa_layout_calibrate_type_base(struct pa_layout *layout, struct pa_memory *memory, uint64_t derived_type, uint64_t base)
{
    uint32_t constant = PA_OFFSET(layout, type_base);
    uint64_t word;
    if (pa_memory_u64(memory, derived_type + constant, &word) && word == base)
        return;
    for (uint32_t offset = PA_OFFSET(layout, object_size); offset + 8 <= PA_OFFSET(layout, type_size); offset += 8) {
        if (pa_memory_u64(memory, derived_type + offset, &word) && word == base) {
            layout->replaced[PA_F_type_base] = constant;
            set(layout, PA_F_type_base, offset, PA_SOURCE_CALIBRATED);
            return;
        }
    }
}

/* greenlet.h, PyGreenlet; greenlet/TGreenlet.hpp, class Greenlet up to python_state._top_frame: the same in greenlet 3.1.1 to 3.5.3. */
void pa_layout_set_greenlet(struct pa_layout *layout)
{
    static const struct pa_constant constants[] = {
        {PA_F_greenlet_size, 40, 56},
        {PA_F_greenlet_dict, 24, 40},
        {PA_F_greenlet_impl, 32, 48},
        {PA_F_greenlet_impl_self, 8, 8},
        {PA_F_greenlet_impl_exc_info, 16, 16},
        {PA_F_greenlet_impl_stack_start, 56, 56},
        {PA_F_greenlet_impl_stack_stop, 64, 64},
        {PA_F_greenlet_impl_top_frame, 104, 104},
    };
    for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
        set(layout, constants[i].field, layout->free_threaded ? constants[i].free_threaded_offset : constants[i].offset,
            PA_SOURCE_CONSTANT);
}

/* greenlet/TGreenlet.hpp: UserGreenlet {_main_greenlet, _run_callable, _parent}, MainGreenlet {_self, _thread_state}. */
void pa_layout_set_greenlet_tail(struct pa_layout *layout, uint32_t tail)
{
    set(layout, PA_F_greenlet_impl_size, (uint64_t)tail + 24, PA_SOURCE_CALIBRATED);
    set(layout, PA_F_greenlet_impl_main, tail, PA_SOURCE_CALIBRATED);
    set(layout, PA_F_greenlet_impl_run, (uint64_t)tail + 8, PA_SOURCE_CALIBRATED);
    set(layout, PA_F_greenlet_impl_parent, (uint64_t)tail + 16, PA_SOURCE_CALIBRATED);
    set(layout, PA_F_greenlet_impl_thread_state, (uint64_t)tail + 8, PA_SOURCE_CALIBRATED);
}

void pa_layout_read_dwarf(struct pa_layout *layout, struct pa_work *work)
{
    for (uint32_t field = 0; field < PA_F_COUNT; field++) {
        const struct pa_field_info *info = &pa_field_info[field];
        if (layout->source[field] != PA_SOURCE_NONE || info->required || info->is_size || !*info->dwarf_path)
            continue;
        if ((field == PA_F_frame_tlbc_index || field == PA_F_code_tlbc) && !layout->free_threaded)
            continue;
        int64_t offset = work->target->member_offset(pa_field_info[info->owner].dwarf_type, info->dwarf_path);
        if (offset == -2) {
            work->fatal = PA_ABORTED;
            return;
        }
        if (offset < 0)
            continue;
        set(layout, field, (uint64_t)offset, PA_SOURCE_DWARF);
        if (!field_fits(layout, field))
            layout->source[field] = PA_SOURCE_NONE;
    }
}
