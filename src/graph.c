/* The graph's containers, and the order in which it is filled. See graph.h. */
#include "graph.h"

void pa_graph_init(struct pa_graph *graph, struct pa_codes *codes, uint64_t runtime)
{
    *graph = (struct pa_graph){
        .work = codes->objects->work,
        .memory = codes->objects->memory,
        .layout = codes->objects->layout,
        .objects = codes->objects,
        .codes = codes,
        .runtime = runtime,
    };
}

void pa_graph_deinit(struct pa_graph *graph)
{
    struct pa_work *work = graph->work;
    pa_array_free(work, &graph->interpreters);
    pa_array_free(work, &graph->threads);
    pa_array_free(work, &graph->thread_frames);
    pa_array_free(work, &graph->loops);
    pa_array_free(work, &graph->nodes);
    pa_array_free(work, &graph->edges);
    pa_array_free(work, &graph->executing);
    pa_array_free(work, &graph->cycle_members);
    pa_array_free(work, &graph->cycle_ends);
    pa_array_free(work, &graph->problems);
    pa_index_free(work, &graph->thread_index);
    pa_index_free(work, &graph->thread_frame_index);
    pa_index_free(work, &graph->loop_index);
    pa_index_free(work, &graph->node_index);
    pa_chain_free(work, &graph->chain);
}

enum pa_status pa_graph_build(struct pa_graph *graph)
{
    pa_read_threads(graph);
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

uint32_t pa_graph_find(const struct pa_graph *graph, uint64_t address)
{
    return pa_index_find(&graph->node_index, graph->nodes.items, sizeof(struct pa_node), address);
}

uint32_t pa_graph_node(struct pa_graph *graph, uint64_t address)
{
    uint32_t id = pa_graph_find(graph, address);
    if (id != PA_NONE)
        return id;
    struct pa_node *node = pa_array_push(graph->work, &graph->nodes, PA_MAX_NODES);
    if (!node)
        return PA_NONE;
    *node = (struct pa_node){.address = address, .thread = PA_NO_THREAD, .loop = PA_NO_LOOP};
    id = graph->nodes.count - 1;
    if (!pa_index_add(graph->work, &graph->node_index, graph->nodes.items, sizeof(struct pa_node), id)) {
        graph->nodes.count--;
        return PA_NONE;
    }
    return id;
}

const struct pa_executing *pa_graph_executing(const struct pa_graph *graph, uint32_t node)
{
    for (uint32_t i = 0; i < graph->executing.count; i++) {
        if (graph->executing.items[i].node == node)
            return &graph->executing.items[i];
    }
    return NULL;
}
