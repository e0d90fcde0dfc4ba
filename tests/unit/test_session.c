/* Whole answers of sessions: text and JSON, what is escaped and hidden, damage. */
#include "answers.h"

START_TEST(test_every_answer_is_clean_and_complete)
{
    open_busy(_i);
    python->image->source = "    return x \x1b[31m # \xff \n";
    for (uint32_t n = 0; n < REQUESTS; n++) {
        struct pa_request request = nth_request(n);
        const char *output = answer(&request);
        ck_assert_has_not(output, "INCOMPLETE");
        if (request.format == PA_FORMAT_JSON)
            ck_assert_has(output, "\"complete\": true");
    }
    close_busy();
}
END_TEST

START_TEST(test_running_task_of_the_selected_thread_comes_by_default)
{
    open_busy(_i);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, 0);
    const char *output = answer(&request);
    ck_assert_has(output, "runs in the selected thread");
    ck_assert_has(output, "* Task(name='Task-2'");
    ck_assert_has(output, "File '/app/blocking.py', line 33, in block()");
    ck_assert_has(output, "File '/app/main.py', line 15, in async child()");
    ck_assert_has_not(output, "Task(name='parent'");
    close_busy();
}
END_TEST

START_TEST(test_all_tasks_are_grouped)
{
    open_busy(PYTHON_3_15);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, PA_REQUEST_ALL);
    const char *output = answer(&request);
    ck_assert_has(output, "* 6 tasks in fetch (http.py:84), waiting: Task-10, Task-11, Task-12, Task-13, Task-14, \xe2\x80\xa6\n");
    ck_assert_has(output, "in async generator agen()");
    ck_assert_has(output, "! deadlock: cycle-a waits for cycle-b, which waits for cycle-a");
    ck_assert_has(output, "created, not started");
    ck_assert_has(output, "awaiters have ended and are left out");
    ck_assert_has(output, "Future(id=0x");
    close_busy();
}
END_TEST

START_TEST(test_compat_is_the_form_of_asyncio)
{
    char expected[1024];
    open_busy(PYTHON_3_14);
    struct pa_operand operand = {.kind = PA_OPERAND_NAME, .text = "consumer"};
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, PA_REQUEST_COMPAT);
    request.operands = &operand;
    request.operand_count = 1;
    snprintf(expected, sizeof(expected),
             "* Task(name='consumer', id=0x%llx)\n"
             "  + Call stack:\n"
             "  |   File '/app/stream.py', line 53, in async generator agen()\n"
             "  |   File '/app/main.py', line 15, in async consume()\n",
             (unsigned long long)busy.awaited_agen);
    ck_assert_str_eq(answer(&request), expected);
    close_busy();
}
END_TEST

START_TEST(test_awaiters_nest_below_with_the_future_between)
{
    char expected[1024];
    open_busy(PYTHON_3_15);
    struct pa_operand operand = {.kind = PA_OPERAND_NAME, .text = "shielded"};
    struct pa_request request = request_of(PA_COMMAND_AWAITED_BY, PA_FORMAT_TEXT, PA_REQUEST_COMPAT);
    request.operands = &operand;
    request.operand_count = 1;
    const char *output = answer(&request);
    snprintf(expected, sizeof(expected),
             "  + Awaited by:\n    * Future(id=0x%llx)\n      + Awaited by:\n        * Task(name='other'",
             (unsigned long long)busy.future);
    ck_assert_has(output, expected);
    close_busy();
}
END_TEST

START_TEST(test_hostile_names_are_escaped)
{
    open_busy(PYTHON_3_15);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, PA_REQUEST_ALL | PA_REQUEST_NO_GROUP);
    const char *output = answer(&request);
    ck_assert_has(output, "Task(name='two\\nlines'");
    ck_assert_has(output, "Task(name='escape\\x1b[31m\\x07'");
    ck_assert_has(output, "Task(name='bidi \\u202e txt'");
    ck_assert_has(output, "Task(name='lone \\ud800'");
    ck_assert_has(output, "Task(name='caf\xc3\xa9 \xf0\x9f\x90\x8d'");
    ck_assert_has(output, "Task(name='quote \\' and \"'");
    ck_assert_has(output, "in async evil\\x1b]0;\\n* Task(()");
    ck_assert_has(output, "File '/tmp/a\\nb\\u2028.py'");
    ck_assert_has(output, "Weird\\x1b[31m");
    ck_assert_uint_eq(count_of(output, "\n* Task(name='forged'"), 0);
    close_busy();
}
END_TEST

