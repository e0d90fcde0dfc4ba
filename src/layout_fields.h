/*
 * The fields of CPython's structures that we read: one line a field. This list is at once what the parser fills, what the validator
 * checks and what py-async-info prints. No field is read that does not stand here.
 *
 *     PA_STRUCT(id, need, dwarf_type)                 its size, "id_size"; fields are checked against it
 *     PA_FIELD(owner, name, width, need, path, why)   the offset of one field, "owner_name"; path is the member in DWARF
 *
 * need: REQUIRED, the walk cannot do without; OPTIONAL, something is shown less well without it (free-threaded builds, one version).
 * Structures of one word (the object behind an async_generator_asend, …) are known by their first field only.
 */
#ifndef PA_STRUCT
#define PA_STRUCT(id, need, dwarf_type)
#endif
#ifndef PA_FIELD
#define PA_FIELD(owner, name, width, need, path, why)
#endif

PA_STRUCT(runtime, REQUIRED, "_PyRuntimeState")
PA_FIELD(runtime, interpreters_head, 8, REQUIRED, "interpreters.head", "the list of interpreters")

PA_STRUCT(interpreter, REQUIRED, "PyInterpreterState")
PA_FIELD(interpreter, id, 8, REQUIRED, "id", "0 is the main interpreter")
PA_FIELD(interpreter, next, 8, REQUIRED, "next", "the list of interpreters")
PA_FIELD(interpreter, threads_head, 8, REQUIRED, "threads.head", "the list of thread states")
PA_FIELD(interpreter, threads_main, 8, REQUIRED, "threads.main", "the thread that runs the main program: it is in that list")
PA_FIELD(interpreter, gc, 120, OPTIONAL, "gc", "the lists of all objects")
PA_FIELD(interpreter, imports_modules, 8, REQUIRED, "imports.modules", "sys.modules: types known by identity")
PA_FIELD(interpreter, asyncio_tasks_head, 16, REQUIRED, "asyncio_tasks_head", "tasks of threads that have exited")
PA_FIELD(interpreter, ceval_gil, 8, OPTIONAL, "ceval.gil", "the neighbour of the next")
PA_FIELD(interpreter, instrumentation_version, 8, OPTIONAL, "ceval.instrumentation_version",
         "whether code is instrumented as it should be")
PA_FIELD(interpreter, monitors, 16, OPTIONAL, "monitors", "which tools want which events")
PA_FIELD(interpreter, tool_names, 64, OPTIONAL, "monitoring_tool_names", "the names of tools of sys.monitoring")

PA_STRUCT(thread, REQUIRED, "PyThreadState")
PA_FIELD(thread, next, 8, REQUIRED, "next", "the list of thread states")
PA_FIELD(thread, current_frame, 8, REQUIRED, "current_frame", "where the thread's Python code stands")
PA_FIELD(thread, thread_id, 8, REQUIRED, "thread_id", "pthread_self(): which of the debugger's threads it is")
PA_FIELD(thread, native_thread_id, 8, REQUIRED, "native_thread_id", "the kernel's thread id in the process's own namespace")

PA_STRUCT(thread_impl, REQUIRED, "_PyThreadStateImpl")
PA_FIELD(thread_impl, running_loop, 8, REQUIRED, "asyncio_running_loop", "the loop that runs in the thread")
PA_FIELD(thread_impl, running_task, 8, REQUIRED, "asyncio_running_task", "the task that runs in the thread")
PA_FIELD(thread_impl, asyncio_tasks_head, 16, REQUIRED, "asyncio_tasks_head", "the thread's pending tasks")

PA_STRUCT(frame, REQUIRED, "_PyInterpreterFrame")
PA_FIELD(frame, executable, 8, REQUIRED, "f_executable", "the code object, tagged")
PA_FIELD(frame, previous, 8, REQUIRED, "previous", "the caller's frame")
PA_FIELD(frame, instr_ptr, 8, REQUIRED, "instr_ptr", "the instruction, for the line")
PA_FIELD(frame, stackpointer, 8, REQUIRED, "stackpointer", "what is awaited lies below it")
PA_FIELD(frame, owner, 1, REQUIRED, "owner", "whether a generator owns the frame")
PA_FIELD(frame, localsplus, 8, REQUIRED, "localsplus", "where the value stack cannot begin before")
PA_FIELD(frame, object, 8, OPTIONAL, "frame_obj", "the frame object, if one was made")
PA_FIELD(frame, tlbc_index, 4, OPTIONAL, "tlbc_index", "free-threaded: which copy of the bytecode runs")

