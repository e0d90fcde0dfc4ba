/*
 * libpyasync: asyncio call graphs from the memory of another Python.
 *
 * This is the whole interface between the library, which knows CPython, and a front, which knows a debugger. The front fills in a
 * struct pa_target (how to read memory, find symbols and threads, print), creates a session on it and runs requests. The library
 * never writes to the target, prints only through pa_target.write and links libc only.
 *
 * The front mirrors these structures by hand (gdb/pyasync_gdb/library.py, through ctypes). Every change of a structure, of the
 * meaning of a field or of an enumeration's values therefore raises PA_ABI_VERSION, which the front compares before anything else.
 *
 * All addresses are the target's. All strings are NUL terminated UTF-8 unless a length stands beside them. Nothing here is thread
 * safe: one session is used by one thread at a time.
 */
#ifndef PYASYNC_H
#define PYASYNC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PA_VERSION     "0.1.0"
#define PA_ABI_VERSION 5

/** What a library function, or a function of the front, answers. */
enum pa_status {
    PA_OK = 0,
    PA_UNREADABLE = 1, /* these bytes are not in the target: the object they belong to becomes a problem */
    PA_ABORTED = 2,    /* the user wants to stop (Ctrl-C, "q" in the pager): unwind at once, print nothing more */
    PA_NO_MEMORY = 3,  /* malloc failed, or a limit of limits.h on the library's own memory was reached */
    PA_FAILED = 4,     /* the request cannot be answered: pa_session_error() says why, in one line */
};

/** Where a run of target memory stands, as the front's debugger lists it. */
struct pa_range {
    uint64_t start;       /* first address */
    uint64_t end;         /* one past the last address */
    uint64_t file_offset; /* PA_RANGE_IN_CORE: where its bytes begin in the core file */
    uint32_t flags;       /* PA_RANGE_* */
    uint32_t reserved;
};

#define PA_RANGE_IN_CORE     1u /* the core file at pa_target.core_path has the bytes */
#define PA_RANGE_WRITABLE    2u /* known to be writable */
#define PA_RANGE_FILE_BACKED 4u /* known to be a mapping of a file */

/** A thread of the target, as the debugger knows it. */
struct pa_thread_info {
    uint32_t number;     /* the debugger's own number, what the user types */
    uint32_t selected;   /* 1 for the thread that the user has selected */
    int64_t lwp;         /* kernel thread id as the debugger sees it; 0 if unknown */
    uint64_t pthread_id; /* pthread_self(): $fs_base on x86-64; 0 if unknown */
    char name[32];       /* NUL terminated, may be empty */
};

/** A native frame of a thread, as the debugger unwinds it. Strings are the front's, valid until its next answer of the same kind. */
struct pa_native_frame {
    uint64_t pc;
    uint64_t sp;          /* the stack pointer in it: its part of the stack ends where the next outer frame's begins */
    const char *function; /* NULL if no symbol tells */
    const char *file;     /* source file; NULL if unknown */
    int32_t line;         /* 0 if unknown */
    uint32_t flags;       /* PA_NATIVE_* */
};

#define PA_NATIVE_DEBUG 1u /* the function is told by debug symbols, not by the nearest symbol before the pc */
#define PA_NATIVE_GUESS 2u /* the debugger has no file of the code there: what it finds further outward is a guess */

/** What the debugger knows of the signal that a thread got, and of the core file. */
struct pa_stop {
    uint32_t has_info; /* whether the next four are known: siginfo_t's si_code, si_addr, si_pid, si_uid, whatever they mean */
    int32_t code;
    uint64_t address;
    int64_t pid, uid;
    uint64_t core_size;  /* bytes of the core file; 0: there is none */
    uint64_t core_whole; /* bytes that it would have if nothing was cut off */
};

enum pa_object_state {
    PA_OBJECT_SAME = 0,    /* as far as can be told */
    PA_OBJECT_MISSING = 1, /* the debugger finds no such file */
    PA_OBJECT_DIFFERS = 2, /* the file has another build-id */
};

