/* The objects that the garbage collector tracks, in whole and damaged lists. */
#include "gc.h"
#include "limits.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

#define MOST 64u
static struct {
    uint64_t objects[MOST];
    uint32_t count, most;
} seen;

static bool see(void *context, uint64_t object, uint32_t type)
{
    ck_assert_ptr_eq(context, &seen);
    ck_assert_uint_lt(type, walk.objects.types.count);
    ck_assert_uint_lt(seen.count, MOST);
    seen.objects[seen.count++] = object;
    return seen.count < seen.most;
}

static void begin(int build)
{
    python = python_new((enum python_build)build);
}

static struct pa_gc_walk go(uint64_t kinds)
{
    struct pa_gc_walk result = {0};
    memset(&seen, 0, sizeof(seen));
    seen.most = MOST;
    pa_gc_walk(&walk.objects, python->interpreter, kinds, see, &seen, &result);
    return result;
}

static struct pa_gc_walk go_for_tasks(void)
{
    walk_open(&walk, python);
    return go(PA_GC_KIND(PA_KIND_TASK));
}

static uint64_t list(uint32_t generation)
{
    return python_gc_list(python, python->interpreter, generation);
}

static uint64_t tracked(uint32_t generation)
{
    uint64_t task = python_task(python, 0, python_int(python, 1), 0);
    python_track(python, list(generation), task);
    return task;
}

/* Four tasks in the oldest generation, in order. */
static uint64_t tasks[4];

static void track_four(void)
{
    for (size_t i = 0; i < COUNT(tasks); i++)
        tasks[i] = tracked(2);
}

#define NEXT_OF(object)     ((object)-16)
#define PREVIOUS_OF(object) ((object)-8)

