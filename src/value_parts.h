/*
 * The parts of the renderer of values (value.h): its state, and what the files value*.c offer each other. For these alone.
 */
#ifndef PA_VALUE_PARTS_H
#define PA_VALUE_PARTS_H

#include "value.h"

/** Levels that can be open at once, whatever the user asks for. */
#define MAX_LEVELS 64u

/** Names that may tell of a secret are looked at up to this length, in bytes. */
#define MAX_NAME 128u

/** What is open. */
enum level_kind {
    LEVEL_SEQUENCE,   /* tuple, list */
    LEVEL_SET,        /* set, frozenset */
    LEVEL_DICT,       /* dict */
    LEVEL_ATTRIBUTES, /* an instance: name=value */
    LEVEL_FIELDS,     /* a dataclass: the fields that its class names */
    LEVEL_NAMED,      /* a namedtuple */
    LEVEL_WRAP,       /* one object with text before and after */
};

/** A container that is being written. */
struct level {
    enum level_kind kind;
    uint64_t object;
    const char *close;
    uint32_t cost;  /* in levels of the user's limit: an instance in an instance counts twice */
    uint64_t shown; /* elements written */
    uint64_t index, count;
    uint64_t items;               /* LEVEL_SEQUENCE, LEVEL_NAMED: where the elements stand; LEVEL_WRAP: the object */
    uint64_t names;               /* LEVEL_NAMED: where the str of _fields stand */
    struct pa_dict_iterator dict; /* LEVEL_DICT, LEVEL_FIELDS */
    struct pa_set_iterator set;   /* LEVEL_SET */
    struct pa_attributes members; /* LEVEL_ATTRIBUTES */
    uint64_t value;               /* LEVEL_DICT: the value that comes after the key; 0: a key comes */
    enum pa_telling telling;      /* LEVEL_DICT: of the key; LEVEL_SEQUENCE: of the element before */
    bool one_comma;               /* "(1,)" */
    bool named_pair;              /* LEVEL_DICT: an entry "name" was telling: its "value" is secret */
};

/** What a class is, as far as it decides how its instances are written. */
struct class_facts {
    uint64_t type;
    uint64_t fields; /* __dataclass_fields__, 0: it is no dataclass */
    uint64_t names;  /* _fields of a namedtuple, 0: it is none */
    bool is_enum;
};

struct pa_values {
    struct pa_objects *objects;
    struct pa_value_limits limits;
    uint32_t total; /* bytes of one value */
    struct level levels[MAX_LEVELS];
    uint32_t depth; /* levels that are open */
    uint32_t spent; /* their cost */
    bool truncated, hidden, full;
    uint32_t classes; /* that this value asked about */
    uint32_t fields;  /* attributes that were looked at for its dataclasses' fields */
    struct class_facts recent[16];
    uint32_t written;
    char text[PA_MAX_VALUE_BYTES + 8];
    char raw[PA_STRING_BYTES];                     /* scratch: text of the target */
    char safe[PA_REDACTED_BYTES(PA_STRING_BYTES)]; /* scratch: the same without secrets */
};

/* value_text.c: text into the value. */

/** Our own text. */
void put(struct pa_values *values, const char *text);
void put_format(struct pa_values *values, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Text of the target, escaped as by repr(); @p quote is escaped too, 0: none is. At most @p limit characters. @return characters left out. */
uint64_t put_escaped(struct pa_values *values, const char *text, uint32_t length, char quote, uint64_t limit);
/** Text of the target without quotes: names, redacted. */
void put_name(struct pa_values *values, const char *text, uint32_t length);
void put_type_name(struct pa_values *values, uint64_t object);
/** "… 12 more" */
void put_more(struct pa_values *values, uint64_t count);
void put_str(struct pa_values *values, uint64_t object);
/** The str itself, without quotes; false if it is none. */
bool put_str_plain(struct pa_values *values, uint64_t object);
/** The same for a name that stands in the program: of a function, class or module. These are shown in stacks as they are, too. */
bool put_identifier(struct pa_values *values, uint64_t object);
void put_bytes(struct pa_values *values, uint64_t object, bool is_bytearray);
void put_hidden(struct pa_values *values);

/* value_object.c: objects that are no containers. */
void put_int(struct pa_values *values, uint64_t object);
void put_float(struct pa_values *values, uint64_t object);
void put_complex(struct pa_values *values, uint64_t object);
void put_class(struct pa_values *values, uint64_t type);
void put_function(struct pa_values *values, uint64_t object);
void put_builtin_function(struct pa_values *values, uint64_t object);
void put_module(struct pa_values *values, uint64_t object);
void put_generator(struct pa_values *values, uint64_t object, const char *word);
/** "<_asyncio.Task at 0x7f…" */
void put_opaque(struct pa_values *values, uint64_t object, const char *close);
/** "module.Class" of a class made by a class statement, "Class" if it is builtin. */
void put_class_name(struct pa_values *values, uint64_t type);
/** The last part of tp_name. */
void put_short_type_name(struct pa_values *values, uint64_t object);

/* value_container.c: objects that hold others. */

/** Open a level for the object if it is a container; else @return false. */
bool open_container(struct pa_values *values, uint64_t object, enum pa_kind kind);
/** Write the next element of the innermost level, or close it. */
void step_level(struct pa_values *values);

/** value_exception.c: what str() would give for an exception. */
void put_message(struct pa_values *values, uint64_t exception);

/* value.c */

/** Write an object, or open a level for it. @p telling: what the name before it tells. */
void put_object(struct pa_values *values, uint64_t object, enum pa_telling telling);
/** What a str or bytes tells of what follows it. */
enum pa_telling telling_object(struct pa_values *values, uint64_t object);
/** Whether an object is of a builtin type itself, not of a subclass. */
bool is_builtin(struct pa_values *values, uint64_t object);
/** Whether a type has the repr() of this builtin type. */
bool has_repr_of(struct pa_values *values, uint64_t object, enum pa_kind kind);

#endif
