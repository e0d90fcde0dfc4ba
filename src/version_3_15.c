/*
 * CPython 3.15, release and debug, with and without the GIL.
 *
 * Slots: Include/internal/pycore_debug_offsets.h, struct _Py_DebugOffsets. New in 3.15 are slots in the middle of the table, another
 * numbering of frame states and one more slot on the stack of a coroutine that awaits.
 */
#include "layout.h"

#define F(name) PA_F_##name
#define UNUSED  PA_F_UNUSED

static const uint16_t slots[] = {
    /* runtime_state: size, finalizing, interpreters_head */
    F(runtime_size), UNUSED, F(runtime_interpreters_head),
    /* interpreter_state: size, id, next, threads_head, threads_main, gc, imports_modules, sysdict, builtins, ceval_gil,
       gil_runtime_state, …_enabled, …_locked, …_holder, code_object_generation, tlbc_generation */
    F(interpreter_size), F(interpreter_id), F(interpreter_next), F(interpreter_threads_head), F(interpreter_threads_main),
    F(interpreter_gc), F(interpreter_imports_modules), UNUSED, UNUSED, F(interpreter_ceval_gil), UNUSED, UNUSED, UNUSED, UNUSED,
    UNUSED, UNUSED,
    /* thread_state: size, prev, next, interp, current_frame, base_frame, last_profiled_frame, last_profiled_frame_seq, thread_id,
       native_thread_id, datastack_chunk, status, holds_gil, gil_requested, current_exception, exc_state */
    F(thread_size), UNUSED, F(thread_next), UNUSED, F(thread_current_frame), UNUSED, UNUSED, UNUSED, F(thread_thread_id),
    F(thread_native_thread_id), UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED,
    /* err_stackitem: exc_value */
    UNUSED,
    /* interpreter_frame: size, previous, executable, instr_ptr, localsplus, owner, stackpointer, tlbc_index */
    F(frame_size), F(frame_previous), F(frame_executable), F(frame_instr_ptr), F(frame_localsplus), F(frame_owner),
    F(frame_stackpointer), F(frame_tlbc_index),
    /* code_object: size, filename, name, qualname, linetable, firstlineno, argcount, localsplusnames, localspluskinds,
       co_code_adaptive, co_tlbc */
    F(code_size), F(code_filename), UNUSED, F(code_qualname), F(code_linetable), F(code_firstlineno), F(code_argcount),
    F(code_localsplusnames), F(code_localspluskinds), F(code_bytecode), F(code_tlbc),
    /* pyobject: size, ob_type */
    F(object_size), F(object_type),
    /* type_object: size, tp_name, tp_repr, tp_flags, tp_basicsize, tp_dictoffset */
    F(type_size), F(type_name), F(type_repr), F(type_flags), F(type_basicsize), F(type_dictoffset),
    /* heap_type_object: size, ht_cached_keys */
    F(heap_type_size), F(heap_type_cached_keys),
    /* tuple_object: size, ob_item, ob_size; list_object: the same */
    F(tuple_size), F(tuple_item), F(tuple_length), F(list_size), F(list_item), F(list_length),
    /* set_object: size, used, table, mask */
    F(set_size), F(set_used), F(set_table), F(set_mask),
    /* dict_object: size, ma_keys, ma_values */
    F(dict_size), F(dict_keys), F(dict_values),
    /* float_object: size, ob_fval */
    F(float_size), F(float_value),
    /* long_object: size, lv_tag, ob_digit */
    F(long_size), F(long_tag), F(long_digit),
    /* bytes_object: size, ob_size, ob_sval */
    F(bytes_size), F(bytes_length), F(bytes_data),
    /* unicode_object: size, state, length, asciiobject_size, compactunicodeobject_size */
    F(unicode_size), F(unicode_state), F(unicode_length), F(unicode_ascii_data), F(unicode_compact_data),
    /* gc: size, collecting, frame, generation_stats_size, generation_stats */
    F(gc_size), F(gc_collecting), UNUSED, UNUSED, UNUSED,
    /* gen_object: size, gi_name, gi_iframe, gi_frame_state */
    F(gen_size), UNUSED, F(gen_iframe), F(gen_frame_state),
    /* llist_node: next, prev; then debugger_support: six words */
    UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED};

