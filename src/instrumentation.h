/*
 * Stale instrumentation: code whose instructions do not call the tools that they should.
 *
 * Since 3.12 sys.setprofile(), sys.settrace() and sys.monitoring rewrite instructions of code objects. When a tool is turned on or off
 * CPython rewrites the code of every frame on a thread's list, and that of other functions when they are entered next. The frames of a
 * suspended greenlet are on no list, and are not entered again: they go on with what they had. CPython: Python/instrumentation.c,
 * instrument_all_executing_code_objects(); Python/bytecodes.c, RESUME.
 */
#ifndef PA_INSTRUMENTATION_H
#define PA_INSTRUMENTATION_H

#include "greenlet.h"

#define PA_TOOLS           8u
#define PA_MAX_EVENTS      16u
#define PA_TOOL_SETPROFILE 6u
#define PA_TOOL_SETTRACE   7u

/** What the main interpreter wants instrumented, since greenlet supports no other. */
struct pa_instrumentation {
    bool known;                      /* its version can be read */
    bool knows_tools;                /* monitors too: else only that something is stale can be told */
    uint64_t interpreter;            /* PyInterpreterState */
    uint64_t version;                /* of code that is as it should be */
    uint8_t monitors[PA_MAX_EVENTS]; /* tools by event, a bit each */
};

void pa_instrumentation_read(struct pa_graph *graph, struct pa_instrumentation *instrumentation);

/** What is wrong with the code of a frame that goes on where it stands. */
#define PA_CODE_STALE   1u  /* instrumented for an earlier set of tools */
#define PA_CODE_MISSES  2u  /* tools that want events do not get them until the function is called again */
#define PA_CODE_EXTRA   4u  /* tools get events that they do not want, or are gone */
#define PA_CODE_CRASHES 8u  /* 3.15: SIGSEGV when an exception passes through (gh-142186) */
#define PA_CODE_UNKNOWN 16u /* stale, and what follows is not known */

struct pa_code_verdict {
    uint8_t flags;  /* PA_CODE_*; 0: as it should be */
    uint8_t misses; /* tools, a bit each */
    uint8_t extra;
};

/** Judge the code object at @p code. What cannot be read, and code that is never instrumented, is as it should be. */
struct pa_code_verdict pa_code_verdict(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, uint64_t code);

/** The same of a frame of a thread or greenlet. */
struct pa_code_verdict pa_frame_verdict(struct pa_graph *graph, const struct pa_instrumentation *instrumentation,
                                        const struct pa_thread_frame *frame);

/** The name of a tool, as it is known to the process, without secrets; @p text has PA_STRING_BYTES of room. @return its length. */
uint32_t pa_tool_name(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, uint32_t tool, char *text);

/** Room for a verdict in words. */
#define PA_VERDICT_BYTES 1024u

/**
 * One part of a verdict in words: "misses events of sys.setprofile until the function is called again". Holds text of the target (names of
 * tools), without secrets.
 *
 * @param flag One of PA_CODE_*, or 0: as it should be.
 * @param text Room for PA_VERDICT_BYTES. @return its length.
 */
uint32_t pa_verdict_text(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, struct pa_code_verdict verdict,
                         uint8_t flag, char *text);

/** The part of a verdict that matters: what it names, or that it is stale without effect. @p flags is shortened by what is returned. */
uint8_t pa_verdict_next(uint8_t *flags);

/** What changes the behaviour of the program. */
#define PA_CODE_AT_RISK (PA_CODE_MISSES | PA_CODE_EXTRA | PA_CODE_CRASHES)

/** Suspended coroutines and generators whose code is stale: they are instrumented anew when they resume. By place. */
struct pa_refreshed {
    uint32_t frame;
    uint32_t count;
};
struct pa_refreshed_list {
    struct pa_refreshed *items;
    uint32_t count, capacity;
};
void pa_find_refreshed(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, struct pa_refreshed_list *list);

/** What there is to say about all greenlets, and about how the process died. */
struct pa_instrumentation_findings {
    uint32_t crashes, misses, extra; /* greenlets, each in the first that it belongs to */
    uint32_t thread;                 /* that died in a frame at risk, index; PA_NONE */
    uint32_t frame;                  /* that frame */
    uint8_t flags;                   /* PA_CODE_* of it */
};
void pa_instrumentation_find(struct pa_graph *graph, const struct pa_instrumentation *instrumentation,
                             struct pa_instrumentation_findings *findings);

/** The worst of a greenlet's frames, all flags together. Frames of a greenlet that runs are on its thread's list. */
uint8_t pa_greenlet_verdict(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, uint32_t greenlet);

#endif
