/* What locks say of themselves: whether they are held, and by whom. See holder.h. */
#include "holder_parts.h"
#include "limits.h"
#include "variables.h"

/*
 * Words behind the object's head. Modules/_threadmodule.c: lockobject is a PyMutex, of which bit 0 is "locked"; rlockobject is a
 * _PyRecursiveMutex, of Include/internal/pycore_lock.h: mutex, thread, level.
 */
enum { LOCK_LOCKED = 1, RLOCK_THREAD = 8, RLOCK_LEVEL = 16 };

static bool is_none(struct pa_graph *graph, uint64_t object)
{
    return pa_kind_of(graph->objects, object) == PA_KIND_NONE_TYPE;
}

static enum pa_hold held_if(bool held)
{
    return held ? PA_HOLD_HELD : PA_HOLD_FREE;
}

static bool read_thread_lock(struct pa_graph *graph, struct pa_lock *lock)
{
    uint64_t fields = lock->object + PA_OFFSET(graph->layout, object_size), level;
    uint8_t bits;
    if (pa_is_of_type(graph->objects, lock->object, "_thread.lock") && pa_memory_u8(graph->memory, fields, &bits)) {
        lock->kind = LOCK_ONE;
        lock->state = held_if(bits & LOCK_LOCKED);
    } else if (pa_is_of_type(graph->objects, lock->object, "_thread.RLock") &&
               pa_memory_u64(graph->memory, fields + RLOCK_THREAD, &lock->owner) && pa_memory_u8(graph->memory, fields, &bits) &&
               pa_memory_u64(graph->memory, fields + RLOCK_LEVEL, &level)) {
        lock->kind = LOCK_THREAD;
        lock->state = held_if(bits & LOCK_LOCKED);
    }
    return lock->kind != LOCK_OTHER;
}

/* anyio/_backends/_asyncio.py: total_tokens is an int or math.inf. */
static enum pa_hold limiter_state(struct pa_graph *graph, uint64_t tokens, uint64_t borrowers)
{
    struct pa_set_iterator iterator;
    int64_t total;
    if (!pa_set_begin(graph->objects, borrowers, &iterator))
        return PA_HOLD_UNKNOWN;
    return pa_int_read(graph->objects, tokens, &total) ? held_if(iterator.left >= (uint64_t)total) : PA_HOLD_FREE;
}

/* Locks that are instances of classes of Python, by their attributes: a lock has few, so this is no search. */
static void read_python_lock(struct pa_graph *graph, struct pa_lock *lock)
{
    struct pa_objects *objects = graph->objects;
    uint64_t object = lock->object, value, tokens;
    int64_t number;
    if (pa_attribute(graph, object, "_owner_task", &value)) {
        lock->kind = LOCK_TASK;
        lock->state = held_if(!is_none(graph, value));
        lock->owner = is_none(graph, value) ? 0 : value;
    } else if (pa_attribute(graph, object, "_borrowers", &value) && pa_attribute(graph, object, "_total_tokens", &tokens)) {
        lock->kind = LOCK_BORROWED;
        lock->state = limiter_state(graph, tokens, value);
        lock->owner = value;
    } else if (pa_attribute(graph, object, "_locked", &value) && pa_kind_of(objects, value) == PA_KIND_BOOL &&
               pa_int_read(objects, value, &number)) {
        lock->kind = LOCK_ONE;
        lock->state = held_if(number != 0);
    } else if (pa_attribute(graph, object, "_value", &value) && pa_int_read(objects, value, &number)) {
        lock->kind = LOCK_MANY;
        lock->state = held_if(number <= 0);
    } else if (pa_attribute(graph, object, "_block", &tokens) && pa_attribute(graph, object, "_owner", &value)) {
        lock->kind = LOCK_THREAD; /* Lib/threading.py, _RLock */
        lock->state = held_if(pa_int_read(objects, value, &number));
        lock->owner = lock->state == PA_HOLD_HELD ? (uint64_t)number : 0;
    }
}

