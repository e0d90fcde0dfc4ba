/* What an event loop does. See loop.h. */
#include "loop.h"

#include "collection.h"
#include "instance.h"
#include "variables.h"

#include <math.h>
#include <stdio.h>

#define EVENTS "/asyncio/events.py"
#define LOOPS  "/asyncio/base_events.py"

const char *pa_loop_state_name(enum pa_loop_state state)
{
    static const char *const names[PA_LOOP_STATE_COUNT] = {"task", "callback", "select", "running", "not running", "closed"};
    return names[state];
}

const char *pa_signal_name(uint32_t number, char text[16])
{
    /* The kernel's include/uapi/asm-generic/signal.h, for x86-64 */
    static const char *const names[] = {"",     "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
                                        "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
                                        "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS"};
    if (number > 0 && number < sizeof(names) / sizeof(*names))
        snprintf(text, 16, "SIG%s", names[number]);
    else
        snprintf(text, 16, "signal %u", number % 1000);
    return text;
}

static bool is_frame(const struct pa_graph *graph, const struct pa_thread_frame *frame, const char *function, const char *file)
{
    const struct pa_frame *item = &graph->codes->frames.items[frame->frame];
    return pa_text_ends(&graph->objects->text, item->function, function) && pa_text_ends(&graph->objects->text, item->file, file);
}

/* True, False; anything else is neither. */
static bool is_bool(struct pa_graph *graph, uint64_t object, bool wanted)
{
    int64_t value;
    return pa_kind_of(graph->objects, object) == PA_KIND_BOOL && pa_int_read(graph->objects, object, &value) && value == wanted;
}

/* ---- where its thread stands */

/* The frame, in thread_frames, of the _run_once() that runs a loop; PA_NONE if there is none. */
static uint32_t find_run_once(struct pa_graph *graph, const struct pa_loop *loop)
{
    const struct pa_thread *thread = &graph->threads.items[loop->thread];
    uint64_t self;
    for (uint32_t i = thread->first_frame; i < thread->first_frame + thread->frame_count && pa_work_step(graph->work); i++) {
        const struct pa_thread_frame *frame = &graph->thread_frames.items[i];
        if (is_frame(graph, frame, "BaseEventLoop._run_once", LOOPS) &&
            pa_variable_get(graph->codes, pa_thread_frame_address(graph, frame), "self", &self) && self == loop->address)
            return i;
    }
    return PA_NONE;
}

/* What stands inside of _run_once(): the selector, or a handle, whose callback's frame comes next. */
static void read_state(struct pa_graph *graph, const struct pa_loop *loop, uint32_t run_once, struct pa_loop_facts *facts)
{
    const struct pa_thread *thread = &graph->threads.items[loop->thread];
    const struct pa_thread_frame *frames = graph->thread_frames.items;
    uint32_t first = thread->first_frame;
    facts->state = loop->task != PA_NONE ? PA_LOOP_TASK : PA_LOOP_RUNNING;
    if (run_once == PA_NONE || loop->task != PA_NONE || run_once == first)
        return;
    uint32_t inside = run_once - 1;
    if (inside == first && is_frame(graph, &frames[inside], ".select", "/selectors.py"))
        facts->state = PA_LOOP_SELECT;
    if (!is_frame(graph, &frames[inside], "Handle._run", EVENTS))
        return;
    facts->state = PA_LOOP_CALLBACK;
    /* _ThreadSafeHandle._run() calls Handle._run(). */
    if (inside > first && is_frame(graph, &frames[inside - 1], "Handle._run", EVENTS))
        inside--;
    if (inside > first)
        facts->callback_frame = inside - 1;
}

