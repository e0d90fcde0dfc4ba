/* The layout table: its sources, and the checks of what a process publishes. */
#include "find.h"
#include "limits.h"
#include "walk.h"

static struct python *python;
static struct pa_work work;
static struct pa_memory memory;
static struct pa_layout layout;
static char error[1024];

static void open_build(int build)
{
    python = python_new((enum python_build)build);
    pa_work_init(&work, &python->image->target);
    ck_assert_int_eq(pa_memory_init(&memory, &work), PA_OK);
}

static void close_build(void)
{
    pa_memory_deinit(&memory);
    python_free(python);
}

static enum pa_status read_runtime(void)
{
    /* Anew: blocks that are cached do not show what the test has changed. */
    pa_memory_deinit(&memory);
    ck_assert_int_eq(pa_memory_init(&memory, &work), PA_OK);
    return pa_layout_read_runtime(&layout, &memory, python->runtime, error, sizeof(error));
}

static enum pa_status read_both(void)
{
    enum pa_status status = read_runtime();
    return status == PA_OK ? pa_layout_read_asyncio(&layout, &memory, python->asyncio, error, sizeof(error)) : status;
}

/* The words of the debug offsets that the library reads, and its fields. */
static const struct {
    enum python_slot slot;
    enum pa_field field;
} published[] = {
    {SLOT_runtime_size, PA_F_runtime_size},
    {SLOT_runtime_interpreters_head, PA_F_runtime_interpreters_head},
    {SLOT_interpreter_size, PA_F_interpreter_size},
    {SLOT_interpreter_id, PA_F_interpreter_id},
    {SLOT_interpreter_next, PA_F_interpreter_next},
    {SLOT_interpreter_threads_head, PA_F_interpreter_threads_head},
    {SLOT_interpreter_imports_modules, PA_F_interpreter_imports_modules},
    {SLOT_thread_size, PA_F_thread_size},
    {SLOT_thread_next, PA_F_thread_next},
    {SLOT_thread_current_frame, PA_F_thread_current_frame},
    {SLOT_thread_thread_id, PA_F_thread_thread_id},
    {SLOT_thread_native_thread_id, PA_F_thread_native_thread_id},
    {SLOT_frame_size, PA_F_frame_size},
    {SLOT_frame_previous, PA_F_frame_previous},
    {SLOT_frame_executable, PA_F_frame_executable},
    {SLOT_frame_instr_ptr, PA_F_frame_instr_ptr},
    {SLOT_frame_localsplus, PA_F_frame_localsplus},
    {SLOT_frame_owner, PA_F_frame_owner},
    {SLOT_frame_stackpointer, PA_F_frame_stackpointer},
    {SLOT_code_size, PA_F_code_size},
    {SLOT_code_filename, PA_F_code_filename},
    {SLOT_code_qualname, PA_F_code_qualname},
    {SLOT_code_linetable, PA_F_code_linetable},
    {SLOT_code_firstlineno, PA_F_code_firstlineno},
    {SLOT_code_argcount, PA_F_code_argcount},
    {SLOT_code_bytecode, PA_F_code_bytecode},
    {SLOT_object_size, PA_F_object_size},
    {SLOT_object_ob_type, PA_F_object_type},
    {SLOT_type_size, PA_F_type_size},
    {SLOT_type_name, PA_F_type_name},
    {SLOT_type_flags, PA_F_type_flags},
    {SLOT_set_size, PA_F_set_size},
    {SLOT_set_used, PA_F_set_used},
    {SLOT_set_table, PA_F_set_table},
    {SLOT_set_mask, PA_F_set_mask},
    {SLOT_dict_size, PA_F_dict_size},
    {SLOT_dict_keys, PA_F_dict_keys},
    {SLOT_long_size, PA_F_long_size},
    {SLOT_long_tag, PA_F_long_tag},
    {SLOT_long_digit, PA_F_long_digit},
    {SLOT_bytes_size, PA_F_bytes_size},
    {SLOT_bytes_length, PA_F_bytes_length},
    {SLOT_bytes_data, PA_F_bytes_data},
    {SLOT_unicode_size, PA_F_unicode_size},
    {SLOT_unicode_state, PA_F_unicode_state},
    {SLOT_unicode_length, PA_F_unicode_length},
    {SLOT_unicode_ascii_size, PA_F_unicode_ascii_data},
    {SLOT_gen_size, PA_F_gen_size},
    {SLOT_gen_iframe, PA_F_gen_iframe},
    {SLOT_gen_frame_state, PA_F_gen_frame_state},
};

