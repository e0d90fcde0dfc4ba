/* What blocks a gevent Hub, in words. See text.h. */
#include "hub.h"
#include "text.h"

void pa_print_blocked_hub(struct pa_printer *printer, const struct pa_hub_blocked *blocked)
{
    const struct pa_graph *graph = printer->graph;
    struct pa_output *out = printer->out;
    const struct pa_greenlet *running = &graph->greenlets.items[blocked->running];
    pa_out(out, PA_STYLE_PLAIN, "the Hub of ");
    pa_print_thread(printer, running->thread);
    pa_out(out, PA_STYLE_PLAIN, running->is_main ? " cannot run: its main greenlet " : " cannot run: greenlet ");
    pa_out_address(out, running->address);
    pa_out(out, PA_STYLE_PLAIN, " blocks the thread in ");
    pa_out_target(out, PA_STYLE_FUNCTION, blocked->call.function, (uint32_t)strlen(blocked->call.function));
    pa_out(out, PA_STYLE_PLAIN, "()");
    if (blocked->call.own != PA_NONE) {
        pa_out(out, PA_STYLE_PLAIN, ", called ");
        pa_print_place(printer, blocked->call.own);
    }
    pa_out(out, PA_STYLE_PLAIN, "; ");
    pa_out_counted(out, blocked->others, "other greenlet waits", "other greenlets wait");
}
