/*
 * Runs every suite; each test in a process of its own, so that a crash is one failed test. CK_RUN_CASE and CK_RUN_SUITE choose.
 * With --save-images DIRECTORY it makes seeds for the fuzzer instead.
 */
#include "busy.h"

static const char *save_directory;

/* The busy process of each build as a seed of the fuzzer, and each of its parts: the less there is, the more of it is damaged in a while. */
START_TEST(save_image)
{
    static const char *const names[PYTHON_BUILDS] = {"3.14", "3.15", "3.14t", "3.15t"};
    int build = _i % PYTHON_BUILDS, part = _i / PYTHON_BUILDS;
    struct python *python = python_new_sized((enum python_build)build, 256 << 10);
    char path[4096];
    if (part < BUSY_PARTS)
        busy_make_part(python, part);
    else
        busy_make(python);
    snprintf(path, sizeof(path), "%s/made-%d-%s.image", save_directory, part, names[build]);
    image_save(python->image, path);
    python_free(python);
}
END_TEST

static Suite *save_suite(void)
{
    Suite *suite = suite_create("save images");
    tcase_add_loop_test(add_case(suite, "save images"), save_image, 0, PYTHON_BUILDS * (BUSY_PARTS + 1));
    return suite;
}

static int run_all(SRunner *runner)
{
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--save-images") == 0) {
        save_directory = argv[2];
        return run_all(srunner_create(save_suite()));
    }
    Suite *(*const suites[])(void) = {
        memory_suite,  layout_suite,   find_suite,    object_suite,     coroutine_suite, thread_suite,   task_suite,
        cycle_suite,   output_suite,   session_suite, linetable_suite,  redact_suite,    gc_suite,       cython_suite,
        held_suite,    greenlet_suite, value_suite,   unlisted_suite,   wait_suite,      holder_suite,   native_suite,
        finding_suite, loop_suite,     cost_suite,    awaited_by_suite, end_suite,       complete_suite, report_suite};
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < COUNT(suites); i++)
        srunner_add_suite(runner, suites[i]());
    return run_all(runner);
}
