/*
 * The graph: interpreters, threads, loops, tasks and futures, and who waits for whom. Arrays with 32-bit ids, filled once a session.
 *
 * A node costs 32 bytes, since a million tasks is the normal case: names, coroutine objects and whatever else is needed only for what
 * is shown are read from the target when it is shown (details.h).
 */
#ifndef PA_GRAPH_H
#define PA_GRAPH_H

#include "coroutine.h"
#include "instance.h"

struct pa_interpreter {
    uint64_t address;
    int64_t id;
};

/** Frames of threads, or of greenlets: of each, a run of them. */
struct pa_thread_frames {
    struct pa_thread_frame *items;
    uint32_t count, capacity;
};

/** A thread state, and the debugger's thread that it belongs to. */
struct pa_thread {
    uint64_t address; /* first: of the index; PyThreadState */
    uint64_t pthread_id, native_id;
    uint64_t loop, task;  /* what runs in it; 0 if nothing */
    uint32_t interpreter; /* index */
    uint32_t first_frame; /* its Python frames in thread_frames, innermost first */
    uint32_t frame_count;
    uint32_t own_frames; /* of these, its own; then come those of the greenlets that wait for the one that it runs */
    uint32_t greenlet;   /* that it runs, if it is known; PA_NONE */
    uint32_t stack;      /* of all of them */
    uint32_t same;       /* of pa_thread_with_id(): the next one with the same pthread_id, or PA_NONE */
    uint32_t number;     /* the debugger's number; 0 if it knows no such thread */
    int64_t lwp;
    bool selected;
    char name[32];
};

/** The thread states of a thread of the process: one may have some, of several interpreters. */
struct pa_thread_id {
    uint64_t pthread_id;  /* first: of the index */
    uint32_t first, last; /* the others are linked by same */
};

/** A Python frame of a thread or of a suspended greenlet. */
struct pa_thread_frame {
    uint64_t object; /* first: of the index; the generator or coroutine that owns the frame, or the frame's own address */
    uint32_t frame;
    uint32_t greenlet; /* the suspended greenlet that it belongs to, or PA_NONE */
    bool is_gen;
    bool claimed; /* it is the outermost frame of a task */
    bool from_c;  /* C code called it: between it and the next frame stands, for one, sorted() */
};

/** What a greenlet does. */
enum pa_greenlet_state {
    PA_GREENLET_PENDING, /* not started */
    PA_GREENLET_RUNNING,
    PA_GREENLET_SUSPENDED,
    PA_GREENLET_DEAD,
    PA_GREENLET_THREAD_EXITED, /* can never run again: its thread is gone */
};

struct pa_greenlet {
    uint64_t address;                  /* first: of the index; PyGreenlet */
    uint64_t impl;                     /* its C++ object */
    uint64_t main;                     /* the main greenlet of its thread; 0 if it has not started */
    uint64_t parent;                   /* 0: none, or unknown */
    uint64_t run;                      /* the callable of one that has not started; else 0 */
    uint32_t thread;                   /* index, or PA_NONE */
    uint32_t first_frame, frame_count; /* in greenlet_frames, innermost first; one that runs has those of its thread */
    uint32_t stack;
    uint32_t type;   /* in objects */
    uint8_t state;   /* enum pa_greenlet_state */
    bool is_main;    /* the greenlet that a thread begins in */
    bool is_noticed; /* PA_GREENLET_THREAD_EXITED: greenlet has thrown its frames away */
};

/** An object that a suspended greenlet may wait for: a variable of its innermost frame, or what awaiting this leads to. */
struct pa_awaitable {
    uint64_t object; /* first: of the index */
    uint64_t variable;
};

struct pa_loop {
    uint64_t address; /* first: of the index */
    uint32_t thread;  /* index of the thread that runs it, or PA_NONE */
    uint32_t task;    /* node that runs in it, or PA_NONE */
    uint32_t tasks;   /* pending tasks that belong to it */
    uint32_t waiting; /* of these, tasks that wait */
};

enum pa_state { PA_PENDING, PA_DONE, PA_FAILED_STATE, PA_CANCELLED };
enum pa_activity { PA_RUNNING, PA_EXECUTING, PA_READY, PA_CREATED, PA_WAITING, PA_ENDED };

/** What a task is suspended on, as far as it is known for all tasks. */
enum pa_wait { PA_WAIT_NONE, PA_WAIT_READY, PA_WAIT_TASK, PA_WAIT_FUTURE };

