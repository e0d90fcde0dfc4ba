/* Tasks: the lists, their fields and their stacks. */
#include "details.h"
#include "limits.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

static void begin(int build)
{
    python = python_new((enum python_build)build);
}

/* Where a task stands in its list. */
static uint64_t list_node(uint64_t task)
{
    return task + python_asyncio(python)->node;
}

START_TEST(test_no_task)
{
    begin(_i);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.nodes.count, 0);
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_tasks_in_the_order_of_their_creation)
{
    begin(_i);
    uint64_t first = python_sleeper(python, "one");
    python_sleeper(python, "two");
    python_sleeper(python, "three");
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "one two three");
    ck_assert_str_eq(walk_stack(&walk, first), "sleeper:15");
    ck_assert_int_eq(walk_item(&walk, first)->activity, PA_WAITING);
    ck_assert_int_eq(walk_item(&walk, first)->wait, PA_WAIT_FUTURE);
    ck_assert_int_eq(walk_item(&walk, first)->state, PA_PENDING);
    ck_assert_int_eq(walk_item(&walk, first)->thread, 0);
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_tasks_of_every_thread_interpreter_and_exited_thread)
{
    begin(_i);
    uint64_t thread = python_thread(python, python->interpreter, 0x7fff0200, 4712);
    uint64_t sub = python_interpreter(python, 1), other = python_thread(python, sub, 0x7fff0300, 4713);
    const uint64_t lists[] = {python_main_tasks(python), python_thread_tasks(python, thread), python_thread_tasks(python, other),
                              python_interpreter_tasks(python, python->interpreter), python_interpreter_tasks(python, sub)};
    static const char *const names[] = {"main", "thread", "sub", "remnant", "sub-remnant"};
    uint64_t tasks[5];
    for (int i = 0; i < 5; i++)
        tasks[i] = python_task(python, lists[i], python_str(python, names[i]), python_coroutine(python, "f", 0));
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.task_count, 5);
    ck_assert_int_eq(walk_item(&walk, tasks[3])->thread, PA_NO_THREAD);
    ck_assert_int_ne(walk_item(&walk, tasks[0])->thread, PA_NO_THREAD);
    ck_assert_int_eq(walk.graph.interpreters.items[walk_item(&walk, tasks[4])->interpreter].id, 1);
    ck_assert_int_eq(walk.graph.interpreters.items[walk_item(&walk, tasks[2])->interpreter].id, 1);
    ck_assert_int_eq(walk.graph.interpreters.items[walk_item(&walk, tasks[0])->interpreter].id, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_names)
{
    begin(_i);
    uint64_t names[] = {python_str(python, "caf\xc3\xa9"),
                        python_int(python, 12),
                        python_str_subclass(python, "sub"),
                        0,
                        0x1000,
                        python->dummy,
                        python_int(python, -1)};
    for (size_t i = 0; i < COUNT(names); i++)
        python_task(python, python_main_tasks(python), names[i], python_coroutine(python, "f", 0));
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "caf\xc3\xa9 Task-12 sub ? ? ? Task--1");
    walk_close(&walk);
}
END_TEST

START_TEST(test_subclass_of_task)
{
    begin(_i);
    uint64_t task = python_sleeper(python, "mine"), type = python_type(python, "MyTask", python->types[PA_KIND_TASK], true, 0);
    image_put_u64(python->image, task + python_offset(python, SLOT_object_ob_type), type);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "mine");
    struct pa_text name = pa_node_type(&walk.graph, walk_node(&walk, task));
    ck_assert_uint_eq(name.length, 6);
    walk_close(&walk);
}
END_TEST

