/* Native and Python frames as one list: where Python's belong, and what is left apart because something contradicts. Reports. */
#include "busy.h"
#include "native.h"
#include "session.h"
#include "walk.h"
#include "wellformed.h"

static struct walk walk;
static struct python *python;
static struct pa_natives natives;
static const struct pa_native *native;
static uint64_t entries[3]; /* frames of the interpreter's own, innermost first */

static uint64_t function(const char *name, int32_t line)
{
    return python_code(python, name, "/app/main.py", line, CO_FUNCTION);
}

/* A C stack grows down: what is called later lies lower. Here it lies in the heap, where what is made first does. */
static uint64_t entry(void)
{
    uint64_t frame = python_frame(python, function("entry", 1), 3, 3, 0);
    image_put_u64(python->image, frame + python_offset(python, SLOT_frame_executable), python->dummy); /* None */
    python_alloc(python, 256);
    return frame;
}

static void add_native(uint64_t sp, const char *name, uint32_t flags)
{
    struct pa_native_frame *frame = &python->image->natives[python->image->native_count++];
    *frame =
        (struct pa_native_frame){.pc = 0x400000 + 16 * python->image->native_count, .sp = sp, .function = name, .flags = flags};
}

/*
 * Python's frames: inner and middle in one loop, key in another, main in the outermost. The C stack: crash, loop, sort, loop, call,
 * loop, start.
 */
static void begin(int build)
{
    python = python_new((enum python_build)build);
    uint64_t base = entry(), inner = python_frame(python, function("inner", 30), 5, 0, 0),
             middle = python_frame(python, function("middle", 20), 4, 0, 0),
             key = python_frame(python, function("key", 40), 2, 0, 0), last = python_frame(python, function("main", 10), 3, 0, 0);
    for (uint32_t i = 0; i < 3; i++)
        entries[i] = entry();
    const uint64_t chain[] = {inner, middle, entries[0], key, entries[1], last, entries[2], base};
    for (uint32_t i = 0; i + 1 < COUNT(chain); i++)
        python_link_frame(python, chain[i], chain[i + 1]);
    python_set_frames(python, python->thread, inner);
    python->image->threads[0] =
        (struct pa_thread_info){.number = 1, .selected = 1, .lwp = 1, .pthread_id = 0x7fff1000, .name = "t"};
    python->image->thread_count = 1;
    image_put_u64(python->image, python->thread + python_offset(python, SLOT_thread_thread_id), 0x7fff1000);
    add_native(entries[0] - 64, "crash", PA_NATIVE_DEBUG);
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const callers[] = {"sort", "call", "start"};
        add_native(entries[i] - 16, "_PyEval_EvalFrameDefault", PA_NATIVE_DEBUG);
        add_native(entries[i] + 200, callers[i], PA_NATIVE_DEBUG);
    }
}

static void forget_names(void)
{
    for (uint32_t i = 0; i < python->image->native_count; i++) {
        python->image->natives[i].function = NULL;
        python->image->natives[i].flags = 0;
    }
}

/* "crash inner:35 middle:24 sort …": native frames by name or number, then why the lists are apart. */
static const char *merged(void)
{
    static char text[4096];
    size_t at = 0;
    walk_build(&walk, python);
    native = pa_natives_get(&natives, &walk.graph, 1);
    text[0] = '\0';
    for (uint32_t i = 0; i < native->merged.count; i++) {
        const struct pa_merged *place = &native->merged.items[i];
        const char *blank = i > 0 ? " " : "";
        if (place->thread_frame != PA_NONE) {
            const struct pa_frame *frame = &walk.codes.frames.items[walk.graph.thread_frames.items[place->thread_frame].frame];
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s:%d", blank, (int)frame->function.length,
                                   pa_arena_text(&walk.objects.text, frame->function), frame->line);
        } else if (native->frames.items[place->native].function.length) {
            struct pa_text name = native->frames.items[place->native].function;
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%.*s", blank, (int)name.length,
                                   pa_arena_text(&native->text, name));
        } else {
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s#%u", blank, place->native);
        }
    }
    if (!native->matched)
        snprintf(text + at, sizeof(text) - at, " | %s", native->why);
    return text;
}

