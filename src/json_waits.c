/* What a task waits for, in the JSON document. See json_values.h. */
#include "json_values.h"

#include "number.h"

/* Formats are slow for what is written of every task: addresses and times are not. */
static void write_address(struct pa_output *out, const char *name, uint64_t address)
{
    pa_out(out, PA_STYLE_PLAIN, name);
    if (address == 0) {
        pa_out(out, PA_STYLE_PLAIN, "null");
        return;
    }
    pa_out(out, PA_STYLE_PLAIN, "\"");
    pa_out_hex(out, PA_STYLE_PLAIN, address);
    pa_out(out, PA_STYLE_PLAIN, "\"");
}

static void write_number(struct pa_output *out, const char *name, int64_t number, int64_t least)
{
    if (number >= least)
        pa_out_format(out, PA_STYLE_PLAIN, ", \"%s\": %lld", name, (long long)number);
    else
        pa_out_format(out, PA_STYLE_PLAIN, ", \"%s\": null", name);
}

/* asyncio's loops look no closer at the clock than microseconds. */
static void write_seconds(struct pa_output *out, const char *name, double seconds)
{
    char text[PA_FLOAT_BYTES];
    pa_seconds_repr(seconds, text);
    pa_out(out, PA_STYLE_PLAIN, name);
    pa_out(out, PA_STYLE_PLAIN, text);
}

static void write_type(struct pa_output *out, struct pa_graph *graph, uint64_t object)
{
    struct pa_text type = pa_type_name_of(graph->objects, object);
    pa_out(out, PA_STYLE_PLAIN, ", \"type\": ");
    pa_out_json(out, pa_arena_text(&graph->objects->text, type), type.length);
}

static void write_file(struct pa_output *out, struct pa_graph *graph, const struct pa_waits_on *waits_on)
{
    char peer[PA_PEER_BYTES];
    write_number(out, "fd", waits_on->fd, 0);
    pa_out_format(out, PA_STYLE_PLAIN, ", \"direction\": \"%s\"", waits_on->writes ? "write" : "read");
    if (waits_on->kind != PA_WAITS_SOCKET)
        return;
    uint32_t length = pa_peer_text(graph, waits_on->peer, peer);
    pa_out(out, PA_STYLE_PLAIN, length ? ", \"peer\": " : ", \"peer\": null");
    if (length)
        pa_out_json(out, peer, length);
}

static void write_executor(struct pa_output *out, struct pa_graph *graph, const struct pa_waits_on *waits_on)
{
    write_type(out, graph, waits_on->object);
    write_number(out, "thread", waits_on->thread == PA_NONE ? 0 : graph->threads.items[waits_on->thread].number, 1);
    write_number(out, "place", waits_on->place, 1);
    write_number(out, "queued", waits_on->queued, 0);
    write_number(out, "busy", waits_on->busy, 0);
    write_number(out, "workers", waits_on->workers, 0);
}

void pa_json_waits_on(struct pa_output *out, struct pa_graph *graph, const struct pa_waits_on *waits_on)
{
    pa_out(out, PA_STYLE_PLAIN, ", \"waits_on\": {\"kind\": \"");
    pa_out(out, PA_STYLE_PLAIN, pa_wait_kind_name(waits_on->kind));
    write_address(out, "\", \"object\": ", waits_on->object);
    write_address(out, ", \"future\": ", waits_on->future);
    switch (waits_on->kind) {
    case PA_WAITS_TIMER:
        write_seconds(out, ", \"when\": ", waits_on->when);
        write_seconds(out, ", \"due\": ", waits_on->due);
        break;
    case PA_WAITS_LOCK:
    case PA_WAITS_EVENT:
    case PA_WAITS_CONDITION:
    case PA_WAITS_SEMAPHORE:
    case PA_WAITS_QUEUE_GET:
    case PA_WAITS_QUEUE_PUT:
        write_type(out, graph, waits_on->object);
        write_number(out, "waiters", waits_on->waiters, 0);
        if (pa_wait_has_holders(waits_on->kind))
            pa_json_holders(out, graph, waits_on->object);
        if (waits_on->kind != PA_WAITS_QUEUE_GET && waits_on->kind != PA_WAITS_QUEUE_PUT)
            break;
        pa_out_format(out, PA_STYLE_PLAIN, ", \"operation\": \"%s\"", waits_on->kind == PA_WAITS_QUEUE_GET ? "get" : "put");
        write_number(out, "size", waits_on->size, 0);
        write_number(out, "maximum", waits_on->maximum, 1);
        break;
    case PA_WAITS_GATHER:
    case PA_WAITS_WAIT:
        write_number(out, "left", waits_on->left, 0);
        write_number(out, "total", waits_on->total, 0);
        break;
    case PA_WAITS_TASKGROUP:
        write_number(out, "left", waits_on->left, 0);
        break;
    case PA_WAITS_SOCKET:
    case PA_WAITS_PIPE:
        write_file(out, graph, waits_on);
        break;
    case PA_WAITS_PROCESS:
        write_number(out, "pid", waits_on->pid, 1);
        break;
    case PA_WAITS_EXECUTOR:
        write_executor(out, graph, waits_on);
        break;
    default:
        break;
    }
    pa_out(out, PA_STYLE_PLAIN, "}");
}
