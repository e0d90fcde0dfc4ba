/* Tasks that are in no list of asyncio's C code: of its Python code, duck-typed, ended, and of damaged lists; and their derived awaiters. */
#include "details.h"
#include "limits.h"
#include "walk.h"

static struct walk walk;
static struct python *python;
static uint64_t module, task_class, future_class, weak_set, weak_data;

#define OFFSET(name) python_offset(python, SLOT_##name)

static void put(uint64_t address, uint64_t value)
{
    image_put_u64(python->image, address, value);
}

static uint64_t tuple(const uint64_t *items, uint64_t count)
{
    uint64_t object = python_object(python, python->types[PA_KIND_TUPLE], OFFSET(tuple_item) + 8 * count);
    put(object + OFFSET(tuple_ob_size), count);
    for (uint64_t i = 0; i < count; i++)
        put(object + OFFSET(tuple_item) + 8 * i, items[i]);
    return object;
}

static uint64_t list_of(const uint64_t *items, uint64_t count)
{
    uint64_t object = python_object(python, python->types[PA_KIND_LIST], OFFSET(list_item) + 16),
             array = python_alloc(python, 8 * count + 8);
    put(object + OFFSET(list_ob_size), count);
    put(object + OFFSET(list_item), array);
    for (uint64_t i = 0; i < count; i++)
        put(array + 8 * i, items[i]);
    return object;
}

/* A class whose instances have their __dict__ behind the header. */
static uint64_t new_class(const char *name, uint64_t base)
{
    uint64_t class = python_type(python, name, base ? base : python->object_type, true, 0), extra = python->free_threaded ? 16 : 0;
    uint64_t mro[] = {class, base ? base : python->object_type};
    put(class + 288 + extra, OFFSET(object_size)); /* tp_dictoffset */
    put(class + 344 + extra, tuple(mro, 2));       /* tp_mro */
    return class;
}

static uint64_t instance(uint64_t class)
{
    uint64_t object = python_object(python, class, OFFSET(object_size) + 16);
    put(object + OFFSET(object_size), python_dict(python, 1));
    return object;
}

static void set(uint64_t object, const char *name, uint64_t value)
{
    python_dict_set(python, image_u64(python->image, object + OFFSET(object_size)), name, value);
}

static uint64_t weak_reference(uint64_t object)
{
    uint64_t type = python_type(python, "weakref", python->object_type, true, 0);
    uint64_t reference = python_object(python, type, OFFSET(object_size) + 16);
    put(reference + OFFSET(object_size), object);
    return reference;
}

/* asyncio.tasks with the classes and an empty set of tasks. */
static void begin(int build)
{
    python = python_new((enum python_build)build);
    static const enum pa_kind kinds[] = {PA_KIND_TUPLE, PA_KIND_LIST, PA_KIND_METHOD, PA_KIND_FUNCTION, PA_KIND_CELL};
    static const char *const names[] = {"tuple", "list", "method", "function", "cell"};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (python->types[kinds[i]] == 0)
            python->types[kinds[i]] = python_type(python, names[i], python->object_type, false, 0);
    }
    task_class = new_class("Task", 0);
    future_class = new_class("Future", 0);
    weak_set = instance(new_class("WeakSet", 0));
    module = python_module_dict(python, python_module(python, "asyncio.tasks"));
    python_dict_set(python, module, "_PyTask", task_class);
    python_dict_set(python, module, "_scheduled_tasks", weak_set);
    python_dict_set(python, python_module_dict(python, python_module(python, "asyncio.futures")), "_PyFuture", future_class);
}

static void register_tasks(const uint64_t *tasks, uint32_t count)
{
    uint64_t references[8];
    for (uint32_t i = 0; i < count; i++)
        references[i] = weak_reference(tasks[i]);
    weak_data = python_set(python, references, count);
    set(weak_set, "data", weak_data);
}

static uint64_t new_future(void)
{
    uint64_t future = instance(future_class);
    set(future, "_callbacks", list_of(NULL, 0));
    return future;
}

static uint64_t new_task(uint64_t class, const char *name, uint64_t future)
{
    uint64_t task = instance(class);
    set(task, "_coro", python_coroutine(python, name, python_wrapper(python, PA_KIND_FUTURE_ITER, future)));
    set(task, "_name", python_str(python, name));
    set(task, "_fut_waiter", future);
    return task;
}

static bool is_derived(uint64_t address, uint64_t awaiter)
{
    return pa_edge_is_derived(&walk.graph, walk_node(&walk, address), walk_node(&walk, awaiter));
}