/** An ELF file that the process had mapped. Strings are the front's, valid until its next answer of the same kind. */
struct pa_object_file {
    const char *path;
    const char *build_id, *file_build_id; /* of what was mapped and of the file here, hexadecimal; NULL if unknown */
    uint32_t state;                       /* enum pa_object_state */
    uint32_t reserved;
};

/** How a piece of text is to look. The front maps these to the debugger's own styles. */
enum pa_style {
    PA_STYLE_PLAIN = 0,
    PA_STYLE_FUNCTION,
    PA_STYLE_FILENAME,
    PA_STYLE_VARIABLE, /* task names */
    PA_STYLE_ADDRESS,
    PA_STYLE_TITLE,     /* headings and field names of py-async-info */
    PA_STYLE_METADATA,  /* what we say about the output: elisions, completeness */
    PA_STYLE_HIGHLIGHT, /* findings and problems */
    PA_STYLE_COUNT,
};

#define PA_TARGET_CORE 1u /* a core file: nothing changes, and core_path may be mapped */
#define PA_TARGET_LIVE 2u /* a process, here or behind gdbserver */
/* Its CLOCK_MONOTONIC is this host's: it is a process of this host, in the debugger's time namespace, and is no replay. */
#define PA_TARGET_OWN_CLOCK 4u

/**
 * The target and its debugger. Filled in by the front, which keeps it and everything it points to alive as long as the session.
 *
 * The functions never raise into the library: one that is interrupted answers PA_ABORTED (or -2 where it answers a count), and
 * the library unwinds. Functions that fill an array answer how many elements there are, of which at most @c capacity were stored, so
 * a caller can ask again with more room; -1 means that the debugger cannot tell.
 */
struct pa_target {
    uint32_t abi_version; /* PA_ABI_VERSION */
    uint32_t flags;       /* PA_TARGET_* */

    const char *core_path;  /* the core file, to map it; NULL: read everything through read() */
    const char *core_name;  /* the core file as the user named it, for output; NULL if live */
    const char *executable; /* for output; NULL if unknown */
    const char *signal;     /* "SIGSEGV": what stopped or killed the process; NULL if nothing did */
    const char *debugger;   /* the debugger's version, "18.1" */
    int64_t pid;            /* 0 if unknown */

    /** Copy @p length bytes at @p address. PA_OK, PA_UNREADABLE if any byte is missing, PA_ABORTED. */
    int32_t (*read)(uint64_t address, uint64_t length, void *buffer);

    /** The addresses in memory of all loaded sections called @p name, of every object file. */
    int64_t (*sections)(const char *name, uint64_t *addresses, uint64_t capacity);

    /** The address of a global symbol. PA_OK, PA_UNREADABLE if there is none, PA_ABORTED. */
    int32_t (*symbol)(const char *name, uint64_t *address);

    /** The offset in bytes of member @p path ("task_node.next") in @p type, from DWARF. -1 if there is none, -2 aborted. */
    int64_t (*member_offset)(const char *type, const char *path);

    /** The target's memory: in a core every run it has the bytes of; live, what the debugger can list (possibly nothing). */
    int64_t (*ranges)(struct pa_range *ranges, uint64_t capacity);

    /** The target's threads, in the debugger's order. */
    int64_t (*threads)(struct pa_thread_info *threads, uint64_t capacity);

    /** Line @p line of source file @p file by the debugger's own search rules, without newline. PA_OK, PA_UNREADABLE, PA_ABORTED. */
    int32_t (*source_line)(const char *file, int32_t line, char *buffer, uint64_t capacity);

    /** Print @p length bytes of UTF-8, already escaped. PA_OK or PA_ABORTED (the pager was quit). */
    int32_t (*write)(uint32_t style, const char *bytes, uint64_t length);

    /** Called at least every 50 ms of work. PA_OK or PA_ABORTED. */
    int32_t (*poll)(void);

    /**
     * Whether symbol @p name begins at @p address: PA_OK; PA_UNREADABLE if another one does, or none; PA_ABORTED. May be NULL. A debugger
     * knows what stands at an address at once, but may have to read much debug data to find a symbol by its name.
     */
    int32_t (*symbol_at)(uint64_t address, const char *name);

