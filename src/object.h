/*
 * Python objects of the target: their types, and the few kinds of values that the walk needs (str, int, set, dict).
 *
 * Nothing is believed because a pointer leads there: an object is what its type says, and a static type is known by its address
 * (symbol, or identity through sys.modules where no ELF file is at hand) or by its name.
 */
#ifndef PA_OBJECT_H
#define PA_OBJECT_H

#include "layout.h"
#include "limits.h"

/** What a type is to us. */
enum pa_kind {
    PA_KIND_OTHER = 0,
    PA_KIND_COROUTINE,
    PA_KIND_GENERATOR,
    PA_KIND_ASYNC_GENERATOR,
    PA_KIND_COROUTINE_WRAPPER, /* coroutine.__await__() */
    PA_KIND_ASYNC_GEN_ASEND,   /* async_generator.__anext__() and .asend() */
    PA_KIND_ASYNC_GEN_ATHROW,  /* .athrow() and .aclose() */
    PA_KIND_ANEXT_AWAITABLE,   /* anext(iterator, default) */
    PA_KIND_CYTHON_GEN,        /* coroutine, generator or async generator that Cython compiled (cython.h) */
    PA_KIND_FUTURE_ITER,       /* future.__await__() */
    PA_KIND_TASK,              /* _asyncio.Task and its subclasses */
    PA_KIND_FUTURE,            /* _asyncio.Future and its subclasses that are no tasks */
    PA_KIND_CODE,
    PA_KIND_STR,
    PA_KIND_INT,
    PA_KIND_BOOL,
    PA_KIND_SET,
    PA_KIND_DICT,
    PA_KIND_MODULE,
    PA_KIND_NONE_TYPE,
    PA_KIND_FLOAT,
    PA_KIND_COMPLEX,
    PA_KIND_BYTES,
    PA_KIND_BYTEARRAY,
    PA_KIND_TUPLE,
    PA_KIND_LIST,
    PA_KIND_FROZENSET,
    PA_KIND_FUNCTION,
    PA_KIND_METHOD,            /* bound */
    PA_KIND_BUILTIN_FUNCTION,  /* function or method made in C */
    PA_KIND_METHOD_DESCRIPTOR, /* method made in C, in its type */
    PA_KIND_CELL,
    PA_KIND_TYPE,      /* a class */
    PA_KIND_EXCEPTION, /* an instance of BaseException or of a subclass of it */
    PA_KIND_TRACEBACK,
    PA_KIND_FRAME,
    PA_KIND_ELLIPSIS,
    PA_KIND_NOT_IMPLEMENTED,
    PA_KIND_CONTEXT,
    PA_KIND_CONTEXT_VAR,
    PA_KIND_HAMT,
    PA_KIND_HAMT_BITMAP,
    PA_KIND_HAMT_ARRAY,
    PA_KIND_HAMT_COLLISION,
    PA_KIND_GREENLET,      /* greenlet.greenlet and its subclasses */
    PA_KIND_PYTHON_TASK,   /* asyncio.tasks._PyTask, a class made in Python, and its subclasses */
    PA_KIND_PYTHON_FUTURE, /* asyncio.futures._PyFuture and its subclasses that are no tasks */
    PA_KIND_COUNT,
};

/* Include/object.h, Py_TPFLAGS_* */
#define PA_TPFLAGS_IMMUTABLETYPE (1u << 8)
#define PA_TPFLAGS_HEAPTYPE      (1u << 9)

/** How a type's kind became known. */
enum pa_evidence {
    PA_BY_NOTHING = 0,
    PA_BY_SYMBOL,      /* its address is that of a symbol */
    PA_BY_SYS_MODULES, /* it is an attribute of a module in sys.modules */
    PA_BY_NAME,        /* a static type of that name */
    PA_BY_BASE,        /* a heap type of that name, or a subclass of one */
    PA_BY_FLAGS,       /* the subclass bits of tp_flags */
};

/** A type that was met. */
struct pa_type {
    uint64_t address;    /* first: the key of the index */
    struct pa_text name; /* tp_name; empty if it cannot be read */
    uint32_t frame;      /* id of the pseudo frame that stands for an object of this type at the end of a stack (code.h) */
    uint8_t kind;        /* enum pa_kind */
    uint8_t evidence;    /* enum pa_evidence */
};

