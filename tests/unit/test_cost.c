/*
 * What looking costs, counted in steps of work: four times as much of something must not cost sixteen times as much, whatever the memory
 * looks like, and what is shared by many is not read for each of them without end.
 */
#include "executor.h"
#include "fixture.h"
#include "holder.h"
#include "limits.h"
#include "session.h"

static void begin(int build)
{
    begin_sized(build, 16u << 20);
}

/* Steps that a function takes over the process that has been made. */
static uint64_t steps_of(void (*function)(void))
{
    walk_build(&walk, python);
    walk.work.steps = UINT32_MAX;
    function();
    ck_assert_int_eq(walk.work.fatal, PA_OK);
    uint64_t steps = UINT32_MAX - walk.work.steps;
    walk_close(&walk);
    return steps;
}

/* Linear: four times the cost, and something for what grows by its logarithm or is made anew at steps. */
static void check_linear(int build, void (*make)(uint32_t), void (*function)(void))
{
    enum { FEW = 60 };
    uint64_t steps[2];
    for (uint32_t i = 0; i < 2; i++) {
        begin(build);
        make(i == 0 ? FEW : 4 * FEW);
        steps[i] = steps_of(function);
    }
    ck_assert_uint_ge(steps[0], FEW);
    ck_assert_uint_le(steps[1], 6 * steps[0]);
}

static void find(void)
{
    struct pa_findings findings = {0};
    ck_assert_int_eq(pa_findings_make(&findings, &walk.graph), PA_OK);
    pa_findings_free(&findings);
}

/* ---- who holds locks that a call has taken */

static uint64_t locks[1024];
static uint32_t lock_count;

/* Locks that are held, by nobody that is known; as many threads that are taking others, and tasks that are ready. */
static void make_locks(uint32_t count)
{
    uint64_t code = python_code(python, "Pool.acquire", "/app/pool.py", 10, CO_FUNCTION), other = make_instance("Pool", "x", 8);
    uint64_t ready = python_code(python, "Semaphore.acquire", "/asyncio/locks.py", 10, CO_FUNCTION | CO_COROUTINE);
    set_variables(code, 1, (const char *const[]){"self"});
    set_variables(ready, 1, (const char *const[]){"self"});
    lock_count = count;
    for (uint32_t i = 0; i < count; i++) {
        locks[i] = make_instance("Semaphore", "_value", python_int(python, 0));
        uint64_t thread = python_thread(python, python->interpreter, 100 + i, 100 + i), frame = python_frame(python, code, 3, 0, 0);
        put(frame + python_offset(python, SLOT_frame_localsplus), other);
        python_set_frames(python, thread, frame);
        uint64_t coroutine = python_gen(python, PA_KIND_COROUTINE, ready, YIELD_FROM, 5, 0), future = python_future(python);
        put(python_iframe(python, coroutine) + python_offset(python, SLOT_frame_localsplus), other);
        python_await(python, python_task(python, python_thread_tasks(python, python->thread), python_int(python, i), coroutine),
                     future);
        python_finish(python, future, 2, 0);
    }
}

static void ask_for_holders(void)
{
    struct pa_held held;
    for (uint32_t i = 0; i < lock_count; i++) {
        ck_assert_uint_eq(pa_holders_of(&walk.graph, locks[i], NULL, 0, &held), 0);
        ck_assert(held.none);
    }
}

START_TEST(test_locks_that_calls_took)
{
    check_linear(_i, make_locks, ask_for_holders);
}
END_TEST

/* ---- deadlocks */

/* A circle as it is recorded, in which the last task waits for something else: one after the other is not stuck. */
static void make_chain(uint32_t count)
{
    uint64_t first = python_sleeper(python, "t"), before = first;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t task = python_sleeper(python, "t");
        python_await(python, before, task);
        before = task;
    }
    python_set_awaiter(python, first, before);
}

START_TEST(test_chain_that_is_no_deadlock)
{
    check_linear(_i, make_chain, find);
}
END_TEST

/* ---- executors */