PA_STRUCT(code, REQUIRED, "PyCodeObject")
PA_FIELD(code, units, 8, REQUIRED, "ob_base.ob_size", "code units, the bound of an instruction offset")
PA_FIELD(code, filename, 8, REQUIRED, "co_filename", "the file of a frame")
PA_FIELD(code, qualname, 8, REQUIRED, "co_qualname", "the function of a frame")
PA_FIELD(code, nlocalsplus, 4, OPTIONAL, "co_nlocalsplus", "how many variables a frame has")
PA_FIELD(code, localsplusnames, 8, OPTIONAL, "co_localsplusnames", "the names of variables")
PA_FIELD(code, localspluskinds, 8, OPTIONAL, "co_localspluskinds", "which of them are cells")
PA_FIELD(code, exceptiontable, 8, OPTIONAL, "co_exceptiontable",
         "the with statements that a frame is in the body of: who holds a lock")
PA_FIELD(code, linetable, 8, REQUIRED, "co_linetable", "the line of a frame")
PA_FIELD(code, firstlineno, 4, REQUIRED, "co_firstlineno", "the line of a frame")
PA_FIELD(code, argcount, 4, REQUIRED, "co_argcount", "the neighbour of co_flags")
PA_FIELD(code, flags, 4, REQUIRED, "co_flags", "coroutine, generator, async generator or function")
PA_FIELD(code, bytecode, 1, REQUIRED, "co_code_adaptive", "where instruction offsets count from")
PA_FIELD(code, firsttraceable, 4, OPTIONAL, "_co_firsttraceable", "frames that have not begun yet")
PA_FIELD(code, instrumentation_version, 8, OPTIONAL, "_co_instrumentation_version", "whether it is instrumented as it should be")
PA_FIELD(code, monitoring, 8, OPTIONAL, "_co_monitoring", "the tools that it is instrumented for")
PA_FIELD(code, tlbc, 8, OPTIONAL, "co_tlbc", "free-threaded: the copies of the bytecode")

PA_STRUCT(co_monitoring, OPTIONAL, "_PyCoMonitoringData")
PA_FIELD(co_monitoring, local, 8, OPTIONAL, "local_monitors", "tools that want events of this code object only")
PA_FIELD(co_monitoring, active, 8, OPTIONAL, "active_monitors", "tools that its instructions call")

PA_STRUCT(object, REQUIRED, "PyObject")
PA_FIELD(object, type, 8, REQUIRED, "ob_type", "the type of any object")
PA_FIELD(object, refcnt, 4, OPTIONAL, "ob_refcnt", "whether anything else refers to a task that waits")

PA_STRUCT(type, REQUIRED, "PyTypeObject")
PA_FIELD(type, name, 8, REQUIRED, "tp_name", "the name of a type")
PA_FIELD(type, flags, 8, REQUIRED, "tp_flags", "str and int are told by flags, and whether the type is static")
PA_FIELD(type, base, 8, REQUIRED, "tp_base", "whether a type is a subclass of asyncio.Task")
PA_FIELD(type, basicsize, 8, OPTIONAL, "tp_basicsize", "where the inline values of an instance begin")
PA_FIELD(type, repr, 8, OPTIONAL, "tp_repr", "whether a subclass has a repr of its own")
PA_FIELD(type, members, 8, OPTIONAL, "tp_members", "__slots__")
PA_FIELD(type, dict, 8, OPTIONAL, "tp_dict", "what a class statement set: __module__, fields of dataclasses")
PA_FIELD(type, dictoffset, 8, OPTIONAL, "tp_dictoffset", "where an instance has the pointer to its __dict__")
PA_FIELD(type, mro, 8, OPTIONAL, "tp_mro", "whose __slots__ an instance has")

PA_STRUCT(heap_type, OPTIONAL, "PyHeapTypeObject")
PA_FIELD(heap_type, qualname, 8, OPTIONAL, "ht_qualname", "the name of a class")
PA_FIELD(heap_type, cached_keys, 8, OPTIONAL, "ht_cached_keys", "the names of inline values")

PA_STRUCT(tuple, OPTIONAL, "PyTupleObject")
PA_FIELD(tuple, item, 8, OPTIONAL, "ob_item", "the elements of a tuple")
PA_FIELD(tuple, length, 8, OPTIONAL, "ob_base.ob_size", "how many elements a tuple has")

PA_STRUCT(list, OPTIONAL, "PyListObject")
PA_FIELD(list, item, 8, OPTIONAL, "ob_item", "the elements of a list")
PA_FIELD(list, length, 8, OPTIONAL, "ob_base.ob_size", "how many elements a list has")