START_TEST(test_activities)
{
    begin(_i);
    uint64_t waiting = python_sleeper(python, "waiting"), ready = python_sleeper(python, "ready"),
             slept = python_sleeper(python, "slept");
    uint64_t created = python_sleeper(python, "created"), task = python_sleeper(python, "task"),
             coro = python_asyncio(python)->coro;
    python_finish(python, image_u64(python->image, ready + coro - 8), 2, 0); /* what it waits for is done */
    python_set_waiter(python, slept, 0);                                     /* sleep(0) */
    python_set_state(python, image_u64(python->image, slept + coro), SUSPENDED);
    python_set_state(python, image_u64(python->image, created + coro), CREATED);
    python_set_waiter(python, created, 0);
    python_await(python, task, waiting);
    walk_build(&walk, python);
    ck_assert_int_eq(walk_item(&walk, waiting)->activity, PA_WAITING);
    ck_assert_int_eq(walk_item(&walk, ready)->activity, PA_READY);
    ck_assert_int_eq(walk_item(&walk, ready)->wait, PA_WAIT_READY);
    ck_assert_int_eq(walk_item(&walk, slept)->activity, PA_READY);
    ck_assert_int_eq(walk_item(&walk, created)->activity, PA_CREATED);
    ck_assert_int_eq(walk_item(&walk, created)->wait, PA_WAIT_NONE);
    ck_assert_int_eq(walk_item(&walk, task)->activity, PA_WAITING);
    ck_assert_int_eq(walk_item(&walk, task)->wait, PA_WAIT_TASK);
    ck_assert_str_eq(walk_stack(&walk, created), "sleeper:15");
    walk_close(&walk);
}
END_TEST

START_TEST(test_cancelling_is_read)
{
    begin(_i);
    uint64_t task = python_sleeper(python, "task"), at = task + python_asyncio(python)->is_task;
    image_put_u8(python->image, at + 2, 1 << 2);
    image_put_u32(python->image, at + 4, 3);
    walk_build(&walk, python);
    uint32_t requests;
    bool must_cancel;
    pa_task_cancelling(&walk.graph, walk_node(&walk, task), &requests, &must_cancel);
    ck_assert_uint_eq(requests, 3);
    ck_assert(must_cancel);
    walk_close(&walk);
}
END_TEST

/* ---- running ---- */

static uint64_t function(const char *name, int32_t line)
{
    return python_code(python, name, "/app/main.py", line, CO_FUNCTION);
}

START_TEST(test_running_task_has_the_frames_of_its_thread)
{
    begin(_i);
    uint64_t inner = python_coroutine(python, "inner", 0), outer = python_coroutine(python, "outer", inner),
             loop = python_new_loop(python);
    python_set_state(python, inner, EXECUTING);
    python_set_state(python, outer, EXECUTING);
    uint64_t frame = python_frame(python, function("run_forever", 100), 3, 0, 0);
    python_link_frame(python, python_iframe(python, outer), frame);
    python_link_frame(python, python_iframe(python, inner), python_iframe(python, outer));
    frame = python_frame(python, function("blocking", 200), 3, 0, python_iframe(python, inner));
    python_set_frames(python, python->thread, frame);
    uint64_t task = python_task(python, python_main_tasks(python), python_str(python, "runs"), outer);
    python_set_loop(python, task, loop);
    python_run_task(python, python->thread, loop, task);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_stack(&walk, task), "outer:15 inner:15 blocking:203");
    ck_assert_int_eq(walk_item(&walk, task)->activity, PA_RUNNING);
    ck_assert_int_eq(walk_item(&walk, task)->wait, PA_WAIT_NONE);
    ck_assert_uint_eq(walk.graph.loops.count, 1);
    ck_assert_uint_eq(walk.graph.loops.items[0].task, walk_node(&walk, task));
    ck_assert_uint_eq(walk.graph.loops.items[0].thread, 0);
    struct pa_links links = {0};
    pa_task_objects(&walk.graph, walk_node(&walk, task), &links);
    ck_assert_uint_eq(links.count, 3);
    ck_assert_uint_eq(links.items[0], 0);
    ck_assert_uint_eq(links.items[1], inner);
    ck_assert_uint_eq(links.items[2], outer);
    pa_array_free(&walk.work, &links);
    ck_assert_uint_eq(pa_task_of_object(&walk.graph, inner), walk_node(&walk, task));
    walk_close(&walk);
}
END_TEST

