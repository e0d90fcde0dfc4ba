/* Line tables: against one that a real interpreter made, and damaged ones. */
#include "tests.h"

#include "code.h"

/* python3.15 -c: co_linetable of a coroutine with async with, a comprehension, except and finally; then with -X no_debug_ranges. */
static const uint8_t with_columns[] = {
    233, 0,   129, 0,   216, 8,   9,   141, 5,   128, 65,  136, 113, 240, 2,   10,  5,   17, 223, 19,  20,  151, 49,  147, 49,
    152, 1,   217, 18,  19,  144, 65,  216, 20,  21,  243, 3,   1,   19,  23,  247, 0,   1,  13,  23,  242, 0,   1,   13,  23,
    247, 3,   0,   20,  21,  151, 49,  145, 49,  244, 6,   0,   18,  19,  136, 65,  223, 15, 16,  145, 40,  216, 28,  29,  211,
    16,  35,  155, 65,  144, 113, 163, 17,  151, 17,  144, 17,  153, 65,  136, 65,  208, 16, 35,  137, 65,  242, 5,   0,   18,
    19,  244, 12,  0,   9,   14,  136, 97,  140, 8,   240, 16,  0,   13,  14,  215, 12,  58, 209, 12,  58,  215, 12,  103, 209,
    12,  103, 247, 0,   0,   13,  85,  2,   241, 0,   0,   13,  85,  2,   240, 0,   0,   87, 2,   88,  2,   240, 0,   0,   12,
    89,  2,   240, 0,   0,   5,   89,  2,   241, 35,  0,   20,  21,  241, 2,   1,   13,  23, 247, 3,   0,   20,  21,  151, 49,
    151, 49,  148, 49,  252, 242, 10,  0,   17,  36,  248, 220, 11,  21,  244, 0,   1,   5,  36,  220, 14,  22,  144, 113, 139,
    107, 152, 116, 208, 8,   35,  251, 240, 3,   1,   5,   36,  251, 244, 6,   0,   9,   14, 136, 97,  141, 8,   252};
static const uint8_t without_columns[] = {
    233, 0,   233, 0, 232, 2, 237, 0, 232, 0, 232, 0, 232, 2, 239, 2,  239, 0,   235, 0,   232, 0, 233, 2,  232, 0, 232, 2,
    235, 3,   239, 0, 234, 0, 239, 3, 239, 0, 233, 0, 236, 6, 232, 0,  239, 2,   233, 0,   232, 2, 235, 0,  235, 0, 232, 0,
    235, 0,   239, 0, 232, 0, 233, 0, 232, 0, 232, 0, 233, 0, 234, 5,  236, 12,  232, 0,   236, 0, 232, 16, 239, 0, 233, 0,
    239, 0,   233, 0, 239, 0, 233, 0, 232, 0, 232, 0, 232, 0, 233, 35, 233, 2,   239, 3,   239, 0, 239, 0,  236, 0, 252, 234,
    10,  248, 236, 2, 236, 0, 236, 2, 232, 0, 235, 0, 232, 0, 232, 0,  251, 232, 3,   251, 236, 6, 232, 0,  237, 0, 252};

/* Its co_lines(): so many code units on that line; 0 is None. */
static const struct {
    uint32_t units;
    int32_t line;
} lines[] = {{4, 1},  {9, 2},  {1, 3},   {21, 4},  {3, 5},   {1, 6},  {15, 5}, {18, 4},  {6, 7},
             {10, 8}, {29, 9}, {3, 7},   {11, 13}, {34, 21}, {2, 4},  {2, 5},  {29, 4},  {5, 0},
             {3, 9},  {1, 0},  {10, 10}, {12, 11}, {4, 0},   {1, 10}, {4, 0},  {12, 13}, {5, 0}};

START_TEST(test_every_unit_has_the_line_that_python_says)
{
    const uint8_t *table = _i == 0 ? with_columns : without_columns;
    uint32_t length = _i == 0 ? sizeof(with_columns) : sizeof(without_columns);
    int64_t unit = 0;
    for (size_t i = 0; i < COUNT(lines); i++) {
        for (uint32_t k = 0; k < lines[i].units; k++, unit++)
            ck_assert_msg(pa_line_of(table, length, 1, unit) == lines[i].line, "unit %d", (int)unit);
    }
    ck_assert_int_eq(unit, 255);
}
END_TEST

START_TEST(test_unit_behind_the_table_has_no_line)
{
    ck_assert_int_eq(pa_line_of(with_columns, sizeof(with_columns), 1, 255), 0);
    ck_assert_int_eq(pa_line_of(with_columns, sizeof(with_columns), 1, INT64_MAX), 0);
    ck_assert_int_eq(pa_line_of(with_columns, 0, 1, 0), 0);
}
END_TEST

START_TEST(test_negative_unit_is_the_def_line)
{
    ck_assert_int_eq(pa_line_of(with_columns, sizeof(with_columns), 7, -1), 7);
    ck_assert_int_eq(pa_line_of(with_columns, 0, 7, -1), 7);
}
END_TEST

