/* Cycles of awaiters. */
#include "limits.h"
#include "walk.h"

static struct walk walk;
static struct python *python;

#define MAX_NODES 16u
static uint64_t tasks[MAX_NODES];

static void make_tasks(uint32_t count)
{
    static const char *const names[MAX_NODES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"};
    for (uint32_t i = 0; i < count; i++)
        tasks[i] = python_sleeper(python, names[i]);
}

/* "ab,bc": b awaits a, c awaits b. Several awaiters of one become a set. */
static void make_edges(const char *edges)
{
    for (uint32_t i = 0; i < MAX_NODES; i++) {
        uint64_t awaiters[MAX_NODES];
        uint32_t count = 0;
        for (const char *at = edges; *at; at += at[2] ? 3 : 2) {
            if ((uint32_t)(at[0] - 'a') == i)
                awaiters[count++] = tasks[at[1] - 'a'];
        }
        if (count == 1)
            python_set_awaiter(python, tasks[i], awaiters[0]);
        else if (count > 1)
            python_set_awaiters(python, tasks[i], python_set(python, awaiters, count));
    }
}

/* Every cycle as a string, each node waiting for the next: "abc". */
static void check_cycles(uint32_t count, const char *edges)
{
    ck_assert_uint_eq(walk.graph.cycle_ends.count, count);
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t end = walk.graph.cycle_ends.items[i];
        ck_assert_uint_gt(end, first);
        for (uint32_t k = first; k < end; k++) {
            uint32_t waits = walk.graph.cycle_members.items[k],
                     awaited = walk.graph.cycle_members.items[k + 1 < end ? k + 1 : first];
            bool found = false;
            for (uint32_t e = 0; e < walk.graph.nodes.items[awaited].edge_count; e++)
                found = found || walk.graph.edges.items[walk.graph.nodes.items[awaited].first_edge + e] == waits;
            ck_assert_msg(found, "cycle %u of %s: a member does not wait for the next", i, edges);
        }
        first = end;
    }
}

/* Which are flagged as members, as letters. */
static const char *members(void)
{
    static char text[MAX_NODES + 1];
    uint32_t count = 0;
    for (uint32_t i = 0; i < MAX_NODES; i++) {
        if (tasks[i] && walk.graph.nodes.items[walk_node(&walk, tasks[i])].flags & PA_NODE_IN_CYCLE)
            text[count++] = (char)('a' + i);
    }
    text[count] = '\0';
    return text;
}

static const struct {
    const char *edges, *members;
    uint32_t cycles;
} graphs[] = {
    {"", "", 0},
    {"ab,bc,cd", "", 0},
    {"ab,ac,bd,cd", "", 0}, /* diamond */
    {"aa", "a", 1},         /* awaits itself */
    {"ab,ba", "ab", 1},
    {"ab,bc,ca", "abc", 1},
    {"ab,ba,bc,cd", "ab", 1},      /* awaiters behind it */
    {"ab,bc,cb", "bc", 1},         /* what it awaits */
    {"ab,ba,cd,dc", "abcd", 2},    /* two knots */
    {"ab,ba,bc,cd,dc", "abcd", 2}, /* one behind the other */
    {"ab,bc,ca,bd,db", "abcd", 1}, /* one knot of two cycles */
    {"aa,ab,bc,cc", "ac", 2},
    {"ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm,mn,no,op,pa", "abcdefghijklmnop", 1},
    {"ab,ac,ad,bc,bd,cd,da", "abcd", 1},
};

START_TEST(test_cycles)
{
    python = python_new((enum python_build)(_i % PYTHON_BUILDS));
    memset(tasks, 0, sizeof(tasks));
    make_tasks(MAX_NODES);
    make_edges(graphs[_i].edges);
    walk_build(&walk, python);
    ck_assert_str_eq(members(), graphs[_i].members);
    check_cycles(graphs[_i].cycles, graphs[_i].edges);
    walk_close(&walk);
}
END_TEST

