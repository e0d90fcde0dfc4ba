/*
 * [deadlock]: tasks and threads that wait for each other, over what they await and over the locks that they hold.
 *
 * Of each of them is asked who could let it go on: the task that it awaits, the holders of the lock that it waits on; of a task also the
 * thread of its loop, without which it never goes on. Those of whom nobody is known, or of whom one is not stuck, are not stuck; that is
 * taken away until nothing changes. Who is left waits for ever, unless it is cancelled.
 */
#include "finder.h"

#include "holder.h"

#include <stdlib.h>

/* A task by its node, or a thread by its index. */
#define THREAD 0x80000000u

struct party {
    uint64_t key;          /* first: of the index; id, and never 0 */
    uint32_t id;           /* node, or thread | THREAD */
    uint32_t thread;       /* of a task: the party that is its loop's thread; PA_NONE */
    uint32_t first, count; /* whom it waits for, in edges */
    uint32_t waited_by;    /* the first edge to it, PA_NONE */
    uint64_t object;       /* the lock; 0: it awaits them */
    bool may_go_on;        /* of those it waits for one is not stuck, or not known */
    bool stuck;
    uint8_t seen; /* on the way that is being followed: 1, before: 2 */
};

/* Who waits for whom: parties. A task's edge to its loop's thread stands before those of the ones that it waits for. */
struct edge {
    uint32_t waiter, party; /* party: PA_NONE, nobody known */
    uint32_t next;          /* edge to the same party, or PA_NONE */
};

struct search {
    struct pa_finder *finder;
    struct pa_graph *graph;
    PA_ARRAY(struct party) parties;
    struct pa_index index;
    PA_ARRAY(struct edge) edges;
    PA_ARRAY(uint32_t) met;   /* ids, of the party that is being asked */
    PA_ARRAY(uint32_t) taken; /* parties that were taken away */
    bool cut;
};

static uint32_t party_of(struct search *search, uint32_t id)
{
    uint64_t key = (uint64_t)id + 1;
    uint32_t place = pa_index_find(&search->index, search->parties.items, sizeof(struct party), key);
    if (place != PA_NONE)
        return place;
    struct party *party = pa_array_push(search->graph->work, &search->parties, PA_MAX_PARTIES);
    search->cut = search->cut || !party;
    if (!party)
        return PA_NONE;
    *party = (struct party){.key = key, .id = id, .thread = PA_NONE, .waited_by = PA_NONE};
    place = search->parties.count - 1;
    pa_index_add(search->graph->work, &search->index, search->parties.items, sizeof(struct party), place);
    return place;
}

static void meet(struct search *search, uint32_t id)
{
    uint32_t *slot = pa_array_push(search->graph->work, &search->met, PA_MAX_PARTIES);
    search->cut = search->cut || !slot;
    if (slot)
        *slot = id;
}

/* ---- whom one waits for: nobody, if not all of them are known */

static void meet_holders(struct search *search, uint64_t object)
{
    struct pa_holder holders[PA_MAX_LOCK_HOLDERS];
    struct pa_held held;
    uint32_t count = pa_holders_of(search->graph, object, holders, PA_MAX_LOCK_HOLDERS, &held);
    if (held.state != PA_HOLD_HELD || count < held.total)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (holders[i].node == PA_NONE && holders[i].thread == PA_NONE) {
            search->met.count = 0;
            return;
        }
        meet(search, holders[i].node != PA_NONE ? holders[i].node : holders[i].thread | THREAD);
    }
}

/*
 * Of a semaphore more may have been taken than by those who are in a with statement; one that has a bound tells how many there are. anyio's
 * limiters know whom they have lent to.
 */
static bool knows_holders(struct search *search, uint64_t object)
{
    struct pa_graph *graph = search->graph;
    struct pa_held held;
    uint64_t value;
    int64_t bound;
    if (pa_attribute(graph, object, "_borrowers", &value))
        return true;
    if (!pa_attribute(graph, object, "_bound_value", &value) || !pa_int_read(graph->objects, value, &bound))
        return false;
    pa_holders_of(graph, object, NULL, 0, &held);
    return bound > 0 && held.total == (uint64_t)bound;
}