/** Whether the type is itself the one that its kind tells, and no subclass or what merely has the flags of one. */
static inline bool pa_type_is_exact(const struct pa_type *type)
{
    return type->evidence == PA_BY_SYMBOL || type->evidence == PA_BY_SYS_MODULES || type->evidence == PA_BY_NAME;
}

/** A class made in Python that is known by its address, in each interpreter another one. */
struct pa_class {
    uint64_t address;
    uint8_t kind; /* enum pa_kind */
};

struct pa_objects {
    struct pa_work *work;
    struct pa_memory *memory;
    struct pa_layout *layout;
    uint64_t sys_modules;            /* the main interpreter's sys.modules, 0 if unknown */
    uint64_t known[PA_KIND_COUNT];   /* addresses of static types that were asked for, 0 if unknown: see pa_objects_known() */
    uint8_t known_by[PA_KIND_COUNT]; /* enum pa_evidence */
    bool asked_symbol[PA_KIND_COUNT], asked_modules[PA_KIND_COUNT], asked_all;
    PA_ARRAY(struct pa_class) classes;
    PA_ARRAY(struct pa_type) types;
    struct pa_index type_index;
    struct pa_recent recent_types[PA_RECENT];
    struct pa_recent_key { /* where a name stood in a table of keys: instances of a class share one */
        uint64_t keys;
        const char *name;
        uint32_t place;
    } recent_keys[PA_RECENT];
    struct pa_arena text; /* names of types, functions and files */
};

/** Set up for a process whose layout is known. @p sys_modules may be 0. */
void pa_objects_init(struct pa_objects *objects, struct pa_memory *memory, struct pa_layout *layout, uint64_t sys_modules);
void pa_objects_deinit(struct pa_objects *objects);

/** The address of the static type of @p kind, by its symbol or by sys.modules; 0 if neither tells. */
uint64_t pa_objects_known(struct pa_objects *objects, enum pa_kind kind);

/** The type at @p address. @return its id in @c types, or PA_NONE if there is no readable type. Types that cannot be are remembered. */
uint32_t pa_type_at(struct pa_objects *objects, uint64_t address);

/** Let a class and its subclasses be of @p kind from now on. To be called before any of them is met. */
void pa_objects_add_class(struct pa_objects *objects, uint64_t class, enum pa_kind kind);

/** The same as pa_type_at(), at once for a type that was asked for lately. */
static inline uint32_t pa_type_id(struct pa_objects *objects, uint64_t type)
{
    const struct pa_recent *recent = pa_recent_at(objects->recent_types, type);
    return recent->key == type ? recent->id : pa_type_at(objects, type);
}

/** The type of the object at @p address, as pa_type_at(). */
static inline uint32_t pa_type_of(struct pa_objects *objects, uint64_t address)
{
    uint64_t type;
    if (address == 0 || address % 8 != 0 ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(objects->layout, object_type), &type))
        return PA_NONE;
    return pa_type_id(objects, type);
}

/** The kind of the object at @p address; PA_KIND_OTHER also if it cannot be read. */
static inline enum pa_kind pa_kind_of(struct pa_objects *objects, uint64_t address)
{
    uint32_t type = pa_type_of(objects, address);
    return type == PA_NONE ? PA_KIND_OTHER : objects->types.items[type].kind;
}

/** The tp_name of an object's type, "collections.deque"; empty if it cannot be read. In @c text. */
static inline struct pa_text pa_type_name_of(struct pa_objects *objects, uint64_t object)
{
    uint32_t type = pa_type_of(objects, object);
    return type == PA_NONE ? pa_no_text : objects->types.items[type].name;
}

/** Whether an object is of a type with this tp_name, which no base of it makes up for. */
static inline bool pa_is_of_type(struct pa_objects *objects, uint64_t object, const char *name)
{
    return pa_text_is(&objects->text, pa_type_name_of(objects, object), name);
}

