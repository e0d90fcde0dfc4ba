/* The library over a miniature CPython. See walk.h. */
#include "walk.h"

#include "details.h"

#include <stdarg.h>

void walk_open(struct walk *walk, struct python *python)
{
    uint64_t modules = 0;
    memset(walk, 0, sizeof(*walk));
    walk->python = python;
    pa_work_init(&walk->work, &python->image->target);
    ck_assert_int_eq(pa_memory_init(&walk->memory, &walk->work), PA_OK);
    ck_assert_msg(pa_find(&walk->found, &walk->memory, &walk->layout, false, walk->error, sizeof(walk->error)) == PA_OK, "%s",
                  walk->error);
    pa_layout_read_dwarf(&walk->layout, &walk->work);
    pa_memory_u64(&walk->memory, python->interpreter + PA_OFFSET(&walk->layout, interpreter_imports_modules), &modules);
    pa_objects_init(&walk->objects, &walk->memory, &walk->layout, modules);
    pa_codes_init(&walk->codes, &walk->objects);
    pa_graph_init(&walk->graph, &walk->codes, walk->found.runtime);
}

void walk_build(struct walk *walk, struct python *python)
{
    walk_open(walk, python);
    ck_assert_int_eq(pa_graph_build(&walk->graph), PA_OK);
}

void walk_leave(struct walk *walk)
{
    pa_graph_deinit(&walk->graph);
    pa_codes_deinit(&walk->codes);
    pa_objects_deinit(&walk->objects);
    pa_memory_deinit(&walk->memory);
    ck_assert_uint_eq(walk->work.bytes, 0);
}

void walk_again(struct walk *walk)
{
    walk_leave(walk);
    walk_build(walk, walk->python);
}

void walk_close(struct walk *walk)
{
    walk_leave(walk);
    python_free(walk->python);
}

uint32_t walk_node(const struct walk *walk, uint64_t address)
{
    uint32_t id = pa_graph_find(&walk->graph, address);
    ck_assert_msg(id != PA_NONE, "no node at 0x%llx", (unsigned long long)address);
    return id;
}

const struct pa_node *walk_item(const struct walk *walk, uint64_t address)
{
    return &walk->graph.nodes.items[walk_node(walk, address)];
}

/* Texts are returned in a few buffers in turn, so that a test can hold two. */
static char *next_buffer(void)
{
    static char buffers[4][1 << 16];
    static uint32_t next;
    char *buffer = buffers[next++ % 4];
    buffer[0] = '\0';
    return buffer;
}

__attribute__((format(printf, 2, 3))) static void append(char *buffer, const char *format, ...)
{
    size_t length = strlen(buffer);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer + length, (1 << 16) - length, format, arguments);
    va_end(arguments);
}

static void append_frame(const struct walk *walk, char *buffer, uint32_t id)
{
    const struct pa_frame *frame = &walk->codes.frames.items[id];
    const char *text = pa_arena_text(&walk->objects.text, frame->function);
    append(buffer, "%s%.*s", *buffer ? " " : "", (int)frame->function.length, text);
    if (frame->kind == PA_FRAME_AWAITABLE)
        append(buffer, "!");
    else
        append(buffer, ":%d", frame->line);
}

static const char *stack_text(const struct walk *walk, uint32_t stack)
{
    char *buffer = next_buffer();
    uint32_t frames[256], count = 0;
    for (; stack != 0 && count < COUNT(frames); stack = walk->codes.stacks.items[stack].outer)
        frames[count++] = walk->codes.stacks.items[stack].frame;
    while (count > 0)
        append_frame(walk, buffer, frames[--count]);
    return buffer;
}

const char *walk_stack(const struct walk *walk, uint64_t task)
{
    return stack_text(walk, walk->graph.nodes.items[walk_node(walk, task)].stack);
}

const char *walk_thread_stack(const struct walk *walk, uint32_t thread)
{
    ck_assert_uint_lt(thread, walk->graph.threads.count);
    return stack_text(walk, walk->graph.threads.items[thread].stack);
}

const char *walk_chain(struct walk *walk, uint64_t coroutine)
{
    char *buffer = next_buffer();
    pa_chain_follow(&walk->codes, coroutine, 0, &walk->graph.chain);
    for (uint32_t i = 0; i < walk->graph.chain.links.count && i < 256; i++)
        append_frame(walk, buffer, walk->graph.chain.links.items[i].frame);
    return buffer;
}

static void append_name(struct walk *walk, char *buffer, uint32_t node)
{
    static char name[PA_STRING_BYTES];
    uint32_t length;
    if (!(walk->graph.nodes.items[node].flags & PA_NODE_TASK)) {
        append(buffer, "%sfuture", *buffer ? " " : "");
        return;
    }
    pa_task_name(&walk->graph, node, name, &length);
    append(buffer, "%s%.*s", *buffer ? " " : "", (int)length, name);
}

const char *walk_tasks(struct walk *walk)
{
    char *buffer = next_buffer();
    for (uint32_t id = 0; id < walk->graph.nodes.count; id++) {
        if (walk->graph.nodes.items[id].flags & PA_NODE_TASK)
            append_name(walk, buffer, id);
    }
    return buffer;
}

const char *walk_awaiters(struct walk *walk, uint64_t address)
{
    char *buffer = next_buffer();
    const struct pa_node *node = &walk->graph.nodes.items[walk_node(walk, address)];
    for (uint32_t i = 0; i < node->edge_count; i++)
        append_name(walk, buffer, walk->graph.edges.items[node->first_edge + i]);
    return buffer;
}

bool walk_has_problem(const struct walk *walk, const char *why)
{
    for (uint32_t i = 0; i < walk->graph.problems.count; i++) {
        if (strstr(walk->graph.problems.items[i].why, why))
            return true;
    }
    return false;
}
