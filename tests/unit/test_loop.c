/* Deques and SimpleQueues; what loops do and threads are blocked in; executors. Whole and damaged. */
#include "blocked.h"
#include "c_call.h"
#include "collection.h"
#include "executor.h"
#include "fixture.h"
#include "loop.h"
#include "tests.h"
#include "wait.h"

#include <math.h>

/* ---- collections ---- */

/* How many elements are read, which are those of @p items; -1: it is none. */
static int64_t read_all(uint64_t object, const uint64_t *items, bool *damaged)
{
    struct pa_collection collection;
    uint64_t element;
    int64_t count = 0;
    if (!pa_collection_begin(&walk.objects, object, &collection))
        return -1;
    for (; pa_collection_next(&collection, &element); count++)
        check_fast(!items || element == items[count]);
    *damaged = collection.damaged;
    return count;
}

START_TEST(test_elements_come_first_to_last)
{
    bool damaged = true;
    uint64_t items[200];
    begin_sized(_i, HEAP);
    for (uint32_t i = 0; i < COUNT(items); i++)
        items[i] = python_int(python, i);
    uint64_t deque = make_deque_of(200, items, 60, 200), queue = make_simple_queue(8, items, 6), empty = make_deque(0);
    walk_build(&walk, python);
    ck_assert_int_eq(read_all(deque, items, &damaged), 200);
    ck_assert(!damaged);
    ck_assert_int_eq(read_all(queue, items, &damaged), 8);
    ck_assert(!damaged);
    ck_assert_int_eq(read_all(empty, items, &damaged), 0);
    ck_assert(!damaged);
    ck_assert_int_eq(read_all(items[0], items, &damaged), -1);
    walk_close(&walk);
}
END_TEST

START_TEST(test_damaged_collections_end)
{
    bool damaged;
    uint64_t items[3];
    begin_sized(_i, HEAP);
    for (uint32_t i = 0; i < COUNT(items); i++)
        items[i] = python_int(python, i);
    uint64_t size = python_offset(python, SLOT_object_size);
    uint64_t endless = make_deque_of(3, items, 0, 1ull << 39), huge = make_deque_of(3, items, 0, UINT64_MAX);
    uint64_t beyond = make_deque_of(3, items, 64, 3), block = make_deque_of(3, items, 0, 3), full = make_simple_queue(3, items, 0);
    uint64_t outside = make_simple_queue(3, items, 8), ring = make_simple_queue(3, items, 0);
    put(block + python_offset(python, SLOT_tuple_ob_size) + 8, 0x1234567);
    put(full + size + 40, 9);
    put(ring + size + 24, 0x10);
    walk_build(&walk, python);
    ck_assert_int_eq(read_all(endless, NULL, &damaged), 3);
    ck_assert(damaged);
    uint64_t none[] = {huge, beyond, block, full, outside};
    for (size_t i = 0; i < COUNT(none); i++)
        ck_assert_int_eq(read_all(none[i], NULL, &damaged), -1);
    ck_assert_int_eq(read_all(ring, NULL, &damaged), 0);
    ck_assert(damaged);
    walk_close(&walk);
}
END_TEST

/* ---- threads ---- */

/* A frame of a function with one variable, at a call with @p count arguments, of which @p stack are the slots above. */
static uint64_t make_frame(const char *function, const char *file, const char *const *names, const uint64_t *values,
                           uint64_t previous)
{
    uint32_t count = 0;
    while (names[count])
        count++;
    uint64_t code = python_code(python, function, file, 10, CO_FUNCTION), frame = python_frame(python, code, 5, 0, previous);
    uint64_t slots = frame + python_offset(python, SLOT_frame_localsplus);
    set_variables(code, count, names);
    for (uint32_t i = 0; i < count; i++)
        put(slots + 8 * i, values[i]);
    put(frame + python_offset(python, SLOT_frame_stackpointer), slots + 8ull * count);
    return frame;
}

/* Let a frame without variables be at a call: what lies on its value stack, and the instruction's oparg. */
static void set_call(uint64_t frame, uint32_t count, const uint64_t *stack, uint8_t oparg)
{
    uint64_t slots = frame + python_offset(python, SLOT_frame_localsplus), instruction;
    for (uint32_t i = 0; i < count; i++)
        put(slots + 8 * i, stack[i]);
    put(frame + python_offset(python, SLOT_frame_stackpointer), slots + 8ull * count);
    instruction = image_u64(python->image, frame + python_offset(python, SLOT_frame_instr_ptr));
    image_put_u8(python->image, instruction + 1, oparg);
}