START_TEST(test_secrets_in_names_are_hidden_unless_asked_for)
{
    open_busy(PYTHON_3_15);
    for (uint32_t n = 0; n < REQUESTS; n++) {
        struct pa_request request = nth_request(n);
        request.flags &= ~PA_REQUEST_SHOW_SECRETS;
        ck_assert_has_not(answer(&request), "hunter2");
    }
    struct pa_request request = request_of(PA_COMMAND_TASKS, PA_FORMAT_TEXT, 0);
    ck_assert_has(answer(&request), "'login password=<redacted>'");
    request.flags = PA_REQUEST_SHOW_SECRETS;
    ck_assert_has(answer(&request), "'login password=hunter2'");
    request = request_of(PA_COMMAND_TASKS, PA_FORMAT_JSON, PA_REQUEST_SHOW_SECRETS);
    ck_assert_has(answer(&request), "\"login password=hunter2\"");
    close_busy();
}
END_TEST

START_TEST(test_json_has_everything)
{
    open_busy(_i);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_JSON, 0);
    const char *output = answer(&request);
    ck_assert_has(output, "\"schema\": \"pyasync/1\"");
    ck_assert_has(output, python->minor == 14 ? "\"version\": \"3.14.8\"" : "\"version\": \"3.15.0\"");
    ck_assert_has(output, python->free_threaded ? "\"free_threaded\": true" : "\"free_threaded\": false");
    ck_assert_has(output, "\"name\": \"two\\u000alines\"");
    ck_assert_has(output, "\"name\": \"lone \\ud800\"");
    ck_assert_has(output, "\"activity\": \"running\"");
    ck_assert_has(output, "\"activity\": \"executing\"");
    ck_assert_has(output, "\"activity\": \"created\"");
    ck_assert_has(output, "\"stale_awaiters\": 1");
    ck_assert_has(output, "\"kind\": \"async generator\"");
    ck_assert_has(output, "\"kind\": \"awaitable\"");
    ck_assert_uint_eq(count_of(output, "\"cancel_requests\""), 30);
    ck_assert_uint_eq(count_of(output, "\"derived_stack\": true"), 1);
    close_busy();
}
END_TEST

START_TEST(test_task_of_an_address)
{
    open_busy(_i / 4);
    uint64_t coroutine = image_u64(python->image, busy.awaited_agen + python_asyncio(python)->coro);
    const uint64_t objects[] = {busy.awaited_agen, coroutine, busy.agen, python_iframe(python, busy.agen)};
    struct pa_operand operand = {.kind = PA_OPERAND_ADDRESS, .address = objects[_i % 4], .text = "$x"};
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, 0);
    request.operands = &operand;
    request.operand_count = 1;
    const char *output = answer(&request);
    ck_assert_has(output, "* Task(name='consumer'");
    ck_assert_uint_eq(count_of(output, "* Task("), 1);
    close_busy();
}
END_TEST

START_TEST(test_address_of_something_else_says_what_it_is)
{
    open_busy(PYTHON_3_15);
    const uint64_t objects[] = {
        0, 1, 0x1000, UINT64_MAX, python->dummy, python->thread, python->modules, python->types[PA_KIND_TASK]};
    for (size_t i = 0; i < COUNT(objects); i++) {
        struct pa_operand operand = {.kind = PA_OPERAND_ADDRESS, .address = objects[i], .text = "$x\x1b\n"};
        struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, 0);
        request.operands = &operand;
        request.operand_count = 1;
        ck_assert_int_eq(run(&request), PA_FAILED);
        const char *error = pa_session_error(session);
        ck_assert_uint_gt(strlen(error), 10);
        ck_assert_ptr_null(strpbrk(error, "\n\x1b"));
        ck_assert_uint_eq(python->image->output_length, 0);
    }
    close_busy();
}
END_TEST

