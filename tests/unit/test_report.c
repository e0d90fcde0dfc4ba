/* Reports of processes without a Python that can be read: what the debugger knows, and why the rest is missing. */
#include "limits.h"
#include "python.h"
#include "session.h"
#include "wellformed.h"

static struct python *python;
static struct pa_session *session;

enum { NO_PYTHON, OTHER_VERSION, NOT_STARTED, OLD_VERSION, KINDS };

static void begin(int kind)
{
    python = python_new(PYTHON_3_15);
    struct image *image = python->image;
    if (kind == NO_PYTHON || kind == OLD_VERSION)
        image_put_u64(image, python->runtime, 0); /* the cookie */
    if (kind == NO_PYTHON)
        python_forget_files(python);
    if (kind == OTHER_VERSION)
        image_put_u64(image, python->runtime + 8, 0x031000f0);
    if (kind == NOT_STARTED)
        image_put_u64(image, python->runtime + python_offset(python, SLOT_runtime_interpreters_head), 0);
    if (kind == OLD_VERSION) {
        uint64_t version = python_alloc(python, 8);
        image_put_u32(image, version, 0x030b02f0);
        image_add_symbol(image, "Py_Version", version);
    }
    image->target.signal = "SIGSEGV";
    image->stop = (struct pa_stop){.has_info = 1, .code = 1, .address = 0x18, .core_size = 9, .core_whole = 9};
    image->threads[0] = (struct pa_thread_info){.number = 1, .selected = 1, .lwp = 4711, .name = "\x1b[31m"};
    image->threads[1] = (struct pa_thread_info){.number = 2, .lwp = 4712, .name = "worker"};
    image->thread_count = 2;
    image->natives[0] = (struct pa_native_frame){.pc = 0x400000, .sp = 0x1000, .function = "parse\n"};
    image->natives[1] = (struct pa_native_frame){.pc = 0x500000, .sp = 0x1010, .function = "start"};
    image->native_count = 2;
    image->files[0] = (struct image_name){.name = "/app/bin/tool.x", .value = 0x400000};
    image->file_count = 1;
    image->arguments = "tool\0--token\0abc\0a\x1b\0postgres://u:pw@h/";
    image->arguments_size = sizeof("tool\0--token\0abc\0a\x1b\0postgres://u:pw@h/");
}

static enum pa_status run(uint32_t command, uint32_t format, uint32_t flags)
{
    struct pa_request request = {.command = command, .format = format, .flags = flags, .thread = PA_THREAD_DEFAULT};
    image_reset(python->image);
    return pa_session_run(session, &request);
}

static void answer(uint32_t format)
{
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    ck_assert_int_eq(run(PA_COMMAND_REPORT, format, 0), PA_OK);
    ck_assert_str_eq(pa_session_error(session), "");
    pa_session_destroy(session);
}

#define ck_assert_has(part)                                                                                                        \
    ck_assert_msg(strstr(python->image->output, part) != NULL, "no \"%s\" in:\n%s", part, python->image->output)

static const char *const reasons[KINDS] = {"no CPython here", "CPython 3.16.0 is not supported", "has no interpreter",
                                           "CPython 3.11.2 is not supported"};
static const char *const versions[KINDS] = {"pid 4711\n", "CPython 3.16.0\n", "CPython 3.15.0\n", "CPython 3.11.2\n"};

START_TEST(test_native_part_is_told)
{
    begin(_i);
    answer(PA_FORMAT_TEXT);
    ck_assert_has(versions[_i]);
    ck_assert_has("Arguments  tool --token <redacted> a\\x1b postgres://<redacted>@h/\n");
    ck_assert_has("Died of    SIGSEGV: nothing is mapped at address 0x18, in thread 1\n");
    ck_assert_has("\nNo Python  ");
    ck_assert_has(reasons[_i]);
    ck_assert_has("#0   parse\\n() in tool.x\n");
    ck_assert_has("\nOther threads\n* Thread 2 \"worker\"\n");
    ck_assert_has("\nINCOMPLETE: ");
    ck_assert_ptr_null(strstr(python->image->output, "asyncio was not loaded"));
    answer(PA_FORMAT_JSON);
    ck_assert(is_json(python->image->output, python->image->output_length));
    ck_assert_has("\"complete\": false");
    ck_assert_has(_i == NO_PYTHON ? "\"python\": null" : "\"python\": {\"version\": \"3.1");
    python_free(python);
}
END_TEST