PA_STRUCT(set, REQUIRED, "PySetObject")
PA_FIELD(set, used, 8, REQUIRED, "used", "how many awaiters there are")
PA_FIELD(set, table, 8, REQUIRED, "table", "the slots of an awaited-by set")
PA_FIELD(set, mask, 8, REQUIRED, "mask", "how many slots there are, less one")

PA_STRUCT(dict, REQUIRED, "PyDictObject")
PA_FIELD(dict, keys, 8, REQUIRED, "ma_keys", "sys.modules and module dictionaries")
PA_FIELD(dict, values, 8, OPTIONAL, "ma_values", "the values of a dict that shares its keys")

PA_STRUCT(dict_values, OPTIONAL, "PyDictValues")
PA_FIELD(dict_values, capacity, 1, OPTIONAL, "capacity", "where the order of insertion stands")
PA_FIELD(dict_values, count, 1, OPTIONAL, "size", "how many values there are")
PA_FIELD(dict_values, valid, 1, OPTIONAL, "valid", "whether an instance has its inline values still")
PA_FIELD(dict_values, items, 8, OPTIONAL, "values", "the values")

PA_STRUCT(dict_keys, REQUIRED, "PyDictKeysObject")
PA_FIELD(dict_keys, log2_size, 1, REQUIRED, "dk_log2_size", "sys.modules and module dictionaries")
PA_FIELD(dict_keys, log2_index_bytes, 1, REQUIRED, "dk_log2_index_bytes", "where the entries begin")
PA_FIELD(dict_keys, kind, 1, REQUIRED, "dk_kind", "whether entries hold hashes")
PA_FIELD(dict_keys, nentries, 8, REQUIRED, "dk_nentries", "how many entries were ever used")
PA_FIELD(dict_keys, indices, 1, REQUIRED, "dk_indices", "where the entries begin")

PA_STRUCT(long, REQUIRED, "PyLongObject")
PA_FIELD(long, tag, 8, REQUIRED, "long_value.lv_tag", "default task names are numbers")
PA_FIELD(long, digit, 4, REQUIRED, "long_value.ob_digit", "default task names are numbers")

PA_STRUCT(bytes, REQUIRED, "PyBytesObject")
PA_FIELD(bytes, length, 8, REQUIRED, "ob_base.ob_size", "the length of a line table")
PA_FIELD(bytes, data, 1, REQUIRED, "ob_sval", "the bytes of a line table")

PA_STRUCT(unicode, REQUIRED, "PyUnicodeObject")
PA_FIELD(unicode, length, 8, REQUIRED, "_base._base.length", "characters of a str")
PA_FIELD(unicode, state, 4, REQUIRED, "_base._base.state", "how a str is stored")
PA_FIELD(unicode, ascii_data, 0, REQUIRED, "_base.utf8_length", "where the characters of an ASCII str begin")
PA_FIELD(unicode, compact_data, 0, REQUIRED, "data", "where the characters of other str begin")

PA_STRUCT(float, OPTIONAL, "PyFloatObject")
PA_FIELD(float, value, 8, OPTIONAL, "ob_fval", "the value of a float")

PA_STRUCT(complex, OPTIONAL, "PyComplexObject")
PA_FIELD(complex, value, 16, OPTIONAL, "cval", "real and imaginary part")

PA_STRUCT(bytearray, OPTIONAL, "PyByteArrayObject")
PA_FIELD(bytearray, length, 8, OPTIONAL, "ob_base.ob_size", "the length of a bytearray")
PA_FIELD(bytearray, start, 8, OPTIONAL, "ob_start", "where its bytes begin")

PA_STRUCT(deque, OPTIONAL, "struct dequeobject")
PA_FIELD(deque, length, 8, OPTIONAL, "ob_base.ob_size", "how many wait for a lock, how many callbacks are ready")
PA_FIELD(deque, left_block, 8, OPTIONAL, "leftblock", "the first elements of a deque")
PA_FIELD(deque, left_index, 8, OPTIONAL, "leftindex", "where in them it begins")

PA_STRUCT(simple_queue, OPTIONAL, "simplequeueobject")
PA_FIELD(simple_queue, get_index, 8, OPTIONAL, "buf.get_idx", "where a queue of an executor begins")
PA_FIELD(simple_queue, items, 8, OPTIONAL, "buf.items", "what is queued in an executor")
PA_FIELD(simple_queue, capacity, 8, OPTIONAL, "buf.items_cap", "where a queue of an executor goes round")
PA_FIELD(simple_queue, count, 8, OPTIONAL, "buf.num_items", "how much is queued in an executor")

