/* What a thread is blocked in. See blocked.h. */
#include "blocked.h"

#include "c_call.h"
#include "details.h"
#include "variables.h"

#include <math.h>
#include <stdio.h>

const char *pa_blocked_kind_name(enum pa_blocked_kind kind)
{
    static const char *const names[PA_BLOCKED_COUNT] = {
        "not",     "call",   "sleep",  "lock",     "condition", "event",  "semaphore", "barrier", "queue", "future",
        "futures", "worker", "thread", "shutdown", "process",   "socket", "resolve",   "select",  "read"};
    return names[kind];
}

/* ---- by frames of the standard library */

/* Lib/threading.py, queue.py, concurrent/futures/, subprocess.py, selectors.py; the same in 3.14 and 3.15. */
static const struct rule {
    enum pa_blocked_kind kind;
    const char *file, *function, *object; /* the variable that holds the object; NULL: none */
} rules[] = {
    {PA_BLOCKED_CONDITION, "/threading.py", "Condition.wait", "self"},
    {PA_BLOCKED_EVENT, "/threading.py", "Event.wait", "self"},
    {PA_BLOCKED_SEMAPHORE, "/threading.py", "Semaphore.acquire", "self"},
    {PA_BLOCKED_BARRIER, "/threading.py", "Barrier.wait", "self"},
    {PA_BLOCKED_THREAD, "/threading.py", "Thread.join", "self"},
    {PA_BLOCKED_SHUTDOWN, "/threading.py", "_shutdown", NULL},
    {PA_BLOCKED_QUEUE, "/queue.py", "Queue.get", "self"},
    {PA_BLOCKED_QUEUE, "/queue.py", "Queue.put", "self"},
    {PA_BLOCKED_QUEUE, "/queue.py", "Queue.join", "self"},
    {PA_BLOCKED_FUTURE, "/concurrent/futures/_base.py", "Future.result", "self"},
    {PA_BLOCKED_FUTURE, "/concurrent/futures/_base.py", "Future.exception", "self"},
    {PA_BLOCKED_FUTURES, "/concurrent/futures/_base.py", "wait", NULL},
    {PA_BLOCKED_WORKER, "/concurrent/futures/thread.py", "_worker", "work_queue"},
    {PA_BLOCKED_PROCESS, "/subprocess.py", "Popen._wait", "self"},
    {PA_BLOCKED_PROCESS, "/subprocess.py", "Popen._try_wait", "self"},
    {PA_BLOCKED_SELECT, "/selectors.py", "EpollSelector.select", NULL},
    {PA_BLOCKED_SELECT, "/selectors.py", "_PollLikeSelector.select", NULL},
    {PA_BLOCKED_SELECT, "/selectors.py", "SelectSelector.select", NULL},
    {PA_BLOCKED_SELECT, "/selectors.py", "SelectSelector._select", NULL},
};

/* Files whose own frames may stand between. */
static const char *const between[] = {"/threading.py", "/queue.py", "/concurrent/futures/_base.py",
                                      "/concurrent/futures/thread.py"};

static const struct rule *rule_of(const struct pa_graph *graph, uint32_t frame)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        if (pa_frame_is(graph->codes, frame, rules[i].function, rules[i].file))
            return &rules[i];
    }
    return NULL;
}

static bool is_between(const struct pa_graph *graph, const struct pa_frame *frame)
{
    for (size_t i = 0; i < sizeof(between) / sizeof(*between); i++) {
        if (pa_text_ends(&graph->objects->text, frame->file, between[i]))
            return true;
    }
    return false;
}

/*
 * The innermost frame must be of the table; then the outermost one that leads to it through the standard library alone tells what it is for:
 * Queue.get() waits in a Condition.wait(). An idle worker is in no other function than _worker() itself.
 */
static void read_frames(struct pa_graph *graph, const struct pa_thread *thread, struct pa_blocked *blocked)
{
    for (uint32_t i = 0; i < thread->frame_count && pa_work_step(graph->work); i++) {
        const struct pa_thread_frame *frame = &graph->thread_frames.items[thread->first_frame + i];
        const struct pa_frame *item = &graph->codes->frames.items[frame->frame];
        const struct rule *rule = rule_of(graph, frame->frame);
        if (!rule && (i == 0 || !is_between(graph, item)))
            return;
        if (rule && rule->kind == PA_BLOCKED_SHUTDOWN)
            blocked->in_shutdown = true;
        if (!rule || (i > 0 && (rule->kind == PA_BLOCKED_WORKER || rule->kind == PA_BLOCKED_SHUTDOWN)))
            continue;
        blocked->kind = rule->kind;
        snprintf(blocked->function, sizeof(blocked->function), "%s", rule->function);
        if (!rule->object || !pa_variable_get(graph->codes, pa_thread_frame_address(graph, frame), rule->object, &blocked->object))
            blocked->object = 0;
    }
}

/* ---- by the function in C that the innermost frame calls */

