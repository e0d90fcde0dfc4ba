/*
 * Greenlets: finding them, what each does, which thread it belongs to, and the stacks of those that are suspended.
 *
 * A suspended greenlet is on no thread's list of frames. greenlet keeps its innermost frame in a C++ object behind the Python one, whose
 * first part has been the same since greenlet 3.1.1; where the members behind it are is read off a main greenlet, which holds its own
 * address there. See layout_fields.h, greenlet_impl.
 */
#include "greenlet_parts.h"

#include "gc.h"
#include "limits.h"

/* greenlet: TStackState.cpp, StackState::make_main(). */
#define STACK_STOP_MAIN UINT64_MAX

/* The members of greenlet's ThreadState that are read: main_greenlet, current_greenlet. TThreadState.hpp. */
#define THREAD_STATE_MAIN    0u
#define THREAD_STATE_CURRENT 8u

/* What the C++ object says, as far as it is the same in all versions. */
struct impl {
    uint64_t self, exc_info, stack_start, stack_stop, top_frame;
};

static bool read_impl(struct pa_graph *graph, uint64_t address, struct impl *impl)
{
    const struct pa_layout *layout = graph->layout;
    uint8_t scratch[PA_MAX_GREENLET_IMPL];
    size_t size = (size_t)PA_OFFSET(layout, greenlet_impl_top_frame) + 8;
    const uint8_t *bytes = address % 8 == 0 ? pa_memory_view(graph->memory, address, size, scratch) : NULL;
    if (!bytes)
        return false;
    *impl = (struct impl){
        .self = pa_get_u64(bytes, PA_OFFSET(layout, greenlet_impl_self)),
        .exc_info = pa_get_u64(bytes, PA_OFFSET(layout, greenlet_impl_exc_info)),
        .stack_start = pa_get_u64(bytes, PA_OFFSET(layout, greenlet_impl_stack_start)),
        .stack_stop = pa_get_u64(bytes, PA_OFFSET(layout, greenlet_impl_stack_stop)),
        .top_frame = pa_get_u64(bytes, PA_OFFSET(layout, greenlet_impl_top_frame)),
    };
    return true;
}

/*
 * Keep a greenlet. A block that was freed keeps its type; but greenlet clears the pointer to the C++ object before it frees one
 * (PyGreenlet.cpp, green_dealloc()), and the C++ object of a greenlet that is alive points back.
 */
static void add_greenlet(struct pa_graph *graph, uint64_t address, uint32_t type)
{
    struct impl impl;
    uint64_t object;
    if (!pa_memory_u64(graph->memory, address + PA_OFFSET(graph->layout, greenlet_impl), &object) || object == 0 ||
        !read_impl(graph, object, &impl) || impl.self != address ||
        pa_index_find(&graph->greenlet_index, graph->greenlets.items, sizeof(struct pa_greenlet), address) != PA_NONE)
        return;
    struct pa_greenlet *slot = pa_array_push(graph->work, &graph->greenlets, PA_MAX_GREENLETS);
    if (!slot)
        return;
    *slot = (struct pa_greenlet){.address = address, .impl = object, .type = type, .thread = PA_NONE};
    slot->is_main = impl.stack_stop == STACK_STOP_MAIN;
    if (!pa_index_add(graph->work, &graph->greenlet_index, graph->greenlets.items, sizeof(*slot), graph->greenlets.count - 1))
        graph->greenlets.count--;
}

/* How greenlets are found where nothing is wrong. */
#define LISTS "the lists of the garbage collector"

/* ---- a search of memory, where the garbage collector's lists cannot be walked */

/* Whether one of an object's neighbours in a list of the garbage collector has it too. Include/internal/pycore_gc.h, PyGC_Head. */
static bool is_linked(struct pa_graph *graph, uint64_t address)
{
    uint64_t next, previous, back, head = address - 16;
    if (!pa_memory_u64(graph->memory, head, &next) || !pa_memory_u64(graph->memory, head + 8, &previous))
        return false;
    return (pa_memory_u64(graph->memory, (next & ~3ull) + 8, &back) && (back & ~3ull) == head) ||
           (pa_memory_u64(graph->memory, previous & ~3ull, &back) && (back & ~3ull) == head);
}

static void add_type(struct pa_greenlet_reader *reader, uint64_t type)
{
    for (uint32_t i = 0; i < reader->types.count; i++) {
        if (reader->types.items[i] == type)
            return;
    }
    uint64_t *slot = pa_array_push(reader->graph->work, &reader->types, PA_MAX_GREENLET_TYPES);
    if (slot)
        *slot = type;
}

