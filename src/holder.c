/* Who holds what, of all tasks and threads. See holder.h; what an object itself says of its owner is in holder_owner.c. */
#include "holder.h"

#include "collection.h"
#include "holder_parts.h"
#include "limits.h"
#include "variables.h"

enum { ROLE_OBJECT, ROLE_GENERATOR, ROLE_EXIT_STACK, ROLE_CONDITION, ROLE_CLOSING };

const char *pa_how_name(enum pa_how how)
{
    static const char *const names[] = {"with", "async with", "ExitStack", "async for", "owner"};
    return names[how];
}

void pa_holders_free(struct pa_graph *graph)
{
    struct pa_holders *holders = graph->holders;
    struct pa_work *work = graph->work;
    if (!holders)
        return;
    pa_withs_deinit(&holders->withs);
    pa_array_free(work, &holders->objects);
    pa_index_free(work, &holders->index);
    pa_array_free(work, &holders->entries);
    pa_addresses_free(work, &holders->moving);
    pa_array_free(work, &holders->answers);
    pa_index_free(work, &holders->answer_index);
    pa_array_free(work, &holders->answered);
    pa_array_free(work, &holders->pending);
    pa_array_free(work, &holders->links);
    pa_bytes_free(work, &holders->roles);
    pa_bytes_free(work, &holders->frames);
    pa_work_resize(work, holders, sizeof(*holders), 0);
    graph->holders = NULL;
}

/* Lib/asyncio/locks.py, Lib/threading.py, anyio: all of them give back self._lock and take it again. */
static bool is_condition_wait(const struct pa_codes *codes, uint32_t frame)
{
    return pa_frame_is(codes, frame, "Condition.wait", "/asyncio/locks.py") ||
           pa_frame_is(codes, frame, "Condition.wait", "/threading.py") ||
           pa_frame_is(codes, frame, "Condition.wait", "/anyio/_core/_synchronization.py");
}

static bool is_taking(struct pa_graph *graph, const struct pa_frame *frame)
{
    const struct pa_arena *text = &graph->objects->text;
    return pa_text_ends(text, frame->function, ".acquire") || pa_text_ends(text, frame->function, "enter__") ||
           pa_text_ends(text, frame->function, ".release") || pa_text_ends(text, frame->function, "exit__");
}

uint8_t pa_holders_frame(struct pa_holders *holders, uint32_t frame)
{
    struct pa_graph *graph = holders->graph;
    struct pa_codes *codes = graph->codes;
    uint8_t *flags = pa_byte_of(graph->work, &holders->frames, frame, codes->frames.count);
    if (!flags)
        return 0;
    if (*flags == PA_BYTE_UNKNOWN)
        *flags = (uint8_t)(pa_withs_has(&holders->withs, frame) | (is_condition_wait(codes, frame) ? PA_FRAME_CONDITION_WAIT : 0) |
                           (is_taking(graph, &codes->frames.items[frame]) ? PA_FRAME_TAKES : 0));
    return *flags;
}

/* What the context managers of a type are to us, by the names of Lib/contextlib.py, asyncio, threading and anyio. */
static uint8_t role_of(struct pa_holders *holders, uint64_t object)
{
    struct pa_objects *objects = holders->graph->objects;
    uint32_t id = pa_type_of(objects, object);
    if (id == PA_NONE)
        return ROLE_OBJECT;
    uint8_t *role = pa_byte_of(holders->graph->work, &holders->roles, id, objects->types.count);
    if (!role)
        return ROLE_OBJECT;
    if (*role == PA_BYTE_UNKNOWN) {
        uint64_t type = objects->types.items[id].address;
        *role = pa_class_is_named(objects, type, "_GeneratorContextManagerBase")                              ? ROLE_GENERATOR
                : pa_class_is_named(objects, type, "_BaseExitStack")                                          ? ROLE_EXIT_STACK
                : pa_class_is_named(objects, type, "Condition")                                               ? ROLE_CONDITION
                : pa_class_is_named(objects, type, "aclosing") || pa_class_is_named(objects, type, "closing") ? ROLE_CLOSING
                                                                                                              : ROLE_OBJECT;
    }
    return *role;
}

