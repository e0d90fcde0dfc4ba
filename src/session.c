/* Sessions: finding, walking once, and running requests. See pyasync.h and session.h. */
#include "session.h"

#include "complete.h"
#include "dot.h"
#include "json.h"
#include "limits.h"
#include "report.h"
#include "text.h"

#include <stdlib.h>
#include <time.h>

#pragma GCC visibility push(default)

uint32_t pa_abi_version(void)
{
    return PA_ABI_VERSION;
}

enum pa_status pa_session_create(const struct pa_target *target, struct pa_session **session)
{
    *session = NULL;
    if (target->abi_version != PA_ABI_VERSION)
        return PA_FAILED;
    struct pa_session *made = calloc(1, sizeof(*made));
    if (!made)
        return PA_NO_MEMORY;
    pa_work_init(&made->work, target);
    *session = made;
    return PA_OK;
}

static void forget(struct pa_session *session)
{
    if (session->progress != PA_SESSION_NEW) {
        pa_findings_free(&session->findings);
        pa_graph_deinit(&session->graph);
        pa_codes_deinit(&session->codes);
        pa_objects_deinit(&session->objects);
    }
    if (session->memory.work)
        pa_memory_deinit(&session->memory);
    session->progress = PA_SESSION_NEW;
}

void pa_session_destroy(struct pa_session *session)
{
    if (!session)
        return;
    forget(session);
    free(session);
}

/* The main interpreter is the last of the list; its sys.modules tells static types by identity. */
static uint64_t find_sys_modules(struct pa_session *session)
{
    const struct pa_layout *layout = &session->layout;
    uint64_t interpreter, next, modules = 0;
    if (!pa_memory_u64(&session->memory, session->found.runtime + PA_OFFSET(layout, runtime_interpreters_head), &interpreter))
        return 0;
    for (uint32_t i = 0; i < PA_MAX_INTERPRETERS && interpreter != 0; i++) {
        if (!pa_memory_u64(&session->memory, interpreter + PA_OFFSET(layout, interpreter_imports_modules), &modules) ||
            !pa_memory_u64(&session->memory, interpreter + PA_OFFSET(layout, interpreter_next), &next))
            return 0;
        interpreter = next;
    }
    return modules;
}

/* Where _asyncio is blocked asyncio's Python code serves alone. A sub-interpreter may have imported it and the main one not. */
static bool has_python_asyncio(struct pa_session *session)
{
    const struct pa_layout *layout = &session->layout;
    uint64_t interpreter, modules, tasks;
    if (!pa_memory_u64(&session->memory, session->found.runtime + PA_OFFSET(layout, runtime_interpreters_head), &interpreter))
        return false;
    for (uint32_t i = 0; i < PA_MAX_INTERPRETERS && interpreter != 0; i++) {
        if (pa_memory_u64(&session->memory, interpreter + PA_OFFSET(layout, interpreter_imports_modules), &modules) &&
            pa_dict_get(&session->objects, modules, "asyncio.tasks", &tasks))
            return true;
        if (!pa_memory_u64(&session->memory, interpreter + PA_OFFSET(layout, interpreter_next), &interpreter))
            return false;
    }
    return false;
}

static enum pa_status find(struct pa_session *session, bool exhaustive)
{
    enum pa_status status = pa_memory_init(&session->memory, &session->work);
    if (status == PA_OK)
        status = pa_find_runtime(&session->found, &session->memory, &session->layout, exhaustive, session->error,
                                 sizeof(session->error));
    if (status == PA_OK)
        session->asyncio_status = pa_find_asyncio(&session->found, &session->memory, &session->layout, exhaustive,
                                                  session->asyncio_error, sizeof(session->asyncio_error));
    if (status != PA_OK || session->work.fatal != PA_OK)
        return session->work.fatal != PA_OK ? session->work.fatal : status;
    if (!session->memory.core_only)
        pa_layout_read_dwarf(&session->layout, &session->work);
    pa_objects_init(&session->objects, &session->memory, &session->layout, find_sys_modules(session));
    pa_codes_init(&session->codes, &session->objects);
    pa_graph_init(&session->graph, &session->codes, session->found.runtime);
    session->progress = PA_SESSION_FOUND;
    return session->work.fatal;
}

