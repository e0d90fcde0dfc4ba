/* Stale instrumentation. See instrumentation.h. */
#include "instrumentation.h"

#include "gc.h"
#include "limits.h"
#include "redact.h"

#include <stdio.h>

/* Include/cpython/monitoring.h: events of exceptions that 3.15 looks up in the code object: RAISE, EXCEPTION_HANDLED, PY_UNWIND, RERAISE */
static const uint8_t exception_events[] = {11, 12, 13, 15};

/* The low bits of a version are the eval breaker's. Include/internal/pycore_ceval.h, _PY_EVAL_EVENTS_BITS. */
#define VERSION_MASK (~0xffull)

/* Include/cpython/code.h: code of the interpreter's own, which is never instrumented. */
#define CO_NO_MONITORING_EVENTS 0x2000000u

void pa_instrumentation_read(struct pa_graph *graph, struct pa_instrumentation *instrumentation)
{
    const struct pa_layout *layout = graph->layout;
    *instrumentation = (struct pa_instrumentation){0};
    for (uint32_t i = 0; i < graph->interpreters.count; i++) {
        if (graph->interpreters.items[i].id == 0)
            instrumentation->interpreter = graph->interpreters.items[i].address;
    }
    uint64_t interpreter = instrumentation->interpreter, version;
    if (interpreter == 0 || !PA_HAS(layout, interpreter_instrumentation_version) ||
        !pa_memory_u64(graph->memory, interpreter + PA_OFFSET(layout, interpreter_instrumentation_version), &version))
        return;
    instrumentation->known = true;
    instrumentation->version = version & VERSION_MASK;
    instrumentation->knows_tools = PA_HAS(layout, interpreter_monitors) && PA_HAS(layout, co_monitoring_active) &&
                                   pa_memory_read(graph->memory, interpreter + PA_OFFSET(layout, interpreter_monitors),
                                                  PA_MAX_EVENTS, instrumentation->monitors);
}

/* Compare what each event's tools should be with what they are. */
static void compare(const struct pa_layout *layout, const struct pa_instrumentation *instrumentation, const uint8_t *local,
                    const uint8_t *active, struct pa_code_verdict *verdict)
{
    for (uint32_t i = 0; i < layout->version->local_events; i++) {
        uint8_t want = (uint8_t)(instrumentation->monitors[i] | local[i]);
        verdict->misses |= (uint8_t)(want & ~active[i]);
        verdict->extra |= (uint8_t)(active[i] & ~want);
    }
    verdict->flags |= verdict->misses ? PA_CODE_MISSES : 0;
    verdict->flags |= verdict->extra ? PA_CODE_EXTRA : 0;
}

/*
 * Python/ceval.h, no_tools_for_local_event(): without monitoring data of the code object's own the interpreter's are asked whether there are
 * tools; then Python/instrumentation.c, get_tools_for_instruction(), reads them from the code object's, which are not there.
 */
static bool would_crash(const struct pa_layout *layout, const struct pa_instrumentation *instrumentation)
{
    for (size_t i = 0; layout->version->exceptions_are_local && i < sizeof(exception_events); i++) {
        if (instrumentation->monitors[exception_events[i]])
            return true;
    }
    return false;
}

struct pa_code_verdict pa_code_verdict(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, uint64_t code)
{
    const struct pa_layout *layout = graph->layout;
    struct pa_code_verdict verdict = {0};
    uint8_t local[PA_MAX_EVENTS] = {0}, active[PA_MAX_EVENTS] = {0};
    uint64_t version, monitoring;
    uint32_t flags;
    if (!instrumentation->known || code == 0 || !PA_HAS(layout, code_instrumentation_version) || !PA_HAS(layout, code_monitoring) ||
        !pa_memory_u64(graph->memory, code + PA_OFFSET(layout, code_instrumentation_version), &version) ||
        !pa_memory_u64(graph->memory, code + PA_OFFSET(layout, code_monitoring), &monitoring) ||
        !pa_memory_u32(graph->memory, code + PA_OFFSET(layout, code_flags), &flags) || flags & CO_NO_MONITORING_EVENTS ||
        (version & VERSION_MASK) == instrumentation->version)
        return verdict;
    verdict.flags = PA_CODE_STALE;
    uint32_t events = layout->version->local_events;
    if (!instrumentation->knows_tools ||
        (monitoring != 0 &&
         (!pa_memory_read(graph->memory, monitoring + PA_OFFSET(layout, co_monitoring_local), events, local) ||
          !pa_memory_read(graph->memory, monitoring + PA_OFFSET(layout, co_monitoring_active), events, active)))) {
        verdict.flags |= PA_CODE_UNKNOWN;
        return verdict;
    }
    compare(layout, instrumentation, local, active, &verdict);
    if (monitoring == 0 && would_crash(layout, instrumentation))
        verdict.flags |= PA_CODE_CRASHES;
    return verdict;
}

