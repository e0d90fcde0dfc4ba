/* Merged stacks as text. See text.h. */
#include "text.h"

#include "limits.h"

/* Frames that repeat: so many levels of a recursion through as many as MAX_PERIOD functions are printed once and counted. */
#define MAX_PERIOD 32u
#define MIN_TIMES  3u

static void print_object(struct pa_printer *printer, const struct pa_native *native, uint32_t frame)
{
    struct pa_text object = pa_native_object(native, frame);
    if (object.length == 0)
        return;
    pa_out(printer->out, PA_STYLE_PLAIN, " in ");
    pa_out_target(printer->out, PA_STYLE_FILENAME, pa_arena_text(&native->text, object), object.length);
}

/* "#12 list_sort_impl() at ../Objects/listobject.c:2993 in python3.15" */
static void print_native_frame(struct pa_printer *printer, const struct pa_native *native, uint32_t frame)
{
    struct pa_output *out = printer->out;
    const struct pa_native_item *item = &native->frames.items[frame];
    const char *function = pa_arena_text(&native->text, item->function);
    pa_out_format(out, PA_STYLE_PLAIN, "#%-3u ", frame);
    if (item->function.length == 0)
        pa_out_address(out, item->pc);
    else
        pa_out_target(out, PA_STYLE_FUNCTION, function, item->function.length);
    /* The symbols of C++ have their parameters. */
    if (item->function.length > 0 && !memchr(function, '(', item->function.length))
        pa_out(out, PA_STYLE_PLAIN, "()");
    if (item->file.length > 0 && item->line > 0) {
        pa_out(out, PA_STYLE_PLAIN, " at ");
        pa_out_target(out, PA_STYLE_FILENAME, pa_arena_text(&native->text, item->file), item->file.length);
        pa_out_format(out, PA_STYLE_PLAIN, ":%d", item->line);
    }
    print_object(printer, native, frame);
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

static void begin_line(struct pa_printer *printer, uint32_t spaces)
{
    pa_out_indent(printer->out, spaces);
    pa_out(printer->out, PA_STYLE_PLAIN, "  |   ");
}

static void print_place(struct pa_printer *printer, uint32_t spaces, const struct pa_native *native, const struct pa_merged *place)
{
    if (place->thread_frame == PA_NONE) {
        begin_line(printer, spaces);
        print_native_frame(printer, native, place->native);
        return;
    }
    const struct pa_graph *graph = printer->graph;
    const struct pa_thread_frame *frame = &graph->thread_frames.items[place->thread_frame];
    uint64_t iframe = frame->object + (frame->is_gen ? PA_OFFSET(graph->layout, gen_iframe) : 0);
    pa_print_frame(printer, spaces, frame->frame, printer->request->flags & PA_REQUEST_LOCALS ? iframe : 0);
}

/* Whether two places read the same. Frames of functions that are inlined into each other share their pc, but have other names. */
static bool is_same(const struct pa_printer *printer, const struct pa_native *native, const struct pa_merged *a,
                    const struct pa_merged *b)
{
    const struct pa_thread_frame *frames = printer->graph->thread_frames.items;
    if (a->thread_frame != PA_NONE && b->thread_frame != PA_NONE)
        return frames[a->thread_frame].frame == frames[b->thread_frame].frame;
    if (a->native == PA_NONE || b->native == PA_NONE)
        return false;
    const struct pa_native_item *left = &native->frames.items[a->native], *right = &native->frames.items[b->native];
    return left->pc == right->pc && left->function.length == right->function.length &&
           memcmp(pa_arena_text(&native->text, left->function), pa_arena_text(&native->text, right->function),
                  left->function.length) == 0;
}

/* How often the @p period places from @p first on stand one after the other, before @p end. */
static uint32_t times_repeated(const struct pa_printer *printer, const struct pa_native *native, uint32_t first, uint32_t end,
                               uint32_t period)
{
    const struct pa_merged *items = native->merged.items;
    uint32_t at = first + period;
    while (at < end && is_same(printer, native, &items[at], &items[at - period]))
        at++;
    return (at - first) / period;
}

/* The shortest period of a recursion that begins at @p first; 0 if there is none. */
static uint32_t find_period(const struct pa_printer *printer, const struct pa_native *native, uint32_t first, uint32_t end,
                            uint32_t *times)
{
    for (uint32_t period = 1; period <= MAX_PERIOD && !(printer->request->flags & (PA_REQUEST_ALL | PA_REQUEST_LOCALS)); period++) {
        *times = times_repeated(printer, native, first, end, period);
        if (*times >= MIN_TIMES)
            return period;
    }
    return 0;
}

/* Functions whose names tell nothing about what the interpreter does: the ways of calling, and how it starts. */
static bool is_plumbing(const struct pa_native *native, uint32_t frame)
{
    static const char *const prefixes[] = {"_Py", "Py", "pymain_", "gen_send_ex", "cfunction_", "method_vectorcall"};
    struct pa_text function = native->frames.items[frame].function;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        if (pa_text_begins(&native->text, function, prefixes[i]))
            return true;
    }
    return function.length == 0;
}

