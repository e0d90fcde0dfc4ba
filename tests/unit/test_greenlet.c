/* Greenlets: layouts of several versions of greenlet, states, threads, stacks; freed blocks and damage; stale instrumentation. */
#include "greenlet_awaited.h"
#include "instrumentation.h"
#include "limits.h"
#include "walk.h"

static struct walk walk;
static struct python *python;
static struct image *image;

/* What moves: where the members of greenlet's subclasses begin. As measured in greenlet compiled for these Pythons. */
static const struct {
    const char *greenlet;
    enum python_build build;
    uint32_t current_frame, tail;
} layouts[] = {
    {"3.1.1", PYTHON_3_14, 128, 160}, /* its last layout for 3.13; it does not compile for 3.14 */
    {"3.2.4", PYTHON_3_14, 136, 168}, {"3.3.2", PYTHON_3_14, 144, 176}, {"3.3.2", PYTHON_3_15, 144, 176},
    {"3.5.3", PYTHON_3_14, 152, 184}, {"3.5.3", PYTHON_3_15, 152, 184},
};

static uint64_t greenlet_type, frame_type, thread_state, tail, current_frame;

#define SELF        8
#define EXC_INFO    16
#define STACK_START 56
#define STACK_STOP  64
#define TOP_FRAME   104
#define MAIN        tail
#define RUN         (tail + 8)
#define PARENT      (tail + 16)
#define PIMPL       32
#define C_STACK     0x7ffe00001000u

static uint64_t impl_of(uint64_t greenlet)
{
    return image_u64(image, greenlet + PIMPL);
}

static void set_impl(uint64_t greenlet, uint64_t offset, uint64_t value)
{
    image_put_u64(image, impl_of(greenlet) + offset, value);
}

static uint64_t untracked(uint64_t type)
{
    uint64_t greenlet = python_object(python, type, 40), impl = python_alloc(python, tail + 24);
    image_put_u64(image, greenlet + PIMPL, impl);
    set_impl(greenlet, 0, 0x610000);
    set_impl(greenlet, SELF, greenlet);
    return greenlet;
}

static uint64_t pending(uint64_t type)
{
    uint64_t greenlet = untracked(type);
    python_track(python, python_gc_list(python, python->interpreter, 0), greenlet);
    return greenlet;
}

static uint64_t made_main(void)
{
    uint64_t greenlet = pending(greenlet_type);
    thread_state = python_alloc(python, 48);
    image_put_u64(image, thread_state, greenlet);
    image_put_u64(image, thread_state + 8, greenlet);
    set_impl(greenlet, STACK_STOP, UINT64_MAX);
    set_impl(greenlet, STACK_START, 1);
    set_impl(greenlet, MAIN, greenlet);
    set_impl(greenlet, MAIN + 8, thread_state);
    return greenlet;
}

/* A frame as greenlet leaves it: with a frame object, linked to the next frame of Python code. @p link is where it led to before. */
static uint64_t exposed(const char *name, uint64_t previous, uint64_t link)
{
    uint64_t frame = python_frame(python, python_code(python, name, "/g.py", 10, CO_FUNCTION), 2, 0, previous);
    uint64_t object = python_object(python, frame_type, 80);
    image_put_u64(image, frame + 48, object);
    image_put_u64(image, object + 24, frame);
    image_put_u64(image, object + 72, link);
    return frame;
}

static void start(uint64_t greenlet, uint64_t main)
{
    set_impl(greenlet, STACK_START, C_STACK);
    set_impl(greenlet, STACK_STOP, C_STACK + 0x1000);
    if (greenlet != main) {
        set_impl(greenlet, MAIN, main);
        set_impl(greenlet, PARENT, main);
    }
}