    /** The process to read with process_vm_readv(2), if that is the target as it stands now; 0: read everything through read(). */
    int64_t process;
    /**
     * Unwind the native stack of the debugger's thread @p number, innermost first, at most @p capacity frames. May be NULL.
     *
     * @param[out] stopped Why the last frame is not the outermost of the thread, a line for the user; NULL if it is.
     * @return how many there are; -1: there is no such thread, or it has no stack; -2: aborted.
     */
    int64_t (*native_frames)(uint32_t number, struct pa_native_frame *frames, uint64_t capacity, const char **stopped);

    /** The path of the file that is mapped at @p address. PA_OK, PA_UNREADABLE if there is none, PA_ABORTED. May be NULL. */
    int32_t (*file_at)(uint64_t address, char *path, uint64_t capacity);

    /** How the debugger's thread @p number came to stop. PA_OK, PA_ABORTED. May be NULL. */
    int32_t (*stop)(uint32_t number, struct pa_stop *stop);

    /** The ELF files that the process had mapped. May be NULL. */
    int64_t (*object_files)(struct pa_object_file *files, uint64_t capacity);

    /**
     * The state of process @p pid in the target's own numbers, as in /proc/PID/stat: 'R', 'S', 'Z' …; 0: there is none; -1: the debugger
     * cannot tell; -2: aborted. May be NULL.
     */
    int32_t (*process_state)(int64_t pid);

    /**
     * The arguments that the process was started with, as far as the debugger knows them, each NUL terminated. May be NULL.
     *
     * @param[out] cut 1 if there were more.
     * @return how many bytes they have; -1: the debugger cannot tell; -2: aborted.
     */
    int64_t (*arguments)(char *buffer, uint64_t capacity, uint32_t *cut);
};

enum pa_command {
    PA_COMMAND_BACKTRACE = 0,  /* py-async-bt */
    PA_COMMAND_AWAITED_BY = 1, /* py-awaited-by */
    PA_COMMAND_TASKS = 2,      /* py-async-tasks */
    PA_COMMAND_INFO = 3,       /* py-async-info */
    PA_COMMAND_GREENLETS = 4,  /* py-greenlets */
    PA_COMMAND_REPORT = 5,     /* py-async-report */
    PA_COMMAND_DESCRIBE = 6,   /* one line about the task or future at the address of the only operand, as text */
};

enum pa_format {
    PA_FORMAT_TEXT = 0,
    PA_FORMAT_JSON = 1,
    PA_FORMAT_DOT = 2, /* for Graphviz: py-async-bt and py-awaited-by */
};

/** An operand that stands for tasks. The front decides the kind by its first character or by *?[ (README, "Naming a task"). */
enum pa_operand_kind {
    PA_OPERAND_NAME = 0,    /* text: exact task name */
    PA_OPERAND_GLOB = 1,    /* text: fnmatch pattern */
    PA_OPERAND_ADDRESS = 2, /* address: of a task, a future, or a coroutine or generator on a task's stack; text: as typed */
};

struct pa_operand {
    uint32_t kind; /* enum pa_operand_kind */
    uint32_t reserved;
    uint64_t address;
    const char *text;
};

#define PA_REQUEST_ALL          1u   /* --all: no cap on groups, nothing left out of the selection */
#define PA_REQUEST_COMPAT       2u   /* --compat: exactly asyncio's own text form */
#define PA_REQUEST_NO_HEAD      4u   /* --no-head */
#define PA_REQUEST_SOURCE       8u   /* --source */
#define PA_REQUEST_SHOW_SECRETS 16u  /* --show-secrets */
#define PA_REQUEST_STYLED       32u  /* the terminal shows styles: write() once per style run instead of in large blocks */
#define PA_REQUEST_GROUP        64u  /* --group */
#define PA_REQUEST_NO_GROUP     128u /* --no-group */
#define PA_REQUEST_EXHAUSTIVE   256u /* --exhaustive: search all memory of a live target */
#define PA_REQUEST_MEMORY_STATS 512u /* say at the end how much memory the library used (maintenance, benchmark) */

