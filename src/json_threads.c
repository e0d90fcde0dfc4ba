/* Loops and threads in the JSON document. See json_writer.h; what there is about one is in json_loops.c. */
#include "json_writer.h"

#include "holder.h"

void pa_json_loops(struct pa_json_writer *writer)
{
    raw(writer->out, "\"loops\": [");
    for (uint32_t i = 0; i < writer->graph->loops.count && pa_work_step(writer->graph->work); i++) {
        raw(writer->out, i > 0 ? ",\n " : "\n ");
        pa_json_loop(writer->out, writer->graph, i);
    }
    raw(writer->out, "],\n");
}

void pa_json_thread_number(struct pa_json_writer *writer, uint32_t thread)
{
    uint32_t num = thread == PA_NONE ? 0 : writer->graph->threads.items[thread].number;
    if (num)
        number(writer->out, "%u", num);
    else
        raw(writer->out, "null");
}

/* A thread that is blocked in a threading lock, with or without a task. */
static void write_thread_waits_on(struct pa_json_writer *writer, uint32_t thread)
{
    bool is_condition;
    struct pa_waits_on waits_on = {.waiters = PA_WAIT_UNKNOWN};
    waits_on.object = pa_thread_awaited_lock(writer->graph, thread, &is_condition);
    waits_on.kind = is_condition ? PA_WAITS_CONDITION : PA_WAITS_LOCK;
    if (waits_on.object != 0)
        pa_json_waits_on(writer->out, writer->graph, &waits_on);
    else
        raw(writer->out, ", \"waits_on\": null");
}

void pa_json_threads(struct pa_json_writer *writer)
{
    struct pa_graph *graph = writer->graph;
    raw(writer->out, "\"threads\": [");
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        const struct pa_thread *thread = &graph->threads.items[i];
        uint32_t task = thread->task ? pa_graph_find(graph, thread->task) : PA_NONE;
        raw(writer->out, i > 0 ? ",\n {\"num\": " : "\n {\"num\": ");
        pa_json_thread_number(writer, i);
        raw(writer->out, ", \"lwp\": ");
        if (thread->number && thread->lwp > 0)
            number(writer->out, "%lld", (long long)thread->lwp);
        else
            raw(writer->out, "null");
        number(writer->out, ", \"native_id\": %llu, \"interpreter\": %lld, \"name\": ", (unsigned long long)thread->native_id,
               (long long)graph->interpreters.items[thread->interpreter].id);
        string(writer->out, thread->name);
        raw(writer->out, ", \"loop\": ");
        address(writer->out, thread->loop);
        raw(writer->out, ", \"task\": ");
        address(writer->out, task == PA_NONE ? 0 : thread->task);
        pa_json_refer(writer, task);
        raw(writer->out, ", \"greenlet\": ");
        address(writer->out, thread->greenlet == PA_NONE ? 0 : graph->greenlets.items[thread->greenlet].address);
        write_thread_waits_on(writer, i);
        pa_json_blocked(writer->out, graph, i);
        number(writer->out, ", \"stack\": %u}", pa_json_stack_number(writer, thread->stack));
    }
    raw(writer->out, "],\n");
}