START_TEST(test_tasks_of_python_code)
{
    begin(_i);
    uint64_t c_future = python_future(python), future = new_future();
    uint64_t one = new_task(task_class, "one", c_future), two = new_task(new_class("Job", task_class), "two", one);
    uint64_t duck = new_task(new_class("Duck", 0), "duck", future), listed = python_sleeper(python, "listed");
    python_set_waiter(python, listed, duck);
    const uint64_t tasks[] = {one, two, duck};
    register_tasks(tasks, 3);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    ck_assert_uint_eq(walk.graph.live_count, 4);
    ck_assert_str_eq(walk_stack(&walk, one), "one:15");
    ck_assert_str_eq(walk_awaiters(&walk, one), "two");
    ck_assert_str_eq(walk_awaiters(&walk, duck), "listed");
    ck_assert_str_eq(walk_awaiters(&walk, c_future), "one");
    ck_assert_str_eq(walk_awaiters(&walk, future), "duck");
    ck_assert(is_derived(one, two) && is_derived(duck, listed) && is_derived(c_future, one) && is_derived(future, duck));
    ck_assert_int_eq(walk_item(&walk, two)->wait, PA_WAIT_TASK);
    ck_assert_int_eq(walk_item(&walk, listed)->wait, PA_WAIT_TASK);
    ck_assert_str_eq(pa_task_found(&walk.graph, walk_node(&walk, duck)), "set");
    ck_assert_str_eq(pa_task_found(&walk.graph, walk_node(&walk, listed)), "list");
    walk_close(&walk);
}
END_TEST

START_TEST(test_states_of_python_code)
{
    begin(_i);
    static const char *const states[] = {"PENDING", "CANCELLED", "FINISHED", "FINISHED", "nonsense"};
    static const enum pa_state expected[] = {PA_PENDING, PA_CANCELLED, PA_DONE, PA_FAILED_STATE, PA_PENDING};
    uint64_t tasks[5];
    for (size_t i = 0; i < COUNT(tasks); i++) {
        tasks[i] = new_task(task_class, "task", python_future(python));
        set(tasks[i], "_state", python_str(python, states[i]));
        if (i == 3)
            set(tasks[i], "_exception", python->dummy);
    }
    register_tasks(tasks, COUNT(tasks));
    walk_build(&walk, python);
    for (size_t i = 0; i < COUNT(tasks); i++)
        ck_assert_int_eq(walk_item(&walk, tasks[i])->state, expected[i]);
    ck_assert_uint_eq(walk.graph.live_count, 2);
    walk_close(&walk);
}
END_TEST

START_TEST(test_damaged_sets_of_tasks)
{
    begin(PYTHON_3_14 + _i % 2);
    uint64_t task = new_task(task_class, "task", python_future(python)),
             none = python_object(python, python->types[PA_KIND_NONE_TYPE], 16);
    uint64_t tasks[] = {task, _i / 2 == 0 ? none : _i / 2 == 1 ? 0x10 : task};
    register_tasks(tasks, 2);
    if (_i / 2 == 2)
        put(weak_data + OFFSET(set_table), 0x10);
    if (_i / 2 == 3)
        put(weak_set + OFFSET(object_size), 0x10);
    if (_i / 2 == 4)
        put(weak_data + OFFSET(set_used), UINT64_MAX);
    python_sleeper(python, "listed");
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.problem_count, _i / 2 != 0);
    ck_assert_uint_eq(walk.graph.live_count, _i / 2 < 2 ? 2 : 1);
    walk_close(&walk);
}
END_TEST

static uint64_t function(const char *qualname, uint64_t closure)
{
    uint64_t object = python_object(python, python->types[PA_KIND_FUNCTION], OFFSET(object_size) + 144);
    put(object + OFFSET(object_size) + 32, python_code(python, qualname, "/lib/asyncio/x.py", 1, CO_FUNCTION));
    put(object + OFFSET(object_size) + 56, closure);
    return object;
}

static uint64_t callback(uint64_t called)
{
    const uint64_t pair[] = {called, 0};
    return tuple(pair, 2);
}

