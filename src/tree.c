/*
 * Trees of awaiters, in the form of asyncio.print_call_graph().
 *
 * The graph is printed with a stack of our own: nesting is bounded by --depth, nothing recurses over target data. What was printed in
 * full once is referred to afterwards, so that the text is as long as the graph, not as its paths.
 */
#include "text.h"

#include "limits.h"

/* --compat repeats what asyncio repeats, which grows with the number of paths; after this many nodes more than there are tasks it
   only refers. */
#define MAX_COMPAT_NODES 10000u

/* A group that is being printed: its awaiters that are still to come stand in awaiters[next, end). */
struct level {
    uint32_t group;
    uint32_t first, next, end;
};

struct tree {
    struct pa_printer *printer;
    struct pa_awaiters awaiters;
    PA_ARRAY(struct level) levels;
    uint8_t *printed; /* by group: PRINTED, ON_PATH */
    uint32_t compat_nodes;
    uint32_t max_depth, max_frames;
    bool compat;
};

enum { PRINTED = 1, ON_PATH = 2, COUNTED = 4 };

static void indent(struct tree *tree, uint32_t level)
{
    pa_out_indent(tree->printer->out, 4 * level);
}

static void print_more_frames(struct tree *tree, uint32_t level, uint32_t count)
{
    if (count == 0)
        return;
    indent(tree, level);
    pa_out(tree->printer->out, PA_STYLE_PLAIN, "  |   ");
    pa_out_format(tree->printer->out, PA_STYLE_METADATA, "\xe2\x80\xa6 %u more %s", count, count == 1 ? "frame" : "frames");
    pa_out(tree->printer->out, PA_STYLE_PLAIN, "\n");
}

static uint64_t iframe_of(const struct pa_printer *printer, uint32_t frame)
{
    return frame < printer->iframes.count ? printer->iframes.items[frame] : 0;
}

/* Where the part of a bridged stack begins, from the innermost frame on, that asyncio sees: it sees nothing inside of a generator that hands
   on what a greenlet awaits (bridge.c, portals). */
static uint32_t seen_by_asyncio(const struct pa_printer *printer)
{
    const struct pa_links *greenlets = &printer->links;
    uint32_t count = greenlets->count < printer->frames.count ? greenlets->count : printer->frames.count;
    for (uint32_t i = count; i > 1; i--) {
        if (greenlets->items[i - 1] == 0 && greenlets->items[i - 2] != 0 &&
            printer->graph->codes->frames.items[printer->frames.items[i - 1]].kind == PA_FRAME_GENERATOR)
            return i;
    }
    return 0;
}

/* The frames of a stack, innermost first; --frames keeps the innermost and the first of the user's own code. */
static void print_stack(struct tree *tree, uint32_t level, const struct pa_group *group)
{
    struct pa_printer *printer = tree->printer;
    struct pa_graph *graph = printer->graph;
    uint32_t id = printer->view->members[group->first];
    if (pa_print_native_stack(printer, 4 * level, id))
        return;
    pa_stack_frames(graph, graph->nodes.items[id].stack, &printer->frames);
    printer->iframes.count = 0;
    if (printer->request->flags & PA_REQUEST_LOCALS && !tree->compat && group->count == 1)
        pa_task_iframes(graph, id, &printer->iframes);
    bool bridged =
        (tree->compat || group->count == 1) && !pa_graph_executing(graph, id) && pa_task_greenlets(graph, id, &printer->links);
    uint32_t *frames = printer->frames.items;
    uint32_t count = 0;
    /* An object that is no coroutine has no frame: it has a note of its own. */
    for (uint32_t i = tree->compat && bridged ? seen_by_asyncio(printer) : 0; i < printer->frames.count; i++) {
        if (graph->codes->frames.items[frames[i]].kind == PA_FRAME_AWAITABLE)
            continue;
        /* asyncio does not see the frames of greenlets. */
        if (tree->compat && bridged && i < printer->links.count && printer->links.items[i] != 0)
            continue;
        if (i < printer->iframes.count)
            printer->iframes.items[count] = printer->iframes.items[i];
        frames[count++] = frames[i];
    }
    if (count == 0)
        return;
    indent(tree, level);
    pa_out(printer->out, PA_STYLE_PLAIN, "  + Call stack:\n");
    uint32_t end = count > tree->max_frames ? tree->max_frames : count, own = end;
    bool have_own = false;
    for (uint32_t i = 0; i < end; i++) {
        have_own = have_own || pa_frame_is_own(graph, frames[i]);
        pa_print_frame(tree->printer, 4 * level, frames[i], iframe_of(printer, i));
    }
    while (!have_own && own < count && !pa_frame_is_own(graph, frames[own]))
        own++;
    if (!have_own && own < count) {
        print_more_frames(tree, level, own - end);
        pa_print_frame(tree->printer, 4 * level, frames[own], iframe_of(printer, own));
        end = own + 1;
    }
    print_more_frames(tree, level, count - end);
    for (uint32_t i = printer->links.count; bridged && !tree->compat && i > 0; i--) {
        if (printer->links.items[i - 1] == 0 ||
            (i < printer->links.count && printer->links.items[i - 1] == printer->links.items[i]))
            continue;
        indent(tree, level);
        pa_out(printer->out, PA_STYLE_PLAIN, "  : runs through greenlet ");
        pa_out_address(printer->out, printer->links.items[i - 1]);
        pa_out(printer->out, PA_STYLE_PLAIN, "\n");
    }
}

