/*
 * Greenlets: finding them, what each does, which thread it belongs to, and the stacks of those that are suspended.
 *
 * A suspended greenlet is on no thread's list of frames. greenlet keeps its innermost frame in a C++ object behind the Python one, whose
 * first part has been the same since greenlet 3.1.1; where the members behind it are is read off a main greenlet, which holds its own
 * address there. See layout_fields.h, greenlet_impl.
 */
#include "greenlet.h"

#include "gc.h"
#include "limits.h"

/* greenlet: TStackState.cpp, StackState::make_main(). */
#define STACK_STOP_MAIN UINT64_MAX

/* The members of greenlet's ThreadState that are read: main_greenlet, current_greenlet. TThreadState.hpp. */
#define THREAD_STATE_MAIN    0u
#define THREAD_STATE_CURRENT 8u

/* Include/cpython/pystate.h, struct _err_stackitem {exc_value, previous_item} */
#define STACKITEM_PREVIOUS 8u

/* Words of a module's thread-local variables that are looked at: greenlet has two or three. */
#define TLS_WORDS 8u

/* A main greenlet: the thread that it stands for. */
struct main_greenlet {
    uint64_t address; /* first: of the index */
    uint64_t state;   /* greenlet's ThreadState; 0: the thread has exited */
    uint64_t current; /* the greenlet that runs; 0: unknown */
    uint32_t thread;  /* index, or PA_NONE */
};

struct reader {
    struct pa_graph *graph;
    PA_ARRAY(struct main_greenlet) mains;
    struct pa_index main_index;
    PA_ARRAY(uint64_t) types; /* of greenlets, for a search of memory */
    uint64_t type;            /* the one that is searched for */
    bool collecting;          /* during a collection the links of its lists are no links */
};

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

static void add_type(struct reader *reader, uint64_t type)
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
    struct reader *reader = context;
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

static void search_memory(struct reader *reader)
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
static void find_all(struct reader *reader)
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

/* ---- threads */

/*
 * The thread of a suspended greenlet: its saved exception state is linked, through those of the generators that it is in, to the thread's
 * own. CPython: Include/cpython/pystate.h, PyThreadState.exc_state; greenlet: TExceptionState.cpp.
 */
static uint32_t thread_of_exceptions(struct pa_graph *graph, uint64_t item)
{
    uint64_t mark = 0; /* a circle comes back to it: Brent's algorithm */
    for (uint32_t step = 0; item != 0 && item != mark && step < PA_MAX_EXCEPTION_ITEMS && pa_work_step(graph->work); step++) {
        if ((step & (step - 1)) == 0)
            mark = item;
        for (uint32_t i = 0; i < graph->threads.count; i++) {
            if (item - graph->threads.items[i].address < PA_OFFSET(graph->layout, thread_size))
                return i;
        }
        if (item % 8 != 0 || !pa_memory_u64(graph->memory, item + STACKITEM_PREVIOUS, &item))
            break;
    }
    return PA_NONE;
}

static struct main_greenlet *main_of(struct reader *reader, uint64_t address)
{
    uint32_t id = pa_index_find(&reader->main_index, reader->mains.items, sizeof(struct main_greenlet), address);
    return id == PA_NONE ? NULL : &reader->mains.items[id];
}

static void read_mains(struct reader *reader)
{
    struct pa_graph *graph = reader->graph;
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++) {
        const struct pa_greenlet *greenlet = &graph->greenlets.items[i];
        struct main_greenlet main = {.address = greenlet->address, .thread = PA_NONE};
        if (!greenlet->is_main || !PA_HAS(graph->layout, greenlet_impl_thread_state) ||
            !pa_memory_u64(graph->memory, greenlet->impl + PA_OFFSET(graph->layout, greenlet_impl_thread_state), &main.state))
            continue;
        if (main.state != 0 && !pa_memory_u64(graph->memory, main.state + THREAD_STATE_CURRENT, &main.current))
            main.current = 0;
        struct main_greenlet *slot = pa_array_push(graph->work, &reader->mains, PA_MAX_THREADS);
        if (!slot)
            return;
        *slot = main;
        pa_index_add(graph->work, &reader->main_index, reader->mains.items, sizeof(main), reader->mains.count - 1);
    }
}

/* Note it if a block of a thread's thread-local variables holds the address of a ThreadState that has no thread yet. */
static void look_into_block(struct reader *reader, uint64_t block, uint32_t thread)
{
    uint64_t words[TLS_WORDS];
    if (block == 0 || block % 8 != 0 || !pa_memory_read(reader->graph->memory, block, sizeof(words), words))
        return;
    for (uint32_t i = 0; i < TLS_WORDS; i++) {
        for (uint32_t k = 0; words[i] != 0 && k < reader->mains.count; k++) {
            struct main_greenlet *main = &reader->mains.items[k];
            if (main->thread == PA_NONE && main->state == words[i])
                main->thread = thread;
        }
    }
}

