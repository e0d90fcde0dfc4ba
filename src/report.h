/*
 * py-async-report: what process it was, how it died, and which crash it is. Gathered here, said by report_text.c and report_json.c.
 */
#ifndef PA_REPORT_H
#define PA_REPORT_H

#include "greenlet_view.h"
#include "native.h"
#include "session.h"
#include "view.h"

/** A file that is not here as the process had it. Texts are in pa_report.text. */
struct pa_report_file {
    struct pa_text path, build_id, file_build_id; /* ids are empty if unknown */
    uint32_t state;                               /* enum pa_object_state, not PA_OBJECT_SAME */
};

/** Threads, other than the one that died, whose stacks are equal. */
struct pa_report_group {
    uint64_t key;          /* first: of the index */
    uint32_t stack;        /* of Python; 0: they run none, and the native stack of the first is told */
    uint32_t first, count; /* in members */
};

struct pa_report {
    struct pa_graph *graph;
    const struct pa_request *request;
    struct pa_natives natives;
    struct pa_thread_infos infos;
    const char *no_python; /* why no Python could be read, and the graph is empty; NULL: it could */
    uint32_t number;       /* the debugger's thread that died, or that the user asked for; 0 if there is none */
    struct pa_stop stop;
    struct pa_text executable;          /* as the debugger, else sys.executable, tells it */
    char reason[160];                   /* why it got the signal; empty if that is not known */
    bool has_address, has_sender;       /* what of stop means something */
    PA_ARRAY(struct pa_text) arguments; /* sys.orig_argv, else as the debugger knows them; without secrets */
    bool arguments_cut;                 /* there were more */
    struct pa_text test, worker;        /* PYTEST_CURRENT_TEST, PYTEST_XDIST_WORKER */
    PA_ARRAY(struct pa_report_file) files;
    uint32_t file_count; /* of all, also of those that are as they were */
    PA_ARRAY(struct pa_report_group) groups;
    PA_ARRAY(uint32_t) members; /* in infos */
    char signature[24];         /* "s1:0123456789abcdef" */
    struct pa_arena text;
};

/** Whether the debugger knows the thread that the request names, if it names one. */
bool pa_report_has_thread(struct pa_graph *graph, const struct pa_request *request);

/** Gather everything. What cannot be had is left empty. */
void pa_report_make(struct pa_report *report, struct pa_graph *graph, const struct pa_request *request);
void pa_report_free(struct pa_report *report);

/** The task that runs in the thread that died: its slice of the thread's stack; NULL if none does. */
const struct pa_executing *pa_report_task(const struct pa_report *report);

/** report_threads.c: the other threads, grouped. */
void pa_report_group_threads(struct pa_report *report);

/**
 * signature.c: a name for the crash, equal for equal crashes: a hash over the signal, the Python functions of the task (else of the thread)
 * that died, with their files as they are below their sys.path entry, each once, and the name of the first native code that is neither the
 * interpreter's nor libc's. It needs no symbols and no lines, and nothing in it changes with the host or a patch release. Without Python
 * it is of the signal and that name.
 */
void pa_report_sign(struct pa_report *report);

/** report_text.c: the report as text. */
enum pa_status pa_report_text_print(struct pa_session *session, struct pa_view *view, struct pa_greenlet_view *greenlets,
                                    struct pa_output *out);

/** report_json.c: the member "report" with the comma behind it. @p stack_number as in pa_greenlet_json_print(). */
void pa_report_json(struct pa_report *report, struct pa_output *out, pa_stack_number *stack_number, void *context);

#endif
