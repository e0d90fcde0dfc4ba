/* Interpreters, thread states, their frames, and which of the debugger's threads they are. */
#include "limits.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

static void begin(int build)
{
    python = python_new((enum python_build)build);
}

static uint64_t function(const char *name, int32_t line)
{
    return python_code(python, name, "/app/main.py", line, CO_FUNCTION);
}

static void add_thread_info(uint32_t number, int64_t lwp, uint64_t pthread_id, bool selected)
{
    struct pa_thread_info *info = &python->image->threads[python->image->thread_count++];
    *info = (struct pa_thread_info){.number = number, .selected = selected, .lwp = lwp, .pthread_id = pthread_id};
    snprintf(info->name, sizeof(info->name), "t%u", number);
}

START_TEST(test_frames_of_a_thread_outermost_first)
{
    begin(_i);
    uint64_t frame = python_frame(python, function("main", 10), 3, 0, 0);
    frame = python_frame(python, function("middle", 20), 4, 0, frame);
    frame = python_frame(python, function("inner", 30), 5, 0, frame);
    python_set_frames(python, python->thread, frame);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_thread_stack(&walk, 0), "main:13 middle:24 inner:35");
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    ck_assert_uint_eq(walk.graph.threads.items[0].frame_count, 3);
    walk_close(&walk);
}
END_TEST

/* pycore_interpframe_structs.h, enum _frameowner: 3.14 has INTERPRETER 3 and CSTACK 4, 3.15 INTERPRETER 3 only; a frame object's is 2. */
START_TEST(test_frames_of_the_interpreter_are_left_out)
{
    begin(_i);
    uint64_t frame = python_frame(python, function("base", 5), 3, 3, 0);
    image_put_u64(python->image, frame + python_offset(python, SLOT_frame_executable), python->dummy); /* None */
    frame = python_frame(python, function("main", 10), 3, 0, frame);
    frame = python_frame(python, function("entry", 15), 3, python->minor == 14 ? 4 : 3, frame);
    image_put_u64(python->image, frame + python_offset(python, SLOT_frame_executable), 1); /* the null reference */
    frame = python_frame(python, function("of_object", 20), 4, 2, frame);
    python_set_frames(python, python->thread, frame);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_thread_stack(&walk, 0), "main:13 of_object:24");
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

/* _PyFrame_PushTrampolineUnchecked(), shims of __init__: owned by the thread, at the first instruction. */
START_TEST(test_trampoline_is_no_frame)
{
    begin(_i);
    uint64_t frame = python_frame(python, function("main", 10), 3, 0, 0);
    frame = python_frame(python, function("shim", 20), 0, 0, frame);
    frame = python_frame(python, function("inner", 30), 5, 0, frame);
    python_set_frames(python, python->thread, frame);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_thread_stack(&walk, 0), "main:13 inner:35");
    walk_close(&walk);
}
END_TEST

START_TEST(test_frame_before_its_first_line_is_left_out)
{
    begin(_i);
    uint32_t firsttraceable = python_offset(python, SLOT_code_bytecode) - (python->free_threaded ? 24 : 16);
    uint64_t code = function("begun", 20), early = function("early", 30),
             frame = python_frame(python, function("main", 10), 3, 0, 0);
    image_put_u32(python->image, code + firsttraceable, 3);
    image_put_u32(python->image, early + firsttraceable, 3);
    frame = python_frame(python, code, 3, 0, frame);
    frame = python_frame(python, early, 2, 0, frame);
    python_set_frames(python, python->thread, frame);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_thread_stack(&walk, 0), "main:13 begun:23");
    walk_close(&walk);
}
END_TEST

