/* py-async-info: what was found and how, where each field's offset comes from, what is missing and what that costs. */
#include "session.h"

#include "limits.h"

static void heading(struct pa_output *out, const char *text)
{
    pa_out(out, PA_STYLE_TITLE, text);
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

static void print_found(struct pa_session *session)
{
    struct pa_output *out = &session->out;
    const struct pa_found *found = &session->found;
    const struct pa_target *target = session->work.target;
    char version[32];
    pa_version_text(session->layout.hexversion, version);
    pa_out_format(out, PA_STYLE_PLAIN, "pyasync " PA_VERSION ", GDB %s, ",
                  target->debugger ? target->debugger : "of an unknown version");
    pa_out_format(out, PA_STYLE_PLAIN, "CPython %s%s, %s\n", version, session->layout.free_threaded ? " (free-threaded)" : "",
                  target->flags & PA_TARGET_CORE ? "core file" : "live process");
    pa_out(out, PA_STYLE_PLAIN, "_PyRuntime at ");
    pa_out_address(out, found->runtime);
    pa_out_format(out, PA_STYLE_PLAIN, ", found by %s", found->runtime_how);
    if (found->runtime_copies > 1)
        pa_out_format(out, PA_STYLE_PLAIN, "; the one with interpreters of %u copies", found->runtime_copies);
    if (found->asyncio) {
        pa_out(out, PA_STYLE_PLAIN, "\nasyncio debug offsets at ");
        pa_out_address(out, found->asyncio);
        pa_out_format(out, PA_STYLE_PLAIN, ", found by %s", found->asyncio_how);
    } else {
        pa_out(out, PA_STYLE_PLAIN, "\nno asyncio debug offsets: _asyncio is not loaded, asyncio's Python code serves alone");
    }
    if (found->asyncio_copies > 1)
        pa_out_format(out, PA_STYLE_PLAIN, "; the first of %u copies", found->asyncio_copies);
    pa_out(out, PA_STYLE_PLAIN, "\n");
    if (found->searched > 0)
        pa_out_format(out, PA_STYLE_PLAIN, "%.1f MB of memory searched\n", (double)found->searched / 1e6);
}

static void print_memory(struct pa_session *session)
{
    struct pa_output *out = &session->out;
    uint64_t mapped = 0;
    uint32_t ranges = 0;
    for (uint32_t i = 0; i < session->memory.range_count; i++) {
        const struct pa_range *range = &session->memory.ranges[i];
        if (range->flags & PA_RANGE_IN_CORE) {
            ranges++;
            mapped += range->end - range->start;
        }
    }
    if (session->memory.map)
        pa_out_format(out, PA_STYLE_PLAIN, "Memory: %.1f MB in %u ranges of the mapped core file; the rest through the debugger\n",
                      (double)mapped / 1e6, ranges);
    else if (session->memory.direct)
        pa_out_format(out, PA_STYLE_PLAIN,
                      "Memory: of process %lld itself, in blocks of %u KiB; what it does not give through the debugger\n",
                      (long long)session->work.target->process, PA_CACHE_BLOCK / 1024);
    else
        pa_out_format(out, PA_STYLE_PLAIN, "Memory: all through the debugger, in blocks of %u KiB\n", PA_CACHE_BLOCK / 1024);
    pa_out(out, PA_STYLE_PLAIN, "The library uses ");
    pa_out_count(out, session->work.bytes);
    pa_out(out, PA_STYLE_PLAIN, " bytes, at its peak ");
    pa_out_count(out, session->work.peak);
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

static void print_threads(struct pa_session *session)
{
    struct pa_output *out = &session->out;
    const struct pa_graph *graph = &session->graph;
    heading(out, "\nThreads");
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        if (thread->number)
            pa_out_format(out, PA_STYLE_PLAIN, "  thread %u, LWP %lld", thread->number, (long long)thread->lwp);
        else
            pa_out(out, PA_STYLE_PLAIN, "  no thread of the debugger");
        pa_out_format(out, PA_STYLE_PLAIN,
                      ": PyThreadState 0x%llx of interpreter %lld, pthread_self() 0x%llx, native id %llu, %u frames%s\n",
                      (unsigned long long)thread->address, (long long)graph->interpreters.items[thread->interpreter].id,
                      (unsigned long long)thread->pthread_id, (unsigned long long)thread->native_id, thread->frame_count,
                      thread->loop ? ", runs a loop" : "");
    }
    pa_out_format(out, PA_STYLE_PLAIN, "  %u of the debugger's %u threads run Python\n",
                  graph->threads.count < graph->debugger_threads ? graph->threads.count : graph->debugger_threads,
                  graph->debugger_threads);
}

static void print_greenlets(struct pa_session *session)
{
    const struct pa_graph *graph = &session->graph;
    if (!graph->greenlets_how)
        return;
    heading(&session->out, "\nGreenlets");
    pa_out_format(&session->out, PA_STYLE_PLAIN, "  %u, found by %s\n", graph->greenlets.count, graph->greenlets_how);
}

static void print_types(struct pa_session *session)
{
    struct pa_output *out = &session->out;
    struct pa_objects *objects = &session->objects;
    heading(out, "\nTypes");
    for (enum pa_kind kind = 0; kind < PA_KIND_COUNT; kind++) {
        const char *name = pa_kind_type_name(kind);
        uint64_t known = name ? pa_objects_known(objects, kind) : 0;
        if (!name || (kind == PA_KIND_GREENLET && !known))
            continue;
        pa_out_format(out, PA_STYLE_PLAIN, "  %-24s ", name);
        if (known) {
            pa_out_address(out, known);
            pa_out_format(out, PA_STYLE_PLAIN, "  %s\n", pa_evidence_name(objects->known_by[kind]));
        } else {
            pa_out(out, PA_STYLE_PLAIN, "by its name or by what it wraps, when one is met\n");
        }
    }
}

/* What DWARF says of a field; -1 if nothing. */
static int64_t ask_dwarf(struct pa_session *session, enum pa_field field)
{
    const struct pa_field_info *info = &pa_field_info[field];
    const char *type = pa_field_info[info->owner].dwarf_type;
    if (info->is_size || !type || !*type || !*info->dwarf_path || session->work.fatal != PA_OK)
        return -1;
    int64_t offset = session->work.target->member_offset(type, info->dwarf_path);
    if (offset == -2)
        session->work.fatal = PA_ABORTED;
    return offset;
}

static void print_field(struct pa_session *session, enum pa_field field, uint32_t *disagree)
{
    struct pa_output *out = &session->out;
    const struct pa_layout *layout = &session->layout;
    const struct pa_field_info *info = &pa_field_info[field];
    if (layout->source[info->owner] == PA_SOURCE_NONE && !info->required && layout->source[field] == PA_SOURCE_NONE)
        return; /* of a structure that this process has not */
    pa_out(out, PA_STYLE_PLAIN, "  ");
    pa_out_format(out, PA_STYLE_VARIABLE, "%-32s", info->name);
    if (layout->source[field] == PA_SOURCE_NONE) {
        pa_out_format(out, PA_STYLE_PLAIN, "      -  unknown     %s\n", info->why);
        return;
    }
    pa_out_format(out, PA_STYLE_PLAIN, " %6u  %-10s  %s", layout->offset[field], pa_source_name(layout->source[field]), info->why);
    if (field == PA_F_type_base && layout->source[field] == PA_SOURCE_CALIBRATED)
        pa_out_format(out, PA_STYLE_PLAIN, " (where bool has int; the constant is %u)", layout->replaced[field]);
    else if (layout->source[field] == PA_SOURCE_CALIBRATED)
        pa_out(out, PA_STYLE_PLAIN, " (where main greenlets hold their own address)");
    int64_t dwarf = ask_dwarf(session, field);
    if (dwarf >= 0 && dwarf != layout->offset[field]) {
        (*disagree)++;
        pa_out_format(out, PA_STYLE_HIGHLIGHT, "  DWARF says %lld", (long long)dwarf);
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

static void print_layout(struct pa_session *session)
{
    struct pa_output *out = &session->out;
    const struct pa_version *version = session->layout.version;
    uint32_t disagree = 0;
    heading(out, "\nFields: offset, source, what for");
    for (enum pa_field field = 0; field < PA_F_COUNT && session->work.fatal == PA_OK; field++)
        print_field(session, field, &disagree);
    pa_out_format(
        out, PA_STYLE_PLAIN,
        "Rules of %u.%u: awaited object %u words below the stack pointer; frame states created %d, suspended %d, awaiting %d, "
        "executing %d, cleared %d; tag mask %u\n",
        version->major, version->minor, version->yield_from_slot, version->frame_created, version->frame_suspended,
        version->frame_yield_from, version->frame_executing, version->frame_cleared,
        session->layout.free_threaded ? version->tag_mask_free_threaded : version->tag_mask);
    if (disagree > 0)
        pa_out_format(out, PA_STYLE_HIGHLIGHT, "%u fields differ from the debug symbols: are these of the same build?\n", disagree);
}

enum pa_status pa_info_print(struct pa_session *session, const struct pa_request *request)
{
    (void)request;
    print_found(session);
    print_memory(session);
    print_threads(session);
    print_greenlets(session);
    print_types(session);
    print_layout(session);
    pa_out_flush(&session->out);
    return session->work.fatal;
}

void pa_info_json(struct pa_session *session, struct pa_output *out)
{
    const struct pa_found *found = &session->found;
    const char *comma = "";
    pa_out_format(out, PA_STYLE_PLAIN, "\"info\": {\"runtime\": {\"address\": \"0x%llx\", \"found_by\": \"%s\", \"copies\": %u},\n",
                  (unsigned long long)found->runtime, found->runtime_how, found->runtime_copies);
    if (found->asyncio)
        pa_out_format(out, PA_STYLE_PLAIN, " \"asyncio\": {\"address\": \"0x%llx\", \"found_by\": \"%s\", \"copies\": %u},",
                      (unsigned long long)found->asyncio, found->asyncio_how, found->asyncio_copies);
    else
        pa_out(out, PA_STYLE_PLAIN, " \"asyncio\": null,");
    pa_out(out, PA_STYLE_PLAIN, " \"fields\": {");
    for (enum pa_field field = 0; field < PA_F_COUNT; field++) {
        if (session->layout.source[field] == PA_SOURCE_NONE)
            continue;
        pa_out_format(out, PA_STYLE_PLAIN, "%s\n  \"%s\": {\"offset\": %u, \"source\": \"%s\"}", comma, pa_field_info[field].name,
                      session->layout.offset[field], pa_source_name(session->layout.source[field]));
        comma = ",";
    }
    pa_out(out, PA_STYLE_PLAIN, "}},\n");
}
