/* Exceptions, tracebacks, and the origin of tasks. See exception.h. */
#include "exception.h"

/* Modules/_asynciomodule.c, struct FutureObj: the first single bit behind task_awaited_by_is_set */
#define TASK_BIT_LOG_TRACEBACK 1u

const char *pa_relation_name(enum pa_relation relation)
{
    static const char *const names[] = {"", "cause", "context", "member"};
    return names[relation];
}

/* The position of a frame of a traceback: tb_lasti counts bytes from the begin of the code, whatever copy of it ran. */
static uint32_t traceback_frame(struct pa_codes *codes, uint64_t traceback)
{
    struct pa_memory *memory = codes->objects->memory;
    const struct pa_layout *layout = codes->objects->layout;
    struct pa_iframe iframe;
    uint64_t frame, address;
    uint32_t lasti;
    if (!pa_memory_u64(memory, traceback + PA_OFFSET(layout, traceback_frame), &frame) ||
        !pa_memory_u32(memory, traceback + PA_OFFSET(layout, traceback_lasti), &lasti) ||
        pa_kind_of(codes->objects, frame) != PA_KIND_FRAME ||
        !pa_memory_u64(memory, frame + PA_OFFSET(layout, frame_object_frame), &address) || !pa_iframe_read(codes, address, &iframe))
        return PA_NONE;
    struct pa_position position = {.executable = iframe.position.executable};
    position.instruction = position.executable + PA_OFFSET(layout, code_bytecode) + (uint64_t)(int64_t)(int32_t)lasti;
    return pa_frame_at(codes, &position);
}

/* The stack of a traceback, which begins with the outermost frame. */
static void read_traceback(struct pa_codes *codes, uint64_t traceback, struct pa_exception *exception)
{
    struct pa_objects *objects = codes->objects;
    uint64_t mark = 0;
    for (uint32_t step = 0; traceback != 0; step++) {
        if (traceback == mark || step == PA_MAX_STACK_DEPTH || !pa_work_step(objects->work) ||
            pa_kind_of(objects, traceback) != PA_KIND_TRACEBACK) {
            /* tb_next of the last one is NULL; __traceback__ may be None */
            exception->damaged = pa_kind_of(objects, traceback) != PA_KIND_NONE_TYPE;
            return;
        }
        if ((step & (step - 1)) == 0)
            mark = traceback;
        uint32_t frame = traceback_frame(codes, traceback);
        if (frame == PA_NONE) {
            exception->damaged = true;
            return;
        }
        exception->stack = pa_stack_push(codes, exception->stack, frame);
        if (!pa_memory_u64(objects->memory, traceback + PA_OFFSET(objects->layout, traceback_next), &traceback)) {
            exception->damaged = true;
            return;
        }
    }
}

static void add(struct pa_codes *codes, struct pa_exceptions *exceptions, uint64_t address, uint32_t of, enum pa_relation relation)
{
    if (address == 0 || pa_kind_of(codes->objects, address) != PA_KIND_EXCEPTION)
        return;
    for (uint32_t i = 0; i < exceptions->count; i++) {
        if (exceptions->items[i].address == address)
            return;
    }
    if (exceptions->count == PA_MAX_EXCEPTIONS) {
        exceptions->more = true;
        return;
    }
    struct pa_exception *slot = pa_array_push(codes->objects->work, exceptions, PA_MAX_EXCEPTIONS);
    if (slot)
        *slot = (struct pa_exception){.address = address, .of = of, .relation = (uint8_t)relation};
}

static uint64_t read_word(struct pa_objects *objects, uint64_t address)
{
    uint64_t word;
    return pa_memory_u64(objects->memory, address, &word) ? word : 0;
}

/* What an exception leads to, in the order in which a traceback tells of it. */
static void add_related(struct pa_codes *codes, struct pa_exceptions *exceptions, uint32_t of)
{
    struct pa_objects *objects = codes->objects;
    const struct pa_layout *layout = objects->layout;
    uint64_t address = exceptions->items[of].address, items, count;
    uint64_t cause = read_word(objects, address + PA_OFFSET(layout, exception_cause));
    uint8_t suppress = 0;
    add(codes, exceptions, cause, of, PA_CAUSE);
    pa_memory_u8(objects->memory, address + PA_OFFSET(layout, exception_suppress_context), &suppress);
    if (cause == 0 && suppress == 0)
        add(codes, exceptions, read_word(objects, address + PA_OFFSET(layout, exception_context)), of, PA_CONTEXT);
    if (!pa_is_instance(objects, address, "BaseExceptionGroup") ||
        !pa_sequence(objects, read_word(objects, address + PA_OFFSET(layout, group_exceptions)), &items, &count))
        return;
    for (uint64_t i = 0; i < count && !exceptions->more && pa_work_step(objects->work); i++) {
        uint64_t member;
        if (!pa_memory_u64(objects->memory, items + 8 * i, &member))
            return; /* the count is damaged, and may be anything */
        add(codes, exceptions, member, of, PA_MEMBER);
    }
}

