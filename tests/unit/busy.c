/* See busy.h. */
#include "busy.h"

/* A task that waits for a future of its own at the end of its chain. */
static uint64_t waiting(struct python *python, uint64_t list, const char *name, uint64_t coroutine)
{
    uint64_t task = python_task(python, list, python_str(python, name), coroutine);
    python_set_waiter(python, task, python_future(python));
    return task;
}

static uint64_t waiting_in_f(struct python *python, uint64_t list, const char *name)
{
    uint64_t task = python_task(python, list, python_str(python, name), python_coroutine(python, "f", 0));
    python_await(python, task, python_future(python));
    return task;
}

static void make_running(struct python *python, struct busy *busy)
{
    uint64_t loop = python_new_loop(python),
             frame = python_frame(
                 python, python_code(python, "run_forever", "/usr/lib/python3.15/asyncio/base_events.py", 700, CO_FUNCTION), 3, 0,
                 0);
    uint64_t parent = python_coroutine(python, "parent", 0), child = python_coroutine(python, "child", 0);
    python_set_state(python, parent, EXECUTING);
    python_set_state(python, child, EXECUTING);
    python_link_frame(python, python_iframe(python, parent), frame);
    frame = python_frame(python, python_code(python, "create_task", "/usr/lib/python3.15/asyncio/tasks.py", 400, CO_FUNCTION), 3, 0,
                         python_iframe(python, parent));
    python_link_frame(python, python_iframe(python, child), frame);
    frame =
        python_frame(python, python_code(python, "block", "/app/blocking.py", 30, CO_FUNCTION), 3, 0, python_iframe(python, child));
    python_set_frames(python, python->thread, frame);
    busy->parent = python_task(python, python_main_tasks(python), python_str(python, "parent"), parent);
    busy->running = python_task(python, python_main_tasks(python), python_int(python, 2), child);
    python_set_loop(python, busy->parent, loop);
    python_set_loop(python, busy->running, loop);
    python_run_task(python, python->thread, loop, busy->running);
    python->image->threads[0] =
        (struct pa_thread_info){.number = 1, .selected = 1, .lwp = 4711, .pthread_id = 0x7fff0100, .name = "main"};
    python->image->threads[1] =
        (struct pa_thread_info){.number = 2, .lwp = 4712, .pthread_id = 0x7fff0200, .name = "worker \xe2\x82"};
    python->image->thread_count = 2;
}

/* A coroutine as Cython 3.1 lays it out. */
static uint64_t compiled(struct python *python, uint64_t awaited)
{
    uint64_t type = python_type(python, "_cython_3_1_6.coroutine", python->object_type, true, 0);
    uint64_t object = python_object(python, type, 192), name = object + python_offset(python, SLOT_object_size) + 64;
    image_put_u64(python->image, name - 16, awaited);
    image_put_u64(python->image, name, python_str(python, "query"));
    image_put_u64(python->image, name + 8, python_str(python, "Driver.query"));
    image_put_u64(python->image, name + 16, python_str(python, "driver"));
    image_put_u64(python->image, name + 24, python_code(python, "query", "driver.pyx", 20, CO_COROUTINE));
    image_put_u32(python->image, name + 40, 1); /* resume_label */
    return object;
}

/* An object that is no coroutine and has one in its dictionary. */
static uint64_t holding(struct python *python, uint64_t coroutine)
{
    uint64_t type = python_type(python, "Request", python->object_type, true, 0), header = python_offset(python, SLOT_object_size);
    uint64_t object = python_object(python, type, header + 8), dict = python_dict(python, 1);
    python_dict_set(python, dict, "url", python_str(python, "http://localhost/"));
    python_dict_set(python, dict, "coro", coroutine);
    image_put_u64(python->image, object + header, dict);
    image_put_u64(python->image, type + (python->free_threaded ? 48 : 32), header + 8); /* tp_basicsize */
    image_put_u64(python->image, type + (python->free_threaded ? 304 : 288), header);   /* tp_dictoffset */
    return object;
}

static void make_awaitables(struct python *python, struct busy *busy)
{
    (void)busy;
    uint64_t future = python_future(python), iter = python_wrapper(python, PA_KIND_FUTURE_ITER, future);
    uint64_t object = holding(python, python_coroutine(python, "request", compiled(python, iter)));
    uint64_t task =
        python_task(python, python_main_tasks(python), python_str(python, "held"), python_coroutine(python, "page", object));
    python_set_waiter(python, task, future);
}

