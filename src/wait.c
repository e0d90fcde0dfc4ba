/* What a task waits for. See wait.h. */
#include "wait.h"

#include "collection.h"
#include "future.h"
#include "limits.h"
#include "loop.h"

#include <math.h>

/*
 * Where asyncio suspends a task on a future of its own, one place a line.
 *
 * CPython: Lib/asyncio/locks.py, queues.py, tasks.py, taskgroups.py; the same in 3.14 and 3.15. anyio 4: _backends/_asyncio.py.
 */
struct rule {
    enum pa_wait_kind kind;
    const char *file, *function;
    const char *class;     /* of self; NULL: a function */
    const char *future;    /* the variable that holds the future; … */
    const char *attribute; /* … else the attribute of self; without either it awaits nothing else */
};

#define SOCKET "/asyncio/selector_events.py"

static const struct rule rules[] = {
    {PA_WAITS_TIMER, "/asyncio/tasks.py", "sleep", NULL, "future", NULL},
    {PA_WAITS_WAIT, "/asyncio/tasks.py", "_wait", NULL, "waiter", NULL},
    {PA_WAITS_LOCK, "/asyncio/locks.py", "Lock.acquire", "Lock", "fut", NULL},
    {PA_WAITS_EVENT, "/asyncio/locks.py", "Event.wait", "Event", "fut", NULL},
    {PA_WAITS_CONDITION, "/asyncio/locks.py", "Condition.wait", "Condition", "fut", NULL},
    {PA_WAITS_SEMAPHORE, "/asyncio/locks.py", "Semaphore.acquire", "Semaphore", "fut", NULL},
    {PA_WAITS_LOCK, "/anyio/_backends/_asyncio.py", "Lock.acquire", "Lock", "fut", NULL},
    {PA_WAITS_SEMAPHORE, "/anyio/_backends/_asyncio.py", "Semaphore.acquire", "Semaphore", "fut", NULL},
    {PA_WAITS_QUEUE_GET, "/asyncio/queues.py", "Queue.get", "Queue", "getter", NULL},
    {PA_WAITS_QUEUE_PUT, "/asyncio/queues.py", "Queue.put", "Queue", "putter", NULL},
    {PA_WAITS_TASKGROUP, "/asyncio/taskgroups.py", "TaskGroup._aexit", "TaskGroup", NULL, "_on_completed_fut"},
    {PA_WAITS_SOCKET, "/asyncio/streams.py", "StreamReader._wait_for_data", "StreamReader", NULL, "_waiter"},
    {PA_WAITS_SOCKET, "/asyncio/streams.py", "FlowControlMixin._drain_helper", "FlowControlMixin", "waiter", NULL},
    {PA_WAITS_SOCKET, SOCKET, "BaseSelectorEventLoop.sock_recv", "BaseSelectorEventLoop", "fut", NULL},
    {PA_WAITS_SOCKET, SOCKET, "BaseSelectorEventLoop.sock_recv_into", "BaseSelectorEventLoop", "fut", NULL},
    {PA_WAITS_SOCKET, SOCKET, "BaseSelectorEventLoop.sock_recvfrom", "BaseSelectorEventLoop", "fut", NULL},
    {PA_WAITS_SOCKET, SOCKET, "BaseSelectorEventLoop.sock_recvfrom_into", "BaseSelectorEventLoop", "fut", NULL},
    {PA_WAITS_SOCKET, SOCKET, "BaseSelectorEventLoop.sock_sendall", "BaseSelectorEventLoop", "fut", NULL},
    {PA_WAITS_SOCKET, SOCKET, "BaseSelectorEventLoop.sock_sendto", "BaseSelectorEventLoop", "fut", NULL},
    {PA_WAITS_SOCKET, SOCKET, "BaseSelectorEventLoop.sock_connect", "BaseSelectorEventLoop", "fut", NULL},
    {PA_WAITS_SOCKET, SOCKET, "BaseSelectorEventLoop.sock_accept", "BaseSelectorEventLoop", "fut", NULL},
    {PA_WAITS_PROCESS, "/asyncio/base_subprocess.py", "BaseSubprocessTransport._wait", "BaseSubprocessTransport", "waiter", NULL},
    {PA_WAITS_PROCESS, "/asyncio/subprocess.py", "Process.wait", "Process", NULL, NULL},
    {PA_WAITS_EXECUTOR, "/anyio/_backends/_asyncio.py", "AsyncIOBackend.run_sync_in_worker_thread", NULL, "future", NULL},
};