/* The type's address stands in its objects' ob_type, and in its subclasses' tp_base. */
static bool type_hit(void *context, uint64_t address)
{
    struct pa_greenlet_reader *reader = context;
    struct pa_graph *graph = reader->graph;
    uint64_t object = address - PA_OFFSET(graph->layout, object_type), subclass = address - PA_OFFSET(graph->layout, type_base);
    uint32_t type = pa_type_at(graph->objects, reader->type);
    if (type != PA_NONE && (reader->collecting || is_linked(graph, object)))
        add_greenlet(graph, object, type);
    if (pa_kind_of(graph->objects, subclass) == PA_KIND_TYPE) {
        uint32_t found = pa_type_at(graph->objects, subclass);
        if (found != PA_NONE && graph->objects->types.items[found].kind == PA_KIND_GREENLET)
            add_type(reader, subclass);
    }
    return graph->work->fatal == PA_OK;
}

static void search_memory(struct pa_greenlet_reader *reader)
{
    struct pa_graph *graph = reader->graph;
    add_type(reader, pa_objects_known(graph->objects, PA_KIND_GREENLET));
    for (uint32_t i = 0; i < reader->types.count && graph->work->fatal == PA_OK; i++) {
        reader->type = reader->types.items[i];
        pa_memory_scan(graph->memory, 0, reader->type, type_hit, reader);
    }
}

static bool listed(void *context, uint64_t object, uint32_t type)
{
    struct pa_graph *graph = context;
    add_greenlet(graph, object, type);
    return graph->work->fatal == PA_OK;
}

/* greenlet supports no sub-interpreters: all greenlets are in the lists of the main one. */
static void find_all(struct pa_greenlet_reader *reader)
{
    struct pa_graph *graph = reader->graph;
    struct pa_gc_walk walk = {0};
    bool available = pa_gc_unavailable(graph->layout) == NULL;
    for (uint32_t i = 0; i < graph->interpreters.count && available; i++) {
        if (graph->interpreters.items[i].id == 0)
            pa_gc_walk(graph->objects, graph->interpreters.items[i].address, PA_GC_KIND(PA_KIND_GREENLET), listed, graph, &walk);
    }
    graph->greenlets_how = LISTS;
    if (available && walk.collecting == 0 && walk.damaged == 0 && walk.objects > 0)
        return;
    graph->greenlets_how = !available             ? "a search of memory: this build has no lists of objects"
                           : walk.collecting != 0 ? "a search of memory: the garbage collector was running"
                                                  : "a search of memory: the lists of the garbage collector are damaged";
    reader->collecting = walk.collecting != 0 || !available;
    search_memory(reader);
}

/* ---- the layout, from the main greenlets */

/*
 * Where a main greenlet's C++ object holds its own greenlet's address a second time, 0 if nowhere. The first such place, for what lies behind
 * the object may be another greenlet's, which has this one for its main. It is followed by the thread's state, which begins with the main
 * greenlet, or by 0 if the thread has exited.
 */
static uint32_t tail_of(struct pa_graph *graph, const struct pa_greenlet *greenlet)
{
    uint32_t offset = PA_OFFSET(graph->layout, greenlet_impl_top_frame);
    uint64_t word = 0, state, main;
    while (word != greenlet->address) {
        offset += 8;
        if (offset + 16 > PA_MAX_GREENLET_IMPL || !pa_memory_u64(graph->memory, greenlet->impl + offset, &word))
            return 0;
    }
    if (!pa_memory_u64(graph->memory, greenlet->impl + offset + 8, &state) || state % 8 != 0)
        return 0;
    bool belongs = state == 0 || (pa_memory_u64(graph->memory, state + THREAD_STATE_MAIN, &main) && main == greenlet->address);
    return belongs ? offset : 0;
}

static void calibrate(struct pa_graph *graph)
{
    uint32_t tail = 0;
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++) {
        const struct pa_greenlet *greenlet = &graph->greenlets.items[i];
        uint32_t found = greenlet->is_main ? tail_of(graph, greenlet) : 0;
        if (found == 0)
            continue;
        if (tail != 0 && found != tail) {
            pa_graph_problem(graph, "greenlet", greenlet->address, "is a main greenlet of another layout than those before",
                             PA_NONE);
            return;
        }
        tail = found;
    }
    if (tail != 0)
        pa_layout_set_greenlet_tail(graph->objects->layout, tail);
    else if (graph->greenlets.count > 0)
        pa_graph_problem(graph, "greenlet", graph->greenlets.items[0].address,
                         "no main greenlet tells the layout: parents, threads and what runs stay unknown", PA_NONE);
}