static void suspend(uint64_t greenlet, uint64_t main, uint64_t innermost)
{
    start(greenlet, main);
    if (greenlet == main)
        set_impl(greenlet, STACK_STOP, UINT64_MAX);
    set_impl(greenlet, EXC_INFO, python->thread + 256);
    set_impl(greenlet, TOP_FRAME, innermost ? image_u64(image, innermost + 48) : 0);
    set_impl(greenlet, current_frame, innermost);
}

static void begin_layout(enum python_build build, uint32_t frame_offset, uint32_t tail_offset)
{
    python = python_new(build);
    image = python->image;
    current_frame = frame_offset;
    tail = tail_offset;
    greenlet_type = python_type(python, "greenlet.greenlet", python->object_type, false, 0);
    frame_type = python_type(python, "frame", python->object_type, false, 0);
    image_add_symbol(image, "PyGreenlet_Type", greenlet_type);
    python_dict_set(python, python_module_dict(python, python_module(python, "greenlet._greenlet")), "greenlet", greenlet_type);
}

static void begin(int build)
{
    begin_layout((enum python_build)build, 144, 176);
}

static const struct pa_greenlet *greenlet_at(uint64_t address)
{
    uint32_t id = pa_index_find(&walk.graph.greenlet_index, walk.graph.greenlets.items, sizeof(struct pa_greenlet), address);
    ck_assert_msg(id != PA_NONE, "no greenlet at 0x%llx", (unsigned long long)address);
    return &walk.graph.greenlets.items[id];
}

static const char *functions_of(uint64_t address)
{
    static char text[1 << 12];
    uint32_t count;
    const struct pa_thread_frame *frames =
        pa_greenlet_frames(&walk.graph, (uint32_t)(greenlet_at(address) - walk.graph.greenlets.items), &count);
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        const struct pa_frame *frame = &walk.codes.frames.items[frames[i].frame];
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.*s%s", i ? " " : "", (int)frame->function.length,
                 pa_arena_text(&walk.objects.text, frame->function), frames[i].from_c && i + 1 < count ? " [C]" : "");
    }
    return text;
}

START_TEST(test_each_layout)
{
    begin_layout(layouts[_i].build, layouts[_i].current_frame, layouts[_i].tail);
    uint64_t module = python_frame(python, python_code(python, "<module>", "/g.py", 1, CO_FUNCTION), 2, 0, 0);
    uint64_t main = made_main(), one = pending(greenlet_type), two = pending(greenlet_type), three = pending(greenlet_type);
    uint64_t entry = 0x7ffe00000100;
    suspend(one, main, exposed("leaf", exposed("mid", exposed("outer", 0, entry), 0), entry));
    image_put_u64(image, thread_state + 8, two);
    start(two, main);
    set_impl(two, PARENT, one);
    suspend(main, main, exposed("wait", exposed("main", 0, entry), 0));
    python_set_frames(python, python->thread, module);
    set_impl(three, RUN, python->types[PA_KIND_STR]);
    set_impl(three, PARENT, main);
    walk_build(&walk, python);

    ck_assert_uint_eq(walk.layout.offset[PA_F_greenlet_impl_main], layouts[_i].tail);
    ck_assert_int_eq(walk.layout.source[PA_F_greenlet_impl_main], PA_SOURCE_CALIBRATED);
    ck_assert_uint_eq(walk.graph.greenlets.count, 4);
    ck_assert_int_eq(greenlet_at(main)->state, PA_GREENLET_SUSPENDED);
    ck_assert(greenlet_at(main)->is_main);
    ck_assert_int_eq(greenlet_at(one)->state, PA_GREENLET_SUSPENDED);
    ck_assert_uint_eq(greenlet_at(one)->parent, main);
    ck_assert_uint_eq(greenlet_at(one)->thread, 0);
    ck_assert_int_eq(greenlet_at(two)->state, PA_GREENLET_RUNNING);
    ck_assert_int_eq(greenlet_at(three)->state, PA_GREENLET_PENDING);
    ck_assert_uint_eq(greenlet_at(three)->run, python->types[PA_KIND_STR]);
    ck_assert_uint_eq(greenlet_at(three)->thread, PA_NONE);
    ck_assert_str_eq(functions_of(one), "leaf [C] mid outer");
    ck_assert_str_eq(functions_of(two), "<module>");
    ck_assert_str_eq(functions_of(three), "");
    /* The thread: its own frames, then those of the greenlets that it returns to. */
    ck_assert_str_eq(walk_thread_stack(&walk, 0), "main:12 wait:12 outer:12 mid:12 leaf:12 <module>:3");
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

/* A freed block keeps its type. greenlet clears pimpl before it frees one; a reused C++ object belongs to another. */
START_TEST(test_freed_blocks_are_no_greenlets)
{
    begin(_i);
    uint64_t main = made_main(), freed = pending(greenlet_type), stolen = pending(greenlet_type), alive = pending(greenlet_type);
    image_put_u64(image, freed + PIMPL, 0);
    image_put_u64(image, stolen + PIMPL, impl_of(alive));
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.greenlets.count, 2);
    greenlet_at(main);
    greenlet_at(alive);
    walk_close(&walk);
}
END_TEST