/** The word of an object at a field of the layout (PA_F_…), which a build may lack. @return false if it cannot be read; @p word is 0. */
static inline bool pa_object_word(struct pa_objects *objects, uint64_t object, uint32_t field, uint64_t *word)
{
    if (objects->layout->source[field] != PA_SOURCE_NONE &&
        pa_memory_u64(objects->memory, object + objects->layout->offset[field], word))
        return true;
    *word = 0;
    return false;
}

/** "symbol", "sys.modules", … */
const char *pa_evidence_name(enum pa_evidence evidence);

/** The tp_name of a static type of this kind, for the table of py-async-info; NULL for the kinds that have none. */
const char *pa_kind_type_name(enum pa_kind kind);

/* scalar.c: str, int and float. */

/** Room for any str as text: PA_MAX_STRING characters and the note on what was cut. */
#define PA_STRING_BYTES (PA_MAX_STRING * 4u + 64u)

/**
 * Decode a str of any kind into UTF-8; lone surrogates become their three bytes (WTF-8), which the printing side escapes.
 *
 * @param text PA_STRING_BYTES of room. Longer str are cut to PA_MAX_STRING characters, then "… (N more characters)".
 * @return false if it is no readable str.
 */
bool pa_str_read(struct pa_objects *objects, uint64_t address, char *text, uint32_t *length);

/**
 * The first @p limit characters of a str.
 *
 * @param text 4 bytes of room a character.
 * @param[out] left Characters beyond these.
 */
bool pa_str_read_some(struct pa_objects *objects, uint64_t address, uint32_t limit, char *text, uint32_t *length, uint64_t *left);

/** Whether the object is the str @p ascii. */
bool pa_str_equals(struct pa_objects *objects, uint64_t address, const char *ascii);

/** An int of at most 60 bits, which is far above any counter. @return false if it is none. */
bool pa_int_read(struct pa_objects *objects, uint64_t address, int64_t *value);

/** A float or an int; NaN if the object is neither. */
double pa_number_read(struct pa_objects *objects, uint64_t object);

/* set.c */

/** Going through a set, in slot order. */
struct pa_set_iterator {
    uint64_t table;
    uint64_t slot, slots;
    uint64_t left; /* live entries not seen yet */
    bool damaged;  /* something could not be read, or there are fewer entries than the set says */
};

/** @return false, with @c damaged set, if it is no readable set. */
bool pa_set_begin(struct pa_objects *objects, uint64_t address, struct pa_set_iterator *iterator);

/** The next element. @return false at the end, which may come early: see @c damaged. */
bool pa_set_next(struct pa_objects *objects, struct pa_set_iterator *iterator, uint64_t *element);

/* dict.c */

/** Going through a dict, in the order of insertion. Keys may be of any type. */
struct pa_dict_iterator {
    uint64_t keys;    /* PyDictKeysObject */
    uint64_t entries; /* where its entries begin */
    uint64_t values;  /* the values of a split table; 0: they stand with the keys */
    uint64_t order;   /* of a split table: a byte for each value, its place */
    uint64_t index, count;
    uint64_t capacity; /* places for entries */
    uint32_t entry_size;
    bool damaged; /* something could not be read */
};

/** @return false, with @c damaged set, if it is no readable dict (or subclass of it). */
bool pa_dict_begin(struct pa_objects *objects, uint64_t address, struct pa_dict_iterator *iterator);

/** Likewise for a split table that has no dict object: the inline @p values of an instance. */
bool pa_dict_begin_split(struct pa_objects *objects, uint64_t keys, uint64_t values, struct pa_dict_iterator *iterator);

/** The next entry. @return false at the end, which may come early: see @c damaged. */
bool pa_dict_next(struct pa_objects *objects, struct pa_dict_iterator *iterator, uint64_t *key, uint64_t *value);

/** The value of the str key @p key, from where the iterator stands. */
bool pa_dict_find(struct pa_objects *objects, struct pa_dict_iterator *iterator, const char *key, uint64_t *value);

/** dict[@p key] for a str key. @return false if there is none. */
bool pa_dict_get(struct pa_objects *objects, uint64_t address, const char *key, uint64_t *value);

/** sys.modules[@p module].@p attribute. @return false if there is none. */
bool pa_module_attribute(struct pa_objects *objects, const char *module, const char *attribute, uint64_t *value);

#endif