enum { RULES = sizeof(rules) / sizeof(*rules), NO_RULE = RULES };

void pa_waits_init(struct pa_waits *waits, struct pa_graph *graph)
{
    *waits = (struct pa_waits){.graph = graph};
}

void pa_waits_deinit(struct pa_waits *waits)
{
    pa_bytes_free(waits->graph->work, &waits->rules);
    pa_array_free(waits->graph->work, &waits->links);
    pa_executors_free(&waits->executors);
    pa_array_free(waits->graph->work, &waits->watched);
    pa_index_free(waits->graph->work, &waits->watched_index);
    *waits = (struct pa_waits){0};
}

const char *pa_wait_kind_name(enum pa_wait_kind kind)
{
    static const char *const names[PA_WAITS_COUNT] = {"ready",     "task",      "future", "timer",   "lock",    "event",
                                                      "condition", "semaphore", "queue",  "queue",   "gather",  "wait",
                                                      "taskgroup", "socket",    "pipe",   "process", "executor"};
    return names[kind];
}

const char *pa_wait_kind_noun(enum pa_wait_kind kind)
{
    static const char *const nouns[PA_WAITS_COUNT] = {
        [PA_WAITS_TASK] = "a task",          [PA_WAITS_TIMER] = "a timer",         [PA_WAITS_LOCK] = "a lock",
        [PA_WAITS_EVENT] = "an event",       [PA_WAITS_CONDITION] = "a condition", [PA_WAITS_SEMAPHORE] = "a semaphore",
        [PA_WAITS_QUEUE_GET] = "a queue",    [PA_WAITS_QUEUE_PUT] = "a queue",     [PA_WAITS_TASKGROUP] = "a task group",
        [PA_WAITS_SOCKET] = "a socket",      [PA_WAITS_PIPE] = "a pipe",           [PA_WAITS_PROCESS] = "a process",
        [PA_WAITS_EXECUTOR] = "an executor",
    };
    return nouns[kind];
}

bool pa_wait_has_holders(enum pa_wait_kind kind)
{
    return kind == PA_WAITS_LOCK || kind == PA_WAITS_CONDITION || kind == PA_WAITS_SEMAPHORE;
}

static uint8_t find_rule(const struct pa_codes *codes, uint32_t frame)
{
    for (uint8_t i = 0; codes->frames.items[frame].kind == PA_FRAME_COROUTINE && i < RULES; i++) {
        if (pa_frame_is(codes, frame, rules[i].function, rules[i].file))
            return i;
    }
    return NO_RULE;
}

/* The rule that the innermost frame of a stack falls under; NULL if none. */
static const struct rule *rule_of(struct pa_waits *waits, uint32_t stack)
{
    struct pa_codes *codes = waits->graph->codes;
    uint32_t frame = stack == 0 ? PA_NONE : codes->stacks.items[stack].frame, count = codes->frames.count;
    uint8_t *rule = frame < count ? pa_byte_of(waits->graph->work, &waits->rules, frame, count) : NULL;
    if (rule && *rule == PA_BYTE_UNKNOWN)
        *rule = find_rule(codes, frame);
    return !rule || *rule == NO_RULE ? NULL : &rules[*rule];
}

enum pa_wait_kind pa_waits_of_stack(struct pa_waits *waits, const struct pa_node *node)
{
    if (node->wait == PA_WAIT_TASK)
        return PA_WAITS_TASK;
    const struct rule *rule = node->wait == PA_WAIT_FUTURE ? rule_of(waits, node->stack) : NULL;
    /* anyio waits in an event for its limiter; of sockets and the like only the loop's own tables are certain. */
    return rule && rule->kind < PA_WAITS_SOCKET && rule->kind != PA_WAITS_EVENT ? rule->kind : PA_WAITS_COUNT;
}

