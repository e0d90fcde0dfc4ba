/* The report as text: what it was and how it died, then the parts of other listings. See report.h. */
#include "report.h"

#include "limits.h"
#include "text.h"

/* Frames of another thread, files and arguments that are shown: this is one screen. */
#define THREAD_FRAMES 5u
#define SHOWN_FILES   5u
#define SHOWN_THREADS 5u
#define SHOWN_GROUPS  5u

struct writing {
    struct pa_report *report;
    struct pa_printer *printer;
    struct pa_output *out;
};

static void label(struct writing *writing, const char *name)
{
    pa_out_format(writing->out, PA_STYLE_TITLE, "%-10s", name);
    pa_out(writing->out, PA_STYLE_PLAIN, " ");
}

static void own(struct writing *writing, const char *text)
{
    pa_out(writing->out, PA_STYLE_PLAIN, text);
}

static void target_text(struct writing *writing, enum pa_style style, struct pa_text text)
{
    pa_out_target(writing->out, style, pa_arena_text(&writing->report->text, text), text.length);
}

static void print_process(struct writing *writing)
{
    const struct pa_target *target = writing->report->graph->work->target;
    char version[32];
    label(writing, "Process");
    if (writing->report->executable.length)
        target_text(writing, PA_STYLE_FILENAME, writing->report->executable);
    else
        own(writing, "unknown executable");
    if (target->pid > 0)
        pa_out_format(writing->out, PA_STYLE_PLAIN, ", pid %lld", (long long)target->pid);
    pa_version_text(writing->report->graph->layout->hexversion, version);
    if (writing->report->graph->layout->hexversion != 0)
        pa_out_format(writing->out, PA_STYLE_PLAIN, ", CPython %s", version);
    own(writing, "\n");
    if (writing->report->arguments.count == 0)
        return;
    label(writing, "Arguments");
    for (uint32_t i = 0; i < writing->report->arguments.count; i++) {
        own(writing, i > 0 ? " " : "");
        target_text(writing, PA_STYLE_PLAIN, writing->report->arguments.items[i]);
    }
    own(writing, writing->report->arguments_cut ? " \xe2\x80\xa6\n" : "\n");
}

static void print_death(struct writing *writing)
{
    const struct pa_report *report = writing->report;
    const struct pa_target *target = report->graph->work->target;
    label(writing, "Died of");
    if (target->signal)
        pa_out(writing->out, PA_STYLE_HIGHLIGHT, target->signal);
    else
        own(writing, target->flags & PA_TARGET_CORE ? "nothing: the core was made of a process that lived" : "nothing: it lives");
    if (*report->reason) {
        own(writing, ": ");
        own(writing, report->reason);
    }
    if (report->number)
        pa_out_format(writing->out, PA_STYLE_PLAIN, target->signal ? ", in thread %u" : "; thread %u is told", report->number);
    own(writing, "\n");
}

static void print_core(struct writing *writing)
{
    const struct pa_stop *stop = &writing->report->stop;
    const char *name = writing->report->graph->work->target->core_name;
    if (!name)
        return;
    label(writing, "Core");
    pa_out_target(writing->out, PA_STYLE_FILENAME, name, strlen(name));
    own(writing, ", ");
    if (stop->core_size == 0) {
        own(writing, "of unknown size\n");
        return;
    }
    pa_out_counted(writing->out, stop->core_size, "byte", "bytes");
    if (stop->core_size < stop->core_whole) {
        pa_out(writing->out, PA_STYLE_HIGHLIGHT, ": TRUNCATED");
        own(writing, ", ");
        pa_out_counted(writing->out, stop->core_whole - stop->core_size, "byte is missing\n", "bytes are missing\n");
    } else {
        own(writing, ", complete\n");
    }
}

static void print_file(struct writing *writing, const struct pa_report_file *file)
{
    pa_out(writing->out, PA_STYLE_HIGHLIGHT, file->state == PA_OBJECT_MISSING ? "! missing: " : "! another build: ");
    target_text(writing, PA_STYLE_FILENAME, file->path);
    if (file->build_id.length) {
        own(writing, file->state == PA_OBJECT_MISSING ? ", build-id " : " is ");
        target_text(writing, PA_STYLE_PLAIN, file->file_build_id.length ? file->file_build_id : file->build_id);
    }
    if (file->state == PA_OBJECT_DIFFERS) {
        own(writing, " here, was ");
        target_text(writing, PA_STYLE_PLAIN, file->build_id);
    }
    own(writing, "\n");
}

static void print_files(struct writing *writing)
{
    const struct pa_report *report = writing->report;
    if (report->file_count == 0)
        return;
    label(writing, "Files");
    pa_out_counted(writing->out, report->file_count, "mapped", "mapped");
    if (report->files.count == 0) {
        own(writing, ", all here\n");
        return;
    }
    own(writing, ", ");
    pa_out_counted(writing->out, report->files.count, "is not here as the process had it\n",
                   "are not here as the process had them\n");
    for (uint32_t i = 0; i < report->files.count && i < SHOWN_FILES; i++)
        print_file(writing, &report->files.items[i]);
    if (report->files.count > SHOWN_FILES)
        pa_out_format(writing->out, PA_STYLE_METADATA, "\xe2\x80\xa6 %u more; --json lists them\n",
                      report->files.count - SHOWN_FILES);
}

static void print_test(struct writing *writing)
{
    const struct pa_report *report = writing->report;
    if (report->test.length == 0 && report->worker.length == 0)
        return;
    label(writing, "Test");
    target_text(writing, PA_STYLE_FUNCTION, report->test);
    if (report->worker.length) {
        own(writing, report->test.length ? ", worker " : "worker ");
        target_text(writing, PA_STYLE_PLAIN, report->worker);
    }
    own(writing, "\n");
}