START_TEST(test_published_offsets_are_read_from_their_words)
{
    open_build(_i);
    ck_assert_int_eq(read_both(), PA_OK);
    for (size_t i = 0; i < COUNT(published); i++) {
        ck_assert_msg(layout.offset[published[i].field] == python_offset(python, published[i].slot), "%s",
                      pa_field_info[published[i].field].name);
        ck_assert_int_eq(layout.source[published[i].field], PA_SOURCE_PUBLISHED);
    }
    ck_assert_int_eq(layout.free_threaded, python->free_threaded);
    ck_assert_uint_eq(layout.version->minor, (unsigned)python->minor);
    close_build();
}
END_TEST

/* Measured against DWARF; without and with the GIL. */
static const struct {
    enum pa_field field;
    uint32_t gil, free_threaded;
    enum pa_source source;
} others[] = {
    {PA_F_task_loop, 16, 32, PA_SOURCE_DERIVED},           {PA_F_task_exception, 48, 64, PA_SOURCE_DERIVED},
    {PA_F_task_awaited_by, 96, 112, PA_SOURCE_PUBLISHED},  {PA_F_task_state, 104, 120, PA_SOURCE_DERIVED},
    {PA_F_task_is_task, 108, 124, PA_SOURCE_PUBLISHED},    {PA_F_task_awaited_by_is_set, 109, 125, PA_SOURCE_PUBLISHED},
    {PA_F_task_bits, 110, 126, PA_SOURCE_DERIVED},         {PA_F_task_cancel_requests, 112, 128, PA_SOURCE_DERIVED},
    {PA_F_task_fut_waiter, 120, 136, PA_SOURCE_DERIVED},   {PA_F_task_coro, 128, 144, PA_SOURCE_PUBLISHED},
    {PA_F_task_name, 136, 152, PA_SOURCE_PUBLISHED},       {PA_F_task_node, 152, 168, PA_SOURCE_PUBLISHED},
    {PA_F_task_size, 168, 192, PA_SOURCE_PUBLISHED},       {PA_F_code_flags, 48, 64, PA_SOURCE_DERIVED},
    {PA_F_code_units, 16, 32, PA_SOURCE_DERIVED},          {PA_F_wrapper_object, 16, 32, PA_SOURCE_DERIVED},
    {PA_F_wrapper_module_dict, 16, 32, PA_SOURCE_DERIVED}, {PA_F_type_base, 256, 272, PA_SOURCE_CONSTANT},
    {PA_F_dict_keys_log2_size, 8, 8, PA_SOURCE_CONSTANT},  {PA_F_dict_keys_log2_index_bytes, 9, 9, PA_SOURCE_CONSTANT},
    {PA_F_dict_keys_kind, 10, 10, PA_SOURCE_CONSTANT},     {PA_F_dict_keys_nentries, 24, 24, PA_SOURCE_CONSTANT},
    {PA_F_dict_keys_indices, 32, 32, PA_SOURCE_CONSTANT},
};

START_TEST(test_what_no_table_has_is_where_it_was_measured)
{
    open_build(_i);
    ck_assert_int_eq(read_both(), PA_OK);
    for (size_t i = 0; i < COUNT(others); i++) {
        uint32_t expected = python->free_threaded ? others[i].free_threaded : others[i].gil;
        ck_assert_msg(layout.offset[others[i].field] == expected && layout.source[others[i].field] == others[i].source, "%s: %u %s",
                      pa_field_info[others[i].field].name, layout.offset[others[i].field],
                      pa_source_name(layout.source[others[i].field]));
    }
    ck_assert_uint_eq(PA_OFFSET(&layout, unicode_compact_data), python->free_threaded ? 72 : 56);
    ck_assert_int_eq(layout.source[PA_F_unicode_compact_data], python->minor >= 15 ? PA_SOURCE_PUBLISHED : PA_SOURCE_DERIVED);
    ck_assert_int_eq(PA_HAS(&layout, frame_tlbc_index), python->free_threaded);
    ck_assert_int_eq(PA_HAS(&layout, code_tlbc), python->free_threaded);
    if (python->free_threaded) {
        ck_assert_uint_eq(PA_OFFSET(&layout, frame_tlbc_index), 72);
        ck_assert_uint_eq(PA_OFFSET(&layout, code_tlbc), 224);
        ck_assert_uint_eq(PA_OFFSET(&layout, code_bytecode), 232);
    }
    close_build();
}
END_TEST