static void begin_note(struct tree *tree, uint32_t level)
{
    indent(tree, level);
    pa_out(tree->printer->out, PA_STYLE_PLAIN, "  : ");
}

/* "<Type at 0x…>", of the object in the stack of a task that is no coroutine. Its address is known of a single task only. */
static void print_awaitable(struct tree *tree, uint32_t id, uint32_t frame, uint32_t place, bool single)
{
    struct pa_printer *printer = tree->printer;
    struct pa_graph *graph = printer->graph;
    struct pa_text name = graph->codes->frames.items[frame].function;
    pa_out(printer->out, PA_STYLE_PLAIN, "<");
    if (name.length)
        pa_out_target(printer->out, PA_STYLE_FUNCTION, pa_arena_text(&graph->objects->text, name), name.length);
    else
        pa_out(printer->out, PA_STYLE_PLAIN, "object of an unknown type");
    if (single) {
        pa_task_objects(graph, id, &printer->links);
        pa_out(printer->out, PA_STYLE_PLAIN, " at ");
        pa_out_address(printer->out, place < printer->links.count ? printer->links.items[place] : 0);
    }
    pa_out(printer->out, PA_STYLE_PLAIN, ">");
}

/* Objects in a stack that are no coroutines: where it is derived from, and where it ends if we cannot follow it. */
static void print_awaitables(struct tree *tree, uint32_t level, uint32_t id, bool single)
{
    struct pa_output *out = tree->printer->out;
    struct pa_graph *graph = tree->printer->graph;
    uint32_t stack = graph->nodes.items[id].stack, place, frame = pa_stack_derived_from(graph, stack, &place);
    if (frame != PA_NONE) {
        begin_note(tree, level);
        pa_out(out, PA_STYLE_PLAIN, "derived: frames of the only coroutine that ");
        print_awaitable(tree, id, frame, place, single);
        pa_out(out, PA_STYLE_PLAIN, " holds\n");
    }
    frame = graph->codes->stacks.items[stack].frame;
    if (frame != PA_NONE && graph->codes->frames.items[frame].kind == PA_FRAME_AWAITABLE) {
        begin_note(tree, level);
        pa_out(out, PA_STYLE_PLAIN, "awaits ");
        print_awaitable(tree, id, frame, 0, single);
        pa_out(out, PA_STYLE_PLAIN, ", which is followed no further\n");
    }
}

/* How a task was found that is in no list of asyncio's C code. */
static void print_found(struct tree *tree, uint32_t level, const struct pa_node *node)
{
    if (!(node->flags & PA_NODE_TASK) || node->flags & PA_NODE_LISTED || node->activity == PA_ENDED)
        return;
    begin_note(tree, level);
    pa_out(tree->printer->out, PA_STYLE_PLAIN,
           node->flags & PA_NODE_REGISTERED ? "found in a set of tasks: it is none of asyncio's C code\n"
           : node->flags & PA_NODE_TRACKED  ? "in no list of tasks, found among all objects\n"
           : node->flags & PA_NODE_SCANNED  ? "in no list of tasks, found by a search of memory\n"
                                            : "in no list of tasks, found through what refers to it\n");
}