/* Keep an entry, unless it only says once more what the object's last one says: a lock may be entered twice by the same. */
static void add(struct pa_holders *holders, uint64_t object, struct pa_holder entry)
{
    struct pa_work *work = holders->graph->work;
    uint32_t id = pa_index_find(&holders->index, holders->objects.items, sizeof(struct pa_held_object), object);
    if (id != PA_NONE) {
        const struct pa_holder *last = &holders->entries.items[holders->objects.items[id].last];
        if (last->node == entry.node && last->thread == entry.thread)
            return;
    }
    struct pa_holder *slot = pa_array_push(work, &holders->entries, PA_MAX_HOLDERS);
    if (!slot) {
        holders->cut = true;
        return;
    }
    *slot = entry;
    uint32_t place = holders->entries.count - 1;
    if (id != PA_NONE) {
        struct pa_held_object *met = &holders->objects.items[id];
        holders->entries.items[met->last].next = place;
        met->last = place;
        met->count++;
        return;
    }
    struct pa_held_object *made = pa_array_push(work, &holders->objects, PA_MAX_HOLDERS);
    if (!made)
        return;
    *made = (struct pa_held_object){.object = object, .first = place, .last = place, .count = 1};
    if (!pa_index_add(work, &holders->index, holders->objects.items, sizeof(*made), holders->objects.count - 1))
        holders->objects.count--;
}

/* Look at a context manager later: what it leads to is not followed by recursion. */
static void push(struct pa_holders *holders, uint64_t manager, enum pa_how how)
{
    struct pa_pending *slot = pa_array_push(holders->graph->work, &holders->pending, PA_MAX_HELD_FROM_ONE);
    if (slot)
        *slot = (struct pa_pending){manager, (uint8_t)how};
    else
        holders->cut = true;
}

/* The with statements that a frame is in the body of. @p how: by what the frame itself is held; with statements of its own if it is NULL. */
static void push_withs(struct pa_holders *holders, uint64_t iframe, bool suspended, const enum pa_how *how)
{
    struct pa_with found[PA_MAX_WITHS];
    uint32_t count = pa_withs_of(&holders->withs, iframe, suspended, found);
    for (uint32_t i = 0; i < count; i++)
        push(holders, found[i].manager, how ? *how : found[i].is_async ? PA_HOW_ASYNC_WITH : PA_HOW_WITH);
}

/* What a generator that waits at its yield holds. One that runs or awaits is on the stack itself. */
static void follow_generator(struct pa_holders *holders, uint64_t generator, enum pa_how how)
{
    struct pa_graph *graph = holders->graph;
    struct pa_gen gen;
    enum pa_kind kind = pa_kind_of(graph->objects, generator);
    if (!pa_kind_is_gen(kind) || !pa_gen_read(graph->codes, generator, &gen))
        return;
    if (gen.state == PA_GEN_SUSPENDED || (gen.state == PA_GEN_YIELD_FROM && kind == PA_KIND_GENERATOR))
        push_withs(holders, gen.iframe, true, &how);
}

/* Lib/contextlib.py: the generator behind @contextmanager, or what closing() and aclosing() will close. */
static void follow_attribute(struct pa_holders *holders, uint64_t manager, const char *name, enum pa_how how)
{
    uint64_t generator;
    if (pa_attribute(holders->graph, manager, name, &generator))
        follow_generator(holders, generator, how);
}

/* Lib/contextlib.py, _BaseExitStack: a deque of (is_sync, callback); that of a context manager is its exit method, bound to it. */
static void follow_exit_stack(struct pa_holders *holders, uint64_t manager)
{
    struct pa_objects *objects = holders->graph->objects;
    struct pa_collection iterator;
    uint64_t deque, tuple, items, count, callback, object;
    if (!pa_instance_attribute(objects, manager, "_exit_callbacks", &deque) || !pa_collection_begin(objects, deque, &iterator))
        return;
    if (iterator.left > PA_MAX_EXIT_CALLBACKS)
        holders->cut = true;
    /* Once there is no room, no other stack is read to its end: each may have all of them in it. */
    for (uint32_t i = 0; i < PA_MAX_EXIT_CALLBACKS && holders->pending.count < PA_MAX_HELD_FROM_ONE &&
                         pa_work_step(objects->memory->work) && pa_collection_next(&iterator, &tuple);
         i++) {
        if (!pa_sequence(objects, tuple, &items, &count) || count != 2 || !pa_memory_u64(objects->memory, items + 8, &callback))
            continue;
        enum pa_kind kind = pa_kind_of(objects, callback);
        uint32_t self = kind == PA_KIND_METHOD ? PA_F_method_self : PA_F_builtin_self;
        if ((kind == PA_KIND_METHOD || kind == PA_KIND_BUILTIN_FUNCTION) && pa_object_word(objects, callback, self, &object))
            push(holders, object, PA_HOW_EXIT_STACK);
    }
}