START_TEST(test_every_required_field_is_known)
{
    open_build(_i);
    ck_assert_int_eq(read_both(), PA_OK);
    for (enum pa_field field = 0; field < PA_F_COUNT; field++)
        ck_assert_msg(layout.source[field] != PA_SOURCE_NONE || !pa_field_info[field].required, "%s", pa_field_info[field].name);
    close_build();
}
END_TEST

/* Values that no offset and no size can have. */
static const uint64_t absurd[] = {UINT64_MAX, 1ull << 63, 1ull << 32, (1ull << 32) + 8, PA_MAX_STRUCT_SIZE + 1, UINT32_MAX};

START_TEST(test_absurd_word_of_the_debug_offsets_is_refused_by_name)
{
    open_build(PYTHON_3_15);
    uint64_t word = python->runtime + 8 * python_table_index(python, published[_i].slot);
    uint64_t right = image_u64(python->image, word);
    for (size_t i = 0; i < COUNT(absurd); i++) {
        image_put_u64(python->image, word, absurd[i]);
        ck_assert_msg(read_runtime() == PA_FAILED, "%s = 0x%llx", pa_field_info[published[_i].field].name,
                      (unsigned long long)absurd[i]);
        ck_assert_ptr_nonnull(strstr(error, "debug offsets"));
        ck_assert_ptr_null(strchr(error, '\n'));
    }
    image_put_u64(python->image, word, right);
    ck_assert_int_eq(read_runtime(), PA_OK);
    close_build();
}
END_TEST

START_TEST(test_offset_that_ends_behind_its_structure_is_refused)
{
    open_build(PYTHON_3_14);
    const struct pa_field_info *info = &pa_field_info[published[_i].field];
    uint64_t word = python->runtime + 8 * python_table_index(python, published[_i].slot);
    if (!info->is_size && info->width > 0) {
        ck_assert_int_eq(read_runtime(), PA_OK);
        uint32_t size = layout.offset[info->owner];
        image_put_u64(python->image, word, size - info->width + 1u);
        ck_assert_int_eq(read_runtime(), PA_FAILED);
        ck_assert_msg(strstr(error, info->name), "%s", error);
    }
    close_build();
}
END_TEST

START_TEST(test_structure_of_no_size_is_refused)
{
    open_build(PYTHON_3_14T);
    if (pa_field_info[published[_i].field].is_size) {
        image_put_u64(python->image, python->runtime + 8 * python_table_index(python, published[_i].slot), 0);
        ck_assert_int_eq(read_runtime(), PA_FAILED);
    }
    close_build();
}
END_TEST

START_TEST(test_absurd_word_of_the_asyncio_table_is_refused)
{
    open_build(_i / 13);
    uint64_t word = python->asyncio + 8 * (uint64_t)(_i % 13);
    for (size_t i = 0; i < COUNT(absurd); i++) {
        image_put_u64(python->image, word, absurd[i]);
        ck_assert_int_eq(read_both(), PA_FAILED);
        ck_assert(!pa_layout_is_asyncio_table(&layout, &memory, python->asyncio));
    }
    close_build();
}
END_TEST

START_TEST(test_tables_that_disagree_are_refused)
{
    open_build(PYTHON_3_14);
    image_put_u64(python->image, python->asyncio + 56, 226240); /* as in 3.15 */
    ck_assert_int_eq(read_both(), PA_FAILED);
    ck_assert_ptr_nonnull(strstr(error, "225864"));
    ck_assert_ptr_nonnull(strstr(error, "226240"));
    close_build();
}
END_TEST

START_TEST(test_asyncio_table_is_known_by_its_content)
{
    open_build(_i);
    ck_assert_int_eq(read_runtime(), PA_OK);
    ck_assert(pa_layout_is_asyncio_table(&layout, &memory, python->asyncio));
    ck_assert(!pa_layout_is_asyncio_table(&layout, &memory, python->asyncio + 8));
    ck_assert(!pa_layout_is_asyncio_table(&layout, &memory, python->runtime));
    ck_assert(!pa_layout_is_asyncio_table(&layout, &memory, 0x1000));
    close_build();
}
END_TEST

START_TEST(test_optional_field_that_does_not_fit_is_dropped)
{
    open_build(PYTHON_3_15T);
    image_put_u64(python->image, python->runtime + 8 * python_table_index(python, SLOT_frame_tlbc_index), 4000);
    ck_assert_int_eq(read_runtime(), PA_OK);
    ck_assert(!PA_HAS(&layout, frame_tlbc_index));
    ck_assert(PA_HAS(&layout, code_tlbc));
    close_build();
}
END_TEST