static void meet_children(struct search *search, const struct pa_waits_on *waits_on)
{
    struct pa_finder *finder = search->finder;
    if (!pa_finder_read_children(finder, waits_on))
        return;
    for (uint32_t i = 0; i < finder->children.count; i++)
        meet(search, finder->children.items[i]);
}

static void ask_task(struct search *search, uint32_t node, uint64_t *object)
{
    struct pa_finder *finder = search->finder;
    struct pa_waits_on waits_on;
    if (search->graph->nodes.items[node].wait == PA_WAIT_NONE)
        return;
    pa_finder_ask(finder, node, &waits_on);
    switch (waits_on.kind) {
    case PA_WAITS_TASK:
    case PA_WAITS_GATHER:
    case PA_WAITS_WAIT:
    case PA_WAITS_TASKGROUP:
        meet_children(search, &waits_on);
        break;
    case PA_WAITS_LOCK:
        *object = waits_on.object;
        meet_holders(search, waits_on.object);
        break;
    case PA_WAITS_SEMAPHORE:
        *object = waits_on.object;
        if (knows_holders(search, waits_on.object))
            meet_holders(search, waits_on.object);
        break;
    default:
        break;
    }
}

/* A thread in Condition.wait() waits for whoever calls notify(). */
static uint64_t lock_of_thread(struct pa_graph *graph, uint32_t thread)
{
    bool is_condition;
    uint64_t lock = pa_thread_awaited_lock(graph, thread, &is_condition);
    return is_condition ? 0 : lock;
}

static void add_edge(struct search *search, uint32_t waiter, uint32_t party)
{
    struct edge *edge = pa_array_push(search->graph->work, &search->edges, PA_NONE);
    if (!edge)
        return;
    *edge = (struct edge){waiter, party, PA_NONE};
    if (party == PA_NONE) {
        search->parties.items[waiter].may_go_on = true;
    } else {
        edge->next = search->parties.items[party].waited_by;
        search->parties.items[party].waited_by = search->edges.count - 1;
    }
}

/* Ask a party, and note it and whom it waits for. */
static void ask(struct search *search, uint32_t place)
{
    struct pa_graph *graph = search->graph;
    uint32_t id = search->parties.items[place].id, thread = PA_NONE;
    uint64_t object = 0;
    search->met.count = 0;
    if (id & THREAD) {
        object = lock_of_thread(graph, id & ~THREAD);
        if (object != 0)
            meet_holders(search, object);
    } else {
        const struct pa_node *node = &graph->nodes.items[id];
        uint32_t of_loop = node->loop == PA_NO_LOOP ? PA_NONE : graph->loops.items[node->loop].thread;
        if (of_loop != PA_NONE)
            thread = party_of(search, of_loop | THREAD);
        ask_task(search, id, &object);
    }
    if (thread != PA_NONE)
        add_edge(search, place, thread);
    uint32_t first = search->edges.count;
    for (uint32_t i = 0; i < search->met.count; i++)
        add_edge(search, place, search->met.items[i] == PA_NONE ? PA_NONE : party_of(search, search->met.items[i]));
    struct party *party = &search->parties.items[place];
    party->thread = thread;
    party->object = object;
    party->first = first;
    party->count = search->edges.count - first;
}

/* ---- who is stuck */

/* Take a party away if it may go on: its loop's thread does, if it has one, and one of those that it waits for does, or is not known. */
static void take_away(struct search *search, uint32_t place)
{
    struct party *party = &search->parties.items[place];
    bool in_stuck_thread = party->thread != PA_NONE && search->parties.items[party->thread].stuck;
    if (!party->stuck || in_stuck_thread || (party->count > 0 && !party->may_go_on))
        return;
    party->stuck = false;
    uint32_t *slot = pa_array_push(search->graph->work, &search->taken, PA_MAX_PARTIES);
    if (slot)
        *slot = place;
}

/* Ask those who wait for one that was taken away once more, each time that one is. */
static void take_all_away(struct search *search)
{
    struct party *parties = search->parties.items;
    for (uint32_t i = 0; i < search->parties.count; i++)
        parties[i].stuck = true;
    for (uint32_t i = 0; i < search->parties.count && pa_work_step(search->graph->work); i++)
        take_away(search, i);
    for (uint32_t i = 0; i < search->taken.count; i++) {
        uint32_t edge = parties[search->taken.items[i]].waited_by;
        for (; edge != PA_NONE && pa_work_step(search->graph->work); edge = search->edges.items[edge].next) {
            uint32_t waiter = search->edges.items[edge].waiter;
            if (edge - parties[waiter].first < parties[waiter].count)
                parties[waiter].may_go_on = true;
            take_away(search, waiter);
        }
    }
}