PA_STRUCT(function, OPTIONAL, "PyFunctionObject")
PA_FIELD(function, qualname, 8, OPTIONAL, "func_qualname", "the name of a function")
PA_FIELD(function, code, 8, OPTIONAL, "func_code", "the place of a function that will be called")
PA_FIELD(function, defaults, 8, OPTIONAL, "func_defaults", "callbacks: who awaits")
PA_FIELD(function, closure, 8, OPTIONAL, "func_closure", "callbacks: who awaits")

PA_STRUCT(method, OPTIONAL, "PyMethodObject")
PA_FIELD(method, function, 8, OPTIONAL, "im_func", "the function of a bound method")
PA_FIELD(method, self, 8, OPTIONAL, "im_self", "what a method is bound to")

PA_STRUCT(builtin, OPTIONAL, "PyCFunctionObject")
PA_FIELD(builtin, definition, 8, OPTIONAL, "m_ml", "the name of a function made in C")
PA_FIELD(builtin, self, 8, OPTIONAL, "m_self", "what it is bound to")

PA_STRUCT(exception, OPTIONAL, "PyBaseExceptionObject")
PA_FIELD(exception, args, 8, OPTIONAL, "args", "the message of an exception")
PA_FIELD(exception, traceback, 8, OPTIONAL, "traceback", "where it was raised")
PA_FIELD(exception, context, 8, OPTIONAL, "context", "what was being handled when it was raised")
PA_FIELD(exception, cause, 8, OPTIONAL, "cause", "raise … from")
PA_FIELD(exception, suppress_context, 1, OPTIONAL, "suppress_context", "whether the context counts")

PA_STRUCT(os_error, OPTIONAL, "PyOSErrorObject")
PA_FIELD(os_error, number, 8, OPTIONAL, "myerrno", "the message of an OSError")
PA_FIELD(os_error, text, 8, OPTIONAL, "strerror", "the message of an OSError")
PA_FIELD(os_error, filename, 8, OPTIONAL, "filename", "the message of an OSError")
PA_FIELD(os_error, filename2, 8, OPTIONAL, "filename2", "the message of an OSError")

PA_STRUCT(group, OPTIONAL, "PyBaseExceptionGroupObject")
PA_FIELD(group, message, 8, OPTIONAL, "msg", "the message of an exception group")
PA_FIELD(group, exceptions, 8, OPTIONAL, "excs", "the exceptions in a group")

PA_STRUCT(traceback, OPTIONAL, "PyTracebackObject")
PA_FIELD(traceback, next, 8, OPTIONAL, "tb_next", "the next inner frame")
PA_FIELD(traceback, frame, 8, OPTIONAL, "tb_frame", "the function of a frame of a traceback")
PA_FIELD(traceback, lasti, 4, OPTIONAL, "tb_lasti", "its line")

PA_STRUCT(frame_object, OPTIONAL, "PyFrameObject")
PA_FIELD(frame_object, frame, 8, OPTIONAL, "f_frame", "the interpreter frame of a frame object")
PA_FIELD(frame_object, data, 8, OPTIONAL, "_f_frame_data", "where greenlet keeps the link that it replaced: C calls in between")

PA_STRUCT(context, OPTIONAL, "PyContext")
PA_FIELD(context, vars, 8, OPTIONAL, "ctx_vars", "the variables of a context")

PA_STRUCT(context_var, OPTIONAL, "PyContextVar")
PA_FIELD(context_var, name, 8, OPTIONAL, "var_name", "the name of a context variable")

PA_STRUCT(hamt, OPTIONAL, "PyHamtObject")
PA_FIELD(hamt, root, 8, OPTIONAL, "h_root", "the variables of a context")
PA_FIELD(hamt, count, 8, OPTIONAL, "h_count", "how many there are")

/* Bitmap and collision nodes hold ob_size keys and values; array nodes 32 nodes. */
PA_STRUCT(hamt_node, OPTIONAL, "PyHamtNode_Bitmap")
PA_FIELD(hamt_node, length, 8, OPTIONAL, "ob_base.ob_size", "how many words a node has")
PA_FIELD(hamt_node, items, 8, OPTIONAL, "b_array", "keys and values, or nodes")

PA_STRUCT(hamt_array, OPTIONAL, "PyHamtNode_Array")
PA_FIELD(hamt_array, items, 8, OPTIONAL, "a_array", "nodes")

PA_STRUCT(gen, REQUIRED, "PyGenObject")
PA_FIELD(gen, qualname, 8, OPTIONAL, "gi_qualname", "the name of a generator")
PA_FIELD(gen, frame_state, 1, REQUIRED, "gi_frame_state", "created, suspended, executing or cleared")
PA_FIELD(gen, iframe, 8, REQUIRED, "gi_iframe", "the frame inside a coroutine or generator")

