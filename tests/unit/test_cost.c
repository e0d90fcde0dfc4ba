/*
 * What looking costs, counted in steps of work: four times as much of something must not cost sixteen times as much, whatever the memory
 * looks like, and what is shared by many is not read for each of them without end.
 */
#include "executor.h"
#include "holder.h"
#include "instances.h"
#include "limits.h"
#include "session.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

static void put(uint64_t address, uint64_t value)
{
    image_put_u64(python->image, address, value);
}

static void begin(int build)
{
    python = python_new_sized((enum python_build)build, 16u << 20);
    instances_begin(python);
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

Suite *cost_suite(void)
{
    Suite *suite = suite_create("cost");
    TCase *tests = add_case(suite, "cost");
    tcase_add_loop_test(tests, test_locks_that_calls_took, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_chain_that_is_no_deadlock, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_executors_that_share_a_queue, 0, PYTHON_BUILDS);
    return suite;
}