static void end(void)
{
    pa_natives_deinit(&natives, &walk.work);
    walk_close(&walk);
}

#define MERGED "crash inner:35 middle:24 sort key:42 call main:13 start"

START_TEST(test_loops_are_replaced_by_what_they_execute)
{
    begin(_i);
    ck_assert_str_eq(merged(), MERGED);
    ck_assert(native->matched);
    ck_assert_uint_eq(native->first_foreign, 1);
    end();
}
END_TEST

START_TEST(test_no_symbol_is_needed)
{
    begin(_i);
    forget_names();
    ck_assert_str_eq(merged(), "#0 inner:35 middle:24 #2 key:42 #4 main:13 #6");
    end();
}
END_TEST

START_TEST(test_frames_that_are_inlined_into_the_loop_are_called_by_it)
{
    begin(PYTHON_3_15);
    struct pa_native_frame *frames = python->image->natives;
    memmove(frames + 2, frames + 1, 6 * sizeof(*frames));
    frames[1] =
        (struct pa_native_frame){.pc = frames[2].pc, .sp = frames[2].sp, .function = "PyObject_Call", .flags = PA_NATIVE_DEBUG};
    python->image->native_count++;
    ck_assert_str_eq(merged(), "crash PyObject_Call inner:35 middle:24 sort key:42 call main:13 start");
    end();
}
END_TEST

START_TEST(test_instructions_of_a_loop_of_tail_calls_belong_to_it)
{
    begin(PYTHON_3_15);
    struct pa_native_frame *frames = python->image->natives;
    memmove(frames + 2, frames + 1, 6 * sizeof(*frames));
    frames[1] =
        (struct pa_native_frame){.pc = 0x1, .sp = frames[2].sp - 24, .function = "_TAIL_CALL_CALL", .flags = PA_NATIVE_DEBUG};
    python->image->native_count++;
    ck_assert_str_eq(merged(), MERGED);
    end();
}
END_TEST

/* As when a frame that ends lets an object go, whose destructor is C code. */
START_TEST(test_loop_that_executes_nothing_stays_a_native_frame)
{
    begin(PYTHON_3_14);
    python_set_frames(python, python->thread, entries[0]);
    ck_assert_str_eq(merged(), "crash _PyEval_EvalFrameDefault sort key:42 call main:13 start");
    ck_assert(native->matched);
    end();
}
END_TEST

START_TEST(test_a_loop_by_another_name_contradicts)
{
    begin(PYTHON_3_15);
    python->image->natives[3].function = "memcpy";
    ck_assert_ptr_nonnull(strstr(merged(), " | #3, where Python's frames belong, is another function than the interpreter's loop"));
    ck_assert_uint_eq(native->merged.count, 7 + 4);
    ck_assert_uint_eq(native->first_foreign, 7);
    end();
}
END_TEST

START_TEST(test_a_symbol_that_is_only_the_nearest_is_no_contradiction)
{
    begin(PYTHON_3_15);
    python->image->natives[3].function = "PyCell_New";
    python->image->natives[3].flags = 0;
    ck_assert_str_eq(merged(), MERGED);
    end();
}
END_TEST

START_TEST(test_a_loop_in_another_file_contradicts)
{
    begin(PYTHON_3_15);
    forget_names();
    python->image->files[0] = (struct image_name){.name = "/usr/bin/python3.15", .value = python->runtime};
    python->image->files[1] = (struct image_name){.name = "/usr/lib/other.so", .value = 0x400000};
    python->image->file_count = 2;
    ck_assert_ptr_nonnull(strstr(merged(), "#1, where Python's frames belong, is no code of the interpreter"));
    end();
}
END_TEST

START_TEST(test_loop_without_python_frames_contradicts)
{
    begin(PYTHON_3_15);
    add_native(entries[2] + 240, "_PyEval_EvalFrameDefault", PA_NATIVE_DEBUG);
    add_native(entries[2] + 248, "main", PA_NATIVE_DEBUG);
    ck_assert_ptr_nonnull(strstr(merged(), " | #7, where Python's frames belong, executes none of them"));
    end();
}
END_TEST