/* A form, the bytes behind its first, and the line of its two units when the line before is 100. */
static const struct {
    uint8_t bytes[12];
    uint32_t length;
    int32_t line;
} forms[] = {
    {{0x80 | 0 << 3 | 1, 0x12}, 2, 100},
    {{0x80 | 9 << 3 | 1, 0x12}, 2, 100},
    {{0x80 | 10 << 3 | 1, 4, 8}, 3, 100},
    {{0x80 | 11 << 3 | 1, 4, 8}, 3, 101},
    {{0x80 | 12 << 3 | 1, 4, 8}, 3, 102},
    {{0x80 | 13 << 3 | 1, 3 << 1}, 2, 103},
    {{0x80 | 13 << 3 | 1, 3 << 1 | 1}, 2, 97},
    {{0x80 | 13 << 3 | 1, 0x40 | 0, 0x40 | 0, 1}, 4, 100 + (1 << 11)}, /* 6 bits a byte; the lowest bit is the sign */
    {{0x80 | 14 << 3 | 1, 5 << 1, 1, 2, 3}, 5, 105},
    {{0x80 | 14 << 3 | 1, 5 << 1 | 1, 0x41, 2, 0x42, 3, 0x43, 4}, 8, 95},
    {{0x80 | 15 << 3 | 1}, 1, 0},
    {{0x80 | 13 << 3 | 1, 0x40 | 37, 1}, 3, 50},
};

START_TEST(test_each_form)
{
    uint8_t table[16];
    memcpy(table, forms[_i].bytes, forms[_i].length);
    table[forms[_i].length] = 0x80 | 13 << 3; /* one unit more, 7 lines on */
    table[forms[_i].length + 1] = 7 << 1;
    ck_assert_int_eq(pa_line_of(table, forms[_i].length + 2, 100, 0), forms[_i].line);
    ck_assert_int_eq(pa_line_of(table, forms[_i].length + 2, 100, 1), forms[_i].line);
    ck_assert_int_eq(pa_line_of(table, forms[_i].length + 2, 100, 2), forms[_i].line ? forms[_i].line + 7 : 107);
}
END_TEST

START_TEST(test_table_cut_anywhere_gives_the_true_line_or_none)
{
    for (uint32_t length = 0; length < sizeof(with_columns); length++) {
        uint8_t *copy = malloc(length ? length : 1); /* the sanitizer sees a read behind it */
        memcpy(copy, with_columns, length);
        for (int64_t unit = 0; unit < 256; unit++) {
            int32_t line = pa_line_of(copy, length, 1, unit);
            check_fast(line == 0 || line == pa_line_of(with_columns, sizeof(with_columns), 1, unit));
        }
        free(copy);
    }
}
END_TEST

START_TEST(test_damaged_table_has_no_lines)
{
    static const uint8_t no_entry[] = {0x12, 0x80 | 13 << 3, 0};
    static const uint8_t long_number[] = {0x80 | 13 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x00};
    static const uint8_t cut_number[] = {0x80 | 14 << 3, 0x42};
    static const uint8_t far_back[] = {0x80 | 13 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x03, 0x80 | 13 << 3, 0};
    ck_assert_int_eq(pa_line_of(no_entry, sizeof(no_entry), 1, 0), 0);
    ck_assert_int_eq(pa_line_of(long_number, sizeof(long_number), 1, 0), 0);
    ck_assert_int_eq(pa_line_of(cut_number, sizeof(cut_number), 1, 0), 0);
    ck_assert_int_eq(pa_line_of(far_back, sizeof(far_back), 1, 0), 0);
    ck_assert_int_eq(pa_line_of(far_back, sizeof(far_back), INT32_MIN, 1), 0);
}
END_TEST

/* Lines that add up beyond 32 bits must not come out as others. */
START_TEST(test_line_number_overflow_is_no_line)
{
    uint8_t table[7 * 8];
    for (size_t i = 0; i < sizeof(table); i += 7)
        memcpy(table + i, (const uint8_t[]){0x80 | 13 << 3, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x03}, 7); /* + 2^31 - 1 */
    ck_assert_int_eq(pa_line_of(table, sizeof(table), 0, 0), INT32_MAX);
    for (int64_t unit = 1; unit < 8; unit++)
        ck_assert_int_eq(pa_line_of(table, sizeof(table), 0, unit), 0);
}
END_TEST

Suite *linetable_suite(void)
{
    Suite *suite = suite_create("linetable");
    TCase *tests = add_case(suite, "linetable");
    tcase_add_loop_test(tests, test_every_unit_has_the_line_that_python_says, 0, 2);
    tcase_add_test(tests, test_unit_behind_the_table_has_no_line);
    tcase_add_test(tests, test_negative_unit_is_the_def_line);
    tcase_add_loop_test(tests, test_each_form, 0, COUNT(forms));
    tcase_add_test(tests, test_table_cut_anywhere_gives_the_true_line_or_none);
    tcase_add_test(tests, test_damaged_table_has_no_lines);
    tcase_add_test(tests, test_line_number_overflow_is_no_line);
    return suite;
}