/* ---- main greenlets */

static struct pa_main_greenlet *main_of(struct pa_greenlet_reader *reader, uint64_t address)
{
    uint32_t id = pa_index_find(&reader->main_index, reader->mains.items, sizeof(struct pa_main_greenlet), address);
    return id == PA_NONE ? NULL : &reader->mains.items[id];
}

static void read_mains(struct pa_greenlet_reader *reader)
{
    struct pa_graph *graph = reader->graph;
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++) {
        const struct pa_greenlet *greenlet = &graph->greenlets.items[i];
        struct pa_main_greenlet main = {.address = greenlet->address, .thread = PA_NONE};
        if (!greenlet->is_main || !PA_HAS(graph->layout, greenlet_impl_thread_state) ||
            !pa_memory_u64(graph->memory, greenlet->impl + PA_OFFSET(graph->layout, greenlet_impl_thread_state), &main.state))
            continue;
        if (main.state != 0 && !pa_memory_u64(graph->memory, main.state + THREAD_STATE_CURRENT, &main.current))
            main.current = 0;
        struct pa_main_greenlet *slot = pa_array_push(graph->work, &reader->mains, PA_MAX_THREADS);
        if (!slot)
            return;
        *slot = main;
        pa_index_add(graph->work, &reader->main_index, reader->mains.items, sizeof(main), reader->mains.count - 1);
        pa_greenlet_add_state(reader, main.state, reader->mains.count - 1);
    }
}

/* ---- what each greenlet does */

static uint64_t tail_word(struct pa_graph *graph, const struct pa_greenlet *greenlet, uint32_t offset)
{
    uint64_t word;
    return PA_HAS(graph->layout, greenlet_impl_main) && pa_memory_u64(graph->memory, greenlet->impl + offset, &word) ? word : 0;
}

/* greenlet: greenlet.cpp, "States"; TStackState.cpp. A thread that has exited leaves its suspended greenlets as they are until one is asked. */
static enum pa_greenlet_state state_of(const struct pa_greenlet *greenlet, const struct impl *impl,
                                       const struct pa_main_greenlet *main)
{
    if (main && main->current == greenlet->address && impl->stack_stop != 0)
        return PA_GREENLET_RUNNING;
    if (impl->stack_stop == 0)
        return greenlet->main == 0 ? PA_GREENLET_PENDING : PA_GREENLET_THREAD_EXITED;
    if (impl->stack_start == 0)
        return PA_GREENLET_DEAD;
    return main && main->state == 0 ? PA_GREENLET_THREAD_EXITED : PA_GREENLET_SUSPENDED;
}

static void read_state(struct pa_greenlet_reader *reader, struct pa_greenlet *greenlet)
{
    struct pa_graph *graph = reader->graph;
    const struct pa_layout *layout = graph->layout;
    struct impl impl;
    if (!read_impl(graph, greenlet->impl, &impl))
        return;
    if (greenlet->is_main) {
        greenlet->main = greenlet->address;
    } else {
        greenlet->main = tail_word(graph, greenlet, PA_OFFSET(layout, greenlet_impl_main));
        greenlet->parent = tail_word(graph, greenlet, PA_OFFSET(layout, greenlet_impl_parent));
    }
    struct pa_main_greenlet *main = main_of(reader, greenlet->main);
    greenlet->state = state_of(greenlet, &impl, main);
    greenlet->is_noticed = greenlet->state == PA_GREENLET_THREAD_EXITED && impl.stack_stop == 0;
    if (greenlet->state == PA_GREENLET_PENDING)
        greenlet->run = tail_word(graph, greenlet, PA_OFFSET(layout, greenlet_impl_run));
    if (main && main->thread == PA_NONE && greenlet->state == PA_GREENLET_SUSPENDED)
        main->thread = pa_greenlet_thread_of_exceptions(reader, impl.exc_info);
}

static void set_thread(struct pa_greenlet_reader *reader, uint32_t id)
{
    struct pa_graph *graph = reader->graph;
    struct pa_greenlet *greenlet = &graph->greenlets.items[id];
    const struct pa_main_greenlet *main = main_of(reader, greenlet->main);
    if (!main || greenlet->state == PA_GREENLET_THREAD_EXITED)
        return;
    greenlet->thread = main->thread;
    if (greenlet->state == PA_GREENLET_RUNNING && main->thread != PA_NONE)
        graph->threads.items[main->thread].greenlet = id;
}