static bool is_released(const struct pa_holders *holders, uint64_t object)
{
    for (uint32_t i = 0; i < holders->released_count; i++) {
        if (holders->released[i] == object)
            return true;
    }
    return false;
}

/* The context managers that were pushed, and what they lead to, are held by @p holder. */
static void hold_pending(struct pa_holders *holders, struct pa_holder holder)
{
    struct pa_graph *graph = holders->graph;
    uint64_t lock;
    for (uint32_t i = 0; i < holders->pending.count && pa_work_step(graph->work); i++) {
        struct pa_pending item = holders->pending.items[i];
        uint8_t role = role_of(holders, item.manager);
        holder.how = item.how;
        if (role == ROLE_GENERATOR)
            follow_attribute(holders, item.manager, "gen", item.how);
        else if (role == ROLE_CLOSING)
            follow_attribute(holders, item.manager, "thing", item.how);
        else if (role == ROLE_EXIT_STACK)
            follow_exit_stack(holders, item.manager);
        if (!is_released(holders, item.manager))
            add(holders, item.manager, holder);
        if (role == ROLE_CONDITION && pa_attribute(graph, item.manager, "_lock", &lock) && !is_released(holders, lock))
            add(holders, lock, holder);
    }
    holders->pending.count = 0;
}

/* Condition.wait() has given back the lock, or is about to take it again: whoever is in it does not count as holder. */
static void release(struct pa_holders *holders, uint64_t iframe)
{
    uint64_t self, lock;
    if (!pa_variable_get(holders->graph->codes, iframe, "self", &self))
        return;
    if (holders->released_count + 2 > PA_MAX_RELEASED) {
        holders->cut = true;
        return;
    }
    holders->released[holders->released_count++] = self;
    if (pa_attribute(holders->graph, self, "_lock", &lock))
        holders->released[holders->released_count++] = lock;
}

/* A frame of a stack whose frames come from the innermost on: wait() stands inside of the body that it waits in. */
static void hold_frame(struct pa_holders *holders, uint64_t iframe, uint32_t frame, bool suspended, struct pa_holder holder)
{
    uint8_t flags = iframe == 0 ? 0 : pa_holders_frame(holders, frame);
    uint64_t generators[PA_MAX_WITHS];
    if (flags & PA_FRAME_CONDITION_WAIT)
        release(holders, iframe);
    holder.frame = frame;
    if (flags & PA_FRAME_WITH)
        push_withs(holders, iframe, suspended, NULL);
    hold_pending(holders, holder);
    uint32_t count = flags & PA_FRAME_ASYNC_FOR && suspended ? pa_withs_iterated(&holders->withs, iframe, generators) : 0;
    for (uint32_t i = 0; i < count; i++)
        follow_generator(holders, generators[i], PA_HOW_ASYNC_FOR);
    hold_pending(holders, holder);
}

/* The chain of a suspended task, which was followed last: links are outermost first, and of a greenlet all its frames. */
static void hold_chain(struct pa_holders *holders, uint32_t node)
{
    struct pa_graph *graph = holders->graph;
    struct pa_holder holder = {.node = node, .thread = PA_NONE, .next = PA_NONE};
    uint32_t inner = 0, greenlet = 0; /* frames of this greenlet that were seen */
    holders->released_count = 0;
    for (uint32_t i = graph->chain.links.count; i > 0 && pa_work_step(graph->work); i--) {
        struct pa_link link = graph->chain.links.items[i - 1];
        uint64_t iframe = 0;
        inner = link.greenlet != 0 && link.greenlet == greenlet ? inner + 1 : 0;
        greenlet = link.greenlet;
        if (greenlet != 0) {
            const struct pa_greenlet *item = &graph->greenlets.items[greenlet - 1];
            holders->seen_greenlets[greenlet - 1] = 1;
            if (inner < item->frame_count)
                iframe = pa_thread_frame_address(graph, &graph->greenlet_frames.items[item->first_frame + inner]);
        } else if (pa_kind_is_gen(pa_kind_of(graph->objects, link.object))) {
            iframe = link.object + PA_OFFSET(graph->layout, gen_iframe);
        }
        hold_frame(holders, iframe, link.frame, greenlet == 0, holder);
    }
}

/* By stack: whether any of its frames' functions has a statement by which something is held. Of a stack that is made on another the other is older. */
static uint8_t *mark_stacks(struct pa_holders *holders, uint32_t *count)
{
    struct pa_codes *codes = holders->graph->codes;
    *count = codes->stacks.count;
    uint8_t *marks = pa_work_resize(holders->graph->work, NULL, 0, *count);
    for (uint32_t i = 0; marks && i < *count; i++) {
        const struct pa_stack *stack = &codes->stacks.items[i];
        uint8_t outer = stack->outer < i ? marks[stack->outer] : 0;
        marks[i] =
            outer || (stack->frame != PA_NONE && pa_holders_frame(holders, stack->frame) & (PA_FRAME_WITH | PA_FRAME_ASYNC_FOR));
    }
    return marks;
}