START_TEST(test_signature_is_of_signal_and_object)
{
    char first[64];
    begin(NO_PYTHON);
    answer(PA_FORMAT_TEXT);
    snprintf(first, sizeof(first), "%.30s", strstr(python->image->output, "Signature"));
    python->image->natives[0].function = "other";
    python->image->files[0].name = "/usr/bin/tool.y";
    answer(PA_FORMAT_TEXT);
    ck_assert_has(first);
    python->image->files[0].name = "/usr/bin/other";
    answer(PA_FORMAT_TEXT);
    ck_assert_ptr_null(strstr(python->image->output, first));
    python_free(python);
}
END_TEST

START_TEST(test_other_commands_fail_before_and_after)
{
    begin(_i);
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t current, peak;
        ck_assert_int_eq(run(PA_COMMAND_BACKTRACE, PA_FORMAT_TEXT, 0), PA_FAILED);
        ck_assert_ptr_nonnull(strstr(pa_session_error(session), reasons[_i]));
        ck_assert_int_eq(run(PA_COMMAND_REPORT, PA_FORMAT_TEXT, 0), PA_OK);
        pa_session_memory(session, &current, &peak);
        ck_assert_uint_eq(current, 0);
    }
    struct pa_request request = {.command = PA_COMMAND_REPORT, .thread = 9};
    ck_assert_int_eq(pa_session_run(session, &request), PA_FAILED);
    ck_assert_ptr_nonnull(strstr(pa_session_error(session), "there is no thread 9"));
    pa_session_destroy(session);
    python_free(python);
}
END_TEST

START_TEST(test_arguments_of_any_form)
{
    static char big[3 * PA_MAX_ARGUMENT_BYTES];
    memset(big, 'x', sizeof(big));
    begin(NO_PYTHON);
    python->image->arguments = "a\0b";
    python->image->arguments_size = 3; /* the last one has no end */
    answer(PA_FORMAT_TEXT);
    ck_assert_has("Arguments  a\n");
    python->image->arguments_cut = true;
    answer(PA_FORMAT_TEXT);
    ck_assert_has("Arguments  a \xe2\x80\xa6\n");
    answer(PA_FORMAT_JSON);
    ck_assert_has("\"arguments\": [\"a\"], \"arguments_complete\": false");
    python->image->arguments_cut = false;
    python->image->arguments_size = 0;
    answer(PA_FORMAT_TEXT);
    ck_assert_ptr_null(strstr(python->image->output, "Arguments"));
    python->image->arguments = big;
    python->image->arguments_size = sizeof(big);
    answer(PA_FORMAT_TEXT);
    python->image->target.arguments = NULL;
    answer(PA_FORMAT_TEXT);
    ck_assert_ptr_null(strstr(python->image->output, "Arguments"));
    python_free(python);
}
END_TEST

START_TEST(test_abort_at_any_callback)
{
    begin(_i / 2);
    for (uint64_t n = 1;; n++) {
        ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
        python->image->abort_at = n;
        enum pa_status status = run(PA_COMMAND_REPORT, _i % 2 ? PA_FORMAT_JSON : PA_FORMAT_TEXT, 0);
        uint64_t current, peak;
        pa_session_memory(session, &current, &peak);
        ck_assert_uint_eq(current, 0);
        ck_assert_int_eq(status, python->image->aborted ? PA_ABORTED : PA_OK);
        pa_session_destroy(session);
        if (!python->image->aborted)
            break;
    }
    python_free(python);
}
END_TEST

Suite *report_suite(void)
{
    Suite *suite = suite_create("report");
    TCase *tests = add_case(suite, "report");
    tcase_add_loop_test(tests, test_native_part_is_told, 0, KINDS);
    tcase_add_test(tests, test_signature_is_of_signal_and_object);
    tcase_add_loop_test(tests, test_other_commands_fail_before_and_after, 0, KINDS);
    tcase_add_test(tests, test_arguments_of_any_form);
    tcase_add_loop_test(tests, test_abort_at_any_callback, 0, 2 * KINDS);
    return suite;
}
