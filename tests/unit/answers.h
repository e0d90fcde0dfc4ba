/*
 * A session over a busy process, and what holds for each of its answers. Included once, by the file of a suite.
 */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "busy.h"
#include "session.h"
#include "wellformed.h"

static struct python *python;
static struct busy busy;
static struct pa_session *session;

/* For every build: _i. */
static inline void open_busy(int build)
{
    python = python_new((enum python_build)build);
    busy = busy_make(python);
    ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
}

static inline void close_busy(void)
{
    pa_session_destroy(session);
    python_free(python);
}

static inline struct pa_request request_of(uint32_t command, uint32_t format, uint32_t flags)
{
    return (struct pa_request){.command = command, .format = format, .flags = flags, .thread = PA_THREAD_DEFAULT};
}

static inline enum pa_status run(const struct pa_request *request)
{
    image_reset(python->image);
    return pa_session_run(session, request);
}

/* Run, and check what holds for every answer. */
static inline const char *answer(const struct pa_request *request)
{
    ck_assert_msg(run(request) == PA_OK, "%s", pa_session_error(session));
    const char *output = python->image->output;
    size_t length = python->image->output_length;
    ck_assert_uint_gt(length, 0);
    ck_assert_uint_eq(first_bad_byte(output, length), length);
    if (request->format == PA_FORMAT_JSON)
        ck_assert(is_json(output, length));
    return output;
}

#define ck_assert_has(text, part)     ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%.1500s", part, text)
#define ck_assert_has_not(text, part) ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in:\n%.1500s", part, text)

static inline uint32_t count_of(const char *text, const char *part)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* Bytes that the session has now. */
static inline uint64_t memory_now(void)
{
    uint64_t current, peak;
    pa_session_memory(session, &current, &peak);
    return current;
}

/* Everything that can be asked in one request, without operands. */
static inline struct pa_request nth_request(uint32_t n)
{
    static const uint32_t flags[] = {0,
                                     PA_REQUEST_ALL,
                                     PA_REQUEST_ALL | PA_REQUEST_COMPAT,
                                     PA_REQUEST_ALL | PA_REQUEST_NO_GROUP,
                                     PA_REQUEST_NO_HEAD | PA_REQUEST_STYLED,
                                     PA_REQUEST_SOURCE | PA_REQUEST_GROUP,
                                     PA_REQUEST_SHOW_SECRETS | PA_REQUEST_MEMORY_STATS,
                                     PA_REQUEST_STATS};
    return request_of(n % 4, n / 4 % 2, flags[n / 8]);
}
#define REQUESTS (8u * 8u)

#endif
