/* Finding the tables with ever less to go on, and what is said when they are not there. */
#include "find.h"
#include "walk.h"

static struct python *python;
static struct pa_work work;
static struct pa_memory memory;
static struct pa_layout layout;
static struct pa_found found;
static char error[1024];

static void setup(void)
{
    python = python_new(PYTHON_3_15);
}

static void teardown(void)
{
    python_free(python);
}

static enum pa_status find(bool exhaustive)
{
    pa_work_init(&work, &python->image->target);
    ck_assert_int_eq(pa_memory_init(&memory, &work), PA_OK);
    error[0] = '\0';
    enum pa_status status = pa_find(&found, &memory, &layout, exhaustive, error, sizeof(error));
    pa_memory_deinit(&memory);
    return status;
}

#define ck_assert_error(part) ck_assert_msg(strstr(error, part) && !strchr(error, '\n'), "%s", error)

static void put_version(uint64_t version)
{
    image_put_u64(python->image, python->runtime + 8, version);
}

static uint64_t interpreters_head(void)
{
    return python->runtime + python_offset(python, SLOT_runtime_interpreters_head);
}

START_TEST(test_sections_come_first)
{
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(found.asyncio, python->asyncio);
    ck_assert_str_eq(found.runtime_how, "section .PyRuntime");
    ck_assert_str_eq(found.asyncio_how, "section .AsyncioDebug");
    ck_assert_uint_eq(found.searched, 0);
}
END_TEST

START_TEST(test_symbols_without_sections)
{
    python->image->section_count = 0;
    image_add_symbol(python->image, "_PyRuntime", python->runtime);
    image_add_symbol(python->image, "_Py_AsyncioDebug", python->asyncio);
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(found.asyncio, python->asyncio);
    ck_assert_str_eq(found.runtime_how, "symbol _PyRuntime");
    ck_assert_uint_eq(found.searched, 0);
}
END_TEST

START_TEST(test_bare_core_is_searched)
{
    teardown();
    python = python_new((enum python_build)_i);
    python_forget_files(python);
    image_make_core(python->image);
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(found.asyncio, python->asyncio);
    ck_assert_ptr_nonnull(strstr(found.runtime_how, "xdebugpy"));
    ck_assert_uint_gt(found.searched, 0);
}
END_TEST

START_TEST(test_core_whose_mappings_are_not_known_is_searched_whole)
{
    python_forget_files(python);
    for (uint32_t i = 0; i < python->image->run_count; i++)
        python->image->runs[i].flags = 0;
    image_make_core(python->image);
    if (_i == 1)
        python->image->target.core_path = NULL; /* nor mapped */
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(found.asyncio, python->asyncio);
}
END_TEST

