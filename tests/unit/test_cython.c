/* Coroutines that Cython compiled: each layout and state, mixed with those of Python, and damaged ones. */
#include "cython.h"
#include "details.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

/* A release of Cython: where gi_name stands behind the object header, and whether yieldfrom_am_send precedes it. */
static const struct release {
    const char *prefix;
    uint64_t name;
    bool am_send;
} releases[] = {{"_cython_3_0_12", 56, false}, {"_cython_3_1_6", 64, true}, {"_cython_3_2_5", 56, true}};
#define RELEASES 3

static const struct release *release;

enum { QUALNAME = 8, MODULE_NAME = 16, CODE = 24, STATE = 40 };

/* One loop test runs over all builds and releases. */
static void begin(int index)
{
    python = python_new((enum python_build)(index / RELEASES));
    release = &releases[index % RELEASES];
}

static uint64_t type(const char *name)
{
    char text[64];
    snprintf(text, sizeof(text), "%s.%s", release->prefix, name);
    return python_type(python, text, python->object_type, true, 0);
}

/* Where a word behind gi_name stands. */
static uint64_t word(uint64_t gen, uint64_t offset)
{
    return gen + python_offset(python, SLOT_object_size) + release->name + offset;
}

static void set_state(uint64_t gen, int32_t resume_label, uint8_t is_running)
{
    image_put_u32(python->image, word(gen, STATE), (uint32_t)resume_label);
    image_put_u8(python->image, word(gen, STATE) + 4, is_running);
}

/* A compiled function that is suspended at its first await of @p awaited. */
static uint64_t compiled(const char *name, const char *type_name, uint32_t flags, uint64_t awaited)
{
    char qualname[64];
    uint64_t gen = python_object(python, type(type_name), 192), code = python_code(python, name, "driver.pyx", 30, flags);
    snprintf(qualname, sizeof(qualname), "Driver.%s", name);
    image_put_u64(python->image, word(gen, 0), python_str(python, name));
    image_put_u64(python->image, word(gen, QUALNAME), python_str(python, qualname));
    image_put_u64(python->image, word(gen, MODULE_NAME), python_str(python, "driver"));
    image_put_u64(python->image, word(gen, CODE), code);
    image_put_u64(python->image, word(gen, 0) - (release->am_send ? 16 : 8), awaited);
    if (release->am_send)
        image_put_u64(python->image, word(gen, 0) - 8, awaited ? 0x401033 : 0); /* the address of a function */
    set_state(gen, awaited != 0, 0);
    return gen;
}

static uint64_t coroutine(const char *name, uint64_t awaited)
{
    return compiled(name, "coroutine", CO_FUNCTION | CO_COROUTINE, awaited);
}

static uint64_t future_iter(void)
{
    return python_wrapper(python, PA_KIND_FUTURE_ITER, python_future(python));
}

static void follow(uint64_t object, const char *chain, enum pa_chain_end end)
{
    walk_open(&walk, python);
    ck_assert_str_eq(walk_chain(&walk, object), chain);
    ck_assert_int_eq(walk.graph.chain.end, end);
    walk_close(&walk);
}

START_TEST(test_compiled_down_to_a_future_in_no_line)
{
    begin(_i);
    uint64_t inner = coroutine("inner", future_iter()), outer = coroutine("outer", inner);
    walk_open(&walk, python);
    ck_assert_str_eq(walk_chain(&walk, outer), "Driver.outer:0 Driver.inner:0");
    ck_assert_int_eq(walk.graph.chain.end, PA_END_FUTURE);
    ck_assert_uint_eq(walk.graph.chain.links.items[1].object, inner);
    const struct pa_frame *frame = &walk.codes.frames.items[walk.graph.chain.links.items[1].frame];
    ck_assert_int_eq(frame->kind, PA_FRAME_COROUTINE);
    ck_assert_int_eq(memcmp(pa_arena_text(&walk.objects.text, frame->file), "driver.pyx", frame->file.length), 0);
    ck_assert(!pa_chain_is_derived(&walk.graph.chain));
    walk_close(&walk);
}
END_TEST