struct pa_code_verdict pa_frame_verdict(struct pa_graph *graph, const struct pa_instrumentation *instrumentation,
                                        const struct pa_thread_frame *frame)
{
    struct pa_iframe iframe;
    uint64_t address = frame->is_gen ? frame->object + PA_OFFSET(graph->layout, gen_iframe) : frame->object;
    if (!pa_iframe_read(graph->codes, address, &iframe))
        return (struct pa_code_verdict){0};
    return pa_code_verdict(graph, instrumentation, iframe.position.executable);
}

uint32_t pa_tool_name(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, uint32_t tool, char *text)
{
    const struct pa_layout *layout = graph->layout;
    uint64_t name;
    uint32_t length;
    if (tool == PA_TOOL_SETPROFILE)
        return (uint32_t)snprintf(text, PA_STRING_BYTES, "sys.setprofile");
    if (tool == PA_TOOL_SETTRACE)
        return (uint32_t)snprintf(text, PA_STRING_BYTES, "sys.settrace");
    if (PA_HAS(layout, interpreter_tool_names) &&
        pa_memory_u64(graph->memory, instrumentation->interpreter + PA_OFFSET(layout, interpreter_tool_names) + 8 * (uint64_t)tool,
                      &name) &&
        pa_str_read(graph->objects, name, text, &length) && length > 0)
        return length;
    return (uint32_t)snprintf(text, PA_STRING_BYTES, "tool %u", tool);
}

uint8_t pa_greenlet_verdict(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, uint32_t greenlet)
{
    uint32_t count;
    uint8_t flags = 0;
    if (graph->greenlets.items[greenlet].state == PA_GREENLET_RUNNING)
        return 0;
    const struct pa_thread_frame *frames = pa_greenlet_frames(graph, greenlet, &count);
    for (uint32_t i = 0; i < count && pa_work_step(graph->work); i++)
        flags |= pa_frame_verdict(graph, instrumentation, &frames[i]).flags;
    return flags;
}

uint8_t pa_verdict_next(uint8_t *flags)
{
    static const uint8_t order[] = {PA_CODE_CRASHES, PA_CODE_MISSES, PA_CODE_EXTRA, PA_CODE_UNKNOWN};
    for (size_t i = 0; i < sizeof(order); i++) {
        if (*flags & order[i]) {
            *flags &= (uint8_t) ~(order[i] | PA_CODE_STALE);
            return order[i];
        }
    }
    uint8_t stale = *flags & PA_CODE_STALE;
    *flags = 0;
    return stale;
}

/* "sys.setprofile, coverage" */
static uint32_t list_tools(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, uint8_t tools, char *text,
                           uint32_t capacity)
{
    char name[PA_STRING_BYTES], safe[PA_REDACTED_BYTES(PA_MAX_TOOL_NAME)];
    uint32_t length = 0;
    for (uint32_t tool = 0; tool < PA_TOOLS; tool++) {
        if (!(tools >> tool & 1))
            continue;
        uint32_t bytes = pa_tool_name(graph, instrumentation, tool, name);
        bytes = pa_redact(name, bytes < PA_MAX_TOOL_NAME ? bytes : PA_MAX_TOOL_NAME, safe, sizeof(safe));
        if (length + bytes + 2 > capacity)
            break;
        memcpy(text + length, ", ", 2);
        length += length > 0 ? 2 : 0;
        memcpy(text + length, safe, bytes);
        length += bytes;
    }
    return length;
}

uint32_t pa_verdict_text(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, struct pa_code_verdict verdict,
                         uint8_t flag, char *text)
{
    char tools[PA_VERDICT_BYTES / 2];
    uint32_t length =
        list_tools(graph, instrumentation, flag == PA_CODE_EXTRA ? verdict.extra : verdict.misses, tools, sizeof(tools));
    int written;
    switch (flag) {
    case PA_CODE_CRASHES:
        written = snprintf(text, PA_VERDICT_BYTES, "will crash (SIGSEGV) when an exception passes through this frame");
        break;
    case PA_CODE_MISSES:
        written = snprintf(text, PA_VERDICT_BYTES, "misses events of %.*s until the function is called again", (int)length, tools);
        break;
    case PA_CODE_EXTRA:
        written = snprintf(text, PA_VERDICT_BYTES, "has extra events of %.*s, off or not interested; a debug build aborts",
                           (int)length, tools);
        break;
    case PA_CODE_UNKNOWN:
        written = snprintf(text, PA_VERDICT_BYTES, "stale; what follows is unknown, as the tools of this build are");
        break;
    case PA_CODE_STALE:
        written = snprintf(text, PA_VERDICT_BYTES, "stale, without effect");
        break;
    default:
        written = snprintf(text, PA_VERDICT_BYTES, "fresh");
        break;
    }
    return written > 0 ? (uint32_t)written : 0;
}