/* Whether the object's class or one of its bases has this name, a literal. */
static bool is_instance(struct pa_waits *waits, uint64_t object, const char *name)
{
    struct pa_objects *objects = waits->graph->objects;
    uint32_t id = pa_type_of(objects, object);
    if (id == PA_NONE)
        return false;
    uint64_t type = objects->types.items[id].address;
    if (waits->named_type != type || waits->name != name) {
        waits->named_type = type;
        waits->name = name;
        waits->is_named = pa_class_is_named(objects, type, name);
    }
    return waits->is_named;
}

/* What a frame's variables hold; 0: no such variable, or no object. */
struct variables {
    uint64_t self, future, handle, futures, counter;
};

static void read_variables(struct pa_waits *waits, uint64_t iframe, const struct rule *rule, struct variables *found)
{
    struct pa_variables variables;
    const struct {
        const char *name;
        uint64_t *object;
    } wanted[] = {
        {"self", &found->self},       {"h", &found->handle},          {"fs", &found->futures},
        {"counter", &found->counter}, {rule->future, &found->future},
    };
    *found = (struct variables){0};
    if (!pa_variables_begin(waits->graph->codes, iframe, &variables))
        return;
    while (pa_variables_next(&variables)) {
        for (uint32_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
            if (wanted[i].name && variables.name_length == strlen(wanted[i].name) &&
                memcmp(variables.name, wanted[i].name, variables.name_length) == 0)
                *wanted[i].object = variables.object;
        }
    }
}

static int64_t int_of(struct pa_waits *waits, uint64_t object)
{
    int64_t value;
    return pa_int_read(waits->graph->objects, object, &value) ? value : PA_WAIT_UNKNOWN;
}

/* len() of a deque or list; None, which a lock has as long as nobody waited, is empty. */
static int64_t length_of(struct pa_waits *waits, uint64_t object)
{
    struct pa_objects *objects = waits->graph->objects;
    enum pa_kind kind = pa_kind_of(objects, object);
    uint64_t items, count;
    if (kind == PA_KIND_NONE_TYPE)
        return 0;
    if (kind == PA_KIND_LIST)
        return pa_sequence(objects, object, &items, &count) ? (int64_t)count : PA_WAIT_UNKNOWN;
    struct pa_collection collection;
    return pa_collection_begin(objects, object, &collection) ? (int64_t)collection.left : PA_WAIT_UNKNOWN;
}

static int64_t length_of_attribute(struct pa_waits *waits, uint64_t object, const char *name)
{
    uint64_t value;
    return pa_attribute(waits->graph, object, name, &value) ? length_of(waits, value) : PA_WAIT_UNKNOWN;
}

static int64_t length_of_set(struct pa_waits *waits, uint64_t object)
{
    struct pa_set_iterator iterator;
    return pa_set_begin(waits->graph->objects, object, &iterator) && iterator.left <= PA_MAX_SET_SLOTS ? (int64_t)iterator.left
                                                                                                       : PA_WAIT_UNKNOWN;
}

/* TimerHandle._when of Lib/asyncio/events.py, whatever number call_at() got; uvloop's has none that can be read. */
static double read_when(struct pa_waits *waits, uint64_t handle)
{
    uint64_t value;
    double when = NAN;
    if (is_instance(waits, handle, "TimerHandle") && pa_attribute(waits->graph, handle, "_when", &value))
        when = pa_number_read(waits->graph->objects, value);
    return isfinite(when) ? when : NAN;
}

/* A loop's time(); of a million timers it is read once. */
static double clock_of(struct pa_waits *waits, uint32_t loop)
{
    if (loop == PA_NO_LOOP)
        return NAN;
    if (waits->clock_loop != loop + 1) {
        waits->clock = pa_loop_now(waits->graph, loop);
        waits->clock_loop = loop + 1;
    }
    return waits->clock;
}

