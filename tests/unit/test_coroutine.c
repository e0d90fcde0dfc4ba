/* Chains of coroutines: each hop, each end, and damaged ones; lines of frames, also in copies of the bytecode. */
#include "coroutine.h"
#include "limits.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

static void begin(int build)
{
    python = python_new((enum python_build)build);
}

/* A coroutine or generator of a code object of its own, at line 15. */
static uint64_t gen(enum pa_kind kind, const char *name, enum python_state state, uint64_t awaited)
{
    static const uint32_t flags[] = {
        [PA_KIND_COROUTINE] = CO_COROUTINE, [PA_KIND_GENERATOR] = CO_GENERATOR, [PA_KIND_ASYNC_GENERATOR] = CO_ASYNC_GENERATOR};
    return python_gen(python, kind, python_code(python, name, "/app/main.py", 10, CO_FUNCTION | flags[kind]), state, 5, awaited);
}

static uint64_t future_iter(void)
{
    return python_wrapper(python, PA_KIND_FUTURE_ITER, python_future(python));
}

/* Open, follow @p coroutine, compare, and leave the chain for more checks. */
static void follow(uint64_t coroutine, const char *chain, enum pa_chain_end end)
{
    walk_open(&walk, python);
    ck_assert_str_eq(walk_chain(&walk, coroutine), chain);
    ck_assert_int_eq(walk.graph.chain.end, end);
}

static enum pa_frame_kind kind_of_link(uint32_t link)
{
    ck_assert_uint_lt(link, walk.graph.chain.links.count);
    return walk.codes.frames.items[walk.graph.chain.links.items[link].frame].kind;
}

START_TEST(test_coroutines_down_to_a_future)
{
    begin(_i);
    uint64_t iter = future_iter(), future = image_u64(python->image, iter + python_offset(python, SLOT_object_size));
    uint64_t inner = gen(PA_KIND_COROUTINE, "inner", YIELD_FROM, iter), outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, inner);
    follow(outer, "outer:15 inner:15", PA_END_FUTURE);
    ck_assert_uint_eq(walk.graph.chain.end_object, future);
    ck_assert_uint_eq(walk.graph.chain.links.items[0].object, outer);
    ck_assert_uint_eq(walk.graph.chain.links.items[1].object, inner);
    ck_assert_int_eq(kind_of_link(1), PA_FRAME_COROUTINE);
    walk_close(&walk);
}
END_TEST

/* A type that was there may not be read again: after a Ctrl-C in between. */
START_TEST(test_no_type_has_no_frame)
{
    begin(_i);
    walk_open(&walk, python);
    ck_assert_uint_eq(pa_frame_of_type(&walk.codes, PA_NONE), PA_NONE);
    walk_close(&walk);
}
END_TEST

static const enum pa_kind wrappers[] = {PA_KIND_COROUTINE_WRAPPER, PA_KIND_ASYNC_GEN_ASEND, PA_KIND_ASYNC_GEN_ATHROW,
                                        PA_KIND_ANEXT_AWAITABLE};

START_TEST(test_wrappers_are_no_frames)
{
    begin(_i / 4);
    uint64_t inner = gen(PA_KIND_ASYNC_GENERATOR, "agen", YIELD_FROM, future_iter());
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, python_wrapper(python, wrappers[_i % 4], inner));
    follow(outer, "outer:15 agen:15", PA_END_FUTURE);
    ck_assert_int_eq(kind_of_link(1), PA_FRAME_ASYNC_GENERATOR);
    walk_close(&walk);
}
END_TEST

