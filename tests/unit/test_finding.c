/* Findings: what makes one, what is just not one, and damaged objects. */
#include "session.h"

#include "fixture.h"
#include "limits.h"

static struct pa_findings findings;
static uint64_t list_type, builtin_type;

static void begin(int build)
{
    begin_sized(build, HEAP);
    list_type = python_type(python, "list", python->object_type, false, 1u << 25);
    builtin_type = python_type(python, "builtin_function_or_method", python->object_type, false, 0);
}

static void find(void)
{
    walk_build(&walk, python);
    findings = (struct pa_findings){0};
    ck_assert_int_eq(pa_findings_make(&findings, &walk.graph), PA_OK);
}

static void end(void)
{
    pa_findings_free(&findings);
    walk_close(&walk);
}

static uint32_t count_of(enum pa_finding_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < findings.items.count; i++)
        count += findings.items.items[i].kind == kind;
    return count;
}

/* The addresses of the tasks of the only finding. */
static uint64_t task_of(uint32_t place)
{
    ck_assert_uint_eq(findings.items.count, 1);
    ck_assert_uint_lt(place, findings.items.items[0].task_count);
    return walk.graph.nodes.items[pa_finding_tasks(&findings, findings.items.items)[place]].address;
}

/* A task in asyncio's Lock.acquire() of a lock that is made later: its place is returned. */
static uint64_t make_acquirer(uint64_t *task, uint64_t *self)
{
    uint64_t code = python_code(python, "Lock.acquire", "/usr/lib/python3.14/asyncio/locks.py", 10, CO_FUNCTION | CO_COROUTINE);
    uint64_t future = python_future(python), coroutine = python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 5, 0);
    set_variables(code, 2, (const char *const[]){"self", "fut"});
    *self = python_iframe(python, coroutine) + python_offset(python, SLOT_frame_localsplus);
    put(*self + 8, future);
    *task = python_task(python, python_thread_tasks(python, python->thread), python_str(python, "t"), coroutine);
    python_await(python, *task, future);
    python_set_awaiter(python, future, *task);
    return future;
}

/* Two tasks that wait for one lock. */
static uint64_t tasks[2], waiters[2], selves[2], deque, block, locked;

static void make_lock(bool is_locked)
{
    static const char *const names[] = {"_locked", "_waiters", NULL};
    for (uint32_t i = 0; i < 2; i++)
        waiters[i] = make_acquirer(&tasks[i], &selves[i]);
    deque = make_deque_of(2, waiters, 0, 2);
    block = image_u64(python->image, deque + python_offset(python, SLOT_object_size) + 8);
    locked = make_bool(is_locked);
    uint64_t values[] = {locked, deque}, lock = make_instance_of("Lock", names, values);
    put(selves[0], lock);
    put(selves[1], lock);
}

START_TEST(test_many_cancel_requests)
{
    for (uint32_t requests = PA_MANY_CANCELS; requests <= PA_MANY_CANCELS + 1; requests++) {
        begin(_i);
        uint64_t task = python_sleeper(python, "a"), more = python_sleeper(python, "b");
        image_put_u32(python->image, task + python_asyncio(python)->is_task + 4, requests);
        image_put_u32(python->image, more + python_asyncio(python)->is_task + 4, 0x80000000u + requests); /* none of an int */
        find();
        ck_assert_uint_eq(findings.items.count, requests > PA_MANY_CANCELS);
        if (findings.items.count > 0)
            ck_assert_uint_eq(task_of(0), task);
        end();
    }
}
END_TEST

START_TEST(test_many_callbacks)
{
    /* of the list: the first callback is in none */
    static const uint64_t lengths[] = {PA_MANY_CALLBACKS - 1, 1ull << 41, UINT64_MAX, PA_MANY_CALLBACKS};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        begin(_i);
        uint64_t task = python_sleeper(python, "a"), list = python_object(python, list_type, python_offset(python, SLOT_list_size));
        put(list + python_offset(python, SLOT_list_ob_size), lengths[i]);
        put(task + python_asyncio(python)->awaited_by - 56, list);
        find();
        ck_assert_uint_eq(findings.items.count, i == COUNT(lengths) - 1);
        end();
    }
}
END_TEST

START_TEST(test_tasks_that_await_each_other_are_a_deadlock)
{
    for (uint32_t is_closed = 0; is_closed < 2; is_closed++) {
        begin(_i);
        uint64_t a = python_sleeper(python, "a"), b = python_sleeper(python, "b");
        python_await(python, a, b);
        if (is_closed)
            python_await(python, b, a);
        python_set_awaiter(python, a, b); /* recorded, but b waits for something else */
        find();
        ck_assert_uint_eq(walk.graph.cycle_ends.count, 1);
        ck_assert_uint_eq(count_of(PA_FINDING_DEADLOCK), is_closed);
        ck_assert_uint_eq(findings.told_cycles, is_closed);
        end();
    }
}
END_TEST

START_TEST(test_free_lock_with_waiters)
{
    begin(_i);
    make_lock(false);
    find();
    ck_assert_uint_eq(count_of(PA_FINDING_FREE_BUT_WAITED), 1);
    ck_assert_uint_eq(task_of(0), tasks[0]);
    ck_assert_uint_eq(task_of(1), tasks[1]);
    end();
}
END_TEST

START_TEST(test_lock_that_is_held_or_has_woken_a_waiter)
{
    for (uint32_t is_woken = 0; is_woken < 2; is_woken++) {
        begin(_i);
        make_lock(!is_woken);
        if (is_woken)
            python_finish(python, waiters[1], 2, 0);
        find();
        ck_assert_uint_eq(count_of(PA_FINDING_FREE_BUT_WAITED), 0);
        end();
    }
}
END_TEST

