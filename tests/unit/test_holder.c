/* Who holds what: with statements by the exception table, exit callbacks, threads at calls; damaged tables, stacks and locks. */
#include "holder.h"

#include "fixture.h"
#include "limits.h"
#include "pool.h"
#include "with.h"

/* Opcodes of 3.14 and 3.15. */
static struct {
    uint8_t push_exc_info, with_except_start, get_awaitable, to_bool, call;
} op;

static void begin(int build)
{
    begin_sized(build, HEAP);
    if (python->minor == 14) {
        op.push_exc_info = 32, op.with_except_start = 43, op.get_awaitable = 71, op.call = 52;
    } else {
        op.push_exc_info = 30, op.with_except_start = 41, op.get_awaitable = 69, op.call = 50;
    }
    op.to_bool = 40;
}

static uint64_t make_semaphore(int64_t value)
{
    return make_instance("Semaphore", "_value", python_int(python, value));
}

/* An entry of an exception table: units start to end are handled at target; depth values stay on the stack. */
static uint32_t entry(uint8_t *table, uint8_t start, uint8_t end, uint8_t target, uint8_t depth)
{
    table[0] = (uint8_t)(0x80 | start);
    table[1] = (uint8_t)(end - start);
    table[2] = target;
    table[3] = (uint8_t)(depth << 1 | 1);
    return 4;
}

static void set_opcodes(uint64_t code, uint32_t unit, uint8_t third)
{
    uint8_t bytes[] = {op.push_exc_info, 0, op.with_except_start, 0, third, 0};
    image_put(python->image, python_bytecode(python, code) + 2 * (uint64_t)unit, bytes, sizeof(bytes));
}

/*
 * A function with an async with statement from unit 4 to 8, and in it a with statement from 5 to 7: their handlers are at 9 and 12, and the
 * inner handler is in the outer body. It has one variable.
 */
static uint64_t make_code(uint64_t *table_bytes)
{
    uint64_t code = python_code(python, "has", "/app/main.py", 10, CO_FUNCTION | CO_COROUTINE);
    uint8_t table[16];
    uint32_t length = entry(table, 4, 5, 9, 2);
    length += entry(table + length, 5, 7, 12, 4);
    length += entry(table + length, 7, 8, 9, 2);
    length += entry(table + length, 12, 14, 9, 2);
    uint64_t bytes = make_bytes(table, length);
    put(code + python_offset(python, SLOT_code_argcount) - 12, bytes); /* co_exceptiontable */
    set_variables(code, 1, (const char *const[]){"lock"});
    set_opcodes(code, 9, op.get_awaitable);
    set_opcodes(code, 12, op.to_bool);
    if (table_bytes)
        *table_bytes = bytes + python_offset(python, SLOT_bytes_data);
    return code;
}

/* A task whose coroutine is suspended at a unit, with two context managers on its stack. @return the task; its frame. */
static uint64_t make_task(uint64_t code, uint32_t unit, uint64_t outer, uint64_t inner, uint64_t *iframe)
{
    uint64_t type = python_type(python, "function", python->object_type, false, 0), exit = python_object(python, type, 64);
    uint64_t coroutine = python_gen(python, PA_KIND_COROUTINE, code, SUSPENDED, unit, 0);
    *iframe = python_iframe(python, coroutine);
    uint64_t stack = *iframe + python_offset(python, SLOT_frame_localsplus) + 8, values[] = {exit, outer, exit, inner};
    for (size_t i = 0; i < COUNT(values); i++)
        put(stack + 8 * i, values[i]);
    put(*iframe + python_offset(python, SLOT_frame_stackpointer), stack + sizeof(values));
    return python_task(python, python_thread_tasks(python, python->thread), python_str(python, "t"), coroutine);
}

/* How many hold an object; the first of them. */
static uint32_t ask(uint64_t object, struct pa_holder *first, struct pa_held *held)
{
    return pa_holders_of(&walk.graph, object, first, 1, held) == 1 ? held->total : 0;
}