/* In 3.15 the tables are there although asyncio was never imported: then sys.modules tells. */
bool pa_session_has_asyncio(struct pa_session *session)
{
    struct pa_graph *graph = &session->graph;
    uint64_t sys, asyncio;
    if (session->asyncio_status != PA_OK && !(session->found.no_asyncio && has_python_asyncio(session)))
        return false;
    if (graph->nodes.count > 0 || graph->loops.count > 0 || graph->problem_count > 0 || graph->interpreters.count > 1)
        return true;
    /* A sys.modules that can be read has "sys". */
    return !pa_dict_get(&session->objects, session->objects.sys_modules, "sys", &sys) ||
           pa_dict_get(&session->objects, session->objects.sys_modules, "_asyncio", &asyncio) || has_python_asyncio(session);
}

static enum pa_status check_imported(struct pa_session *session, const struct pa_request *request)
{
    char version[32];
    if (request->command == PA_COMMAND_GREENLETS || request->command == PA_COMMAND_REPORT || pa_session_has_asyncio(session) ||
        pa_asks_of_greenlets(&session->graph, request))
        return PA_OK;
    if (session->asyncio_status != PA_OK)
        return pa_fail(session->error, sizeof(session->error), "%s", session->asyncio_error);
    pa_version_text(session->layout.hexversion, version);
    return pa_fail(session->error, sizeof(session->error),
                   "this CPython %s has not loaded asyncio: there is no _asyncio in its sys.modules", version);
}

/* Which tasks it asks for that are in no list: to find them costs a look at every object. */
static enum pa_search wanted_search(const struct pa_request *request)
{
    static const char *const states[] = {"ended", "any", "done", "failed", "cancelled"};
    if (request->flags & PA_REQUEST_EXHAUSTIVE)
        return PA_SEARCH_ALL;
    for (size_t i = 0; request->state && i < sizeof(states) / sizeof(*states); i++) {
        if (strcmp(request->state, states[i]) == 0)
            return PA_SEARCH_ENDED;
    }
    return PA_SEARCH_SMALL;
}

/* Walk anew at the next use. */
static void forget_graph(struct pa_session *session)
{
    pa_findings_free(&session->findings);
    pa_graph_deinit(&session->graph);
    pa_graph_init(&session->graph, &session->codes, session->found.runtime);
    session->progress = PA_SESSION_FOUND;
}

/* The time that this thread has run, ns. */
static uint64_t thread_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static enum pa_status open_session(struct pa_session *session, const struct pa_request *request)
{
    enum pa_status status = PA_OK;
    if (session->progress == PA_SESSION_NEW)
        status = find(session, request->flags & PA_REQUEST_EXHAUSTIVE);
    enum pa_search wanted = wanted_search(request), had = session->graph.search;
    if (session->graph.searched && had == PA_SEARCH_SMALL)
        had = PA_SEARCH_ENDED;
    if (status == PA_OK && wanted > had && session->progress == PA_SESSION_WALKED)
        forget_graph(session);
    if (status == PA_OK && session->progress == PA_SESSION_FOUND)
        session->graph.search = wanted;
    if (status == PA_OK && session->progress == PA_SESSION_WALKED)
        pa_read_selection(&session->graph);
    if (status == PA_OK && session->progress == PA_SESSION_FOUND) {
        uint64_t begin = thread_time();
        status = pa_graph_build(&session->graph);
        session->walk_time = thread_time() - begin;
        if (status == PA_OK)
            session->progress = PA_SESSION_WALKED;
    }
    if (status == PA_OK)
        status = check_imported(session, request);
    return status;
}

/* After every use: what was interrupted half way is begun anew next time. */
static void end(struct pa_session *session)
{
    if (session->work.fatal != PA_OK || session->progress == PA_SESSION_NEW)
        forget(session);
    session->work.fatal = PA_OK;
}

