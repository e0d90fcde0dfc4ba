/*
 * Where the fields of CPython's structures stand in this process.
 *
 * One flat table of offsets, each with its source. CPython 3.14 and newer publish most of them in the process itself; the rest is
 * derived from published neighbours, constant in a minor version, calibrated against known objects, or taken from DWARF. A minor
 * version is one data file (version_3_14.c, …). What a process publishes is untrusted input: every offset is checked against the size
 * of its structure before anything is read through it.
 */
#ifndef PA_LAYOUT_H
#define PA_LAYOUT_H

#include "memory.h"

/** Every field and every structure's size: PA_F_task_coro, PA_F_task_size, … */
enum pa_field {
#define PA_STRUCT(id, need, dwarf_type)               PA_F_##id##_size,
#define PA_FIELD(owner, name, width, need, path, why) PA_F_##owner##_##name,
#include "layout_fields.h"
    PA_F_COUNT,
    PA_F_UNUSED = PA_F_COUNT, /* a slot of a published table that we do not read */
};

enum pa_source {
    PA_SOURCE_NONE = 0,   /* not known */
    PA_SOURCE_PUBLISHED,  /* _Py_DebugOffsets or the asyncio table of the process */
    PA_SOURCE_DERIVED,    /* from a published neighbour that it adjoins */
    PA_SOURCE_CONSTANT,   /* the same in every release of the minor version */
    PA_SOURCE_CALIBRATED, /* found by looking for a known value in a known object */
    PA_SOURCE_DWARF,      /* from the debug symbols */
};

/** A field that no table has, constant in a minor version. Some differ in free-threaded builds, or are not there. */
#define PA_NO_OFFSET UINT16_MAX
struct pa_constant {
    uint16_t field; /* enum pa_field */
    uint16_t offset;
    uint16_t free_threaded_offset;
};

/** What differs between minor versions: data only. */
struct pa_version {
    uint8_t major, minor;
    const uint16_t *slots; /* enum pa_field of each word of _Py_DebugOffsets behind cookie, version and free_threaded */
    uint32_t slot_count;
    const struct pa_constant *constants;
    uint32_t constant_count;
    const char *asyncio_symbol; /* the variable in section .AsyncioDebug */
    int8_t frame_created;       /* gi_frame_state */
    int8_t frame_suspended;     /* at a plain yield */
    int8_t frame_yield_from;    /* awaiting another object */
    int8_t frame_yield_from_locked;
    int8_t frame_executing;
    int8_t frame_cleared;    /* this and above: nothing left to see */
    uint8_t yield_from_slot; /* the awaited object is stackpointer[-yield_from_slot] */
    uint8_t tag_mask;        /* low bits of a _PyStackRef that are no address */
    uint8_t tag_mask_free_threaded;
    uint8_t owner_generator;   /* frame.owner: embedded in a generator */
    uint8_t owner_interpreter; /* this and above: frames of the interpreter's own, without code */
    uint8_t owner_thread;
    uint8_t local_events;                            /* of monitoring, that each code object has tools for of its own */
    bool exceptions_are_local;                       /* RAISE, EXCEPTION_HANDLED, PY_UNWIND and RERAISE are among them */
    uint16_t monitors_from_end, tool_names_from_end; /* members of PyInterpreterState, counted from its end; with the GIL */
    uint8_t managed_dict;                            /* so many bytes before an instance stands the pointer to its __dict__ */
    uint8_t managed_dict_free_threaded;
    uint8_t op_with_except_start, op_get_awaitable, op_end_async_for; /* opcodes */
    uint8_t op_call, op_call_kw, op_instrumented_call, op_instrumented_call_kw;
    uint8_t op_call_first, op_call_last;       /* the specialised forms of both, … */
    uint8_t op_call_kw_first, op_call_kw_last; /* … of which these are CALL_KW's */
};

extern const struct pa_version pa_version_3_14, pa_version_3_15;

/** The order of the asyncio table's words: the same in 3.14 and 3.15. */
extern const uint16_t pa_asyncio_slots[];
extern const uint32_t pa_asyncio_slot_count;

struct pa_layout {
    const struct pa_version *version; /* NULL until pa_layout_read_runtime() */
    uint32_t hexversion;              /* PY_VERSION_HEX */
    bool free_threaded;
    uint32_t offset[PA_F_COUNT];
    uint8_t source[PA_F_COUNT];    /* enum pa_source */
    uint32_t replaced[PA_F_COUNT]; /* what the version's constant said, where calibration found another place */
};

/** The offset of a field in @p layout. */
#define PA_OFFSET(layout, field) ((layout)->offset[PA_F_##field])
/** Whether a field is known. */
#define PA_HAS(layout, field) ((layout)->source[PA_F_##field] != PA_SOURCE_NONE)

/** Whether the asyncio table was read. Without it, since _asyncio is blocked, there are no tasks of its C code. */
static inline bool pa_layout_has_asyncio(const struct pa_layout *layout)
{
    return PA_HAS(layout, task_size);
}

/** Static facts about a field. */
struct pa_field_info {
    const char *name; /* "task.coro", "task.size" */
    uint16_t owner;   /* the field that is its structure's size */
    uint8_t width;
    bool required;
    bool is_size;
    const char *dwarf_type;
    const char *dwarf_path;
    const char *why;
};
extern const struct pa_field_info pa_field_info[PA_F_COUNT];

/** "published", "derived", … */
const char *pa_source_name(enum pa_source source);

/**
 * Fill in the part of the layout that _Py_DebugOffsets at @p runtime gives, with what follows from it.
 *
 * @param[out] error On PA_FAILED: which offset is wrong, in one line.
 * @return PA_OK; PA_FAILED also if the version is not supported (then @p hexversion is set and version is NULL).
 */
enum pa_status pa_layout_read_runtime(struct pa_layout *layout, struct pa_memory *memory, uint64_t runtime, char *error,
                                      size_t capacity);

/** Likewise for the asyncio table. Both must be there before a task is read. */
enum pa_status pa_layout_read_asyncio(struct pa_layout *layout, struct pa_memory *memory, uint64_t table, char *error,
                                      size_t capacity);

/**
 * Whether the words at @p table can be an asyncio table of this process: for a search without section or symbol, since the table has
 * no cookie. CPython: Modules/_asynciomodule.c, Py_AsyncioModuleDebugOffsets.
 */
bool pa_layout_is_asyncio_table(const struct pa_layout *layout, struct pa_memory *memory, uint64_t table);

/** The word of the asyncio table, counted from 0, that holds the interpreter's size: what a search looks for. */
#define PA_ASYNCIO_INTERPRETER_SIZE_SLOT 7u

/**
 * Find tp_base: the word of type @p derived that is the address of type @p base. A constant that was right stays; another place wins
 * over it and is remembered. Nothing happens if there is no such word.
 */
void pa_layout_calibrate_type_base(struct pa_layout *layout, struct pa_memory *memory, uint64_t derived, uint64_t base);

/**
 * The process has greenlets: their fields that never moved. Those behind the C++ object's base class, which differ by greenlet's and
 * Python's version, stay unknown until pa_layout_set_greenlet_tail().
 */
void pa_layout_set_greenlet(struct pa_layout *layout);

/** @p tail is where, in the C++ object, the members of its subclasses begin: found by looking into a main greenlet. */
void pa_layout_set_greenlet_tail(struct pa_layout *layout, uint32_t tail);

/** Ask the debugger for the fields that nothing else tells. */
void pa_layout_read_dwarf(struct pa_layout *layout, struct pa_work *work);

#endif
