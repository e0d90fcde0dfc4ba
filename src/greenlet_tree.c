/* The answer to py-awaited-by about greenlets: who waits for them, directly or through others. Depth first, on a stack of our own. */
#include "greenlet_text.h"

#include "limits.h"

#define PRINTED 1u
#define ON_PATH 2u

struct level {
    uint32_t greenlet;
    uint32_t first, next, end; /* its awaiters in tree.awaiters */
};

struct tree {
    struct pa_greenlet_listing *listing;
    struct pa_greenlet_awaiters awaiters;
    PA_ARRAY(struct level) levels;
    uint8_t *marks; /* by greenlet */
    uint32_t max_depth;
};

static void print_note(struct tree *tree, const char *text)
{
    pa_greenlet_indent(tree->listing);
    pa_out(tree->listing->out, PA_STYLE_PLAIN, "  : ");
    pa_out(tree->listing->out, PA_STYLE_PLAIN, text);
}

/* In which way it waits for what stands above it; that it joins that, its own line of what it waits for tells. */
static void print_how(struct tree *tree, const struct pa_greenlet_awaiter *awaiter)
{
    if (awaiter->how == PA_GREENLET_PARENT)
        print_note(tree, "its parent: goes on when that ends\n");
    if (awaiter->how != PA_GREENLET_LINKED)
        return;
    print_note(tree, "through ");
    pa_out_address(tree->listing->out, awaiter->object);
    pa_out(tree->listing->out, PA_STYLE_PLAIN, ", which is told when that ends\n");
}

/* Print one greenlet, and open a level for those who wait for it. */
static void enter(struct tree *tree, const struct pa_greenlet_awaiter *awaiter, bool top)
{
    struct pa_greenlet_listing *listing = tree->listing;
    struct pa_graph *graph = listing->graph;
    uint32_t id = awaiter->greenlet, first = tree->awaiters.count;
    pa_greenlet_indent(listing);
    pa_out(listing->out, PA_STYLE_PLAIN, "* ");
    pa_greenlet_print_name(listing, &graph->greenlets.items[id]);
    pa_out(listing->out, PA_STYLE_PLAIN, "\n");
    if (!top)
        print_how(tree, awaiter);
    if (tree->marks[id] & PRINTED) {
        print_note(tree, tree->marks[id] & ON_PATH ? "shown above: a cycle\n" : "shown above\n");
        return;
    }
    tree->marks[id] |= PRINTED;
    pa_greenlet_print_facts(listing, id, true);
    pa_greenlet_awaiters(graph, &listing->view->gevent, id, &tree->awaiters);
    if (tree->awaiters.count == first)
        return;
    pa_greenlet_indent(listing);
    pa_out(listing->out, PA_STYLE_PLAIN, "  + Awaited by:\n");
    if (tree->levels.count == tree->max_depth) {
        listing->level++;
        pa_greenlet_indent(listing);
        listing->level--;
        pa_out(listing->out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
        pa_out_counted(listing->out, tree->awaiters.count - first, "more greenlet", "more greenlets");
        pa_out(listing->out, PA_STYLE_PLAIN, "; --depth N shows more levels\n");
        tree->awaiters.count = first;
        return;
    }
    struct level *slot = pa_array_push(graph->work, &tree->levels, PA_NONE);
    if (!slot)
        return;
    *slot = (struct level){id, first, first, tree->awaiters.count};
    tree->marks[id] |= ON_PATH;
}

static void print_tree(struct tree *tree, uint32_t greenlet)
{
    enter(tree, &(struct pa_greenlet_awaiter){.greenlet = greenlet}, true);
    while (tree->levels.count > 0 && pa_work_step(tree->listing->graph->work)) {
        struct level *level = &tree->levels.items[tree->levels.count - 1];
        tree->listing->level = tree->levels.count;
        if (level->next < level->end) {
            struct pa_greenlet_awaiter awaiter = tree->awaiters.items[level->next++];
            enter(tree, &awaiter, false);
            continue;
        }
        tree->marks[level->greenlet] &= (uint8_t)~ON_PATH;
        tree->awaiters.count = level->first;
        tree->levels.count--;
    }
    tree->listing->level = 0;
}

void pa_greenlet_print_trees(struct pa_greenlet_listing *listing)
{
    struct pa_work *work = listing->graph->work;
    uint32_t depth = listing->view->request->depth;
    struct tree tree = {.listing = listing, .max_depth = depth ? depth : PA_DEFAULT_DEPTH};
    uint32_t size = listing->graph->greenlets.count;
    tree.marks = pa_work_resize(work, NULL, 0, size);
    if (!tree.marks)
        return;
    memset(tree.marks, 0, size);
    for (uint32_t i = 0; i < listing->view->named && pa_work_step(work); i++)
        print_tree(&tree, listing->view->selected.items[i]);
    pa_work_resize(work, tree.marks, size, 0);
    pa_array_free(work, &tree.awaiters);
    pa_array_free(work, &tree.levels);
}