START_TEST(test_anext_with_default_over_asend_over_async_generator)
{
    begin(_i);
    uint64_t agen = gen(PA_KIND_ASYNC_GENERATOR, "agen", YIELD_FROM, future_iter());
    uint64_t asend = python_wrapper(python, PA_KIND_ASYNC_GEN_ASEND, agen);
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, python_wrapper(python, PA_KIND_ANEXT_AWAITABLE, asend));
    follow(outer, "outer:15 agen:15", PA_END_FUTURE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_generator_based_coroutine)
{
    begin(_i);
    uint64_t inner = gen(PA_KIND_COROUTINE, "inner", YIELD_FROM, future_iter());
    uint64_t generator = gen(PA_KIND_GENERATOR, "generator", YIELD_FROM, inner);
    follow(gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, generator), "outer:15 generator:15 inner:15", PA_END_FUTURE);
    ck_assert_int_eq(kind_of_link(1), PA_FRAME_GENERATOR);
    walk_close(&walk);
}
END_TEST

/* _PyCoroWrapper_Type, _PyAsyncGenAThrow_Type and _PyAnextAwaitable_Type are in no module and have no exported symbol. */
START_TEST(test_wrapper_without_a_name_is_known_by_what_it_wraps)
{
    begin(_i / 4);
    uint64_t inner = gen(PA_KIND_ASYNC_GENERATOR, "agen", YIELD_FROM, future_iter());
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, python_wrapper(python, wrappers[_i % 4], inner));
    python_forget_files(python);
    image_make_core(python->image);
    follow(outer, "outer:15 agen:15", PA_END_FUTURE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_nested_wrappers_without_names)
{
    begin(_i);
    uint64_t agen = gen(PA_KIND_ASYNC_GENERATOR, "agen", YIELD_FROM, future_iter());
    uint64_t asend = python_wrapper(python, PA_KIND_ASYNC_GEN_ASEND, agen);
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, python_wrapper(python, PA_KIND_ANEXT_AWAITABLE, asend));
    python_forget_files(python);
    image_make_core(python->image);
    follow(outer, "outer:15 agen:15", PA_END_FUTURE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_unknown_awaitable_is_named_at_the_end)
{
    begin(_i);
    uint64_t type = python_type(python, "MyAwaitable", python->object_type, true, 0), object = python_object(python, type, 64);
    follow(gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, object), "outer:15 MyAwaitable!", PA_END_AWAITABLE);
    ck_assert_uint_eq(walk.graph.chain.end_object, object);
    ck_assert_uint_eq(walk.graph.chain.links.items[1].object, object);
    walk_close(&walk);
}
END_TEST

START_TEST(test_each_state)
{
    static const struct {
        enum python_state state;
        const char *chain;
        enum pa_chain_end end;
    } cases[] = {{CREATED, "outer:15", PA_END_CREATED},
                 {SUSPENDED, "outer:15", PA_END_YIELD},
                 {EXECUTING, "outer:15", PA_END_EXECUTING},
                 {CLEARED, "", PA_END_CLEARED}};
    begin(_i / 4);
    follow(gen(PA_KIND_COROUTINE, "outer", cases[_i % 4].state, 0), cases[_i % 4].chain, cases[_i % 4].end);
    walk_close(&walk);
}
END_TEST

/* Include/internal/pycore_frame.h: the state that 3.15t is in for a moment; what 3.14 calls completed. */
START_TEST(test_states_of_one_version_only)
{
    begin(_i % 2 ? PYTHON_3_15T : PYTHON_3_14);
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, future_iter());
    image_put_u8(python->image, outer + python_offset(python, SLOT_gen_frame_state), _i % 2 ? 3 : 1);
    if (_i % 2)
        follow(outer, "outer:15", PA_END_FUTURE);
    else
        follow(outer, "", PA_END_CLEARED);
    walk_close(&walk);
}
END_TEST

START_TEST(test_unknown_state_is_a_problem)
{
    begin(_i);
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, future_iter());
    image_put_u8(python->image, outer + python_offset(python, SLOT_gen_frame_state), (uint8_t)(python->minor == 14 ? -4 : -1));
    follow(outer, "", PA_END_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(walk.graph.chain.why, "unknown frame state"));
    walk_close(&walk);
}
END_TEST