static struct pa_lock read_lock(struct pa_graph *graph, uint64_t object)
{
    struct pa_lock lock = {.object = object};
    uint64_t inner;
    /* A condition is its lock. It has the lock in an attribute; locks have none of that name. */
    if (!read_thread_lock(graph, &lock) && pa_attribute(graph, object, "_lock", &inner)) {
        lock.object = inner;
        read_thread_lock(graph, &lock);
    }
    if (lock.kind == LOCK_OTHER)
        read_python_lock(graph, &lock);
    return lock;
}

enum pa_hold pa_hold_state(struct pa_graph *graph, uint64_t object)
{
    return read_lock(graph, object).state;
}

/* The answer that is being made: all of them are counted, and as many are kept as anyone asks for. */
struct answer {
    struct pa_holders *holders;
    uint32_t stored, total;
};

static void answer_with(struct answer *answer, struct pa_holder holder)
{
    struct pa_holder *slot = answer->stored < PA_MAX_LOCK_HOLDERS
                                 ? pa_array_push(answer->holders->graph->work, &answer->holders->answered, PA_NONE)
                                 : NULL;
    if (slot)
        *slot = holder;
    answer->stored += slot != NULL;
    answer->total++;
}

static const struct pa_held_object *held_object(const struct pa_holders *holders, uint64_t object)
{
    uint32_t id = pa_index_find(&holders->index, holders->objects.items, sizeof(struct pa_held_object), object);
    return id == PA_NONE ? NULL : &holders->objects.items[id];
}

/* The threads that tasks run in. */
static uint32_t thread_of(const struct pa_graph *graph, const struct pa_holder *holder)
{
    if (holder->node == PA_NONE)
        return holder->thread;
    uint16_t thread = graph->nodes.items[holder->node].thread;
    return thread == PA_NO_THREAD ? PA_NONE : thread;
}

/* Those who are in the body of a with statement of the object, the first ones of many. */
static void answer_all(struct answer *answer, uint64_t object)
{
    const struct pa_held_object *held = held_object(answer->holders, object);
    uint32_t entry = held ? held->first : PA_NONE;
    for (; entry != PA_NONE && answer->stored < PA_MAX_LOCK_HOLDERS; entry = answer->holders->entries.items[entry].next)
        answer_with(answer, answer->holders->entries.items[entry]);
    answer->total = held ? held->count : 0;
}

/* The task that the object names: where it is in the body, else where it stands. */
static void answer_task(struct answer *answer, uint64_t object, uint64_t task)
{
    struct pa_graph *graph = answer->holders->graph;
    uint32_t node = pa_graph_find(graph, task);
    const struct pa_held_object *held = held_object(answer->holders, object);
    uint32_t left = PA_MAX_HOLDERS_SEARCHED;
    struct pa_holder owner = {.node = node, .thread = PA_NONE, .frame = PA_NONE, .next = PA_NONE, .how = PA_HOW_OWNER};
    for (uint32_t entry = held ? held->first : PA_NONE; node != PA_NONE && entry != PA_NONE && left-- > 0;
         entry = answer->holders->entries.items[entry].next) {
        if (answer->holders->entries.items[entry].node == node) {
            answer_with(answer, answer->holders->entries.items[entry]);
            return;
        }
    }
    if (node != PA_NONE)
        owner.frame = pa_stack_telling_frame(graph, graph->nodes.items[node].stack);
    answer_with(answer, owner);
}

