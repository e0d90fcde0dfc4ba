/* What a report is about. See report.h. */
#include "report.h"

#include "instance.h"
#include "limits.h"
#include "redact.h"

#include <signal.h>
#include <stdio.h>

static void ask_stop(struct pa_report *report)
{
    struct pa_work *work = report->graph->work;
    if (work->target->stop && work->target->stop(report->number, &report->stop) == PA_ABORTED)
        work->fatal = PA_ABORTED;
}

/* Linux, include/uapi/asm-generic/siginfo.h; signal names are the debugger's. */
enum { SEGV_NOT_MAPPED = 1, SEGV_NO_ACCESS = 2, BUS_MISALIGNED = 1, BUS_NO_MEMORY = 2, FPE_DIVISION = 1, BY_KERNEL = 0x80 };

static void explain_fault(struct pa_report *report, const char *signal)
{
    unsigned long long address = report->stop.address;
    int32_t code = report->stop.code;
    const char *text = "at address 0x%llx";
    if (strcmp(signal, "SIGSEGV") == 0)
        text = code == SEGV_NOT_MAPPED  ? "nothing is mapped at address 0x%llx"
               : code == SEGV_NO_ACCESS ? "the memory at address 0x%llx does not allow it"
                                        : text;
    else if (strcmp(signal, "SIGBUS") == 0)
        text = code == BUS_MISALIGNED  ? "address 0x%llx is not aligned"
               : code == BUS_NO_MEMORY ? "no memory is behind address 0x%llx: for one, a mapped file was cut short"
                                       : text;
    else if (strcmp(signal, "SIGFPE") == 0 && code == FPE_DIVISION)
        text = "integer division by zero at address 0x%llx";
    report->has_address = true;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(report->reason, sizeof(report->reason), text, address);
#pragma GCC diagnostic pop
}

static void explain(struct pa_report *report)
{
    const struct pa_target *target = report->graph->work->target;
    const struct pa_stop *stop = &report->stop;
    if (!target->signal || !stop->has_info)
        return;
    bool fault = strcmp(target->signal, "SIGSEGV") == 0 || strcmp(target->signal, "SIGBUS") == 0 ||
                 strcmp(target->signal, "SIGFPE") == 0 || strcmp(target->signal, "SIGILL") == 0;
    if (stop->code > 0 && stop->code < BY_KERNEL && fault) {
        explain_fault(report, target->signal);
    } else if (stop->code == BY_KERNEL && fault) {
        snprintf(report->reason, sizeof(report->reason), "the kernel tells no address: mostly one that no address can be");
    } else if (stop->code <= 0) {
        bool itself = stop->pid == target->pid && target->pid != 0;
        report->has_sender = true;
        snprintf(report->reason, sizeof(report->reason),
                 itself ? "sent by the process itself" : "sent by process %lld of user %lld", (long long)stop->pid,
                 (long long)stop->uid);
    }
}

static void ask_files(struct pa_report *report)
{
    struct pa_work *work = report->graph->work;
    int64_t count = work->target->object_files ? work->target->object_files(NULL, 0) : 0, stored = 0;
    size_t size = count > 0 && count <= PA_MAX_OBJECT_FILES ? (size_t)count * sizeof(struct pa_object_file) : 0;
    struct pa_object_file *files = size ? pa_work_resize(work, NULL, 0, size) : NULL;
    if (files)
        stored = work->target->object_files(files, (uint64_t)count);
    if (count == -2 || stored == -2)
        work->fatal = PA_ABORTED;
    report->file_count = stored > 0 ? (uint32_t)(stored < count ? stored : count) : 0;
    for (uint32_t i = 0; i < report->file_count; i++) {
        const char *const texts[] = {files[i].path, files[i].build_id, files[i].file_build_id};
        struct pa_report_file *slot =
            files[i].state == PA_OBJECT_SAME ? NULL : pa_array_push(work, &report->files, PA_MAX_OBJECT_FILES);
        struct pa_text kept[3];
        for (uint32_t k = 0; slot && k < 3; k++)
            kept[k] = texts[k] ? pa_arena_add(work, &report->text, texts[k], strnlen(texts[k], PA_MAX_STRING)) : pa_no_text;
        if (slot)
            *slot = (struct pa_report_file){kept[0], kept[1], kept[2], files[i].state};
    }
    pa_work_resize(work, files, files ? size : 0, 0);
}