/* What lies on a stack is a _PyStackRef: bit 0 marks a borrowed or deferred reference, and both low bits with the GIL and in 3.15t. */
START_TEST(test_tags_of_references_are_taken_off)
{
    begin(_i);
    uint64_t inner = gen(PA_KIND_COROUTINE, "inner", YIELD_FROM, future_iter()),
             outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, inner);
    image_put_u64(python->image, python_awaited_slot(python, outer), inner | 1);
    uint64_t executable = python_iframe(python, inner) + python_offset(python, SLOT_frame_executable);
    image_put_u64(python->image, executable, image_u64(python->image, executable) | 1);
    follow(outer, "outer:15 inner:15", PA_END_FUTURE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_tagged_int_or_null_is_no_object)
{
    static const uint64_t words[] = {(42 << 2) | 3, 1, 0, UINT64_MAX};
    begin(_i / 4);
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, words[_i % 4]);
    follow(outer, "outer:15", PA_END_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(walk.graph.chain.why, "awaits no object"));
    walk_close(&walk);
}
END_TEST

/* 3.15: on top of what is awaited lies null, or an index as a tagged int while a list or tuple is iterated. */
START_TEST(test_word_above_the_awaited_object_does_not_matter)
{
    static const uint64_t words[] = {1, 0, (7 << 2) | 3, 0x1000};
    begin(_i % 2 ? PYTHON_3_15T : PYTHON_3_15);
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, future_iter());
    image_put_u64(python->image, python_awaited_slot(python, outer) + 8, words[_i / 2]);
    follow(outer, "outer:15", PA_END_FUTURE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_damaged_stack_pointer_is_a_problem)
{
    begin(_i / 6);
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, future_iter()), iframe = python_iframe(python, outer);
    const uint64_t pointers[] = {0, 8, UINT64_MAX, iframe, iframe + (1ull << 40), python_awaited_slot(python, outer) + 12};
    image_put_u64(python->image, iframe + python_offset(python, SLOT_frame_stackpointer), pointers[_i % 6]);
    follow(outer, "outer:15", PA_END_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(walk.graph.chain.why, "stack pointer"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_frame_of_another_owner_is_a_problem)
{
    begin(_i);
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, future_iter());
    image_put_u8(python->image, python_iframe(python, outer) + python_offset(python, SLOT_frame_owner), 0);
    follow(outer, "outer:15", PA_END_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(walk.graph.chain.why, "not owned"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_frame_without_code_is_a_problem)
{
    begin(_i);
    uint64_t inner = gen(PA_KIND_COROUTINE, "inner", YIELD_FROM, future_iter()),
             outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, inner);
    image_put_u64(python->image, python_iframe(python, inner) + python_offset(python, SLOT_frame_executable), python->dummy);
    follow(outer, "outer:15", PA_END_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(walk.graph.chain.why, "no code object"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_awaited_object_that_cannot_be_read_is_a_problem)
{
    static const uint64_t addresses[] = {0x1000, 0x7f0000000ff0, UINT64_MAX - 0xff, 0x20};
    begin(PYTHON_3_14);
    follow(gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, addresses[_i] & ~3ull), "outer:15", PA_END_UNKNOWN);
    ck_assert_ptr_nonnull(walk.graph.chain.why);
    walk_close(&walk);
}
END_TEST

START_TEST(test_wrapper_at_the_end_of_memory_is_a_problem)
{
    begin(PYTHON_3_14);
    uint64_t end = python->end_of_objects - 16;
    image_put_u64(python->image, end + 8, python->types[PA_KIND_COROUTINE_WRAPPER]);
    follow(gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, end), "outer:15", PA_END_UNKNOWN);
    walk_close(&walk);
}
END_TEST

START_TEST(test_chain_in_a_circle_ends)
{
    uint64_t links[7];
    begin(PYTHON_3_15);
    for (int i = 0; i <= _i; i++)
        links[i] = gen(PA_KIND_COROUTINE, "link", YIELD_FROM, i > 0 ? links[i - 1] : 0);
    image_put_u64(python->image, python_awaited_slot(python, links[0]), links[_i / 2]);
    walk_open(&walk, python);
    pa_chain_follow(&walk.codes, links[_i], 0, &walk.graph.chain);
    ck_assert_int_eq(walk.graph.chain.end, PA_END_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(walk.graph.chain.why, "circle"));
    ck_assert_uint_le(walk.graph.chain.links.count, 64);
    walk_close(&walk);
}
END_TEST

START_TEST(test_wrappers_in_a_circle_end)
{
    begin(PYTHON_3_14);
    uint64_t a = python_wrapper(python, PA_KIND_COROUTINE_WRAPPER, 0), b = python_wrapper(python, PA_KIND_COROUTINE_WRAPPER, a);
    image_put_u64(python->image, a + 16, b);
    follow(gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, a), "outer:15", PA_END_UNKNOWN);
    image_reset(python->image);
    walk_close(&walk);
}
END_TEST