/* Awaiters that the process does not record. */
static void print_derived(struct tree *tree, uint32_t level, const struct pa_group *group)
{
    const struct pa_graph *graph = tree->printer->graph;
    struct pa_output *out = tree->printer->out;
    uint64_t derived = 0, edges = 0;
    for (uint32_t i = 0; i < group->count && graph->derived.count > 0; i++) {
        uint32_t id = tree->printer->view->members[group->first + i];
        const struct pa_node *node = &graph->nodes.items[id];
        edges += node->edge_count;
        for (uint32_t k = 0; k < node->edge_count; k++)
            derived += pa_edge_is_derived(graph, id, graph->edges.items[node->first_edge + k]);
    }
    if (derived == 0)
        return;
    begin_note(tree, level);
    if (derived < edges) {
        pa_out_count(out, derived);
        pa_out(out, PA_STYLE_PLAIN, " of its awaiters derived");
    } else {
        pa_out(out, PA_STYLE_PLAIN, "awaiters derived");
    }
    pa_out(out, PA_STYLE_PLAIN, " from what they wait for: asyncio does not record them here\n");
}

/* What we know beyond asyncio's form, a line each. */
static void print_notes(struct tree *tree, uint32_t level, const struct pa_group *group)
{
    struct pa_printer *printer = tree->printer;
    struct pa_graph *graph = printer->graph;
    struct pa_output *out = printer->out;
    uint32_t id = printer->view->members[group->first];
    const struct pa_node *node = &graph->nodes.items[id];
    bool single = group->count == 1;
    print_awaitables(tree, level, id, single);
    if (node->flags & PA_NODE_TASK && (node->activity == PA_RUNNING || node->activity == PA_EXECUTING) && single) {
        begin_note(tree, level);
        pa_out(out, PA_STYLE_PLAIN, node->activity == PA_RUNNING ? "running" : "executing, below another task");
        if (node->thread != PA_NO_THREAD) {
            pa_out(out, PA_STYLE_PLAIN, " in ");
            pa_print_thread(printer, node->thread);
        }
        pa_out(out, PA_STYLE_PLAIN, "\n");
    } else if (node->state == PA_FAILED_STATE && single) {
        pa_print_failure(printer, 4 * level, id);
    } else if (node->state == PA_FAILED_STATE) {
        pa_print_failures(printer, 4 * level, printer->view->members + group->first, group->count);
    } else if (node->state != PA_PENDING || node->activity == PA_CREATED || node->activity == PA_READY) {
        begin_note(tree, level);
        pa_out(out, PA_STYLE_PLAIN,
               node->state != PA_PENDING      ? pa_state_name(node->state)
               : node->activity == PA_CREATED ? "created, not started"
                                              : "ready to run");
        pa_out(out, PA_STYLE_PLAIN, "\n");
    }
    pa_print_waits_on(printer, 4 * level, printer->view->members + group->first, group->count);
    print_found(tree, level, node);
    print_derived(tree, level, group);
    uint64_t stale = 0;
    for (uint32_t i = 0; i < group->count; i++)
        stale += graph->nodes.items[printer->view->members[group->first + i]].stale;
    if (stale > 0) {
        begin_note(tree, level);
        pa_out_counted(out, stale, "awaiter has ended and is left out\n", "awaiters have ended and are left out\n");
    }
    if (node->flags & PA_NODE_TASK && single)
        pa_print_origin(printer, 4 * level, id);
    if (node->flags & PA_NODE_TASK && single && printer->request->flags & PA_REQUEST_CONTEXT)
        pa_print_context(printer, 4 * level, id);
    for (uint32_t i = 0; single && i < graph->problems.count; i++) {
        if (graph->problems.items[i].node != id)
            continue;
        begin_note(tree, level);
        pa_out_format(out, PA_STYLE_HIGHLIGHT, "%s ", graph->problems.items[i].what);
        pa_out_address(out, graph->problems.items[i].address);
        pa_out_format(out, PA_STYLE_PLAIN, ": %s\n", graph->problems.items[i].why);
    }
}