START_TEST(test_wrong_options_fail_in_one_line)
{
    open_busy(PYTHON_3_14);
    struct pa_request requests[5];
    static const struct pa_operand nobody = {.kind = PA_OPERAND_NAME, .text = "no\nbody"},
                                   glob = {.kind = PA_OPERAND_GLOB, .text = "[zz*"};
    for (size_t i = 0; i < COUNT(requests); i++)
        requests[i] = request_of(PA_COMMAND_TASKS, (uint32_t)i % 2, 0);
    requests[0].state = "asleep\x1b";
    requests[1].thread = 99;
    requests[2].operands = &nobody;
    requests[2].operand_count = 1;
    requests[3].operands = &glob;
    requests[3].operand_count = 1;
    requests[4].thread = 99;
    for (size_t i = 0; i < COUNT(requests); i++) {
        ck_assert_int_eq(run(&requests[i]), PA_FAILED);
        const char *error = pa_session_error(session);
        ck_assert_uint_gt(strlen(error), 10);
        ck_assert_uint_eq(first_bad_byte(error, strlen(error)), strlen(error));
        ck_assert_ptr_null(strchr(error, '\n'));
    }
    close_busy();
}
END_TEST

START_TEST(test_filters)
{
    open_busy(PYTHON_3_15);
    struct pa_request request = request_of(PA_COMMAND_TASKS, PA_FORMAT_TEXT, PA_REQUEST_NO_HEAD);
    request.in = "fetch";
    ck_assert_uint_eq(count_of(answer(&request), "in fetch (http.py:84)"), 6);
    request.in = "http.py:84";
    ck_assert_uint_eq(count_of(answer(&request), "in fetch (http.py:84)"), 6);
    request.in = NULL;
    request.state = "created";
    ck_assert_uint_eq(count_of(answer(&request), "0x"), 1);
    request.state = "ended";
    ck_assert_has(answer(&request), "'ended'");
    request.state = NULL;
    request.thread = 2;
    ck_assert_uint_eq(count_of(answer(&request), "0x"), 1);
    request.in = "no\x1bwhere";
    ck_assert_uint_eq(count_of(answer(&request), "0x"), 0);
    ck_assert_has(answer(&request), "--thread 2 leaves out ");
    ck_assert_has(answer(&request), ", --in no\\x1bwhere leaves out 1\nComplete: ");
    request.format = PA_FORMAT_JSON;
    ck_assert_has(answer(&request), "\"in\": 1}}");
    close_busy();
}
END_TEST

START_TEST(test_stats)
{
    open_busy(_i);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, PA_REQUEST_NO_HEAD | PA_REQUEST_STATS);
    ck_assert_has(answer(&request), "  in fetch (http.py:84)\n");
    ck_assert_has_not(answer(&request), "0x");
    request.state = "ended";
    ck_assert_has(answer(&request), "  without a frame\n");
    request.state = NULL;
    request.limit = 1;
    ck_assert_has(answer(&request), " more places; --all shows them, --limit N more of them\n");
    request.state = "failed";
    ck_assert_has_not(answer(&request), "in all");
    close_busy();
}
END_TEST

/* Whether every quoted text ends on its line, and nothing but our own words stands outside of quotes. */
static bool is_dot(const char *text)
{
    static const char own[] = "abcdefghijklmnopqrstuvwxyzR0123456789 \n[]{}=,;->_";
    bool quoted = false;
    for (; *text; text++) {
        if (quoted && *text == '\\' && text[1] != '\0')
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (quoted ? *text == '\n' || *text == '\0' : !strchr(own, *text))
            return false;
    }
    return !quoted;
}