START_TEST(test_compiled_and_python_in_turn)
{
    begin(_i);
    uint64_t inner = coroutine("inner", python_coroutine(python, "python", coroutine("innermost", future_iter())));
    uint64_t wrapper = python_object(python, type("coroutine_wrapper"), 64);
    image_put_u64(python->image, wrapper + python_offset(python, SLOT_object_size), inner);
    follow(python_coroutine(python, "outer", wrapper), "outer:15 Driver.inner:0 python:15 Driver.innermost:0", PA_END_FUTURE);
}
END_TEST

START_TEST(test_async_generator_through_its_wrapper)
{
    begin(_i);
    uint64_t generator = compiled("numbers", "async_generator", CO_FUNCTION | CO_ASYNC_GENERATOR, future_iter());
    uint64_t asend = python_object(python, type("async_generator_asend"), 64);
    image_put_u64(python->image, asend + python_offset(python, SLOT_object_size), generator);
    follow(coroutine("outer", asend), "Driver.outer:0 Driver.numbers:0", PA_END_FUTURE);
}
END_TEST

START_TEST(test_states)
{
    begin(_i % (PYTHON_BUILDS * RELEASES));
    static const struct {
        int32_t resume_label;
        uint8_t is_running;
        const char *chain;
        enum pa_chain_end end;
    } states[] = {{0, 0, "Driver.f:0", PA_END_CREATED},
                  {2, 0, "Driver.f:0", PA_END_YIELD},
                  {1, 1, "Driver.f:0", PA_END_EXECUTING},
                  {-1, 0, "", PA_END_CLEARED}};
    int state = _i / (PYTHON_BUILDS * RELEASES);
    uint64_t gen = coroutine("f", 0);
    set_state(gen, states[state].resume_label, states[state].is_running);
    follow(gen, states[state].chain, states[state].end);
}
END_TEST

START_TEST(test_compiled_that_executes_another_goes_on_to_that)
{
    begin(_i);
    uint64_t inner = python_coroutine(python, "python", future_iter()), outer = coroutine("outer", inner);
    python_set_state(python, inner, EXECUTING);
    set_state(outer, 1, 1);
    follow(outer, "Driver.outer:0 python:15", PA_END_EXECUTING);
}
END_TEST

/* What is not laid out as a compiled coroutine is not taken for one: the chain ends at it, and that is no problem. */
START_TEST(test_damaged_layout_ends_the_chain)
{
    begin(_i % (PYTHON_BUILDS * RELEASES));
    uint64_t gen = coroutine("f", future_iter());
    switch (_i / (PYTHON_BUILDS * RELEASES)) {
    case 0:
        image_put_u64(python->image, word(gen, 0), 0x1000);
        break;
    case 1:
        image_put_u64(python->image, word(gen, QUALNAME), python->dummy);
        break;
    case 2:
        image_put_u64(python->image, word(gen, CODE), gen);
        break;
    case 3:
        image_put_u64(python->image, word(gen, CODE), 0);
        break;
    case 4:
        set_state(gen, INT32_MAX, 0);
        break;
    case 5:
        set_state(gen, 1, 2);
        break;
    default:
        for (uint64_t offset = 16; offset < 192; offset += 8)
            image_put_u64(python->image, gen + python_offset(python, SLOT_object_size) + offset - 16, UINT64_MAX);
    }
    char expected[64];
    snprintf(expected, sizeof(expected), "%s.coroutine!", release->prefix);
    follow(gen, expected, PA_END_AWAITABLE);
}
END_TEST

