/*
 * A miniature CPython in an image: runtime, debug offsets, types and objects with the layout of one build.
 *
 * The offsets here are measured ones (slots.h and python.c) and share nothing with src/: what the library derives or knows as a constant
 * is checked against them.
 */
#ifndef PYTHON_H
#define PYTHON_H

#include "image.h"
#include "object.h"

/** Order of the columns in slots.h; the index of loop tests. */
enum python_build { PYTHON_3_14, PYTHON_3_15, PYTHON_3_14T, PYTHON_3_15T, PYTHON_BUILDS };

enum python_slot {
#define SLOT(name, a, b, c, d) SLOT_##name,
#include "slots.h"
    SLOT_COUNT,
};

struct python {
    struct image *image;
    enum python_build build;
    bool free_threaded;
    int minor;
    uint64_t runtime, asyncio; /* the tables */
    uint64_t interpreter, thread;
    uint64_t modules;              /* sys.modules */
    uint64_t types[PA_KIND_COUNT]; /* static types and those of _asyncio */
    uint64_t object_type, dummy;   /* object; the key of deleted set entries */
    uint64_t next_data, next_name, next_object, end_of_objects;
};

/** The layout of a task and its list, and of what asyncio adds to interpreters and threads. */
struct python_asyncio {
    uint64_t task_size, name, awaited_by, is_task, is_set, coro, node;
    uint64_t interpreter_size, interpreter_tasks;
    uint64_t thread_size, running_loop, running_task, thread_tasks;
};

#define PYTHON_RODATA 0x400000u
#define PYTHON_DATA   0x600000u
#define PYTHON_HEAP   0x7f0000000000u

/** A process with one interpreter and one thread state, without tasks; sections tell where the tables are. */
struct python *python_new(enum python_build build);
/** The same with room for @p heap bytes of objects; python_new() has 1 MB. */
struct python *python_new_sized(enum python_build build, uint64_t heap);
void python_free(struct python *python);

/** As in a core without any ELF file: no sections, and no names of static types. */
void python_forget_files(struct python *python);

uint64_t python_offset(const struct python *python, enum python_slot slot);
const struct python_asyncio *python_asyncio(const struct python *python);
/** Words of _Py_DebugOffsets, and one word's place counted from its begin. */
uint32_t python_table_words(const struct python *python);
uint32_t python_table_index(const struct python *python, enum python_slot slot);

/** Clear memory for an object, 16-aligned; with a type, its ob_type is set, and there is room for a PyGC_Head before it. */
uint64_t python_alloc(struct python *python, uint64_t size);
uint64_t python_object(struct python *python, uint64_t type, uint64_t size);
uint64_t python_type(struct python *python, const char *name, uint64_t base, bool heap, uint64_t flags);

/** A str of UTF-8 or WTF-8 text, stored as compactly as CPython would. */
uint64_t python_str(struct python *python, const char *text);
/** The same of a subclass, so not compact. */
uint64_t python_str_subclass(struct python *python, const char *text);
/** With the width of a character (1, 2, 4) given. */
uint64_t python_str_wide(struct python *python, const uint32_t *points, uint64_t length, uint32_t width);
uint64_t python_int(struct python *python, int64_t value);
uint64_t python_bytes(struct python *python, const void *bytes, uint64_t length);
/** A set; an element of 0 is an entry that was deleted. */
uint64_t python_set(struct python *python, const uint64_t *elements, uint32_t count);
uint64_t python_dict(struct python *python, uint8_t kind);
void python_dict_set(struct python *python, uint64_t dict, const char *key, uint64_t value);
uint64_t python_module(struct python *python, const char *name);
uint64_t python_module_dict(struct python *python, uint64_t module);

#define CO_FUNCTION        0x3u
#define CO_GENERATOR       0x20u
#define CO_COROUTINE       0x80u
#define CO_ASYNC_GENERATOR 0x200u