/* Without lists the type's address is searched for; those of subclasses are found by their tp_base. */
START_TEST(test_damaged_lists_mean_a_search)
{
    begin(_i);
    python->types[PA_KIND_TYPE] = python_type(python, "type", python->object_type, false, 1u << 31);
    uint64_t subclass = python_type(python, "Mine", greenlet_type, true, 0),
             nested = python_type(python, "Deep", subclass, true, 0);
    uint64_t main = made_main(), one = pending(greenlet_type), mine = pending(subclass), deep = pending(nested);
    image_put_u64(image, subclass + 8, python->types[PA_KIND_TYPE]);
    image_put_u64(image, nested + 8, python->types[PA_KIND_TYPE]);
    untracked(greenlet_type); /* in no list: freed, whatever it looks like */
    image_put_u64(image, python_gc_list(python, python->interpreter, 0), 8);
    image_put_u64(image, python_gc_list(python, python->interpreter, 0) + 8, 8);
    walk_build(&walk, python);
    ck_assert_str_eq(pa_greenlets_searched(&walk.graph), "a search of memory: the lists of the garbage collector are damaged");
    ck_assert_uint_eq(walk.graph.greenlets.count, 4);
    greenlet_at(main);
    greenlet_at(one);
    greenlet_at(mine);
    greenlet_at(deep);
    walk_close(&walk);
}
END_TEST

START_TEST(test_exited_threads)
{
    begin(_i);
    uint64_t main = made_main(), unasked = pending(greenlet_type), asked = pending(greenlet_type), dead = pending(greenlet_type);
    suspend(unasked, main, exposed("leaf", 0, 1));
    start(asked, main);
    set_impl(asked, STACK_START, 0);
    set_impl(asked, STACK_STOP, 0);
    start(dead, main);
    set_impl(dead, STACK_START, 0);
    set_impl(main, MAIN + 8, 0);
    walk_build(&walk, python);
    ck_assert_int_eq(greenlet_at(main)->state, PA_GREENLET_THREAD_EXITED);
    ck_assert_int_eq(greenlet_at(unasked)->state, PA_GREENLET_THREAD_EXITED);
    ck_assert(!greenlet_at(unasked)->is_noticed);
    ck_assert_str_eq(functions_of(unasked), "leaf");
    ck_assert_int_eq(greenlet_at(asked)->state, PA_GREENLET_THREAD_EXITED);
    ck_assert(greenlet_at(asked)->is_noticed);
    ck_assert_int_eq(greenlet_at(dead)->state, PA_GREENLET_DEAD);
    ck_assert_uint_eq(greenlet_at(unasked)->thread, PA_NONE);
    walk_close(&walk);
}
END_TEST

