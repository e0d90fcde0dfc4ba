/* What is printed: escapes as Python's repr() makes them, JSON, and the buffer. */
#include "image.h"
#include "output.h"
#include "wellformed.h"

static struct image *image;
static struct pa_work work;
static struct pa_output out;

static void setup(void)
{
    image = image_new();
    pa_work_init(&work, &image->target);
    pa_out_begin(&out, &work, false);
}

static void teardown(void)
{
    image_free(image);
}

static const char *written(void)
{
    pa_out_flush(&out);
    return image->output;
}

/* Text as WTF-8, its length in bytes, and what repr() of python3.15 says. */
static const struct {
    const char *text;
    size_t length;
    const char *repr;
} samples[] = {
    {"", 0, "''"},
    {"plain", 5, "'plain'"},
    {"it's", 4, "\"it's\""},
    {"say \"hi\"", 8, "'say \"hi\"'"},
    {"both ' and \"", 12, "'both \\' and \"'"},
    {"back\\slash", 10, "'back\\\\slash'"},
    {"tab\x09nl\x0a"
     "cr\x0d",
     10, "'tab\\tnl\\ncr\\r'"},
    {"\x00\x01\x1b[31m\x7f", 8, "'\\x00\\x01\\x1b[31m\\x7f'"},
    {"caf\xc3\xa9", 5, "'caf\xc3\xa9'"},
    {"\xc2\x80\xc2\x9f\xc2\xa0\xc2\xad", 8, "'\\x80\\x9f\\xa0\\xad'"},
    {"\xe2\x80\x8b\xe2\x80\x8e\xe2\x80\xae\xe2\x81\xa6", 12, "'\\u200b\\u200e\\u202e\\u2066'"},
    {"\xe2\x80\xa8\xe2\x80\xa9", 6, "'\\u2028\\u2029'"},
    {"\xe3\x80\x80\xe1\x9a\x80", 6, "'\\u3000\\u1680'"},
    {"\xed\xa0\x80", 3, "'\\ud800'"},
    {"\xed\xbf\xbf x", 5, "'\\udfff x'"},
    {"\xee\x80\x80", 3, "'\\ue000'"},
    {"\xef\xbf\xbf\xef\xbf\xbe", 6, "'\\uffff\\ufffe'"},
    {"\xf0\x9f\x90\x8d", 4, "'\xf0\x9f\x90\x8d'"},
    {"\xf3\xa0\x80\x81", 4, "'\\U000e0001'"},
    {"\xf4\x8f\xbf\xbf", 4, "'\\U0010ffff'"},
    {"\xcd\xb8", 2, "'\\u0378'"},
    {"e\xcc\x81", 3, "'e\xcc\x81'"},
    {"\xe4\xb8\xad\xe6\x96\x87", 6, "'\xe4\xb8\xad\xe6\x96\x87'"},
    {"\xf0\xaa\x9b\x9f\xf0\xbf\xbf\xbd", 8, "'\xf0\xaa\x9b\x9f\\U0003fffd'"},
    {"* Task(name='x')\x0a", 17, "\"* Task(name='x')\\n\""},
};

START_TEST(test_repr_is_that_of_python)
{
    pa_out_repr(&out, PA_STYLE_VARIABLE, samples[_i].text, samples[_i].length);
    ck_assert_str_eq(written(), samples[_i].repr);
}
END_TEST

/* Over all code points: how many str.isprintable() there are, and a hash over them, by python3.15 (Unicode 17). */
START_TEST(test_printable_is_that_of_python)
{
    uint64_t count = 0, hash = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        if (pa_is_printable(c)) {
            count++;
            hash = hash * 31 + c;
        }
    }
    ck_assert_uint_eq(count, 159613);
    ck_assert_uint_eq(hash, 0x8cf5ddb2419c30ad);
}
END_TEST

