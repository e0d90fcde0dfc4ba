/*
 * The lock that a thread is blocked in. See holder.h.
 *
 * Certain are: its innermost Python frame stands at a call; what lies on the value stack, at the places that the call takes its arguments
 * from, is the method and the lock (they are gone from there once the method has returned, although the frame stays at the call for a moment
 * more); the lock is held, and a thread waits for it.
 */
#include "holder_parts.h"
#include "variables.h"

/* Include/cpython/lock.h, _Py_LOCKED and _Py_HAS_PARKED; both of the lock types begin with a PyMutex. */
enum { LOCKED_AND_WAITED_FOR = 3 };

/* Include/descrobject.h, PyMethodDescrObject: d_type, then d_name. the same of every descriptor */
static bool is_method_named(struct pa_objects *objects, uint64_t method, const char *name)
{
    uint64_t object;
    return pa_memory_u64(objects->memory, method + PA_OFFSET(objects->layout, object_size) + 8, &object) &&
           pa_str_equals(objects, object, name);
}

static bool is_acquire(struct pa_objects *objects, uint64_t method)
{
    uint32_t type = pa_type_of(objects, method);
    return type != PA_NONE && pa_text_is(&objects->text, objects->types.items[type].name, "method_descriptor") &&
           (is_method_named(objects, method, "acquire") || is_method_named(objects, method, "__enter__") ||
            is_method_named(objects, method, "acquire_lock"));
}

/* acquire = lock.acquire, as threading.Condition has it: a function that is bound to the lock. */
static uint64_t bound_lock(struct pa_objects *objects, uint64_t function)
{
    uint64_t definition, address, self;
    char name[16];
    if (pa_kind_of(objects, function) != PA_KIND_BUILTIN_FUNCTION ||
        !pa_object_word(objects, function, PA_F_builtin_definition, &definition) ||
        !pa_memory_u64(objects->memory, definition, &address) || !pa_object_word(objects, function, PA_F_builtin_self, &self))
        return 0;
    uint32_t length = pa_memory_string(objects->memory, address, name, sizeof(name));
    return (length == 7 && memcmp(name, "acquire", 7) == 0) || (length == 9 && memcmp(name, "__enter__", 9) == 0) ? self : 0;
}

static bool is_blocking(struct pa_objects *objects, uint64_t lock)
{
    uint32_t type = pa_type_of(objects, lock);
    uint8_t bits;
    return type != PA_NONE &&
           (pa_text_is(&objects->text, objects->types.items[type].name, "_thread.lock") ||
            pa_text_is(&objects->text, objects->types.items[type].name, "_thread.RLock")) &&
           pa_memory_u8(objects->memory, lock + PA_OFFSET(objects->layout, object_size), &bits) && bits == LOCKED_AND_WAITED_FOR;
}

/* How many words the call at an instruction takes above the callable and its object; -1: it is no call. */
static int32_t call_arguments(struct pa_objects *objects, uint64_t instruction)
{
    const struct pa_version *version = objects->layout->version;
    uint8_t unit[2];
    if (!pa_memory_read(objects->memory, instruction, sizeof(unit), unit))
        return -1;
    uint8_t opcode = unit[0], arguments = unit[1];
    if (opcode == version->op_call_kw || opcode == version->op_instrumented_call_kw ||
        (opcode >= version->op_call_kw_first && opcode <= version->op_call_kw_last))
        return arguments + 1; /* the names */
    return opcode == version->op_call || opcode == version->op_instrumented_call ||
                   (opcode >= version->op_call_first && opcode <= version->op_call_last)
               ? arguments
               : -1;
}

static uint64_t word_at(struct pa_objects *objects, uint64_t address)
{
    uint64_t bits;
    bool is_int;
    int64_t number;
    return pa_memory_u64(objects->memory, address, &bits) ? pa_stackref(objects->layout, bits, &is_int, &number) : 0;
}

static uint64_t called_lock(struct pa_graph *graph, uint64_t iframe)
{
    struct pa_objects *objects = graph->objects;
    struct pa_iframe frame;
    if (!pa_iframe_read(graph->codes, iframe, &frame))
        return 0;
    int32_t arguments = call_arguments(objects, frame.position.instruction);
    uint64_t callable = frame.stackpointer - 8 * (uint64_t)(uint32_t)(arguments + 2);
    uint64_t bottom = iframe + PA_OFFSET(graph->layout, frame_localsplus);
    if (arguments < 0 || callable % 8 != 0 || callable < bottom || callable - bottom > 8ull * PA_MAX_VALUE_STACK)
        return 0;
    uint64_t method = word_at(objects, callable), self = word_at(objects, callable + 8);
    uint64_t lock = self == 0 ? bound_lock(objects, method) : is_acquire(objects, method) ? self : 0;
    return lock != 0 && is_blocking(objects, lock) ? lock : 0;
}

/* Lib/threading.py, _RLock: an RLock in Python has a lock. */
static uint64_t outer_lock(struct pa_graph *graph, uint32_t id, uint64_t iframe, uint64_t lock)
{
    const struct pa_frame *frame = &graph->codes->frames.items[id];
    uint64_t self, block;
    return pa_text_is(&graph->objects->text, frame->function, "_RLock.acquire") &&
                   pa_text_ends(&graph->objects->text, frame->file, "/threading.py") &&
                   pa_variable_get(graph->codes, iframe, "self", &self) && pa_attribute(graph, self, "_block", &block) &&
                   block == lock
               ? self
               : lock;
}

/* Lib/threading.py, Condition.wait(): what the thread is blocked in is a lock that it has made for this. */
static bool is_in_wait(struct pa_graph *graph, uint32_t id, uint64_t iframe, uint64_t lock, uint64_t *condition)
{
    const struct pa_frame *frame = &graph->codes->frames.items[id];
    uint64_t waiter;
    return pa_text_is(&graph->objects->text, frame->function, "Condition.wait") &&
           pa_text_ends(&graph->objects->text, frame->file, "/threading.py") &&
           pa_variable_get(graph->codes, iframe, "waiter", &waiter) && waiter == lock &&
           pa_variable_get(graph->codes, iframe, "self", condition);
}

uint64_t pa_thread_awaited_lock(struct pa_graph *graph, uint32_t id, bool *is_condition)
{
    const struct pa_thread *thread = &graph->threads.items[id];
    uint64_t condition;
    if (is_condition)
        *is_condition = false;
    if (thread->own_frames == 0)
        return 0;
    const struct pa_thread_frame *frame = &graph->thread_frames.items[thread->first_frame];
    uint64_t iframe = frame->is_gen ? frame->object + PA_OFFSET(graph->layout, gen_iframe) : frame->object;
    uint64_t lock = called_lock(graph, iframe);
    if (lock == 0 || !is_in_wait(graph, frame->frame, iframe, lock, &condition))
        return lock == 0 ? 0 : outer_lock(graph, frame->frame, iframe, lock);
    if (is_condition)
        *is_condition = true;
    return condition;
}

uint64_t pa_task_awaited_lock(struct pa_graph *graph, uint32_t node, bool *is_condition)
{
    const struct pa_executing *executing = pa_graph_executing(graph, node);
    return executing && executing->first == graph->threads.items[executing->thread].first_frame
               ? pa_thread_awaited_lock(graph, executing->thread, is_condition)
               : 0;
}