START_TEST(test_damaged_table_leaves_nothing_behind_for_the_next)
{
    open_build(_i);
    struct python_asyncio wrong = *python_asyncio(python);
    uint64_t copy = python->next_data;
    wrong.is_task = 60; /* what is derived from it would be wrong and fit */
    wrong.coro = 72;
    wrong.node = wrong.task_size; /* what makes it fail */
    image_put(python->image, copy, &wrong, sizeof(wrong));
    ck_assert_int_eq(read_runtime(), PA_OK);
    ck_assert_int_eq(pa_layout_read_asyncio(&layout, &memory, copy, error, sizeof(error)), PA_FAILED);
    ck_assert_int_eq(pa_layout_read_asyncio(&layout, &memory, python->asyncio, error, sizeof(error)), PA_OK);
    ck_assert_uint_eq(PA_OFFSET(&layout, task_state), python_asyncio(python)->is_task - 4);
    ck_assert_uint_eq(PA_OFFSET(&layout, task_fut_waiter), python_asyncio(python)->coro - 8);
    close_build();
}
END_TEST

START_TEST(test_only_releases_of_known_versions_are_supported)
{
    static const struct {
        uint64_t version;
        const char *text;
    } unsupported[] = {{0x30d0ff0, "3.13.15"},   {0x3100000, "3.16.0"}, {0x30f00a3, "3.15.0a3"}, {0x30f00b4, "3.15.0b4"},
                       {0x30f00c2, "3.15.0rc2"}, {0x20712f0, "2.7.18"}, {0x40e00f0, "4.14.0"},   {0, "0.0.0"}};
    char text[32];
    open_build(PYTHON_3_15);
    for (size_t i = 0; i < COUNT(unsupported); i++) {
        image_put_u64(python->image, python->runtime + 8, unsupported[i].version);
        ck_assert_int_eq(read_runtime(), PA_FAILED);
        ck_assert_ptr_null(layout.version);
        ck_assert_uint_eq(layout.hexversion, unsupported[i].version);
        if (unsupported[i].version != 0x3100000 && unsupported[i].version != 0) {
            pa_version_text(layout.hexversion, text);
            ck_assert_str_eq(text, unsupported[i].text);
        }
    }
    image_put_u64(python->image, python->runtime + 8, 0x1030f00f0);
    ck_assert_int_eq(read_runtime(), PA_FAILED);
    image_put_u64(python->image, python->runtime + 8, 0x30f05f0);
    ck_assert_int_eq(read_runtime(), PA_OK);
    close_build();
}
END_TEST

START_TEST(test_table_that_cannot_be_read_whole_is_refused)
{
    open_build(PYTHON_3_14);
    image_map(python->image, 0x900000, 200, PA_RANGE_WRITABLE);
    image_put(python->image, 0x900000, image_at(python->image, python->runtime, 200), 200);
    python->runtime = 0x900000;
    ck_assert_int_eq(read_runtime(), PA_FAILED);
    python->runtime = 0x990000;
    ck_assert_int_eq(read_runtime(), PA_FAILED);
    close_build();
}
END_TEST

START_TEST(test_another_place_of_tp_base_is_calibrated_by_bool_and_int)
{
    struct walk walk;
    python = python_new((enum python_build)(_i / 2));
    uint64_t constant = python->free_threaded ? 272 : 256, to = _i % 2 ? constant + 16 : constant;
    /* Move it in every type. */
    for (enum pa_kind kind = 0; kind < PA_KIND_COUNT; kind++) {
        uint64_t base = python->types[kind] ? image_u64(python->image, python->types[kind] + constant) : 0;
        if (!python->types[kind])
            continue;
        image_put_u64(python->image, python->types[kind] + constant, 0);
        image_put_u64(python->image, python->types[kind] + to, base);
    }
    image_add_symbol(python->image, "PyBool_Type", python->types[PA_KIND_BOOL]);
    image_add_symbol(python->image, "PyLong_Type", python->types[PA_KIND_INT]);
    uint64_t type = python_type(python, "MyTask", 0, true, 0);
    image_put_u64(python->image, type + constant, 0);
    image_put_u64(python->image, type + to, python->types[PA_KIND_TASK]);
    walk_open(&walk, python);
    ck_assert_uint_eq(PA_OFFSET(&walk.layout, type_base), to);
    ck_assert_int_eq(walk.layout.source[PA_F_type_base], to == constant ? PA_SOURCE_CONSTANT : PA_SOURCE_CALIBRATED);
    ck_assert_uint_eq(walk.layout.replaced[PA_F_type_base], to == constant ? 0 : constant);
    uint32_t id = pa_type_at(&walk.objects, type);
    ck_assert_int_eq(walk.objects.types.items[id].kind, PA_KIND_TASK);
    walk_close(&walk);
}
END_TEST

