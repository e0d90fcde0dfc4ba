/* Details of tasks that are shown. See details.h. */
#include "details.h"

#include "future.h"
#include "limits.h"

#include <stdio.h>

/* Modules/_asynciomodule.c, struct TaskObj: the third single bit behind task_awaited_by_is_set */
#define TASK_BIT_MUST_CANCEL 4u

/* Whether it is a task of asyncio's C code, or one with attributes. */
static bool is_c_task(const struct pa_graph *graph, uint32_t node)
{
    return (graph->nodes.items[node].flags & (PA_NODE_TASK | PA_NODE_PYTHON)) == PA_NODE_TASK;
}

static bool is_python_task(const struct pa_graph *graph, uint32_t node)
{
    return (graph->nodes.items[node].flags & (PA_NODE_TASK | PA_NODE_PYTHON)) == (PA_NODE_TASK | PA_NODE_PYTHON);
}

bool pa_task_name(struct pa_graph *graph, uint32_t node, char *text, uint32_t *length)
{
    uint64_t name;
    int64_t number;
    uint64_t address = graph->nodes.items[node].address;
    if (is_python_task(graph, node) && pa_str_read(graph->objects, pa_future_attribute(graph, address, "_name"), text, length))
        return true;
    if (is_c_task(graph, node) && pa_memory_u64(graph->memory, address + PA_OFFSET(graph->layout, task_name), &name)) {
        if (pa_int_read(graph->objects, name, &number)) {
            *length = (uint32_t)snprintf(text, PA_STRING_BYTES, "Task-%lld", (long long)number);
            return true;
        }
        if (pa_str_read(graph->objects, name, text, length))
            return true;
    }
    text[0] = '?';
    *length = 1;
    return false;
}

struct pa_text pa_node_type(struct pa_graph *graph, uint32_t node)
{
    return pa_type_name_of(graph->objects, graph->nodes.items[node].address);
}

const char *pa_task_found(const struct pa_graph *graph, uint32_t node)
{
    unsigned flags = graph->nodes.items[node].flags;
    return flags & PA_NODE_LISTED       ? "list"
           : flags & PA_NODE_REGISTERED ? "set"
           : flags & PA_NODE_TRACKED    ? "gc"
           : flags & PA_NODE_SCANNED    ? "scan"
                                        : "reference";
}

uint64_t pa_task_fut_waiter(struct pa_graph *graph, uint32_t node)
{
    uint64_t future;
    struct pa_future fields;
    uint64_t address = graph->nodes.items[node].address;
    if (is_c_task(graph, node))
        return pa_memory_u64(graph->memory, address + PA_OFFSET(graph->layout, task_fut_waiter), &future) ? future : 0;
    if (!is_python_task(graph, node) || !pa_future_read(graph, address, true, &fields))
        return 0;
    if (!fields.fut_waiter_known && graph->nodes.items[node].wait != PA_WAIT_NONE) {
        pa_chain_follow(graph->codes, fields.coroutine, 0, &graph->chain);
        return graph->chain.end == PA_END_FUTURE ? graph->chain.end_object : 0;
    }
    return fields.fut_waiter;
}

static void read_cancelling(struct pa_graph *graph, uint64_t address, uint32_t *requests, bool *must_cancel)
{
    int64_t count, flag;
    uint64_t value = pa_future_attribute(graph, address, "_must_cancel");
    *requests = pa_int_read(graph->objects, pa_future_attribute(graph, address, "_num_cancels_requested"), &count) && count > 0 &&
                        count <= INT32_MAX
                    ? (uint32_t)count
                    : 0;
    *must_cancel = pa_kind_of(graph->objects, value) == PA_KIND_BOOL && pa_int_read(graph->objects, value, &flag) && flag != 0;
}

void pa_task_cancelling(struct pa_graph *graph, uint32_t node, uint32_t *requests, bool *must_cancel)
{
    uint64_t address = graph->nodes.items[node].address;
    uint8_t bits;
    if (is_python_task(graph, node)) {
        read_cancelling(graph, address, requests, must_cancel);
        return;
    }
    *must_cancel = is_c_task(graph, node) && pa_memory_u8(graph->memory, address + PA_OFFSET(graph->layout, task_bits), &bits) &&
                   bits & TASK_BIT_MUST_CANCEL;
    if (!is_c_task(graph, node) ||
        !pa_memory_u32(graph->memory, address + PA_OFFSET(graph->layout, task_cancel_requests), requests) || *requests > INT32_MAX)
        *requests = 0;
}