/* The thread that the object names. Of those who are in the body the ones of that thread: tasks too, for an RLock that is held over an await. */
static void answer_thread(struct answer *answer, uint64_t object, uint64_t pthread_id)
{
    struct pa_graph *graph = answer->holders->graph;
    const struct pa_held_object *held = held_object(answer->holders, object);
    uint32_t thread = pa_thread_with_id(graph, pthread_id), left = PA_MAX_HOLDERS_SEARCHED;
    for (uint32_t entry = held ? held->first : PA_NONE; thread != PA_NONE && entry != PA_NONE && left-- > 0;
         entry = answer->holders->entries.items[entry].next) {
        uint32_t other = thread_of(graph, &answer->holders->entries.items[entry]);
        if (other != PA_NONE && graph->threads.items[other].pthread_id == pthread_id)
            answer_with(answer, answer->holders->entries.items[entry]);
    }
    if (answer->total > 0)
        return;
    uint32_t frame = thread == PA_NONE ? PA_NONE : pa_stack_telling_frame(graph, graph->threads.items[thread].stack);
    answer_with(answer, (struct pa_holder){PA_NONE, thread, frame, PA_NONE, PA_HOW_OWNER});
}

/* A borrower is a task; of a thread that runs for one, any object. */
static void answer_borrowers(struct answer *answer, uint64_t object, uint64_t set)
{
    struct pa_objects *objects = answer->holders->graph->objects;
    struct pa_set_iterator iterator;
    uint64_t borrower;
    uint64_t total = pa_set_begin(objects, set, &iterator) ? iterator.left : 0;
    /* In damaged memory many limiters may share one set, with a big empty table. */
    answer->holders->looked += iterator.slots;
    bool may_look = answer->holders->looked <= PA_MAX_LOOKED;
    while (may_look && answer->stored < PA_MAX_LOCK_HOLDERS && pa_set_next(objects, &iterator, &borrower))
        answer_task(answer, object, borrower);
    answer->total = total < PA_MAX_HOLDERS ? (uint32_t)total : PA_MAX_HOLDERS;
}

static void note_moving(struct pa_holders *holders, uint64_t object)
{
    if (!pa_addresses_add(holders->graph->work, &holders->moving, object, PA_MAX_HOLDERS))
        holders->cut = true;
}

/*
 * What a thread may just be taking, or giving back: then that nobody holds it says nothing. Its frame is in a method that does that, or at
 * the call of one.
 */
static void note_in_hand(struct pa_holders *holders, const struct pa_thread_frame *item, uint64_t awaited)
{
    struct pa_graph *graph = holders->graph;
    uint64_t iframe = pa_thread_frame_address(graph, item), self, entered;
    uint8_t flags = pa_holders_frame(holders, item->frame);
    if (flags & PA_FRAME_TAKES && pa_variable_get(graph->codes, iframe, "self", &self) && self != awaited)
        note_moving(holders, self);
    if (flags & PA_FRAME_WITH && (entered = pa_with_entered(&holders->withs, iframe)) != 0 && entered != awaited)
        note_moving(holders, entered);
}

static void note_all_in_hand(struct pa_holders *holders)
{
    struct pa_graph *graph = holders->graph;
    for (uint32_t id = 0; id < graph->threads.count && pa_work_step(graph->work); id++) {
        const struct pa_thread *thread = &graph->threads.items[id];
        /* A thread that is certainly still waiting for an object has it not. */
        uint64_t awaited = pa_thread_awaited_lock(graph, id, NULL);
        for (uint32_t i = 0; i < thread->frame_count && pa_work_step(graph->work); i++)
            note_in_hand(holders, &graph->thread_frames.items[thread->first_frame + i], i == 0 ? awaited : 0);
    }
}