void pa_exception_chain(struct pa_codes *codes, uint64_t exception, struct pa_exceptions *exceptions)
{
    struct pa_objects *objects = codes->objects;
    exceptions->count = 0;
    exceptions->more = false;
    if (!PA_HAS(objects->layout, exception_traceback) || !PA_HAS(objects->layout, traceback_lasti) ||
        !PA_HAS(objects->layout, frame_object_frame) || !PA_HAS(objects->layout, group_exceptions))
        return;
    add(codes, exceptions, exception, 0, PA_RAISED);
    for (uint32_t i = 0; i < exceptions->count && pa_work_step(objects->work); i++) {
        uint64_t traceback = read_word(objects, exceptions->items[i].address + PA_OFFSET(objects->layout, exception_traceback));
        read_traceback(codes, traceback, &exceptions->items[i]);
        add_related(codes, exceptions, i);
    }
}

/* A field of a task or future made in C, or the attribute of this name of one written in Python. */
static uint64_t task_object(struct pa_graph *graph, uint32_t node, uint32_t field, const char *attribute)
{
    uint64_t address = graph->nodes.items[node].address, object = 0;
    enum pa_kind kind = pa_kind_of(graph->objects, address);
    if (kind == PA_KIND_TASK || (kind == PA_KIND_FUTURE && field != PA_F_task_context)) {
        if (graph->layout->source[field] == PA_SOURCE_NONE ||
            !pa_memory_u64(graph->memory, address + graph->layout->offset[field], &object))
            object = 0;
    } else if (!pa_instance_attribute(graph->objects, address, attribute, &object)) {
        object = 0;
    }
    return object;
}

uint64_t pa_task_exception(struct pa_graph *graph, uint32_t node)
{
    uint64_t exception =
        graph->nodes.items[node].state == PA_FAILED_STATE ? task_object(graph, node, PA_F_task_exception, "_exception") : 0;
    return pa_kind_of(graph->objects, exception) == PA_KIND_EXCEPTION ? exception : 0;
}

bool pa_task_exception_is_new(struct pa_graph *graph, uint32_t node)
{
    uint64_t address = graph->nodes.items[node].address, flag;
    enum pa_kind kind = pa_kind_of(graph->objects, address);
    uint8_t bits;
    int64_t number;
    if (kind == PA_KIND_TASK || kind == PA_KIND_FUTURE)
        return pa_memory_u8(graph->memory, address + PA_OFFSET(graph->layout, task_bits), &bits) && bits & TASK_BIT_LOG_TRACEBACK;
    return pa_instance_attribute(graph->objects, address, "_Future__log_traceback", &flag) &&
           pa_int_read(graph->objects, flag, &number) && number != 0;
}

uint64_t pa_task_context(struct pa_graph *graph, uint32_t node)
{
    return task_object(graph, node, PA_F_task_context, "_context");
}

/* Lib/traceback.py: StackSummary is a list of FrameSummary, which has slots. Lib/asyncio/format_helpers.py, extract_stack(). */
void pa_task_origin(struct pa_graph *graph, uint32_t node, struct pa_origins *origins)
{
    struct pa_objects *objects = graph->objects;
    uint64_t items, count, line;
    origins->count = 0;
    if (!pa_sequence(objects, task_object(graph, node, PA_F_task_source_traceback, "_source_traceback"), &items, &count) ||
        count > PA_MAX_STACK_DEPTH)
        return;
    for (uint64_t i = count; i > 0 && pa_work_step(graph->work); i--) {
        uint64_t summary = read_word(objects, items + 8 * (i - 1));
        struct pa_origin origin = {0};
        if (!pa_instance_attribute(objects, summary, "filename", &origin.file) ||
            !pa_instance_attribute(objects, summary, "name", &origin.function))
            return;
        if (!pa_instance_attribute(objects, summary, "lineno", &line) || !pa_int_read(objects, line, &origin.line))
            origin.line = 0;
        struct pa_origin *slot = pa_array_push(graph->work, origins, PA_MAX_STACK_DEPTH);
        if (slot)
            *slot = origin;
    }
}