/* What the numbers of a wait are, once its kind is certain. */
static void read_numbers(struct pa_waits *waits, const struct variables *variables, struct pa_waits_on *waits_on)
{
    uint64_t value;
    switch (waits_on->kind) {
    case PA_WAITS_TIMER:
        waits_on->when = read_when(waits, variables->handle);
        break;
    case PA_WAITS_LOCK:
    case PA_WAITS_EVENT:
    case PA_WAITS_CONDITION:
    case PA_WAITS_SEMAPHORE:
        waits_on->waiters = length_of_attribute(waits, waits_on->object, "_waiters");
        break;
    case PA_WAITS_QUEUE_GET:
    case PA_WAITS_QUEUE_PUT:
        waits_on->waiters =
            length_of_attribute(waits, waits_on->object, waits_on->kind == PA_WAITS_QUEUE_GET ? "_getters" : "_putters");
        waits_on->size = length_of_attribute(waits, waits_on->object, "_queue");
        waits_on->maximum =
            pa_attribute(waits->graph, waits_on->object, "_maxsize", &value) ? int_of(waits, value) : PA_WAIT_UNKNOWN;
        break;
    case PA_WAITS_WAIT:
        waits_on->total = length_of_set(waits, variables->futures);
        waits_on->left = int_of(waits, variables->counter);
        break;
    case PA_WAITS_TASKGROUP:
        waits_on->left =
            pa_attribute(waits->graph, waits_on->object, "_tasks", &value) ? length_of_set(waits, value) : PA_WAIT_UNKNOWN;
        break;
    default:
        break;
    }
}

/* By the innermost frame. @return false if it does not tell. */
static bool read_frame(struct pa_waits *waits, uint32_t node, uint64_t innermost, struct pa_waits_on *waits_on)
{
    struct pa_graph *graph = waits->graph;
    const struct rule *rule = rule_of(waits, graph->nodes.items[node].stack);
    struct variables variables;
    if (!rule || pa_kind_of(graph->objects, innermost) != PA_KIND_COROUTINE)
        return false;
    uint64_t iframe = innermost + PA_OFFSET(graph->layout, gen_iframe);
    read_variables(waits, iframe, rule, &variables);
    if (rule->class && !is_instance(waits, variables.self, rule->class))
        return false;
    if (rule->attribute && !pa_attribute(waits->graph, variables.self, rule->attribute, &variables.future))
        return false;
    if ((rule->future || rule->attribute) && variables.future != waits_on->future)
        return false;
    waits_on->kind = rule->kind;
    waits_on->object = rule->kind == PA_WAITS_TIMER ? variables.handle : rule->class ? variables.self : 0;
    if (rule->kind == PA_WAITS_EXECUTOR)
        pa_waits_on_executor(waits, iframe, waits_on);
    else if (rule->kind >= PA_WAITS_SOCKET)
        pa_waits_on_io(waits, node, iframe, rule->function, variables.self, waits_on);
    else
        read_numbers(waits, &variables, waits_on);
    return true;
}

/* Tasks are mostly gathered in the order in which they were made, which is that of the nodes. */
static uint32_t find_after(const struct pa_graph *graph, uint32_t before, uint64_t address)
{
    uint32_t next = before + 1; /* the first one after PA_NONE */
    return next < graph->nodes.count && graph->nodes.items[next].address == address ? next : pa_graph_find(graph, address);
}

/* How many of some futures are not done; PA_WAIT_UNKNOWN also if too many were looked at before. */
static int64_t count_pending(struct pa_waits *waits, uint64_t items, uint64_t count)
{
    struct pa_graph *graph = waits->graph;
    int64_t pending = 0;
    uint64_t future;
    uint32_t node = PA_NONE;
    if (count > PA_MAX_COUNTED - waits->counted)
        return PA_WAIT_UNKNOWN;
    for (uint64_t i = 0; i < count && pa_work_step(graph->work); i++) {
        waits->counted++;
        if (!pa_memory_u64(graph->memory, items + 8 * i, &future))
            return PA_WAIT_UNKNOWN;
        /* The walk has read nearly all of them: of a live process they need not be fetched again. */
        node = find_after(graph, node, future);
        bool known = node != PA_NONE && !(graph->nodes.items[node].flags & PA_NODE_BAD);
        if (!known && !pa_is_future(graph, future))
            return PA_WAIT_UNKNOWN;
        pending += (known ? graph->nodes.items[node].state : pa_future_state(graph, future)) == PA_PENDING;
    }
    return pending;
}