/* "--token abc": the value of an option that tells what it is, but stands behind it. */
static bool is_secret_value(const char *before, uint32_t length)
{
    uint32_t dashes = 0;
    while (dashes < length && before[dashes] == '-')
        dashes++;
    return dashes > 0 && !memchr(before, '=', length) && pa_telling_name(before + dashes, length - dashes) == PA_TELLING;
}

/* @p secret: whether it is the value of the option before; then whether it is such an option itself. At most 4 * PA_MAX_ARGUMENT bytes. */
static void add_argument(struct pa_report *report, const char *text, uint32_t length, bool *secret)
{
    char safe[PA_REDACTED_BYTES(4 * PA_MAX_ARGUMENT)];
    bool show = report->request->flags & PA_REQUEST_SHOW_SECRETS, hidden = *secret && !show && length > 0 && text[0] != '-';
    *secret = is_secret_value(text, length);
    if (hidden) {
        text = "<redacted>";
        length = (uint32_t)strlen(text);
    } else if (!show) {
        length = pa_redact(text, length, safe, sizeof(safe));
        text = safe;
    }
    struct pa_text *slot = pa_array_push(report->graph->work, &report->arguments, PA_MAX_ARGUMENTS);
    if (slot)
        *slot = pa_arena_add(report->graph->work, &report->text, text, length);
}

/* sys.orig_argv is what the process was started with. */
static void read_arguments(struct pa_report *report)
{
    struct pa_objects *objects = report->graph->objects;
    bool secret = false;
    char text[4 * PA_MAX_ARGUMENT];
    uint64_t list, items, count, item, left;
    if (!pa_module_attribute(objects, "sys", "orig_argv", &list) || !pa_sequence(objects, list, &items, &count))
        return;
    for (uint64_t i = 0; i < count && i < PA_MAX_ARGUMENTS && pa_work_step(report->graph->work); i++) {
        uint32_t length;
        if (!pa_memory_u64(objects->memory, items + 8 * i, &item) ||
            !pa_str_read_some(objects, item, PA_MAX_ARGUMENT, text, &length, &left))
            continue;
        add_argument(report, text, length, &secret);
    }
}

/* Without Python the debugger tells; of a core it may know no more than the first 80 bytes. */
static void ask_arguments(struct pa_report *report)
{
    struct pa_work *work = report->graph->work;
    uint32_t cut = 0;
    bool secret = false;
    char *bytes = work->target->arguments ? pa_work_resize(work, NULL, 0, PA_MAX_ARGUMENT_BYTES) : NULL;
    int64_t size = bytes ? work->target->arguments(bytes, PA_MAX_ARGUMENT_BYTES, &cut) : -1;
    if (size == -2)
        work->fatal = PA_ABORTED;
    uint64_t end = size <= 0 ? 0 : size < PA_MAX_ARGUMENT_BYTES ? (uint64_t)size : PA_MAX_ARGUMENT_BYTES;
    report->arguments_cut = cut || size > PA_MAX_ARGUMENT_BYTES;
    for (uint64_t at = 0, length; at < end && report->arguments.count < PA_MAX_ARGUMENTS; at += length + 1) {
        length = strnlen(bytes + at, end - at);
        /* Of half an argument nobody can say whether it is a secret. */
        if (at + length == end)
            break;
        add_argument(report, bytes + at, length < 4 * PA_MAX_ARGUMENT ? (uint32_t)length : 4 * PA_MAX_ARGUMENT, &secret);
    }
    pa_work_resize(work, bytes, bytes ? PA_MAX_ARGUMENT_BYTES : 0, 0);
}

static void read_executable(struct pa_report *report)
{
    struct pa_objects *objects = report->graph->objects;
    const char *known = report->graph->work->target->executable;
    char text[4 * PA_MAX_ARGUMENT];
    uint64_t object, left;
    uint32_t length = known ? (uint32_t)strnlen(known, PA_MAX_STRING) : 0;
    if (!known && pa_module_attribute(objects, "sys", "executable", &object) &&
        pa_str_read_some(objects, object, PA_MAX_ARGUMENT, text, &length, &left))
        known = text;
    if (known)
        report->executable = pa_arena_add(report->graph->work, &report->text, known, length);
}

