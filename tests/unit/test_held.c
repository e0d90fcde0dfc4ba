/* Objects that are no coroutines and hold one: in the dictionary, in slots; several, foreign ones, damaged objects and classes. */
#include "held.h"
#include "limits.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

static void begin(int build)
{
    python = python_new((enum python_build)build);
}

/* Offsets in PyTypeObject with the GIL; without it they are 16 more. */
enum { BASICSIZE = 32, MEMBERS = 240, DICTOFFSET = 288, MRO = 344 };

static uint64_t header(void)
{
    return python_offset(python, SLOT_object_size);
}

static void set_in_type(uint64_t type, uint64_t offset, uint64_t value)
{
    image_put_u64(python->image, type + offset + (python->free_threaded ? 16 : 0), value);
}

/* An object of a class "Holds" with its __dict__ in the first word and room for @p slots slots behind it. */
static uint64_t make_object(uint32_t slots)
{
    static const char *const names[] = {"a", "b", "c"};
    uint64_t type = python_type(python, "Holds", python->object_type, true, 0);
    uint64_t object = python_object(python, type, header() + 8 + 8 * slots);
    uint64_t tuple = python_type(python, "bases", python->object_type, true, 1u << 26); /* Py_TPFLAGS_TUPLE_SUBCLASS */
    uint64_t mro = python_object(python, tuple, 64), members = python_alloc(python, (slots + 1) * 40);
    image_put_u64(python->image, mro + python_offset(python, SLOT_tuple_ob_size), 1);
    image_put_u64(python->image, mro + python_offset(python, SLOT_tuple_item), type);
    for (uint32_t i = 0; i < slots; i++) {
        uint64_t name = python_alloc(python, 8);
        image_put(python->image, name, names[i], 2);
        image_put_u64(python->image, members + 40 * i, name);
        image_put_u32(python->image, members + 40 * i + 8, 16); /* Py_T_OBJECT_EX */
        image_put_u64(python->image, members + 40 * i + 16, header() + 8 + 8 * i);
    }
    set_in_type(type, BASICSIZE, header() + 8 + 8 * slots);
    set_in_type(type, DICTOFFSET, header());
    set_in_type(type, MEMBERS, slots ? members : 0);
    set_in_type(type, MRO, mro);
    return object;
}

static uint64_t type_of(uint64_t object)
{
    return image_u64(python->image, object + python_offset(python, SLOT_object_ob_type));
}

static uint64_t add_dict(uint64_t object)
{
    uint64_t dict = python_dict(python, 1);
    image_put_u64(python->image, object + header(), dict);
    return dict;
}

static void set_slot(uint64_t object, uint32_t slot, uint64_t value)
{
    image_put_u64(python->image, object + header() + 8 + 8 * slot, value);
}

static uint64_t future_iter(void)
{
    return python_wrapper(python, PA_KIND_FUTURE_ITER, python_future(python));
}

/* A suspended coroutine, and the future that it awaits. */
static uint64_t suspended(uint64_t *future)
{
    uint64_t iter = future_iter();
    if (future)
        *future = image_u64(python->image, iter + header());
    return python_coroutine(python, "held", iter);
}

/* Follow @p object for a task that is suspended on @p waiter. */
static void follow(uint64_t object, uint64_t waiter, uint32_t links, enum pa_chain_end end)
{
    walk_open(&walk, python);
    pa_chain_follow(&walk.codes, object, waiter, &walk.graph.chain);
    ck_assert_uint_eq(walk.graph.chain.links.count, links);
    ck_assert_int_eq(walk.graph.chain.end, end);
    ck_assert_int_eq(pa_chain_is_derived(&walk.graph.chain), links > walk.graph.chain.derived);
    ck_assert_int_eq(walk.work.fatal, PA_OK);
}

START_TEST(test_coroutine_in_a_slot)
{
    begin(_i);
    uint64_t future, object = make_object(2);
    set_slot(object, 1, suspended(&future));
    follow(object, future, 2, PA_END_FUTURE);
    ck_assert(pa_chain_is_derived(&walk.graph.chain));
    ck_assert_uint_eq(walk.graph.chain.derived, 1);
    walk_close(&walk);
}
END_TEST

