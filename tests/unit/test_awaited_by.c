/* Who waits for whom: sets of awaiters, ended ones, futures between tasks, what is reached by it only. */
#include "details.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

static void begin(int build)
{
    python = python_new((enum python_build)build);
}

START_TEST(test_one_awaiter)
{
    begin(_i);
    uint64_t child = python_sleeper(python, "child"), parent = python_sleeper(python, "parent");
    python_await(python, parent, child);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_awaiters(&walk, child), "parent");
    ck_assert_str_eq(walk_awaiters(&walk, parent), "");
    walk_close(&walk);
}
END_TEST

START_TEST(test_set_of_awaiters_in_the_order_of_creation_without_deleted_ones)
{
    begin(_i);
    uint64_t child = python_sleeper(python, "child"), a = python_sleeper(python, "a"), b = python_sleeper(python, "b"),
             c = python_sleeper(python, "c");
    python_set_awaiters(python, child, python_set(python, (const uint64_t[]){c, 0, b, 0, a}, 5));
    walk_build(&walk, python);
    ck_assert_str_eq(walk_awaiters(&walk, child), "a b c");
    ck_assert_uint_eq(walk_item(&walk, child)->stale, 0);
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_set_that_has_become_empty)
{
    begin(_i);
    uint64_t child = python_sleeper(python, "child");
    python_set_awaiters(python, child, python_set(python, (const uint64_t[]){0, 0}, 2));
    walk_build(&walk, python);
    ck_assert_str_eq(walk_awaiters(&walk, child), "");
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_ended_awaiter_is_stale_and_no_waiter)
{
    begin(_i);
    uint64_t child = python_sleeper(python, "child"), a = python_sleeper(python, "a"), ended[3];
    for (uint32_t i = 0; i < 3; i++) {
        ended[i] = python_task(python, 0, python_str(python, "ended"), python_coroutine(python, "f", 0));
        python_finish(python, ended[i], i == 0 ? 1 : 2, i == 1 ? python->dummy : 0);
    }
    python_set_awaiters(python, child, python_set(python, (const uint64_t[]){ended[0], a, ended[1], ended[2]}, 4));
    walk_build(&walk, python);
    ck_assert_str_eq(walk_awaiters(&walk, child), "a");
    ck_assert_uint_eq(walk_item(&walk, child)->stale, 3);
    ck_assert_int_eq(walk_item(&walk, ended[0])->state, PA_CANCELLED);
    ck_assert_int_eq(walk_item(&walk, ended[1])->state, PA_FAILED_STATE);
    ck_assert_int_eq(walk_item(&walk, ended[2])->state, PA_DONE);
    ck_assert_int_eq(walk_item(&walk, ended[0])->activity, PA_ENDED);
    ck_assert_str_eq(walk_stack(&walk, ended[0]), "");
    walk_close(&walk);
}
END_TEST

START_TEST(test_future_between_tasks)
{
    begin(_i);
    uint64_t child = python_sleeper(python, "child"), parent = python_sleeper(python, "parent"), outer = python_future(python);
    python_set_awaiter(python, child, outer); /* shield() */
    python_set_awaiter(python, outer, parent);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_awaiters(&walk, child), "future");
    ck_assert_str_eq(walk_awaiters(&walk, outer), "parent");
    ck_assert(!(walk_item(&walk, outer)->flags & PA_NODE_TASK));
    walk_close(&walk);
}
END_TEST

START_TEST(test_diamond_has_each_edge_once)
{
    begin(_i);
    uint64_t bottom = python_sleeper(python, "bottom"), left = python_sleeper(python, "left"),
             right = python_sleeper(python, "right"), top = python_sleeper(python, "top");
    python_set_awaiters(python, bottom, python_set(python, (const uint64_t[]){left, right}, 2));
    python_set_awaiter(python, left, top);
    python_set_awaiter(python, right, top);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_awaiters(&walk, bottom), "left right");
    ck_assert_str_eq(walk_awaiters(&walk, left), "top");
    ck_assert_str_eq(walk_awaiters(&walk, right), "top");
    ck_assert_uint_eq(walk.graph.task_count, 4);
    walk_close(&walk);
}
END_TEST

START_TEST(test_task_that_is_only_reached_is_read)
{
    begin(_i);
    uint64_t child = python_sleeper(python, "child"),
             hidden = python_task(python, 0, python_str(python, "hidden"), python_coroutine(python, "g", 0));
    uint64_t further = python_task(python, 0, python_str(python, "further"), python_coroutine(python, "h", 0));
    python_set_awaiter(python, child, hidden);
    python_await(python, hidden, further);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "child hidden further");
    ck_assert_str_eq(walk_stack(&walk, hidden), "g:15");
    ck_assert_int_eq(walk_item(&walk, hidden)->thread, PA_NO_THREAD);
    walk_close(&walk);
}
END_TEST

