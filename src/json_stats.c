/* How many tasks stand where, in the JSON document. See json_writer.h. */
#include "json_writer.h"

#include "stats.h"

static void write_stats_counts(struct pa_output *out, const struct pa_stats_row *row)
{
    uint32_t pending = row->tasks - row->counts[PA_STATS_DONE] - row->counts[PA_STATS_FAILED] - row->counts[PA_STATS_CANCELLED];
    number(out, "\"tasks\": %u, \"states\": {\"pending\": %u", row->tasks, pending);
    for (uint32_t i = PA_STATS_DONE; i <= PA_STATS_CANCELLED; i++)
        number(out, ", \"%s\": %u", pa_stats_column_name(i), row->counts[i]);
    raw(out, "}, \"activities\": {");
    for (uint32_t i = 0; i < PA_STATS_DONE; i++)
        number(out, "\"%s\": %u, ", pa_stats_column_name(i), row->counts[i]);
    number(out, "\"ended\": %u}", row->tasks - pending);
}

/* "frames": the tasks of each telling frame, those of none last of equal ones */
void pa_json_stats(struct pa_output *out, struct pa_view *view)
{
    struct pa_stats stats;
    if (pa_stats_make(&stats, view)) {
        raw(out, "\"stats\": {");
        write_stats_counts(out, &stats.total);
        raw(out, ", \"frames\": [");
        for (uint32_t i = 0; i < stats.count && pa_work_step(view->graph->work); i++) {
            raw(out, i > 0 ? ",\n {\"frame\": " : "\n {\"frame\": ");
            pa_json_frame(out, view->graph, stats.rows[i].frame);
            raw(out, ", ");
            write_stats_counts(out, &stats.rows[i]);
            raw(out, "}");
        }
        raw(out, "]},\n");
    }
    pa_stats_free(&stats);
}
