/* Greenlets as text: the answer to py-greenlets. See greenlet_view.h. */
#include "greenlet_text.h"

#include "limits.h"
#include "redact.h"

void pa_greenlet_indent(struct pa_greenlet_listing *listing)
{
    for (uint32_t i = 0; i < listing->level; i++)
        pa_out(listing->out, PA_STYLE_PLAIN, "    ");
}

static void print_type(struct pa_greenlet_listing *listing, const struct pa_greenlet *greenlet)
{
    const struct pa_objects *objects = listing->graph->objects;
    struct pa_text name = objects->types.items[greenlet->type].name;
    if (name.length)
        pa_out_target(listing->out, PA_STYLE_PLAIN, pa_arena_text(&objects->text, name), name.length);
    else
        pa_out(listing->out, PA_STYLE_PLAIN, "greenlet");
}

/* "greenlet.greenlet(id=0x7f…)" */
void pa_greenlet_print_name(struct pa_greenlet_listing *listing, const struct pa_greenlet *greenlet)
{
    print_type(listing, greenlet);
    pa_out(listing->out, PA_STYLE_PLAIN, "(");
    struct pa_printer *printer = listing->printer;
    uint32_t length;
    if (pa_gevent_name(listing->graph, greenlet, printer->name, &length)) {
        bool show = printer->request->flags & PA_REQUEST_SHOW_SECRETS;
        length = show ? length : pa_redact(printer->name, length, printer->safe, sizeof(printer->safe));
        pa_out(listing->out, PA_STYLE_PLAIN, "name=");
        pa_out_repr(listing->out, PA_STYLE_VARIABLE, show ? printer->name : printer->safe, length);
        pa_out(listing->out, PA_STYLE_PLAIN, ", ");
    }
    pa_out(listing->out, PA_STYLE_PLAIN, "id=");
    pa_out_address(listing->out, greenlet->address);
    pa_out(listing->out, PA_STYLE_PLAIN, ")");
}

static void begin_note(struct pa_greenlet_listing *listing)
{
    pa_greenlet_indent(listing);
    pa_out(listing->out, PA_STYLE_PLAIN, "  : ");
}