START_TEST(test_compiled_in_a_circle_ends)
{
    begin(_i);
    uint64_t inner = coroutine("inner", future_iter()), outer = coroutine("outer", inner);
    image_put_u64(python->image, word(inner, 0) - (release->am_send ? 16 : 8), _i % 2 ? outer : inner);
    walk_open(&walk, python);
    pa_chain_follow(&walk.codes, outer, 0, &walk.graph.chain);
    ck_assert_int_eq(walk.graph.chain.end, PA_END_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(walk.graph.chain.why, "circle"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_compiled_that_awaits_no_object_is_a_problem)
{
    begin(_i);
    follow(coroutine("f", 0x1008), "Driver.f:0", PA_END_UNKNOWN);
}
END_TEST

START_TEST(test_compiled_at_the_end_of_memory_ends_the_chain)
{
    begin(_i);
    uint64_t end = python->end_of_objects - 64;
    image_put_u64(python->image, end + python_offset(python, SLOT_object_ob_type), type("coroutine"));
    char expected[64];
    snprintf(expected, sizeof(expected), "%s.coroutine!", release->prefix);
    follow(end, expected, PA_END_AWAITABLE);
}
END_TEST

/* Names that begin or end as Cython's do are none of its types. */
START_TEST(test_other_names_are_no_types_of_cython)
{
    static const char *const names[] = {"_cython_",
                                        "_cython_3_1_6",
                                        "_cython_3_1_6.",
                                        "cython.coroutine",
                                        "_cython_3_1_6.coroutines",
                                        "_cython_3_1_6.my.coroutine"};
    ck_assert_int_eq(pa_cython_kind(names[_i], (uint32_t)strlen(names[_i])), PA_KIND_OTHER);
}
END_TEST

START_TEST(test_running_task_of_a_compiled_coroutine_has_the_frames_of_what_it_awaits)
{
    begin(_i);
    uint64_t inner = python_coroutine(python, "python", 0), outer = coroutine("outer", inner);
    python_set_state(python, inner, EXECUTING);
    set_state(outer, 1, 1);
    uint64_t task = python_task(python, python_thread_tasks(python, python->thread), python_str(python, "t"), outer);
    uint64_t loop = python_new_loop(python);
    python_set_loop(python, task, loop);
    uint64_t base = python_frame(python, python_code(python, "run", "/app/main.py", 1, CO_FUNCTION), 3, 0, 0);
    python_link_frame(python, python_iframe(python, inner), base);
    uint64_t function = python_code(python, "works", "/app/main.py", 50, CO_FUNCTION);
    python_set_frames(python, python->thread, python_frame(python, function, 2, 0, python_iframe(python, inner)));
    python_run_task(python, python->thread, loop, task);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_stack(&walk, task), "Driver.outer:0 python:15 works:52");
    ck_assert_uint_eq(walk.graph.nodes.items[walk_node(&walk, task)].activity, PA_RUNNING);
    struct pa_links links = {0};
    pa_task_objects(&walk.graph, walk_node(&walk, task), &links);
    ck_assert_uint_eq(links.count, 3);
    ck_assert_uint_eq(links.items[0], 0);
    ck_assert_uint_eq(links.items[1], inner);
    ck_assert_uint_eq(links.items[2], outer);
    pa_array_free(&walk.work, &links);
    walk_close(&walk);
}
END_TEST

Suite *cython_suite(void)
{
    Suite *suite = suite_create("cython");
    TCase *tests = add_case(suite, "cython");
    const int all = PYTHON_BUILDS * RELEASES;
    tcase_add_loop_test(tests, test_compiled_down_to_a_future_in_no_line, 0, all);
    tcase_add_loop_test(tests, test_compiled_and_python_in_turn, 0, all);
    tcase_add_loop_test(tests, test_async_generator_through_its_wrapper, 0, all);
    tcase_add_loop_test(tests, test_states, 0, 4 * all);
    tcase_add_loop_test(tests, test_compiled_that_executes_another_goes_on_to_that, 0, all);
    tcase_add_loop_test(tests, test_damaged_layout_ends_the_chain, 0, 7 * all);
    tcase_add_loop_test(tests, test_compiled_in_a_circle_ends, 0, all);
    tcase_add_loop_test(tests, test_compiled_that_awaits_no_object_is_a_problem, 0, all);
    tcase_add_loop_test(tests, test_compiled_at_the_end_of_memory_ends_the_chain, 0, all);
    tcase_add_loop_test(tests, test_other_names_are_no_types_of_cython, 0, 6);
    tcase_add_loop_test(tests, test_running_task_of_a_compiled_coroutine_has_the_frames_of_what_it_awaits, 0, all);
    return suite;
}
