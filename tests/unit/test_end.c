/* How a session ends early: aborted at any callback, by poll(), without memory. */
#include "answers.h"

/* The nth callback of a request, whichever it is, says stop. */
START_TEST(test_abort_at_any_callback_frees_all)
{
    struct pa_request request = nth_request((uint32_t)_i % 8);
    python = python_new(_i < 8 ? PYTHON_3_15 : PYTHON_3_14T);
    busy = busy_make(python);
    python->image->source = "x = 1";
    request.flags = PA_REQUEST_ALL | PA_REQUEST_STYLED | (_i % 2 ? PA_REQUEST_SOURCE : 0) | (_i % 4 == 2 ? PA_REQUEST_STATS : 0);
    if (_i % 8 == 1)
        request.format = PA_FORMAT_DOT;
    if (_i >= 8)
        python_forget_files(python);
    for (uint64_t n = 1;; n++) {
        ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
        python->image->abort_at = n;
        enum pa_status status = run(&request);
        bool aborted = python->image->aborted;
        ck_assert_int_eq(status, aborted ? PA_ABORTED : PA_OK);
        if (aborted)
            ck_assert_uint_eq(memory_now(), 0);
        /* The session can be used again. */
        python->image->abort_at = 0;
        ck_assert_int_eq(run(&request), PA_OK);
        ck_assert_has_not(python->image->output, "INCOMPLETE");
        pa_session_destroy(session);
        if (!aborted)
            break;
        n += n / 50; /* writes are many */
    }
    python_free(python);
}
END_TEST

START_TEST(test_nothing_is_printed_after_an_abort)
{
    open_busy(PYTHON_3_15);
    struct pa_request request = request_of(PA_COMMAND_TASKS, PA_FORMAT_TEXT, PA_REQUEST_STYLED);
    ck_assert_int_eq(run(&request), PA_OK);
    uint64_t writes = python->image->writes, first = python->image->calls - writes + 1;
    python->image->abort_at = first + writes / 2;
    ck_assert_int_eq(run(&request), PA_ABORTED);
    ck_assert_uint_eq(python->image->calls, python->image->abort_at);
    close_busy();
}
END_TEST

START_TEST(test_poll_aborts_a_long_walk)
{
    python = python_new_sized(PYTHON_3_14, 32 << 20);
    uint64_t name = python_int(python, 1), coroutine = python_coroutine(python, "f", 0);
    for (int i = 0; i < 100000; i++)
        python_task(python, python_thread_tasks(python, python->thread), name, coroutine);
    image_make_core(python->image);
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    struct pa_request request = request_of(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, 0);
    ck_assert_int_eq(run(&request), PA_OK);
    ck_assert_uint_ge(python->image->polls, 1);
    pa_session_destroy(session);
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    python->image->abort_at = 0;
    image_reset(python->image);
    /* The first poll comes after the tables have been found: count up to it. */
    do {
        python->image->abort_at++;
        image_reset(python->image);
    } while (pa_session_run(session, &request) == PA_ABORTED && python->image->polls == 0);
    ck_assert_uint_eq(python->image->polls, 1);
    ck_assert(python->image->aborted);
    ck_assert_uint_eq(memory_now(), 0);
    close_busy();
}
END_TEST

START_TEST(test_too_little_memory_is_said_and_nothing_leaks)
{
    struct pa_request request = nth_request((uint32_t)_i);
    request.flags = PA_REQUEST_ALL | (_i % 4 == 2 ? PA_REQUEST_STATS : 0);
    if (_i == 1)
        request.format = PA_FORMAT_DOT;
    open_busy(PYTHON_3_15);
    ck_assert_int_eq(run(&request), PA_OK);
    uint64_t current, peak;
    pa_session_memory(session, &current, &peak);
    ck_assert_uint_lt(peak, 4 << 20);
    bool done = false;
    for (uint64_t limit = 0; !done; limit += 1 + limit / 40) {
        pa_session_destroy(session);
        ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
        session->work.limit = limit;
        enum pa_status status = run(&request);
        ck_assert_msg(status == PA_NO_MEMORY || status == PA_OK, "status %d at limit %llu", status, (unsigned long long)limit);
        ck_assert_uint_le(session->work.peak, limit);
        if (status == PA_NO_MEMORY)
            ck_assert_uint_eq(memory_now(), 0);
        done = status == PA_OK;
        ck_assert_uint_lt(limit, 2 * peak);
    }
    close_busy();
}
END_TEST

Suite *end_suite(void)
{
    Suite *suite = suite_create("end");
    TCase *tests = add_case(suite, "end");
    tcase_add_loop_test(tests, test_abort_at_any_callback_frees_all, 0, 16);
    tcase_add_test(tests, test_nothing_is_printed_after_an_abort);
    tcase_add_test(tests, test_poll_aborts_a_long_walk);
    tcase_add_loop_test(tests, test_too_little_memory_is_said_and_nothing_leaks, 0, 8);
    return suite;
}