START_TEST(test_coroutine_in_the_dictionary)
{
    begin(_i);
    uint64_t future, object = make_object(0), dict = add_dict(object);
    python_dict_set(python, dict, "url", python_str(python, "http://localhost/"));
    python_dict_set(python, dict, "coro", suspended(&future));
    uint64_t outer = python_coroutine(python, "outer", object);
    follow(outer, future, 3, PA_END_FUTURE);
    ck_assert_uint_eq(walk.graph.chain.derived, 2);
    walk_close(&walk);
}
END_TEST

START_TEST(test_the_same_coroutine_twice_is_one)
{
    begin(_i);
    uint64_t future, object = make_object(3), coroutine = suspended(&future);
    set_slot(object, 0, coroutine);
    set_slot(object, 2, coroutine);
    python_dict_set(python, add_dict(object), "again", coroutine);
    follow(object, future, 2, PA_END_FUTURE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_two_coroutines_are_none)
{
    begin(_i);
    uint64_t future, object = make_object(2);
    set_slot(object, 0, suspended(&future));
    set_slot(object, 1, suspended(NULL));
    follow(object, future, 1, PA_END_AWAITABLE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_one_that_has_ended_does_not_count)
{
    begin(_i);
    uint64_t future, object = make_object(2), ended = suspended(NULL);
    python_set_state(python, ended, CLEARED);
    set_slot(object, 0, ended);
    set_slot(object, 1, suspended(&future));
    follow(object, future, 2, PA_END_FUTURE);
    walk_close(&walk);
}
END_TEST

/* A task is suspended on what its innermost coroutine yielded: where that is another future, the coroutine is not the task's. */
START_TEST(test_coroutine_that_leads_elsewhere_is_not_followed)
{
    begin(_i);
    uint64_t future, object = make_object(1), other = python_future(python);
    set_slot(object, 0, suspended(&future));
    follow(object, other, 1, PA_END_AWAITABLE);
    ck_assert_uint_eq(walk.graph.chain.end_object, object);
    walk_close(&walk);
}
END_TEST

/* A task that is suspended on nothing is about to run: then the future that its coroutine awaits is done. */
START_TEST(test_ready_task_awaits_what_is_done)
{
    begin(_i / 2);
    uint64_t future, object = make_object(1);
    set_slot(object, 0, suspended(&future));
    if (_i % 2)
        python_finish(python, future, 2, 0);
    follow(object, 0, _i % 2 ? 2 : 1, _i % 2 ? PA_END_FUTURE : PA_END_AWAITABLE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_coroutine_that_has_not_started_belongs_to_a_task_that_waits_for_nothing)
{
    begin(_i / 2);
    uint64_t object = make_object(1), coroutine = suspended(NULL), waiter = _i % 2 ? python_future(python) : 0;
    python_set_state(python, coroutine, CREATED);
    set_slot(object, 0, coroutine);
    follow(object, waiter, waiter ? 1 : 2, waiter ? PA_END_AWAITABLE : PA_END_CREATED);
    walk_close(&walk);
}
END_TEST

/* An object that knows the coroutine that awaits it: following that would go round for ever. */
START_TEST(test_coroutine_that_awaits_the_object_is_not_followed)
{
    begin(_i);
    uint64_t object = make_object(1), outer = python_coroutine(python, "outer", object);
    set_slot(object, 0, outer);
    follow(outer, python_future(python), 2, PA_END_AWAITABLE);
    ck_assert_ptr_null(walk.graph.chain.why);
    walk_close(&walk);
}
END_TEST

START_TEST(test_object_that_holds_itself_or_its_kind_ends_the_chain)
{
    begin(_i / 2);
    uint64_t object = make_object(1), other = make_object(1);
    set_slot(object, 0, _i % 2 ? object : other);
    set_slot(other, 0, object);
    follow(object, 0, 1, PA_END_AWAITABLE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_damaged_class_or_object_ends_the_chain)
{
    begin(_i % PYTHON_BUILDS);
    uint64_t object = make_object(2), type = type_of(object), none = 0;
    set_slot(object, 0, suspended(NULL));
    switch (_i / PYTHON_BUILDS) {
    case 0:
        set_in_type(type, BASICSIZE, UINT64_MAX); /* slots lie outside of any object */
        break;
    case 1:
        set_in_type(type, MEMBERS, 0x1000);
        break;
    case 2:
        set_in_type(type, MRO, type);
        break;
    case 3:
        set_in_type(type, DICTOFFSET, 0x100000);
        set_in_type(type, MRO, 0);
        break;
    case 4:
        image_put_u64(python->image, object + header(), 0x1000); /* the dictionary */
        none = 1;
        break;
    case 5:
        set_slot(object, 0, 0x1008);
        break;
    default:
        set_slot(object, 0, UINT64_MAX);
    }
    follow(object, none ? python_future(python) : 0, 1, PA_END_AWAITABLE);
    walk_close(&walk);
}
END_TEST

/* A dictionary with more entries than are looked at: what the rest holds is not known. */
START_TEST(test_object_with_too_many_attributes_is_not_followed)
{
    python = python_new_sized((enum python_build)_i, 4 << 20);
    uint64_t future, object = make_object(1), dict = python_dict(python, 1);
    uint64_t keys = python_alloc(python, 32 + 4096 + 4096 * 16), name = python_str(python, "n"), value = python_int(python, 1);
    image_put_u8(python->image, keys + 8, 12);
    image_put_u8(python->image, keys + 9, 12);
    image_put_u8(python->image, keys + 10, 1);
    image_put_u64(python->image, keys + 24, PA_MAX_HELD_ATTRIBUTES + 1);
    for (uint64_t i = 0; i <= PA_MAX_HELD_ATTRIBUTES; i++) {
        image_put_u64(python->image, keys + 32 + 4096 + 16 * i, name);
        image_put_u64(python->image, keys + 32 + 4096 + 16 * i + 8, value);
    }
    image_put_u64(python->image, dict + python_offset(python, SLOT_dict_keys), keys);
    image_put_u64(python->image, object + header(), dict);
    set_slot(object, 0, suspended(&future));
    follow(object, future, 1, PA_END_AWAITABLE);
    walk_close(&walk);
}
END_TEST

/* Objects of objects of objects: each step is one of the bounded chain. */
START_TEST(test_long_chain_of_objects_is_bounded)
{
    python = python_new_sized(PYTHON_3_15, 64 << 20);
    uint64_t future, next = suspended(&future), first = make_object(1), type = type_of(first);
    uint64_t code = python_code(python, "link", "/app/main.py", 10, CO_COROUTINE);
    for (int i = 0; i < 20000; i++) {
        uint64_t object = python_object(python, type, header() + 16);
        set_slot(object, 0, next);
        next = python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 5, object);
    }
    follow(next, future, 40001, PA_END_FUTURE);
    ck_assert_uint_eq(walk.graph.chain.derived, 2);
    walk_close(&walk);
}
END_TEST

/* The coroutine that runs in a thread is one task's; another task's object that knows it has nothing to do with it. */
START_TEST(test_running_coroutine_belongs_to_the_task_that_runs)
{
    begin(_i);
    uint64_t list = python_thread_tasks(python, python->thread), coroutine = python_coroutine(python, "runs", 0);
    uint64_t stranger = make_object(1), own = make_object(1);
    set_slot(stranger, 0, coroutine);
    set_slot(own, 0, coroutine);
    python_set_state(python, coroutine, EXECUTING);
    uint64_t other = python_task(python, list, python_str(python, "other"), stranger);
    uint64_t task = python_task(python, list, python_str(python, "task"), own), loop = python_new_loop(python);
    python_set_loop(python, task, loop);
    python_set_loop(python, other, loop);
    python_set_frames(python, python->thread, python_iframe(python, coroutine));
    python_run_task(python, python->thread, loop, task);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_stack(&walk, task), "Holds! runs:15");
    ck_assert_str_eq(walk_stack(&walk, other), "Holds!");
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

Suite *held_suite(void)
{
    Suite *suite = suite_create("held");
    TCase *tests = add_case(suite, "held");
    tcase_add_loop_test(tests, test_coroutine_in_a_slot, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_coroutine_in_the_dictionary, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_the_same_coroutine_twice_is_one, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_two_coroutines_are_none, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_one_that_has_ended_does_not_count, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_coroutine_that_leads_elsewhere_is_not_followed, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_ready_task_awaits_what_is_done, 0, 2 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_coroutine_that_has_not_started_belongs_to_a_task_that_waits_for_nothing, 0, 2 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_coroutine_that_awaits_the_object_is_not_followed, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_object_that_holds_itself_or_its_kind_ends_the_chain, 0, 2 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_damaged_class_or_object_ends_the_chain, 0, 7 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_object_with_too_many_attributes_is_not_followed, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_long_chain_of_objects_is_bounded);
    tcase_add_loop_test(tests, test_running_coroutine_belongs_to_the_task_that_runs, 0, PYTHON_BUILDS);
    return suite;
}