/* The same coroutine function twice on the stack: the frame's address tells which is the task's own. */
START_TEST(test_recursion_in_a_running_task_is_not_cut_early)
{
    begin(PYTHON_3_15);
    uint64_t code = python_code(python, "walk", "/app/main.py", 10, CO_COROUTINE);
    uint64_t inner = python_gen(python, PA_KIND_COROUTINE, code, EXECUTING, 5, 0),
             outer = python_gen(python, PA_KIND_COROUTINE, code, EXECUTING, 4, inner);
    python_link_frame(python, python_iframe(python, inner), python_iframe(python, outer));
    python_set_frames(python, python->thread, python_iframe(python, inner));
    uint64_t task = python_task(python, python_main_tasks(python), python_str(python, "runs"), outer);
    python_run_task(python, python->thread, python_new_loop(python), task);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_stack(&walk, task), "walk:14 walk:15");
    walk_close(&walk);
}
END_TEST

START_TEST(test_eager_tasks_nest_on_one_stack)
{
    begin(_i);
    uint64_t coroutines[3], tasks[3], frame = python_frame(python, function("run", 100), 3, 0, 0), loop = python_new_loop(python);
    static const char *const names[] = {"parent", "child", "grandchild"};
    for (int i = 0; i < 3; i++) {
        coroutines[i] = python_coroutine(python, names[i], 0);
        python_set_state(python, coroutines[i], EXECUTING);
        python_link_frame(python, python_iframe(python, coroutines[i]), frame);
        frame = python_frame(python, function(i < 2 ? "create_task" : "work", 200), 3, 0, python_iframe(python, coroutines[i]));
        tasks[i] = python_task(python, python_main_tasks(python), python_str(python, names[i]), coroutines[i]);
    }
    python_set_frames(python, python->thread, frame);
    python_run_task(python, python->thread, loop, tasks[2]);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_stack(&walk, tasks[0]), "parent:15 create_task:203");
    ck_assert_str_eq(walk_stack(&walk, tasks[1]), "child:15 create_task:203");
    ck_assert_str_eq(walk_stack(&walk, tasks[2]), "grandchild:15 work:203");
    ck_assert_int_eq(walk_item(&walk, tasks[0])->activity, PA_EXECUTING);
    ck_assert_int_eq(walk_item(&walk, tasks[1])->activity, PA_EXECUTING);
    ck_assert_int_eq(walk_item(&walk, tasks[2])->activity, PA_RUNNING);
    walk_close(&walk);
}
END_TEST

START_TEST(test_executing_coroutine_on_no_stack_shows_its_chain)
{
    begin(PYTHON_3_14);
    uint64_t coroutine = python_coroutine(python, "lost", 0);
    python_set_state(python, coroutine, EXECUTING);
    uint64_t task = python_task(python, python_main_tasks(python), python_str(python, "t"), coroutine);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_stack(&walk, task), "lost:15");
    ck_assert_int_eq(walk_item(&walk, task)->activity, PA_EXECUTING);
    walk_close(&walk);
}
END_TEST

START_TEST(test_many_tasks_that_claim_one_running_coroutine)
{
    python = python_new_sized(PYTHON_3_15, 16 << 20);
    uint64_t coroutine = python_coroutine(python, "one", 0), name = python_int(python, 1);
    python_set_state(python, coroutine, EXECUTING);
    python_set_frames(python, python->thread, python_iframe(python, coroutine));
    for (int i = 0; i < 20000; i++)
        python_task(python, python_main_tasks(python), name, coroutine);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.task_count, 20000);
    ck_assert_uint_le(walk.graph.executing.count, walk.graph.thread_frames.count); /* looked up one by one, for each task */
    walk_close(&walk);
}
END_TEST

START_TEST(test_running_task_without_a_loop_is_none)
{
    begin(PYTHON_3_15);
    uint64_t task = python_sleeper(python, "t");
    python_run_task(python, python->thread, 0, task);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.threads.items[0].task, 0);
    ck_assert_int_eq(walk_item(&walk, task)->activity, PA_WAITING);
    walk_close(&walk);
}
END_TEST

START_TEST(test_running_task_that_is_garbage)
{
    static const uint64_t addresses[] = {0x1000, 12, UINT64_MAX, PYTHON_HEAP};
    begin(PYTHON_3_14);
    python_sleeper(python, "t");
    python_run_task(python, python->thread, addresses[(_i + 1) % 4], addresses[_i]);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "t");
    walk_close(&walk);
}
END_TEST

