/*
 * A stand-in for libpyasync.so that knows no CPython: it does what the text of --in says, so that the tests of the front (gdb/) can
 * see every call between the two, for as long as they like.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pyasync.h"

#ifndef FAKE_ABI_VERSION
#define FAKE_ABI_VERSION PA_ABI_VERSION
#endif

struct pa_session {
    const struct pa_target *target;
    const char *error;
};

static unsigned created; /* sessions so far: shows whether the front opened a new one */

uint32_t pa_abi_version(void)
{
    return FAKE_ABI_VERSION;
}

enum pa_status pa_session_create(const struct pa_target *target, struct pa_session **session)
{
    struct pa_session *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return PA_NO_MEMORY;
    }
    made->target = target;
    created++;
    *session = made;
    return PA_OK;
}

void pa_session_destroy(struct pa_session *session)
{
    free(session);
}

const char *pa_session_error(const struct pa_session *session)
{
    return session->error;
}

const char *pa_struct_name(uint32_t structure)
{
    (void)structure;
    return "NoSuchStruct";
}

void pa_session_memory(const struct pa_session *session, uint64_t *current, uint64_t *peak)
{
    (void)session;
    *current = *peak = 0;
}

static int32_t say(const struct pa_target *target, uint32_t style, const char *text)
{
    return target->write(style, text, strlen(text));
}

/* Whether work that ends by Ctrl-C alone is to go on: not for ever, should the test that would press it be gone. */
static int goes_on(int32_t status, time_t begin)
{
    return status != PA_ABORTED && time(NULL) - begin < 60;
}

/* "spin": work without end, polling as the library must. */
static int32_t spin(const struct pa_target *target)
{
    int32_t status = say(target, PA_STYLE_PLAIN, "spinning\n");
    struct timespec pause = {0, 20 * 1000 * 1000};
    for (time_t begin = time(NULL); goes_on(status, begin);) {
        nanosleep(&pause, NULL);
        status = target->poll();
    }
    return status;
}

/* "read ADDRESS": read without end, never polling: Ctrl-C must reach every callback. */
static int32_t read_on(const struct pa_target *target, uint64_t address)
{
    static char buffer[65536];
    int32_t status = say(target, PA_STYLE_PLAIN, "reading\n");
    for (time_t begin = time(NULL); goes_on(status, begin);) {
        status = target->read(address, sizeof(buffer), buffer);
    }
    return status;
}

static int32_t print_lines(const struct pa_target *target, int count)
{
    char line[64];
    int32_t status = PA_OK;
    for (int number = 0; number < count && status == PA_OK; number++) {
        snprintf(line, sizeof(line), "line %d\n", number);
        status = say(target, PA_STYLE_PLAIN, line);
    }
    return status;
}

static void tell_threads(const struct pa_target *target)
{
    char text[256];
    struct pa_thread_info threads[64];
    int64_t count = target->threads(NULL, 0);
    target->threads(threads, 64);
    for (int64_t index = 0; index < count && index < 64; index++) {
        const struct pa_thread_info *thread = &threads[index];
        snprintf(text, sizeof(text), "thread %u%s lwp %" PRId64 " id 0x%" PRIx64 " \"%s\"\n", thread->number,
                 thread->selected ? " selected" : "", thread->lwp, thread->pthread_id, thread->name);
        say(target, PA_STYLE_PLAIN, text);
    }
}

static void tell_ranges(const struct pa_target *target)
{
    char text[256];
    int64_t count = target->ranges(NULL, 0);
    if (count < 0) {
        return;
    }
    struct pa_range *ranges = calloc((size_t)count + 1, sizeof(*ranges));
    if (ranges == NULL) {
        return;
    }
    target->ranges(ranges, (uint64_t)count);
    for (int64_t index = 0; index < count; index++) {
        snprintf(text, sizeof(text), "range 0x%" PRIx64 "-0x%" PRIx64 " at 0x%" PRIx64 "%s%s%s\n", ranges[index].start,
                 ranges[index].end, ranges[index].file_offset, ranges[index].flags & PA_RANGE_IN_CORE ? " core" : "",
                 ranges[index].flags & PA_RANGE_WRITABLE ? " writable" : "",
                 ranges[index].flags & PA_RANGE_FILE_BACKED ? " file" : "");
        say(target, PA_STYLE_PLAIN, text);
    }
    free(ranges);
}

static void tell_target(const struct pa_target *target)
{
    char text[4096];
    snprintf(text, sizeof(text), "session %u %s core_path %s core_name %s executable %s signal %s debugger %s pid %" PRId64 "\n",
             created, target->flags & PA_TARGET_CORE ? "core" : "live", target->core_path ? target->core_path : "-",
             target->core_name ? target->core_name : "-", target->executable ? target->executable : "-",
             target->signal ? target->signal : "-", target->debugger, target->pid);
    say(target, PA_STYLE_PLAIN, text);
}

static void tell_request(const struct pa_target *target, const struct pa_request *request)
{
    char text[4096];
    snprintf(text, sizeof(text), "command %u format %u flags %u thread %d limit %u frames %u depth %u state %s\n", request->command,
             request->format, request->flags, (int)request->thread, request->limit, request->frames, request->depth,
             request->state ? request->state : "-");
    say(target, PA_STYLE_PLAIN, text);
    for (uint32_t index = 0; index < request->operand_count; index++) {
        const struct pa_operand *operand = &request->operands[index];
        snprintf(text, sizeof(text), "operand %u 0x%" PRIx64 " <%s>\n", operand->kind, operand->address, operand->text);
        say(target, PA_STYLE_VARIABLE, text);
    }
}

