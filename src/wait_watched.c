/*
 * Futures that a loop sets when a socket is readable or writable: loop.add_reader(socket, future.set_result, None), as anyio does it, and
 * callbacks that have a future among their arguments. A part of pa_waits_read().
 *
 * CPython: Lib/asyncio/selector_events.py, _add_reader(): the selector's keys have (reader, writer), handles, as their data. Lib/selectors.py,
 * SelectorKey: (fileobj, fd, events, data). Of a number that is no socket object it is not known what it is: then nothing is told.
 */
#include "wait.h"

#include "callable.h"

static void add(struct pa_waits *waits, uint64_t future, const struct pa_watched *watched)
{
    struct pa_work *work = waits->graph->work;
    if (!pa_is_future(waits->graph, future) ||
        pa_index_find(&waits->watched_index, waits->watched.items, sizeof(*watched), future) != PA_NONE)
        return;
    struct pa_watched *slot = pa_array_push(work, &waits->watched, PA_MAX_WATCHED);
    if (!slot)
        return;
    *slot = *watched;
    slot->future = future;
    if (!pa_index_add(work, &waits->watched_index, waits->watched.items, sizeof(*slot), waits->watched.count - 1))
        waits->watched.count--;
}

/* A Handle of Lib/asyncio/events.py: what its callback is bound to, and its arguments. */
static void read_handle(struct pa_waits *waits, uint64_t handle, const struct pa_watched *watched)
{
    struct pa_objects *objects = waits->graph->objects;
    uint64_t callback, arguments, items, count, argument;
    if (!pa_instance_attribute(objects, handle, "_callback", &callback))
        return;
    callback = pa_partial_function(objects, callback);
    if (pa_is_builtin(objects, callback) && pa_object_word(objects, callback, PA_F_builtin_self, &argument))
        add(waits, argument, watched);
    if (!pa_instance_attribute(objects, handle, "_args", &arguments) || !pa_sequence(objects, arguments, &items, &count))
        return;
    for (uint64_t i = 0; i < count && i < 8 && pa_work_step(objects->work); i++) {
        if (pa_memory_u64(objects->memory, items + 8 * i, &argument))
            add(waits, argument, watched);
    }
}

static void read_key(struct pa_waits *waits, uint64_t key)
{
    struct pa_objects *objects = waits->graph->objects;
    uint64_t items, count, fields[4], handles, handle;
    if (!pa_sequence(objects, key, &items, &count) || count != 4 ||
        !pa_memory_read(objects->memory, items, sizeof(fields), fields) || !pa_sequence(objects, fields[3], &handles, &count) ||
        count != 2)
        return;
    struct pa_watched watched = {.socket = fields[0], .fd = pa_socket_fd(waits->graph, fields[0])};
    for (uint32_t i = 0; i < 2 && watched.fd >= 0; i++) {
        watched.writes = i == 1;
        if (pa_memory_u64(objects->memory, handles + 8 * i, &handle))
            read_handle(waits, handle, &watched);
    }
}

static void read_loop(struct pa_waits *waits, uint64_t loop)
{
    struct pa_objects *objects = waits->graph->objects;
    struct pa_dict_iterator iterator;
    uint64_t selector, keys, fd, key;
    if (!pa_instance_attribute(objects, loop, "_selector", &selector) ||
        !pa_instance_attribute(objects, selector, "_fd_to_key", &keys) || !pa_dict_begin(objects, keys, &iterator))
        return;
    for (; waits->watched_keys < PA_MAX_WATCHED && pa_dict_next(objects, &iterator, &fd, &key); waits->watched_keys++)
        read_key(waits, key);
}

void pa_waits_on_watched(struct pa_waits *waits, struct pa_waits_on *waits_on)
{
    struct pa_graph *graph = waits->graph;
    if (!waits->watched_made) {
        waits->watched_made = true;
        for (uint32_t i = 0; i < graph->loops.count && pa_work_step(graph->work); i++)
            read_loop(waits, graph->loops.items[i].address);
    }
    uint32_t id = pa_index_find(&waits->watched_index, waits->watched.items, sizeof(struct pa_watched), waits_on->future);
    if (id == PA_NONE)
        return;
    const struct pa_watched *watched = &waits->watched.items[id];
    waits_on->kind = PA_WAITS_SOCKET;
    waits_on->object = watched->socket;
    waits_on->fd = watched->fd;
    waits_on->writes = watched->writes;
}
