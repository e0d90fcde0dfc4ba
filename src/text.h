/*
 * The text form of an answer, in parts: the head, the trees of awaiters, the list of tasks, the last line.
 */
#ifndef PA_TEXT_H
#define PA_TEXT_H

#include "blocked.h"
#include "native.h"
#include "output.h"
#include "pool.h"
#include "value.h"
#include "view.h"
#include "wait.h"

/** What the parts of a text share. */
struct pa_printer {
    struct pa_view *view; /* NULL where no tasks are shown */
    struct pa_graph *graph;
    struct pa_output *out;
    const struct pa_request *request;
    struct pa_frame_list frames; /* scratch */
    struct pa_links links;       /* scratch */
    struct pa_links iframes;     /* scratch */
    struct pa_waits waits;
    struct pa_pools pools;
    struct pa_values *values;       /* NULL until a value is shown */
    struct pa_natives natives;      /* of threads whose native frames were asked for */
    char name[PA_STRING_BYTES];     /* scratch: as read */
    char safe[2 * PA_STRING_BYTES]; /* scratch: without secrets */
};

/** What the parts of a text share, without a view of tasks. NULL without memory. */
struct pa_printer *pa_printer_new(struct pa_graph *graph, const struct pa_request *request, struct pa_output *out);
void pa_printer_free(struct pa_printer *printer);

/** Print the answer to a request about tasks. */
enum pa_status pa_text_print(struct pa_view *view, struct pa_output *out);

/**
 * Print one line about the task or future at the address of the request's operand: "<Task 'Task-7' pending, in fetch (app.py:16)>".
 *
 * @param[out] error On PA_FAILED: one line, not escaped yet.
 */
enum pa_status pa_text_describe(struct pa_graph *graph, const struct pa_request *request, struct pa_output *out, char *error,
                                size_t capacity);

/** "Task(name='Task-1', id=0x7f…)" or "Future(id=0x7f…)" */
void pa_print_node(struct pa_printer *printer, uint32_t node);
/** "Task-1", for running text; a future is its address */
void pa_print_short(struct pa_printer *printer, uint32_t node);
/** "Lock 0x7f…": any object */
void pa_print_object(struct pa_printer *printer, uint64_t object);
/** "in fetch (app.py:16)"; nothing for PA_NONE */
void pa_print_place(struct pa_printer *printer, uint32_t frame);
/** frame_text.c: "  |   File 'app.py', line 16, in async fetch()", indented by @p spaces; with --source the line itself below. @p iframe is
    the address of the interpreter frame if its variables are to be shown, else 0. */
void pa_print_frame(struct pa_printer *printer, uint32_t spaces, uint32_t frame, uint64_t iframe);
/** frame_text.c: "'app.py', line 16, in async fetch()" behind @p before, with a line end. */
void pa_print_frame_line(struct pa_printer *printer, const char *before, uint32_t frame);
/** "thread 3 \"worker\"", or the interpreter's or kernel's idea of it if the debugger has no number */
void pa_print_thread(struct pa_printer *printer, uint32_t thread);
/** "Task-1 waits for Task-2, which waits for Task-1" */
void pa_print_cycle(struct pa_printer *printer, uint32_t cycle);

/**
 * head.c: why these tasks, the loops, what is remarkable, the totals. At most PA_HEAD_LINES; where the request wants no head, only that
 * the filters leave no task, if so.
 */
void pa_print_head(struct pa_printer *printer);

/** "a lock", that the tasks of a group wait for, all of the same stack; NULL if they may wait for different things. */
const char *pa_group_waits_for(struct pa_printer *printer, uint32_t first);

/** Print how many tasks there are, and what they do: the last line of the head. */
void pa_print_totals(struct pa_printer *printer);
/** text_blocked.c: "Thread-4 (thread 2)", by the name that threading gives it; else as pa_print_thread(). */
void pa_print_named_thread(struct pa_printer *printer, uint32_t thread);
/** text_blocked.c: "in consume (app.py:16), in Queue.get of Queue 0x7f…": what a thread does, as far as it is known. No line end. */
void pa_print_blocked(struct pa_printer *printer, uint32_t thread);
/** text_blocked.c: of that the call alone: "in Queue.get of Queue 0x7f…", "joins Thread-4 (thread 2)". Its kind is not PA_BLOCKED_NOT. */
void pa_print_call(struct pa_printer *printer, const struct pa_blocked *blocked);
/** text_loops.c: what a loop does, a line. */
void pa_print_loop(struct pa_printer *printer, uint32_t loop);
/** head.c: problems, and whether the answer is complete. */
void pa_print_end(struct pa_printer *printer);

/** text_stats.c: how many of the selected tasks stand where. */
void pa_print_stats(struct pa_printer *printer);

/** tree.c: the selected tasks or groups with their stacks and, below them, who awaits them. */
void pa_print_trees(struct pa_printer *printer);

/** finding_text.c: a finding of the view as a line, without line end. */
void pa_print_finding(struct pa_printer *printer, uint32_t index);
/** native_text.c: the places [first, end) of a merged stack, a line each. Unless the request is for --all, recursions are shortened,
    and what stands between frames of Python and is code of the interpreter is one line. */
void pa_print_merged(struct pa_printer *printer, uint32_t spaces, const struct pa_native *native, uint32_t first, uint32_t end);
/** The merged stack of a task that executes, if the request wants it. @return false if the stack of Python frames is still to be printed. */
bool pa_print_native_stack(struct pa_printer *printer, uint32_t spaces, uint32_t node);
/** Whether a task that is shown executes in the debugger's thread @p number: then its entry has the thread's stack. */
bool pa_native_is_shown(const struct pa_printer *printer, uint32_t number);
/** Entries for the threads that the request wants native frames of, unless the entry of a task has them. */
void pa_print_native_threads(struct pa_printer *printer);

/** text_values.c: room for rendering values, by what the user asked for. NULL without memory. */
struct pa_values *pa_printer_values(struct pa_printer *printer);
/** text_values.c: the variables of the frame at @p iframe, a line each; nothing for 0. */
void pa_print_locals(struct pa_printer *printer, uint32_t indent, uint64_t iframe);

/** text_waits.c: what a task, or a group of equal ones, waits for, if more is known than its stack or the tree tells: a line. */
void pa_print_waits_on(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count);

/** text_hub.c: "the Hub of thread 1 cannot run: greenlet 0x… blocks the thread in time.sleep(), called in nap (app.py:7); …" */
struct pa_hub_blocked;
void pa_print_blocked_hub(struct pa_printer *printer, const struct pa_hub_blocked *blocked);

/** text_holders.c: ", held by Task-3 at pool.py:41 (in its async with)", or that nobody's stack holds it; nothing if neither is certain. */
void pa_print_holders(struct pa_printer *printer, uint64_t object);

/** text_pools.c: the objects that a task, or each of a group of equal ones, waits in, where what it waits for tells nothing: a line each. */
void pa_print_pools(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count);

/** text_notes.c: why a failed task failed, with tracebacks; where a task was created; its context variables. Lines of their own. */
void pa_print_failure(struct pa_printer *printer, uint32_t indent, uint32_t node);
/** The same of several tasks, a line each without traceback; at most PA_GROUP_NAMES. */
void pa_print_failures(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count);
void pa_print_origin(struct pa_printer *printer, uint32_t indent, uint32_t node);
void pa_print_context(struct pa_printer *printer, uint32_t indent, uint32_t node);

/** The names of states and activities, as in the JSON. */
const char *pa_state_name(enum pa_state state);
const char *pa_activity_name(enum pa_activity activity);

#endif
