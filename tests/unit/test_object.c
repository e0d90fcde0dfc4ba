/* Python objects: str of every kind, int, set, dict, and what a type is. */
#include "limits.h"
#include "walk.h"

static struct walk walk;
static struct python *python;
static char text[PA_STRING_BYTES];
static uint32_t length;

/* Tests are run for every build: _i is the build, or begins with it. */
static void begin(int build)
{
    python = python_new((enum python_build)build);
}

static void open_objects(void)
{
    walk_open(&walk, python);
}

static bool read_str(uint64_t str)
{
    memset(text, '#', sizeof(text));
    bool read = pa_str_read(&walk.objects, str, text, &length);
    if (read)
        text[length] = '\0';
    return read;
}

#define ck_assert_text(str, expected)                                                                                              \
    do {                                                                                                                           \
        ck_assert(read_str(str));                                                                                                  \
        ck_assert_str_eq(text, expected);                                                                                          \
    } while (0)

#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

static const char *const strings[] = {
    "",
    "a",
    "Task-12",
    "caf\xc3\xa9 \xc2\x80\xc3\xbf",       /* 1 byte, not ASCII */
    "\xe2\x82\xac\xe4\xb8\xad",           /* 2 bytes */
    "\xf0\x9f\x90\x8d\xf4\x8f\xbf\xbf",   /* 4 bytes */
    "lone \xed\xa0\x80 and \xed\xbf\xbf", /* surrogates, as WTF-8 */
    "line\nescape\x1b[31m\x7f",
    (LONG LONG LONG " end"), /* longer than what is read at a time */
};

START_TEST(test_str_of_every_kind)
{
    begin(_i);
    uint64_t plain[COUNT(strings)], subclass[COUNT(strings)];
    for (size_t i = 0; i < COUNT(strings); i++) {
        plain[i] = python_str(python, strings[i]);
        subclass[i] = python_str_subclass(python, strings[i]);
    }
    open_objects();
    for (size_t i = 0; i < COUNT(strings); i++) {
        ck_assert_text(plain[i], strings[i]);
        ck_assert_text(subclass[i], strings[i]);
    }
    walk_close(&walk);
}
END_TEST

START_TEST(test_ascii_str_stored_wide_is_read_all_the_same)
{
    static const uint32_t points[] = {'w', 'i', 'd', 'e'};
    begin(_i);
    uint64_t two = python_str_wide(python, points, 4, 2), four = python_str_wide(python, points, 4, 4);
    open_objects();
    ck_assert_text(two, "wide");
    ck_assert_text(four, "wide");
    walk_close(&walk);
}
END_TEST

START_TEST(test_code_point_that_unicode_has_not_becomes_a_replacement)
{
    static const uint32_t points[] = {'a', 0x110000, 0xffffffff, 'b'};
    begin(_i);
    uint64_t str = python_str_wide(python, points, 4, 4);
    open_objects();
    ck_assert_text(str, "a\xef\xbf\xbd\xef\xbf\xbd"
                        "b");
    walk_close(&walk);
}
END_TEST

