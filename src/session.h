/* A session: everything known of one stopped target, in the order in which it is built. See pyasync.h. */
#ifndef PA_SESSION_H
#define PA_SESSION_H

#include "find.h"
#include "finding.h"
#include "output.h"

#define PA_ERROR_BYTES 1024u

struct pa_session {
    struct pa_work work;
    struct pa_memory memory;
    struct pa_found found;
    struct pa_layout layout;
    struct pa_objects objects;
    struct pa_codes codes;
    struct pa_graph graph;
    struct pa_findings findings;
    uint64_t walk_time, findings_time; /* of the processor, ns */
    enum { PA_SESSION_NEW, PA_SESSION_FOUND, PA_SESSION_WALKED } progress;
    enum pa_status asyncio_status; /* PA_FAILED: there is no asyncio, and asyncio_error says what was tried */
    char asyncio_error[PA_ERROR_BYTES];
    char error[PA_ERROR_BYTES];
    char no_python[PA_ERROR_BYTES]; /* why a report has no Python in it */
    struct pa_output out;
};

/** Whether the process has loaded asyncio, as far as that can be told. */
bool pa_session_has_asyncio(struct pa_session *session);

/** info.c: what was found and how, as text. */
enum pa_status pa_info_print(struct pa_session *session, const struct pa_request *request);

/** info.c: the same as a member "info" of the JSON document, with the comma behind it. */
void pa_info_json(struct pa_session *session, struct pa_output *out);

#endif