START_TEST(test_live_process_is_searched_whole_only_when_asked)
{
    python_forget_files(python);
    ck_assert_int_eq(find(false), PA_OK); /* .data is a mapping of a file */
    python->image->runs[0].flags = PA_RANGE_WRITABLE;
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("--exhaustive");
    ck_assert_int_eq(find(true), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(found.asyncio, python->asyncio);
}
END_TEST

/* A second libpython that is only mapped: its table is whole, but there is no interpreter. */
static uint64_t add_second_runtime(uint64_t address)
{
    uint64_t size = python_offset(python, SLOT_runtime_size);
    image_map(python->image, address, size, PA_RANGE_FILE_BACKED | PA_RANGE_WRITABLE);
    image_put(python->image, address, image_at(python->image, python->runtime, size), size);
    image_put_u64(python->image, address + python_offset(python, SLOT_runtime_interpreters_head), 0);
    return address;
}

START_TEST(test_of_two_runtimes_the_one_with_interpreters_is_taken)
{
    uint64_t second = add_second_runtime(_i % 2 ? 0x7e0000000000u : 0x300000u);
    if (_i < 2) {
        python->image->section_count = 0;
        image_add_section(python->image, ".PyRuntime", _i % 2 ? python->runtime : second);
        image_add_section(python->image, ".PyRuntime", _i % 2 ? second : python->runtime);
        image_add_section(python->image, ".AsyncioDebug", python->asyncio);
    } else {
        python_forget_files(python);
        image_make_core(python->image);
    }
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(found.runtime_copies, 2);
}
END_TEST

START_TEST(test_section_that_was_not_relocated_is_passed_over)
{
    /* The section of an object file that is not where the debugger thinks. */
    python->image->section_count = 0;
    image_add_section(python->image, ".PyRuntime", 0x1000);
    image_add_section(python->image, ".PyRuntime", python->runtime);
    image_add_section(python->image, ".AsyncioDebug", 0x1000);
    image_add_section(python->image, ".AsyncioDebug", python->asyncio);
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(found.asyncio, python->asyncio);
}
END_TEST

START_TEST(test_wrong_sections_do_not_hide_what_a_search_would_find)
{
    /* The debugger has loaded another executable than the one that ran. */
    python->image->section_count = 0;
    image_add_section(python->image, ".PyRuntime", PYTHON_DATA);
    image_add_section(python->image, ".AsyncioDebug", PYTHON_DATA);
    image_make_core(python->image);
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(found.asyncio, python->asyncio);
}
END_TEST

START_TEST(test_finalised_or_not_started)
{
    image_put_u64(python->image, interpreters_head(), 0);
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("CPython 3.15.0");
    ck_assert_error("not started yet, or is finalised");
}
END_TEST

START_TEST(test_unsupported_version_says_which)
{
    put_version(0x30d0ff0);
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("3.13.15");
    put_version(0x31000a1);
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("3.16.0a1");
    ck_assert_error("3.15");
}
END_TEST

START_TEST(test_python_before_the_debug_offsets)
{
    image_put_u64(python->image, python->runtime, 0);
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("not supported");
    uint64_t version = python_alloc(python, 8);
    image_put_u32(python->image, version, 0x30b02f0);
    image_add_symbol(python->image, "Py_Version", version);
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("3.11.2");
}
END_TEST

START_TEST(test_damaged_table_is_named)
{
    image_put_u64(python->image, python->runtime + 8 * python_table_index(python, SLOT_gen_iframe), 1 << 20);
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("damaged");
    ck_assert_error("gen");
}
END_TEST

START_TEST(test_damaged_copy_does_not_hide_the_whole_one)
{
    uint64_t second = add_second_runtime(0x300000);
    image_put_u64(python->image, second + 8 * (uint64_t)python_table_index(python, SLOT_gen_iframe), 1 << 20);
    python->image->section_count = 0;
    image_add_section(python->image, ".PyRuntime", _i ? python->runtime : second);
    image_add_section(python->image, ".PyRuntime", _i ? second : python->runtime);
    image_add_section(python->image, ".AsyncioDebug", python->asyncio);
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(PA_OFFSET(&layout, gen_iframe), 72);
}
END_TEST

START_TEST(test_asyncio_that_was_not_loaded)
{
    python->image->section_count = 1;
    image_put_u64(python->image, python->asyncio + 56, 0);
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("3.15.0 has not loaded asyncio");
    ck_assert_error("--exhaustive");
    image_make_core(python->image);
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("has not loaded asyncio");
    ck_assert_ptr_null(strstr(error, "--exhaustive"));
}
END_TEST

START_TEST(test_second_asyncio_table_serves_if_the_first_is_damaged)
{
    uint64_t copy = python->next_data;
    image_put(python->image, copy, python_asyncio(python), sizeof(struct python_asyncio));
    image_put_u64(python->image, copy, 8); /* the task's size */
    python->image->section_count = 1;
    image_add_section(python->image, ".AsyncioDebug", copy);
    image_add_section(python->image, ".AsyncioDebug", python->asyncio);
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.asyncio, python->asyncio);
}
END_TEST