/* How many places from @p first on are code of the interpreter: 0 where less than two, or innermost of all, where it may have been the
   interpreter that failed. */
static uint32_t find_stretch(const struct pa_printer *printer, const struct pa_native *native, uint32_t first, uint32_t end)
{
    const struct pa_merged *items = native->merged.items;
    uint32_t at = first;
    if (printer->request->flags & PA_REQUEST_ALL || first < native->first_foreign)
        return 0;
    while (at < end && items[at].native != PA_NONE && pa_native_is_interpreter(native, items[at].native))
        at++;
    return at - first < 2 ? 0 : at - first;
}

/* "#3-#14 list_sort_impl(), builtin_sorted() in python3.15" */
static void print_stretch(struct pa_printer *printer, uint32_t spaces, const struct pa_native *native, uint32_t first,
                          uint32_t count)
{
    const struct pa_merged *items = native->merged.items;
    struct pa_output *out = printer->out;
    const char *comma = "";
    begin_line(printer, spaces);
    pa_out_format(out, PA_STYLE_PLAIN, "#%u-#%u ", items[first].native, items[first + count - 1].native);
    for (uint32_t i = first; i < first + count; i++) {
        const struct pa_native_item *item = &native->frames.items[items[i].native];
        if (is_plumbing(native, items[i].native))
            continue;
        pa_out(out, PA_STYLE_PLAIN, comma);
        pa_out_target(out, PA_STYLE_FUNCTION, pa_arena_text(&native->text, item->function), item->function.length);
        pa_out(out, PA_STYLE_PLAIN, "()");
        comma = ", ";
    }
    if (*comma == '\0')
        pa_out_format(out, PA_STYLE_PLAIN, "%u frames", count);
    print_object(printer, native, items[first].native);
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

static void print_stopped(struct pa_printer *printer, uint32_t spaces, const struct pa_native *native)
{
    begin_line(printer, spaces);
    pa_out(printer->out, PA_STYLE_METADATA, "\xe2\x80\xa6 no native frames further outward: ");
    pa_out_target(printer->out, PA_STYLE_METADATA, pa_arena_text(&native->text, native->stopped), native->stopped.length);
    pa_out(printer->out, PA_STYLE_PLAIN, "\n");
}

/* Print the place @p first, or what is one line with it. @return how many places. */
static uint32_t print_line(struct pa_printer *printer, uint32_t spaces, const struct pa_native *native, uint32_t first,
                           uint32_t end)
{
    uint32_t stretch = find_stretch(printer, native, first, end);
    if (stretch)
        print_stretch(printer, spaces, native, first, stretch);
    else
        print_place(printer, spaces, native, &native->merged.items[first]);
    return stretch ? stretch : 1;
}

/* The same, for a recursion that begins there too. */
static uint32_t print_places(struct pa_printer *printer, uint32_t spaces, const struct pa_native *native, uint32_t first,
                             uint32_t end)
{
    struct pa_output *out = printer->out;
    uint32_t times, period = find_period(printer, native, first, end, &times);
    if (!period)
        return print_line(printer, spaces, native, first, end);
    for (uint32_t i = first; i < first + period;)
        i += print_line(printer, spaces, native, i, first + period);
    begin_line(printer, spaces);
    pa_out(out, PA_STYLE_METADATA, period == 1 ? "\xe2\x80\xa6 this frame " : "\xe2\x80\xa6 these frames ");
    pa_out_counted(out, times - 1, "more time\n", "more times\n");
    return period * times;
}

/* Where the native frames end and Python's may go on. */
static bool ends_native(const struct pa_native *native, const struct pa_merged *place)
{
    return native->stopped.length > 0 && place->native == native->frames.count - 1;
}

static void print_more(struct pa_printer *printer, uint32_t spaces, uint32_t count)
{
    begin_line(printer, spaces);
    pa_out_format(printer->out, PA_STYLE_METADATA, "\xe2\x80\xa6 %u more %s\n", count, count == 1 ? "frame" : "frames");
}

void pa_print_merged(struct pa_printer *printer, uint32_t spaces, const struct pa_native *native, uint32_t first, uint32_t end)
{
    uint32_t max = printer->request->frames ? printer->request->frames : PA_NONE, shown = 0;
    for (uint32_t i = first; i < end && pa_work_step(printer->graph->work); shown++) {
        if (shown == max) {
            print_more(printer, spaces, end - i);
            break;
        }
        i += print_places(printer, spaces, native, i, end);
        if (ends_native(native, &native->merged.items[i - 1]))
            print_stopped(printer, spaces, native);
    }
}

/* So many lines of a thread that runs no task are told by a report; of what lies further outward only the user's own code. */
#define REPORT_LINES 12u

static bool is_own(const struct pa_printer *printer, const struct pa_merged *place)
{
    return place->thread_frame != PA_NONE &&
           pa_frame_is_own(printer->graph, printer->graph->thread_frames.items[place->thread_frame].frame);
}

static void print_thread_stack(struct pa_printer *printer, const struct pa_native *native, uint32_t first)
{
    const struct pa_merged *items = native->merged.items;
    uint32_t at = first, end = native->merged.count;
    if (printer->request->command != PA_COMMAND_REPORT || printer->request->flags & PA_REQUEST_ALL || printer->request->frames) {
        pa_print_merged(printer, 0, native, first, end);
        return;
    }
    for (uint32_t lines = 0; lines < REPORT_LINES && at < end && pa_work_step(printer->graph->work); lines++) {
        at += print_places(printer, 0, native, at, end);
        if (ends_native(native, &items[at - 1]))
            print_stopped(printer, 0, native);
    }
    while (at < end && pa_work_step(printer->graph->work)) {
        uint32_t next = at;
        bool ends = false;
        while (next < end && !is_own(printer, &items[next]))
            ends = ends_native(native, &items[next++]) || ends;
        if (next > at)
            print_more(printer, 0, next - at);
        if (ends)
            print_stopped(printer, 0, native);
        at = next < end ? next + print_places(printer, 0, native, next, end) : end;
    }
}

/* The frames of the native stack alone, and why they are not put together with Python's. */
static void print_unmatched(struct pa_printer *printer, uint32_t spaces, const struct pa_native *native)
{
    pa_out_indent(printer->out, spaces);
    pa_out(printer->out, PA_STYLE_PLAIN, "  + Native stack:\n");
    pa_print_merged(printer, spaces, native, 0, native->frames.count);
    pa_out_indent(printer->out, spaces);
    pa_out(printer->out, PA_STYLE_PLAIN, "  : not put together with the Python frames: ");
    pa_out(printer->out, PA_STYLE_HIGHLIGHT, native->why);
    pa_out(printer->out, PA_STYLE_PLAIN, "\n");
}

/* Whether another task executes in the same thread, outside of this one. */
static bool has_outer_task(const struct pa_graph *graph, const struct pa_executing *executing)
{
    for (uint32_t i = 0; i < graph->executing.count; i++) {
        const struct pa_executing *other = &graph->executing.items[i];
        if (other->thread == executing->thread && other->first > executing->last)
            return true;
    }
    return false;
}

/* What runs the task: the event loop, mostly. A report tells only that. */
#define REPORT_RUNNERS 4u

static void print_runner(struct pa_printer *printer, uint32_t spaces, const struct pa_native *native, uint32_t first)
{
    uint32_t end = native->merged.count, at = first;
    bool some = printer->request->command == PA_COMMAND_REPORT && !(printer->request->flags & PA_REQUEST_ALL);
    for (uint32_t i = 0; some && i < REPORT_RUNNERS && at < end; i++)
        at += print_places(printer, spaces, native, at, end);
    if (!some)
        pa_print_merged(printer, spaces, native, first, end);
    else if (at < end)
        print_more(printer, spaces, end - at);
}

bool pa_print_native_stack(struct pa_printer *printer, uint32_t spaces, uint32_t node)
{
    const struct pa_graph *graph = printer->graph;
    const struct pa_executing *executing = printer->request->flags & PA_REQUEST_NATIVE ? pa_graph_executing(graph, node) : NULL;
    const struct pa_native *native =
        executing ? pa_natives_get(&printer->natives, printer->graph, graph->threads.items[executing->thread].number) : NULL;
    uint32_t first, end;
    if (!native || native->merged.count == 0)
        return false;
    if (!native->matched) {
        print_unmatched(printer, spaces, native);
        return false;
    }
    pa_native_slice(native, executing, &first, &end);
    pa_out_indent(printer->out, spaces);
    pa_out(printer->out, PA_STYLE_PLAIN, "  + Call stack:\n");
    pa_print_merged(printer, spaces, native, first, end);
    if (end < native->merged.count && !has_outer_task(graph, executing)) {
        pa_out_indent(printer->out, spaces);
        pa_out(printer->out, PA_STYLE_PLAIN, "  + Run by:\n");
        print_runner(printer, spaces, native, end);
    }
    return true;
}

/* "* Thread 3 "worker"" and all that stands on its stack. */
static void print_thread(struct pa_printer *printer, uint32_t number, const char *name)
{
    struct pa_output *out = printer->out;
    const struct pa_native *native = pa_natives_get(&printer->natives, printer->graph, number);
    pa_out_format(out, PA_STYLE_PLAIN, "* Thread %u", number);
    if (*name) {
        pa_out(out, PA_STYLE_PLAIN, " \"");
        pa_out_target(out, PA_STYLE_PLAIN, name, strlen(name));
        pa_out(out, PA_STYLE_PLAIN, "\"");
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
    if (!native || native->frames.count == 0) {
        pa_out(out, PA_STYLE_PLAIN, "  : its native stack cannot be unwound: it has no registers\n");
        return;
    }
    uint32_t first = 0;
    if (!native->matched) {
        print_unmatched(printer, 0, native);
        first = native->frames.count;
    }
    if (first < native->merged.count)
        pa_out(out, PA_STYLE_PLAIN, "  + Call stack:\n");
    print_thread_stack(printer, native, first);
}

bool pa_native_is_shown(const struct pa_printer *printer, uint32_t number)
{
    const struct pa_graph *graph = printer->graph;
    for (uint32_t i = 0; i < graph->executing.count; i++) {
        const struct pa_executing *executing = &graph->executing.items[i];
        uint32_t group = printer->view->groups.count ? printer->view->group_of[executing->node] : PA_NONE;
        if (graph->threads.items[executing->thread].number == number && group != PA_NONE &&
            printer->view->groups.items[group].selected)
            return true;
    }
    return false;
}

void pa_print_native_threads(struct pa_printer *printer)
{
    struct pa_thread_infos infos = {0};
    if (!(printer->request->flags & PA_REQUEST_NATIVE))
        return;
    pa_debugger_threads(printer->graph->work, &infos);
    for (uint32_t i = 0; i < infos.count && pa_work_step(printer->graph->work); i++) {
        if (pa_native_wanted(printer->graph, printer->request, &infos, i) && !pa_native_is_shown(printer, infos.items[i].number))
            print_thread(printer, infos.items[i].number, infos.items[i].name);
    }
    pa_array_free(printer->graph->work, &infos);
}