START_TEST(test_dot_is_quoted_and_grouped)
{
    static const uint32_t flags[] = {0, PA_REQUEST_ALL | PA_REQUEST_NO_GROUP, PA_REQUEST_NO_HEAD, PA_REQUEST_SHOW_SECRETS};
    open_busy(_i);
    for (size_t i = 0; i < 2 * COUNT(flags); i++) {
        struct pa_request request = request_of(i % 2, PA_FORMAT_DOT, flags[i / 2]);
        const char *output = answer(&request);
        ck_assert_msg(is_dot(output), "%.2000s", output);
        ck_assert_msg(strncmp(output, "digraph pyasync {\n", 18) == 0 && strstr(output, "\n}\n"), "%.2000s", output);
        ck_assert_has(output, " -> n");
    }
    struct pa_request request = request_of(PA_COMMAND_AWAITED_BY, PA_FORMAT_DOT, 0);
    ck_assert_has(answer(&request), "[label=\"6 tasks\\l");
    request.limit = 1;
    ck_assert_has(answer(&request), "  more [label=\"\xe2\x80\xa6 ");
    close_busy();
}
END_TEST

START_TEST(test_second_request_does_not_walk_again)
{
    open_busy(PYTHON_3_15);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, 0);
    ck_assert_int_eq(run(&request), PA_OK);
    uint64_t calls = python->image->calls;
    ck_assert_int_eq(run(&request), PA_OK);
    ck_assert_uint_lt(python->image->calls, 10);
    ck_assert_uint_gt(calls, 20);
    close_busy();
}
END_TEST

START_TEST(test_same_answer_live_and_from_a_core)
{
    open_busy(_i);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, PA_REQUEST_ALL);
    char *live = strdup(answer(&request));
    pa_session_destroy(session);
    image_make_core(python->image);
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    ck_assert_str_eq(answer(&request), live);
    ck_assert_uint_eq(python->image->reads, 0);
    free(live);
    close_busy();
}
END_TEST

START_TEST(test_session_of_another_abi_is_refused)
{
    struct image *image = image_new();
    image->target.abi_version = PA_ABI_VERSION + 1;
    ck_assert_int_eq(pa_session_create(&image->target, &session), PA_FAILED);
    ck_assert_ptr_null(session);
    pa_session_destroy(NULL);
    ck_assert_uint_eq(pa_abi_version(), PA_ABI_VERSION);
    image_free(image);
}
END_TEST

START_TEST(test_process_that_is_not_python_fails_every_time)
{
    struct image *image = image_new();
    ck_assert_int_eq(pa_session_create(&image->target, &session), PA_OK);
    char buffer[64];
    for (uint32_t n = 0; n < 8; n++) {
        struct pa_request request = nth_request(n);
        ck_assert_int_eq(pa_session_run(session, &request), PA_FAILED);
        ck_assert_has(pa_session_error(session), "no CPython here");
        ck_assert_uint_eq(pa_session_complete(session, "", buffer, sizeof(buffer)), 0);
        ck_assert_uint_eq(memory_now(), 0);
    }
    pa_session_destroy(session);
    image_free(image);
}
END_TEST

/* In 3.15 the table is there although asyncio was never imported. */
START_TEST(test_asyncio_that_was_never_imported)
{
    python = python_new(PYTHON_3_15);
    uint64_t modules = python_dict(python, 1);
    python_dict_set(python, modules, "sys", python->dummy);
    image_put_u64(python->image, python->interpreter + python_offset(python, SLOT_interpreter_imports_modules), modules);
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, 0);
    ck_assert_int_eq(run(&request), PA_FAILED);
    ck_assert_has(pa_session_error(session), "has not loaded asyncio");
    close_busy();
}
END_TEST

START_TEST(test_no_task_alive_is_an_answer)
{
    python = python_new((enum python_build)_i);
    python_set_frames(python, python->thread,
                      python_frame(python, python_code(python, "work", "/app/w.py", 10, CO_FUNCTION), 3, 0, 0));
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, 0);
    const char *output = answer(&request);
    ck_assert_has(output, "No task is alive");
    ck_assert_has(output, "in work (w.py:13)");
    close_busy();
}
END_TEST

/* ---- damage ---- */

START_TEST(test_damaged_tasks_are_told_and_the_rest_is_shown)
{
    open_busy(_i);
    uint64_t bad = python_task(python, python_thread_tasks(python, python->thread), python_str(python, "bad"), 0x1000);
    python_set_awaiters(python, bad, 0x2000);
    for (uint32_t n = 0; n < REQUESTS; n++) {
        struct pa_request request = nth_request(n);
        const char *output = answer(&request);
        if (request.command == PA_COMMAND_INFO && request.format == PA_FORMAT_TEXT)
            continue;
        ck_assert_has(output, request.format == PA_FORMAT_JSON ? "\"complete\": false" : "INCOMPLETE: 2 problems");
    }
    close_busy();
}
END_TEST