/* Without a main greenlet there is no layout: what is behind the C++ object's first part stays unknown, and that is said. */
START_TEST(test_no_main_greenlet)
{
    begin(_i);
    uint64_t one = pending(greenlet_type);
    suspend(one, one, exposed("leaf", 0, 1));
    set_impl(one, STACK_STOP, C_STACK);
    walk_build(&walk, python);
    ck_assert(walk_has_problem(&walk, "no main greenlet tells the layout"));
    ck_assert_uint_eq(greenlet_at(one)->parent, 0);
    ck_assert_str_eq(functions_of(one), "leaf");
    walk_close(&walk);
}
END_TEST

START_TEST(test_main_greenlets_that_disagree)
{
    begin(_i);
    made_main();
    tail += 8;
    made_main();
    walk_build(&walk, python);
    ck_assert(walk_has_problem(&walk, "another layout"));
    ck_assert_int_eq(walk.layout.source[PA_F_greenlet_impl_main], PA_SOURCE_NONE);
    walk_close(&walk);
}
END_TEST

/* Pointers that lead in circles or nowhere end the walk, with a problem where something is lost. */
START_TEST(test_damage)
{
    begin(_i);
    uint64_t main = made_main(), circle = pending(greenlet_type), nowhere = pending(greenlet_type),
             no_frame = pending(greenlet_type);
    uint64_t other = pending(greenlet_type), stranger = pending(greenlet_type), running = pending(greenlet_type);
    uint64_t inner = exposed("inner", 0, 1), outer = exposed("outer", inner, 1);
    suspend(circle, main, inner);
    python_link_frame(python, inner, outer);
    suspend(nowhere, main, exposed("leaf", 0x10, 1));
    suspend(no_frame, main, 0);
    set_impl(no_frame, TOP_FRAME, main);
    /* The frame of another frame object. */
    uint64_t frame = exposed("theirs", 0, 1);
    suspend(stranger, main, frame);
    image_put_u64(image, frame + 48, 0x1234);
    suspend(other, main, 0);
    set_impl(other, EXC_INFO, impl_of(other));
    image_put_u64(image, impl_of(other) + 8, other);
    /* Parents in a circle below a greenlet that runs. */
    image_put_u64(image, thread_state + 8, running);
    start(running, main);
    set_impl(running, PARENT, circle);
    set_impl(circle, PARENT, nowhere);
    set_impl(nowhere, PARENT, circle);
    walk_build(&walk, python);
    ck_assert(walk_has_problem(&walk, "its frames go round in a circle"));
    ck_assert(walk_has_problem(&walk, "the greenlet's outer frames are missing"));
    ck_assert(walk_has_problem(&walk, "its innermost frame is no frame object of a frame"));
    ck_assert_str_eq(functions_of(no_frame), "");
    ck_assert_str_eq(functions_of(stranger), "");
    walk_close(&walk);
}
END_TEST

/* Every byte of a greenlet, its C++ object and a frame, each changed: nothing crashes or hangs, and no frame of nobody appears. */
START_TEST(test_any_damaged_word)
{
    static const uint64_t values[] = {0, 1, 8, UINT64_MAX, 0x7f0000000010, 0x7fffffffffffffff};
    for (uint32_t word = 0; word < 26 + 5 + 11; word++) {
        for (size_t i = 0; i < COUNT(values); i++) {
            begin(_i);
            uint64_t main = made_main(), one = pending(greenlet_type), frame = exposed("leaf", exposed("outer", 0, 1), 0);
            suspend(one, main, frame);
            uint64_t at = word < 26 ? impl_of(one) + 8 * word : word < 31 ? one + 8 * (word - 26) : frame + 8 * (word - 31);
            image_put_u64(image, at, values[i]);
            walk_build(&walk, python);
            check_fast(walk.graph.greenlets.count <= 2);
            check_fast(walk.graph.greenlet_frames.count <= 2);
            walk_close(&walk);
        }
    }
}
END_TEST