START_TEST(test_damaged_waiters)
{
    enum { CASES = 6 };
    for (uint32_t i = 0; i < CASES; i++) {
        begin(_i);
        make_lock(false);
        uint64_t length = deque + python_offset(python, SLOT_tuple_ob_size), head = deque + python_offset(python, SLOT_object_size);
        if (i == 0)
            put(length, UINT64_MAX);
        else if (i == 1)
            put(length, 1ull << 38);
        else if (i == 2)
            put(length, 64); /* more than there are */
        else if (i == 3)
            put(head + 8, 0x123); /* no block */
        else if (i == 4)
            put(head + 24, UINT64_MAX); /* leftindex */
        else
            put(block + 8, deque); /* no future */
        find();
        ck_assert_uint_eq(count_of(PA_FINDING_FREE_BUT_WAITED), 0);
        end();
    }
}
END_TEST

START_TEST(test_deque_that_goes_round_in_circles)
{
    begin(_i);
    make_lock(false);
    for (uint32_t i = 0; i < 64; i++)
        put(block + 8 + 8 * i, waiters[i % 2]);
    put(block + 8 * 65, block);
    put(deque + python_offset(python, SLOT_tuple_ob_size), 100000);
    find(); /* ends, whatever it tells */
    end();
}
END_TEST

static void set_refcnt(uint64_t object, uint32_t refcnt)
{
    image_put_u32(python->image, object, refcnt);
}

/* A task that only its future refers to, and that only the task. */
static uint64_t make_lost(void)
{
    uint64_t code = python_code(python, "lost", "/app/main.py", 10, CO_FUNCTION | CO_COROUTINE), future = python_future(python);
    uint64_t coroutine = python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 5, 0);
    uint64_t task = python_task(python, python_thread_tasks(python, python->thread), python_str(python, "t"), coroutine);
    uint64_t wakeup = python_object(python, builtin_type, 64);
    python_await(python, task, future);
    python_set_awaiter(python, future, task);
    put(wakeup + python_offset(python, SLOT_object_size) + 8, task);
    put(future + python_asyncio(python)->awaited_by - 72, wakeup); /* fut_callback0 */
    uint64_t iterator = image_u64(python->image, python_awaited_slot(python, coroutine)) & ~(uint64_t)3;
    set_refcnt(task, 2);
    set_refcnt(future, 2);
    set_refcnt(wakeup, 1);
    set_refcnt(iterator, 1);
    set_refcnt(coroutine, 1);
    return task;
}

START_TEST(test_lost_task)
{
    for (uint32_t refcnt = 1; refcnt <= 4; refcnt++) {
        begin(_i);
        uint64_t task = make_lost();
        set_refcnt(task, refcnt);
        find();
        ck_assert_uint_eq(count_of(PA_FINDING_UNREACHABLE), refcnt == 2 && !python->free_threaded);
        end();
    }
}
END_TEST

START_TEST(test_names_in_findings_are_escaped_and_redacted)
{
    struct pa_session *session;
    begin(_i);
    uint64_t task = python_sleeper(python, "x");
    put(task + python_asyncio(python)->name, python_str(python, "password=hunter2 \x1b[31m\"\n! runaway"));
    image_put_u32(python->image, task + python_asyncio(python)->is_task + 4, 1000);
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    for (uint32_t format = PA_FORMAT_TEXT; format <= PA_FORMAT_DOT; format++) {
        struct pa_request request = {.format = format, .flags = PA_REQUEST_ALL, .thread = PA_THREAD_DEFAULT};
        image_reset(python->image);
        ck_assert_int_eq(pa_session_run(session, &request), PA_OK);
        const char *output = python->image->output;
        ck_assert(strstr(output, "was asked to cancel 1,000 times") && strstr(output, "<redacted>"));
        ck_assert(!strstr(output, "hunter2") && !strchr(output, 0x1b) && !strstr(output, "\n! runaway\""));
        ck_assert(format != PA_FORMAT_JSON || strstr(output, "\\\\x1b[31m\\\"\\\\n! runaway was asked"));
    }
    pa_session_destroy(session);
    python_free(python);
}
END_TEST

Suite *finding_suite(void)
{
    Suite *suite = suite_create("finding");
    TCase *found = add_case(suite, "found"), *damaged = add_case(suite, "damaged");
    tcase_add_loop_test(found, test_many_cancel_requests, 0, PYTHON_BUILDS);
    tcase_add_loop_test(found, test_many_callbacks, 0, PYTHON_BUILDS);
    tcase_add_loop_test(found, test_tasks_that_await_each_other_are_a_deadlock, 0, PYTHON_BUILDS);
    tcase_add_loop_test(found, test_free_lock_with_waiters, 0, PYTHON_BUILDS);
    tcase_add_loop_test(found, test_lock_that_is_held_or_has_woken_a_waiter, 0, PYTHON_BUILDS);
    tcase_add_loop_test(found, test_lost_task, 0, PYTHON_BUILDS);
    tcase_add_loop_test(found, test_names_in_findings_are_escaped_and_redacted, 0, PYTHON_BUILDS);
    tcase_add_loop_test(damaged, test_damaged_waiters, 0, PYTHON_BUILDS);
    tcase_add_loop_test(damaged, test_deque_that_goes_round_in_circles, 0, PYTHON_BUILDS);
    return suite;
}
