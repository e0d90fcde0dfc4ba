/*
 * What is read from the target only for tasks that are shown: names, cancel requests, and the objects behind a stack.
 */
#ifndef PA_DETAILS_H
#define PA_DETAILS_H

#include "graph.h"

/**
 * The name of a task, as Task.get_name() would give it. @p text has PA_STRING_BYTES of room.
 *
 * CPython: Modules/_asynciomodule.c, TaskObj.task_name is a str, or the int behind a default name "Task-1" that nobody asked for yet.
 *
 * @return false if it cannot be read; the text then is "?".
 */
bool pa_task_name(struct pa_graph *graph, uint32_t node, char *text, uint32_t *length);

/** The name of a node's type, "_asyncio.Task"; empty if unknown. In the arena of objects. */
struct pa_text pa_node_type(struct pa_graph *graph, uint32_t node);

/** How a task was found: "list", "set", "gc", "reference", as in the JSON. */
const char *pa_task_found(const struct pa_graph *graph, uint32_t node);

/** The future that a task is suspended on; 0 if none. */
uint64_t pa_task_fut_waiter(struct pa_graph *graph, uint32_t node);

/** How often the task was asked to cancel, and whether a CancelledError is to be thrown at its next step. */
void pa_task_cancelling(struct pa_graph *graph, uint32_t node, uint32_t *requests, bool *must_cancel);

/** The objects that own the frames of a node's stack, innermost first: @p links is replaced and aligned with the stack. Owned by the caller. */
struct pa_links {
    uint64_t *items; /* 0 for the frame of a function */
    uint32_t count, capacity;
};
void pa_task_objects(struct pa_graph *graph, uint32_t node, struct pa_links *links);

/** The addresses of the interpreter frames of a node's stack likewise; 0 for what is no frame. */
void pa_task_iframes(struct pa_graph *graph, uint32_t node, struct pa_links *links);

/**
 * The outermost object of a stack that is no coroutine and from which it goes on to the coroutine that the object holds: what stands inside
 * of it is derived.
 *
 * @param[out] place Its place in the stack, counted from the innermost frame.
 * @return its pseudo frame; PA_NONE if nothing is derived.
 */
uint32_t pa_stack_derived_from(const struct pa_graph *graph, uint32_t stack, uint32_t *place);

/**
 * The suspended greenlets that the frames of a node's stack belong to, aligned as pa_task_objects(); 0 for frames of the task's own.
 *
 * @return false if it runs through none; @p links then may hold anything.
 */
bool pa_task_greenlets(struct pa_graph *graph, uint32_t node, struct pa_links *links);

/** The frames of a stack, innermost first. @p frames is replaced; owned by the caller. */
struct pa_frame_list {
    uint32_t *items;
    uint32_t count, capacity;
};
void pa_stack_frames(struct pa_graph *graph, uint32_t stack, struct pa_frame_list *frames);

/**
 * The task whose stack holds the coroutine, generator, async generator or awaitable at @p object: the cr_task link that no release of
 * CPython has. Follows the chains of all pending tasks, so it costs as much as the walk.
 *
 * @return its node, or PA_NONE.
 */
uint32_t pa_task_of_object(struct pa_graph *graph, uint64_t object);

/**
 * The task that runs through the greenlet at @p address: its frames are a part of the task's stack. A main greenlet is no task's, although
 * the loop runs in it.
 *
 * @return its node, or PA_NONE.
 */
uint32_t pa_task_of_greenlet(struct pa_graph *graph, uint64_t address);

/** Whether a file is the user's own: neither of the standard library, nor of an installed package. */
bool pa_file_is_own(const char *file, uint32_t length);

/** Whether a frame stands in the user's own code: not in the standard library, nor in an installed package. */
bool pa_frame_is_own(const struct pa_graph *graph, uint32_t frame);

/** The frame that best tells a stack from others: the innermost one of the user's own code, else the innermost. PA_NONE: no frames. */
uint32_t pa_stack_telling_frame(const struct pa_graph *graph, uint32_t stack);

#endif
