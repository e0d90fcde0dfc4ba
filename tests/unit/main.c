/* Runs every suite; each test in a process of its own, so that a crash is one failed test. CK_RUN_CASE and CK_RUN_SUITE choose. */
#include "tests.h"

int main(void)
{
    Suite *(*const suites[])(void) = {memory_suite, layout_suite, find_suite,   object_suite,  coroutine_suite, thread_suite,
                                      task_suite,   cycle_suite,  output_suite, session_suite, linetable_suite, redact_suite};
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < COUNT(suites); i++)
        srunner_add_suite(runner, suites[i]());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