START_TEST(test_awaiter_that_is_garbage_is_a_problem)
{
    static const uint64_t addresses[] = {0x1000, 12, UINT64_MAX, PYTHON_HEAP + 8};
    begin(PYTHON_3_15);
    uint64_t child = python_sleeper(python, "child"), a = python_sleeper(python, "a");
    if (_i % 2)
        python_set_awaiter(python, child, addresses[_i / 2]);
    else
        python_set_awaiters(python, child, python_set(python, (const uint64_t[]){addresses[_i / 2], a}, 2));
    walk_build(&walk, python);
    ck_assert_str_eq(walk_awaiters(&walk, child), _i % 2 ? "" : "a");
    ck_assert(walk_has_problem(&walk, "neither a task nor a future"));
    ck_assert_uint_eq(walk.graph.problems.items[0].node, walk_node(&walk, child));
    walk_close(&walk);
}
END_TEST

START_TEST(test_damaged_set_of_awaiters_is_a_problem)
{
    begin(PYTHON_3_14);
    uint64_t child = python_sleeper(python, "child"), a = python_sleeper(python, "a"), set = python_set(python, &a, 1);
    python_set_awaiters(python, child, _i == 0 ? 0x1000 : set);
    if (_i == 1)
        image_put_u64(python->image, set + python_offset(python, SLOT_set_mask), UINT64_MAX);
    if (_i == 2)
        image_put_u64(python->image, set + python_offset(python, SLOT_set_used), 4);
    walk_build(&walk, python);
    ck_assert(walk_has_problem(&walk, "awaiters may be missing"));
    ck_assert_str_eq(walk_awaiters(&walk, child), _i == 2 ? "a" : "");
    walk_close(&walk);
}
END_TEST

START_TEST(test_ten_thousand_awaiters_of_one_task)
{
    python = python_new_sized(PYTHON_3_15, 16 << 20);
    uint64_t *tasks = calloc(10000, sizeof(*tasks)), name = python_int(python, 1), coroutine = python_coroutine(python, "f", 0);
    for (int i = 0; i < 10000; i++)
        tasks[i] = python_task(python, python_main_tasks(python), name, coroutine);
    uint64_t child = python_sleeper(python, "child");
    python_set_awaiters(python, child, python_set(python, tasks, 10000));
    free(tasks);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk_item(&walk, child)->edge_count, 10000);
    walk_close(&walk);
}
END_TEST

START_TEST(test_task_of_a_coroutine_on_its_stack)
{
    begin(_i);
    uint64_t agen = python_gen(python, PA_KIND_ASYNC_GENERATOR, python_code(python, "agen", "/a.py", 1, CO_ASYNC_GENERATOR),
                               YIELD_FROM, 2, python_wrapper(python, PA_KIND_FUTURE_ITER, python_future(python)));
    uint64_t coroutine = python_coroutine(python, "f", python_wrapper(python, PA_KIND_ASYNC_GEN_ASEND, agen));
    python_sleeper(python, "other");
    uint64_t task = python_task(python, python_main_tasks(python), python_str(python, "t"), coroutine);
    walk_build(&walk, python);
    ck_assert_uint_eq(pa_task_of_object(&walk.graph, agen), walk_node(&walk, task));
    ck_assert_uint_eq(pa_task_of_object(&walk.graph, coroutine), walk_node(&walk, task));
    ck_assert_uint_eq(pa_task_of_object(&walk.graph, python->dummy), PA_NONE);
    walk_close(&walk);
}
END_TEST

Suite *awaited_by_suite(void)
{
    Suite *suite = suite_create("awaited by");
    TCase *tests = add_case(suite, "awaited by");
    tcase_add_loop_test(tests, test_one_awaiter, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_set_of_awaiters_in_the_order_of_creation_without_deleted_ones, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_set_that_has_become_empty, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_ended_awaiter_is_stale_and_no_waiter, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_future_between_tasks, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_diamond_has_each_edge_once, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_task_that_is_only_reached_is_read, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_awaiter_that_is_garbage_is_a_problem, 0, 8);
    tcase_add_loop_test(tests, test_damaged_set_of_awaiters_is_a_problem, 0, 3);
    tcase_add_test(tests, test_ten_thousand_awaiters_of_one_task);
    tcase_add_loop_test(tests, test_task_of_a_coroutine_on_its_stack, 0, PYTHON_BUILDS);
    return suite;
}