START_TEST(test_process_that_is_not_python)
{
    python_forget_files(python);
    image_unmap(python->image, PYTHON_DATA);
    ck_assert_int_eq(find(false), PA_FAILED);
    ck_assert_error("no CPython here");
    ck_assert_error("right process");
    python->image->target.flags = PA_TARGET_CORE;
    ck_assert_int_eq(find(true), PA_FAILED);
    ck_assert_error("right core");
}
END_TEST

START_TEST(test_cookie_in_text_is_no_runtime)
{
    python_forget_files(python);
    image_put_u64(python->image, python->next_data, 0x7970677562656478u);
    image_put_u64(python->image, PYTHON_DATA, 0x7970677562656478u);
    image_put_u64(python->image, PYTHON_DATA + 8, 0x123456789);
    ck_assert_int_eq(find(false), PA_OK);
    ck_assert_uint_eq(found.runtime, python->runtime);
    ck_assert_uint_eq(found.runtime_copies, 1);
}
END_TEST

START_TEST(test_memory_full_of_cookies_ends)
{
    teardown();
    python = python_new_sized(PYTHON_3_14, 1 << 22);
    python_forget_files(python);
    for (uint64_t i = 0; i < 100000; i++) {
        image_put_u64(python->image, PYTHON_HEAP + 24 * i, 0x7970677562656478u);
        image_put_u64(python->image, PYTHON_HEAP + 24 * i + 8, 0x30e08f0);
    }
    image_put_u64(python->image, python->runtime, 0);
    image_make_core(python->image);
    ck_assert_int_eq(find(false), PA_FAILED);
}
END_TEST

START_TEST(test_every_callback_may_abort)
{
    if (_i == 1)
        python_forget_files(python);
    uint64_t n = 0;
    do {
        image_reset(python->image);
        python->image->abort_at = ++n;
        pa_work_init(&work, &python->image->target);
        enum pa_status status = pa_memory_init(&memory, &work);
        if (status == PA_OK)
            status = pa_find(&found, &memory, &layout, false, error, sizeof(error));
        pa_memory_deinit(&memory);
        ck_assert_int_eq(status, python->image->aborted ? PA_ABORTED : PA_OK);
    } while (python->image->aborted);
    ck_assert_uint_gt(n, 5);
}
END_TEST

Suite *find_suite(void)
{
    Suite *suite = suite_create("find");
    TCase *tests = add_case(suite, "find");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_sections_come_first);
    tcase_add_test(tests, test_symbols_without_sections);
    tcase_add_loop_test(tests, test_bare_core_is_searched, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_core_whose_mappings_are_not_known_is_searched_whole, 0, 2);
    tcase_add_test(tests, test_live_process_is_searched_whole_only_when_asked);
    tcase_add_loop_test(tests, test_of_two_runtimes_the_one_with_interpreters_is_taken, 0, 4);
    tcase_add_test(tests, test_section_that_was_not_relocated_is_passed_over);
    tcase_add_test(tests, test_wrong_sections_do_not_hide_what_a_search_would_find);
    tcase_add_test(tests, test_finalised_or_not_started);
    tcase_add_test(tests, test_unsupported_version_says_which);
    tcase_add_test(tests, test_python_before_the_debug_offsets);
    tcase_add_test(tests, test_damaged_table_is_named);
    tcase_add_loop_test(tests, test_damaged_copy_does_not_hide_the_whole_one, 0, 2);
    tcase_add_test(tests, test_asyncio_that_was_not_loaded);
    tcase_add_test(tests, test_second_asyncio_table_serves_if_the_first_is_damaged);
    tcase_add_test(tests, test_process_that_is_not_python);
    tcase_add_test(tests, test_cookie_in_text_is_no_runtime);
    tcase_add_test(tests, test_memory_full_of_cookies_ends);
    tcase_add_loop_test(tests, test_every_callback_may_abort, 0, 2);
    return suite;
}