static void make_chains(struct python *python, struct busy *busy)
{
    uint64_t iter = python_wrapper(python, PA_KIND_FUTURE_ITER, python_future(python));
    uint64_t code = python_code(python, "agen", "/app/stream.py", 50, CO_ASYNC_GENERATOR);
    busy->agen = python_gen(python, PA_KIND_ASYNC_GENERATOR, code, YIELD_FROM, 3, iter);
    uint64_t coroutine = python_coroutine(python, "consume", python_wrapper(python, PA_KIND_ASYNC_GEN_ASEND, busy->agen));
    busy->awaited_agen = waiting(python, python_main_tasks(python), "consumer", coroutine);
    uint64_t awaitable = python_object(python, python_type(python, "\xffWeird\x1b[31m", python->object_type, true, 0), 64);
    waiting(python, python_main_tasks(python), "weird", python_coroutine(python, "wait", awaitable));
    uint64_t created = python_coroutine(python, "later", 0);
    python_set_state(python, created, CREATED);
    python_task(python, python_main_tasks(python), python_str_subclass(python, "created"), created);
}

static void make_waiting(struct python *python, struct busy *busy)
{
    uint64_t workers[6], code = python_code(python, "fetch", "/app/http.py", 80, CO_COROUTINE);
    uint64_t parent = python_sleeper(python, "group"), other = python_sleeper(python, "other"),
             ended = python_task(python, 0, python_str(python, "ended"), 0);
    python_finish(python, ended, 2, 0);
    for (int i = 0; i < 6; i++) {
        uint64_t coroutine = python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 4, 0);
        workers[i] = python_task(python, python_main_tasks(python), python_int(python, 10 + i), coroutine);
        python_await(python, workers[i], python_future(python));
        if (i < 4)
            python_set_awaiter(python, workers[i], parent);
        else
            python_set_awaiters(python, workers[i], python_set(python, (const uint64_t[]){parent, 0, other, ended}, 4));
    }
    busy->shielded = python_sleeper(python, "shielded");
    busy->future = python_future(python);
    python_set_awaiter(python, busy->shielded, busy->future);
    python_set_awaiter(python, busy->future, other);
    uint64_t a = python_sleeper(python, "cycle-a"), b = python_sleeper(python, "cycle-b");
    python_await(python, a, b);
    python_await(python, b, a);
}

static void make_elsewhere(struct python *python, struct busy *busy)
{
    (void)busy;
    uint64_t thread = python_thread(python, python->interpreter, 0x7fff0200, 4712);
    python_set_frames(
        python, thread,
        python_frame(python, python_code(python, "select", "/usr/lib/python3.15/selectors.py", 450, CO_FUNCTION), 3, 0, 0));
    python_run_task(python, thread, python_new_loop(python), 0);
    waiting_in_f(python, python_thread_tasks(python, thread), "in-thread");
    waiting_in_f(python, python_interpreter_tasks(python, python->interpreter), "remnant");
    uint64_t sub = python_interpreter(python, 1), other = python_thread(python, sub, 0x7fff0300, 4713);
    waiting_in_f(python, python_thread_tasks(python, other), "in-sub");
}

static void make_names(struct python *python, struct busy *busy)
{
    (void)busy;
    static const char *const names[] = {
        "two\nlines",
        "escape\x1b[31m\x07",
        "bidi \xe2\x80\xae txt",
        "lone \xed\xa0\x80",
        "caf\xc3\xa9 \xf0\x9f\x90\x8d",
        "quote ' and \"",
        "* Task(name='forged', id=0x1)",
        "login password=hunter2",
        "",
    };
    for (size_t i = 0; i < COUNT(names); i++)
        python_sleeper(python, names[i]);
    uint64_t code = python_code(python, "evil\x1b]0;\n* Task(", "/tmp/a\nb\xe2\x80\xa8.py", 90, CO_COROUTINE);
    uint64_t coroutine = python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 4,
                                    python_wrapper(python, PA_KIND_FUTURE_ITER, python_future(python)));
    waiting(python, python_main_tasks(python), "evil-code", coroutine);
}

typedef void make_part(struct python *python, struct busy *busy);

static make_part *const parts[BUSY_PARTS] = {make_running, make_chains, make_awaitables, make_waiting, make_elsewhere, make_names};

struct busy busy_make(struct python *python)
{
    struct busy busy = {0};
    for (int i = 0; i < BUSY_PARTS; i++)
        parts[i](python, &busy);
    return busy;
}

void busy_make_part(struct python *python, int part)
{
    struct busy busy = {0};
    parts[part](python, &busy);
}
