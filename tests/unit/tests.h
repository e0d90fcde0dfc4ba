/* The suites, a file each, and what all tests share. */
#ifndef TESTS_H
#define TESTS_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/** As ck_assert(), which tells the runner of each time that it was passed: too slow for what happens a million times. */
#define check_fast(condition)                                                                                                      \
    do {                                                                                                                           \
        if (!(condition))                                                                                                          \
            ck_abort_msg("not so: %s", #condition);                                                                                \
    } while (0)

Suite *awaited_by_suite(void);
Suite *complete_suite(void);
Suite *coroutine_suite(void);
Suite *cost_suite(void);
Suite *cycle_suite(void);
Suite *cython_suite(void);
Suite *end_suite(void);
Suite *find_suite(void);
Suite *finding_suite(void);
Suite *gc_suite(void);
Suite *greenlet_suite(void);
Suite *held_suite(void);
Suite *holder_suite(void);
Suite *layout_suite(void);
Suite *linetable_suite(void);
Suite *loop_suite(void);
Suite *memory_suite(void);
Suite *native_suite(void);
Suite *report_suite(void);
Suite *object_suite(void);
Suite *output_suite(void);
Suite *redact_suite(void);
Suite *session_suite(void);
Suite *task_suite(void);
Suite *thread_suite(void);
Suite *unlisted_suite(void);
Suite *value_suite(void);
Suite *wait_suite(void);

/** A test case with one line a test. */
static inline TCase *add_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);
    return tests;
}

#endif