static const char *const no_names[] = {NULL};

/* method_descriptor: d_type, d_name */
static uint64_t make_descriptor(const char *type, const char *name)
{
    uint64_t size = python_offset(python, SLOT_object_size);
    uint64_t object = python_object(python, python_type(python, "method_descriptor", python->object_type, false, 0), size + 24);
    put(object + size, python_type(python, type, python->object_type, true, 0));
    put(object + size + 8, python_str(python, name));
    return object;
}

START_TEST(test_call_in_c_is_read_from_the_value_stack)
{
    begin_sized(_i, HEAP);
    uint64_t lock = make_none(), acquire = make_descriptor("_thread.lock", "acquire"), other = make_descriptor("x.y", "z");
    uint64_t one = python_int(python, 1), names = make_tuple(1, &one);
    const struct {
        uint64_t stack[4];
        uint32_t count;
        uint8_t oparg;
        enum pa_blocked_kind kind;
    } cases[] = {
        {{acquire, lock}, 2, 0, PA_BLOCKED_LOCK},
        {{acquire, lock, one}, 3, 1, PA_BLOCKED_LOCK},
        {{acquire, lock, one, names}, 4, 1, PA_BLOCKED_LOCK},
        {{other, lock}, 2, 0, PA_BLOCKED_CALL},
        {{acquire, lock}, 2, 1, PA_BLOCKED_NOT},
        {{acquire, lock, one}, 3, 0, PA_BLOCKED_NOT},
        {{acquire, 1}, 2, 0, PA_BLOCKED_NOT},
        {{one, lock}, 2, 0, PA_BLOCKED_NOT},
        {{acquire, lock}, 0, 0, PA_BLOCKED_NOT},
    };
    uint64_t threads[COUNT(cases)];
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t frame = make_frame("f", "/app.py", no_names, NULL, 0);
        threads[i] = python_thread(python, python->interpreter, 100 + i, 100 + i);
        set_call(frame, cases[i].count, cases[i].stack, cases[i].oparg);
        python_set_frames(python, threads[i], frame);
    }
    walk_build(&walk, python);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pa_blocked blocked;
        uint32_t id = pa_index_find(&walk.graph.thread_index, walk.graph.threads.items, sizeof(struct pa_thread), threads[i]);
        pa_blocked_read(&walk.graph, id, &blocked);
        ck_assert_int_eq(blocked.kind, cases[i].kind);
        ck_assert_uint_eq(blocked.object, cases[i].kind == PA_BLOCKED_LOCK ? lock : 0);
        ck_assert(blocked.own != PA_NONE);
    }
    walk_close(&walk);
}
END_TEST

static uint64_t make_timer(double when, bool cancelled)
{
    static const char *const names[] = {"_when", "_cancelled", "_callback", NULL};
    uint64_t values[] = {make_float(when), make_bool(cancelled), make_none()};
    return make_instance_of("TimerHandle", names, values);
}

/* socket.socket: sock_fd is its first field. */
static uint64_t make_socket(uint32_t fd)
{
    uint64_t size = python_offset(python, SLOT_object_size);
    uint64_t socket = python_object(python, python_type(python, "_socket.socket", python->object_type, true, 1u << 8), size + 8);
    image_put_u32(python->image, socket + size, fd);
    return socket;
}

static uint64_t watched_future, peer;

/* A selector with one key, (fileobj, fd, events, (reader, writer)), whose writer has a future among its arguments. */
static uint64_t make_selector(void)
{
    static const char *const names[] = {"_callback", "_args", NULL};
    uint64_t seven = python_int(python, 7), none = make_none(), keys = python_dict(python, 1);
    watched_future = python_future(python);
    uint64_t host[] = {python_str(python, "::1"), python_int(python, 80), seven, seven};
    peer = make_tuple(4, host);
    uint64_t values[] = {none, make_tuple(1, &watched_future)};
    uint64_t handles[] = {none, make_instance_of("Handle", names, values)};
    uint64_t key[] = {make_socket(7), seven, seven, make_tuple(2, handles)};
    python_dict_set(python, keys, "7", make_tuple(4, key));
    return make_instance("EpollSelector", "_fd_to_key", keys);
}

