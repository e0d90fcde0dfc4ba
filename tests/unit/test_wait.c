/* What tasks wait for: asyncio's own frames and what is only like them; damaged locks, timers and gathers. */
#include "wait.h"

#include "fixture.h"
#include "limits.h"

#include <math.h>

/* Offsets in PyTypeObject with the GIL; without it they are 16 more. */
enum { BASICSIZE = 32, DICTOFFSET = 288, MRO = 344 };

/* A task in a coroutine with two variables; @return the future that it waits for. */
static uint64_t make_task(const char *function, const char *file, const char *first, uint64_t value, const char *second,
                          bool same_future, uint64_t *task)
{
    uint64_t code = python_code(python, function, file, 10, CO_FUNCTION | CO_COROUTINE), future = python_future(python);
    set_variables(code, 2, (const char *const[]){first, second});
    uint64_t coroutine = python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 5, 0);
    uint64_t slots = python_iframe(python, coroutine) + python_offset(python, SLOT_frame_localsplus);
    put(slots, value);
    put(slots + 8, same_future ? future : python_future(python));
    *task = python_task(python, python_thread_tasks(python, python->thread), python_str(python, "t"), coroutine);
    python_await(python, *task, future);
    return future;
}

/* What the task at @p address waits for. */
static struct pa_waits_on read(struct pa_waits *waits, uint64_t address)
{
    struct pa_waits_on waits_on;
    struct pa_links links = {0};
    uint32_t node = walk_node(&walk, address);
    pa_task_objects(&walk.graph, node, &links);
    pa_waits_read(waits, node, links.count ? links.items[0] : 0, &waits_on);
    pa_array_free(&walk.work, &links);
    return waits_on;
}

#define LOCKS "/usr/lib/python3.14/asyncio/locks.py"

START_TEST(test_lock_is_known_by_file_function_class_and_future)
{
    static const struct {
        const char *function, *file, *class, *variable;
        bool same_future;
        enum pa_wait_kind kind;
    } cases[] = {
        {"Lock.acquire", LOCKS, "Lock", "fut", true, PA_WAITS_LOCK},
        {"Lock.acquire", LOCKS, "Lock", "fut", false, PA_WAITS_FUTURE},
        {"Lock.acquire", LOCKS, "Lock", "other", true, PA_WAITS_FUTURE},
        {"Lock.acquire", LOCKS, "Padlock", "fut", true, PA_WAITS_FUTURE},
        {"Lock.acquire", "/app/locks.py", "Lock", "fut", true, PA_WAITS_FUTURE},
        {"acquire", LOCKS, "Lock", "fut", true, PA_WAITS_FUTURE},
        {"Event.wait", LOCKS, "Event", "fut", true, PA_WAITS_EVENT},
    };
    uint64_t tasks[COUNT(cases)], objects[COUNT(cases)], futures[COUNT(cases)];
    struct pa_waits waits;
    begin_sized(_i, HEAP);
    for (size_t i = 0; i < COUNT(cases); i++) {
        objects[i] = make_instance(cases[i].class, "_waiters", make_deque(i + 1));
        futures[i] =
            make_task(cases[i].function, cases[i].file, "self", objects[i], cases[i].variable, cases[i].same_future, &tasks[i]);
    }
    walk_build(&walk, python);
    pa_waits_init(&waits, &walk.graph);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pa_waits_on waits_on = read(&waits, tasks[i]);
        ck_assert_int_eq(waits_on.kind, cases[i].kind);
        ck_assert_uint_eq(waits_on.future, futures[i]);
        ck_assert_uint_eq(waits_on.object, cases[i].kind == PA_WAITS_FUTURE ? 0 : objects[i]);
        ck_assert_int_eq(waits_on.waiters, cases[i].kind == PA_WAITS_FUTURE ? PA_WAIT_UNKNOWN : (int64_t)i + 1);
    }
    pa_waits_deinit(&waits);
    walk_close(&walk);
}
END_TEST

START_TEST(test_numbers_that_cannot_be_are_unknown)
{
    struct pa_waits waits;
    uint64_t tasks[3], timers[4];
    begin_sized(_i, HEAP);
    uint64_t values[] = {make_deque(UINT64_MAX), make_float(1), 8};
    uint64_t times[] = {make_float(12.5), make_float(NAN), make_float(INFINITY), make_deque(1)};
    for (size_t i = 0; i < COUNT(tasks); i++)
        make_task("Lock.acquire", LOCKS, "self", make_instance("Lock", "_waiters", values[i]), "fut", true, &tasks[i]);
    for (size_t i = 0; i < COUNT(timers); i++)
        make_task("sleep", "/asyncio/tasks.py", "h", make_instance("TimerHandle", "_when", times[i]), "future", true, &timers[i]);
    walk_build(&walk, python);
    pa_waits_init(&waits, &walk.graph);
    for (size_t i = 0; i < COUNT(tasks); i++) {
        ck_assert_int_eq(read(&waits, tasks[i]).kind, PA_WAITS_LOCK);
        ck_assert_int_eq(read(&waits, tasks[i]).waiters, PA_WAIT_UNKNOWN);
    }
    for (size_t i = 0; i < COUNT(timers); i++) {
        struct pa_waits_on waits_on = read(&waits, timers[i]);
        ck_assert_int_eq(waits_on.kind, PA_WAITS_TIMER);
        ck_assert(i == 0 ? waits_on.when == 12.5 : isnan(waits_on.when));
    }
    pa_waits_deinit(&waits);
    walk_close(&walk);
}
END_TEST