static void make_executors(uint32_t count)
{
    enum { RING = 1 << 16 };
    static const char *const names[] = {"executor_reference", "work_queue"};
    uint64_t code = python_code(python, "_worker", "/usr/lib/python3.14/concurrent/futures/thread.py", 10, CO_FUNCTION);
    uint64_t ring = python_alloc(python, 8ull * RING), none = make_none(), size = python_offset(python, SLOT_object_size);
    uint64_t reference = make_instance("weakref.ReferenceType", "x", 8);
    set_variables(code, 2, names);
    for (uint32_t i = 0; i < RING; i++)
        put(ring + 8 * i, none);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t queue = make_simple_queue(0, NULL, 0), frame = python_frame(python, code, 3, 0, 0);
        put(queue + size + 24, ring);
        put(queue + size + 32, RING);
        put(queue + size + 40, RING);
        put(frame + python_offset(python, SLOT_frame_localsplus), reference);
        put(frame + python_offset(python, SLOT_frame_localsplus) + 8, queue);
        python_set_frames(python, python_thread(python, python->interpreter, 100 + i, 100 + i), frame);
    }
}

static void read_executors(void)
{
    struct pa_executors executors = {0};
    pa_executors_make(&executors, &walk.graph);
    ck_assert_uint_eq(executors.items.count, 64);
    ck_assert_int_eq(executors.items.items[0].queued, 0);
    ck_assert_int_eq(executors.items.items[63].queued, -1); /* not known */
    pa_executors_free(&executors);
}

START_TEST(test_executors_that_share_a_queue)
{
    begin(_i);
    make_executors(64);
    ck_assert_uint_le(steps_of(read_executors), PA_MAX_SUBMITTED + 100000);
}
END_TEST

/* ---- tasks of many loops */

static uint64_t task_of(uint64_t loop)
{
    uint64_t task = python_sleeper(python, "t");
    python_set_loop(python, task, loop);
    return task;
}

static void make_closed_loops(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        task_of(make_instance("_UnixSelectorEventLoop", "_closed", make_bool(true)));
}

START_TEST(test_loops_that_are_closed)
{
    check_linear(_i, make_closed_loops, find);
}
END_TEST

/* Two loops with as many handles as there are tasks, which are ready in turn. */
static void make_ready(uint32_t count)
{
    static const char file[] = "/usr/lib/python3.14/asyncio/base_events.py";
    static const char *const names[] = {"call_soon", "_run_once", NULL};
    uint64_t methods[] = {make_function("BaseEventLoop.call_soon", file, 0), make_function("BaseEventLoop._run_once", file, 0)};
    uint64_t handles[1024], loops[2];
    ck_assert_uint_le(count, COUNT(handles));
    for (uint32_t i = 0; i < count; i++)
        handles[i] = make_instance("Handle", "_cancelled", make_bool(false));
    for (uint32_t i = 0; i < 2; i++) {
        loops[i] = make_instance("_UnixSelectorEventLoop", "_ready", make_deque_of(count, handles, 0, count));
        set_class_attributes(loops[i], names, methods);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t task = task_of(loops[i % 2]), future = python_future(python);
        python_await(python, task, future);
        python_finish(python, future, 2, 0);
        python_set_loop(python, future, loops[i % 2]);
    }
}

static void find_not_woken(void)
{
    struct pa_findings findings = {0};
    ck_assert_int_eq(pa_findings_make(&findings, &walk.graph), PA_OK);
    ck_assert_uint_ge(findings.items.count, 60); /* it was read */
    ck_assert_int_eq(findings.items.items[0].kind, PA_FINDING_DONE_NOT_WOKEN);
    pa_findings_free(&findings);
}

START_TEST(test_ready_tasks_of_two_loops_in_turn)
{
    check_linear(_i, make_ready, find_not_woken);
}
END_TEST

/* ---- what many objects share */

#define LOCKS "/usr/lib/python3.14/asyncio/locks.py"

/* A task in a coroutine with two variables, of which the second holds what it awaits. */
static uint64_t make_waiter(const char *function, const char *file, const char *const names[2], uint64_t self)
{
    uint64_t code = python_code(python, function, file, 10, CO_FUNCTION | CO_COROUTINE), future = python_future(python);
    uint64_t coroutine = python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 5, 0);
    uint64_t slots = python_iframe(python, coroutine) + python_offset(python, SLOT_frame_localsplus);
    uint64_t task = python_task(python, python_thread_tasks(python, python->thread), python_str(python, "t"), coroutine);
    set_variables(code, 2, names);
    put(slots, self);
    put(slots + 8, future);
    python_await(python, task, future);
    python_set_awaiter(python, future, task);
    return future;
}