/* "suspended in thread 1, main greenlet", "dead", … */
static void print_state(struct pa_greenlet_listing *listing, const struct pa_greenlet *greenlet, bool single)
{
    struct pa_output *out = listing->out;
    begin_note(listing);
    if (greenlet->state == PA_GREENLET_THREAD_EXITED)
        pa_out(out, PA_STYLE_PLAIN,
               greenlet->is_noticed ? "dead, its thread has exited" : "suspended for ever, its thread has exited");
    else if (greenlet->state == PA_GREENLET_PENDING)
        pa_out(out, PA_STYLE_PLAIN, "pending, not started");
    else
        pa_out(out, PA_STYLE_PLAIN, pa_greenlet_state_name(greenlet->state));
    if (greenlet->thread != PA_NONE) {
        pa_out(out, PA_STYLE_PLAIN, " in ");
        pa_print_thread(listing->printer, greenlet->thread);
    }
    if (greenlet->is_main)
        pa_out(out, PA_STYLE_PLAIN, ", main greenlet");
    if (pa_gevent_is_hub(listing->graph, greenlet))
        pa_out(out, PA_STYLE_PLAIN, ", gevent's Hub");
    if (single && greenlet->parent != 0) {
        pa_out(out, PA_STYLE_PLAIN, ", parent ");
        pa_out_address(out, greenlet->parent);
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

/* "waits on Event 0x…", "joins Greenlet 0x…, Greenlet 0x…" */
static void print_waits(struct pa_greenlet_listing *listing, const struct pa_greenlet *greenlet, bool single)
{
    struct pa_output *out = listing->out;
    const struct pa_objects *objects = listing->graph->objects;
    uint32_t count;
    const struct pa_gevent_wait *waits = pa_gevent_waits(&listing->view->gevent, greenlet->address, &count);
    for (uint32_t i = 0; i < count && i < PA_GROUP_NAMES; i++) {
        struct pa_text name = objects->types.items[waits[i].type].name;
        const char *text = pa_arena_text(&objects->text, name), *dot = memrchr(text, '.', name.length);
        uint32_t skip = dot ? (uint32_t)(dot - text) + 1 : 0;
        bool joins = strcmp(pa_gevent_kind(&listing->view->gevent, &waits[i]), "greenlet") == 0;
        if (i == 0)
            begin_note(listing);
        pa_out(out, PA_STYLE_PLAIN, i > 0 ? ", " : joins ? "joins " : "waits on ");
        pa_out_target(out, PA_STYLE_PLAIN, text + skip, name.length - skip);
        if (single) {
            pa_out(out, PA_STYLE_PLAIN, " ");
            pa_out_address(out, waits[i].object);
        }
    }
    if (count > PA_GROUP_NAMES)
        pa_out_format(out, PA_STYLE_METADATA, ", \xe2\x80\xa6 %u more", count - PA_GROUP_NAMES);
    if (count > 0)
        pa_out(out, PA_STYLE_PLAIN, "\n");
}

static void print_spawned(struct pa_greenlet_listing *listing, const struct pa_greenlet *greenlet)
{
    struct pa_graph *graph = listing->graph;
    struct pa_output *out = listing->out;
    struct pa_gevent_place place;
    if (!pa_gevent_spawned(graph, greenlet, &place))
        return;
    const struct pa_code *code = &graph->codes->codes.items[place.code];
    begin_note(listing);
    pa_out(out, PA_STYLE_PLAIN, "spawned at File ");
    pa_out_repr(out, PA_STYLE_FILENAME, pa_arena_text(&graph->objects->text, code->filename), code->filename.length);
    pa_out_format(out, PA_STYLE_PLAIN, ", line %d, in ", place.line);
    pa_out_target(out, PA_STYLE_FUNCTION, pa_arena_text(&graph->objects->text, code->qualname), code->qualname.length);
    pa_out(out, PA_STYLE_PLAIN, "()");
    if (place.spawner != 0) {
        pa_out(out, PA_STYLE_PLAIN, ", by greenlet ");
        pa_out_address(out, place.spawner);
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

/* gevent's have their function elsewhere: those of a group may differ in it. */
static void print_run(struct pa_greenlet_listing *listing, const struct pa_greenlet *greenlet, bool single)
{
    struct pa_output *out = listing->out;
    struct pa_callable callable;
    if (greenlet->state != PA_GREENLET_PENDING || greenlet->run == 0 ||
        (!single && pa_kind_of(listing->graph->objects, greenlet->run) == PA_KIND_NONE_TYPE))
        return;
    pa_greenlet_run(listing->graph, greenlet, &callable);
    const struct pa_arena *text = &listing->graph->objects->text;
    begin_note(listing);
    pa_out(out, PA_STYLE_PLAIN, "will call ");
    if (callable.line == 0) {
        pa_out(out, PA_STYLE_PLAIN, "a ");
        pa_out_target(out, PA_STYLE_FUNCTION, pa_arena_text(text, callable.name), callable.name.length);
        pa_out(out, PA_STYLE_PLAIN, " object at ");
        pa_out_address(out, greenlet->run);
    } else {
        pa_out_target(out, PA_STYLE_FUNCTION, pa_arena_text(text, callable.name), callable.name.length);
        pa_out(out, PA_STYLE_PLAIN, "(), File ");
        pa_out_repr(out, PA_STYLE_FILENAME, pa_arena_text(text, callable.file), callable.file.length);
        pa_out_format(out, PA_STYLE_PLAIN, ", line %d", callable.line);
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

/* --instrumentation: below a frame whether its code is as it should be. Frames of a thread are always brought up to date. */
static void print_frame_verdict(struct pa_greenlet_listing *listing, uint32_t id, const struct pa_thread_frame *frame)
{
    char text[PA_VERDICT_BYTES];
    struct pa_graph *graph = listing->graph;
    if (!(listing->view->request->flags & PA_REQUEST_INSTRUMENTATION) || graph->greenlets.items[id].state == PA_GREENLET_RUNNING)
        return;
    struct pa_code_verdict verdict = pa_frame_verdict(graph, &listing->view->instrumentation, frame);
    uint8_t flags = verdict.flags;
    do {
        uint8_t flag = pa_verdict_next(&flags);
        uint32_t length = pa_verdict_text(graph, &listing->view->instrumentation, verdict, flag, text);
        pa_greenlet_indent(listing);
        pa_out(listing->out, PA_STYLE_PLAIN, "  |     : instrumentation ");
        pa_out_target(listing->out, flag & PA_CODE_AT_RISK ? PA_STYLE_HIGHLIGHT : PA_STYLE_PLAIN, text, length);
        pa_out(listing->out, PA_STYLE_PLAIN, "\n");
    } while (flags != 0);
}

/* Without --instrumentation: that there is something to see with it. */
static void print_greenlet_verdict(struct pa_greenlet_listing *listing, uint32_t id)
{
    if (listing->view->request->flags & PA_REQUEST_INSTRUMENTATION)
        return;
    uint8_t flags = pa_greenlet_verdict(listing->graph, &listing->view->instrumentation, id);
    if (!(flags & PA_CODE_AT_RISK))
        return;
    begin_note(listing);
    pa_out(listing->out, PA_STYLE_HIGHLIGHT, "stale instrumentation");
    pa_out(listing->out, PA_STYLE_PLAIN,
           flags & PA_CODE_CRASHES  ? ", will crash on an exception; --instrumentation shows where\n"
           : flags & PA_CODE_MISSES ? ", misses events; --instrumentation shows where\n"
                                    : ", extra events; --instrumentation shows where\n");
}

static void print_more_frames(struct pa_greenlet_listing *listing, uint32_t count)
{
    pa_greenlet_indent(listing);
    pa_out(listing->out, PA_STYLE_PLAIN, "  |   ");
    pa_out_format(listing->out, PA_STYLE_METADATA, "\xe2\x80\xa6 %u more %s", count, count == 1 ? "frame" : "frames");
    pa_out(listing->out, PA_STYLE_PLAIN, "\n");
}

/* The address of an interpreter frame if its variables are to be shown. */
static uint64_t iframe_of(const struct pa_greenlet_listing *listing, const struct pa_thread_frame *frame)
{
    if (!(listing->view->request->flags & PA_REQUEST_LOCALS))
        return 0;
    return frame->is_gen ? frame->object + PA_OFFSET(listing->graph->layout, gen_iframe) : frame->object;
}

/* The frames, innermost first, with a line where C code stands between two of them. */
static void print_stack(struct pa_greenlet_listing *listing, uint32_t id)
{
    struct pa_output *out = listing->out;
    const struct pa_greenlet *greenlet = &listing->graph->greenlets.items[id];
    uint32_t count, limit = listing->view->request->frames ? listing->view->request->frames : PA_NONE;
    const struct pa_thread_frame *frames = pa_greenlet_frames(listing->graph, id, &count);
    if (count == 0) {
        if (greenlet->state == PA_GREENLET_SUSPENDED) {
            begin_note(listing);
            pa_out(out, PA_STYLE_PLAIN, "no Python frames: it is in C code only\n");
        }
        return;
    }
    pa_greenlet_indent(listing);
    pa_out(out, PA_STYLE_PLAIN, "  + Call stack:\n");
    for (uint32_t i = 0; i < count && i < limit && pa_work_step(listing->graph->work); i++) {
        pa_print_frame(listing->printer, 4 * listing->level, frames[i].frame, iframe_of(listing, &frames[i]));
        print_frame_verdict(listing, id, &frames[i]);
        if (frames[i].from_c && i + 1 < count) {
            pa_greenlet_indent(listing);
            pa_out(out, PA_STYLE_PLAIN, "  |   [C]\n");
        }
    }
    if (count > limit)
        print_more_frames(listing, count - limit);
}

void pa_greenlet_print_facts(struct pa_greenlet_listing *listing, uint32_t id, bool single)
{
    const struct pa_greenlet *greenlet = &listing->graph->greenlets.items[id];
    print_state(listing, greenlet, single);
    print_waits(listing, greenlet, single);
    print_run(listing, greenlet, single);
    if (single)
        print_spawned(listing, greenlet);
    print_stack(listing, id);
    print_greenlet_verdict(listing, id);
}

static void print_group(struct pa_greenlet_listing *listing, const struct pa_greenlet_group *group)
{
    struct pa_graph *graph = listing->graph;
    struct pa_output *out = listing->out;
    const uint32_t *members = listing->view->order + group->first;
    const struct pa_greenlet *greenlet = &graph->greenlets.items[members[0]];
    pa_out(out, PA_STYLE_PLAIN, "* ");
    if (group->count == 1) {
        pa_greenlet_print_name(listing, greenlet);
    } else {
        pa_out_count(out, group->count);
        pa_out(out, PA_STYLE_PLAIN, " ");
        print_type(listing, greenlet);
        uint32_t frame = pa_stack_telling_frame(graph, greenlet->stack);
        pa_out(out, PA_STYLE_PLAIN, frame == PA_NONE ? "" : " ");
        pa_print_place(listing->printer, frame);
        for (uint32_t i = 0; i < group->count && i < PA_GROUP_NAMES; i++) {
            pa_out(out, PA_STYLE_PLAIN, i == 0 ? ": " : ", ");
            pa_out_address(out, graph->greenlets.items[members[i]].address);
        }
        if (group->count > PA_GROUP_NAMES)
            pa_out(out, PA_STYLE_METADATA, ", \xe2\x80\xa6");
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
    pa_greenlet_print_facts(listing, members[0], group->count == 1);
}

static void print_groups(struct pa_greenlet_listing *listing)
{
    const struct pa_greenlet_view *view = listing->view;
    const struct pa_request *request = view->request;
    uint32_t limit = request->limit ? request->limit : PA_DEFAULT_GROUPS;
    if (request->flags & PA_REQUEST_ALL || request->operand_count > 0)
        limit = PA_NONE;
    for (uint32_t i = 0; i < view->groups.count && i < limit && pa_work_step(listing->graph->work); i++)
        print_group(listing, &view->groups.items[i]);
    if (view->groups.count <= limit)
        return;
    pa_out(listing->out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
    pa_out_counted(listing->out, view->groups.count - limit, "more group", "more groups");
    pa_out(listing->out, PA_STYLE_PLAIN, "; --all shows them, --limit N more of them\n");
}

/* --instrumentation: what comes right by itself, and what to do about the rest. */
static void print_instrumentation_end(struct pa_greenlet_listing *listing)
{
    struct pa_output *out = listing->out;
    struct pa_graph *graph = listing->graph;
    struct pa_refreshed_list list = {0};
    struct pa_instrumentation_findings findings;
    pa_find_refreshed(graph, &listing->view->instrumentation, &list);
    for (uint32_t i = 0; i < list.count && pa_work_step(graph->work); i++) {
        pa_out_counted(out, list.items[i].count, "suspended generator or coroutine ", "suspended generators or coroutines ");
        pa_print_place(listing->printer, list.items[i].frame);
        pa_out(out, PA_STYLE_PLAIN, ": instrumentation stale, refreshes on resume\n");
    }
    pa_array_free(graph->work, &list);
    pa_instrumentation_find(graph, &listing->view->instrumentation, &findings);
    if (findings.crashes + findings.misses + findings.extra > 0)
        pa_out(out, PA_STYLE_PLAIN,
               "What helps: call the function again; or change, and change back, the events of its code object with "
               "sys.monitoring.set_local_events(); or turn tools on before greenlets start.\n");
}

void pa_greenlet_groups_print(struct pa_greenlet_view *view, struct pa_printer *printer)
{
    struct pa_greenlet_listing listing = {printer, view->graph, printer->out, view, 0};
    print_groups(&listing);
}

enum pa_status pa_greenlet_text_print(struct pa_greenlet_view *view, struct pa_output *out)
{
    struct pa_work *work = view->graph->work;
    struct pa_printer *printer = pa_printer_new(view->graph, view->request, out);
    if (!printer)
        return work->fatal;
    struct pa_greenlet_listing listing = {printer, view->graph, out, view, 0};
    if (!(view->request->flags & PA_REQUEST_NO_HEAD) && view->request->operand_count == 0)
        pa_greenlet_print_head(&listing);
    if (view->awaited)
        pa_greenlet_print_trees(&listing);
    else
        print_groups(&listing);
    if (view->request->flags & PA_REQUEST_INSTRUMENTATION)
        print_instrumentation_end(&listing);
    if (pa_greenlets_searched(view->graph)) {
        pa_out(out, PA_STYLE_METADATA, "Found by ");
        pa_out(out, PA_STYLE_METADATA, pa_greenlets_searched(view->graph));
        pa_out(out, PA_STYLE_PLAIN, "\n");
    }
    pa_print_end(printer);
    pa_printer_free(printer);
    return work->fatal;
}