static const struct pa_constant constants[] = {
    /* Include/object.h, PyObject; without the GIL two counts stand there */
    {F(object_refcnt), 0, PA_NO_OFFSET},
    /* Include/cpython/object.h, PyTypeObject */
    {F(type_base), 256, 272},
    {F(type_members), 240, 256},
    {F(type_dict), 264, 280},
    {F(type_mro), 344, 360},
    /* Include/cpython/code.h, _PyCoMonitoringData: local_monitors, active_monitors, a byte an event */
    {F(co_monitoring_size), 32, 32},
    {F(co_monitoring_local), 0, 0},
    {F(co_monitoring_active), 16, 16},
    /* Include/internal/pycore_interpframe_structs.h, struct _PyInterpreterFrame */
    {F(frame_object), 48, 48},
    /* Include/internal/pycore_dict.h, struct _dictkeysobject: without the GIL a mutex takes the hole before dk_version */
    {F(dict_keys_size), 33, 33},
    {F(dict_keys_log2_size), 8, 8},
    {F(dict_keys_log2_index_bytes), 9, 9},
    {F(dict_keys_kind), 10, 10},
    {F(dict_keys_nentries), 24, 24},
    {F(dict_keys_indices), 32, 32},
    /* Include/internal/pycore_dict.h, struct _dictvalues */
    {F(dict_values_size), 16, 16},
    {F(dict_values_capacity), 0, 0},
    {F(dict_values_count), 1, 1},
    {F(dict_values_valid), 3, 3},
    {F(dict_values_items), 8, 8},
    /* Include/internal/pycore_moduleobject.h, PyModuleObject */
    {F(module_size), 32, 48},
    {F(module_state), 24, 40},
    /* Include/internal/pycore_interp_structs.h, struct _gc_runtime_state, generations */
    {F(gc_generations), 8, PA_NO_OFFSET},
};

const struct pa_version pa_version_3_15 = {
    .major = 3,
    .minor = 15,
    .slots = slots,
    .slot_count = sizeof(slots) / sizeof(*slots),
    .constants = constants,
    .constant_count = sizeof(constants) / sizeof(*constants),
    .asyncio_symbol = "_Py_AsyncioDebug",
    /* Include/internal/pycore_frame.h, enum _framestate; the locked form is a moment of free-threaded builds */
    .frame_created = 0,
    .frame_suspended = 1,
    .frame_yield_from = 2,
    .frame_yield_from_locked = 3,
    .frame_executing = 4,
    .frame_cleared = 5,
    /* Objects/genobject.c, gen_getyieldfrom(): SEND keeps one more word, null or an index, on top */
    .yield_from_slot = 2,
    /* Include/internal/pycore_stackref.h, Py_TAG_BITS */
    .tag_mask = 3,
    .tag_mask_free_threaded = 3,
    /* Include/internal/pycore_interpframe_structs.h, enum _frameowner */
    .owner_thread = 0,
    .owner_generator = 1,
    .owner_interpreter = 3,
    /* Include/cpython/code.h, _PY_MONITORING_LOCAL_EVENTS; Include/internal/pycore_interp_structs.h, struct _is */
    .local_events = 16,
    .exceptions_are_local = true,
    .monitors_from_end = 2728,
    .tool_names_from_end = 1472,
    /* Include/internal/pycore_object.h, MANAGED_DICT_OFFSET: without the GIL objects have no head of the garbage collector */
    .managed_dict = 24,
    .managed_dict_free_threaded = 8,
    /* Include/opcode_ids.h */
    .op_with_except_start = 41,
    .op_get_awaitable = 69,
    .op_end_async_for = 66,
    .op_call = 50,
    .op_call_kw = 53,
    .op_instrumented_call = 249,
    .op_instrumented_call_kw = 250,
    .op_call_first = 144,
    .op_call_last = 168,
    .op_call_kw_first = 154,
    .op_call_kw_last = 156,
};