START_TEST(test_json_string)
{
    static const struct {
        const char *text;
        size_t length;
        const char *json;
    } cases[] = {
        {"", 0, "\"\""},
        {"it's \"x\" \\", 10, "\"it's \\\"x\\\" \\\\\""},
        {"\x00\n\x1b\x7f", 4, "\"\\u0000\\u000a\\u001b\\u007f\""},
        {"\xed\xa0\x80", 3, "\"\\ud800\""}, /* a lone surrogate */
        {"\xf0\x9f\x90\x8d", 4, "\"\xf0\x9f\x90\x8d\""},
        {"\xf3\xa0\x80\x81", 4, "\"\\udb40\\udc01\""}, /* not printable: a pair */
        {"\xe2\x80\xae", 3, "\"\\u202e\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        image_reset(image);
        pa_out_json(&out, cases[i].text, cases[i].length);
        ck_assert_str_eq(written(), cases[i].json);
        ck_assert(is_json(image->output, image->output_length));
    }
}
END_TEST

/* Every byte sequence of one and two bytes, and some of more: nothing that is no UTF-8 gets through, in any of the three forms. */
static void check_bytes(const char *bytes, size_t length)
{
    image_reset(image);
    pa_out_target(&out, PA_STYLE_FUNCTION, bytes, length);
    pa_out(&out, PA_STYLE_PLAIN, "\n");
    pa_out_repr(&out, PA_STYLE_FUNCTION, bytes, length);
    written();
    if (first_bad_byte(image->output, image->output_length) != image->output_length)
        ck_abort_msg("%02x %02x: %s", bytes[0] & 255, length > 1 ? bytes[1] & 255 : 0, image->output);
    image_reset(image);
    pa_out_json(&out, bytes, length);
    written();
    check_fast(first_bad_byte(image->output, image->output_length) == image->output_length);
    check_fast(is_json(image->output, image->output_length));
    check_fast(!strchr(image->output, '\n'));
}

START_TEST(test_no_bytes_reach_the_terminal_raw)
{
    static const char *const others[] = {
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xf0\x80\x80\x80",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf7\xbf\xbf\xbf",
        "\xf8\x88\x80\x80\x80",
        "\xfc\x84\x80\x80\x80\x80",
        "\xc0\x8a",
        "\xc1\x9b[31m",
        "\xe2\x80",
        "\xf0\x9f\x90",
        "\xe2\x28\xa1",
        "\xff\xfe",
        "\xed\xa0\x80\xed\xb0\x80",
    };
    for (uint32_t i = 0; i < 0x10000; i++) {
        char bytes[2] = {(char)(i >> 8), (char)i};
        check_bytes(bytes, 2);
    }
    for (size_t i = 0; i < COUNT(others); i++)
        check_bytes(others[i], strlen(others[i]));
}
END_TEST

/* The front decodes each write on its own. */
START_TEST(test_buffer_never_cuts_a_character)
{
    char block[4 * 300];
    for (size_t i = 0; i < sizeof(block); i += 4)
        memcpy(block + i, "\xf0\x9f\x90\x8d", 4);
    for (uint32_t i = 0; i < 400; i++) {
        pa_out_target(&out, PA_STYLE_PLAIN, block, sizeof(block)); /* target_write() checks each piece */
        pa_out(&out, PA_STYLE_PLAIN, "x");
    }
    written();
    ck_assert_uint_gt(image->writes, 5);
    ck_assert_uint_eq(image->output_length, 400 * (sizeof(block) + 1));
}
END_TEST

START_TEST(test_text_longer_than_the_buffer)
{
    size_t length = 3 * PA_OUTPUT_BUFFER + 17;
    char *text = malloc(length);
    memset(text, 'x', length);
    pa_out_target(&out, PA_STYLE_PLAIN, text, length);
    written();
    ck_assert_uint_eq(image->output_length, length);
    ck_assert_int_eq(memcmp(image->output, text, length), 0);
    free(text);
}
END_TEST

START_TEST(test_styles_split_writes_only_when_asked)
{
    for (int styled = 0; styled < 2; styled++) {
        image_reset(image);
        pa_out_begin(&out, &work, styled);
        for (uint32_t i = 0; i < 10; i++)
            pa_out(&out, i % 2 ? PA_STYLE_ADDRESS : PA_STYLE_PLAIN, "x");
        ck_assert_str_eq(written(), "xxxxxxxxxx");
        ck_assert_uint_eq(image->writes, styled ? 10 : 1);
    }
}
END_TEST

START_TEST(test_numbers)
{
    pa_out_count(&out, 0);
    pa_out(&out, PA_STYLE_PLAIN, " ");
    pa_out_count(&out, 4096);
    pa_out(&out, PA_STYLE_PLAIN, " ");
    pa_out_count(&out, UINT64_MAX);
    pa_out(&out, PA_STYLE_PLAIN, " ");
    pa_out_counted(&out, 1, "task", "tasks");
    pa_out(&out, PA_STYLE_PLAIN, " ");
    pa_out_counted(&out, 1000, "task", "tasks");
    pa_out(&out, PA_STYLE_PLAIN, " ");
    pa_out_address(&out, UINT64_MAX);
    pa_out_indent(&out, 200);
    const char *text = "0 4,096 18,446,744,073,709,551,615 1 task 1,000 tasks 0xffffffffffffffff";
    ck_assert_uint_eq(strspn(written() + strlen(text), " "), 200);
    ck_assert_int_eq(memcmp(image->output, text, strlen(text)), 0);
}
END_TEST

START_TEST(test_nothing_is_written_after_the_pager_was_quit)
{
    char block[1000];
    memset(block, 'x', sizeof(block));
    image->abort_at = 2;
    for (uint32_t i = 0; i < 1000; i++)
        pa_out_target(&out, PA_STYLE_PLAIN, block, sizeof(block));
    written();
    ck_assert_int_eq(work.fatal, PA_ABORTED);
    ck_assert_uint_eq(image->writes, 2);
}
END_TEST

Suite *output_suite(void)
{
    Suite *suite = suite_create("output");
    TCase *tests = add_case(suite, "output");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, test_repr_is_that_of_python, 0, COUNT(samples));
    tcase_add_test(tests, test_printable_is_that_of_python);
    tcase_add_test(tests, test_json_string);
    tcase_add_test(tests, test_no_bytes_reach_the_terminal_raw);
    tcase_add_test(tests, test_buffer_never_cuts_a_character);
    tcase_add_test(tests, test_text_longer_than_the_buffer);
    tcase_add_test(tests, test_styles_split_writes_only_when_asked);
    tcase_add_test(tests, test_numbers);
    tcase_add_test(tests, test_nothing_is_written_after_the_pager_was_quit);
    return suite;
}
