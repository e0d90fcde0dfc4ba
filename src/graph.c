/* The graph's containers, and the order in which it is filled. See graph.h. */
#include "graph.h"

#include <math.h>
#include <time.h>

void pa_graph_init(struct pa_graph *graph, struct pa_codes *codes, uint64_t runtime)
{
    *graph = (struct pa_graph){
        .work = codes->objects->work,
        .memory = codes->objects->memory,
        .layout = codes->objects->layout,
        .objects = codes->objects,
        .codes = codes,
        .runtime = runtime,
        .clock = NAN,
    };
}

void pa_graph_deinit(struct pa_graph *graph)
{
    struct pa_work *work = graph->work;
    pa_holders_free(graph);
    pa_array_free(work, &graph->interpreters);
    pa_array_free(work, &graph->threads);
    pa_array_free(work, &graph->thread_ids);
    pa_index_free(work, &graph->thread_id_index);
    pa_array_free(work, &graph->thread_frames);
    pa_array_free(work, &graph->greenlets);
    pa_array_free(work, &graph->greenlet_frames);
    pa_array_free(work, &graph->loops);
    pa_array_free(work, &graph->nodes);
    pa_array_free(work, &graph->edges);
    pa_array_free(work, &graph->derived);
    pa_array_free(work, &graph->executing);
    pa_index_free(work, &graph->executing_index);
    pa_array_free(work, &graph->cycle_members);
    pa_array_free(work, &graph->cycle_ends);
    pa_array_free(work, &graph->problems);
    pa_index_free(work, &graph->thread_index);
    pa_index_free(work, &graph->thread_frame_index);
    pa_index_free(work, &graph->greenlet_index);
    pa_array_free(work, &graph->awaitables);
    pa_index_free(work, &graph->awaitable_index);
    pa_index_free(work, &graph->loop_index);
    pa_array_free(work, &graph->runs);
    pa_index_free(work, &graph->run_index);
    pa_chain_free(work, &graph->chain);
    pa_chain_free(work, &graph->inner_chain);
}

enum pa_status pa_graph_build(struct pa_graph *graph)
{
    struct timespec now;
    if (graph->work->target->flags & PA_TARGET_OWN_CLOCK && clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        graph->clock = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
    pa_read_threads(graph);
    pa_learn_classes(graph);
    if (graph->work->fatal == PA_OK)
        pa_read_greenlets(graph);
    if (graph->work->fatal == PA_OK)
        pa_read_thread_frames(graph);
    if (graph->work->fatal == PA_OK)
        pa_read_tasks(graph);
    if (graph->work->fatal == PA_OK)
        pa_find_cycles(graph);
    return graph->work->fatal;
}

void pa_graph_problem(struct pa_graph *graph, const char *what, uint64_t address, const char *why, uint32_t node)
{
    /* What could not be read because the user pressed Ctrl-C is no problem of the target. */
    if (graph->work->fatal != PA_OK)
        return;
    graph->problem_count++;
    struct pa_problem *problem = pa_array_push(graph->work, &graph->problems, PA_MAX_PROBLEMS);
    if (problem)
        *problem = (struct pa_problem){.what = what, .why = why, .address = address, .node = node};
}

/* The run that follows in the array begins where this one ends. */
static uint32_t run_end(const struct pa_graph *graph, uint32_t run)
{
    return run + 1 < graph->runs.count ? graph->runs.items[run + 1].first : graph->nodes.count;
}

uint32_t pa_graph_find(const struct pa_graph *graph, uint64_t address)
{
    uint32_t run = pa_index_find(&graph->run_index, graph->runs.items, sizeof(struct pa_node_run), pa_node_page(address));
    for (; run != PA_NONE; run = graph->runs.items[run].next) {
        uint32_t end = run_end(graph, run);
        for (uint32_t id = graph->runs.items[run].first; id < end; id++) {
            if (graph->nodes.items[id].address == address)
                return id;
        }
    }
    return PA_NONE;
}

/* Whether a node at @p address goes on with the last run. */
static bool continues_run(const struct pa_graph *graph, uint64_t address)
{
    return graph->runs.count > 0 && graph->runs.items[graph->runs.count - 1].page == pa_node_page(address) &&
           address > graph->nodes.items[graph->nodes.count - 1].address;
}

/* Begin a run with the node that will come next. */
static bool add_run(struct pa_graph *graph, uint64_t address)
{
    uint64_t page = pa_node_page(address);
    struct pa_node_run *run = pa_array_push(graph->work, &graph->runs, PA_MAX_NODES);
    if (!run)
        return false;
    uint32_t id = graph->runs.count - 1;
    uint32_t other = pa_index_find(&graph->run_index, graph->runs.items, sizeof(struct pa_node_run), page);
    *run = (struct pa_node_run){.page = page, .first = graph->nodes.count, .next = PA_NONE};
    graph->only_run = other == PA_NONE;
    if (other != PA_NONE) {
        run->next = graph->runs.items[other].next;
        graph->runs.items[other].next = id;
    } else if (!pa_index_add(graph->work, &graph->run_index, graph->runs.items, sizeof(struct pa_node_run), id)) {
        graph->runs.count--;
        return false;
    }
    return true;
}

uint32_t pa_graph_node(struct pa_graph *graph, uint64_t address)
{
    bool continues = continues_run(graph, address);
    if (!continues || !graph->only_run) {
        uint32_t id = pa_graph_find(graph, address);
        if (id != PA_NONE)
            return id;
    }
    /* Room for the node first, so that no run is without one. */
    struct pa_node *node = pa_array_push(graph->work, &graph->nodes, PA_MAX_NODES);
    if (!node)
        return PA_NONE;
    graph->nodes.count--;
    if (!continues && !add_run(graph, address))
        return PA_NONE;
    *node = (struct pa_node){.address = address, .thread = PA_NO_THREAD, .loop = PA_NO_LOOP};
    return graph->nodes.count++;
}

const struct pa_executing *pa_graph_executing(const struct pa_graph *graph, uint32_t node)
{
    uint32_t id = pa_index_find(&graph->executing_index, graph->executing.items, sizeof(struct pa_executing), node);
    return id == PA_NONE ? NULL : &graph->executing.items[id];
}