/* The heap of timers: the first one was cancelled. */
static uint64_t make_loop(void)
{
    static const char *const names[] = {"_ready", "_scheduled", "_timer_cancelled_count", "_selector", "_signal_handlers", NULL};
    uint64_t timers[] = {make_timer(100, true), make_timer(250, false), make_timer(300, true), make_timer(280, false)};
    uint64_t handlers = python_dict(python, 1);
    uint64_t values[] = {make_deque(2), make_list(4, timers), python_int(python, 2), make_selector(), handlers};
    return make_instance_of("_UnixSelectorEventLoop", names, values);
}

#define BASE_EVENTS "/usr/lib/python3.14/asyncio/base_events.py"
#define WORKERS     "/usr/lib/python3.14/concurrent/futures/thread.py"

/* A loop in a thread that is in its selector since 200.0 for 50 s; a thread that works for an executor, and one that is idle. */
static void make_process(uint64_t *loop, uint64_t futures[3])
{
    static const char *const names[] = {"self", "timeout", NULL}, *const worker[] = {"executor_reference", "work_queue", NULL},
                             *const self[] = {"self", NULL}, *const slots[] = {"_max_workers", NULL};
    *loop = make_loop();
    uint64_t values[] = {*loop, make_float(-100)};
    uint64_t frame = make_frame("BaseEventLoop._run_once", BASE_EVENTS, names, values, 0);
    frame = make_frame("EpollSelector.select", "/usr/lib/python3.14/selectors.py", no_names, NULL, frame);
    python_set_frames(python, python->thread, frame);
    python_run_task(python, python->thread, *loop, 0);
    uint64_t items[3];
    for (uint32_t i = 0; i < 3; i++) {
        futures[i] = make_instance("Future", "_state", make_none());
        items[i] = make_instance("_WorkItem", "future", futures[i]);
    }
    uint64_t four = python_int(python, 4), executor = make_instance_of("ThreadPoolExecutor", slots, &four);
    uint64_t reference = make_instance("weakref.ReferenceType", "x", 8), size = python_offset(python, SLOT_object_size);
    put(reference + size, executor);
    uint64_t variables[] = {reference, make_simple_queue(2, items + 1, 7)};
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t thread = python_thread(python, python->interpreter, 200 + i, 200 + i);
        frame = make_frame("_worker", WORKERS, worker, variables, 0);
        if (i == 0) {
            frame = make_frame("_WorkItem.run", WORKERS, self, items, frame);
            frame = make_frame("work", "/app.py", no_names, NULL, frame);
        }
        python_set_frames(python, thread, frame);
    }
}

static void read_watched(struct pa_waits_on *waits_on)
{
    struct pa_waits waits;
    *waits_on = (struct pa_waits_on){.kind = PA_WAITS_FUTURE, .future = watched_future, .fd = PA_WAIT_UNKNOWN};
    pa_waits_init(&waits, &walk.graph);
    pa_waits_on_watched(&waits, waits_on);
    pa_waits_deinit(&waits);
}

START_TEST(test_loop_and_executor_are_read)
{
    struct pa_loop_facts facts;
    struct pa_executors executors = {0};
    uint64_t loop, futures[3];
    begin_sized(_i, HEAP);
    make_process(&loop, futures);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.loops.count, 1);
    pa_loop_read(&walk.graph, 0, &facts);
    ck_assert_int_eq(facts.state, PA_LOOP_SELECT);
    ck_assert_str_eq(facts.poll, "epoll");
    ck_assert_int_eq(facts.ready, 2);
    ck_assert_int_eq(facts.scheduled, 2);
    ck_assert(facts.next_when == 250 && facts.timeout == -100);
    struct pa_waits_on waits_on;
    char text[PA_PEER_BYTES];
    read_watched(&waits_on);
    ck_assert_int_eq(waits_on.kind, PA_WAITS_SOCKET);
    ck_assert_int_eq(waits_on.fd, 7);
    ck_assert(waits_on.writes);
    ck_assert_uint_eq(pa_peer_text(&walk.graph, peer, text), 8);
    ck_assert_mem_eq(text, "[::1]:80", 8);
    ck_assert(isnan(facts.now)); /* a time to wait is not below 0 */
    pa_executors_make(&executors, &walk.graph);
    ck_assert_uint_eq(executors.items.count, 1);
    const struct pa_executor *executor = &executors.items.items[0];
    ck_assert_uint_eq(executor->threads, 2);
    ck_assert_uint_eq(executor->busy, 1);
    ck_assert_uint_eq(executor->queued, 2);
    ck_assert_int_eq(executor->maximum, 4);
    ck_assert_uint_eq(executors.submitted.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct pa_submitted *submitted = &executors.submitted.items[i];
        ck_assert_uint_eq(submitted->future, futures[i]);
        ck_assert_uint_eq(submitted->place, i);
        ck_assert_int_eq(submitted->thread != PA_NONE, i == 0);
    }
    pa_executors_free(&executors);
    walk_close(&walk);
}
END_TEST

