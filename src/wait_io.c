/*
 * What a task waits for outside of asyncio's own objects: sockets, pipes, child processes, executors. Parts of pa_waits_read().
 *
 * CPython: Lib/asyncio/selector_events.py, streams.py, unix_events.py, sslproto.py, base_subprocess.py, subprocess.py. uvloop's transports
 * are compiled: what they are is known by their type, nothing else of them.
 */
#include "callable.h"
#include "wait.h"

#include <stdio.h>

/* TLS in TLS in TLS … */
#define MAX_TRANSPORTS 4u

/* An attribute that is there and not None. */
static bool attribute_but_none(struct pa_waits *waits, uint64_t object, const char *name, uint64_t *value)
{
    return pa_attribute(waits->graph, object, name, value) && pa_kind_of(waits->graph->objects, *value) != PA_KIND_NONE_TYPE;
}

static int64_t int_attribute(struct pa_waits *waits, uint64_t object, const char *name)
{
    uint64_t value;
    int64_t number;
    return attribute_but_none(waits, object, name, &value) && pa_int_read(waits->graph->objects, value, &number) && number >= 0
               ? number
               : PA_WAIT_UNKNOWN;
}

static void set_peer(struct pa_waits *waits, uint64_t transport, struct pa_waits_on *waits_on)
{
    uint64_t extra, peer;
    if (attribute_but_none(waits, transport, "_extra", &extra) && pa_dict_get(waits->graph->objects, extra, "peername", &peer))
        waits_on->peer = peer;
}

/* By the type of a transport of uvloop. */
static enum pa_wait_kind kind_of_type(struct pa_waits *waits, uint64_t transport)
{
    static const struct {
        const char *type;
        enum pa_wait_kind kind;
    } types[] = {{"uvloop.loop.TCPTransport", PA_WAITS_SOCKET},
                 {"uvloop.loop.UnixTransport", PA_WAITS_SOCKET},
                 {"uvloop.loop.ReadUnixTransport", PA_WAITS_PIPE},
                 {"uvloop.loop.WriteUnixTransport", PA_WAITS_PIPE}};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (pa_is_of_type(waits->graph->objects, transport, types[i].type))
            return types[i].kind;
    }
    return PA_WAITS_FUTURE;
}

static void read_transport(struct pa_waits *waits, uint64_t transport, bool writes, struct pa_waits_on *waits_on)
{
    uint64_t inner, ignored;
    for (uint32_t i = 0; i < MAX_TRANSPORTS && attribute_but_none(waits, transport, "_ssl_protocol", &inner) &&
                         attribute_but_none(waits, inner, "_transport", &inner);
         i++)
        transport = inner;
    waits_on->object = transport;
    waits_on->writes = writes;
    if (attribute_but_none(waits, transport, "_sock", &ignored) &&
        (waits_on->fd = int_attribute(waits, transport, "_sock_fd")) >= 0) {
        waits_on->kind = PA_WAITS_SOCKET;
        set_peer(waits, transport, waits_on);
    } else if (attribute_but_none(waits, transport, "_pipe", &ignored) &&
               (waits_on->fd = int_attribute(waits, transport, "_fileno")) >= 0) {
        waits_on->kind = PA_WAITS_PIPE;
    } else {
        waits_on->kind = kind_of_type(waits, transport);
    }
}

/* Modules/socketmodule.c, PySocketSockObject: sock_fd is its first field */
int64_t pa_socket_fd(struct pa_graph *graph, uint64_t socket)
{
    struct pa_objects *objects = graph->objects;
    uint32_t type = pa_c_type_of(objects, socket), fd;
    if (type == PA_NONE || !pa_text_is(&objects->text, objects->types.items[type].name, "_socket.socket") ||
        !pa_memory_u32(objects->memory, socket + PA_OFFSET(objects->layout, object_size), &fd))
        return PA_WAIT_UNKNOWN;
    return (int32_t)fd >= 0 ? (int64_t)fd : PA_WAIT_UNKNOWN;
}

/* A method of the loop that waits for a socket of the caller's. */
static void read_socket(struct pa_waits *waits, uint64_t iframe, const char *function, struct pa_waits_on *waits_on)
{
    bool connects = strstr(function, "connect") != NULL;
    if (!pa_variable_get(waits->graph->codes, iframe, "sock", &waits_on->object))
        return;
    waits_on->fd = pa_socket_fd(waits->graph, waits_on->object);
    waits_on->writes = connects || strstr(function, "send") != NULL;
    waits_on->kind = PA_WAITS_SOCKET;
    if (connects && !pa_variable_get(waits->graph->codes, iframe, "address", &waits_on->peer))
        waits_on->peer = 0;
}

