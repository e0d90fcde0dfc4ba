/* Completion of names, addresses of tasks, and the description of one. */
#include "answers.h"

START_TEST(test_completion_gives_names_that_can_be_typed)
{
    char buffer[4096];
    open_busy(_i);
    ck_assert_uint_eq(pa_session_complete(session, "cycle", buffer, sizeof(buffer)), 2);
    ck_assert_str_eq(buffer, "cycle-a");
    ck_assert_str_eq(buffer + 8, "cycle-b");
    ck_assert_int_eq(buffer[16], '\0');
    ck_assert_uint_gt(pa_session_complete(session, "", buffer, sizeof(buffer)), 15);
    for (const char *name = buffer; *name; name += strlen(name) + 1) {
        for (const char *at = name; *at; at++)
            ck_assert(*at > ' ' && *at < 0x7f);
    }
    ck_assert_uint_eq(pa_session_complete(session, "zzz", buffer, sizeof(buffer)), 0);
    close_busy();
}
END_TEST

START_TEST(test_completion_stays_within_its_buffer)
{
    open_busy(PYTHON_3_15);
    for (uint64_t capacity = 0; capacity < 40; capacity++) {
        char *buffer = malloc(capacity ? capacity : 1); /* the sanitizer sees a write behind it */
        uint64_t count = pa_session_complete(session, "", buffer, capacity);
        ck_assert_uint_le(count, capacity / 2);
        if (capacity >= 2 && count == 0)
            ck_assert_int_eq(buffer[0], '\0');
        free(buffer);
    }
    close_busy();
}
END_TEST

static size_t common_length(const char *a, const char *b)
{
    size_t length = 0;
    while (a[length] && a[length] == b[length])
        length++;
    return length;
}

START_TEST(test_first_two_completions_have_in_common_what_all_have)
{
    char all[4096], part[4096];
    static const char *const prefixes[] = {"", "c", "cycle", "Task-", "t"};
    open_busy(_i);
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        uint64_t count = pa_session_complete(session, prefixes[i], all, sizeof(all)), seen = 0;
        size_t common = strlen(all);
        for (const char *name = all; *name; name += strlen(name) + 1, seen++) {
            size_t length = common_length(all, name);
            common = length < common ? length : common;
            for (const char *other = name + strlen(name) + 1; *other; other += strlen(other) + 1)
                ck_assert_str_ne(name, other);
        }
        ck_assert_uint_eq(seen, count);
        for (uint64_t capacity = 2; capacity < 80; capacity++) {
            if (pa_session_complete(session, prefixes[i], part, capacity) >= 2)
                ck_assert_uint_eq(common_length(part, part + strlen(part) + 1), common);
        }
    }
    close_busy();
}
END_TEST

START_TEST(test_select_gives_addresses)
{
    uint64_t addresses[4] = {0}, count = 99;
    struct pa_operand named = {.kind = PA_OPERAND_NAME, .text = "cycle-a"}, nobody = {.kind = PA_OPERAND_NAME, .text = "nobody"};
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_JSON, PA_REQUEST_ALL);
    open_busy(_i);
    ck_assert_int_eq(pa_session_select(session, &request, NULL, 0, &count), PA_OK);
    ck_assert_uint_gt(count, 15);
    ck_assert_int_eq(pa_session_select(session, &request, addresses, COUNT(addresses), &count), PA_OK);
    ck_assert_uint_ne(addresses[3], 0);
    request.state = "running";
    ck_assert_int_eq(pa_session_select(session, &request, addresses, COUNT(addresses), &count), PA_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(addresses[0], busy.running);
    request.in = "nowhere.py";
    ck_assert_int_eq(pa_session_select(session, &request, addresses, COUNT(addresses), &count), PA_OK);
    ck_assert_uint_eq(count, 0);
    request = request_of(PA_COMMAND_TASKS, PA_FORMAT_TEXT, 0);
    request.operands = &named;
    request.operand_count = 1;
    ck_assert_int_eq(pa_session_select(session, &request, addresses, 1, &count), PA_OK);
    ck_assert_uint_eq(count, 1);
    request.operands = &nobody;
    ck_assert_int_eq(pa_session_select(session, &request, addresses, 1, &count), PA_FAILED);
    ck_assert_uint_eq(count, 0);
    ck_assert_has(pa_session_error(session), "no task is called \"nobody\"");
    close_busy();
}
END_TEST

START_TEST(test_description_is_one_line)
{
    open_busy(_i);
    struct pa_operand operand = {.kind = PA_OPERAND_ADDRESS, .text = "", .address = busy.running};
    struct pa_request request = request_of(PA_COMMAND_DESCRIBE, PA_FORMAT_TEXT, 0);
    request.operands = &operand;
    ck_assert_int_eq(run(&request), PA_FAILED);
    request.operand_count = 1;
    ck_assert_has(answer(&request), " pending, running, in ");
    ck_assert_int_eq(strncmp(python->image->output, "<Task '", 7), 0);
    ck_assert_ptr_null(strchr(python->image->output, '\n'));
    operand.address = busy.future;
    ck_assert_str_eq(answer(&request), "<Future pending>");
    /* Whatever stands in memory. */
    for (uint64_t address = busy.running - 256; address < busy.running + 256; address += 8) {
        operand.address = address;
        if (run(&request) == PA_OK)
            ck_assert_uint_eq(first_bad_byte(python->image->output, python->image->output_length), python->image->output_length);
    }
    static const uint64_t nowhere[] = {0, 1, 8, UINT64_MAX, UINT64_MAX - 7};
    for (size_t i = 0; i < COUNT(nowhere); i++) {
        operand.address = nowhere[i];
        ck_assert_int_eq(run(&request), PA_FAILED);
        ck_assert_has(pa_session_error(session), " is no task or future");
    }
    close_busy();
}
END_TEST

START_TEST(test_completion_that_is_interrupted_spoils_nothing)
{
    char buffer[4096];
    open_busy(PYTHON_3_15);
    struct pa_request request = request_of(PA_COMMAND_TASKS, PA_FORMAT_TEXT, 0);
    char *expected = strdup(answer(&request));
    for (uint64_t n = 1; n < 100; n++) {
        pa_session_destroy(session);
        ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
        image_reset(python->image);
        python->image->abort_at = n;
        pa_session_complete(session, "", buffer, sizeof(buffer));
        python->image->abort_at = 0;
        ck_assert_str_eq(answer(&request), expected);
    }
    free(expected);
    close_busy();
}
END_TEST

Suite *complete_suite(void)
{
    Suite *suite = suite_create("complete");
    TCase *tests = add_case(suite, "completion");
    tcase_add_loop_test(tests, test_completion_gives_names_that_can_be_typed, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_completion_stays_within_its_buffer);
    tcase_add_loop_test(tests, test_first_two_completions_have_in_common_what_all_have, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_select_gives_addresses, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_description_is_one_line, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_completion_that_is_interrupted_spoils_nothing);
    return suite;
}