START_TEST(test_frame_owned_by_a_generator_leads_to_it)
{
    begin(_i);
    uint64_t code = python_code(python, "coro", "/app/main.py", 20, CO_COROUTINE);
    uint64_t coroutine = python_gen(python, PA_KIND_COROUTINE, code, EXECUTING, 4, 0);
    uint64_t outer = python_frame(python, function("main", 10), 3, 0, 0);
    python_link_frame(python, python_iframe(python, coroutine), outer);
    uint64_t inner = python_frame(python, function("inner", 30), 5, 0, python_iframe(python, coroutine));
    python_set_frames(python, python->thread, inner);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_thread_stack(&walk, 0), "main:13 coro:24 inner:35");
    ck_assert(walk.graph.thread_frames.items[1].is_gen);
    ck_assert_uint_eq(walk.graph.thread_frames.items[1].object, coroutine);
    ck_assert(!walk.graph.thread_frames.items[0].is_gen);
    walk_close(&walk);
}
END_TEST

START_TEST(test_copy_of_bytecode_in_a_thread)
{
    begin(_i ? PYTHON_3_15T : PYTHON_3_14T);
    uint64_t code = function("main", 10), copy = python_alloc(python, 64), frame = python_frame(python, code, 0, 0, 0);
    python_set_tlbc(python, code, (const uint64_t[]){0, copy}, 2);
    image_put_u64(python->image, frame + python_offset(python, SLOT_frame_instr_ptr), copy + 2 * 6);
    image_put_u32(python->image, frame + python_offset(python, SLOT_frame_tlbc_index), 1);
    python_set_frames(python, python->thread, frame);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_thread_stack(&walk, 0), "main:16");
    walk_close(&walk);
}
END_TEST

START_TEST(test_frames_in_a_circle_end_with_a_problem)
{
    uint64_t frames[5];
    begin(PYTHON_3_15);
    for (int i = 0; i <= _i; i++)
        frames[i] = python_frame(python, function("f", 10), 3, 0, i > 0 ? frames[i - 1] : 0);
    python_link_frame(python, frames[0], frames[_i / 2]);
    python_set_frames(python, python->thread, frames[_i]);
    walk_build(&walk, python);
    ck_assert(walk_has_problem(&walk, "circle"));
    ck_assert_uint_le(walk.graph.threads.items[0].frame_count, 32);
    walk_close(&walk);
}
END_TEST