/* A bytes object as text, cut to @p capacity. */
static uint32_t read_bytes(struct pa_objects *objects, uint64_t address, char *text, uint32_t capacity)
{
    uint64_t length;
    if (pa_kind_of(objects, address) != PA_KIND_BYTES ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(objects->layout, bytes_length), &length))
        return 0;
    if (length > capacity)
        length = capacity;
    return pa_memory_read(objects->memory, address + PA_OFFSET(objects->layout, bytes_data), length, text) ? (uint32_t)length : 0;
}

static struct pa_text read_variable(struct pa_report *report, uint64_t value)
{
    char text[PA_MAX_ARGUMENT], safe[PA_REDACTED_BYTES(PA_MAX_ARGUMENT)];
    uint32_t length = read_bytes(report->graph->objects, value, text, sizeof(text));
    if (report->request->flags & PA_REQUEST_SHOW_SECRETS)
        return pa_arena_add(report->graph->work, &report->text, text, length);
    return pa_arena_add(report->graph->work, &report->text, safe, pa_redact(text, length, safe, sizeof(safe)));
}

/* What pytest and its xdist put into os.environ, and nothing else of it. CPython: Lib/os.py, class _Environ: _data, of bytes. */
static void read_test(struct pa_report *report)
{
    static const char current_test[] = "PYTEST_CURRENT_TEST", xdist_worker[] = "PYTEST_XDIST_WORKER";
    struct pa_objects *objects = report->graph->objects;
    struct pa_dict_iterator iterator;
    uint64_t environment, data, key, value;
    char name[32];
    if (!pa_module_attribute(objects, "os", "environ", &environment) ||
        !pa_instance_attribute(objects, environment, "_data", &data) || !pa_dict_begin(objects, data, &iterator))
        return;
    while (pa_work_step(report->graph->work) && pa_dict_next(objects, &iterator, &key, &value)) {
        uint32_t length = read_bytes(objects, key, name, sizeof(name));
        if (length == strlen(current_test) && memcmp(name, current_test, length) == 0)
            report->test = read_variable(report, value);
        else if (length == strlen(xdist_worker) && memcmp(name, xdist_worker, length) == 0)
            report->worker = read_variable(report, value);
    }
}

const struct pa_executing *pa_report_task(const struct pa_report *report)
{
    const struct pa_graph *graph = report->graph;
    const struct pa_executing *found = NULL;
    for (uint32_t i = 0; i < graph->executing.count; i++) {
        const struct pa_executing *executing = &graph->executing.items[i];
        /* The innermost one: others may execute below it. */
        if (graph->threads.items[executing->thread].number == report->number && report->number != 0 &&
            (!found || executing->first < found->first))
            found = executing;
    }
    return found;
}

bool pa_report_has_thread(struct pa_graph *graph, const struct pa_request *request)
{
    struct pa_thread_infos infos = {0};
    bool found = request->thread >= PA_THREAD_ALL;
    pa_debugger_threads(graph->work, &infos);
    for (uint32_t i = 0; i < infos.count; i++)
        found = found || infos.items[i].number == request->thread;
    pa_array_free(graph->work, &infos);
    return found;
}

void pa_report_make(struct pa_report *report, struct pa_graph *graph, const struct pa_request *request)
{
    *report = (struct pa_report){.graph = graph, .request = request};
    /* The session has noted it as the graph's only problem. */
    if (!graph->layout->version && graph->problems.count > 0)
        report->no_python = graph->problems.items[0].why;
    pa_debugger_threads(graph->work, &report->infos);
    report->number = request->thread < PA_THREAD_ALL ? request->thread : pa_stopped_thread(graph->work, &report->infos);
    ask_stop(report);
    explain(report);
    ask_files(report);
    read_executable(report);
    read_arguments(report);
    if (report->arguments.count == 0)
        ask_arguments(report);
    read_test(report);
    pa_report_group_threads(report);
    pa_report_sign(report);
}

void pa_report_free(struct pa_report *report)
{
    struct pa_work *work = report->graph->work;
    pa_natives_deinit(&report->natives, work);
    pa_array_free(work, &report->infos);
    pa_array_free(work, &report->arguments);
    pa_array_free(work, &report->files);
    pa_array_free(work, &report->groups);
    pa_array_free(work, &report->members);
    pa_arena_free(work, &report->text);
}
