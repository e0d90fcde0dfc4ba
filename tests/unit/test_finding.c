/* Findings: what makes one, what is just not one, and damaged objects. */
#include "session.h"
#include "walk.h"

#include "limits.h"

static struct walk walk;
static struct python *python;
static struct pa_findings findings;
static uint64_t tuple_type, list_type, bytes_type, deque_type, bool_type, builtin_type;

static void begin(int build)
{
    python = python_new((enum python_build)build);
    tuple_type = python_type(python, "tuple", python->object_type, false, 1u << 26);
    list_type = python_type(python, "list", python->object_type, false, 1u << 25);
    bytes_type = python_type(python, "bytes", python->object_type, false, 1u << 27);
    deque_type = python_type(python, "collections.deque", python->object_type, true, 0);
    bool_type = python_type(python, "bool", python->object_type, false, 1u << 24);
    builtin_type = python_type(python, "builtin_function_or_method", python->object_type, false, 0);
}

static void put(uint64_t address, uint64_t value)
{
    image_put_u64(python->image, address, value);
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

static uint64_t sized(uint64_t type, uint64_t length, uint64_t size)
{
    uint64_t object = python_object(python, type, size);
    put(object + python_offset(python, SLOT_tuple_ob_size), length);
    return object;
}

static uint64_t make_tuple(uint32_t count, const uint64_t *items)
{
    uint64_t tuple = sized(tuple_type, count, python_offset(python, SLOT_tuple_item) + 8 * (count + 1));
    for (uint32_t i = 0; i < count; i++)
        put(tuple + python_offset(python, SLOT_tuple_item) + 8 * i, items[i]);
    return tuple;
}

/* A deque of one block. Modules/_collectionsmodule.c, dequeobject and block */
static uint64_t make_deque(uint32_t count, const uint64_t *items, uint64_t *block)
{
    uint64_t head = python_offset(python, SLOT_object_size), deque = sized(deque_type, count, head + 64);
    *block = python_alloc(python, 8 * 66);
    put(deque + head + 8, *block);
    for (uint32_t i = 0; i < count; i++)
        put(*block + 8 + 8 * i, items[i]);
    return deque;
}

/* Offsets in PyTypeObject with the GIL; without it they are 16 more. */
enum { BASICSIZE = 32, DICTOFFSET = 288, MRO = 344 };

static uint64_t make_instance(const char *name, const char *const *names, const uint64_t *values, uint32_t count)
{
    uint64_t type = python_type(python, name, python->object_type, true, 0), more = python->free_threaded ? 16 : 0;
    uint64_t size = python_offset(python, SLOT_object_size), object = python_object(python, type, size + 8);
    uint64_t dict = python_dict(python, 1);
    for (uint32_t i = 0; i < count; i++)
        python_dict_set(python, dict, names[i], values[i]);
    put(type + BASICSIZE + more, size + 8);
    put(type + DICTOFFSET + more, size);
    put(type + MRO + more, make_tuple(1, &type));
    put(object + size, dict);
    return object;
}

static uint64_t make_bool(bool value)
{
    uint64_t object = python_int(python, value);
    put(object + python_offset(python, SLOT_object_ob_type), bool_type);
    return object;
}

/* A task in asyncio's Lock.acquire() of a lock that is made later: its place is returned. */
static uint64_t make_acquirer(uint64_t *task, uint64_t *self)
{
    uint64_t code = python_code(python, "Lock.acquire", "/usr/lib/python3.14/asyncio/locks.py", 10, CO_FUNCTION | CO_COROUTINE);
    uint64_t future = python_future(python), names[] = {python_str(python, "self"), python_str(python, "fut")};
    uint64_t kinds = sized(bytes_type, 2, python_offset(python, SLOT_bytes_data) + 8);
    put(kinds + python_offset(python, SLOT_bytes_length), 2);
    image_put(python->image, kinds + python_offset(python, SLOT_bytes_data), "\x20\x20", 2);
    image_put_u32(python->image, code + python_offset(python, SLOT_code_firstlineno) + 4, 2); /* co_nlocalsplus */
    put(code + python_offset(python, SLOT_code_localsplusnames), make_tuple(2, names));
    put(code + python_offset(python, SLOT_code_localspluskinds), kinds);
    uint64_t coroutine = python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 5, 0);
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
    static const char *const names[] = {"_locked", "_waiters"};
    for (uint32_t i = 0; i < 2; i++)
        waiters[i] = make_acquirer(&tasks[i], &selves[i]);
    deque = make_deque(2, waiters, &block);
    locked = make_bool(is_locked);
    uint64_t values[] = {locked, deque}, lock = make_instance("Lock", names, values, 2);
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