/* "* Task(…)", or "* 4,096 tasks in fetch (app.py:16), waiting for a lock: Task-2, Task-3, …" */
static void print_title(struct tree *tree, uint32_t level, const struct pa_group *group, uint32_t awaiting)
{
    struct pa_printer *printer = tree->printer;
    struct pa_graph *graph = printer->graph;
    struct pa_output *out = printer->out;
    const uint32_t *members = printer->view->members + group->first;
    const struct pa_node *node = &graph->nodes.items[members[0]];
    indent(tree, level);
    pa_out(out, PA_STYLE_PLAIN, "* ");
    if (group->count == 1) {
        pa_print_node(printer, members[0]);
        pa_out(out, PA_STYLE_PLAIN, "\n");
        return;
    }
    if (awaiting < group->count) {
        pa_out_count(out, awaiting);
        pa_out(out, PA_STYLE_PLAIN, " of ");
    }
    pa_out_counted(out, group->count, "task ", "tasks ");
    uint32_t frame = pa_stack_telling_frame(graph, node->stack);
    pa_print_place(printer, frame);
    pa_out_format(out, PA_STYLE_PLAIN, "%s%s", frame == PA_NONE ? "" : ", ",
                  node->state == PA_PENDING ? pa_activity_name(node->activity) : pa_state_name(node->state));
    const char *noun = pa_group_waits_for(printer, members[0]);
    if (noun)
        pa_out_format(out, PA_STYLE_PLAIN, " for %s", noun);
    pa_out(out, PA_STYLE_PLAIN, ": ");
    for (uint32_t i = 0; i < group->count && i < PA_GROUP_NAMES; i++) {
        if (i > 0)
            pa_out(out, PA_STYLE_PLAIN, ", ");
        pa_print_short(printer, members[i]);
    }
    pa_out(out, PA_STYLE_PLAIN, group->count > PA_GROUP_NAMES ? ", \xe2\x80\xa6\n" : "\n");
}

/*
 * What stands below the deepest level that is printed: how many more levels, and where they lead. Breadth first over groups, each once.
 * The awaiters that the last level of the tree has been given are consumed.
 */
