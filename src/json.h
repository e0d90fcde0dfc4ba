/* The JSON document, schema pyasync/1 (pyasync-1.schema.json). */
#ifndef PA_JSON_H
#define PA_JSON_H

#include "greenlet_view.h"
#include "native.h"
#include "session.h"
#include "view.h"

/** Print the document of a request. Every command has the same one; what differs is which tasks are in it. */
enum pa_status pa_json_print(struct pa_session *session, struct pa_view *view, const struct pa_greenlet_view *greenlets,
                             struct pa_output *out);

/** json_stacks.c: a frame as the elements of stacks are: function, file, line, kind. null for PA_NONE. */
void pa_json_frame(struct pa_output *out, struct pa_graph *graph, uint32_t frame);

/** native_json.c: --native: the member "native" with the comma behind it. */
void pa_native_json(struct pa_natives *natives, struct pa_view *view, struct pa_output *out);

#endif