/* Lib/asyncio/tasks.py, class _GatheringFuture: what gather() returns. @return false if it is none. */
static bool read_gather(struct pa_waits *waits, struct pa_waits_on *waits_on)
{
    struct pa_objects *objects = waits->graph->objects;
    uint64_t children, items, count, module;
    uint32_t type = pa_type_of(objects, waits_on->future);
    if (type == PA_NONE || !pa_is_of_type(objects, waits_on->future, "_GatheringFuture") ||
        !pa_class_attribute(objects, objects->types.items[type].address, "__module__", &module) ||
        !pa_str_equals(objects, module, "asyncio.tasks") || !pa_attribute(waits->graph, waits_on->future, "_children", &children) ||
        !pa_sequence(objects, children, &items, &count))
        return false;
    struct pa_graph *graph = waits->graph;
    bool counted = graph->counted_gather.future == waits_on->future;
    int64_t left = counted ? graph->counted_gather.left : count_pending(waits, items, count);
    if (left != PA_WAIT_UNKNOWN) {
        graph->counted_gather.future = waits_on->future;
        graph->counted_gather.left = left;
    }
    waits_on->kind = PA_WAITS_GATHER;
    waits_on->object = waits_on->future;
    waits_on->total = (int64_t)count;
    waits_on->left = left;
    return true;
}

uint64_t pa_waits_outer_frame(struct pa_waits *waits, uint32_t node, const char *function, const char *file)
{
    struct pa_graph *graph = waits->graph;
    const struct pa_stack *stacks = graph->codes->stacks.items;
    uint32_t outer = stacks[graph->nodes.items[node].stack].outer;
    if (outer == 0 || outer >= graph->codes->stacks.count || !pa_frame_is(graph->codes, stacks[outer].frame, function, file))
        return 0;
    pa_task_objects(graph, node, &waits->links);
    uint64_t coroutine = waits->links.count > 1 ? waits->links.items[1] : 0;
    return pa_kind_of(graph->objects, coroutine) == PA_KIND_COROUTINE ? coroutine + PA_OFFSET(graph->layout, gen_iframe) : 0;
}

bool pa_waits_read(struct pa_waits *waits, uint32_t node, uint64_t innermost, struct pa_waits_on *waits_on)
{
    const struct pa_node item = waits->graph->nodes.items[node];
    *waits_on = (struct pa_waits_on){
        .kind = item.wait == PA_WAIT_READY  ? PA_WAITS_READY
                : item.wait == PA_WAIT_TASK ? PA_WAITS_TASK
                                            : PA_WAITS_FUTURE,
        .future = pa_task_fut_waiter(waits->graph, node),
        .waiters = PA_WAIT_UNKNOWN,
        .size = PA_WAIT_UNKNOWN,
        .maximum = PA_WAIT_UNKNOWN,
        .left = PA_WAIT_UNKNOWN,
        .total = PA_WAIT_UNKNOWN,
        .when = NAN,
        .due = NAN,
        .fd = PA_WAIT_UNKNOWN,
        .pid = PA_WAIT_UNKNOWN,
        .thread = PA_NONE,
        .place = PA_WAIT_UNKNOWN,
        .queued = PA_WAIT_UNKNOWN,
        .busy = PA_WAIT_UNKNOWN,
        .workers = PA_WAIT_UNKNOWN,
    };
    if (item.wait == PA_WAIT_NONE)
        return pa_waits_on_thread_lock(waits, node, waits_on);
    if (waits_on->kind == PA_WAITS_TASK)
        waits_on->object = waits_on->future;
    if (waits_on->kind == PA_WAITS_FUTURE && waits_on->future != 0 && !read_frame(waits, node, innermost, waits_on) &&
        !read_gather(waits, waits_on))
        pa_waits_on_executor(waits, 0, waits_on);
    if (waits_on->kind == PA_WAITS_FUTURE && waits_on->future != 0)
        pa_waits_on_watched(waits, waits_on);
    pa_waits_on_limiter(waits, node, waits_on);
    if (waits_on->kind == PA_WAITS_TIMER)
        waits_on->due = waits_on->when - clock_of(waits, item.loop);
    return true;
}