/* "* 2 threads: 2 "asyncio_0", 3 "asyncio_1"" */
static void print_threads_title(struct writing *writing, const struct pa_report_group *group)
{
    const struct pa_report *report = writing->report;
    own(writing, "* ");
    if (group->count == 1)
        own(writing, "Thread ");
    else
        pa_out_counted(writing->out, group->count, "thread: ", "threads: ");
    for (uint32_t i = 0; i < group->count && i < SHOWN_THREADS; i++) {
        const struct pa_thread_info *info = &report->infos.items[report->members.items[group->first + i]];
        pa_out_format(writing->out, PA_STYLE_PLAIN, "%s%u", i > 0 ? ", " : "", info->number);
        if (!*info->name)
            continue;
        own(writing, " \"");
        pa_out_target(writing->out, PA_STYLE_PLAIN, info->name, strlen(info->name));
        own(writing, "\"");
    }
    own(writing, group->count > SHOWN_THREADS ? ", \xe2\x80\xa6\n" : "\n");
}

/* The innermost frames, and the first of the user's own code. */
static void print_python_stack(struct writing *writing, uint32_t stack)
{
    struct pa_printer *printer = writing->printer;
    pa_stack_frames(writing->report->graph, stack, &printer->frames);
    uint32_t count = printer->frames.count, max = printer->request->frames ? printer->request->frames : THREAD_FRAMES;
    uint32_t end = count < max ? count : max;
    bool have_own = false;
    for (uint32_t i = 0; i < count; i++) {
        bool is_own = pa_frame_is_own(writing->report->graph, printer->frames.items[i]);
        if (i >= end && (have_own || !is_own))
            continue;
        if (i > end)
            pa_out_format(writing->out, PA_STYLE_METADATA, "  |   \xe2\x80\xa6 %u more\n", i - end);
        have_own = have_own || is_own;
        pa_print_frame(printer, 0, printer->frames.items[i], 0);
        end = i >= end ? i + 1 : end;
    }
    if (end < count)
        pa_out_format(writing->out, PA_STYLE_METADATA, "  |   \xe2\x80\xa6 %u more\n", count - end);
}

static void print_other_threads(struct writing *writing)
{
    struct pa_report *report = writing->report;
    bool all = report->request->flags & PA_REQUEST_ALL;
    if (report->groups.count == 0)
        return;
    pa_out(writing->out, PA_STYLE_TITLE, "\nOther threads\n");
    for (uint32_t i = 0; i < report->groups.count && (all || i < SHOWN_GROUPS); i++) {
        const struct pa_report_group *group = &report->groups.items[i];
        uint32_t number = report->infos.items[report->members.items[group->first]].number;
        print_threads_title(writing, group);
        const struct pa_native *native = NULL;
        if (group->stack == 0)
            native = pa_natives_get(&writing->printer->natives, report->graph, number);
        if (group->count == 1 && pa_native_is_shown(writing->printer, number)) {
            own(writing, "  : runs a task, shown above\n");
            continue;
        }
        if (group->stack != 0 || (native && native->merged.count > 0))
            own(writing, "  + Call stack:\n");
        if (group->stack != 0)
            print_python_stack(writing, group->stack);
        else if (native)
            pa_print_merged(writing->printer, 0, native, 0,
                            native->merged.count < THREAD_FRAMES || all ? native->merged.count : THREAD_FRAMES);
    }
    if (report->groups.count > SHOWN_GROUPS && !all)
        pa_out_format(writing->out, PA_STYLE_METADATA, "\xe2\x80\xa6 %u more; --all shows them\n",
                      report->groups.count - SHOWN_GROUPS);
}

static void print_signature(struct writing *writing)
{
    const char *why = writing->report->no_python;
    label(writing, "Signature");
    own(writing, writing->report->signature);
    own(writing, why ? ", of native code only\n" : "\n");
    if (why) {
        label(writing, "No Python");
        own(writing, why);
        own(writing, "\n");
    }
    own(writing, "\n");
}

enum pa_status pa_report_text_print(struct pa_session *session, struct pa_view *view, struct pa_greenlet_view *greenlets,
                                    struct pa_output *out)
{
    struct pa_graph *graph = view->graph;
    struct pa_report report;
    struct pa_printer *printer = pa_printer_new(graph, view->request, out);
    if (!printer)
        return graph->work->fatal;
    struct writing writing = {&report, printer, out};
    printer->view = view;
    pa_report_make(&report, graph, view->request);
    /* What was unwound is not unwound again. */
    printer->natives = report.natives;
    report.natives = (struct pa_natives){0};

    print_process(&writing);
    print_death(&writing);
    print_core(&writing);
    print_files(&writing);
    print_test(&writing);
    print_signature(&writing);
    if (!report.no_python && pa_session_has_asyncio(session))
        pa_print_head(printer);
    else if (!report.no_python)
        own(&writing, "asyncio was not loaded\n");
    pa_print_native_threads(printer);
    pa_print_trees(printer);
    print_other_threads(&writing);
    if (greenlets->groups.count > 1) {
        pa_out(out, PA_STYLE_TITLE, "\nGreenlets\n");
        pa_greenlet_groups_print(greenlets, printer);
    }
    own(&writing, "\n");
    if (report.no_python)
        pa_out(out, PA_STYLE_HIGHLIGHT, "INCOMPLETE: native code only; no Python could be read.\n");
    else
        pa_print_end(printer);
    pa_report_free(&report);
    pa_printer_free(printer);
    return graph->work->fatal;
}