/*
 * A thread of which no greenlet is suspended is told by greenlet's thread-local variable, the ThreadState's address (TThreadStateDestroy.cpp,
 * g_thread_state_global). A thread's blocks of such variables are listed in its dtv, whose address is the second word at pthread_self().
 * glibc: sysdeps/x86_64/nptl/tls.h, tcbhead_t; sysdeps/generic/dl-dtv.h: 16 bytes each, and how many stands in the entry before the first
 * two. musl: src/internal/pthread_impl.h; the first word tells how many.
 */
static void look_into_thread(struct reader *reader, uint32_t thread)
{
    struct pa_memory *memory = reader->graph->memory;
    uint64_t dtv, count, block, pthread_id = reader->graph->threads.items[thread].pthread_id;
    if (pthread_id == 0 || pthread_id % 8 != 0 || !pa_memory_u64(memory, pthread_id + 8, &dtv) || dtv % 8 != 0)
        return;
    if (pa_memory_u64(memory, dtv - 16, &count) && count <= PA_MAX_TLS_MODULES) {
        for (uint64_t i = 1; i <= count && pa_work_step(reader->graph->work) && pa_memory_u64(memory, dtv + 16 * i, &block); i++)
            look_into_block(reader, block, thread);
    }
    if (pa_memory_u64(memory, dtv, &count) && count <= PA_MAX_TLS_MODULES) {
        for (uint64_t i = 1; i <= count && pa_work_step(reader->graph->work) && pa_memory_u64(memory, dtv + 8 * i, &block); i++)
            look_into_block(reader, block, thread);
    }
}

static void find_other_threads(struct reader *reader)
{
    bool missing = false;
    for (uint32_t i = 0; i < reader->mains.count; i++)
        missing = missing || (reader->mains.items[i].thread == PA_NONE && reader->mains.items[i].state != 0);
    for (uint32_t i = 0; missing && i < reader->graph->threads.count; i++)
        look_into_thread(reader, i);
}

/* ---- what each greenlet does */

static uint64_t tail_word(struct pa_graph *graph, const struct pa_greenlet *greenlet, uint32_t offset)
{
    uint64_t word;
    return PA_HAS(graph->layout, greenlet_impl_main) && pa_memory_u64(graph->memory, greenlet->impl + offset, &word) ? word : 0;
}

/* greenlet: greenlet.cpp, "States"; TStackState.cpp. A thread that has exited leaves its suspended greenlets as they are until one is asked. */
static enum pa_greenlet_state state_of(const struct pa_greenlet *greenlet, const struct impl *impl,
                                       const struct main_greenlet *main)
{
    if (main && main->current == greenlet->address && impl->stack_stop != 0)
        return PA_GREENLET_RUNNING;
    if (impl->stack_stop == 0)
        return greenlet->main == 0 ? PA_GREENLET_PENDING : PA_GREENLET_THREAD_EXITED;
    if (impl->stack_start == 0)
        return PA_GREENLET_DEAD;
    return main && main->state == 0 ? PA_GREENLET_THREAD_EXITED : PA_GREENLET_SUSPENDED;
}

static void read_state(struct reader *reader, struct pa_greenlet *greenlet)
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
    struct main_greenlet *main = main_of(reader, greenlet->main);
    greenlet->state = state_of(greenlet, &impl, main);
    greenlet->is_noticed = greenlet->state == PA_GREENLET_THREAD_EXITED && impl.stack_stop == 0;
    if (greenlet->state == PA_GREENLET_PENDING)
        greenlet->run = tail_word(graph, greenlet, PA_OFFSET(layout, greenlet_impl_run));
    if (main && main->thread == PA_NONE && greenlet->state == PA_GREENLET_SUSPENDED)
        main->thread = thread_of_exceptions(graph, impl.exc_info);
}

static void set_thread(struct reader *reader, uint32_t id)
{
    struct pa_graph *graph = reader->graph;
    struct pa_greenlet *greenlet = &graph->greenlets.items[id];
    const struct main_greenlet *main = main_of(reader, greenlet->main);
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
    struct reader reader = {.graph = graph};
    if (pa_objects_known(graph->objects, PA_KIND_GREENLET) == 0)
        return;
    pa_layout_set_greenlet(graph->objects->layout);
    find_all(&reader);
    calibrate(graph);
    read_mains(&reader);
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++)
        read_state(&reader, &graph->greenlets.items[i]);
    find_other_threads(&reader);
    for (uint32_t i = 0; i < graph->greenlets.count && pa_work_step(graph->work); i++) {
        set_thread(&reader, i);
        read_stack(graph, i);
    }
    pa_array_free(graph->work, &reader.mains);
    pa_index_free(graph->work, &reader.main_index);
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
