/* The report in the JSON document. See report.h. */
#include "json_parts.h"
#include "report.h"

/* null also for an empty one */
static void string_if_any(struct pa_output *out, const char *text)
{
    string(out, text && *text ? text : NULL);
}

static void integer_if(struct pa_output *out, bool known, int64_t value)
{
    if (known)
        number(out, "%lld", (long long)value);
    else
        raw(out, "null");
}

static void write_death(struct pa_output *out, const struct pa_report *report)
{
    const struct pa_stop *stop = &report->stop;
    raw(out, ",\n \"death\": {\"signal\": ");
    string_if_any(out, report->graph->work->target->signal);
    raw(out, ", \"code\": ");
    integer_if(out, stop->has_info && report->graph->work->target->signal, stop->code);
    raw(out, ", \"reason\": ");
    string_if_any(out, report->reason);
    raw(out, ", \"address\": ");
    if (report->has_address)
        number(out, "\"0x%llx\"", (unsigned long long)stop->address);
    else
        raw(out, "null");
    raw(out, ", \"sender\": ");
    if (report->has_sender)
        number(out, "{\"pid\": %lld, \"uid\": %lld}}", (long long)stop->pid, (long long)stop->uid);
    else
        raw(out, "null}");
    raw(out, ",\n \"core\": ");
    if (stop->core_size)
        number(out, "{\"size\": %llu, \"whole\": %llu, \"truncated\": %s}", (unsigned long long)stop->core_size,
               (unsigned long long)stop->core_whole, stop->core_size < stop->core_whole ? "true" : "false");
    else
        raw(out, "null");
}

static void write_files(struct pa_output *out, const struct pa_report *report)
{
    number(out, ",\n \"files\": {\"total\": %u, \"not_as_mapped\": [", report->file_count);
    for (uint32_t i = 0; i < report->files.count; i++) {
        const struct pa_report_file *file = &report->files.items[i];
        raw(out, i > 0 ? ", {\"path\": " : "{\"path\": ");
        arena_text_or_null(out, &report->text, file->path);
        number(out, ", \"state\": \"%s\", \"build_id\": ", file->state == PA_OBJECT_MISSING ? "missing" : "differs");
        arena_text_or_null(out, &report->text, file->build_id);
        raw(out, ", \"file_build_id\": ");
        arena_text_or_null(out, &report->text, file->file_build_id);
        raw(out, "}");
    }
    raw(out, "]}");
}

static void write_groups(struct pa_output *out, const struct pa_report *report, pa_stack_number *stack_number, void *context)
{
    raw(out, ",\n \"other_threads\": [");
    for (uint32_t i = 0; i < report->groups.count; i++) {
        const struct pa_report_group *group = &report->groups.items[i];
        raw(out, i > 0 ? ", {\"threads\": [" : "{\"threads\": [");
        for (uint32_t k = 0; k < group->count; k++)
            number(out, "%s%u", k > 0 ? ", " : "", report->infos.items[report->members.items[group->first + k]].number);
        number(out, "], \"stack\": %u}", stack_number(context, group->stack));
    }
    raw(out, "]");
}

void pa_report_json(struct pa_report *report, struct pa_output *out, pa_stack_number *stack_number, void *context)
{
    const struct pa_executing *task = pa_report_task(report);
    number(out, "\"report\": {\"signature\": \"%s\", \"thread\": ", report->signature);
    integer_if(out, report->number != 0, report->number);
    raw(out, ", \"task\": ");
    if (task)
        number(out, "\"0x%llx\"", (unsigned long long)report->graph->nodes.items[task->node].address);
    else
        raw(out, "null");
    raw(out, ",\n \"arguments\": [");
    for (uint32_t i = 0; i < report->arguments.count; i++) {
        struct pa_text argument = report->arguments.items[i];
        raw(out, i > 0 ? ", " : "");
        pa_out_json(out, pa_arena_text(&report->text, argument), argument.length);
    }
    number(out, "], \"arguments_complete\": %s, \"no_python\": ", report->arguments_cut ? "false" : "true");
    string_if_any(out, report->no_python);
    write_death(out, report);
    write_files(out, report);
    raw(out, ",\n \"test\": ");
    arena_text_or_null(out, &report->text, report->test);
    raw(out, ", \"worker\": ");
    arena_text_or_null(out, &report->text, report->worker);
    write_groups(out, report, stack_number, context);
    raw(out, "},\n");
}