/* A list whose length is damaged, in a greenlet of gevent's: it is read as far as there is memory. */
START_TEST(test_damaged_links_of_gevent)
{
    begin(_i);
    uint64_t type = python_type(python, "gevent._gevent_cgreenlet.Greenlet", greenlet_type, false, 0);
    uint64_t list_type = python_type(python, "list", python->object_type, false, 1u << 25), list, greenlet;
    image_put_u64(image, type + 32, 48); /* tp_basicsize: one word behind greenlet's own */
    made_main();
    list = python_object(python, list_type, python_offset(python, SLOT_list_size));
    image_put_u64(image, list + 16, PA_MAX_SEQUENCE);
    image_put_u64(image, list + 24, 0x10);
    greenlet = python_object(python, type, 64);
    image_put_u64(image, greenlet + PIMPL, impl_of(untracked(greenlet_type)));
    set_impl(greenlet, SELF, greenlet);
    image_put_u64(image, greenlet + 40, list);
    python_track(python, python_gc_list(python, python->interpreter, 0), greenlet);
    walk_build(&walk, python);
    ck_assert_ptr_nonnull(greenlet_at(greenlet));
    uint64_t before = image->reads;
    struct pa_gevent gevent;
    pa_gevent_read(&walk.graph, &gevent);
    ck_assert_uint_lt(image->reads - before, 1000);
    pa_gevent_free(&gevent);
    walk_close(&walk);
}
END_TEST

/* ---- who waits for a greenlet */

static const char *awaiters_of(uint64_t address)
{
    static char text[256];
    struct pa_gevent none = {0};
    struct pa_greenlet_awaiters awaiters = {0};
    pa_greenlet_awaiters(&walk.graph, &none, (uint32_t)(greenlet_at(address) - walk.graph.greenlets.items), &awaiters);
    text[0] = '\0';
    for (uint32_t i = 0; i < awaiters.count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %llx", pa_greenlet_how_name(awaiters.items[i].how),
                 (unsigned long long)walk.graph.greenlets.items[awaiters.items[i].greenlet].address);
    pa_array_free(walk.graph.work, &awaiters);
    return text;
}

static uint64_t dead(uint64_t main)
{
    uint64_t greenlet = pending(greenlet_type);
    start(greenlet, main);
    set_impl(greenlet, STACK_START, 0);
    return greenlet;
}

/* Parents that have ended are passed over, also where they lead in a circle; one that runs waits for nobody. */
START_TEST(test_awaiters)
{
    char expected[64];
    begin(_i);
    uint64_t main = made_main(), one = pending(greenlet_type), two = pending(greenlet_type), lost = pending(greenlet_type);
    uint64_t ended = dead(main), circle = dead(main), not_started = pending(greenlet_type);
    suspend(one, main, exposed("leaf", 0, 1));
    suspend(two, main, exposed("leaf", 0, 1));
    suspend(lost, main, exposed("leaf", 0, 1));
    set_impl(two, PARENT, ended);
    set_impl(ended, PARENT, one);
    set_impl(lost, PARENT, circle);
    set_impl(circle, PARENT, circle);
    set_impl(not_started, PARENT, one);
    walk_build(&walk, python);
    snprintf(expected, sizeof(expected), "parent %llx", (unsigned long long)one);
    ck_assert_str_eq(awaiters_of(two), expected);
    ck_assert_str_eq(awaiters_of(one), "");
    ck_assert_str_eq(awaiters_of(lost), "");
    ck_assert_str_eq(awaiters_of(ended), "");
    ck_assert_str_eq(awaiters_of(not_started), "");
    walk_close(&walk);
}
END_TEST

/* ---- bridges and portals */

/* Let the only variable of a frame be an object. Its code is no other frame's. */
static void set_variable(uint64_t iframe, uint64_t object)
{
    uint64_t code = image_u64(image, iframe) & ~3ull;
    image_put_u32(image, code + python_offset(python, SLOT_code_firstlineno) + 4, 1); /* co_nlocalsplus */
    image_put_u64(image, iframe + python_offset(python, SLOT_frame_localsplus), object);
}