static void read_callback(struct pa_graph *graph, struct pa_loop_facts *facts)
{
    uint64_t handle, callback;
    if (facts->state != PA_LOOP_CALLBACK || !pa_variable_get(graph->codes, facts->run_once, "handle", &handle) ||
        !pa_attribute(graph, handle, "_callback", &callback) || pa_kind_of(graph->objects, callback) == PA_KIND_NONE_TYPE)
        return;
    facts->callback = pa_partial_function(graph->objects, callback);
    pa_callable_read(graph->codes, facts->callback, &facts->called);
    char name[128];
    uint32_t length = facts->called.line == 0 ? pa_builtin_name(graph->objects, facts->callback, name, sizeof(name)) : 0;
    if (length > 0)
        facts->called.name = pa_arena_add(graph->work, &graph->objects->text, name, length);
}

/* ---- its queues */

static int64_t count_ready(struct pa_graph *graph, uint64_t loop)
{
    struct pa_collection ready;
    uint64_t object;
    return pa_attribute(graph, loop, "_ready", &object) && pa_collection_begin(graph->objects, object, &ready) ? (int64_t)ready.left
                                                                                                               : PA_LOOP_UNKNOWN;
}

/*
 * The next timer and how many there are. _scheduled is a heap; what is cancelled stays in it until it comes first, or there is much of it,
 * and _timer_cancelled_count counts it.
 */
static void read_timers(struct pa_graph *graph, uint64_t loop, struct pa_loop_facts *facts)
{
    uint64_t list, items, count, object, handle, cancelled;
    int64_t cancelled_count;
    if (!pa_attribute(graph, loop, "_scheduled", &list) || !pa_sequence(graph->objects, list, &items, &count) ||
        !pa_attribute(graph, loop, "_timer_cancelled_count", &object) || !pa_int_read(graph->objects, object, &cancelled_count) ||
        cancelled_count < 0 || (uint64_t)cancelled_count > count)
        return;
    facts->scheduled = (int64_t)count - cancelled_count;
    double next = INFINITY;
    for (uint64_t i = 0; i < count && pa_work_step(graph->work); i++) {
        if (i == PA_MAX_TIMERS || !pa_memory_u64(graph->memory, items + 8 * i, &handle) ||
            !pa_attribute(graph, handle, "_when", &object) || !pa_attribute(graph, handle, "_cancelled", &cancelled))
            return;
        double when = pa_number_read(graph->objects, object);
        if (is_bool(graph, cancelled, false) && when < next)
            next = when;
        /* No element of a heap is less than its first one. */
        if (isnan(when) || (i == 0 && isfinite(next)))
            break;
    }
    if (isfinite(next))
        facts->next_when = next;
}

static void read_signals(struct pa_graph *graph, uint64_t loop, struct pa_loop_facts *facts)
{
    struct pa_dict_iterator handlers;
    uint64_t dict, key, value;
    int64_t number;
    if (!pa_attribute(graph, loop, "_signal_handlers", &dict) || !pa_dict_begin(graph->objects, dict, &handlers))
        return;
    for (uint32_t i = 0; i < PA_MAX_SIGNAL_HANDLERS && pa_dict_next(graph->objects, &handlers, &key, &value); i++) {
        if (pa_int_read(graph->objects, key, &number) && number >= 1 && number <= 64)
            facts->signals |= 1ull << (number - 1);
    }
}

static void read_selector(struct pa_graph *graph, uint64_t loop, struct pa_loop_facts *facts)
{
    static const struct {
        const char *type, *poll;
    } polls[] = {{"EpollSelector", "epoll"}, {"PollSelector", "poll"}, {"SelectSelector", "select"}};
    if (!pa_attribute(graph, loop, "_selector", &facts->selector))
        return;
    for (size_t i = 0; i < sizeof(polls) / sizeof(*polls); i++) {
        if (pa_is_of_type(graph->objects, facts->selector, polls[i].type))
            facts->poll = polls[i].poll;
    }
}

/* ---- its clock */

/* Whether time() of a loop is asyncio's own, which is time.monotonic(). */
static bool has_own_clock(struct pa_graph *graph, uint64_t loop)
{
    uint64_t function;
    uint32_t type = pa_type_of(graph->objects, loop);
    return type != PA_NONE && pa_class_attribute(graph->objects, graph->objects->types.items[type].address, "time", &function) &&
           pa_is_function(graph->codes, function, "BaseEventLoop.time", LOOPS);
}