/* The error may hold what the user typed or a name of the target. */
static void make_printable(char *text)
{
    for (char *at = text; *at; at++) {
        uint32_t c, taken = pa_utf8_decode(at, strlen(at), &c);
        if ((taken == 1 && c >= 0x80) || !pa_is_printable(c))
            memset(at, '?', taken);
        at += taken - 1;
    }
}

/* The head tells of them, and groups in one come first. */
static bool wants_findings(const struct pa_request *request)
{
    return request->format == PA_FORMAT_JSON || (request->command != PA_COMMAND_GREENLETS && !(request->flags & PA_REQUEST_COMPAT));
}

static enum pa_status run(struct pa_session *session, const struct pa_request *given)
{
    struct pa_view view;
    struct pa_request asked = *given;
    const struct pa_request *request = &asked;
    bool is_report = request->command == PA_COMMAND_REPORT;
    if (is_report) {
        asked.flags |= PA_REQUEST_NATIVE;
        asked.limit = asked.limit ? asked.limit : PA_REPORT_GROUPS;
        if (!pa_report_has_thread(&session->graph, request))
            return pa_fail(session->error, sizeof(session->error), "there is no thread %u; \"info threads\" lists them",
                           request->thread);
    }
    if (request->command == PA_COMMAND_INFO && request->format == PA_FORMAT_TEXT)
        return pa_info_print(session, request);
    if (request->command == PA_COMMAND_DESCRIBE)
        return pa_text_describe(&session->graph, request, &session->out, session->error, sizeof(session->error));
    if (request->command == PA_COMMAND_GREENLETS && !session->graph.greenlets_how)
        return pa_fail(
            session->error, sizeof(session->error),
            "this process has not loaded greenlet: there is no greenlet._greenlet in its sys.modules%s; py-async-bt shows "
            "asyncio's tasks",
            session->objects.asked_symbol[PA_KIND_GREENLET] ? ", and no symbol PyGreenlet_Type" : "");
    struct pa_greenlet_view greenlets;
    enum pa_status status = pa_greenlet_view_init(&greenlets, &session->graph, request, session->error, sizeof(session->error));
    bool greenlets_only = request->command == PA_COMMAND_GREENLETS || greenlets.awaited;
    if (status == PA_OK && greenlets.awaited && request->format == PA_FORMAT_DOT)
        status = pa_fail(session->error, sizeof(session->error), "--dot shows tasks, no greenlets");
    view = (struct pa_view){.graph = &session->graph, .request = request};
    if (status == PA_OK && wants_findings(request) && !session->findings.made) {
        uint64_t begin = thread_time();
        status = pa_findings_make(&session->findings, &session->graph);
        session->findings_time = thread_time() - begin;
    }
    if (status == PA_OK && !greenlets_only)
        status = pa_view_init(&view, &session->graph, request, session->error, sizeof(session->error));
    view.findings = &session->findings;
    if (status == PA_OK)
        status = request->format == PA_FORMAT_JSON  ? pa_json_print(session, &view, &greenlets, &session->out)
                 : request->format == PA_FORMAT_DOT ? pa_dot_print(&view, &session->out)
                 : greenlets_only                   ? pa_greenlet_text_print(&greenlets, &session->out)
                 : is_report                        ? pa_report_text_print(session, &view, &greenlets, &session->out)
                                                    : pa_text_print(&view, &session->out);
    pa_view_deinit(&view);
    pa_greenlet_view_deinit(&greenlets);
    return status;
}

/*
 * A report of a process without a Python that can be read: what the debugger knows of it, beside an empty graph. There is something to
 * show, so it is no failure; why the rest is missing is the graph's only problem.
 */