static void drives(uint64_t greenlet, uint64_t main, uint64_t coroutine)
{
    uint64_t frame = exposed("drives", exposed("begins", 0, 0), 0);
    suspend(greenlet, main, frame);
    set_variable(frame, coroutine);
}

static uint64_t portal(uint64_t greenlet)
{
    uint64_t code = python_code(python, "portal", "/app/main.py", 10, CO_FUNCTION | CO_GENERATOR);
    uint64_t generator = python_gen(python, PA_KIND_GENERATOR, code, SUSPENDED, 5, 0);
    set_variable(python_iframe(python, generator), greenlet);
    return generator;
}

static uint64_t waits_on(uint64_t future)
{
    return python_coroutine(python, "waits", python_wrapper(python, PA_KIND_FUTURE_ITER, future));
}

static uint64_t task_of(uint64_t coroutine, uint64_t future)
{
    uint64_t task = python_task(python, python_thread_tasks(python, python->thread), python_str(python, "task"), coroutine);
    python_set_waiter(python, task, future);
    return task;
}

START_TEST(test_bridge)
{
    begin(_i);
    uint64_t main = made_main(), greenlet = pending(greenlet_type), future = python_future(python), awaited = waits_on(future);
    uint64_t spawns = python_coroutine(python, "spawns", awaited);
    set_variable(python_iframe(python, spawns), greenlet);
    drives(greenlet, main, awaited);
    uint64_t task = task_of(spawns, future);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_stack(&walk, task), "spawns:15 begins:12 drives:12 waits:15");
    walk_close(&walk);
}
END_TEST

START_TEST(test_portal)
{
    begin(_i);
    uint64_t main = made_main(), greenlet = pending(greenlet_type), future = python_future(python);
    drives(greenlet, main, waits_on(future));
    uint64_t task = task_of(python_coroutine(python, "task", portal(greenlet)), future);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_stack(&walk, task), "task:15 portal:15 begins:12 drives:12 waits:15");
    walk_close(&walk);
}
END_TEST

/* What a greenlet drives leads to another future, or in a circle, or the task is suspended on none: nothing is certain. */
START_TEST(test_no_portal)
{
    for (uint32_t variant = 0; variant < 4; variant++) {
        begin(_i);
        uint64_t main = made_main(), greenlet = pending(greenlet_type), future = python_future(python);
        uint64_t other = python_future(python), coroutine = waits_on(variant == 0 ? other : future);
        if (variant == 1)
            coroutine = portal(greenlet);
        if (variant == 2)
            coroutine = python_coroutine(python, "again", 0);
        drives(greenlet, main, coroutine);
        uint64_t task = task_of(python_coroutine(python, "task", portal(greenlet)), variant == 3 ? 0 : future);
        if (variant == 2)
            image_put_u64(image, python_awaited_slot(python, coroutine), coroutine);
        walk_build(&walk, python);
        ck_assert_str_eq(walk_stack(&walk, task), "task:15 portal:15");
        walk_close(&walk);
    }
}
END_TEST

/* ---- instrumentation */

#define PROFILE      0x40u
#define EVENT_RETURN 2u
#define EVENT_RAISE  11u