static void print_deeper(struct tree *tree, uint32_t level, uint32_t first)
{
    struct pa_view *view = tree->printer->view;
    struct pa_output *out = tree->printer->out;
    uint32_t levels = 0, root = PA_NONE, more_roots = 0, begin = first;
    for (uint32_t i = first; i < tree->awaiters.count; i++)
        tree->printed[tree->awaiters.items[i].group] |= COUNTED;
    while (begin < tree->awaiters.count && view->graph->work->fatal == PA_OK) {
        uint32_t end = tree->awaiters.count;
        levels++;
        for (uint32_t i = begin; i < end && pa_work_step(view->graph->work); i++) {
            uint32_t before = tree->awaiters.count, kept = before;
            pa_view_awaiters(view, tree->awaiters.items[i].group, &tree->awaiters);
            if (tree->awaiters.count == before) {
                more_roots += root != PA_NONE;
                root = root == PA_NONE ? tree->awaiters.items[i].group : root;
            }
            for (uint32_t k = before; k < tree->awaiters.count; k++) {
                uint8_t *mark = &tree->printed[tree->awaiters.items[k].group];
                if (!(*mark & COUNTED))
                    tree->awaiters.items[kept++] = tree->awaiters.items[k];
                *mark |= COUNTED;
            }
            tree->awaiters.count = kept;
        }
        begin = end;
    }
    for (uint32_t i = first; i < tree->awaiters.count; i++)
        tree->printed[tree->awaiters.items[i].group] &= (uint8_t)~COUNTED;
    tree->awaiters.count = first;

    indent(tree, level);
    pa_out(out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
    pa_out_counted(out, levels, "more level", "more levels");
    if (root == PA_NONE) {
        pa_out(out, PA_STYLE_PLAIN, ", which lead back to where they came from\n");
        return;
    }
    pa_out(out, PA_STYLE_PLAIN, ", root: ");
    pa_print_node(tree->printer, view->members[view->groups.items[root].first]);
    if (more_roots > 0) {
        pa_out(out, PA_STYLE_PLAIN, " and ");
        pa_out_counted(out, more_roots, "other", "others");
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}

/* Whether a group that comes up again is only referred to. */
static bool only_refer(struct tree *tree, uint32_t group)
{
    if (!tree->compat)
        return tree->printed[group] & PRINTED;
    return tree->printed[group] & ON_PATH || tree->compat_nodes > MAX_COMPAT_NODES + tree->printer->view->nodes;
}

/* Print one group without its awaiters, and open a level for these. */
static void enter(struct tree *tree, uint32_t level, uint32_t id, uint32_t awaiting)
{
    struct pa_printer *printer = tree->printer;
    const struct pa_group *group = &printer->view->groups.items[id];
    const struct pa_node *node = &printer->graph->nodes.items[printer->view->members[group->first]];
    print_title(tree, level, group, awaiting);
    if (only_refer(tree, id)) {
        if (!tree->compat) {
            begin_note(tree, level);
            pa_out(printer->out, PA_STYLE_METADATA,
                   tree->printed[id] & ON_PATH && node->flags & PA_NODE_IN_CYCLE ? "shown above: a cycle" : "shown above");
            pa_out(printer->out, PA_STYLE_PLAIN, "\n");
        }
        return;
    }
    tree->printed[id] |= PRINTED;
    tree->compat_nodes++;
    print_stack(tree, level, group);
    if (!tree->compat)
        print_notes(tree, level, group);
    uint32_t first = tree->awaiters.count;
    pa_view_awaiters(printer->view, id, &tree->awaiters);
    if (tree->awaiters.count == first)
        return;
    indent(tree, level);
    pa_out(printer->out, PA_STYLE_PLAIN, "  + Awaited by:\n");
    if (level + 1 > tree->max_depth) {
        print_deeper(tree, level + 1, first);
        return;
    }
    struct level *slot = pa_array_push(printer->graph->work, &tree->levels, PA_NONE);
    if (!slot)
        return;
    *slot = (struct level){id, first, first, tree->awaiters.count};
    tree->printed[id] |= ON_PATH;
}

static void print_tree(struct tree *tree, uint32_t group)
{
    struct pa_work *work = tree->printer->graph->work;
    enter(tree, 0, group, tree->printer->view->groups.items[group].count);
    while (tree->levels.count > 0 && pa_work_step(work)) {
        struct level *level = &tree->levels.items[tree->levels.count - 1];
        if (level->next == level->end) {
            tree->printed[level->group] &= (uint8_t)~ON_PATH;
            tree->awaiters.count = level->first;
            tree->levels.count--;
            continue;
        }
        struct pa_awaiter awaiter = tree->awaiters.items[level->next++];
        enter(tree, tree->levels.count, awaiter.group, awaiter.count);
    }
}

void pa_print_trees(struct pa_printer *printer)
{
    struct pa_view *view = printer->view;
    struct pa_work *work = view->graph->work;
    const struct pa_request *request = printer->request;
    struct tree tree = {
        .printer = printer,
        .max_depth = request->depth ? request->depth : PA_DEFAULT_DEPTH,
        .max_frames = request->frames ? request->frames : PA_NONE,
        .compat = request->flags & PA_REQUEST_COMPAT,
    };
    uint32_t limit = request->limit ? request->limit : PA_DEFAULT_GROUPS;
    if (request->flags & (PA_REQUEST_ALL | PA_REQUEST_COMPAT) || view->reason == PA_BECAUSE_NAMED)
        limit = PA_NONE;
    tree.printed = view->groups.count ? pa_work_resize(work, NULL, 0, view->groups.count) : NULL;
    if (!tree.printed)
        return;
    memset(tree.printed, 0, view->groups.count);
    uint32_t shown = 0, left = 0;
    for (uint32_t i = 0; i < view->order.count && pa_work_step(work); i++) {
        uint32_t group = view->order.items[i];
        /* What stands below another one already needs no place of its own, unless the user named it. */
        if (tree.printed[group] & PRINTED && !tree.compat && view->reason != PA_BECAUSE_NAMED)
            continue;
        if (shown == limit) {
            left++;
            continue;
        }
        print_tree(&tree, group);
        shown++;
    }
    if (left > 0) {
        pa_out(printer->out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
        pa_out_counted(printer->out, left, "more group", "more groups");
        pa_out(printer->out, PA_STYLE_PLAIN, "; --all shows them, --limit N more of them\n");
    }
    pa_work_resize(work, tree.printed, view->groups.count, 0);
    pa_array_free(work, &tree.awaiters);
    pa_array_free(work, &tree.levels);
}