/* Whom a stuck party waits for, to tell: the thread of its loop, if only that is stuck. */
static uint32_t next_of(const struct search *search, const struct party *party)
{
    bool all = party->count > 0;
    for (uint32_t i = 0; i < party->count; i++) {
        uint32_t other = search->edges.items[party->first + i].party;
        all = all && other != PA_NONE && search->parties.items[other].stuck;
    }
    return all ? search->edges.items[party->first].party : party->thread;
}

/* A circle, from one of its parties on. */
static void tell(struct search *search, uint32_t start)
{
    struct pa_finder *finder = search->finder;
    uint32_t at = start;
    if (!pa_finding_begin(finder, PA_FINDING_DEADLOCK, 0, 0))
        return;
    do {
        const struct party *party = &search->parties.items[at];
        uint32_t next = next_of(search, party);
        uint64_t object = next == party->thread && party->thread != PA_NONE ? 0 : party->object;
        bool is_thread = party->id & THREAD;
        pa_finding_add_step(finder, (struct pa_finding_step){is_thread ? PA_NONE : party->id, party->id & ~THREAD, object});
        at = next;
    } while (at != start);
}

static void follow(struct search *search, uint32_t start)
{
    uint32_t at = start;
    while (search->parties.items[at].seen == 0) {
        search->parties.items[at].seen = 1;
        at = next_of(search, &search->parties.items[at]);
    }
    if (search->parties.items[at].seen == 1)
        tell(search, at);
    for (at = start; search->parties.items[at].seen == 1;) {
        search->parties.items[at].seen = 2;
        at = next_of(search, &search->parties.items[at]);
    }
}

/* Cycles of awaiters whose members are stuck need not be told once more. */
static void note_cycles(struct search *search)
{
    const struct pa_graph *graph = search->graph;
    for (uint32_t i = 0, first = 0; i < graph->cycle_ends.count && i < 64; i++) {
        uint32_t place = party_of(search, graph->cycle_members.items[first]);
        if (place < search->parties.count && search->parties.items[place].stuck)
            search->finder->findings->told_cycles |= 1ull << i;
        first = graph->cycle_ends.items[i];
    }
}

void pa_find_deadlocks(struct pa_finder *finder)
{
    struct pa_graph *graph = finder->graph;
    struct search search = {.finder = finder, .graph = graph};
    for (uint32_t i = 0; i < finder->waited.count && pa_work_step(graph->work); i++) {
        if (finder->waited.items[i].kind == PA_WAITS_LOCK || finder->waited.items[i].kind == PA_WAITS_SEMAPHORE)
            party_of(&search, finder->waited.items[i].node);
    }
    for (uint32_t i = 0; i < graph->cycle_members.count; i++)
        party_of(&search, graph->cycle_members.items[i]);
    for (uint32_t i = 0; i < graph->threads.count && pa_work_step(graph->work); i++) {
        if (lock_of_thread(graph, i) != 0)
            party_of(&search, i | THREAD);
    }
    /* More come while they are asked. */
    for (uint32_t i = 0; i < search.parties.count && !search.cut && pa_work_step(graph->work); i++)
        ask(&search, i);
    if (!search.cut && graph->work->fatal == PA_OK)
        take_all_away(&search);
    for (uint32_t i = 0; i < search.parties.count && !search.cut && pa_work_step(graph->work); i++) {
        if (search.parties.items[i].stuck && search.parties.items[i].seen == 0)
            follow(&search, i);
    }
    if (!search.cut && graph->work->fatal == PA_OK && search.parties.items)
        note_cycles(&search);
    pa_array_free(graph->work, &search.parties);
    pa_array_free(graph->work, &search.edges);
    pa_array_free(graph->work, &search.taken);
    pa_array_free(graph->work, &search.met);
    pa_index_free(graph->work, &search.index);
}