START_TEST(test_with_statements_are_known_by_the_exception_table)
{
    static const struct {
        uint32_t unit;
        bool outer, inner;
    } cases[] = {{3, false, false}, {4, true, false}, {5, true, true}, {6, true, true}, {7, true, false}, {8, false, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pa_holder holder;
        struct pa_held held;
        uint64_t iframe;
        begin(_i);
        uint64_t outer = make_semaphore(0), inner = make_semaphore(0), free_one = make_semaphore(1);
        uint64_t task = make_task(make_code(NULL), cases[i].unit, outer, inner, &iframe);
        walk_build(&walk, python);
        ck_assert_uint_eq(ask(outer, &holder, &held), cases[i].outer);
        ck_assert_int_eq(held.none, !cases[i].outer);
        if (cases[i].outer) {
            ck_assert_uint_eq(holder.node, walk_node(&walk, task));
            ck_assert_int_eq(holder.how, PA_HOW_ASYNC_WITH);
            ck_assert_int_eq(walk.codes.frames.items[holder.frame].line, 10 + (int)cases[i].unit);
        }
        ck_assert_uint_eq(ask(inner, &holder, &held), cases[i].inner);
        if (cases[i].inner)
            ck_assert_int_eq(holder.how, PA_HOW_WITH);
        ck_assert_uint_eq(ask(free_one, &holder, &held), 0);
        ck_assert_int_eq(held.state, PA_HOLD_FREE);
        ck_assert_int_eq(held.none, 0);
        walk_close(&walk);
    }
}
END_TEST

START_TEST(test_what_lies_above_the_stack_pointer_is_not_held)
{
    struct pa_holder holder;
    struct pa_held held;
    uint64_t iframe;
    begin(_i);
    uint64_t outer = make_semaphore(0), inner = make_semaphore(0);
    make_task(make_code(NULL), 5, outer, inner, &iframe);
    put(iframe + python_offset(python, SLOT_frame_stackpointer), iframe + python_offset(python, SLOT_frame_localsplus) + 8 * 3);
    walk_build(&walk, python);
    ck_assert_uint_eq(ask(outer, &holder, &held), 1);
    ck_assert_uint_eq(ask(inner, &holder, &held), 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_whatever_a_byte_of_the_table_is_reading_ends)
{
    static const uint8_t values[] = {0, 1, 0x3f, 0x40, 0x7f, 0x80, 0x84, 0xbf, 0xff};
    struct pa_holder holder;
    struct pa_held held;
    uint64_t iframe, table;
    begin(PYTHON_3_14);
    uint64_t outer = make_semaphore(0), inner = make_semaphore(0);
    make_task(make_code(&table), 5, outer, inner, &iframe);
    uint8_t right[16];
    walk_build(&walk, python);
    ck_assert(pa_memory_read(&walk.memory, table, sizeof(right), right));
    for (uint32_t i = 0; i < sizeof(right); i++) {
        for (size_t k = 0; k < COUNT(values); k++) {
            image_put_u8(python->image, table + i, values[k]);
            walk_again(&walk);
            ck_assert_uint_le(ask(outer, &holder, &held), 1);
            ck_assert_uint_le(ask(inner, &holder, &held), 1);
            image_put_u8(python->image, table + i, right[i]);
        }
    }
    walk_again(&walk);
    ck_assert_uint_eq(ask(inner, &holder, &held), 1);
    walk_close(&walk);
}
END_TEST

START_TEST(test_tables_that_cannot_be_are_none)
{
    struct pa_holder holder;
    struct pa_held held;
    uint64_t iframe, table;
    begin(_i);
    uint64_t outer = make_semaphore(0), inner = make_semaphore(0), code = make_code(&table);
    uint64_t bytes = table - python_offset(python, SLOT_bytes_data), length = bytes + python_offset(python, SLOT_bytes_length);
    uint64_t field = code + python_offset(python, SLOT_code_argcount) - 12,
             locals = python_offset(python, SLOT_code_firstlineno) + 4;
    make_task(code, 5, outer, inner, &iframe);
    walk_build(&walk, python);
    const uint64_t lengths[] = {0, PA_MAX_EXCEPTIONTABLE + 1ull, UINT64_MAX};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        put(length, lengths[i]);
        walk_again(&walk);
        ck_assert_uint_eq(ask(outer, &holder, &held), 0);
    }
    put(length, 16);
    const uint64_t addresses[] = {0, 1, outer, UINT64_MAX - 7};
    for (size_t i = 0; i < COUNT(addresses); i++) {
        put(field, addresses[i]);
        walk_again(&walk);
        ck_assert_uint_eq(ask(outer, &holder, &held), 0);
    }
    put(field, bytes);
    const uint32_t counts[] = {PA_MAX_VARIABLES + 1, UINT32_MAX};
    for (size_t i = 0; i < COUNT(counts); i++) {
        image_put_u32(python->image, code + locals, counts[i]);
        walk_again(&walk);
        ck_assert_uint_eq(ask(outer, &holder, &held), 0);
    }
    walk_close(&walk);
}
END_TEST

START_TEST(test_handlers_that_lead_to_each_other_end)
{
    struct pa_holder holder;
    struct pa_held held;
    uint64_t iframe, table;
    uint8_t circle[16];
    begin(_i);
    uint64_t outer = make_semaphore(0), inner = make_semaphore(0), code = make_code(&table);
    uint32_t size = entry(circle, 4, 8, 9, 2);
    size += entry(circle + size, 9, 11, 12, 2);
    size += entry(circle + size, 12, 14, 9, 2);
    memset(circle + size, 0, sizeof(circle) - size);
    image_put(python->image, table, circle, sizeof(circle));
    make_task(code, 5, outer, inner, &iframe);
    walk_build(&walk, python);
    ck_assert_uint_eq(ask(outer, &holder, &held), 1);
    ck_assert_uint_eq(ask(inner, &holder, &held), 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_exit_stack_in_itself_ends)
{
    struct pa_holder holder;
    struct pa_held held;
    uint64_t iframe, size;
    begin(_i);
    size = python_offset(python, SLOT_object_size);
    uint64_t deque_type = python_type(python, "collections.deque", python->object_type, true, 0);
    uint64_t method_type = python_type(python, "method", python->object_type, false, 0);
    uint64_t deque = python_object(python, deque_type, 256), block = python_alloc(python, 8 * 66);
    uint64_t stack = make_instance("_BaseExitStack", "_exit_callbacks", deque), semaphore = make_semaphore(0);
    const uint64_t managers[] = {stack, semaphore};
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t method = python_object(python, method_type, size + 32);
        uint64_t pair[] = {method, method};
        put(method + size + 8, managers[i]); /* im_self */
        put(block + 8 * (1 + i), make_tuple(2, pair));
    }
    put(deque + size, 2);
    put(deque + size + 8, block);
    put(deque + size + 24, 0);
    make_task(make_code(NULL), 4, stack, semaphore, &iframe);
    walk_build(&walk, python);
    ck_assert_uint_eq(ask(semaphore, &holder, &held), 1);
    ck_assert_int_eq(holder.how, PA_HOW_EXIT_STACK);
    walk_close(&walk);
}
END_TEST

/* A task that holds a lock through an ExitStack, in a method of an object with a number and a list; and a thread at a call. */
static uint64_t make_all(uint64_t *pool)
{
    uint64_t iframe, size = python_offset(python, SLOT_object_size), name = python_str(python, "self"), code = make_code(NULL);
    uint64_t deque_type = python_type(python, "collections.deque", python->object_type, true, 0);
    uint64_t method_type = python_type(python, "method", python->object_type, false, 0);
    uint64_t deque = python_object(python, deque_type, 256), block = python_alloc(python, 8 * 66), semaphore = make_semaphore(0);
    uint64_t method = python_object(python, method_type, size + 32), pair[] = {method, method};
    put(method + size + 8, semaphore);
    put(block + 8, make_tuple(2, pair));
    put(deque + size, 1);
    put(deque + size + 8, block);
    *pool = make_instance("Pool", "_limit", python_int(python, 7));
    python_dict_set(python, image_u64(python->image, *pool + size), "_waiters", deque);
    put(code + python_offset(python, SLOT_code_localsplusnames), make_tuple(1, &name));
    make_task(code, 4, make_instance("_BaseExitStack", "_exit_callbacks", deque), 0, &iframe);
    put(iframe + python_offset(python, SLOT_frame_localsplus), *pool);
    python_set_frames(python, python->thread, python_frame(python, code, 3, 0, 0));
    return semaphore;
}

START_TEST(test_whatever_a_word_is_reading_ends)
{
    static const uint64_t words[] = {0, 1, 8, UINT64_MAX, INT64_MAX, 1ull << 40};
    struct pa_holder items[4];
    struct pa_held held;
    uint64_t pool, objects[PA_POOLS_SHOWN], n = 0;
    begin(_i);
    uint64_t from = python->next_object, semaphore = make_all(&pool), to = python->next_object;
    walk_build(&walk, python);
    ck_assert_uint_eq(pa_holders_of(&walk.graph, semaphore, items, 4, &held), 1);
    for (uint64_t address = from; address < to; address += 8) {
        uint64_t before = image_u64(python->image, address);
        for (size_t i = 0; i <= COUNT(words); i++) {
            if (n++ % (before == 0 ? 7 : 2) != 0)
                continue;
            put(address, i < COUNT(words) ? words[i] : address);
            walk_again(&walk);
            struct pa_pools pools;
            pa_pools_init(&pools, &walk.graph);
            check_fast(pa_holders_of(&walk.graph, semaphore, items, 4, &held) <= 4);
            for (uint32_t k = 0; k < walk.graph.nodes.count; k++)
                check_fast(pa_pools_of(&pools, k, objects) <= PA_POOLS_SHOWN);
            check_fast(pa_pool_members(&pools, pool)->count <= PA_POOL_MEMBERS);
            pa_thread_awaited_lock(&walk.graph, 0, NULL);
            pa_pools_deinit(&pools);
        }
        put(address, before);
    }
    walk_close(&walk);
}
END_TEST

START_TEST(test_pool_shows_numbers_and_lengths)
{
    uint64_t pool, objects[PA_POOLS_SHOWN];
    struct pa_pools pools;
    begin(_i);
    make_all(&pool);
    walk_build(&walk, python);
    pa_pools_init(&pools, &walk.graph);
    const struct pa_members *members = pa_pool_members(&pools, pool);
    ck_assert_uint_eq(members->count, 2);
    ck_assert_int_eq(members->items[0].kind, PA_MEMBER_INT);
    ck_assert_int_eq(members->items[0].number, 7);
    ck_assert_int_eq(members->items[1].kind, PA_MEMBER_LENGTH);
    ck_assert_int_eq(members->items[1].number, 1);
    ck_assert_uint_eq(pa_pools_of(&pools, 0, objects), 0); /* its class does not say which module it is of */
    pa_pools_deinit(&pools);
    walk_close(&walk);
}
END_TEST

START_TEST(test_thread_waits_for_a_lock_only_while_it_calls)
{
    begin(_i);
    uint64_t size = python_offset(python, SLOT_object_size), code = make_code(NULL);
    uint64_t descriptor_type = python_type(python, "method_descriptor", python->object_type, false, 0);
    uint64_t lock_type = python_type(python, "_thread.lock", python->object_type, true, 0);
    uint64_t method = python_object(python, descriptor_type, size + 32), lock = python_object(python, lock_type, size + 8);
    put(method + size + 8, python_str(python, "acquire"));
    image_put_u8(python->image, lock + size, 3);
    uint64_t frame = python_alloc(python, python_offset(python, SLOT_frame_size) + 128),
             locals = frame + python_offset(python, SLOT_frame_localsplus);
    put(frame + python_offset(python, SLOT_frame_executable), code);
    put(frame + python_offset(python, SLOT_frame_instr_ptr), python_bytecode(python, code) + 4);
    image_put_u8(python->image, python_bytecode(python, code) + 4, op.call);
    put(locals + 8, method);
    put(locals + 16, lock);
    put(frame + python_offset(python, SLOT_frame_stackpointer), locals + 24);
    python_set_frames(python, python->thread, frame);
    walk_build(&walk, python);
    walk_again(&walk);
    ck_assert_uint_eq(pa_thread_awaited_lock(&walk.graph, 0, NULL), lock);
    put(frame + python_offset(python, SLOT_frame_stackpointer), locals + 16); /* it has returned */
    walk_again(&walk);
    ck_assert_uint_eq(pa_thread_awaited_lock(&walk.graph, 0, NULL), 0);
    const uint64_t pointers[] = {0, 4, locals, frame, UINT64_MAX, locals + 8ull * PA_MAX_VALUE_STACK * 2};
    for (size_t i = 0; i < COUNT(pointers); i++) {
        put(frame + python_offset(python, SLOT_frame_stackpointer), pointers[i]);
        walk_again(&walk);
        ck_assert_uint_eq(pa_thread_awaited_lock(&walk.graph, 0, NULL), 0);
    }
    put(frame + python_offset(python, SLOT_frame_stackpointer), locals + 24);
    image_put_u8(python->image, lock + size, 1); /* held, and nobody waits */
    walk_again(&walk);
    ck_assert_uint_eq(pa_thread_awaited_lock(&walk.graph, 0, NULL), 0);
    image_put_u8(python->image, lock + size, 3);
    image_put_u8(python->image, python_bytecode(python, code) + 4, op.to_bool);
    walk_again(&walk);
    ck_assert_uint_eq(pa_thread_awaited_lock(&walk.graph, 0, NULL), 0);
    walk_close(&walk);
}
END_TEST

Suite *holder_suite(void)
{
    Suite *suite = suite_create("holder");
    TCase *tests = add_case(suite, "holder");
    tcase_add_loop_test(tests, test_with_statements_are_known_by_the_exception_table, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_what_lies_above_the_stack_pointer_is_not_held, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_whatever_a_byte_of_the_table_is_reading_ends);
    tcase_add_loop_test(tests, test_tables_that_cannot_be_are_none, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_handlers_that_lead_to_each_other_end, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_exit_stack_in_itself_ends, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_whatever_a_word_is_reading_ends, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_pool_shows_numbers_and_lengths, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_thread_waits_for_a_lock_only_while_it_calls, 0, PYTHON_BUILDS);
    return suite;
}