PA_STRUCT(task, REQUIRED, "TaskObj")
PA_FIELD(task, loop, 8, REQUIRED, "task_loop", "the loop of a task")
PA_FIELD(task, callback0, 8, REQUIRED, "task_callback0", "who is to be told: the first")
PA_FIELD(task, callbacks, 8, REQUIRED, "task_callbacks", "who is to be told: the others")
PA_FIELD(task, exception, 8, REQUIRED, "task_exception", "whether an ended task failed")
PA_FIELD(task, state, 4, REQUIRED, "task_state", "pending, cancelled or finished")
PA_FIELD(task, awaited_by, 8, REQUIRED, "task_awaited_by", "who waits for a task")
PA_FIELD(task, is_task, 1, REQUIRED, "task_is_task", "task or plain future")
PA_FIELD(task, awaited_by_is_set, 1, REQUIRED, "task_awaited_by_is_set", "one awaiter or a set of them")
PA_FIELD(task, bits, 1, REQUIRED, "", "must_cancel and other single bits")
PA_FIELD(task, cancel_requests, 4, REQUIRED, "task_num_cancels_requested", "how often cancel() was called")
PA_FIELD(task, fut_waiter, 8, REQUIRED, "task_fut_waiter", "what a task is suspended on")
PA_FIELD(task, coro, 8, REQUIRED, "task_coro", "the coroutine that a task runs")
PA_FIELD(task, name, 8, REQUIRED, "task_name", "the name of a task")
PA_FIELD(task, source_traceback, 8, OPTIONAL, "task_source_tb", "where a task was created, in debug mode")
PA_FIELD(task, context, 8, OPTIONAL, "task_context", "the context variables of a task")
PA_FIELD(task, node, 16, REQUIRED, "task_node", "the list that a task is in")

PA_STRUCT(gc, OPTIONAL, "struct _gc_runtime_state")
PA_FIELD(gc, collecting, 4, OPTIONAL, "collecting", "whether the lists of all objects are being worked on")
PA_FIELD(gc, generations, 96, OPTIONAL, "generations", "the lists of all objects")

/* The first word behind the object header of small objects. */
PA_STRUCT(wrapper, REQUIRED, "")
PA_FIELD(wrapper, future, 8, REQUIRED, "", "the future at the end of a coroutine chain (_asyncio.FutureIter)")
PA_FIELD(wrapper, object, 8, REQUIRED, "",
         "the generator behind coroutine_wrapper, anext_awaitable, async_generator_asend, …_athrow")
PA_FIELD(wrapper, module_dict, 8, REQUIRED, "", "sys.modules: types known by identity")

PA_STRUCT(module, OPTIONAL, "PyModuleObject")
PA_FIELD(module, state, 8, OPTIONAL, "md_state", "the state of _asyncio: tasks that were registered with it")

/* greenlet since 3.1.1: greenlet.h, greenlet/TGreenlet.hpp. Known once a process has greenlets; the last four move with its version. */
PA_STRUCT(greenlet, OPTIONAL, "")
PA_FIELD(greenlet, dict, 8, OPTIONAL, "", "attributes of greenlets: gevent's names")
PA_FIELD(greenlet, impl, 8, OPTIONAL, "", "the C++ object of a greenlet")

PA_STRUCT(greenlet_impl, OPTIONAL, "")
PA_FIELD(greenlet_impl, self, 8, OPTIONAL, "", "the greenlet of a C++ object: whether it is alive")
PA_FIELD(greenlet_impl, exc_info, 8, OPTIONAL, "", "the thread that a suspended greenlet belongs to")
PA_FIELD(greenlet_impl, stack_start, 8, OPTIONAL, "", "whether a greenlet has started, or ended")
PA_FIELD(greenlet_impl, stack_stop, 8, OPTIONAL, "", "whether a greenlet has started; which is a thread's main one")
PA_FIELD(greenlet_impl, top_frame, 8, OPTIONAL, "", "the innermost frame of a suspended greenlet")
PA_FIELD(greenlet_impl, main, 8, OPTIONAL, "", "the main greenlet of a greenlet's thread")
PA_FIELD(greenlet_impl, run, 8, OPTIONAL, "", "what a greenlet that has not started will call")
PA_FIELD(greenlet_impl, parent, 8, OPTIONAL, "", "where a greenlet returns to")
PA_FIELD(greenlet_impl, thread_state, 8, OPTIONAL, "", "of a main greenlet: which greenlet its thread runs")

#undef PA_STRUCT
#undef PA_FIELD