START_TEST(test_loops_count_their_tasks)
{
    begin(_i);
    uint64_t a = python_new_loop(python), b = python_new_loop(python);
    for (int i = 0; i < 5; i++)
        python_set_loop(python, python_sleeper(python, "t"), i < 2 ? a : b);
    uint64_t created = python_coroutine(python, "f", 0);
    python_set_state(python, created, CREATED);
    python_set_loop(python, python_task(python, python_main_tasks(python), python_str(python, "c"), created), b);
    python_run_task(python, python->thread, b, 0);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.loops.count, 2);
    ck_assert_uint_eq(walk.graph.loops.items[0].address, b); /* the running ones come first */
    ck_assert_uint_eq(walk.graph.loops.items[0].tasks, 4);
    ck_assert_uint_eq(walk.graph.loops.items[0].waiting, 3);
    ck_assert_uint_eq(walk.graph.loops.items[1].tasks, 2);
    ck_assert_uint_eq(walk.graph.loops.items[1].thread, PA_NONE);
    walk_close(&walk);
}
END_TEST

/* ---- damaged lists ---- */

START_TEST(test_list_with_a_bad_pointer_is_repaired_from_its_end)
{
    static const uint64_t pointers[] = {0, 4, 0x1000, UINT64_MAX, UINT64_MAX - 7, PYTHON_HEAP + 8};
    uint64_t tasks[6];
    static const char *const names[] = {"0", "1", "2", "3", "4", "5"};
    begin(_i / 6);
    for (int i = 0; i < 6; i++)
        tasks[i] = python_sleeper(python, names[i]);
    image_put_u64(python->image, list_node(tasks[2]), pointers[_i % 6]);
    walk_build(&walk, python);
    ck_assert_uint_gt(walk.graph.problem_count, 0);
    ck_assert_str_eq(walk_tasks(&walk), "0 1 2 5 4 3");
    walk_close(&walk);
}
END_TEST