static void hold_tasks(struct pa_holders *holders)
{
    struct pa_graph *graph = holders->graph;
    uint32_t count;
    uint8_t *marks = mark_stacks(holders, &count);
    for (uint32_t i = 0; marks && i < graph->nodes.count && graph->work->fatal == PA_OK; i++) {
        const struct pa_node *node = &graph->nodes.items[i];
        if (!(node->flags & PA_NODE_TASK) || node->state != PA_PENDING || node->stack >= count || !marks[node->stack] ||
            node->activity == PA_RUNNING || node->activity == PA_EXECUTING || !pa_work_step(graph->work))
            continue;
        pa_task_objects(graph, i, &holders->links);
        if (holders->links.count > 0 && holders->links.count == graph->chain.links.count)
            hold_chain(holders, i);
    }
    pa_work_resize(graph->work, marks, marks ? count : 0, 0);
}

/* The task that executes at a frame of a thread, or PA_NONE. */
static uint32_t task_at(const struct pa_graph *graph, uint32_t thread, uint32_t frame)
{
    uint32_t low = 0, high = graph->executing.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (graph->executing.items[middle].last < frame)
            low = middle + 1;
        else
            high = middle;
    }
    const struct pa_executing *executing = low < graph->executing.count ? &graph->executing.items[low] : NULL;
    return executing && executing->thread == thread && frame >= executing->first ? (uint32_t)executing->node : PA_NONE;
}

static void hold_thread(struct pa_holders *holders, uint32_t id)
{
    struct pa_graph *graph = holders->graph;
    const struct pa_thread *thread = &graph->threads.items[id];
    holders->released_count = 0;
    for (uint32_t i = 0; i < thread->frame_count && pa_work_step(graph->work); i++) {
        struct pa_thread_frame frame = graph->thread_frames.items[thread->first_frame + i];
        uint32_t node = task_at(graph, id, thread->first_frame + i);
        struct pa_holder holder = {.node = node, .thread = node == PA_NONE ? id : PA_NONE, .next = PA_NONE};
        if (frame.greenlet != PA_NONE)
            holders->seen_greenlets[frame.greenlet] = 1;
        hold_frame(holders, pa_thread_frame_address(graph, &frame), frame.frame, false, holder);
    }
}

/* Greenlets that are part of no task's stack and of no thread's. */
static void hold_greenlets(struct pa_holders *holders)
{
    struct pa_graph *graph = holders->graph;
    for (uint32_t i = 0; i < graph->greenlets.count; i++) {
        const struct pa_greenlet *greenlet = &graph->greenlets.items[i];
        struct pa_holder holder = {.node = PA_NONE, .thread = greenlet->thread, .next = PA_NONE};
        holders->released_count = 0;
        if (greenlet->state != PA_GREENLET_SUSPENDED || holders->seen_greenlets[i])
            continue;
        for (uint32_t k = 0; k < greenlet->frame_count && pa_work_step(graph->work); k++) {
            const struct pa_thread_frame *frame = &graph->greenlet_frames.items[greenlet->first_frame + k];
            hold_frame(holders, pa_thread_frame_address(graph, frame), frame->frame, false, holder);
        }
    }
}

struct pa_holders *pa_holders_made(struct pa_graph *graph)
{
    struct pa_work *work = graph->work;
    if (graph->holders)
        return graph->holders;
    struct pa_holders *holders = pa_work_resize(work, NULL, 0, sizeof(*holders));
    if (!holders)
        return NULL;
    *holders = (struct pa_holders){.graph = graph};
    pa_withs_init(&holders->withs, graph->codes);
    graph->holders = holders;
    holders->seen_greenlets = pa_work_resize(work, NULL, 0, graph->greenlets.count + 1);
    if (holders->seen_greenlets) {
        memset(holders->seen_greenlets, 0, graph->greenlets.count + 1);
        hold_tasks(holders);
        for (uint32_t i = 0; i < graph->threads.count; i++)
            hold_thread(holders, i);
        hold_greenlets(holders);
    }
    pa_work_resize(work, holders->seen_greenlets, holders->seen_greenlets ? graph->greenlets.count + 1 : 0, 0);
    holders->seen_greenlets = NULL;
    return holders;
}
