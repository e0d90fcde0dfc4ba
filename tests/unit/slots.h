/*
 * The words of _Py_DebugOffsets behind cookie, version and free_threaded, in their order: SLOT(name, 3.14, 3.15, 3.14t, 3.15t).
 *
 * With the GIL as read from the release interpreters. Free-threaded: the offsets that differ by their nature are those measured in such
 * builds (object header, frame, set, int, str, generator, code); the others are the former moved by what stands before them. -1: 3.14 has no
 * such word.
 */
SLOT(runtime_size, 316616, 346568, 320712, 350664)
SLOT(runtime_finalizing, 784, 912, 784, 912)
SLOT(runtime_interpreters_head, 808, 936, 808, 936)

SLOT(interpreter_size, 225864, 226240, 232808, 233184)
SLOT(interpreter_id, 7280, 7272, 14192, 14184)
SLOT(interpreter_next, 7272, 7264, 14184, 14176)
SLOT(interpreter_threads_head, 7344, 7336, 14256, 14248)
SLOT(interpreter_threads_main, 7360, 7352, 14272, 14264)
SLOT(interpreter_gc, 7408, 7400, 14320, 14312)
SLOT(interpreter_imports_modules, 7688, 7592, 14600, 14504)
SLOT(interpreter_sysdict, 7672, 7576, 14584, 14488)
SLOT(interpreter_builtins, 7680, 7584, 14592, 14496)
SLOT(interpreter_ceval_gil, 16, 16, 16, 16)
SLOT(interpreter_gil_runtime_state, 7784, 7736, 14696, 14648)
SLOT(interpreter_gil_enabled, 0, 0, 6912, 6912)
SLOT(interpreter_gil_locked, 7800, 7752, 14712, 14664)
SLOT(interpreter_gil_holder, 7792, 7744, 14704, 14656)
SLOT(interpreter_code_object_generation, 7992, 7944, 14904, 14856)
SLOT(interpreter_tlbc_generation, 0, 0, 6912, 6912)

SLOT(thread_size, 832, 888, 848, 904)
SLOT(thread_prev, 0, 0, 0, 0)
SLOT(thread_next, 8, 8, 8, 8)
SLOT(thread_interp, 16, 16, 16, 16)
SLOT(thread_current_frame, 72, 72, 88, 88)
SLOT(thread_base_frame, -1, 80, -1, 96)
SLOT(thread_last_profiled_frame, -1, 88, -1, 104)
SLOT(thread_last_profiled_frame_seq, -1, 96, -1, 112)
SLOT(thread_thread_id, 152, 176, 168, 192)
SLOT(thread_native_thread_id, 160, 184, 176, 200)
SLOT(thread_datastack_chunk, 232, 256, 248, 272)
SLOT(thread_status, 32, 32, 32, 32)
SLOT(thread_holds_gil, -1, 36, -1, 36)
SLOT(thread_gil_requested, -1, 40, -1, 40)
SLOT(thread_current_exception, -1, 136, -1, 152)
SLOT(thread_exc_state, -1, 288, -1, 304)

SLOT(err_stackitem_exc_value, -1, 0, -1, 0)

SLOT(frame_size, 88, 88, 88, 88)
SLOT(frame_previous, 8, 8, 8, 8)
SLOT(frame_executable, 0, 0, 0, 0)
SLOT(frame_instr_ptr, 56, 56, 56, 56)
SLOT(frame_localsplus, 80, 80, 80, 80)
SLOT(frame_owner, 74, 74, 78, 78)
SLOT(frame_stackpointer, 64, 64, 64, 64)
SLOT(frame_tlbc_index, 0, 0, 72, 72)

SLOT(code_size, 216, 216, 240, 240)
SLOT(code_filename, 112, 112, 128, 128)
SLOT(code_name, 120, 120, 136, 136)
SLOT(code_qualname, 128, 128, 144, 144)
SLOT(code_linetable, 136, 136, 152, 152)
SLOT(code_firstlineno, 68, 68, 84, 84)
SLOT(code_argcount, 52, 52, 68, 68)
SLOT(code_localsplusnames, 96, 96, 112, 112)
SLOT(code_localspluskinds, 104, 104, 120, 120)
SLOT(code_bytecode, 208, 208, 232, 232)
SLOT(code_tlbc, 0, 0, 224, 224)

SLOT(object_size, 16, 16, 32, 32)
SLOT(object_ob_type, 8, 8, 24, 24)

SLOT(type_size, 416, 424, 432, 440)
SLOT(type_name, 24, 24, 40, 40)
SLOT(type_repr, 88, 88, 104, 104)
SLOT(type_flags, 168, 168, 184, 184)
SLOT(type_basicsize, -1, 32, -1, 48)
SLOT(type_dictoffset, -1, 288, -1, 304)

SLOT(heap_type_size, -1, 944, -1, 960)
SLOT(heap_type_cached_keys, -1, 888, -1, 904)

SLOT(tuple_size, 40, 40, 56, 56)
SLOT(tuple_item, 32, 32, 48, 48)
SLOT(tuple_ob_size, 16, 16, 32, 32)

SLOT(list_size, 40, 40, 56, 56)
SLOT(list_item, 24, 24, 40, 40)
SLOT(list_ob_size, 16, 16, 32, 32)

SLOT(set_size, 200, 200, 216, 216)
SLOT(set_used, 24, 24, 40, 40)
SLOT(set_table, 40, 40, 56, 56)
SLOT(set_mask, 32, 32, 48, 48)

SLOT(dict_size, 48, 48, 64, 64)
SLOT(dict_keys, 32, 32, 48, 48)
SLOT(dict_values, 40, 40, 56, 56)

SLOT(float_size, 24, 24, 40, 40)
SLOT(float_value, 16, 16, 32, 32)

SLOT(long_size, 32, 32, 48, 48)
SLOT(long_tag, 16, 16, 32, 32)
SLOT(long_digit, 24, 24, 40, 40)

SLOT(bytes_size, 40, 40, 56, 56)
SLOT(bytes_length, 16, 16, 32, 32)
SLOT(bytes_data, 32, 32, 48, 48)

SLOT(unicode_size, 64, 64, 80, 80)
SLOT(unicode_state, 32, 32, 48, 48)
SLOT(unicode_length, 16, 16, 32, 32)
SLOT(unicode_ascii_size, 40, 40, 56, 56)
SLOT(unicode_compact_size, -1, 56, -1, 72)

SLOT(gc_size, 264, 176, 264, 176)
SLOT(gc_collecting, 192, 112, 192, 112)
SLOT(gc_frame, -1, 120, -1, 120)
SLOT(gc_generation_stats_size, -1, 1112, -1, 1112)
SLOT(gc_generation_stats, -1, 104, -1, 104)

SLOT(gen_size, 160, 160, 176, 176)
SLOT(gen_name, 24, 24, 40, 40)
SLOT(gen_iframe, 72, 72, 88, 88)
SLOT(gen_frame_state, 67, 67, 83, 83)

SLOT(llist_next, 0, 0, 0, 0)
SLOT(llist_prev, 8, 8, 8, 8)

SLOT(debugger_eval_breaker, 24, 24, 24, 24)
SLOT(debugger_support, 304, 344, 304, 344)
SLOT(debugger_enabled, 8076, 8028, 8076, 8028)
SLOT(debugger_pending_call, 0, 0, 0, 0)
SLOT(debugger_script_path, 4, 4, 4, 4)
SLOT(debugger_script_path_size, 512, 512, 512, 512)

#undef SLOT