START_TEST(test_list_broken_both_ways_shows_what_is_whole)
{
    uint64_t tasks[6];
    static const char *const names[] = {"0", "1", "2", "3", "4", "5"};
    begin(PYTHON_3_15);
    for (int i = 0; i < 6; i++)
        tasks[i] = python_sleeper(python, names[i]);
    image_put_u64(python->image, list_node(tasks[1]), 0);
    image_put_u64(python->image, list_node(tasks[4]) + 8, 0);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "0 1 5 4");
    ck_assert(walk_has_problem(&walk, "tasks may be missing"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_list_that_never_comes_back_to_its_head_ends)
{
    uint64_t tasks[4];
    static const char *const names[] = {"0", "1", "2", "3"};
    begin(PYTHON_3_14);
    for (int i = 0; i < 4; i++)
        tasks[i] = python_sleeper(python, names[i]);
    image_put_u64(python->image, list_node(tasks[3]), list_node(tasks[_i]));
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "0 1 2 3");
    ck_assert(walk_has_problem(&walk, "leads not back"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_object_in_a_list_that_is_no_task)
{
    uint64_t tasks[4];
    static const char *const names[] = {"0", "1", "2", "3"};
    begin(_i);
    for (int i = 0; i < 4; i++)
        tasks[i] = python_sleeper(python, names[i]);
    image_put_u64(python->image, tasks[1] + python_offset(python, SLOT_object_ob_type), python->types[PA_KIND_SET]);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "0 3 2");
    ck_assert(walk_has_problem(&walk, "no task"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_list_that_runs_into_another_thread_s)
{
    begin(PYTHON_3_15);
    uint64_t other = python_thread(python, python->interpreter, 0x7fff0200, 4712), a = python_sleeper(python, "a");
    uint64_t b = python_task(python, python_thread_tasks(python, other), python_str(python, "b"), python_coroutine(python, "f", 0));
    image_put_u64(python->image, list_node(a), list_node(b));
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.task_count, 2);
    ck_assert_uint_gt(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_head_of_zeros_is_a_problem_and_not_an_empty_list)
{
    begin(PYTHON_3_15);
    image_put_u64(python->image, python_main_tasks(python), 0);
    image_put_u64(python->image, python_main_tasks(python) + 8, 0);
    walk_build(&walk, python);
    ck_assert_uint_gt(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_more_than_65536_tasks)
{
    python = python_new_sized(PYTHON_3_14, 64 << 20);
    uint64_t name = python_int(python, 7), coroutine = python_coroutine(python, "f", 0);
    python_set_state(python, coroutine, CREATED);
    for (int i = 0; i < 200000; i++)
        python_task(python, python_main_tasks(python), name, coroutine);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.task_count, 200000);
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_many_problems_are_counted_and_few_are_kept)
{
    begin(PYTHON_3_15);
    for (int i = 0; i < 1000; i++)
        python_task(python, python_main_tasks(python), 0, 0x1000);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.problem_count, 1000);
    ck_assert_uint_eq(walk.graph.problems.count, PA_MAX_PROBLEMS);
    ck_assert_uint_eq(walk.graph.task_count, 1000);
    walk_close(&walk);
}
END_TEST

START_TEST(test_coroutine_that_is_garbage_is_a_problem_of_its_task)
{
    static const uint64_t addresses[] = {0, 4, 0x1000, UINT64_MAX, PYTHON_HEAP + 8};
    begin(PYTHON_3_14);
    uint64_t task = python_task(python, python_main_tasks(python), python_str(python, "t"), addresses[_i]);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.problem_count, 1);
    ck_assert_uint_eq(walk.graph.problems.items[0].node, walk_node(&walk, task));
    ck_assert_str_eq(walk_stack(&walk, task), "");
    walk_close(&walk);
}
END_TEST

START_TEST(test_task_at_the_end_of_memory_is_a_problem)
{
    begin(PYTHON_3_15);
    uint64_t task = python_sleeper(python, "t"), node = list_node(task), end = python->end_of_objects - 160;
    image_put_u64(python->image, node, end + python_asyncio(python)->node);
    image_put_u64(python->image, end + python_offset(python, SLOT_object_ob_type), python->types[PA_KIND_TASK]);
    image_put_u64(python->image, end + python_asyncio(python)->node, python_main_tasks(python));
    walk_build(&walk, python);
    ck_assert_uint_gt(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

Suite *task_suite(void)
{
    Suite *suite = suite_create("task");
    TCase *tests = add_case(suite, "task");
    tcase_add_loop_test(tests, test_no_task, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_tasks_in_the_order_of_their_creation, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_tasks_of_every_thread_interpreter_and_exited_thread, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_names, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_subclass_of_task, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_activities, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_cancelling_is_read, 0, PYTHON_BUILDS);

    TCase *running = add_case(suite, "running");
    tcase_add_loop_test(running, test_running_task_has_the_frames_of_its_thread, 0, PYTHON_BUILDS);
    tcase_add_test(running, test_recursion_in_a_running_task_is_not_cut_early);
    tcase_add_loop_test(running, test_eager_tasks_nest_on_one_stack, 0, PYTHON_BUILDS);
    tcase_add_test(running, test_executing_coroutine_on_no_stack_shows_its_chain);
    tcase_add_test(running, test_many_tasks_that_claim_one_running_coroutine);
    tcase_add_test(running, test_running_task_without_a_loop_is_none);
    tcase_add_loop_test(running, test_running_task_that_is_garbage, 0, 4);
    tcase_add_loop_test(running, test_loops_count_their_tasks, 0, PYTHON_BUILDS);

    TCase *damaged = add_case(suite, "damaged");
    tcase_add_loop_test(damaged, test_list_with_a_bad_pointer_is_repaired_from_its_end, 0, 6 * PYTHON_BUILDS);
    tcase_add_test(damaged, test_list_broken_both_ways_shows_what_is_whole);
    tcase_add_loop_test(damaged, test_list_that_never_comes_back_to_its_head_ends, 0, 4);
    tcase_add_loop_test(damaged, test_object_in_a_list_that_is_no_task, 0, PYTHON_BUILDS);
    tcase_add_test(damaged, test_list_that_runs_into_another_thread_s);
    tcase_add_test(damaged, test_head_of_zeros_is_a_problem_and_not_an_empty_list);
    tcase_add_test(damaged, test_more_than_65536_tasks);
    tcase_add_test(damaged, test_many_problems_are_counted_and_few_are_kept);
    tcase_add_loop_test(damaged, test_coroutine_that_is_garbage_is_a_problem_of_its_task, 0, 5);
    tcase_add_test(damaged, test_task_at_the_end_of_memory_is_a_problem);
    return suite;
}