START_TEST(test_two_loops_in_one_native_frame_contradict)
{
    begin(PYTHON_3_15);
    struct pa_native_frame *frames = python->image->natives;
    memmove(frames + 2, frames + 4, 3 * sizeof(*frames));
    python->image->native_count = 5;
    ck_assert_ptr_nonnull(strstr(merged(), " | #1, where Python's frames belong, holds more than one loop"));
    end();
}
END_TEST

START_TEST(test_entries_out_of_order_contradict)
{
    begin(PYTHON_3_15);
    image_put_u64(python->image, entries[0] + python_offset(python, SLOT_frame_previous),
                  image_u64(python->image, entries[1] + python_offset(python, SLOT_frame_previous)));
    image_put_u64(python->image, entries[2] + python_offset(python, SLOT_frame_previous), entries[1]);
    python_link_frame(python, entries[1], 0);
    ck_assert_ptr_nonnull(strstr(merged(), " | the frames that the interpreter keeps on the C stack are out of order"));
    end();
}
END_TEST

START_TEST(test_python_frames_beyond_the_outermost_native_one_contradict)
{
    begin(PYTHON_3_15);
    python->image->native_count = 4;
    ck_assert_ptr_nonnull(strstr(merged(), " | Python has more frames than the C stack has loops of the interpreter"));
    end();
}
END_TEST

START_TEST(test_python_frames_follow_where_unwinding_stops)
{
    begin(PYTHON_3_15);
    python->image->native_count = 3;
    python->image->native_stopped = "no more";
    ck_assert_str_eq(merged(), "crash inner:35 middle:24 sort key:42 main:13");
    ck_assert(native->matched);
    ck_assert(pa_text_is(&native->text, native->stopped, "no more"));
    end();
}
END_TEST

START_TEST(test_what_is_found_beyond_unknown_code_is_a_guess)
{
    begin(PYTHON_3_15);
    python->image->natives[2].flags |= PA_NATIVE_GUESS;
    ck_assert_str_eq(merged(), "crash inner:35 middle:24 sort key:42 main:13");
    ck_assert_uint_eq(native->frames.count, 3);
    end();
}
END_TEST

START_TEST(test_a_stack_that_goes_back_is_damaged)
{
    begin(PYTHON_3_15);
    python->image->natives[3].sp = 8;
    ck_assert_str_eq(merged(), "crash inner:35 middle:24 sort key:42 main:13");
    ck_assert(pa_text_is(&native->text, native->stopped, "the stack is damaged here"));
    end();
}
END_TEST

START_TEST(test_python_frames_in_a_circle_end)
{
    begin(PYTHON_3_15);
    python_link_frame(python, entries[2], entries[0]);
    ck_assert_ptr_nonnull(strstr(merged(), " | "));
    end();
}
END_TEST

/* Whatever the words of the stack are: no crash, no endless loop; and every frame is there, each once. */
START_TEST(test_random_addresses)
{
    begin(PYTHON_3_14);
    srand((unsigned)_i);
    for (uint32_t n = 0; n < 4; n++) {
        uint64_t *word = &python->image->natives[rand() % 7].sp;
        *word = rand() % 2 ? entries[rand() % 3] + (uint64_t)(rand() % 64) - 32 : (uint64_t)rand() << 24 ^ (uint64_t)rand();
    }
    if (_i % 3 == 0)
        python_link_frame(python, entries[rand() % 3], entries[rand() % 3] + (uint64_t)(rand() % 3));
    merged();
    uint32_t native_frames = 0, python_frames = 0;
    for (uint32_t i = 0; i < native->merged.count; i++) {
        native_frames += native->merged.items[i].native != PA_NONE;
        python_frames += native->merged.items[i].thread_frame != PA_NONE;
    }
    ck_assert_uint_eq(python_frames, walk.graph.threads.items[0].frame_count);
    ck_assert_uint_le(native_frames, native->frames.count);
    end();
}
END_TEST

START_TEST(test_thread_that_cannot_be_unwound)
{
    begin(PYTHON_3_15);
    python->image->native_count = 0;
    ck_assert_str_eq(merged(), " | ");
    end();
}
END_TEST