/* A lock with its task, and a timer with its own. */
static void make_both(uint64_t tasks[2])
{
    make_task("Lock.acquire", LOCKS, "self", make_instance("Lock", "_waiters", make_deque(3)), "fut", true, &tasks[0]);
    make_task("sleep", "/asyncio/tasks.py", "h", make_instance("TimerHandle", "_when", make_float(2)), "future", true, &tasks[1]);
}

START_TEST(test_whatever_a_word_holds_reading_ends)
{
    static const uint64_t words[] = {0, 1, 8, UINT64_MAX, INT64_MAX, 1ull << 40};
    uint64_t tasks[2], n = 0;
    begin_sized(_i, HEAP);
    uint64_t from = python->next_object;
    make_both(tasks);
    uint64_t to = python->next_object;
    for (uint64_t address = from; address < to; address += 8) {
        uint64_t before = image_u64(python->image, address), other = from + (address * 40503u % (to - from)) / 8 * 8;
        for (size_t i = 0; i < COUNT(words) + 2; i++) {
            struct pa_waits waits;
            if (before == 0 ? i != n++ % (COUNT(words) + 2) : n++ % 2 == 0)
                continue;
            put(address, i < COUNT(words) ? words[i] : i == COUNT(words) ? other : address);
            walk_open(&walk, python);
            check_fast(pa_graph_build(&walk.graph) == PA_OK);
            pa_waits_init(&waits, &walk.graph);
            for (uint32_t k = 0; k < walk.graph.nodes.count; k++) {
                if (walk.graph.nodes.items[k].wait == PA_WAIT_NONE)
                    continue;
                struct pa_waits_on waits_on = read(&waits, walk.graph.nodes.items[k].address);
                check_fast(waits_on.kind < PA_WAITS_COUNT && waits_on.waiters >= PA_WAIT_UNKNOWN && !isinf(waits_on.when));
            }
            pa_waits_deinit(&waits);
            walk_leave(&walk);
        }
        put(address, before);
    }
    python_free(python);
}
END_TEST

/* ---- gather() ---- */

/* A task that awaits what gather() returned for a list of children. */
static uint64_t make_gather(uint64_t children, const char *module, uint64_t *future)
{
    uint64_t base = python->types[PA_KIND_FUTURE], more = python->free_threaded ? 16 : 0;
    uint64_t type = python_type(python, "_GatheringFuture", base, true, 0), namespace = python_dict(python, 1), size = 256;
    uint64_t dict = python_dict(python, 1), task = python_sleeper(python, "t");
    *future = python_object(python, type, size + 8);
    python_dict_set(python, dict, "_children", children);
    python_dict_set(python, namespace, "__module__", python_str(python, module));
    put(type + BASICSIZE + more, size + 8);
    put(type + DICTOFFSET + more, size);
    put(type + MRO + more, make_tuple(1, &type));
    put(type + 264 + more, namespace); /* tp_dict */
    put(*future + size, dict);
    python_await(python, task, *future);
    return task;
}

START_TEST(test_gather_counts_children_within_bounds)
{
    struct pa_waits waits;
    begin_sized(_i, HEAP);
    uint64_t done = python_future(python), future, list_size = python_offset(python, SLOT_list_ob_size);
    python_finish(python, done, 2, 0);
    uint64_t good = make_list(3, (uint64_t[]){python_future(python), done, python_future(python)});
    uint64_t foreign = make_list(2, (uint64_t[]){done, good}), endless = make_list(1, &done), huge = make_list(1, &done);
    put(endless + list_size, 1u << 23);
    put(huge + list_size, 1ull << 39);
    uint64_t tasks[] = {make_gather(good, "asyncio.tasks", &future),
                        make_gather(foreign, "asyncio.tasks", &future),
                        make_gather(endless, "asyncio.tasks", &future),
                        make_gather(huge, "asyncio.tasks", &future),
                        make_gather(good, "app", &future),
                        make_gather(done, "asyncio.tasks", &future)};
    walk_build(&walk, python);
    pa_waits_init(&waits, &walk.graph);
    struct pa_waits_on waits_on = read(&waits, tasks[0]);
    ck_assert_int_eq(waits_on.kind, PA_WAITS_GATHER);
    ck_assert_int_eq(waits_on.left, 2);
    ck_assert_int_eq(waits_on.total, 3);
    for (size_t i = 1; i < 4; i++) {
        waits_on = read(&waits, tasks[i]);
        ck_assert_int_eq(waits_on.kind, PA_WAITS_GATHER);
        ck_assert_int_eq(waits_on.left, PA_WAIT_UNKNOWN);
    }
    ck_assert_int_eq(read(&waits, tasks[4]).kind, PA_WAITS_FUTURE);
    ck_assert_int_eq(read(&waits, tasks[5]).kind, PA_WAITS_FUTURE);
    waits.counted = PA_MAX_COUNTED;
    ck_assert_int_eq(read(&waits, tasks[0]).left, 2); /* counted once, for all that ask */
    walk.graph.counted_gather.future = 0;
    ck_assert_int_eq(read(&waits, tasks[0]).left, PA_WAIT_UNKNOWN);
    pa_waits_deinit(&waits);
    walk_close(&walk);
}
END_TEST

Suite *wait_suite(void)
{
    Suite *suite = suite_create("wait");
    TCase *tests = add_case(suite, "wait");
    tcase_add_loop_test(tests, test_lock_is_known_by_file_function_class_and_future, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_numbers_that_cannot_be_are_unknown, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_gather_counts_children_within_bounds, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_whatever_a_word_holds_reading_ends, 0, PYTHON_BUILDS);
    return suite;
}