#define PA_REQUEST_INSTRUMENTATION 16384u /* --instrumentation: the verdict on each frame of a greenlet */
#define PA_REQUEST_LOCALS          1024u  /* --locals: the variables of each frame */
#define PA_REQUEST_STATS           4096u  /* --stats: how many tasks stand where, instead of the tasks */
#define PA_REQUEST_CONTEXT         2048u  /* --context: the context variables of each task */
#define PA_REQUEST_NATIVE          8192u  /* --native: native frames between the Python frames of what runs */

#define PA_THREAD_DEFAULT UINT32_MAX       /* no --thread given */
#define PA_THREAD_ALL     (UINT32_MAX - 1) /* --thread all */

/** One command with its options. Counts of 0 mean "the default of limits.h". */
struct pa_request {
    uint32_t command; /* enum pa_command */
    uint32_t format;  /* enum pa_format */
    uint32_t flags;   /* PA_REQUEST_* */
    uint32_t thread;  /* --thread: the debugger's number, PA_THREAD_ALL or PA_THREAD_DEFAULT */
    uint32_t limit;   /* --limit: groups */
    uint32_t frames;  /* --frames: frames a stack */
    uint32_t depth;   /* --depth: levels of awaited-by nesting */
    uint32_t operand_count;
    const struct pa_operand *operands;
    const char *state;     /* --state; NULL: live */
    const char *in;        /* --in; NULL: no filter */
    uint32_t value_depth;  /* --locals-depth: levels of containers in containers */
    uint32_t value_length; /* --locals-length: elements of a container, characters of a str */
};

struct pa_session;

/** A structure of the target that a front may show or make values of, where debug symbols have it. */
enum pa_struct_id {
    PA_STRUCT_OBJECT = 0, /* any object */
    PA_STRUCT_TASK = 1,
    PA_STRUCT_FUTURE = 2,
};

/** The name of the type in the debug symbols; NULL if there is no such @p structure (enum pa_struct_id). */
const char *pa_struct_name(uint32_t structure);

/** PA_ABI_VERSION as compiled into the library. */
uint32_t pa_abi_version(void);

/**
 * Open a session on a stopped target. Reads nothing of the target yet.
 *
 * @param[out] session Owned by the caller, freed by pa_session_destroy(). Valid until the target's memory, threads or object files
 *   change; the front must then destroy it and create another.
 * @return PA_OK, PA_NO_MEMORY, or PA_FAILED if @p target has another ABI version.
 */
enum pa_status pa_session_create(const struct pa_target *target, struct pa_session **session);

/** Free a session. NULL is allowed. */
void pa_session_destroy(struct pa_session *session);

/**
 * Run one request and print its result through pa_target.write. The first request walks the target; later ones use what was found.
 *
 * @return PA_OK, also for an incomplete result (the output says so); PA_ABORTED; PA_NO_MEMORY; PA_FAILED with pa_session_error().
 */
enum pa_status pa_session_run(struct pa_session *session, const struct pa_request *request);

/** Why the last pa_session_run() failed: one line, escaped, for the user. Owned by the session, valid until its next use. */
const char *pa_session_error(const struct pa_session *session);

/**
 * The tasks that a request selects by its operands and filters; its command, format and flags mean nothing here.
 *
 * @param[out] addresses The first @p capacity of them.
 * @param[out] count How many there are.
 * @return as pa_session_run(). A name that no task has is PA_FAILED; that the filters leave no task is not.
 */
enum pa_status pa_session_select(struct pa_session *session, const struct pa_request *request, uint64_t *addresses,
                                 uint64_t capacity, uint64_t *count);

/**
 * The names of tasks that begin with @p prefix, for completion: only names that can be typed (printable, no blank), each once.
 *
 * There may be too many for @p buffer. What the first two have in common all of them have, those left out too.
 *
 * @param[out] buffer NUL separated names, the last one followed by two NULs; at most @p capacity bytes, cut between names.
 * @return how many names were stored; 0 also if the target has no tasks or is no CPython. Never fails loudly.
 */
uint64_t pa_session_complete(struct pa_session *session, const char *prefix, char *buffer, uint64_t capacity);

/** The library's own memory for this session, in bytes, beyond the mapping of the core: now and at its peak. */
void pa_session_memory(const struct pa_session *session, uint64_t *current, uint64_t *peak);

#ifdef __cplusplus
}
#endif
#endif