/* The frames of a suspended greenlet, which greenlet has linked to one another. One that is in C code only has none. */
static void read_stack(struct pa_graph *graph, uint32_t id)
{
    struct pa_greenlet *greenlet = &graph->greenlets.items[id];
    const struct pa_layout *layout = graph->layout;
    struct impl impl;
    uint64_t innermost, back;
    greenlet->first_frame = graph->greenlet_frames.count;
    bool has_frames = greenlet->state == PA_GREENLET_SUSPENDED || greenlet->state == PA_GREENLET_THREAD_EXITED;
    if (!has_frames || !read_impl(graph, greenlet->impl, &impl) || impl.top_frame == 0)
        return;
    if (pa_kind_of(graph->objects, impl.top_frame) != PA_KIND_FRAME ||
        !pa_memory_u64(graph->memory, impl.top_frame + PA_OFFSET(layout, frame_object_frame), &innermost) ||
        !pa_memory_u64(graph->memory, innermost + PA_OFFSET(layout, frame_object), &back) || back != impl.top_frame) {
        pa_graph_problem(graph, "greenlet", greenlet->address,
                         "its innermost frame is no frame object of a frame; its stack is missing", PA_NONE);
        return;
    }
    pa_read_frames(graph, innermost, greenlet->address, id, &graph->greenlet_frames);
    greenlet->frame_count = graph->greenlet_frames.count - greenlet->first_frame;
    greenlet->stack = pa_stack_of_frames(graph, &graph->greenlet_frames, greenlet->first_frame, greenlet->frame_count);
}

void pa_read_greenlets(struct pa_graph *graph)
{
    struct pa_greenlet_reader reader = {.graph = graph};
    if (pa_objects_known(graph->objects, PA_KIND_GREENLET) == 0)
        return;
    pa_layout_set_greenlet(graph->objects->layout);
    find_all(&reader);
    calibrate(graph);
    read_mains(&reader);
    pa_greenlet_sort_threads(&reader);
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++)
        read_state(&reader, &graph->greenlets.items[i]);
    pa_greenlet_find_threads(&reader);
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++) {
        set_thread(&reader, i);
        read_stack(graph, i);
    }
    pa_array_free(graph->work, &reader.mains);
    pa_index_free(graph->work, &reader.main_index);
    pa_array_free(graph->work, &reader.states);
    pa_index_free(graph->work, &reader.state_index);
    pa_array_free(graph->work, &reader.ranges);
    pa_array_free(graph->work, &reader.types);
}

const char *pa_greenlet_state_name(enum pa_greenlet_state state)
{
    static const char *const names[] = {"pending", "running", "suspended", "dead", "thread exited"};
    return names[state];
}

const struct pa_thread_frame *pa_greenlet_frames(const struct pa_graph *graph, uint32_t id, uint32_t *count)
{
    const struct pa_greenlet *greenlet = &graph->greenlets.items[id];
    *count = 0;
    if (greenlet->state != PA_GREENLET_RUNNING) {
        *count = greenlet->frame_count;
        return *count ? graph->greenlet_frames.items + greenlet->first_frame : NULL;
    }
    if (greenlet->thread == PA_NONE)
        return NULL;
    const struct pa_thread *thread = &graph->threads.items[greenlet->thread];
    *count = thread->own_frames;
    return *count ? graph->thread_frames.items + thread->first_frame : NULL;
}

void pa_greenlet_run(struct pa_graph *graph, const struct pa_greenlet *greenlet, struct pa_callable *callable)
{
    /* gevent keeps its own in Greenlet.__dict__["_run"]. */
    uint64_t dict, run = greenlet->run;
    if (pa_kind_of(graph->objects, run) == PA_KIND_NONE_TYPE &&
        pa_memory_u64(graph->memory, greenlet->address + PA_OFFSET(graph->layout, greenlet_dict), &dict) && dict != 0 &&
        !pa_dict_get(graph->objects, dict, "_run", &run))
        run = greenlet->run;
    pa_callable_read(graph->codes, run, callable);
}

const char *pa_greenlets_searched(const struct pa_graph *graph)
{
    return graph->greenlets_how && strcmp(graph->greenlets_how, LISTS) != 0 ? graph->greenlets_how : NULL;
}