/* Text and JSON of reports and of --native, aborted at any callback; then whole. */
START_TEST(test_reports_of_a_busy_process)
{
    struct pa_session *session;
    struct pa_request request = {.command = _i % 2 ? PA_COMMAND_REPORT : PA_COMMAND_BACKTRACE,
                                 .format = _i & 2 ? PA_FORMAT_JSON : PA_FORMAT_TEXT,
                                 .flags = PA_REQUEST_NATIVE | (_i & 4 ? PA_REQUEST_ALL : 0),
                                 .thread = PA_THREAD_DEFAULT};
    python = python_new(PYTHON_3_15);
    busy_make(python);
    for (uint32_t i = 0; i < 20; i++)
        add_native(0x1000 + 8 * i, i % 2 ? "\x1b[31mtwice" : NULL, i < 4 ? PA_NATIVE_DEBUG : 0);
    python->image->natives[3].file = "a.c";
    python->image->natives[3].line = 7;
    python->image->native_stopped = "\n* Task(forged)";
    python->image->objects[0] = (struct pa_object_file){"/lib/\x1b]0;x\a.so", "12ab", "34cd", PA_OBJECT_DIFFERS, 0};
    python->image->objects[1] = (struct pa_object_file){"/lib/gone.so", NULL, NULL, PA_OBJECT_MISSING, 0};
    python->image->objects[2] = (struct pa_object_file){"/lib/here.so", NULL, NULL, PA_OBJECT_SAME, 0};
    python->image->object_count = 3;
    python->image->target.signal = "SIGSEGV";
    python->image->stop =
        (struct pa_stop){.has_info = 1, .code = _i & 1, .address = 0x18, .pid = 77, .core_size = 5, .core_whole = 9};
    for (uint64_t n = 1;; n += 1 + n / 20) {
        ck_assert_int_eq(pa_session_create(&python->image->target, &session), PA_OK);
        python->image->abort_at = n;
        image_reset(python->image);
        enum pa_status status = pa_session_run(session, &request);
        bool aborted = python->image->aborted;
        ck_assert_int_eq(status, aborted ? PA_ABORTED : PA_OK);
        python->image->abort_at = 0;
        pa_session_destroy(session);
        if (!aborted)
            break;
    }
    const char *output = python->image->output;
    ck_assert_uint_eq(first_bad_byte(output, python->image->output_length), python->image->output_length);
    ck_assert_ptr_null(strstr(output, "\n* Task(forged)"));
    if (request.format == PA_FORMAT_JSON)
        ck_assert(is_json(output, python->image->output_length));
    if (request.command == PA_COMMAND_REPORT)
        ck_assert_ptr_nonnull(strstr(output, "s1:"));
    python_free(python);
}
END_TEST

Suite *native_suite(void)
{
    Suite *suite = suite_create("native");
    TCase *tests = add_case(suite, "native");
    tcase_add_loop_test(tests, test_loops_are_replaced_by_what_they_execute, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_no_symbol_is_needed, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_frames_that_are_inlined_into_the_loop_are_called_by_it);
    tcase_add_test(tests, test_instructions_of_a_loop_of_tail_calls_belong_to_it);
    tcase_add_test(tests, test_loop_that_executes_nothing_stays_a_native_frame);
    tcase_add_test(tests, test_a_loop_by_another_name_contradicts);
    tcase_add_test(tests, test_a_symbol_that_is_only_the_nearest_is_no_contradiction);
    tcase_add_test(tests, test_a_loop_in_another_file_contradicts);
    tcase_add_test(tests, test_loop_without_python_frames_contradicts);
    tcase_add_test(tests, test_two_loops_in_one_native_frame_contradict);
    tcase_add_test(tests, test_entries_out_of_order_contradict);
    tcase_add_test(tests, test_python_frames_beyond_the_outermost_native_one_contradict);
    tcase_add_test(tests, test_python_frames_follow_where_unwinding_stops);
    tcase_add_test(tests, test_what_is_found_beyond_unknown_code_is_a_guess);
    tcase_add_test(tests, test_a_stack_that_goes_back_is_damaged);
    tcase_add_test(tests, test_python_frames_in_a_circle_end);
    tcase_add_loop_test(tests, test_random_addresses, 0, 200);
    tcase_add_test(tests, test_thread_that_cannot_be_unwound);
    tcase_add_loop_test(tests, test_reports_of_a_busy_process, 0, 8);
    return suite;
}