/* The coroutine of a task, 0 if it cannot be read. */
static uint64_t task_coroutine(struct pa_graph *graph, uint32_t node)
{
    uint64_t coroutine;
    struct pa_future fields;
    uint64_t address = graph->nodes.items[node].address;
    if (is_c_task(graph, node))
        return pa_memory_u64(graph->memory, address + PA_OFFSET(graph->layout, task_coro), &coroutine) ? coroutine : 0;
    return is_python_task(graph, node) && pa_future_read(graph, address, true, &fields) ? fields.coroutine : 0;
}

static void push_object(struct pa_graph *graph, struct pa_links *links, uint64_t object)
{
    uint64_t *slot = pa_array_push(graph->work, links, PA_NONE);
    if (slot)
        *slot = object;
}

void pa_task_objects(struct pa_graph *graph, uint32_t node, struct pa_links *links)
{
    const struct pa_executing *executing = pa_graph_executing(graph, node);
    links->count = 0;
    for (uint32_t i = executing ? executing->first : 0; executing && i <= executing->last; i++)
        push_object(graph, links, graph->thread_frames.items[i].is_gen ? graph->thread_frames.items[i].object : 0);
    uint64_t coroutine = graph->nodes.items[node].state == PA_PENDING ? task_coroutine(graph, node) : 0;
    if (coroutine == 0 || (executing && executing->outer == 0))
        return;
    uint64_t waiter = pa_task_fut_waiter(graph, node);
    pa_chain_follow(graph->codes, coroutine, waiter, &graph->chain);
    if (graph->chain.end == PA_END_EXECUTING && pa_chain_is_derived(&graph->chain) && !executing)
        pa_chain_cut(&graph->chain);
    pa_bridge(graph, &graph->chain, waiter);
    uint32_t count = graph->chain.links.count;
    for (uint32_t i = executing && executing->outer < count ? executing->outer : count; i > 0; i--)
        push_object(graph, links, graph->chain.links.items[i - 1].object);
}

bool pa_task_greenlets(struct pa_graph *graph, uint32_t node, struct pa_links *links)
{
    bool any = false;
    if (graph->greenlets.count == 0)
        return false;
    pa_task_objects(graph, node, links);
    const struct pa_executing *executing = pa_graph_executing(graph, node);
    uint32_t count = graph->chain.links.count;
    for (uint32_t i = 0; i < links->count; i++) {
        uint32_t greenlet = PA_NONE;
        /* The frames of a task that executes are its thread's; those of a suspended one are in the chain that was followed last. */
        if (executing)
            greenlet =
                executing->first + i <= executing->last ? graph->thread_frames.items[executing->first + i].greenlet : PA_NONE;
        else if (i < count)
            greenlet = graph->chain.links.items[count - 1 - i].greenlet - 1;
        links->items[i] = greenlet == PA_NONE ? 0 : graph->greenlets.items[greenlet].address;
        any = any || links->items[i] != 0;
    }
    return any;
}

uint32_t pa_stack_derived_from(const struct pa_graph *graph, uint32_t stack, uint32_t *place)
{
    const struct pa_stack *stacks = graph->codes->stacks.items;
    uint32_t found = PA_NONE, innermost = stacks[stack].depth;
    *place = 0;
    for (; stack != 0; stack = stacks[stack].outer) {
        if (graph->codes->frames.items[stacks[stack].frame].kind == PA_FRAME_AWAITABLE && stacks[stack].depth < innermost) {
            found = stacks[stack].frame;
            *place = innermost - stacks[stack].depth;
        }
    }
    return found;
}

/* The frame of a greenlet that stands at a place of the chain that was followed last, counted from the innermost one. */
static uint64_t greenlet_iframe(const struct pa_graph *graph, uint32_t place)
{
    const struct pa_link *links = graph->chain.links.items;
    uint32_t at = graph->chain.links.count - 1 - place, greenlet = links[at].greenlet, inner = 0;
    /* All of a greenlet's frames stand together, and in the same order. */
    while (at + inner + 1 < graph->chain.links.count && links[at + inner + 1].greenlet == greenlet)
        inner++;
    if (greenlet == 0 || inner >= graph->greenlets.items[greenlet - 1].frame_count)
        return 0;
    const struct pa_thread_frame *frame = &graph->greenlet_frames.items[graph->greenlets.items[greenlet - 1].first_frame + inner];
    return pa_thread_frame_address(graph, frame);
}