START_TEST(test_calibration_without_a_match_changes_nothing)
{
    open_build(PYTHON_3_14);
    ck_assert_int_eq(read_both(), PA_OK);
    pa_layout_calibrate_type_base(&layout, &memory, python->types[PA_KIND_BOOL], 0x1234560);
    pa_layout_calibrate_type_base(&layout, &memory, 0x10, python->types[PA_KIND_INT]);
    ck_assert_uint_eq(PA_OFFSET(&layout, type_base), 256);
    ck_assert_int_eq(layout.source[PA_F_type_base], PA_SOURCE_CONSTANT);
    close_build();
}
END_TEST

START_TEST(test_dwarf_fills_in_what_is_missing_and_nothing_else)
{
    open_build(PYTHON_3_15T);
    image_add_member(python->image, "PyInterpreterState", "monitors", 176);
    image_add_member(python->image, "PyInterpreterState", "monitoring_tool_names", 1 << 20); /* more than its size */
    image_add_member(python->image, "TaskObj", "task_coro", 8);                              /* published */
    ck_assert_int_eq(read_both(), PA_OK);
    pa_layout_read_dwarf(&layout, &work);
    ck_assert_uint_eq(PA_OFFSET(&layout, interpreter_monitors), 176);
    ck_assert_int_eq(layout.source[PA_F_interpreter_monitors], PA_SOURCE_DWARF);
    ck_assert(!PA_HAS(&layout, interpreter_tool_names));
    ck_assert_uint_eq(PA_OFFSET(&layout, task_coro), 144);
    close_build();

    open_build(PYTHON_3_15);
    image_add_member(python->image, "PyCodeObject", "co_tlbc", 184); /* has no meaning with the GIL */
    ck_assert_int_eq(read_both(), PA_OK);
    pa_layout_read_dwarf(&layout, &work);
    ck_assert(!PA_HAS(&layout, code_tlbc));
    close_build();
}
END_TEST

START_TEST(test_names_of_sources)
{
    ck_assert_str_eq(pa_source_name(PA_SOURCE_NONE), "unknown");
    ck_assert_str_eq(pa_source_name(PA_SOURCE_PUBLISHED), "published");
    ck_assert_str_eq(pa_source_name(PA_SOURCE_DERIVED), "derived");
    ck_assert_str_eq(pa_source_name(PA_SOURCE_CONSTANT), "constant");
    ck_assert_str_eq(pa_source_name(PA_SOURCE_CALIBRATED), "calibrated");
    ck_assert_str_eq(pa_source_name(PA_SOURCE_DWARF), "DWARF");
}
END_TEST

Suite *layout_suite(void)
{
    Suite *suite = suite_create("layout");
    TCase *tests = add_case(suite, "layout");
    tcase_add_loop_test(tests, test_published_offsets_are_read_from_their_words, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_what_no_table_has_is_where_it_was_measured, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_every_required_field_is_known, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_absurd_word_of_the_debug_offsets_is_refused_by_name, 0, COUNT(published));
    tcase_add_loop_test(tests, test_offset_that_ends_behind_its_structure_is_refused, 0, COUNT(published));
    tcase_add_loop_test(tests, test_structure_of_no_size_is_refused, 0, COUNT(published));
    tcase_add_loop_test(tests, test_absurd_word_of_the_asyncio_table_is_refused, 0, 2 * 13);
    tcase_add_test(tests, test_tables_that_disagree_are_refused);
    tcase_add_loop_test(tests, test_asyncio_table_is_known_by_its_content, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_optional_field_that_does_not_fit_is_dropped);
    tcase_add_loop_test(tests, test_damaged_table_leaves_nothing_behind_for_the_next, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_only_releases_of_known_versions_are_supported);
    tcase_add_test(tests, test_table_that_cannot_be_read_whole_is_refused);
    tcase_add_loop_test(tests, test_another_place_of_tp_base_is_calibrated_by_bool_and_int, 0, 2 * PYTHON_BUILDS);
    tcase_add_test(tests, test_calibration_without_a_match_changes_nothing);
    tcase_add_test(tests, test_dwarf_fills_in_what_is_missing_and_nothing_else);
    tcase_add_test(tests, test_names_of_sources);
    return suite;
}
