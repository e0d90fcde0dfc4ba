/* The objects that tasks wait in, in the JSON document. See json_values.h. */
#include "json_values.h"

#include "limits.h"
#include "number.h"

#include <math.h>

void pa_json_pools_init(struct pa_json_pools *json, struct pa_graph *graph)
{
    *json = (struct pa_json_pools){0};
    pa_pools_init(&json->pools, graph);
}

void pa_json_pools_deinit(struct pa_json_pools *json)
{
    struct pa_work *work = json->pools.graph->work;
    pa_addresses_free(work, &json->objects);
    pa_pools_deinit(&json->pools);
}

void pa_json_within(struct pa_output *out, struct pa_json_pools *json, uint32_t node)
{
    uint64_t objects[PA_POOLS_SHOWN];
    uint32_t count = pa_pools_of(&json->pools, node, objects);
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!pa_addresses_add(json->pools.graph->work, &json->objects, objects[i], PA_MAX_POOLS))
            continue;
        pa_out(out, PA_STYLE_PLAIN, any ? "\", \"" : ", \"within\": [\"");
        pa_out_hex(out, PA_STYLE_PLAIN, objects[i]);
        any = true;
    }
    if (any)
        pa_out(out, PA_STYLE_PLAIN, "\"]");
}

static void write_member(struct pa_output *out, struct pa_graph *graph, const struct pa_member *member)
{
    char number[PA_FLOAT_BYTES];
    pa_out_json(out, member->name, member->name_length);
    pa_out(out, PA_STYLE_PLAIN, ": ");
    switch (member->kind) {
    case PA_MEMBER_BOOL:
        pa_out(out, PA_STYLE_PLAIN, member->number ? "true" : "false");
        break;
    case PA_MEMBER_INT:
        pa_out_format(out, PA_STYLE_PLAIN, "%lld", (long long)member->number);
        break;
    case PA_MEMBER_FLOAT:
        pa_float_repr(member->real, 1, number);
        pa_out(out, PA_STYLE_PLAIN, isfinite(member->real) ? number : "null");
        break;
    default:
        pa_out(out, PA_STYLE_PLAIN, "{\"type\": ");
        pa_out_json(out, pa_arena_text(&graph->objects->text, member->type), member->type.length);
        pa_out_format(out, PA_STYLE_PLAIN, ", \"length\": %lld}", (long long)member->number);
    }
}

void pa_json_pools(struct pa_output *out, struct pa_json_pools *json)
{
    struct pa_graph *graph = json->pools.graph;
    pa_out(out, PA_STYLE_PLAIN, "\"pools\": [");
    for (uint32_t i = 0; i < json->objects.count && pa_work_step(graph->work); i++) {
        const struct pa_members *members = pa_pool_members(&json->pools, json->objects.items[i]);
        struct pa_text type = pa_type_name_of(graph->objects, json->objects.items[i]);
        pa_out_format(out, PA_STYLE_PLAIN, "%s\n {\"id\": \"0x%llx\", \"type\": ", i > 0 ? "," : "",
                      (unsigned long long)json->objects.items[i]);
        pa_out_json(out, pa_arena_text(&graph->objects->text, type), type.length);
        pa_out(out, PA_STYLE_PLAIN, ", \"members\": {");
        for (uint32_t k = 0; k < members->count; k++) {
            if (k > 0)
                pa_out(out, PA_STYLE_PLAIN, ", ");
            write_member(out, graph, &members->items[k]);
        }
        pa_out(out, PA_STYLE_PLAIN, members->more ? "}, \"more\": true}" : "}, \"more\": false}");
    }
    pa_out(out, PA_STYLE_PLAIN, "],\n");
}
