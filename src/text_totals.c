/* How many tasks do what: the last line of the head. See text.h. */
#include "text.h"
#include "totals.h"

#include <stdlib.h>

struct part {
    const char *name;
    uint32_t count;
    uint32_t place; /* sorting keeps the order of equal ones */
};

static int most_first(const void *a, const void *b)
{
    const struct part *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

/* Names that occur twice, as those of queues do, are one part. */
static void add(struct part *parts, uint32_t *count, const char *name, uint32_t tasks)
{
    uint32_t i = 0;
    while (i < *count && strcmp(parts[i].name, name) != 0)
        i++;
    if (i == *count)
        parts[(*count)++] = (struct part){name, 0, i};
    parts[i].count += tasks;
}

/* ": 3,900 lock, 190 socket, 6 ready" */
static void print_parts(struct pa_output *out, const struct pa_totals *totals)
{
    struct part parts[PA_ENDED + PA_WAITS_COUNT];
    uint32_t count = 0, unknown = totals->activities[PA_WAITING];
    for (uint32_t i = 0; i < PA_ENDED; i++) {
        if (i != PA_WAITING)
            add(parts, &count, pa_activity_name(i), totals->activities[i]);
    }
    for (uint32_t i = 0; i < PA_WAITS_COUNT; i++)
        unknown -= totals->waits[i];
    for (uint32_t i = 0; i < PA_WAITS_COUNT; i++) {
        /* A future of which no more is known is like one that was not looked at. */
        bool known = i != PA_WAITS_FUTURE || unknown == 0;
        add(parts, &count, known ? pa_wait_kind_name(i) : pa_activity_name(PA_WAITING), totals->waits[i]);
    }
    add(parts, &count, pa_activity_name(PA_WAITING), unknown);
    qsort(parts, count, sizeof(*parts), most_first);
    for (uint32_t i = 0; i < count && parts[i].count > 0; i++) {
        pa_out(out, PA_STYLE_PLAIN, i == 0 ? ": " : ", ");
        pa_out_count(out, parts[i].count);
        pa_out(out, PA_STYLE_PLAIN, " ");
        pa_out(out, PA_STYLE_PLAIN, parts[i].name);
    }
}

void pa_print_totals(struct pa_printer *printer)
{
    struct pa_graph *graph = printer->graph;
    struct pa_output *out = printer->out;
    struct pa_totals totals;
    pa_totals_count(&totals, graph);
    if (graph->live_count == 0) {
        pa_out(out, PA_STYLE_PLAIN, "No task is alive");
    } else {
        pa_out_counted(out, graph->live_count, "task", "tasks");
        print_parts(out, &totals);
    }
    /* Otherwise they are those that something led to, by chance. */
    if (totals.activities[PA_ENDED] > 0 && graph->searched) {
        pa_out(out, PA_STYLE_PLAIN, "; ");
        pa_out_counted(out, totals.activities[PA_ENDED], "ended but referenced", "ended but referenced");
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
}