/* A variable of _run_once() that holds a number, or None, which gives infinity. NaN: neither. */
static double seconds_of(struct pa_graph *graph, uint64_t run_once, const char *name)
{
    struct pa_variables variables;
    if (run_once == 0 || !pa_variables_begin(graph->codes, run_once, &variables))
        return NAN;
    while (pa_variables_next(&variables)) {
        if (variables.name_length != strlen(name) || memcmp(variables.name, name, variables.name_length) != 0)
            continue;
        if (variables.object == 0)
            return (double)variables.number;
        return pa_kind_of(graph->objects, variables.object) == PA_KIND_NONE_TYPE ? INFINITY
                                                                                 : pa_number_read(graph->objects, variables.object);
    }
    return NAN;
}

/* When the loop looked at its clock last, by what it made of it. */
static double last_look(struct pa_graph *graph, uint64_t loop, uint64_t run_once)
{
    uint64_t list, items, count, first, when;
    double end_time = seconds_of(graph, run_once, "end_time"), timeout = seconds_of(graph, run_once, "timeout");
    if (isfinite(end_time))
        return end_time;
    /* _scheduled[0]._when - self.time(), unless that is too much or less than 0: then it is an int. */
    if (!isfinite(timeout) || timeout <= 0 || timeout >= 86400 || !pa_attribute(graph, loop, "_scheduled", &list) ||
        !pa_sequence(graph->objects, list, &items, &count) || count == 0 || !pa_memory_u64(graph->memory, items, &first) ||
        !pa_attribute(graph, first, "_when", &when))
        return NAN;
    return pa_number_read(graph->objects, when) - timeout;
}

static double read_now(struct pa_graph *graph, uint64_t loop, uint64_t run_once)
{
    if (!isnan(graph->clock) && has_own_clock(graph, loop))
        return graph->clock;
    return run_once == 0 ? NAN : last_look(graph, loop, run_once);
}

static uint64_t run_once_of(struct pa_graph *graph, const struct pa_loop *loop, uint32_t *frame)
{
    *frame = loop->thread == PA_NONE ? PA_NONE : find_run_once(graph, loop);
    return *frame == PA_NONE ? 0 : pa_thread_frame_address(graph, &graph->thread_frames.items[*frame]);
}

double pa_loop_now(struct pa_graph *graph, uint32_t id)
{
    const struct pa_loop loop = graph->loops.items[id];
    uint32_t frame;
    return read_now(graph, loop.address, run_once_of(graph, &loop, &frame));
}

void pa_loop_read(struct pa_graph *graph, uint32_t id, struct pa_loop_facts *facts)
{
    const struct pa_loop loop = graph->loops.items[id];
    uint32_t run_once;
    uint64_t closed;
    *facts = (struct pa_loop_facts){
        .state = PA_LOOP_NOT_RUNNING,
        .callback_frame = PA_NONE,
        .ready = count_ready(graph, loop.address),
        .scheduled = PA_LOOP_UNKNOWN,
        .next_when = NAN,
        .now = NAN,
        .timeout = NAN,
    };
    facts->run_once = run_once_of(graph, &loop, &run_once);
    if (loop.thread != PA_NONE)
        read_state(graph, &loop, run_once, facts);
    else if (pa_attribute(graph, loop.address, "_closed", &closed) && is_bool(graph, closed, true))
        facts->state = PA_LOOP_CLOSED;
    read_callback(graph, facts);
    read_timers(graph, loop.address, facts);
    read_signals(graph, loop.address, facts);
    read_selector(graph, loop.address, facts);
    facts->now = read_now(graph, loop.address, facts->run_once);
    if (facts->state == PA_LOOP_SELECT)
        facts->timeout = seconds_of(graph, facts->run_once, "timeout");
}