START_TEST(test_chain_of_frames_that_breaks_shows_what_is_left)
{
    static const uint64_t addresses[] = {0x1000, 12, UINT64_MAX - 7, 0x7ffffffffff8};
    begin(PYTHON_3_14);
    uint64_t frame = python_frame(python, function("outer", 10), 3, 0, addresses[_i]);
    python_set_frames(python, python->thread, python_frame(python, function("inner", 20), 3, 0, frame));
    walk_build(&walk, python);
    ck_assert_str_eq(walk_thread_stack(&walk, 0), "outer:13 inner:23");
    ck_assert(walk_has_problem(&walk, "outer frames are missing"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_frame_without_code_is_a_problem)
{
    begin(_i);
    uint64_t frame = python_frame(python, function("outer", 10), 3, 0, 0);
    frame = python_frame(python, function("bad", 20), 3, 0, frame);
    image_put_u64(python->image, frame + python_offset(python, SLOT_frame_executable), python->dummy);
    python_set_frames(python, python->thread, python_frame(python, function("inner", 30), 3, 0, frame));
    walk_build(&walk, python);
    ck_assert_str_eq(walk_thread_stack(&walk, 0), "inner:33");
    ck_assert(walk_has_problem(&walk, "no code object"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_very_deep_recursion)
{
    python = python_new_sized(PYTHON_3_15, 16 << 20);
    uint64_t code = function("f", 10), frame = 0;
    uint32_t depth = _i ? PA_MAX_STACK_DEPTH + 100 : 60000;
    for (uint32_t i = 0; i < depth; i++)
        frame = python_frame(python, code, 3, 0, frame);
    python_set_frames(python, python->thread, frame);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.threads.items[0].frame_count, _i ? PA_MAX_STACK_DEPTH : depth);
    ck_assert_uint_eq(walk.graph.problem_count, _i); /* what is cut is said */
    walk_close(&walk);
}
END_TEST

START_TEST(test_all_threads_of_all_interpreters)
{
    begin(_i);
    uint64_t second = python_thread(python, python->interpreter, 0x7fff0200, 4712);
    uint64_t sub = python_interpreter(python, 1), third = python_thread(python, sub, 0x7fff0300, 4713);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.interpreters.count, 2);
    ck_assert_uint_eq(walk.graph.threads.count, 3);
    ck_assert_uint_eq(walk.graph.threads.items[0].address, third); /* new interpreters and threads stand at the head */
    ck_assert_uint_eq(walk.graph.threads.items[1].address, second);
    ck_assert_uint_eq(walk.graph.threads.items[2].address, python->thread);
    ck_assert_int_eq(walk.graph.interpreters.items[walk.graph.threads.items[0].interpreter].id, 1);
    ck_assert_int_eq(walk.graph.interpreters.items[walk.graph.threads.items[2].interpreter].id, 0);
    ck_assert_uint_eq(walk.graph.threads.items[2].native_id, 4711);
    walk_close(&walk);
}
END_TEST

START_TEST(test_threads_in_a_circle_are_met_once)
{
    uint64_t threads[4];
    begin(PYTHON_3_14);
    threads[0] = python->thread;
    for (int i = 1; i <= _i; i++)
        threads[i] = python_thread(python, python->interpreter, 0x7fff0200, 5000 + (uint64_t)i);
    image_put_u64(python->image, python->thread + python_offset(python, SLOT_thread_next), threads[_i]);
    python_sleeper(python, "Task-1");
    walk_build(&walk, python);
    ck_assert(walk_has_problem(&walk, "circle"));
    ck_assert_uint_eq(walk.graph.threads.count, (unsigned)_i + 1);
    ck_assert_uint_eq(walk.graph.problem_count, 1);
    ck_assert_str_eq(walk_tasks(&walk), "Task-1");
    walk_close(&walk);
}
END_TEST

START_TEST(test_interpreters_in_a_circle_are_met_once)
{
    begin(PYTHON_3_15);
    uint64_t sub = python_interpreter(python, 1);
    python_thread(python, sub, 0x7fff0300, 4713);
    image_put_u64(python->image, python->interpreter + python_offset(python, SLOT_interpreter_next), sub);
    walk_build(&walk, python);
    ck_assert(walk_has_problem(&walk, "circle"));
    ck_assert_uint_eq(walk.graph.interpreters.count, 2);
    ck_assert_uint_eq(walk.graph.threads.count, 2);
    walk_close(&walk);
}
END_TEST

START_TEST(test_thread_that_cannot_be_read_is_a_problem)
{
    static const uint64_t addresses[] = {0x1000, 4, UINT64_MAX - 7, PYTHON_HEAP + (1 << 20) - 32};
    begin(PYTHON_3_15);
    image_put_u64(python->image, python->thread + python_offset(python, SLOT_thread_next), addresses[_i]);
    python_sleeper(python, "Task-1");
    walk_build(&walk, python);
    ck_assert(walk_has_problem(&walk, "older threads are missing"));
    ck_assert_uint_eq(walk.graph.threads.count, 1);
    ck_assert_str_eq(walk_tasks(&walk), "Task-1");
    walk_close(&walk);
}
END_TEST

START_TEST(test_interpreter_that_cannot_be_read_is_a_problem)
{
    begin(PYTHON_3_14);
    image_put_u64(python->image, python->interpreter + python_offset(python, SLOT_interpreter_next), 0x1000 + 4 * (uint64_t)_i);
    walk_build(&walk, python);
    ck_assert(walk_has_problem(&walk, "older interpreters are missing"));
    ck_assert_uint_eq(walk.graph.threads.count, 1);
    walk_close(&walk);
}
END_TEST

START_TEST(test_thread_is_matched_by_pthread_self)
{
    begin(PYTHON_3_15);
    python_thread(python, python->interpreter, 0x7fff0200, 7); /* kernel ids as seen in another PID namespace */
    add_thread_info(1, 7, 0x7fff0100, false);
    add_thread_info(2, 4711, 0x7fff0200, true);
    add_thread_info(3, 9, 0x7fff0300, false); /* no Python */
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.threads.items[1].number, 1);
    ck_assert_uint_eq(walk.graph.threads.items[0].number, 2);
    ck_assert(walk.graph.threads.items[0].selected);
    ck_assert(!walk.graph.threads.items[1].selected);
    ck_assert_str_eq(walk.graph.threads.items[0].name, "t2");
    ck_assert_uint_eq(walk.graph.debugger_threads, 3);
    walk_close(&walk);
}
END_TEST

START_TEST(test_thread_without_registers_is_matched_by_kernel_id)
{
    begin(PYTHON_3_14);
    python_thread(python, python->interpreter, 0x7fff0200, 4712);
    add_thread_info(1, 4711, 0, true);
    add_thread_info(2, 4712, 0, false);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.threads.items[1].number, 1);
    ck_assert_uint_eq(walk.graph.threads.items[0].number, 2);
    walk_close(&walk);
}
END_TEST