START_TEST(test_awaiters_from_callbacks)
{
    begin(_i);
    uint64_t parent = new_task(task_class, "parent", python_future(python)),
             caller = new_task(task_class, "caller", python_future(python));
    uint64_t helper = new_future(), waiter = new_task(task_class, "waiter", helper), child = instance(task_class);
    uint64_t group = instance(new_class("TaskGroup", 0)),
             method = python_object(python, python->types[PA_KIND_METHOD], OFFSET(object_size) + 32);
    set(group, "_parent_task", parent);
    put(method + OFFSET(object_size), function("TaskGroup._on_task_done", 0));
    put(method + OFFSET(object_size) + 8, group);
    const uint64_t cells[] = {python_wrapper(python, PA_KIND_CELL, helper), python_wrapper(python, PA_KIND_CELL, caller),
                              python_wrapper(python, PA_KIND_CELL, 0), python->dummy};
    /* A function of the user's own proves nothing. */
    const uint64_t callbacks[] = {callback(method), callback(function("_wait.<locals>._on_completion", tuple(cells, 4))),
                                  callback(function("mine", tuple(cells, 4)))};
    set(child, "_callbacks", list_of(callbacks, 3));
    set(child, "_loop", python->dummy);
    const uint64_t tasks[] = {parent, caller, waiter, child};
    register_tasks(tasks, 4);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk_item(&walk, child)->edge_count, 3);
    ck_assert(is_derived(child, parent) && is_derived(child, caller) && is_derived(child, waiter));
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_damaged_callbacks)
{
    begin(PYTHON_3_15);
    uint64_t child = instance(task_class), far[] = {0x10, 0x20}, pair[] = {0x10, 0};
    uint64_t list = list_of(far, 2), items = image_u64(python->image, list + OFFSET(list_item));
    const uint64_t cells[] = {0x10};
    switch (_i) {
    case 0:
        put(list + OFFSET(list_item), 0x10);
        break;
    case 1:
        put(list + OFFSET(list_ob_size), UINT64_MAX);
        break;
    case 2:
        put(items, tuple(pair, 2));
        break;
    case 3:
        put(items, tuple(pair, 1));
        break;
    case 4:
        put(items, callback(function("shield.<locals>._inner_done_callback", tuple(cells, 1))));
        break;
    default:
        put(items, callback(function("gather.<locals>._done_callback", 0x10)));
    }
    set(child, "_callbacks", list);
    set(child, "_loop", python->dummy);
    register_tasks(&child, 1);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk_item(&walk, child)->edge_count, 0);
    walk_close(&walk);
}
END_TEST

static uint64_t tracked(const char *name, uint32_t state)
{
    uint64_t task = python_task(python, 0, python_str(python, name),
                                python_coroutine(python, "f", python_wrapper(python, PA_KIND_FUTURE_ITER, python_future(python))));
    if (state)
        python_finish(python, task, state, 0);
    if (!python->free_threaded)
        python_track(python, python_gc_list(python, python->interpreter, 2), task);
    return task;
}

START_TEST(test_ended_tasks_are_found_and_pending_ones_in_no_list_are_not)
{
    python = python_new((enum python_build)(_i % 2));
    uint64_t ended = tracked("ended", 2), pending = tracked("pending", 0);
    walk_open(&walk, python);
    walk.graph.search = (enum pa_search)(_i / 2);
    ck_assert_int_eq(pa_graph_build(&walk.graph), PA_OK);
    ck_assert(walk.graph.searched);
    ck_assert_int_eq(walk_item(&walk, ended)->state, PA_DONE);
    ck_assert_str_eq(pa_task_found(&walk.graph, walk_node(&walk, ended)), "gc");
    ck_assert_int_eq(pa_graph_find(&walk.graph, pending) != PA_NONE, _i / 2 == PA_SEARCH_ALL);
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_tasks_of_a_damaged_list_are_found)
{
    python = python_new((enum python_build)(_i));
    uint64_t lost = tracked("lost", 0), also = tracked("also", 0), head = python_thread_tasks(python, python->thread);
    uint64_t unborn = python_task(python, 0, 0, 0);
    python_track(python, python_gc_list(python, python->interpreter, 0), unborn);
    python_append(python, head, lost);
    python_append(python, head, also);
    put(head, 0x10);
    put(head + 8, 0);
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "lost also");
    ck_assert_uint_eq(walk.graph.problem_count, 1);
    walk_close(&walk);
}
END_TEST

/* Neither the list of tasks nor those of the garbage collector lead to them: memory does. One that was freed is none. */
START_TEST(test_tasks_in_no_list_at_all_are_found_in_memory)
{
    python = python_new((enum python_build)(_i));
    uint64_t lost = tracked("lost", 0), freed = tracked("freed", 0), ended = tracked("ended", 2);
    uint64_t unborn = python_task(python, 0, 0, 0), head = python_thread_tasks(python, python->thread);
    python_set_loop(python, lost, python_new_loop(python));
    python_set_loop(python, freed, python_new_loop(python));
    put(lost, 1);
    put(head, 0x10);
    put(head + 8, 0);
    if (!python->free_threaded) {
        put(python_gc_list(python, python->interpreter, 2), 0x10);
        put(python_gc_list(python, python->interpreter, 2) + 8, 0x10);
    } else {
        put(freed + python_asyncio(python)->coro, 0);
    }
    walk_build(&walk, python);
    ck_assert_str_eq(walk_tasks(&walk), "lost");
    ck_assert_str_eq(pa_task_found(&walk.graph, walk_node(&walk, lost)), "scan");
    ck_assert_uint_eq(pa_graph_find(&walk.graph, freed), PA_NONE);
    ck_assert_uint_eq(pa_graph_find(&walk.graph, unborn), PA_NONE);
    ck_assert_uint_eq(pa_graph_find(&walk.graph, ended), PA_NONE);
    ck_assert_uint_ge(walk.graph.problem_count, 1);
    walk_close(&walk);
}
END_TEST