/* A chain of @p depth coroutines of one code object. */
static uint64_t deep_chain(uint32_t depth)
{
    uint64_t code = python_code(python, "deep", "/app/main.py", 10, CO_COROUTINE), next = future_iter();
    for (uint32_t i = 0; i < depth; i++)
        next = python_gen(python, PA_KIND_COROUTINE, code, YIELD_FROM, 5, next);
    return next;
}

START_TEST(test_very_deep_chain_is_followed_to_its_end)
{
    python = python_new_sized(PYTHON_3_15, 64 << 20);
    uint64_t outer = deep_chain(60000);
    walk_open(&walk, python);
    pa_chain_follow(&walk.codes, outer, 0, &walk.graph.chain);
    ck_assert_int_eq(walk.graph.chain.end, PA_END_FUTURE);
    ck_assert_uint_eq(walk.graph.chain.links.count, 60000);
    walk_close(&walk);
}
END_TEST

START_TEST(test_chain_beyond_the_limit_is_cut_and_says_so)
{
    python = python_new_sized(PYTHON_3_14, 64 << 20);
    uint64_t outer = deep_chain(PA_MAX_STACK_DEPTH + 10);
    walk_open(&walk, python);
    pa_chain_follow(&walk.codes, outer, 0, &walk.graph.chain);
    ck_assert_int_eq(walk.graph.chain.end, PA_END_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(walk.graph.chain.why, "too long"));
    ck_assert_uint_eq(walk.graph.chain.links.count, PA_MAX_STACK_DEPTH);
    ck_assert_int_eq(walk.work.fatal, PA_OK);
    walk_close(&walk);
}
END_TEST

/* ---- lines ---- */

/* The line of a frame at unit @p unit of @p base. */
static int32_t line_at(uint64_t code, uint64_t base, int64_t unit, int32_t tlbc_index)
{
    struct pa_position position = {.executable = code, .instruction = base + 2 * (uint64_t)unit, .tlbc_index = tlbc_index};
    uint32_t frame = pa_frame_at(&walk.codes, &position);
    ck_assert_uint_ne(frame, PA_NONE);
    return walk.codes.frames.items[frame].line;
}

START_TEST(test_instruction_gives_the_line)
{
    begin(_i);
    uint64_t code = python_code(python, "Class.method.<locals>.f", "/app/main.py", 100, CO_FUNCTION);
    walk_open(&walk, python);
    uint64_t base = python_bytecode(python, code);
    ck_assert_int_eq(line_at(code, base, 0, 0), 100);
    ck_assert_int_eq(line_at(code, base, 15, 0), 115);
    ck_assert_int_eq(line_at(code, base, 16, 0), 0);
    ck_assert_int_eq(line_at(code, base, -1, 0), 0);
    ck_assert_int_eq(line_at(code, 0x1000, 0, 0), 0);
    ck_assert_int_eq(line_at(code, base, 3, 0), 103);
    ck_assert_int_eq(line_at(code, base, 3, 0), 103); /* as remembered */
    walk_close(&walk);
}
END_TEST