#define PA_NODE_TASK       1u   /* a task; else a plain future */
#define PA_NODE_LISTED     2u   /* found in a list of asyncio's C code */
#define PA_NODE_PYTHON     4u   /* its fields are attributes (future.h) */
#define PA_NODE_IN_CYCLE   8u   /* waits, through others, for itself */
#define PA_NODE_BAD        16u  /* no task and no future, or unreadable: a problem says why */
#define PA_NODE_REGISTERED 32u  /* found in a set of tasks (registered.c) */
#define PA_NODE_TRACKED    64u  /* found among the objects that the garbage collector tracks (tracked.c) */
#define PA_NODE_IN_FINDING 128u /* a finding is about it (finding.h) */
#define PA_NODE_NOTABLE    256u /* of asyncio's C code: was asked to cancel, or it or what it waits for has more than one callback */
#define PA_NODE_SCANNED    512u /* found by a search of memory (tracked.c) */

#define PA_NO_THREAD 0xffffu
#define PA_NO_LOOP   0xffffu

/** A task, or a future that takes part in waiting. */
struct pa_node {
    uint64_t address;
    uint32_t stack;      /* 0: no frames */
    uint32_t first_edge; /* its awaiters in edges */
    uint32_t edge_count;
    uint32_t stale;        /* awaiters that have ended, left out of edges */
    uint16_t thread;       /* index, or PA_NO_THREAD */
    uint16_t loop;         /* index, or PA_NO_LOOP */
    unsigned state : 2;    /* enum pa_state */
    unsigned activity : 3; /* enum pa_activity */
    unsigned wait : 3;     /* enum pa_wait */
    unsigned flags : 12;   /* PA_NODE_* */
    unsigned interpreter : 12;
};

/**
 * Nodes that stand next to each other and have rising addresses in one page of the target. A look-up finds the page, then looks through
 * the runs of it. Tasks made one after another make long runs, so this costs little time and memory; at worst each node is a run.
 */
struct pa_node_run {
    uint64_t page;  /* first: of the index */
    uint32_t first; /* node; the last is before the next run's first */
    uint32_t next;  /* run of the same page, or PA_NONE. Nodes are aligned to 8 bytes: no page has more than 512 runs */
};

static inline uint64_t pa_node_page(uint64_t address)
{
    return address & ~(uint64_t)4095;
}

/**
 * A task whose coroutine runs, on a thread's stack: its frames are a slice of the thread's. What of its chain has no frame there, since
 * it is compiled or is no coroutine, stands outside of them.
 */
struct pa_executing {
    uint64_t node; /* first: of the index */
    uint32_t thread;
    uint32_t first, last; /* in thread_frames, innermost first; last is the outermost coroutine of the task that has a frame */
    uint32_t outer;       /* how many links of the chain are outside of it */
    uint32_t outer_stack; /* the stack of these */
};

/** An edge that nothing in the process records as such; it stands in edges too. */
struct pa_derived {
    uint32_t node, awaiter;
};

/** Something that could not be read. */
struct pa_problem {
    const char *what; /* "task", "task list", … */
    const char *why;
    uint64_t address;
    uint32_t node; /* the task it concerns, or PA_NONE */
};

/** Which tasks are looked for among all objects. Each includes the ones before. */
enum pa_search {
    PA_SEARCH_SMALL, /* ended ones, if the process is small */
    PA_SEARCH_ENDED, /* ended ones */
    PA_SEARCH_ALL,   /* pending ones too that are in no list; so always if a list is damaged. After a fork they are the parent's */
};

struct pa_graph {
    struct pa_work *work;
    struct pa_memory *memory;
    const struct pa_layout *layout;
    struct pa_objects *objects;
    struct pa_codes *codes;
    uint64_t runtime; /* address of _PyRuntime */
    double clock;     /* CLOCK_MONOTONIC of the target when it was walked; NaN: not known */

