/* The graph for Graphviz: --dot. */
#ifndef PA_DOT_H
#define PA_DOT_H

#include "output.h"
#include "view.h"

/** Print the selected groups and those that await them, directly or through others. An edge goes from who waits to what it waits for. */
enum pa_status pa_dot_print(struct pa_view *view, struct pa_output *out);

#endif