START_TEST(test_every_generation_and_the_permanent_one)
{
    begin(_i);
    uint64_t expected[4];
    for (uint32_t i = 0; i < 4; i++)
        expected[i] = tracked(i);
    struct pa_gc_walk result = go_for_tasks();
    ck_assert_ptr_null(pa_gc_unavailable(&walk.layout));
    ck_assert_uint_eq(seen.count, 4);
    ck_assert_mem_eq(seen.objects, expected, sizeof(expected));
    ck_assert_uint_eq(result.objects, 4);
    ck_assert_uint_eq(result.damaged, 0);
    ck_assert_ptr_null(result.damage);
    ck_assert_uint_eq(result.collecting, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_only_the_kinds_that_are_wanted)
{
    begin(_i);
    uint64_t subclass = python_type(python, "Job", python->types[PA_KIND_TASK], true, 0);
    uint64_t task = tracked(0), future = python_future(python), dict = python_dict(python, 1),
             coroutine = python_coroutine(python, "f", 0);
    uint64_t job = python_object(python, subclass, python_asyncio(python)->task_size);
    python_track(python, list(0), future);
    python_track(python, list(0), dict);
    python_track(python, list(1), coroutine);
    python_track(python, list(1), job);
    struct pa_gc_walk result = go_for_tasks();
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_uint_eq(seen.objects[0], task);
    ck_assert_uint_eq(seen.objects[1], job);
    ck_assert_uint_eq(result.objects, 5);
    go(PA_GC_KIND(PA_KIND_FUTURE) | PA_GC_KIND(PA_KIND_COROUTINE));
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_uint_eq(seen.objects[0], future);
    ck_assert_uint_eq(seen.objects[1], coroutine);
    walk_close(&walk);
}
END_TEST

/* _PyGC_PREV_MASK_FINALIZED, and in 3.14.0 the space that an object is in. */
START_TEST(test_flags_are_no_part_of_a_link)
{
    begin(_i);
    track_four();
    for (size_t i = 0; i < COUNT(tasks); i++) {
        image_put_u64(python->image, NEXT_OF(tasks[i]), image_u64(python->image, NEXT_OF(tasks[i])) | 1);
        image_put_u64(python->image, PREVIOUS_OF(tasks[i]), image_u64(python->image, PREVIOUS_OF(tasks[i])) | 1);
    }
    image_put_u64(python->image, list(2), image_u64(python->image, list(2)) | 1);
    struct pa_gc_walk result = go_for_tasks();
    ck_assert_uint_eq(seen.count, 4);
    ck_assert_uint_eq(result.damaged, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_visitor_ends_the_walk)
{
    begin(PYTHON_3_15);
    track_four();
    struct pa_gc_walk result = {0};
    walk_open(&walk, python);
    seen.count = 0;
    seen.most = 2;
    ck_assert(!pa_gc_walk(&walk.objects, python->interpreter, PA_GC_KIND(PA_KIND_TASK), see, &seen, &result));
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_uint_eq(result.damaged, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_builds_without_the_gil_have_no_lists)
{
    begin(_i);
    walk_open(&walk, python);
    ck_assert_ptr_nonnull(strstr(pa_gc_unavailable(&walk.layout), "without the GIL"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_offsets_of_the_collector_that_do_not_fit_are_not_used)
{
    static const enum python_slot wrong[] = {SLOT_gc_size, SLOT_gc_collecting, SLOT_interpreter_gc};
    begin(PYTHON_3_14);
    image_put_u64(python->image, python->runtime + 8 * (uint64_t)python_table_index(python, wrong[_i]), UINT64_MAX - 3);
    walk_open(&walk, python);
    ck_assert_ptr_nonnull(pa_gc_unavailable(&walk.layout));
    walk_close(&walk);
}
END_TEST

/* What is to be put where in the list of four, and which of them can still be told, in which order. */
enum place { HEAD_NEXT, HEAD_PREVIOUS, SECOND_NEXT, SECOND_PREVIOUS, THIRD_NEXT };
enum value { NONE, ODD, NOWHERE, TO_HEAD, TO_FIRST, TO_ITSELF, TO_FREE };

START_TEST(test_damaged_list_is_told_from_both_ends)
{
    static const struct {
        enum place place;
        enum value value;
        const char *told, *why;
    } cases[] = {
        {HEAD_NEXT, NONE, "3210", "a pointer that is none"}, {HEAD_NEXT, ODD, "3210", "a pointer that is none"},
        {HEAD_NEXT, NOWHERE, "3210", "no memory"},           {HEAD_NEXT, TO_HEAD, "3210", "too early"},
        {HEAD_NEXT, TO_FREE, "3210", "not in it"},           {HEAD_PREVIOUS, NONE, "0123", "too early"},
        {HEAD_PREVIOUS, TO_FREE, "0123", "too early"},       {SECOND_NEXT, NONE, "0132", "a pointer that is none"},
        {SECOND_NEXT, NOWHERE, "0132", "no memory"},         {SECOND_NEXT, TO_HEAD, "0132", "too early"},
        {SECOND_NEXT, TO_FIRST, "0132", "not in it"},        {SECOND_NEXT, TO_ITSELF, "0132", "not in it"},
        {SECOND_PREVIOUS, NONE, "0321", "not in it"},        {SECOND_PREVIOUS, TO_FREE, "0321", "not in it"},
        {THIRD_NEXT, TO_FIRST, "0123", "not in it"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char told[16] = "";
        begin(_i);
        track_four();
        uint64_t places[] = {list(2), list(2) + 8, NEXT_OF(tasks[1]), PREVIOUS_OF(tasks[1]), NEXT_OF(tasks[2])};
        uint64_t values[] = {0, tasks[0] - 12, 0x10000, list(2), NEXT_OF(tasks[0]), NEXT_OF(tasks[1]), python_alloc(python, 64)};
        image_put_u64(python->image, places[cases[i].place], values[cases[i].value]);
        struct pa_gc_walk result = go_for_tasks();
        for (uint32_t k = 0; k < seen.count; k++) {
            for (uint32_t n = 0; n < COUNT(tasks); n++) {
                if (seen.objects[k] == tasks[n])
                    told[strlen(told)] = (char)('0' + n);
            }
        }
        ck_assert_msg(strcmp(told, cases[i].told) == 0, "case %zu: told %s", i, told);
        ck_assert_uint_eq(result.damaged, 1);
        ck_assert_msg(strstr(result.damage, cases[i].why) != NULL, "case %zu: %s", i, result.damage);
        walk_close(&walk);
    }
}
END_TEST

/* subtract_refs() and update_refs(): _gc_prev is a count then. */
START_TEST(test_during_a_collection_there_are_no_links_back)
{
    begin(_i);
    track_four();
    for (size_t i = 0; i < COUNT(tasks); i++)
        image_put_u64(python->image, PREVIOUS_OF(tasks[i]), 5 << 2 | 2);
    python_set_collecting(python, python->interpreter, 1);
    struct pa_gc_walk result = go_for_tasks();
    ck_assert_uint_eq(seen.count, 4);
    ck_assert_uint_eq(result.collecting, 1);
    ck_assert_uint_eq(result.damaged, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_circle_without_the_head_during_a_collection_ends)
{
    begin(_i);
    track_four();
    image_put_u64(python->image, NEXT_OF(tasks[3]), NEXT_OF(tasks[1]));
    python_set_collecting(python, python->interpreter, 1);
    struct pa_gc_walk result = go_for_tasks();
    ck_assert_uint_ge(seen.count, 4);
    ck_assert_uint_lt(seen.count, 20);
    ck_assert_uint_eq(result.damaged, 1);
    ck_assert_ptr_nonnull(strstr(result.damage, "circles"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_heads_that_are_out_of_memory)
{
    begin(_i);
    struct pa_gc_walk result = {0};
    walk_open(&walk, python);
    ck_assert(pa_gc_walk(&walk.objects, 0x1000, PA_GC_KIND(PA_KIND_TASK), see, &seen, &result));
    ck_assert_uint_eq(result.damaged, 4);
    ck_assert_uint_eq(result.objects, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_object_that_begins_where_memory_ends)
{
    begin(_i);
    track_four();
    uint64_t end = python->end_of_objects - 16;
    image_put_u64(python->image, NEXT_OF(tasks[1]), end);
    image_put_u64(python->image, end + 8, NEXT_OF(tasks[1]));
    struct pa_gc_walk result = go_for_tasks();
    ck_assert_uint_eq(seen.count, 4);
    ck_assert_ptr_nonnull(strstr(result.damage, "no memory"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_interrupt)
{
    begin(PYTHON_3_15);
    for (uint32_t i = 0; i < 2000; i++)
        python_track(python, list(1), python_object(python, python->types[PA_KIND_MODULE], 48));
    struct pa_gc_walk result = {0};
    walk_open(&walk, python);
    walk.work.fatal = PA_ABORTED;
    ck_assert(!pa_gc_walk(&walk.objects, python->interpreter, PA_GC_KIND(PA_KIND_TASK), see, &seen, &result));
    ck_assert_uint_eq(result.objects, 0);
    walk_close(&walk);
}
END_TEST

Suite *gc_suite(void)
{
    Suite *suite = suite_create("gc");
    TCase *tests = add_case(suite, "gc");
    tcase_add_loop_test(tests, test_every_generation_and_the_permanent_one, PYTHON_3_14, PYTHON_3_14T);
    tcase_add_loop_test(tests, test_only_the_kinds_that_are_wanted, PYTHON_3_14, PYTHON_3_14T);
    tcase_add_loop_test(tests, test_flags_are_no_part_of_a_link, PYTHON_3_14, PYTHON_3_14T);
    tcase_add_test(tests, test_visitor_ends_the_walk);
    tcase_add_loop_test(tests, test_builds_without_the_gil_have_no_lists, PYTHON_3_14T, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_offsets_of_the_collector_that_do_not_fit_are_not_used, 0, 3);
    tests = add_case(suite, "damaged lists");
    tcase_add_loop_test(tests, test_damaged_list_is_told_from_both_ends, PYTHON_3_14, PYTHON_3_14T);
    tcase_add_loop_test(tests, test_during_a_collection_there_are_no_links_back, PYTHON_3_14, PYTHON_3_14T);
    tcase_add_loop_test(tests, test_circle_without_the_head_during_a_collection_ends, PYTHON_3_14, PYTHON_3_14T);
    tcase_add_loop_test(tests, test_heads_that_are_out_of_memory, PYTHON_3_14, PYTHON_3_14T);
    tcase_add_loop_test(tests, test_object_that_begins_where_memory_ends, PYTHON_3_14, PYTHON_3_14T);
    tcase_add_test(tests, test_interrupt);
    return suite;
}