    PA_ARRAY(struct pa_interpreter) interpreters;
    PA_ARRAY(struct pa_thread) threads;
    struct pa_index thread_index;
    PA_ARRAY(struct pa_thread_id) thread_ids; /* of pa_thread_with_id() */
    struct pa_index thread_id_index;
    struct pa_thread_frames thread_frames;
    struct pa_index thread_frame_index; /* by object, generators' frames only */
    PA_ARRAY(struct pa_greenlet) greenlets;
    struct pa_index greenlet_index;
    struct pa_thread_frames greenlet_frames;
    PA_ARRAY(struct pa_awaitable) awaitables; /* bridge.c: objects that suspended greenlets may wait for */
    struct pa_index awaitable_index;
    const char *greenlets_how; /* how they were found; NULL: the process has no greenlets */
    PA_ARRAY(struct pa_loop) loops;
    struct pa_index loop_index;
    PA_ARRAY(struct pa_node) nodes; /* tasks in the order of their lists, a batch at a time followed by what was reached from it */
    uint32_t read_count;            /* nodes that have been read, the first so many */
    PA_ARRAY(struct pa_node_run) runs;            /* the nodes again, for look-ups */
    struct pa_index run_index;                    /* by page: of each page's runs the first */
    bool only_run;                                /* the last run is the only one of its page */
    bool awaitables_read;                         /* awaitables is filled */
    struct pa_recent recent_awaiter, recent_loop; /* key 0: none; the children of one task group have the same */
    uint32_t live_count;                          /* of these, pending ones */
    uint32_t task_count;                          /* nodes that are tasks */
    uint32_t ended_count;                         /* nodes that wait no more, or are bad: what they await is stale */
    PA_ARRAY(uint32_t) edges;                     /* nodes that wait */
    PA_ARRAY(struct pa_derived) derived;          /* sorted; of a process with tasks of asyncio's C code only there are none */
    uint32_t python_count;                        /* nodes with PA_NODE_PYTHON */
    uint32_t registered_count;                    /* nodes with PA_NODE_REGISTERED */
    uint32_t damaged_lists;                       /* of tasks: some may be missing */
    enum pa_search search;                        /* set before the walk */
    bool searched;                                /* all objects were searched: ended tasks are known as far as they can be */
    PA_ARRAY(struct pa_executing) executing;      /* sorted by last; no two have a frame in common */
    struct pa_index executing_index;
    PA_ARRAY(uint32_t) cycle_members; /* of each cycle: every node waits for the next, the last for the first */
    PA_ARRAY(uint32_t) cycle_ends;    /* where each cycle ends in cycle_members */
    uint32_t more_cycles;             /* that are not named */
    PA_ARRAY(struct pa_problem) problems;
    uint32_t problem_count;      /* of all, also those beyond PA_MAX_PROBLEMS */
    uint32_t debugger_threads;   /* that the debugger knows */
    struct pa_holders *holders;  /* holder.c: who holds what; NULL until it is asked for */
    struct pa_chain chain;       /* scratch */
    struct pa_chain inner_chain; /* likewise, of a coroutine inside a greenlet */
    struct {                     /* the stack of the last chain of which every level looked as before */
        uint32_t learned, count, stack;
    } same;
    struct { /* the gather() whose children were counted last: they may be a million, and several ask */
        uint64_t future;
        int64_t left;
    } counted_gather;
};

/** object.@p name, as pa_instance_attribute(). */
static inline bool pa_attribute(struct pa_graph *graph, uint64_t object, const char *name, uint64_t *value)
{
    return pa_instance_attribute(graph->objects, object, name, value);
}

/** The interpreter frame of a thread's or greenlet's frame. */
static inline uint64_t pa_thread_frame_address(const struct pa_graph *graph, const struct pa_thread_frame *frame)
{
    return frame->object + (frame->is_gen ? PA_OFFSET(graph->layout, gen_iframe) : 0);
}

/** Set up an empty graph over what stands to its left. */
void pa_graph_init(struct pa_graph *graph, struct pa_codes *codes, uint64_t runtime);
void pa_graph_deinit(struct pa_graph *graph);

/** Walk the target. @return PA_OK, also with problems; PA_ABORTED or PA_NO_MEMORY. */
enum pa_status pa_graph_build(struct pa_graph *graph);

/** Note a problem. @p what and @p why live as long as the graph; mostly they are literals. */
void pa_graph_problem(struct pa_graph *graph, const char *what, uint64_t address, const char *why, uint32_t node);

/** The node of a task or future at @p address, made if it is new; PA_NONE without memory. Its type is not checked here. */
uint32_t pa_graph_node(struct pa_graph *graph, uint64_t address);

/** The node at @p address, or PA_NONE. */
uint32_t pa_graph_find(const struct pa_graph *graph, uint64_t address);