static void read_everything(void)
{
    struct pa_waits_on waits_on;
    char text[PA_PEER_BYTES];
    read_watched(&waits_on);
    check_fast(waits_on.kind == PA_WAITS_FUTURE || waits_on.fd >= 0);
    check_fast(pa_peer_text(&walk.graph, peer, text) < PA_PEER_BYTES);
    struct pa_loop_facts facts;
    struct pa_blocked blocked;
    struct pa_executors executors = {0};
    for (uint32_t i = 0; i < walk.graph.loops.count; i++) {
        pa_loop_read(&walk.graph, i, &facts);
        check_fast(facts.state < PA_LOOP_STATE_COUNT && facts.ready >= -1 && facts.scheduled >= -1 && !isinf(facts.now) &&
                   !isinf(facts.next_when));
    }
    for (uint32_t i = 0; i < walk.graph.threads.count; i++) {
        pa_blocked_read(&walk.graph, i, &blocked);
        check_fast(blocked.kind < PA_BLOCKED_COUNT && memchr(blocked.function, 0, sizeof(blocked.function)));
        check_fast(pa_thread_of_object(&walk.graph, blocked.object) == PA_NONE);
    }
    pa_executors_make(&executors, &walk.graph);
    for (uint32_t i = 0; i < executors.submitted.count; i++)
        check_fast(executors.submitted.items[i].executor < executors.items.count);
    pa_executors_free(&executors);
}

START_TEST(test_whatever_a_word_holds_reading_ends)
{
    static const uint64_t words[] = {0, 1, 8, UINT64_MAX, INT64_MAX, 1ull << 40};
    uint64_t loop, futures[3], n = 0;
    begin_sized(_i, HEAP);
    uint64_t from = python->next_object;
    make_process(&loop, futures);
    uint64_t lock = make_none(), acquire = make_descriptor("_thread.lock", "acquire"), stack[] = {acquire, lock};
    uint64_t frame = make_frame("f", "/app.py", no_names, NULL, 0), thread = python_thread(python, python->interpreter, 300, 300);
    set_call(frame, 2, stack, 0);
    python_set_frames(python, thread, frame);
    uint64_t to = python->next_object;
    for (uint64_t address = from; address < to; address += 8) {
        uint64_t before = image_u64(python->image, address), other = from + (address * 40503u % (to - from)) / 8 * 8;
        for (size_t i = 0; i < COUNT(words) + 2; i++) {
            if (before == 0 ? i != n++ % (COUNT(words) + 2) : n++ % 4 != 0)
                continue;
            put(address, i < COUNT(words) ? words[i] : i == COUNT(words) ? other : address);
            walk_open(&walk, python);
            check_fast(pa_graph_build(&walk.graph) == PA_OK);
            read_everything();
            walk_leave(&walk);
        }
        put(address, before);
    }
    python_free(python);
}
END_TEST

Suite *loop_suite(void)
{
    Suite *suite = suite_create("loop");
    TCase *tests = add_case(suite, "loop");
    tcase_add_loop_test(tests, test_elements_come_first_to_last, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_damaged_collections_end, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_call_in_c_is_read_from_the_value_stack, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_loop_and_executor_are_read, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_whatever_a_word_holds_reading_ends, 0, PYTHON_BUILDS);
    return suite;
}