/* StreamWriter.drain() waits in a method of its protocol, which does not know of what. */
static void read_drain(struct pa_waits *waits, uint32_t node, struct pa_waits_on *waits_on)
{
    uint64_t self, transport, iframe = pa_waits_outer_frame(waits, node, "StreamWriter.drain", "/asyncio/streams.py");
    if (iframe != 0 && pa_variable_get(waits->graph->codes, iframe, "self", &self) &&
        attribute_but_none(waits, self, "_transport", &transport))
        read_transport(waits, transport, true, waits_on);
}

void pa_waits_on_io(struct pa_waits *waits, uint32_t node, uint64_t iframe, const char *function, uint64_t self,
                    struct pa_waits_on *waits_on)
{
    uint64_t transport;
    bool is_process = waits_on->kind == PA_WAITS_PROCESS;
    waits_on->kind = PA_WAITS_FUTURE;
    waits_on->object = 0;
    if (is_process) {
        waits_on->pid = int_attribute(waits, self, strcmp(function, "Process.wait") == 0 ? "pid" : "_pid");
        waits_on->kind = waits_on->pid > 0 ? PA_WAITS_PROCESS : PA_WAITS_FUTURE;
        waits_on->object = waits_on->pid > 0 ? self : 0;
    } else if (strcmp(function, "FlowControlMixin._drain_helper") == 0) {
        read_drain(waits, node, waits_on);
    } else if (strcmp(function, "StreamReader._wait_for_data") != 0) {
        read_socket(waits, iframe, function, waits_on);
    } else if (attribute_but_none(waits, self, "_transport", &transport)) {
        read_transport(waits, transport, false, waits_on);
    }
    if (waits_on->kind == PA_WAITS_FUTURE)
        waits_on->object = 0;
}

/* anyio has threads of its own: the frame that waits has the one that it gave the work to. */
static void read_anyio(struct pa_waits *waits, uint64_t iframe, struct pa_waits_on *waits_on)
{
    uint64_t worker;
    if (!pa_variable_get(waits->graph->codes, iframe, "worker", &worker))
        return;
    waits_on->kind = PA_WAITS_EXECUTOR;
    waits_on->object = worker;
    waits_on->thread = pa_thread_of_object(waits->graph, worker);
}

void pa_waits_on_executor(struct pa_waits *waits, uint64_t iframe, struct pa_waits_on *waits_on)
{
    if (waits_on->kind == PA_WAITS_EXECUTOR) {
        waits_on->kind = PA_WAITS_FUTURE;
        waits_on->object = 0;
        read_anyio(waits, iframe, waits_on);
        return;
    }
    pa_executors_make(&waits->executors, waits->graph);
    const struct pa_submitted *submitted = pa_executors_behind(&waits->executors, waits_on->future);
    if (!submitted)
        return;
    const struct pa_executor *executor = &waits->executors.items.items[submitted->executor];
    waits_on->kind = PA_WAITS_EXECUTOR;
    waits_on->object = executor->object;
    waits_on->thread = submitted->thread;
    waits_on->workers = executor->maximum;
    waits_on->queued = executor->queued;
    waits_on->place = submitted->place ? (int64_t)submitted->place : PA_WAIT_UNKNOWN;
    waits_on->busy = executor->of_processes ? PA_WAIT_UNKNOWN : (int64_t)executor->busy;
}

uint32_t pa_peer_text(struct pa_graph *graph, uint64_t peer, char text[PA_PEER_BYTES])
{
    char host[PA_PEER_BYTES - 64];
    uint64_t items, count, value[2], left;
    uint32_t length;
    int64_t port;
    if (pa_kind_of(graph->objects, peer) == PA_KIND_STR)
        return pa_str_read_some(graph->objects, peer, PA_PEER_BYTES / 4, text, &length, &left) && left == 0 ? length : 0;
    /* Modules/socketmodule.c, makesockaddr(): (host, port) and (host, port, flowinfo, scope_id) */
    if (pa_kind_of(graph->objects, peer) != PA_KIND_TUPLE || !pa_sequence(graph->objects, peer, &items, &count) ||
        (count != 2 && count != 4) || !pa_memory_read(graph->memory, items, sizeof(value), value) ||
        !pa_str_read_some(graph->objects, value[0], sizeof(host) / 4, host, &length, &left) || left > 0 ||
        !pa_int_read(graph->objects, value[1], &port))
        return 0;
    const char *format = memchr(host, ':', length) ? "[%.*s]:%lld" : "%.*s:%lld";
    return (uint32_t)snprintf(text, PA_PEER_BYTES, format, (int)length, host, (long long)port);
}