void pa_task_iframes(struct pa_graph *graph, uint32_t node, struct pa_links *links)
{
    const struct pa_executing *executing = pa_graph_executing(graph, node);
    pa_task_objects(graph, node, links);
    for (uint32_t i = 0; i < links->count && pa_work_step(graph->work); i++) {
        if (links->items[i] == 0)
            links->items[i] = executing                      ? graph->thread_frames.items[executing->first + i].object
                              : i < graph->chain.links.count ? greenlet_iframe(graph, i)
                                                             : 0;
        else if (pa_kind_is_gen(pa_kind_of(graph->objects, links->items[i])))
            links->items[i] += PA_OFFSET(graph->layout, gen_iframe);
        else
            links->items[i] = 0;
    }
}

void pa_stack_frames(struct pa_graph *graph, uint32_t stack, struct pa_frame_list *frames)
{
    frames->count = 0;
    while (stack != 0) {
        uint32_t *slot = pa_array_push(graph->work, frames, PA_NONE);
        if (!slot)
            return;
        *slot = graph->codes->stacks.items[stack].frame;
        stack = graph->codes->stacks.items[stack].outer;
    }
}

uint32_t pa_task_of_object(struct pa_graph *graph, uint64_t object)
{
    struct pa_links links = {0};
    uint32_t found = PA_NONE;
    for (uint32_t i = 0; object != 0 && i < graph->nodes.count && found == PA_NONE && pa_work_step(graph->work); i++) {
        pa_task_objects(graph, i, &links);
        for (uint32_t k = 0; k < links.count; k++) {
            if (links.items[k] == object)
                found = i;
        }
    }
    pa_array_free(graph->work, &links);
    return found;
}

uint32_t pa_task_of_greenlet(struct pa_graph *graph, uint64_t address)
{
    struct pa_links links = {0};
    uint32_t found = PA_NONE;
    uint32_t id = pa_index_find(&graph->greenlet_index, graph->greenlets.items, sizeof(struct pa_greenlet), address);
    if (id == PA_NONE || graph->greenlets.items[id].is_main)
        return PA_NONE;
    const struct pa_greenlet *greenlet = &graph->greenlets.items[id];
    if (greenlet->state == PA_GREENLET_RUNNING && greenlet->thread != PA_NONE) {
        found = pa_graph_find(graph, graph->threads.items[greenlet->thread].task);
        return found != PA_NONE && pa_graph_executing(graph, found) ? found : PA_NONE;
    }
    for (uint32_t i = 0; i < graph->nodes.count && found == PA_NONE && pa_work_step(graph->work); i++) {
        bool any = graph->nodes.items[i].stack != 0 && pa_task_greenlets(graph, i, &links);
        for (uint32_t k = 0; any && k < links.count; k++) {
            if (links.items[k] == address)
                found = i;
        }
    }
    pa_array_free(graph->work, &links);
    return found;
}

static bool contains(const char *text, uint32_t length, const char *part)
{
    return memmem(text, length, part, strlen(part)) != NULL;
}

bool pa_file_is_own(const char *file, uint32_t length)
{
    /* "<frozen importlib._bootstrap>", "<string>": code without a file is nobody's own. */
    return length > 0 && file[0] != '<' && !contains(file, length, "/lib/python3") && !contains(file, length, "/site-packages/") &&
           !contains(file, length, "/dist-packages/");
}

bool pa_frame_is_own(const struct pa_graph *graph, uint32_t frame)
{
    const struct pa_frame *item = &graph->codes->frames.items[frame];
    return pa_file_is_own(pa_arena_text(&graph->objects->text, item->file), item->file.length);
}

uint32_t pa_stack_telling_frame(const struct pa_graph *graph, uint32_t stack)
{
    const struct pa_stack *stacks = graph->codes->stacks.items;
    uint32_t innermost = PA_NONE;
    for (uint32_t at = stack; at != 0; at = stacks[at].outer) {
        if (graph->codes->frames.items[stacks[at].frame].kind == PA_FRAME_AWAITABLE)
            continue;
        if (innermost == PA_NONE)
            innermost = stacks[at].frame;
        if (pa_frame_is_own(graph, stacks[at].frame))
            return stacks[at].frame;
    }
    return innermost;
}