START_TEST(test_frame_is_kept_once_for_each_line)
{
    begin(PYTHON_3_15);
    uint64_t code = python_code(python, "f", "/app/main.py", 100, CO_FUNCTION);
    static const uint8_t two_lines[] = {0x80 | 13 << 3 | 7, 0, 0x80 | 13 << 3 | 7, 2};
    python_set_linetable(python, code, two_lines, sizeof(two_lines), 16);
    walk_open(&walk, python);
    for (int64_t unit = 0; unit < 16; unit++)
        ck_assert_int_eq(line_at(code, python_bytecode(python, code), unit, 0), unit < 8 ? 100 : 101);
    ck_assert_uint_eq(walk.codes.frames.count, 2);
    walk_close(&walk);
}
END_TEST

/* Include/cpython/code.h, _PyCodeArray. Entries that are NULL, and indices outside, mean the code's own bytecode. */
START_TEST(test_copies_of_bytecode_in_free_threaded_builds)
{
    begin(_i ? PYTHON_3_15T : PYTHON_3_14T);
    uint64_t code = python_code(python, "f", "/app/main.py", 100, CO_FUNCTION), copy = python_alloc(python, 64);
    const uint64_t entries[] = {0, copy, 0};
    python_set_tlbc(python, code, entries, 3);
    walk_open(&walk, python);
    uint64_t own = python_bytecode(python, code);
    ck_assert_int_eq(line_at(code, own, 4, 0), 104);
    ck_assert_int_eq(line_at(code, copy, 4, 1), 104);
    ck_assert_int_eq(line_at(code, copy, 15, 1), 115);
    ck_assert_int_eq(line_at(code, copy, 16, 1), 0);
    ck_assert_int_eq(line_at(code, own, 5, 2), 105);         /* NULL */
    ck_assert_int_eq(line_at(code, own, 6, 3), 106);         /* outside */
    ck_assert_int_eq(line_at(code, own, 7, -1), 107);        /* negative */
    ck_assert_int_eq(line_at(code, own, 8, INT32_MAX), 108); /* absurd */
    ck_assert_int_eq(line_at(code, copy, 9, 0), 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_copies_of_bytecode_that_cannot_be_read)
{
    begin(PYTHON_3_15T);
    uint64_t code = python_code(python, "f", "/app/main.py", 100, CO_FUNCTION),
             none = python_code(python, "g", "/app/main.py", 200, CO_FUNCTION);
    image_put_u64(python->image, code + python_offset(python, SLOT_code_tlbc), 0x1000);
    walk_open(&walk, python);
    ck_assert_int_eq(line_at(code, python_bytecode(python, code), 4, 1), 104);
    ck_assert_int_eq(line_at(none, python_bytecode(python, none), 4, 1), 204);
    walk_close(&walk);
}
END_TEST

/* A suspended coroutine that was started in a thread with a copy of its own. */
START_TEST(test_index_of_the_copy_is_read_from_the_frame)
{
    begin(_i ? PYTHON_3_15T : PYTHON_3_14T);
    uint64_t outer = gen(PA_KIND_COROUTINE, "outer", YIELD_FROM, future_iter()), iframe = python_iframe(python, outer);
    uint64_t code = image_u64(python->image, iframe + python_offset(python, SLOT_frame_executable)),
             copy = python_alloc(python, 64);
    const uint64_t entries[] = {0, copy};
    python_set_tlbc(python, code, entries, 2);
    image_put_u32(python->image, iframe + python_offset(python, SLOT_frame_tlbc_index), 1);
    image_put_u64(python->image, iframe + python_offset(python, SLOT_frame_instr_ptr), copy + 2 * 7);
    follow(outer, "outer:17", PA_END_FUTURE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_code_with_absurd_fields_has_a_name_and_no_line)
{
    begin(PYTHON_3_15);
    uint64_t codes[4];
    for (uint32_t i = 0; i < 4; i++)
        codes[i] = python_code(python, "f", "/app/main.py", 100, CO_FUNCTION);
    uint64_t table = image_u64(python->image, codes[0] + python_offset(python, SLOT_code_linetable));
    image_put_u64(python->image, table + python_offset(python, SLOT_bytes_length), UINT64_MAX);
    image_put_u64(python->image, codes[1] + python_offset(python, SLOT_code_linetable), 0x1000);
    image_put_u64(python->image, codes[2] + python_offset(python, SLOT_object_size), UINT64_MAX); /* ob_size */
    image_put_u64(python->image, codes[3] + python_offset(python, SLOT_code_qualname), 0x1000);
    walk_open(&walk, python);
    ck_assert_int_eq(line_at(codes[0], python_bytecode(python, codes[0]), 4, 0), 0);
    ck_assert_int_eq(line_at(codes[1], python_bytecode(python, codes[1]), 4, 0), 0);
    ck_assert_int_eq(line_at(codes[2], python_bytecode(python, codes[2]), 1 << 20, 0), 0);
    ck_assert_int_eq(line_at(codes[3], python_bytecode(python, codes[3]), 4, 0), 104);
    struct pa_position position = {.executable = python->dummy};
    ck_assert_uint_eq(pa_frame_at(&walk.codes, &position), PA_NONE);
    position.executable = 0x1000;
    ck_assert_uint_eq(pa_frame_at(&walk.codes, &position), PA_NONE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_equal_stacks_are_one)
{
    begin(PYTHON_3_14);
    walk_open(&walk, python);
    uint32_t a = pa_stack_push(&walk.codes, 0, 7), b = pa_stack_push(&walk.codes, a, 8);
    ck_assert_uint_eq(pa_stack_push(&walk.codes, 0, 7), a);
    ck_assert_uint_eq(pa_stack_push(&walk.codes, a, 8), b);
    ck_assert_uint_ne(pa_stack_push(&walk.codes, 0, 8), b);
    ck_assert_uint_eq(walk.codes.stacks.items[b].depth, 2);
    ck_assert_uint_ne(a, 0);
    walk_close(&walk);
}
END_TEST

Suite *coroutine_suite(void)
{
    Suite *suite = suite_create("coroutine");
    TCase *tests = add_case(suite, "coroutine");
    tcase_add_loop_test(tests, test_coroutines_down_to_a_future, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_no_type_has_no_frame, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_wrappers_are_no_frames, 0, 4 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_anext_with_default_over_asend_over_async_generator, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_generator_based_coroutine, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_wrapper_without_a_name_is_known_by_what_it_wraps, 0, 4 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_nested_wrappers_without_names, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_unknown_awaitable_is_named_at_the_end, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_each_state, 0, 4 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_states_of_one_version_only, 0, 2);
    tcase_add_loop_test(tests, test_unknown_state_is_a_problem, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_tags_of_references_are_taken_off, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_tagged_int_or_null_is_no_object, 0, 4 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_word_above_the_awaited_object_does_not_matter, 0, 8);
    tcase_add_loop_test(tests, test_damaged_stack_pointer_is_a_problem, 0, 6 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_frame_of_another_owner_is_a_problem, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_frame_without_code_is_a_problem, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_awaited_object_that_cannot_be_read_is_a_problem, 0, 4);
    tcase_add_test(tests, test_wrapper_at_the_end_of_memory_is_a_problem);
    tcase_add_loop_test(tests, test_chain_in_a_circle_ends, 0, 7);
    tcase_add_test(tests, test_wrappers_in_a_circle_end);
    tcase_add_test(tests, test_very_deep_chain_is_followed_to_its_end);
    tcase_add_test(tests, test_chain_beyond_the_limit_is_cut_and_says_so);

    TCase *lines = add_case(suite, "lines");
    tcase_add_loop_test(lines, test_instruction_gives_the_line, 0, PYTHON_BUILDS);
    tcase_add_test(lines, test_frame_is_kept_once_for_each_line);
    tcase_add_loop_test(lines, test_copies_of_bytecode_in_free_threaded_builds, 0, 2);
    tcase_add_test(lines, test_copies_of_bytecode_that_cannot_be_read);
    tcase_add_loop_test(lines, test_index_of_the_copy_is_read_from_the_frame, 0, 2);
    tcase_add_test(lines, test_code_with_absurd_fields_has_a_name_and_no_line);
    tcase_add_test(lines, test_equal_stacks_are_one);
    return suite;
}