static const struct function {
    const char *owner, *names; /* names: each with a blank before and behind it */
    enum pa_blocked_kind kind;
    bool has_object; /* self is what it is about */
} functions[] = {
    {"time", " sleep ", PA_BLOCKED_SLEEP, false},
    {"_thread.lock", " acquire acquire_lock __enter__ ", PA_BLOCKED_LOCK, true},
    {"_thread.RLock", " acquire __enter__ ", PA_BLOCKED_LOCK, true},
    {"_queue.SimpleQueue", " get ", PA_BLOCKED_QUEUE, true},
    {"_socket.socket",
     " recv recv_into recvfrom recvfrom_into recvmsg recvmsg_into send sendall sendto sendmsg _accept connect connect_ex ",
     PA_BLOCKED_SOCKET, true},
    {"_socket", " getaddrinfo gethostbyname gethostbyname_ex gethostbyaddr getnameinfo ", PA_BLOCKED_RESOLVE, false},
    {"select", " select ", PA_BLOCKED_SELECT, false},
    {"select.epoll", " poll ", PA_BLOCKED_SELECT, false},
    {"select.poll", " poll ", PA_BLOCKED_SELECT, false},
    {"posix", " read readv pread ", PA_BLOCKED_READ, false},
};

static bool has_name(const char *names, const char *name)
{
    const char *at = name[0] != '\0' ? strstr(names, name) : NULL;
    size_t length = strlen(name);
    for (; at; at = strstr(at + 1, name)) {
        if (at > names && at[-1] == ' ' && at[length] == ' ')
            return true;
    }
    return false;
}

static void read_call(struct pa_graph *graph, const struct pa_thread *thread, struct pa_blocked *blocked)
{
    struct pa_c_call call;
    const struct pa_thread_frame *frame = &graph->thread_frames.items[thread->first_frame];
    if (!pa_c_call_read(graph->codes, pa_thread_frame_address(graph, frame), &call))
        return;
    blocked->kind = PA_BLOCKED_CALL;
    snprintf(blocked->function, sizeof(blocked->function), "%s%s%s", call.owner, call.owner[0] ? "." : "", call.name);
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        if (strcmp(call.owner, functions[i].owner) != 0 || !has_name(functions[i].names, call.name))
            continue;
        blocked->kind = functions[i].kind;
        blocked->object = functions[i].has_object ? call.self : 0;
        if (blocked->kind == PA_BLOCKED_SLEEP)
            blocked->seconds = pa_c_call_number(graph->codes, &call, 0);
    }
}

void pa_blocked_read(struct pa_graph *graph, uint32_t id, struct pa_blocked *blocked)
{
    const struct pa_thread *thread = &graph->threads.items[id];
    *blocked = (struct pa_blocked){.own = PA_NONE, .seconds = NAN};
    if (thread->frame_count == 0)
        return;
    read_frames(graph, thread, blocked);
    if (blocked->kind == PA_BLOCKED_NOT)
        read_call(graph, thread, blocked);
    for (uint32_t i = 0; i < thread->frame_count && blocked->own == PA_NONE && pa_work_step(graph->work); i++) {
        uint32_t frame = graph->thread_frames.items[thread->first_frame + i].frame;
        if (pa_frame_is_own(graph, frame))
            blocked->own = frame;
    }
}

/* Modules/socketmodule.h, PySocketSockObject: sock_fd, sock_family, sock_type, sock_proto, errorhandler, sock_timeout (ns) */
#define SOCKET_TIMEOUT 24u

bool pa_socket_waits(struct pa_graph *graph, uint64_t socket)
{
    uint64_t timeout;
    return socket != 0 && pa_memory_u64(graph->memory, socket + PA_OFFSET(graph->layout, object_size) + SOCKET_TIMEOUT, &timeout) &&
           timeout != 0;
}

/* ---- threads of the module threading */

/* Lib/threading.py, Thread: _ident is get_ident(), which is pthread_self(); it stays when the thread has ended. */
uint32_t pa_thread_of_object(struct pa_graph *graph, uint64_t object)
{
    uint64_t value;
    int64_t ident;
    if (!pa_attribute(graph, object, "_ident", &value) || !pa_int_read(graph->objects, value, &ident))
        return PA_NONE;
    return pa_thread_with_id(graph, (uint64_t)ident);
}

/* _active: {ident: Thread}, of all that run in the main interpreter, whose sys.modules is at hand. */
static bool begin_active(struct pa_graph *graph, struct pa_dict_iterator *iterator)
{
    uint64_t active;
    return pa_module_attribute(graph->objects, "threading", "_active", &active) && pa_dict_begin(graph->objects, active, iterator);
}

uint64_t pa_thread_object(struct pa_graph *graph, uint32_t id)
{
    const struct pa_thread *thread = &graph->threads.items[id];
    struct pa_dict_iterator iterator;
    uint64_t key, object;
    int64_t ident;
    if (graph->interpreters.items[thread->interpreter].id != 0 || !begin_active(graph, &iterator))
        return 0;
    while (pa_dict_next(graph->objects, &iterator, &key, &object)) {
        if (pa_int_read(graph->objects, key, &ident) && (uint64_t)ident == thread->pthread_id)
            return object;
    }
    return 0;
}

uint32_t pa_threads_not_daemon(struct pa_graph *graph, uint64_t *threads, uint32_t capacity)
{
    struct pa_dict_iterator iterator;
    uint64_t key, thread, value;
    int64_t daemon;
    uint32_t count = 0;
    if (!begin_active(graph, &iterator))
        return 0;
    while (pa_dict_next(graph->objects, &iterator, &key, &thread)) {
        if (pa_type_of(graph->objects, thread) == PA_NONE || pa_is_of_type(graph->objects, thread, "_MainThread") ||
            !pa_attribute(graph, thread, "_daemonic", &value) || !pa_int_read(graph->objects, value, &daemon) || daemon != 0)
            continue;
        if (count < capacity)
            threads[count] = thread;
        count++;
    }
    return count;
}