/** The slice of thread frames of a node that executes, or NULL. */
const struct pa_executing *pa_graph_executing(const struct pa_graph *graph, uint32_t node);

/** The state of a task or future of _asyncio at @p address, whose kind has been checked. PA_PENDING if it cannot be read. */
enum pa_state pa_future_state(struct pa_graph *graph, uint64_t address);

/**
 * The node of a task or future that the walk did not reach, read now with everything that hangs on it.
 *
 * @return its node; PA_NONE without memory.
 */
uint32_t pa_read_reached_node(struct pa_graph *graph, uint64_t address);

/** Whether an edge is a derived one. */
bool pa_edge_is_derived(const struct pa_graph *graph, uint32_t node, uint32_t awaiter);

/** The debugger's threads, in its order; appended to @p infos, which is empty and the caller's to free. None if it cannot tell. */
struct pa_thread_infos {
    struct pa_thread_info *items;
    uint32_t count, capacity;
};
void pa_debugger_threads(struct pa_work *work, struct pa_thread_infos *infos);

/** The debugger's thread that got the signal: the first of a core, whichever the user has selected since; live the selected one. 0: none. */
uint32_t pa_stopped_thread(const struct pa_work *work, const struct pa_thread_infos *infos);

/** The thread whose tasks alone are shown. A report is about a thread, but shows all tasks. */
static inline uint32_t pa_request_thread(const struct pa_request *request)
{
    return request->command == PA_COMMAND_REPORT ? PA_THREAD_DEFAULT : request->thread;
}

/** The first thread (index) with this pthread_self(), which Python calls its ident; PA_NONE if there is none. The next one is its same. */
uint32_t pa_thread_with_id(struct pa_graph *graph, uint64_t pthread_id);

/** Ask the debugger anew which thread is selected: the user may have changed it since the walk. */
void pa_read_selection(struct pa_graph *graph);

/**
 * Append the frames from @p innermost outward to @p frames. What is damaged becomes a problem of @p owner.
 *
 * @param greenlet A suspended greenlet, whose frames are linked to one another, without the interpreter's own between; or PA_NONE.
 */
void pa_read_frames(struct pa_graph *graph, uint64_t innermost, uint64_t owner, uint32_t greenlet, struct pa_thread_frames *frames);

/**
 * bridge.c: put the frames of greenlets that a suspended chain of coroutines runs through into it.
 *
 * @param waiter The future that the task is suspended on, 0 for none.
 */
void pa_bridge(struct pa_graph *graph, struct pa_chain *chain, uint64_t waiter);

/** The stack of a run of frames. */
uint32_t pa_stack_of_frames(struct pa_graph *graph, const struct pa_thread_frames *frames, uint32_t first, uint32_t count);

/** For qsort() and bsearch() of ids, as the edges of a node are. */
int pa_by_id(const void *a, const void *b);

/* Parts of pa_graph_build(), a file each. */

/** thread.c: interpreters and thread states, and which of the debugger's threads they are; then their frames. */
void pa_read_threads(struct pa_graph *graph);
void pa_read_thread_frames(struct pa_graph *graph);
/** greenlet.c: every greenlet, if the process has any. */
void pa_read_greenlets(struct pa_graph *graph);
/** task.c: every task of every list, and what is reached from them. */
void pa_read_tasks(struct pa_graph *graph);
/** task.c: read the nodes that were not read yet, and those that turn up meanwhile. */
void pa_read_nodes(struct pa_graph *graph);
/** registered.c: let the classes of asyncio's Python code be known, before any object of theirs is met. */
void pa_learn_classes(struct pa_graph *graph);
/** registered.c: the tasks that are in no list of asyncio's C code but in a set. Their nodes are not read yet. */
void pa_read_registered(struct pa_graph *graph);
/** registered.c: what runs where, for loops and tasks that asyncio's C code does not know of. */
void pa_place_registered(struct pa_graph *graph);
/** tracked.c: the tasks that are in no list or set, if they are to be looked for. Their nodes are not read yet. */
void pa_read_tracked(struct pa_graph *graph);
/** derive.c: edges that are not recorded, where a task or future is none of asyncio's C code. */
void pa_derive_edges(struct pa_graph *graph);
/** holder.c: forget who holds what. */
void pa_holders_free(struct pa_graph *graph);
/** cycle.c: who waits, through others, for itself. */
void pa_find_cycles(struct pa_graph *graph);

#endif