/** A code object of 16 units; unit n is on line @p line + n. */
uint64_t python_code(struct python *python, const char *qualname, const char *filename, int32_t line, uint32_t flags);
void python_set_linetable(struct python *python, uint64_t code, const void *table, uint64_t length, uint64_t units);
/** The copies of bytecode of a free-threaded build: entries 1…count-1 as given, entry 0 the code's own. */
void python_set_tlbc(struct python *python, uint64_t code, const uint64_t *entries, uint64_t count);
uint64_t python_bytecode(const struct python *python, uint64_t code);

enum python_state { CREATED, SUSPENDED, YIELD_FROM, EXECUTING, CLEARED };

/** A coroutine, generator or async generator (by @p kind) at a unit of its code; @p awaited is on its stack in state YIELD_FROM. */
uint64_t python_gen(struct python *python, enum pa_kind kind, uint64_t code, enum python_state state, uint32_t unit,
                    uint64_t awaited);
/** A coroutine of a code object of its own name, at line 10. */
uint64_t python_coroutine(struct python *python, const char *name, uint64_t awaited);
void python_set_state(struct python *python, uint64_t gen, enum python_state state);
uint64_t python_iframe(const struct python *python, uint64_t gen);
/** Where the awaited object's reference lies. */
uint64_t python_awaited_slot(struct python *python, uint64_t gen);
/** An object of a kind that wraps one other: FutureIter, coroutine_wrapper, async_generator_asend, … */
uint64_t python_wrapper(struct python *python, enum pa_kind kind, uint64_t wrapped);

/** A frame of a thread: owner 0 thread, 1 generator, 3 interpreter. Returns the frame, linked to @p previous. */
uint64_t python_frame(struct python *python, uint64_t code, uint32_t unit, uint8_t owner, uint64_t previous);
void python_link_frame(struct python *python, uint64_t frame, uint64_t previous);
void python_set_frames(struct python *python, uint64_t thread, uint64_t innermost);

uint64_t python_interpreter(struct python *python, int64_t id);
/** The head of a list of objects: a generation of the garbage collector's, 0 to 2, or 3 for the permanent one. */
uint64_t python_gc_list(const struct python *python, uint64_t interpreter, uint32_t generation);
/** Append an object to it; its head is before it, which python_object() leaves room for. */
void python_track(struct python *python, uint64_t list, uint64_t object);
void python_set_collecting(struct python *python, uint64_t interpreter, uint32_t collecting);
uint64_t python_thread(struct python *python, uint64_t interpreter, uint64_t pthread_id, uint64_t native_id);
/** The heads of the lists of tasks. */
uint64_t python_thread_tasks(const struct python *python, uint64_t thread);
/** Those of the main thread. */
uint64_t python_main_tasks(const struct python *python);
uint64_t python_interpreter_tasks(const struct python *python, uint64_t interpreter);
void python_run_task(struct python *python, uint64_t thread, uint64_t loop, uint64_t task);

uint64_t python_future(struct python *python);
/** A pending task; @p list is the head to append it to, 0 for none. @p name is a str or an int. */
uint64_t python_task(struct python *python, uint64_t list, uint64_t name, uint64_t coroutine);
void python_append(struct python *python, uint64_t list, uint64_t task);
/** A task in a coroutine of one frame that awaits a future of its own; listed in the first thread. */
uint64_t python_sleeper(struct python *python, const char *name);
/** Make @p task await @p future, as "await" does: the frame, the forward and the backward link. */
void python_await(struct python *python, uint64_t task, uint64_t future);
void python_set_awaiter(struct python *python, uint64_t future, uint64_t awaiter);
void python_set_awaiters(struct python *python, uint64_t future, uint64_t set);
void python_set_waiter(struct python *python, uint64_t task, uint64_t future);
/** State 1 cancelled, 2 finished. */
void python_finish(struct python *python, uint64_t future, uint32_t state, uint64_t exception);
uint64_t python_new_loop(struct python *python);
void python_set_loop(struct python *python, uint64_t future, uint64_t loop);

#endif