static enum pa_status report_without_python(struct pa_session *session, const struct pa_request *request)
{
    make_printable(session->error);
    memcpy(session->no_python, session->error, sizeof(session->no_python));
    session->error[0] = '\0';
    session->layout = (struct pa_layout){.hexversion = session->layout.hexversion, .free_threaded = session->layout.free_threaded};
    pa_objects_init(&session->objects, &session->memory, &session->layout, 0);
    pa_codes_init(&session->codes, &session->objects);
    pa_graph_init(&session->graph, &session->codes, session->found.other_runtime);
    session->progress = PA_SESSION_FOUND;
    pa_graph_problem(&session->graph, "CPython", session->found.other_runtime, session->no_python, PA_NONE);
    enum pa_status status = run(session, request);
    pa_out_flush(&session->out);
    forget(session);
    return status;
}

enum pa_status pa_session_run(struct pa_session *session, const struct pa_request *request)
{
    session->error[0] = '\0';
    session->work.fatal = PA_OK;
    pa_out_begin(&session->out, &session->work, request->flags & PA_REQUEST_STYLED);
    enum pa_status status = open_session(session, request);
    if (status == PA_OK)
        status = run(session, request);
    else if (status == PA_FAILED && session->progress == PA_SESSION_NEW && request->command == PA_COMMAND_REPORT)
        status = report_without_python(session, request);
    if (status == PA_OK && request->flags & PA_REQUEST_MEMORY_STATS && request->format == PA_FORMAT_TEXT)
        pa_out_format(&session->out, PA_STYLE_METADATA,
                      "library memory: %llu bytes at the peak\nlibrary time: %llu us for the walk, %llu us for findings\n",
                      (unsigned long long)session->work.peak, (unsigned long long)session->walk_time / 1000,
                      (unsigned long long)session->findings_time / 1000);
    if (status == PA_OK)
        pa_out_flush(&session->out);
    if (session->work.fatal != PA_OK)
        status = session->work.fatal;
    end(session);
    make_printable(session->error);
    return status;
}

const char *pa_session_error(const struct pa_session *session)
{
    return session->error;
}

uint64_t pa_session_complete(struct pa_session *session, const char *prefix, char *buffer, uint64_t capacity)
{
    static const struct pa_request request = {.command = PA_COMMAND_TASKS};
    uint64_t stored = 0;
    if (capacity < 2)
        return 0;
    buffer[0] = buffer[1] = '\0';
    session->work.fatal = PA_OK;
    if (open_session(session, &request) == PA_OK)
        stored = pa_complete(&session->graph, prefix, buffer, capacity);
    end(session);
    return stored;
}

enum pa_status pa_session_select(struct pa_session *session, const struct pa_request *request, uint64_t *addresses,
                                 uint64_t capacity, uint64_t *count)
{
    struct pa_request ungrouped = *request;
    struct pa_view view = {.graph = &session->graph};
    ungrouped.command = PA_COMMAND_TASKS;
    ungrouped.flags |= PA_REQUEST_STATS;
    *count = 0;
    session->error[0] = '\0';
    session->work.fatal = PA_OK;
    enum pa_status status = open_session(session, request);
    if (status == PA_OK) {
        status = pa_view_init(&view, &session->graph, &ungrouped, session->error, sizeof(session->error));
        for (uint32_t i = 0; status == PA_OK && i < view.selected.count && i < capacity; i++)
            addresses[i] = session->graph.nodes.items[view.selected.items[i]].address;
        *count = status == PA_OK ? view.selected.count : 0;
        pa_view_deinit(&view);
    }
    if (session->work.fatal != PA_OK)
        status = session->work.fatal;
    end(session);
    make_printable(session->error);
    return status;
}

const char *pa_struct_name(uint32_t structure)
{
    /* Include/object.h; Modules/_asynciomodule.c */
    static const char *const names[] = {"PyObject", "TaskObj", "FutureObj"};
    return structure < sizeof(names) / sizeof(*names) ? names[structure] : NULL;
}

void pa_session_memory(const struct pa_session *session, uint64_t *current, uint64_t *peak)
{
    *current = session->work.bytes;
    *peak = session->work.peak;
}

#pragma GCC visibility pop