/* ---- suspended coroutines and generators */

struct refresher {
    struct pa_graph *graph;
    const struct pa_instrumentation *instrumentation;
    struct pa_refreshed_list *list;
};

static bool refresh_one(void *context, uint64_t object, uint32_t type)
{
    const struct refresher *refresher = context;
    struct pa_graph *graph = refresher->graph;
    struct pa_gen gen;
    (void)type;
    if (!pa_gen_read(graph->codes, object, &gen) || (gen.state != PA_GEN_SUSPENDED && gen.state != PA_GEN_YIELD_FROM) ||
        !(pa_code_verdict(graph, refresher->instrumentation, gen.frame.position.executable).flags & PA_CODE_STALE))
        return graph->work->fatal == PA_OK;
    uint32_t frame = pa_frame_at(graph->codes, &gen.frame.position);
    struct pa_refreshed_list *list = refresher->list;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].frame == frame) {
            list->items[i].count++;
            return graph->work->fatal == PA_OK;
        }
    }
    struct pa_refreshed *slot = frame == PA_NONE ? NULL : pa_array_push(graph->work, list, PA_MAX_REFRESHED);
    if (slot)
        *slot = (struct pa_refreshed){frame, 1};
    return graph->work->fatal == PA_OK;
}

void pa_find_refreshed(struct pa_graph *graph, const struct pa_instrumentation *instrumentation, struct pa_refreshed_list *list)
{
    struct refresher refresher = {graph, instrumentation, list};
    struct pa_gc_walk walk = {0};
    uint64_t kinds = PA_GC_KIND(PA_KIND_COROUTINE) | PA_GC_KIND(PA_KIND_GENERATOR) | PA_GC_KIND(PA_KIND_ASYNC_GENERATOR);
    if (instrumentation->known && pa_gc_unavailable(graph->layout) == NULL)
        pa_gc_walk(graph->objects, instrumentation->interpreter, kinds, refresh_one, &refresher, &walk);
}

/* ---- findings */

/*
 * A thread that died by SIGSEGV in a frame that crashes so, or by the SIGABRT of a debug build's assertion (Python/instrumentation.c,
 * debug_check_sanity()) in one whose instrumentation differs from what it should be.
 */
static void find_cause(struct pa_graph *graph, const struct pa_instrumentation *instrumentation,
                       struct pa_instrumentation_findings *findings)
{
    const char *signal = graph->work->target->signal;
    uint64_t ignored;
    uint8_t fatal = 0;
    if (signal && strcmp(signal, "SIGSEGV") == 0)
        fatal = PA_CODE_CRASHES;
    if (signal && strcmp(signal, "SIGABRT") == 0 && pa_module_attribute(graph->objects, "sys", "gettotalrefcount", &ignored))
        fatal = PA_CODE_AT_RISK;
    for (uint32_t i = 0; fatal && i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        if (!thread->selected || thread->own_frames == 0)
            continue;
        const struct pa_thread_frame *frame = &graph->thread_frames.items[thread->first_frame];
        uint8_t flags = pa_frame_verdict(graph, instrumentation, frame).flags & fatal;
        if (flags == 0)
            continue;
        findings->thread = i;
        findings->frame = frame->frame;
        findings->flags = flags;
    }
}

void pa_instrumentation_find(struct pa_graph *graph, const struct pa_instrumentation *instrumentation,
                             struct pa_instrumentation_findings *findings)
{
    *findings = (struct pa_instrumentation_findings){.thread = PA_NONE, .frame = PA_NONE};
    if (!graph->greenlets_how)
        return;
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++) {
        uint8_t flags = pa_greenlet_verdict(graph, instrumentation, i);
        findings->crashes += (flags & PA_CODE_CRASHES) != 0;
        findings->misses += !(flags & PA_CODE_CRASHES) && flags & PA_CODE_MISSES;
        findings->extra += !(flags & (PA_CODE_CRASHES | PA_CODE_MISSES)) && flags & PA_CODE_EXTRA;
    }
    find_cause(graph, instrumentation, findings);
}
