/*
 * Which thread a main greenlet stands for: by the exception state that a suspended greenlet has saved, else by greenlet's thread-local
 * variable.
 */
#include "greenlet_parts.h"

#include "limits.h"

#include <stdlib.h>

/* Include/cpython/pystate.h, struct _err_stackitem {exc_value, previous_item} */
#define STACKITEM_PREVIOUS 8u

/* Words of a module's thread-local variables that are looked at: greenlet has two or three. */
#define TLS_WORDS 8u

static int by_address(const void *a, const void *b)
{
    const struct pa_thread_range *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

void pa_greenlet_sort_threads(struct pa_greenlet_reader *reader)
{
    struct pa_graph *graph = reader->graph;
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        struct pa_thread_range *slot = pa_array_push(graph->work, &reader->ranges, PA_MAX_THREADS);
        if (slot)
            *slot = (struct pa_thread_range){graph->threads.items[i].address, i};
    }
    if (reader->ranges.items)
        qsort(reader->ranges.items, reader->ranges.count, sizeof(struct pa_thread_range), by_address);
}

/* The thread whose thread state an address lies in, or PA_NONE. */
static uint32_t thread_around(const struct pa_greenlet_reader *reader, uint64_t address)
{
    const struct pa_thread_range *ranges = reader->ranges.items;
    uint32_t low = 0, high = reader->ranges.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranges[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address - ranges[low - 1].address < PA_OFFSET(reader->graph->layout, thread_size) ? ranges[low - 1].thread
                                                                                                        : PA_NONE;
}

/*
 * The thread of a suspended greenlet: its saved exception state is linked, through those of the generators that it is in, to the thread's
 * own. CPython: Include/cpython/pystate.h, PyThreadState.exc_state; greenlet: TExceptionState.cpp.
 */
uint32_t pa_greenlet_thread_of_exceptions(struct pa_greenlet_reader *reader, uint64_t item)
{
    struct pa_graph *graph = reader->graph;
    uint64_t mark = 0; /* a circle comes back to it: Brent's algorithm */
    for (uint32_t step = 0; item != 0 && item != mark && reader->items++ < PA_MAX_EXCEPTION_ITEMS && pa_work_step(graph->work);
         step++) {
        if ((step & (step - 1)) == 0)
            mark = item;
        uint32_t thread = thread_around(reader, item);
        if (thread != PA_NONE)
            return thread;
        if (item % 8 != 0 || !pa_memory_u64(graph->memory, item + STACKITEM_PREVIOUS, &item))
            break;
    }
    return PA_NONE;
}

void pa_greenlet_add_state(struct pa_greenlet_reader *reader, uint64_t address, uint32_t main)
{
    struct pa_work *work = reader->graph->work;
    if (address == 0 ||
        pa_index_find(&reader->state_index, reader->states.items, sizeof(struct pa_greenlet_state_of), address) != PA_NONE)
        return;
    struct pa_greenlet_state_of *slot = pa_array_push(work, &reader->states, PA_MAX_THREADS);
    if (!slot)
        return;
    *slot = (struct pa_greenlet_state_of){address, main};
    pa_index_add(work, &reader->state_index, reader->states.items, sizeof(*slot), reader->states.count - 1);
}

/* Note it if a block of a thread's thread-local variables holds the address of a ThreadState that has no thread yet. */
static void look_into_block(struct pa_greenlet_reader *reader, uint64_t block, uint32_t thread)
{
    uint64_t words[TLS_WORDS];
    if (block == 0 || block % 8 != 0 || !pa_memory_read(reader->graph->memory, block, sizeof(words), words))
        return;
    for (uint32_t i = 0; i < TLS_WORDS; i++) {
        uint32_t id = pa_index_find(&reader->state_index, reader->states.items, sizeof(struct pa_greenlet_state_of), words[i]);
        struct pa_main_greenlet *main = id == PA_NONE ? NULL : &reader->mains.items[reader->states.items[id].main];
        if (main && main->thread == PA_NONE)
            main->thread = thread;
    }
}

/*
 * A thread of which no greenlet is suspended is told by greenlet's thread-local variable, the ThreadState's address (TThreadStateDestroy.cpp,
 * g_thread_state_global). A thread's blocks of such variables are listed in its dtv, whose address is the second word at pthread_self().
 * glibc: sysdeps/x86_64/nptl/tls.h, tcbhead_t; sysdeps/generic/dl-dtv.h: 16 bytes each, and how many stands in the entry before the first
 * two. musl: src/internal/pthread_impl.h; the first word tells how many.
 */
static void look_into_thread(struct pa_greenlet_reader *reader, uint32_t thread)
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

void pa_greenlet_find_threads(struct pa_greenlet_reader *reader)
{
    bool missing = false;
    for (uint32_t i = 0; i < reader->mains.count; i++)
        missing = missing || (reader->mains.items[i].thread == PA_NONE && reader->mains.items[i].state != 0);
    for (uint32_t i = 0; missing && i < reader->graph->threads.count; i++)
        look_into_thread(reader, i);
}