START_TEST(test_verdicts)
{
    bool is_3_15 = _i == PYTHON_3_15;
    begin(_i);
    uint64_t monitors = python->interpreter + (is_3_15 ? 226240 - 2728 : 225864 - 2624), active = is_3_15 ? 16 : 11;
    uint64_t codes[6], data[6];
    for (size_t i = 0; i < COUNT(codes); i++) {
        codes[i] = python_code(python, "f", "/g.py", 1, CO_FUNCTION);
        data[i] = python_alloc(python, 64);
        image_put_u64(image, codes[i] + 208 - 40, 0x100); /* _co_instrumentation_version */
        image_put_u64(image, codes[i] + 208 - 32, data[i]);
    }
    image_put_u64(image, python->interpreter, 0x2a1); /* with bits of the eval breaker */
    image_put_u8(image, monitors + EVENT_RETURN, PROFILE);
    image_put_u64(image, codes[0] + 208 - 40, 0x2ff);                  /* 0: fresh */
    image_put_u8(image, data[2] + active + EVENT_RETURN, PROFILE);     /* 2: has what is wanted */
    image_put_u8(image, data[3] + active + EVENT_RETURN, PROFILE | 8); /* 3: and of a tool that is off */
    image_put_u8(image, data[4] + 1, 4);                               /* 4: misses what it alone is wanted for too */
    image_put_u64(image, codes[5] + 208 - 32, 0);                      /* 5: never instrumented, and exceptions are wanted */
    image_put_u8(image, monitors + EVENT_RAISE, 0);
    walk_build(&walk, python);
    struct pa_instrumentation instrumentation;
    pa_instrumentation_read(&walk.graph, &instrumentation);
    ck_assert(instrumentation.known && instrumentation.knows_tools);
    struct pa_code_verdict found[6];
    for (size_t i = 0; i < COUNT(codes); i++)
        found[i] = pa_code_verdict(&walk.graph, &instrumentation, codes[i]);
    ck_assert_uint_eq(found[0].flags, 0);
    ck_assert_uint_eq(found[1].flags, PA_CODE_STALE | PA_CODE_MISSES);
    ck_assert_uint_eq(found[1].misses, PROFILE);
    ck_assert_uint_eq(found[2].flags, PA_CODE_STALE);
    ck_assert_uint_eq(found[3].flags, PA_CODE_STALE | PA_CODE_EXTRA);
    ck_assert_uint_eq(found[3].extra, 8);
    ck_assert_uint_eq(found[4].misses, PROFILE | 4);
    ck_assert_uint_eq(found[5].flags, PA_CODE_STALE | PA_CODE_MISSES);
    /* Exceptions are the interpreter's affair in 3.14. */
    instrumentation.monitors[EVENT_RAISE] = 1;
    struct pa_code_verdict last = pa_code_verdict(&walk.graph, &instrumentation, codes[5]);
    ck_assert_uint_eq(last.flags, PA_CODE_STALE | PA_CODE_MISSES | (is_3_15 ? PA_CODE_CRASHES : 0));
    ck_assert_uint_eq(last.misses, PROFILE | (is_3_15 ? 1 : 0));
    walk_close(&walk);
}
END_TEST

Suite *greenlet_suite(void)
{
    Suite *suite = suite_create("greenlet");
    TCase *reading = add_case(suite, "reading"), *damage = add_case(suite, "damage"), *bridges = add_case(suite, "bridges"),
          *monitoring = add_case(suite, "instrumentation");
    tcase_add_loop_test(reading, test_each_layout, 0, COUNT(layouts));
    tcase_add_loop_test(reading, test_freed_blocks_are_no_greenlets, 0, 2);
    tcase_add_loop_test(reading, test_damaged_lists_mean_a_search, 0, 2);
    tcase_add_loop_test(reading, test_exited_threads, 0, 2);
    tcase_add_loop_test(damage, test_no_main_greenlet, 0, 2);
    tcase_add_loop_test(damage, test_main_greenlets_that_disagree, 0, 2);
    tcase_add_loop_test(damage, test_damage, 0, 2);
    tcase_add_loop_test(damage, test_any_damaged_word, 0, 2);
    tcase_add_loop_test(damage, test_damaged_links_of_gevent, 0, 2);
    tcase_add_loop_test(reading, test_awaiters, 0, 2);
    tcase_add_loop_test(bridges, test_bridge, 0, 2);
    tcase_add_loop_test(bridges, test_portal, 0, 2);
    tcase_add_loop_test(bridges, test_no_portal, 0, 2);
    tcase_add_loop_test(monitoring, test_verdicts, 0, 2);
    return suite;
}