/* Locks that are free, of which all have the same waiters: a ring of them, which says that it is long. */
static void make_free_locks(uint32_t count)
{
    static const char *const names[] = {"self", "fut"}, *const attributes[] = {"_locked", "_waiters", NULL};
    uint64_t futures[64] = {0}, deque = make_deque_of(64, futures, 0, PA_MAX_DEQUE),
             head = python_offset(python, SLOT_tuple_ob_size);
    uint64_t block = image_u64(python->image, deque + head + 8), values[] = {make_bool(false), deque};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t future = make_waiter("Lock.acquire", LOCKS, names, make_instance_of("Lock", attributes, values));
        put(block + 8 + 8 * (i % 64), future);
    }
    put(block + 8 * 65, block);
}

START_TEST(test_locks_that_share_their_waiters)
{
    begin(_i);
    make_free_locks(64);
    ck_assert_uint_le(steps_of(find), 3ull * PA_MAX_LOOKED);
}
END_TEST

/* Queues that are empty, each with one task that gets; tasks that have failed, which may have one in a variable. */
static void make_queues(uint32_t count)
{
    static const char *const names[] = {"self", "getter"}, *const attributes[] = {"_getters", "_putters", "_queue", "_maxsize",
                                                                                  NULL};
    uint64_t list = python_thread_tasks(python, python->thread), exception = make_none();
    for (uint32_t i = 0; i < count; i++) {
        uint64_t getter = 0, getters = make_deque_of(1, &getter, 0, 1), head = python_offset(python, SLOT_tuple_ob_size);
        uint64_t values[] = {getters, make_deque(0), make_deque(0), python_int(python, 0)};
        uint64_t queue = make_instance_of("Queue", attributes, values);
        getter = make_waiter("Queue.get", "/usr/lib/python3.14/asyncio/queues.py", names, queue);
        put(image_u64(python->image, getters + head + 8) + 8, getter);
        uint64_t failed = python_task(python, list, python_str(python, "failed"), 0);
        python_finish(python, failed, 2, exception);
    }
}

START_TEST(test_queues_and_tasks_that_failed)
{
    check_linear(_i, make_queues, find);
}
END_TEST

/* Limiters of anyio that share a set of borrowers, of which the table is big and nearly empty. */
static void make_limiters(uint32_t count)
{
    enum { SLOTS = 1 << 18 };
    static const char *const attributes[] = {"_borrowers", "_total_tokens", NULL};
    uint64_t set = python_set(python, (const uint64_t[]){make_none()}, 1), table = python_alloc(python, 16ull * SLOTS);
    put(set + python_offset(python, SLOT_set_table), table);
    put(set + python_offset(python, SLOT_set_mask), SLOTS - 1);
    put(set + python_offset(python, SLOT_set_used), 2);
    uint64_t values[] = {set, python_int(python, 1)};
    lock_count = count;
    for (uint32_t i = 0; i < count; i++)
        locks[i] = make_instance_of("CapacityLimiter", attributes, values);
}

static void ask_limiters(void)
{
    struct pa_holder holders[2];
    struct pa_held held;
    for (uint32_t i = 0; i < 3 * lock_count; i++) {
        pa_holders_of(&walk.graph, locks[i / 3], holders, 2, &held);
        ck_assert_int_eq(held.state, PA_HOLD_HELD);
        ck_assert_uint_eq(held.total, 2);
    }
}

START_TEST(test_limiters_that_share_their_borrowers)
{
    begin(_i);
    make_limiters(200);
    ck_assert_uint_le(steps_of(ask_limiters), PA_MAX_LOOKED + 100000);
}
END_TEST

Suite *cost_suite(void)
{
    Suite *suite = suite_create("cost");
    TCase *tests = add_case(suite, "cost");
    tcase_add_loop_test(tests, test_loops_that_are_closed, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_ready_tasks_of_two_loops_in_turn, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_locks_that_share_their_waiters);
    tcase_add_loop_test(tests, test_queues_and_tasks_that_failed, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_limiters_that_share_their_borrowers, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_locks_that_calls_took, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_chain_that_is_no_deadlock, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_executors_that_share_a_queue, 0, PYTHON_BUILDS);
    return suite;
}