START_TEST(test_cycle_through_a_future)
{
    python = python_new(PYTHON_3_15);
    make_tasks(2);
    uint64_t future = python_future(python);
    python_set_awaiter(python, tasks[0], future);
    python_set_awaiter(python, future, tasks[1]);
    python_set_awaiter(python, tasks[1], tasks[0]);
    walk_build(&walk, python);
    check_cycles(1, "future");
    ck_assert_uint_eq(walk.graph.cycle_members.count, 3);
    walk_close(&walk);
}
END_TEST

START_TEST(test_ended_member_breaks_the_cycle)
{
    python = python_new(PYTHON_3_14);
    make_tasks(3);
    make_edges("ab,bc,ca");
    python_finish(python, tasks[1], 2, 0);
    walk_build(&walk, python);
    check_cycles(0, "ended");
    walk_close(&walk);
}
END_TEST

/* Nothing recurses: each test's process has a stack of 8 MB, a frame of recursion takes more than 80 bytes. */
START_TEST(test_hundred_thousand_levels)
{
    uint32_t count = 100000;
    python = python_new_sized(PYTHON_3_15, 64 << 20);
    uint64_t name = python_int(python, 1), coroutine = python_coroutine(python, "f", 0),
             list = python_thread_tasks(python, python->thread);
    uint64_t first = python_task(python, list, name, coroutine), last = first;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t task = python_task(python, list, name, coroutine);
        python_set_awaiter(python, last, task);
        last = task;
    }
    if (_i == 1)
        python_set_awaiter(python, last, first);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.cycle_ends.count, (unsigned)_i);
    ck_assert_uint_eq(walk.graph.cycle_members.count, _i == 1 ? count : 0);
    walk_close(&walk);
}
END_TEST

START_TEST(test_many_cycles_are_counted_and_few_are_named)
{
    python = python_new(PYTHON_3_15);
    for (uint32_t i = 0; i < PA_MAX_CYCLES + 36; i++) {
        uint64_t a = python_sleeper(python, "a"), b = python_sleeper(python, "b");
        python_set_awaiter(python, a, b);
        python_set_awaiter(python, b, a);
    }
    walk_build(&walk, python);
    check_cycles(PA_MAX_CYCLES, "pairs");
    ck_assert_uint_eq(walk.graph.more_cycles, 36);
    walk_close(&walk);
}
END_TEST

START_TEST(test_dense_knot_ends_in_time)
{
    uint32_t count = 1000;
    python = python_new_sized(PYTHON_3_14, 64 << 20);
    uint64_t *all = calloc(count, sizeof(*all));
    for (uint32_t i = 0; i < count; i++)
        all[i] = python_task(python, python_thread_tasks(python, python->thread), python_int(python, 1),
                             python_coroutine(python, "f", 0));
    uint64_t set = python_set(python, all, count); /* everyone awaits everyone: a million edges */
    for (uint32_t i = 0; i < count; i++)
        python_set_awaiters(python, all[i], set);
    free(all);
    walk_build(&walk, python);
    ck_assert_uint_eq(walk.graph.edges.count, count * count);
    check_cycles(1, "dense");
    ck_assert_uint_eq(walk.graph.cycle_members.count, 1); /* the shortest: itself */
    walk_close(&walk);
}
END_TEST

Suite *cycle_suite(void)
{
    Suite *suite = suite_create("cycle");
    TCase *tests = add_case(suite, "cycle");
    tcase_add_loop_test(tests, test_cycles, 0, COUNT(graphs));
    tcase_add_test(tests, test_cycle_through_a_future);
    tcase_add_test(tests, test_ended_member_breaks_the_cycle);
    tcase_add_loop_test(tests, test_hundred_thousand_levels, 0, 2);
    tcase_add_test(tests, test_many_cycles_are_counted_and_few_are_named);
    tcase_add_test(tests, test_dense_knot_ends_in_time);
    return suite;
}
