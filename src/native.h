/*
 * The stack of one thread as one list: the native frames that the debugger unwinds, with each run of the interpreter's evaluation loop
 * replaced by the Python frames that it executes.
 *
 * Where Python's frames belong is told without symbols. C code that calls Python starts a new loop, which keeps a frame of the
 * interpreter's own (owner "interpreter") on the C stack, as the last of the Python frames that it executes: the native frame around that
 * address is the loop. Symbols are a check. If anything contradicts, nothing is put together: the two lists stand one after the other.
 *
 * CPython: Python/ceval.c, _PyEval_EvalFrameDefault(): entry_frame (3.14), entry (3.15).
 */
#ifndef PA_NATIVE_H
#define PA_NATIVE_H

#include "graph.h"

/** A native frame. */
struct pa_native_item {
    uint64_t pc, sp;
    struct pa_text function, file, object; /* object: the path of the file that holds the code. In pa_native.text */
    int32_t line;
    uint32_t flags; /* PA_NATIVE_* */
};

/** A place of the list: a native frame or a Python frame. */
struct pa_merged {
    uint32_t native;       /* in frames, the number that the debugger has for it; PA_NONE */
    uint32_t thread_frame; /* in graph->thread_frames; PA_NONE */
};

/** A loop of the interpreter, and the Python frames that it executes. */
struct pa_loop_entry {
    uint64_t address;      /* of its own frame, on the C stack */
    uint32_t first, count; /* in graph->thread_frames */
};

struct pa_native {
    struct pa_graph *graph;
    uint32_t number; /* the debugger's thread */
    PA_ARRAY(struct pa_native_item) frames;
    PA_ARRAY(struct pa_merged) merged; /* innermost first */
    uint32_t first_foreign; /* in merged: the innermost that is Python's, or of a file that is not the interpreter or libc */
    PA_ARRAY(struct pa_loop_entry) entries;
    struct pa_arena text;
    struct pa_text stopped;     /* why the native frames end before the outermost; empty: they do not */
    struct pa_text interpreter; /* the path of the file that holds the interpreter */
    bool matched;               /* else merged has the native frames and then the Python frames, and why says so */
    char why[160];
};

/** The merged stacks of several threads, each read when it is first asked for. */
struct pa_natives {
    struct pa_native *items;
    uint32_t count, capacity;
};

/**
 * That of the debugger's thread @p number, which need not run Python; its lists are empty if the debugger cannot unwind it.
 *
 * @return NULL for 0 and without memory. Valid until that of another thread is asked for.
 */
const struct pa_native *pa_natives_get(struct pa_natives *natives, struct pa_graph *graph, uint32_t number);
void pa_natives_deinit(struct pa_natives *natives, struct pa_work *work);

/** Whether a request wants the native frames of one of the debugger's threads for the thread's own sake, whatever tasks it shows. */
bool pa_native_wanted(const struct pa_graph *graph, const struct pa_request *request, const struct pa_thread_infos *infos,
                      uint32_t index);

/** The slice of merged that a task executes: [first, end). All of it is what is not matched. */
void pa_native_slice(const struct pa_native *native, const struct pa_executing *executing, uint32_t *first, uint32_t *end);

/** Whether a frame is code of the interpreter itself. */
bool pa_native_is_interpreter(const struct pa_native *native, uint32_t frame);

/** Whether it is code of a file that is neither the interpreter nor libc. */
bool pa_native_is_foreign(const struct pa_native *native, uint32_t frame);

/** The last component of the path of a frame's file. */
struct pa_text pa_native_object(const struct pa_native *native, uint32_t frame);

#endif