START_TEST(test_thread_in_two_interpreters_has_one_number)
{
    begin(PYTHON_3_15);
    uint64_t sub = python_interpreter(python, 1);
    python_thread(python, sub, 0x7fff0100, 4711);
    add_thread_info(5, 4711, 0x7fff0100, true);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.threads.items[0].number, 5);
    ck_assert_uint_eq(walk.graph.threads.items[1].number, 5);
    walk_close(&walk);
}
END_TEST

START_TEST(test_debugger_without_threads)
{
    begin(PYTHON_3_15);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.threads.items[0].number, 0);
    ck_assert_uint_eq(walk.graph.debugger_threads, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_name_of_a_thread_that_does_not_end_is_cut)
{
    begin(PYTHON_3_15);
    add_thread_info(1, 4711, 0x7fff0100, true);
    memset(python->image->threads[0].name, 'x', sizeof(python->image->threads[0].name));
    walk_build(&walk, python);
    ck_assert_uint_eq(strlen(walk.graph.threads.items[0].name), 31);
    walk_close(&walk);
}
END_TEST

Suite *thread_suite(void)
{
    Suite *suite = suite_create("thread");
    TCase *tests = add_case(suite, "thread");
    tcase_add_loop_test(tests, test_frames_of_a_thread_outermost_first, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_frames_of_the_interpreter_are_left_out, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_trampoline_is_no_frame, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_frame_before_its_first_line_is_left_out, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_frame_owned_by_a_generator_leads_to_it, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_copy_of_bytecode_in_a_thread, 0, 2);
    tcase_add_loop_test(tests, test_frames_in_a_circle_end_with_a_problem, 0, 5);
    tcase_add_loop_test(tests, test_chain_of_frames_that_breaks_shows_what_is_left, 0, 4);
    tcase_add_loop_test(tests, test_frame_without_code_is_a_problem, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_very_deep_recursion, 0, 2);
    tcase_add_loop_test(tests, test_all_threads_of_all_interpreters, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_threads_in_a_circle_are_met_once, 0, 4);
    tcase_add_test(tests, test_interpreters_in_a_circle_are_met_once);
    tcase_add_loop_test(tests, test_thread_that_cannot_be_read_is_a_problem, 0, 4);
    tcase_add_loop_test(tests, test_interpreter_that_cannot_be_read_is_a_problem, 0, 2);
    tcase_add_test(tests, test_thread_is_matched_by_pthread_self);
    tcase_add_test(tests, test_thread_without_registers_is_matched_by_kernel_id);
    tcase_add_test(tests, test_thread_in_two_interpreters_has_one_number);
    tcase_add_test(tests, test_debugger_without_threads);
    tcase_add_test(tests, test_name_of_a_thread_that_does_not_end_is_cut);
    return suite;
}