/* "symbol NAME", "at ADDRESS NAME", "section NAME", "member TYPE PATH", "source FILE LINE", "bytes ADDRESS": one question to the front. */
static int32_t ask(const struct pa_target *target, const char *what)
{
    char text[4096] = "";
    char first[1024] = "";
    char second[256] = "";
    char answer[1024] = "";
    uint64_t addresses[8] = {0};
    if (sscanf(what, "symbol %1023s", first) == 1) {
        int32_t status = target->symbol(first, addresses);
        snprintf(text, sizeof(text), "symbol %d 0x%" PRIx64 "\n", status, addresses[0]);
    } else if (sscanf(what, "at %" SCNx64 " %1023s", addresses, first) == 2) {
        snprintf(text, sizeof(text), "at %d\n", target->symbol_at(addresses[0], first));
    } else if (sscanf(what, "section %1023s", first) == 1) {
        int64_t count = target->sections(first, addresses, 8);
        snprintf(text, sizeof(text), "section %" PRId64 " 0x%" PRIx64 " 0x%" PRIx64 "\n", count, addresses[0], addresses[1]);
    } else if (sscanf(what, "member %1023s %255s", first, second) == 2) {
        snprintf(text, sizeof(text), "member %" PRId64 "\n", target->member_offset(first, second));
    } else if (sscanf(what, "source %1023s %255s", first, second) == 2) {
        int32_t status = target->source_line(first, (int32_t)strtol(second, NULL, 10), answer, 24);
        snprintf(text, sizeof(text), "source %d <%s>\n", status, answer);
    } else if (sscanf(what, "bytes %" SCNx64, addresses) == 1) {
        unsigned char bytes[8] = {0};
        int32_t status = target->read(addresses[0], sizeof(bytes), bytes);
        snprintf(text, sizeof(text), "bytes %d %02x %02x %02x\n", status, bytes[0], bytes[1], bytes[2]);
    } else {
        return PA_FAILED;
    }
    return say(target, PA_STYLE_PLAIN, text);
}

enum pa_status pa_session_run(struct pa_session *session, const struct pa_request *request)
{
    const struct pa_target *target = session->target;
    const char *what = request->in ? request->in : "request";
    int32_t status = PA_OK;
    if (strcmp(what, "request") == 0) {
        tell_request(target, request);
    } else if (strcmp(what, "target") == 0) {
        tell_target(target);
    } else if (strcmp(what, "threads") == 0) {
        tell_threads(target);
    } else if (strcmp(what, "ranges") == 0) {
        tell_ranges(target);
    } else if (strcmp(what, "spin") == 0) {
        status = spin(target);
    } else if (strncmp(what, "read ", 5) == 0) {
        status = read_on(target, strtoull(what + 5, NULL, 16));
    } else if (strcmp(what, "lines") == 0) {
        status = print_lines(target, 100000);
    } else if (strcmp(what, "styles") == 0) {
        for (uint32_t style = 0; style < PA_STYLE_COUNT; style++) {
            say(target, style, "styled\n");
        }
    } else if (strcmp(what, "utf-8") == 0) {
        for (const char *byte = "na\xc3\xafve\xe2\x80\xa6\n"; *byte != '\0' && status == PA_OK; byte++) {
            status = target->write(PA_STYLE_PLAIN, byte, 1);
        }
    } else if (strcmp(what, "fail") == 0) {
        say(target, PA_STYLE_PLAIN, "half a result\n");
        session->error = "nothing here: tried this, do that";
        status = PA_FAILED;
    } else if (strcmp(what, "no memory") == 0) {
        status = PA_NO_MEMORY;
    } else {
        session->error = "the fake does not know that";
        status = ask(target, what);
    }
    return (enum pa_status)status;
}

static const char *const names[] = {"worker-1", "worker-2", "job[1]", "0xname", "other"};

/* Names are known; without operands there are as many tasks as the state has letters. */
enum pa_status pa_session_select(struct pa_session *session, const struct pa_request *request, uint64_t *addresses,
                                 uint64_t capacity, uint64_t *count)
{
    *count = 0;
    if (session->target->poll() != PA_OK) {
        return PA_ABORTED;
    }
    if (request->operand_count == 0) {
        *count = strlen(request->state);
        return PA_OK;
    }
    for (size_t index = 0; index < sizeof(names) / sizeof(names[0]); index++) {
        if (strcmp(names[index], request->operands[0].text) == 0 && capacity > 0) {
            addresses[0] = 0x1000 + index;
            *count = 1;
            return PA_OK;
        }
    }
    session->error = "no task is called so";
    return PA_FAILED;
}

uint64_t pa_session_complete(struct pa_session *session, const char *prefix, char *buffer, uint64_t capacity)
{
    uint64_t count = 0;
    uint64_t used = 0;
    if (session->target->poll() != PA_OK) {
        return 0;
    }
    for (size_t index = 0; index < sizeof(names) / sizeof(names[0]); index++) {
        uint64_t length = strlen(names[index]) + 1;
        if (strncmp(names[index], prefix, strlen(prefix)) == 0 && used + length + 1 <= capacity) {
            memcpy(buffer + used, names[index], length);
            used += length;
            count++;
        }
    }
    if (used < capacity) {
        buffer[used] = '\0';
    }
    return count;
}
