/*
 * Code objects, the frames that stand in them, and stacks: each distinct one is stored once.
 *
 * A million tasks with the same stack cost one stack, and grouping them is comparing two ids. A frame here is a place in the program
 * (code object and instruction, so file, line and function), not an address: addresses belong to tasks and threads.
 */
#ifndef PA_CODE_H
#define PA_CODE_H

#include "object.h"

/** A code object that was met. */
struct pa_code {
    uint64_t address; /* first: the key of the index */
    struct pa_text qualname, filename;
    uint64_t linetable; /* the bytes, in the target */
    uint64_t units;     /* length of the bytecode in code units of 2 bytes */
    uint32_t linetable_length;
    int32_t firstlineno;
    uint32_t flags;          /* co_flags */
    uint32_t firsttraceable; /* in code units; 0 if unknown */
    bool valid;              /* false: this address holds no code object */
};

/** What a frame is. The values' names are those of the JSON and of the text. */
enum pa_frame_kind {
    PA_FRAME_FUNCTION = 0,
    PA_FRAME_COROUTINE,
    PA_FRAME_GENERATOR,
    PA_FRAME_ASYNC_GENERATOR,
    PA_FRAME_AWAITABLE, /* no frame: an object that ends the chain, or from which it goes on to the coroutine that it holds */
    PA_FRAME_KIND_COUNT,
};

/** A place in the program: a line of a function. */
struct pa_frame {
    uint64_t key;            /* first: of the index; code << 32 | line, of compiled code UINT32_MAX */
    struct pa_text function; /* qualname, or the type of an awaitable */
    struct pa_text file;     /* empty for an awaitable */
    int32_t line;            /* 0 if the instruction has none */
    uint8_t kind;            /* enum pa_frame_kind */
};

/** An instruction that was met, and its frame: so that a line table is searched once for each. */
struct pa_instruction {
    uint64_t key; /* first: of the index; both addresses mixed */
    uint64_t executable, address;
    int32_t tlbc_index;
    uint32_t frame;
};

/** One frame on top of an outer stack. Stack 0 is the empty one. */
struct pa_stack {
    uint64_t key; /* first: of the index; outer << 32 | frame */
    uint32_t outer;
    uint32_t frame; /* the innermost frame */
    uint32_t depth;
};

struct pa_codes {
    struct pa_objects *objects;
    PA_ARRAY(struct pa_code) codes;
    struct pa_index code_index;
    PA_ARRAY(struct pa_frame) frames;
    struct pa_index frame_index;
    PA_ARRAY(struct pa_instruction) instructions;
    struct pa_index instruction_index;
    PA_ARRAY(struct pa_stack) stacks;
    struct pa_index stack_index;
    struct pa_instruction recent_instructions[PA_RECENT]; /* by a few bits of the instruction's address */
    struct pa_recent recent_stacks[PA_RECENT];
};

void pa_codes_init(struct pa_codes *codes, struct pa_objects *objects);
void pa_codes_deinit(struct pa_codes *codes);

/** Where an interpreter frame stands, as read from it. */
struct pa_position {
    uint64_t executable;  /* address of the code object, without tag */
    uint64_t instruction; /* instr_ptr */
    int32_t tlbc_index;   /* free-threaded: which copy of the bytecode instr_ptr points into; else 0 */
};

/** The code object at @p address, kept. @return its id; PA_NONE if there is none. */
uint32_t pa_code_at(struct pa_codes *codes, uint64_t address);

/** As pa_frame_at(), for an instruction that was not met lately. */
uint32_t pa_frame_find(struct pa_codes *codes, const struct pa_position *position);

/**
 * The frame of a position. @return its id; PA_NONE if the executable is no code object. An instruction outside of the bytecode gives
 * the function with line 0.
 */
static inline uint32_t pa_frame_at(struct pa_codes *codes, const struct pa_position *position)
{
    const struct pa_instruction *recent = &codes->recent_instructions[position->instruction / 2 % PA_RECENT];
    if (recent->address == position->instruction && recent->executable == position->executable &&
        recent->tlbc_index == position->tlbc_index)
        return recent->frame;
    return pa_frame_find(codes, position);
}

/**
 * The frame of compiled code: the function of the code object @p code, under its name @p qualname (str), in no known line.
 *
 * @return its id; PA_NONE if @p code is no code object.
 */
uint32_t pa_frame_of_compiled(struct pa_codes *codes, uint64_t code, uint64_t qualname);

/** Whether a frame is that of a function with this qualified name, in a file whose name ends with @p file. */
bool pa_frame_is(const struct pa_codes *codes, uint32_t frame, const char *function, const char *file);

/** The pseudo frame of an object of type @p type that is no coroutine; PA_NONE of PA_NONE. */
uint32_t pa_frame_of_type(struct pa_codes *codes, uint32_t type);

/** The code unit that a position stands at, counted from the start of the bytecode; -1 if it is outside. */
int64_t pa_position_unit(struct pa_codes *codes, const struct pa_code *code, const struct pa_position *position);

/** As pa_stack_push(), for a stack that was not met lately. */
uint32_t pa_stack_find(struct pa_codes *codes, uint64_t key);

/** The stack of @p frame on top of @p outer, kept once. @return its id, 0 only without memory. */
static inline uint32_t pa_stack_push(struct pa_codes *codes, uint32_t outer, uint32_t frame)
{
    uint64_t key = (uint64_t)outer << 32 | frame;
    const struct pa_recent *recent = pa_recent_at(codes->recent_stacks, key);
    return recent->key == key ? recent->id : pa_stack_find(codes, key);
}

/**
 * The line of a code unit, by the line table.
 *
 * CPython: InternalDocs/code_objects.md; Objects/codeobject.c, PyCode_Addr2Line().
 *
 * @return The line; 0 if the instruction has none (code 15), the table ends before it or is damaged. @p unit < 0 gives firstlineno.
 */
int32_t pa_line_of(const uint8_t *table, uint32_t length, int32_t firstlineno, int64_t unit);

#endif
