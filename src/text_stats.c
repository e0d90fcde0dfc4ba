/* --stats as text: a row a place in the code, a column for each activity or state that occurs. See text.h. */
#include "limits.h"
#include "stats.h"
#include "text.h"

#define COUNT_WIDTH 10u

static void print_row(struct pa_printer *printer, const struct pa_stats_row *row, const struct pa_stats_row *total)
{
    struct pa_output *out = printer->out;
    pa_out_count_in(out, COUNT_WIDTH, row->tasks);
    for (uint32_t i = 0; i < PA_STATS_COLUMNS; i++) {
        if (row->counts[i] > 0)
            pa_out_count_in(out, COUNT_WIDTH + 1, row->counts[i]);
        else if (total->counts[i] > 0)
            pa_out_format(out, PA_STYLE_PLAIN, "%*s", (int)COUNT_WIDTH + 1, "-");
    }
    pa_out(out, PA_STYLE_PLAIN, "  ");
}

void pa_print_stats(struct pa_printer *printer)
{
    struct pa_output *out = printer->out;
    const struct pa_request *request = printer->request;
    uint32_t limit = request->limit ? request->limit : PA_DEFAULT_GROUPS;
    struct pa_stats stats;
    if (!pa_stats_make(&stats, printer->view) || stats.count == 0) {
        pa_stats_free(&stats);
        return;
    }
    if (request->flags & PA_REQUEST_ALL || limit > stats.count)
        limit = stats.count;
    pa_out_format(out, PA_STYLE_TITLE, "%*s", (int)COUNT_WIDTH, "tasks");
    for (uint32_t i = 0; i < PA_STATS_COLUMNS; i++) {
        if (stats.total.counts[i] > 0)
            pa_out_format(out, PA_STYLE_TITLE, "%*s", (int)COUNT_WIDTH + 1, pa_stats_column_name(i));
    }
    pa_out(out, PA_STYLE_PLAIN, "\n");
    for (uint32_t i = 0; i < limit && pa_work_step(printer->graph->work); i++) {
        print_row(printer, &stats.rows[i], &stats.total);
        if (stats.rows[i].frame == PA_NONE)
            pa_out(out, PA_STYLE_METADATA, "without a frame");
        pa_print_place(printer, stats.rows[i].frame);
        pa_out(out, PA_STYLE_PLAIN, "\n");
    }
    if (limit < stats.count) {
        pa_out(out, PA_STYLE_METADATA, "\xe2\x80\xa6 ");
        pa_out_counted(out, stats.count - limit, "more place", "more places");
        pa_out(out, PA_STYLE_PLAIN, "; --all shows them, --limit N more of them\n");
    }
    if (stats.count > 1) {
        print_row(printer, &stats.total, &stats.total);
        pa_out(out, PA_STYLE_METADATA, "in all\n");
    }
    pa_stats_free(&stats);
}