START_TEST(test_long_str_is_cut_and_says_so)
{
    python = python_new_sized(PYTHON_3_15, 1 << 22);
    uint32_t *points = calloc(200000, sizeof(*points));
    for (uint32_t i = 0; i < 200000; i++)
        points[i] = 0x1f40d;
    uint64_t longest = python_str_wide(python, points, PA_MAX_STRING, 4);
    uint64_t cut = python_str_wide(python, points, 200000, 4), by_one = python_str_wide(python, points, PA_MAX_STRING + 1, 4);
    free(points);
    open_objects();
    ck_assert(read_str(longest));
    ck_assert_uint_eq(length, 4 * PA_MAX_STRING);
    ck_assert(read_str(cut));
    ck_assert_str_eq(text + 4 * PA_MAX_STRING, "\xe2\x80\xa6 (195,904 more characters)");
    ck_assert(read_str(by_one));
    ck_assert_ptr_nonnull(strstr(text, "(1 more character"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_str_of_absurd_length_or_kind_is_none)
{
    static const uint64_t lengths[] = {UINT64_MAX, INT64_MAX, 1ull << 62, 1ull << 61};
    begin(_i);
    uint64_t bad[COUNT(lengths)], kind = python_str(python, "abc"), cut = python_str(python, "abc");
    for (size_t i = 0; i < COUNT(lengths); i++) {
        bad[i] = python_str(python, "abc");
        image_put_u64(python->image, bad[i] + python_offset(python, SLOT_unicode_length), lengths[i]);
    }
    image_put_u32(python->image, kind + python_offset(python, SLOT_unicode_state),
                  python->free_threaded ? 3 << 8 | 1 << 11 : 3 << 2 | 1 << 5);
    image_put_u64(python->image, cut + python_offset(python, SLOT_unicode_length), 1 << 20); /* behind the heap's end */
    open_objects();
    for (size_t i = 0; i < COUNT(lengths); i++)
        ck_assert(!read_str(bad[i]) || length < PA_STRING_BYTES);
    ck_assert(!read_str(kind));
    read_str(cut);
    ck_assert(!read_str(0));
    ck_assert(!read_str(0x10));
    ck_assert(!read_str(python->types[PA_KIND_STR])); /* no str */
    ck_assert(!read_str(kind + 1));
    walk_close(&walk);
}
END_TEST

START_TEST(test_str_equals_compares_whole_ascii)
{
    begin(_i);
    uint64_t sys = python_str(python, "sys"), wide = python_str(python, "sys\xe2\x82\xac"),
             sub = python_str_subclass(python, "sys");
    open_objects();
    ck_assert(pa_str_equals(&walk.objects, sys, "sys"));
    ck_assert(pa_str_equals(&walk.objects, sub, "sys"));
    ck_assert(!pa_str_equals(&walk.objects, sys, "sy"));
    ck_assert(!pa_str_equals(&walk.objects, sys, "syss"));
    ck_assert(!pa_str_equals(&walk.objects, wide, "sys"));
    ck_assert(!pa_str_equals(&walk.objects, python->thread, "sys"));
    walk_close(&walk);
}
END_TEST

START_TEST(test_int)
{
    static const int64_t values[] = {0, 1, 12, -1, (1 << 30) - 1, 1 << 30, -(1ll << 59), (1ll << 60) - 1, 1000000007};
    int64_t value;
    begin(_i);
    uint64_t ints[COUNT(values)], big = python_int(python, 1ll << 60), sign = python_int(python, 5), digit = python_int(python, 5);
    for (size_t i = 0; i < COUNT(values); i++)
        ints[i] = python_int(python, values[i]);
    uint64_t immortal = python_int(python, 7), tag = python_offset(python, SLOT_long_tag);
    image_put_u64(python->image, immortal + tag, 1 << 3 | 4);
    image_put_u64(python->image, sign + tag, 1 << 3 | 3);
    image_put_u32(python->image, digit + python_offset(python, SLOT_long_digit), 0xffffffff);
    open_objects();
    for (size_t i = 0; i < COUNT(values); i++) {
        ck_assert(pa_int_read(&walk.objects, ints[i], &value));
        ck_assert_int_eq(value, values[i]);
    }
    ck_assert(pa_int_read(&walk.objects, immortal, &value));
    ck_assert_int_eq(value, 7);
    ck_assert(!pa_int_read(&walk.objects, big, &value));
    ck_assert(!pa_int_read(&walk.objects, sign, &value));
    ck_assert(!pa_int_read(&walk.objects, digit, &value));
    ck_assert(!pa_int_read(&walk.objects, python->dummy, &value));
    walk_close(&walk);
}
END_TEST

START_TEST(test_deleted_entries_of_a_set_are_passed_over)
{
    struct pa_set_iterator iterator;
    uint64_t element, sum = 0, count = 0;
    begin(_i);
    uint64_t a = python_int(python, 1), b = python_int(python, 2);
    uint64_t set = python_set(python, (const uint64_t[]){0, a, 0, b, 0}, 5), empty = python_set(python, NULL, 0);
    open_objects();
    ck_assert(pa_set_begin(&walk.objects, set, &iterator));
    while (pa_set_next(&walk.objects, &iterator, &element)) {
        sum += element;
        count++;
    }
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(sum, a + b);
    ck_assert(!iterator.damaged);
    ck_assert(pa_set_begin(&walk.objects, empty, &iterator));
    ck_assert(!pa_set_next(&walk.objects, &iterator, &element));
    ck_assert(!iterator.damaged);
    walk_close(&walk);
}
END_TEST

START_TEST(test_set_with_an_absurd_mask_is_damaged)
{
    static const uint64_t masks[] = {UINT64_MAX, 6, 1ull << 40, (1ull << 62) - 1, 8, (1ull << 26) * 2 - 1};
    struct pa_set_iterator iterator;
    begin(PYTHON_3_15);
    uint64_t sets[COUNT(masks)], element = python_int(python, 1);
    for (size_t i = 0; i < COUNT(masks); i++) {
        sets[i] = python_set(python, &element, 1);
        image_put_u64(python->image, sets[i] + python_offset(python, SLOT_set_mask), masks[i]);
    }
    open_objects();
    for (size_t i = 0; i < COUNT(masks); i++) {
        ck_assert(!pa_set_begin(&walk.objects, sets[i], &iterator));
        ck_assert(iterator.damaged);
        ck_assert(!pa_set_next(&walk.objects, &iterator, &element));
    }
    ck_assert(!pa_set_begin(&walk.objects, python->dummy, &iterator));
    ck_assert(iterator.damaged);
    walk_close(&walk);
}
END_TEST

START_TEST(test_set_that_says_more_than_it_has_is_damaged)
{
    struct pa_set_iterator iterator;
    uint64_t element;
    begin(PYTHON_3_14);
    uint64_t a = python_int(python, 1), more = python_set(python, &a, 1), many = python_set(python, &a, 1),
             gone = python_set(python, &a, 1);
    image_put_u64(python->image, more + python_offset(python, SLOT_set_used), 3);
    image_put_u64(python->image, many + python_offset(python, SLOT_set_used), 9);
    image_put_u64(python->image, gone + python_offset(python, SLOT_set_table), 0x1000);
    open_objects();
    ck_assert(pa_set_begin(&walk.objects, more, &iterator));
    ck_assert(pa_set_next(&walk.objects, &iterator, &element));
    ck_assert_uint_eq(element, a);
    ck_assert(!pa_set_next(&walk.objects, &iterator, &element));
    ck_assert(iterator.damaged);
    ck_assert(!pa_set_begin(&walk.objects, many, &iterator));
    ck_assert(pa_set_begin(&walk.objects, gone, &iterator));
    ck_assert(!pa_set_next(&walk.objects, &iterator, &element));
    ck_assert(iterator.damaged);
    walk_close(&walk);
}
END_TEST

START_TEST(test_dict_of_either_kind)
{
    uint64_t value;
    begin(_i / 2);
    uint64_t dict = python_dict(python, (uint8_t)(_i % 2)), one = python_int(python, 1), two = python_int(python, 2);
    python_dict_set(python, dict, "one", one);
    python_dict_set(python, dict, "gone", 0); /* deleted: no value */
    python_dict_set(python, dict, "two", two);
    open_objects();
    ck_assert(pa_dict_get(&walk.objects, dict, "one", &value));
    ck_assert_uint_eq(value, one);
    ck_assert(pa_dict_get(&walk.objects, dict, "two", &value));
    ck_assert_uint_eq(value, two);
    ck_assert(!pa_dict_get(&walk.objects, dict, "gone", &value));
    ck_assert(!pa_dict_get(&walk.objects, dict, "three", &value));
    ck_assert(!pa_dict_get(&walk.objects, one, "one", &value));
    ck_assert(!pa_dict_get(&walk.objects, 0, "one", &value));
    walk_close(&walk);
}
END_TEST

START_TEST(test_dict_with_absurd_keys_gives_nothing)
{
    uint64_t value;
    begin(PYTHON_3_15);
    uint64_t dicts[6];
    for (uint32_t i = 0; i < COUNT(dicts); i++) {
        dicts[i] = python_dict(python, 1);
        python_dict_set(python, dicts[i], "a", python->dummy);
        uint64_t keys = image_u64(python->image, dicts[i] + python_offset(python, SLOT_dict_keys));
        if (i == 0)
            image_put_u8(python->image, keys + 8, 255);
        if (i == 1)
            image_put_u8(python->image, keys + 9, 200);
        if (i == 2)
            image_put_u8(python->image, keys + 10, 2); /* split: the values are elsewhere */
        if (i == 3)
            image_put_u64(python->image, keys + 24, UINT64_MAX);
        if (i == 4)
            image_put_u64(python->image, keys + 24, 65); /* more than it has slots */
        if (i == 5)
            image_put_u64(python->image, dicts[i] + python_offset(python, SLOT_dict_keys), UINT64_MAX - 20);
    }
    open_objects();
    for (uint32_t i = 0; i < COUNT(dicts); i++)
        ck_assert(!pa_dict_get(&walk.objects, dicts[i], "a", &value));
    walk_close(&walk);
}
END_TEST

static const enum pa_kind static_kinds[] = {
    PA_KIND_COROUTINE,
    PA_KIND_GENERATOR,
    PA_KIND_ASYNC_GENERATOR,
    PA_KIND_COROUTINE_WRAPPER,
    PA_KIND_ASYNC_GEN_ASEND,
    PA_KIND_ASYNC_GEN_ATHROW,
    PA_KIND_ANEXT_AWAITABLE,
    PA_KIND_CODE,
    PA_KIND_STR,
    PA_KIND_INT,
    PA_KIND_BOOL,
    PA_KIND_SET,
    PA_KIND_DICT,
    PA_KIND_MODULE,
    PA_KIND_NONE_TYPE,
};

static struct pa_type type_at(uint64_t address)
{
    uint32_t id = pa_type_at(&walk.objects, address);
    ck_assert_uint_ne(id, PA_NONE);
    return walk.objects.types.items[id];
}

START_TEST(test_static_types_are_known_by_name)
{
    begin(_i);
    open_objects();
    for (size_t i = 0; i < COUNT(static_kinds); i++) {
        ck_assert_int_eq(type_at(python->types[static_kinds[i]]).kind, static_kinds[i]);
        ck_assert_int_eq(type_at(python->types[static_kinds[i]]).evidence, PA_BY_NAME);
    }
    ck_assert_int_eq(type_at(python->object_type).kind, PA_KIND_OTHER);
    walk_close(&walk);
}
END_TEST

START_TEST(test_static_types_are_known_by_symbol)
{
    begin(PYTHON_3_15);
    image_add_symbol(python->image, "PyCoro_Type", python->types[PA_KIND_COROUTINE]);
    image_add_symbol(python->image, "PySet_Type", python->types[PA_KIND_SET]);
    open_objects();
    ck_assert_int_eq(type_at(python->types[PA_KIND_COROUTINE]).evidence, PA_BY_SYMBOL);
    ck_assert_int_eq(type_at(python->types[PA_KIND_SET]).evidence, PA_BY_SYMBOL);
    walk_close(&walk);
}
END_TEST

/* Extension modules have static types of these names, with layouts of their own (Cython's "coroutine" and "generator"). */
START_TEST(test_static_type_of_the_same_name_elsewhere_is_another)
{
    begin(PYTHON_3_15);
    uint64_t other = python_type(python, "coroutine", python->object_type, false, 0);
    image_add_symbol(python->image, "PyCoro_Type", python->types[PA_KIND_COROUTINE]);
    open_objects();
    ck_assert_int_eq(type_at(other).kind, PA_KIND_OTHER);
    ck_assert_int_eq(type_at(python->types[PA_KIND_COROUTINE]).kind, PA_KIND_COROUTINE);
    walk_close(&walk);
}
END_TEST

START_TEST(test_static_types_without_names_are_known_through_sys_modules)
{
    begin(_i);
    python_forget_files(python);
    image_make_core(python->image);
    open_objects();
    ck_assert_int_eq(type_at(python->types[PA_KIND_COROUTINE]).kind, PA_KIND_COROUTINE);
    ck_assert_int_eq(type_at(python->types[PA_KIND_COROUTINE]).evidence, PA_BY_SYS_MODULES);
    ck_assert_int_eq(type_at(python->types[PA_KIND_GENERATOR]).kind, PA_KIND_GENERATOR);
    ck_assert_int_eq(type_at(python->types[PA_KIND_ASYNC_GENERATOR]).kind, PA_KIND_ASYNC_GENERATOR);
    ck_assert_int_eq(type_at(python->types[PA_KIND_CODE]).kind, PA_KIND_CODE);
    ck_assert_int_eq(type_at(python->types[PA_KIND_SET]).kind, PA_KIND_SET);
    ck_assert_int_eq(type_at(python->types[PA_KIND_STR]).kind, PA_KIND_STR);
    ck_assert_int_eq(type_at(python->types[PA_KIND_INT]).kind, PA_KIND_INT);
    ck_assert_int_eq(type_at(python->types[PA_KIND_DICT]).kind, PA_KIND_DICT);
    ck_assert_int_eq(type_at(python->types[PA_KIND_TASK]).kind, PA_KIND_TASK); /* its name is on the heap */
    ck_assert_int_eq(type_at(python->object_type).kind, PA_KIND_OTHER);
    walk_close(&walk);
}
END_TEST

START_TEST(test_subclasses_of_asyncio_types)
{
    begin(_i);
    uint64_t mine = python_type(python, "MyTask", python->types[PA_KIND_TASK], true, 0);
    uint64_t deeper = python_type(python, "Deeper", mine, true, 0),
             future = python_type(python, "_Gathering", python->types[PA_KIND_FUTURE], true, 0);
    uint64_t fake = python_type(python, "_asyncio.Task", python->object_type, false, 0);
    uint64_t plain = python_type(python, "Plain", python->object_type, true, 0);
    open_objects();
    ck_assert_int_eq(type_at(mine).kind, PA_KIND_TASK);
    ck_assert_int_eq(type_at(deeper).kind, PA_KIND_TASK);
    ck_assert_int_eq(type_at(deeper).evidence, PA_BY_BASE);
    ck_assert_int_eq(type_at(future).kind, PA_KIND_FUTURE);
    ck_assert_int_eq(type_at(fake).kind, PA_KIND_OTHER);
    ck_assert_int_eq(type_at(plain).kind, PA_KIND_OTHER);
    ck_assert_int_eq(type_at(python->types[PA_KIND_FUTURE_ITER]).kind, PA_KIND_FUTURE_ITER);
    walk_close(&walk);
}
END_TEST

START_TEST(test_bases_in_a_circle_end)
{
    begin(PYTHON_3_14);
    uint64_t a = python_type(python, "A", 0, true, 0), b = python_type(python, "B", a, true, 0);
    image_put_u64(python->image, a + 256, b);
    open_objects();
    ck_assert_int_eq(type_at(a).kind, PA_KIND_OTHER);
    ck_assert_int_eq(type_at(b).kind, PA_KIND_OTHER);
    walk_close(&walk);
}
END_TEST

START_TEST(test_subclasses_of_plain_types_are_known_by_flags)
{
    begin(PYTHON_3_15);
    uint64_t str = python_type(python, "Name", python->types[PA_KIND_STR], true, 1 << 28);
    uint64_t integer = python_type(python, "Enum", python->types[PA_KIND_INT], true, 1 << 24);
    open_objects();
    ck_assert_int_eq(type_at(str).kind, PA_KIND_STR);
    ck_assert_int_eq(type_at(str).evidence, PA_BY_FLAGS);
    ck_assert_int_eq(type_at(integer).kind, PA_KIND_INT);
    walk_close(&walk);
}
END_TEST

START_TEST(test_what_is_no_type_is_none)
{
    begin(PYTHON_3_15);
    open_objects();
    ck_assert_uint_eq(pa_type_at(&walk.objects, 0), PA_NONE);
    ck_assert_uint_eq(pa_type_at(&walk.objects, 0x1000), PA_NONE);
    ck_assert_uint_eq(pa_type_at(&walk.objects, python->object_type + 4), PA_NONE);
    ck_assert_uint_eq(pa_type_at(&walk.objects, UINT64_MAX - 7), PA_NONE);
    ck_assert_uint_eq(pa_type_of(&walk.objects, 8), PA_NONE);
    ck_assert_int_eq(pa_kind_of(&walk.objects, python->thread), PA_KIND_OTHER);
    walk_close(&walk);
}
END_TEST

START_TEST(test_type_name_that_does_not_end_is_cut)
{
    begin(PYTHON_3_15);
    char name[400];
    memset(name, 'x', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    uint64_t type = python_type(python, name, python->object_type, true, 0);
    open_objects();
    ck_assert_uint_ge(type_at(type).name.length, 200);
    ck_assert_uint_le(type_at(type).name.length, 399);
    walk_close(&walk);
}
END_TEST

START_TEST(test_module_attribute)
{
    uint64_t value;
    begin(_i);
    open_objects();
    ck_assert(pa_module_attribute(&walk.objects, "types", "CoroutineType", &value));
    ck_assert_uint_eq(value, python->types[PA_KIND_COROUTINE]);
    ck_assert(!pa_module_attribute(&walk.objects, "types", "Nothing", &value));
    ck_assert(!pa_module_attribute(&walk.objects, "nothing", "CoroutineType", &value));
    walk_close(&walk);
}
END_TEST

Suite *object_suite(void)
{
    Suite *suite = suite_create("object");
    TCase *tests = add_case(suite, "object");
    tcase_add_loop_test(tests, test_str_of_every_kind, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_ascii_str_stored_wide_is_read_all_the_same, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_code_point_that_unicode_has_not_becomes_a_replacement, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_long_str_is_cut_and_says_so);
    tcase_add_loop_test(tests, test_str_of_absurd_length_or_kind_is_none, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_str_equals_compares_whole_ascii, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_int, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_deleted_entries_of_a_set_are_passed_over, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_set_with_an_absurd_mask_is_damaged);
    tcase_add_test(tests, test_set_that_says_more_than_it_has_is_damaged);
    tcase_add_loop_test(tests, test_dict_of_either_kind, 0, 2 * PYTHON_BUILDS);
    tcase_add_test(tests, test_dict_with_absurd_keys_gives_nothing);
    tcase_add_loop_test(tests, test_static_types_are_known_by_name, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_static_types_are_known_by_symbol);
    tcase_add_test(tests, test_static_type_of_the_same_name_elsewhere_is_another);
    tcase_add_loop_test(tests, test_static_types_without_names_are_known_through_sys_modules, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_subclasses_of_asyncio_types, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_bases_in_a_circle_end);
    tcase_add_test(tests, test_subclasses_of_plain_types_are_known_by_flags);
    tcase_add_test(tests, test_what_is_no_type_is_none);
    tcase_add_test(tests, test_type_name_that_does_not_end_is_cut);
    tcase_add_loop_test(tests, test_module_attribute, 0, PYTHON_BUILDS);
    return suite;
}