/* Unasked, nothing is said of objects that cannot be searched; then the number of ended tasks is not known. */
START_TEST(test_search_that_is_not_whole)
{
    python = python_new((enum python_build)(PYTHON_3_14 + _i % 2));
    bool asked = _i / 2 % 2, collecting = _i / 4;
    uint64_t ended = tracked("ended", 2), last = tracked("last", 1);
    if (collecting)
        python_set_collecting(python, python->interpreter, 1);
    else
        put(last - 16, 0x10);
    walk_open(&walk, python);
    walk.graph.search = asked ? PA_SEARCH_ENDED : PA_SEARCH_SMALL;
    ck_assert_int_eq(pa_graph_build(&walk.graph), PA_OK);
    ck_assert_int_eq(walk.graph.searched, asked);
    ck_assert_int_eq(pa_graph_find(&walk.graph, ended) != PA_NONE, asked);
    ck_assert_int_eq(walk.graph.problem_count, asked);
    walk_close(&walk);
}
END_TEST

START_TEST(test_without_the_gil_it_is_said_if_it_was_asked_for)
{
    python = python_new((enum python_build)(PYTHON_3_14T + _i % 2));
    walk_open(&walk, python);
    walk.graph.search = _i / 2 ? PA_SEARCH_ENDED : PA_SEARCH_SMALL;
    ck_assert_int_eq(pa_graph_build(&walk.graph), PA_OK);
    ck_assert_int_eq(walk_has_problem(&walk, "without the GIL"), _i / 2);
    walk_close(&walk);
}
END_TEST

START_TEST(test_small_process_is_searched_no_further_than_its_limit)
{
    python = python_new_sized(PYTHON_3_15, 64ull << 20);
    uint64_t list = python_gc_list(python, python->interpreter, 0), type = python->object_type;
    for (uint32_t i = 0; i < PA_SMALL_PROCESS; i++)
        python_track(python, list, python_object(python, type, 16));
    uint64_t ended = tracked("ended", 2);
    walk_open(&walk, python);
    walk.graph.search = _i ? PA_SEARCH_ENDED : PA_SEARCH_SMALL;
    ck_assert_int_eq(pa_graph_build(&walk.graph), PA_OK);
    ck_assert_int_eq(walk.graph.searched, _i);
    ck_assert_int_eq(pa_graph_find(&walk.graph, ended) != PA_NONE, _i);
    ck_assert_uint_eq(walk.graph.problem_count, 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_no_memory)
{
    begin(PYTHON_3_15);
    uint64_t tasks[] = {new_task(task_class, "one", python_future(python)), new_task(task_class, "two", python_future(python))};
    register_tasks(tasks, 2);
    tracked("ended", 2);
    for (uint64_t limit = 64;; limit += 64) {
        walk_open(&walk, python);
        walk.work.limit = walk.work.bytes + limit;
        enum pa_status status = pa_graph_build(&walk.graph);
        walk_leave(&walk);
        if (status == PA_OK)
            break;
        ck_assert_int_eq(status, PA_NO_MEMORY);
        ck_assert_uint_lt(limit, 1 << 20);
    }
    python_free(python);
}
END_TEST

Suite *unlisted_suite(void)
{
    Suite *suite = suite_create("unlisted");
    TCase *tests = add_case(suite, "sets of tasks");
    tcase_add_loop_test(tests, test_tasks_of_python_code, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_states_of_python_code, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_damaged_sets_of_tasks, 0, 10);
    tcase_add_loop_test(tests, test_awaiters_from_callbacks, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_damaged_callbacks, 0, 6);
    tcase_add_test(tests, test_no_memory);
    tests = add_case(suite, "all objects");
    tcase_add_loop_test(tests, test_ended_tasks_are_found_and_pending_ones_in_no_list_are_not, 0, 6);
    tcase_add_loop_test(tests, test_tasks_of_a_damaged_list_are_found, PYTHON_3_14, PYTHON_3_14T);
    tcase_add_loop_test(tests, test_tasks_in_no_list_at_all_are_found_in_memory, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_search_that_is_not_whole, 0, 8);
    tcase_add_loop_test(tests, test_without_the_gil_it_is_said_if_it_was_asked_for, 0, 4);
    tcase_add_loop_test(tests, test_small_process_is_searched_no_further_than_its_limit, 0, 2);
    return suite;
}