START_TEST(test_ten_thousand_levels_of_awaiters)
{
    uint32_t count = 10000;
    python = python_new_sized(PYTHON_3_15, 16 << 20);
    uint64_t list = python_thread_tasks(python, python->thread), last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t task = python_task(python, list, python_int(python, i + 1), python_coroutine(python, "f", 0));
        if (last)
            python_set_awaiter(python, last, task);
        last = task;
    }
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    struct pa_request request = request_of(PA_COMMAND_AWAITED_BY, PA_FORMAT_TEXT, PA_REQUEST_NO_GROUP);
    const char *output = answer(&request);
    ck_assert_has(output, "more levels, root: Task(name='Task-10000'");
    request = request_of(PA_COMMAND_AWAITED_BY, PA_FORMAT_TEXT, PA_REQUEST_COMPAT);
    answer(&request);
    request = request_of(PA_COMMAND_AWAITED_BY, PA_FORMAT_JSON, 0);
    answer(&request);
    close_busy();
}
END_TEST

/* Every task awaits the two of the level below: 2^40 paths, 80 tasks. */
START_TEST(test_lattice_of_awaiters_is_printed_in_time)
{
    uint64_t level[2] = {0};
    python = python_new((enum python_build)_i);
    for (uint32_t i = 0; i < 40; i++) {
        uint64_t next[2] = {python_sleeper(python, "left"), python_sleeper(python, "right")};
        for (uint32_t k = 0; k < 2 && level[k]; k++)
            python_set_awaiters(python, level[k], python_set(python, next, 2));
        memcpy(level, next, sizeof(level));
    }
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    for (uint32_t n = 0; n < REQUESTS; n++) {
        struct pa_request request = nth_request(n);
        ck_assert_int_eq(run(&request), PA_OK);
        ck_assert_uint_lt(python->image->output_length, 20 << 20);
    }
    close_busy();
}
END_TEST

Suite *session_suite(void)
{
    Suite *suite = suite_create("session");
    TCase *tests = add_case(suite, "answers");
    tcase_add_loop_test(tests, test_every_answer_is_clean_and_complete, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_running_task_of_the_selected_thread_comes_by_default, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_all_tasks_are_grouped);
    tcase_add_test(tests, test_compat_is_the_form_of_asyncio);
    tcase_add_test(tests, test_awaiters_nest_below_with_the_future_between);
    tcase_add_test(tests, test_hostile_names_are_escaped);
    tcase_add_test(tests, test_secrets_in_names_are_hidden_unless_asked_for);
    tcase_add_loop_test(tests, test_json_has_everything, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_task_of_an_address, 0, 4 * PYTHON_BUILDS);
    tcase_add_test(tests, test_address_of_something_else_says_what_it_is);
    tcase_add_test(tests, test_wrong_options_fail_in_one_line);
    tcase_add_test(tests, test_filters);
    tcase_add_loop_test(tests, test_stats, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_dot_is_quoted_and_grouped, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_second_request_does_not_walk_again);
    tcase_add_loop_test(tests, test_same_answer_live_and_from_a_core, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_session_of_another_abi_is_refused);
    tcase_add_test(tests, test_process_that_is_not_python_fails_every_time);
    tcase_add_test(tests, test_asyncio_that_was_never_imported);
    tcase_add_loop_test(tests, test_no_task_alive_is_an_answer, 0, PYTHON_BUILDS);

    TCase *damage = add_case(suite, "damage");
    tcase_add_loop_test(damage, test_damaged_tasks_are_told_and_the_rest_is_shown, 0, PYTHON_BUILDS);
    tcase_add_test(damage, test_ten_thousand_levels_of_awaiters);
    tcase_add_loop_test(damage, test_lattice_of_awaiters_is_printed_in_time, 0, PYTHON_BUILDS);
    return suite;
}