/* A semaphore is handed to a waiter, who will be in its body only when it has run: it is ready, and still in acquire(). */
static void note_handed_over(struct pa_holders *holders)
{
    struct pa_graph *graph = holders->graph;
    struct pa_codes *codes = graph->codes;
    uint64_t self;
    for (uint32_t i = 0; i < graph->nodes.count && pa_work_step(graph->work); i++) {
        const struct pa_node *node = &graph->nodes.items[i];
        if (!(node->flags & PA_NODE_TASK) || node->activity != PA_READY || node->stack == 0)
            continue;
        const struct pa_frame *frame = &codes->frames.items[codes->stacks.items[node->stack].frame];
        if (!pa_text_is(&graph->objects->text, frame->function, "Semaphore.acquire"))
            continue;
        pa_task_objects(graph, i, &holders->links);
        if (holders->links.count > 0 && pa_kind_is_gen(pa_kind_of(graph->objects, holders->links.items[0])) &&
            pa_variable_get(codes, holders->links.items[0] + PA_OFFSET(graph->layout, gen_iframe), "self", &self))
            note_moving(holders, self);
    }
}

/* Whether an object that no stack holds may be with somebody all the same. All such objects are noted once: each of many locks is asked. */
static bool is_moving(struct pa_holders *holders, uint64_t object)
{
    if (!holders->moving_made) {
        holders->moving_made = true;
        note_all_in_hand(holders);
        note_handed_over(holders);
    }
    return holders->cut || pa_addresses_have(&holders->moving, object);
}

/* Answer about a lock: held->total, and those that are kept. @return how many. */
static uint32_t make_answer(struct pa_holders *holders, uint64_t object, struct pa_held *held)
{
    struct answer answer = {.holders = holders};
    struct pa_lock lock = read_lock(holders->graph, object);
    held->state = lock.state;
    if (lock.state == PA_HOLD_UNKNOWN || (lock.state == PA_HOLD_FREE && lock.kind != LOCK_BORROWED))
        return 0;
    switch (lock.kind) {
    case LOCK_TASK:
        answer_task(&answer, lock.object, lock.owner);
        break;
    case LOCK_THREAD:
        answer_thread(&answer, lock.object, lock.owner);
        break;
    case LOCK_BORROWED:
        answer_borrowers(&answer, lock.object, lock.owner);
        break;
    default:
        answer_all(&answer, lock.object);
    }
    held->none = answer.total == 0 && lock.state == PA_HOLD_HELD && !holders->cut && holders->graph->problem_count == 0 &&
                 !is_moving(holders, lock.object);
    /* It was given back by hand within a body: which of them has it is not known. */
    if (lock.kind == LOCK_ONE && answer.total > 1)
        return 0;
    held->total = answer.total;
    return answer.stored;
}

static const struct pa_answer *answer_about(struct pa_holders *holders, uint64_t object)
{
    struct pa_work *work = holders->graph->work;
    if (holders->answered_nodes != holders->graph->nodes.count) {
        holders->answered_nodes = holders->graph->nodes.count;
        holders->answers.count = holders->answered.count = 0;
        pa_index_free(work, &holders->answer_index);
    }
    uint32_t id = pa_index_find(&holders->answer_index, holders->answers.items, sizeof(struct pa_answer), object);
    if (id != PA_NONE)
        return &holders->answers.items[id];
    struct pa_answer *answer = pa_array_push(work, &holders->answers, PA_MAX_HOLDERS);
    if (!answer)
        return NULL;
    *answer = (struct pa_answer){.object = object, .first = holders->answered.count};
    answer->stored = make_answer(holders, object, &answer->held);
    if (!pa_index_add(work, &holders->answer_index, holders->answers.items, sizeof(*answer), holders->answers.count - 1))
        holders->answers.count--;
    return answer;
}

uint32_t pa_holders_of(struct pa_graph *graph, uint64_t object, struct pa_holder *items, uint32_t capacity, struct pa_held *held)
{
    struct pa_holders *holders = pa_holders_made(graph);
    const struct pa_answer *answer = holders ? answer_about(holders, object) : NULL;
    *held = answer ? answer->held : (struct pa_held){0};
    uint32_t count = answer && answer->stored < capacity ? answer->stored : answer ? capacity : 0;
    if (count > 0)
        memcpy(items, &holders->answered.items[answer->first], count * sizeof(*items));
    return count;
}
