/* The objects that tasks wait in, a line each. See text.h. */
#include "text.h"

#include "limits.h"
#include "number.h"
#include "pool.h"

static void print_member(struct pa_printer *printer, const struct pa_member *member)
{
    struct pa_output *out = printer->out;
    const struct pa_arena *text = &printer->graph->objects->text;
    char number[PA_FLOAT_BYTES];
    pa_out_target(out, PA_STYLE_VARIABLE, member->name, member->name_length);
    pa_out(out, PA_STYLE_PLAIN, "=");
    switch (member->kind) {
    case PA_MEMBER_BOOL:
        pa_out(out, PA_STYLE_PLAIN, member->number ? "True" : "False");
        break;
    case PA_MEMBER_INT:
        pa_out_format(out, PA_STYLE_PLAIN, "%lld", (long long)member->number);
        break;
    case PA_MEMBER_FLOAT:
        pa_float_repr(member->real, 1, number);
        pa_out(out, PA_STYLE_PLAIN, number);
        break;
    default: {
        /* A container made in C has its module in its name: collections.deque */
        const char *name = pa_arena_text(text, member->type);
        const char *dot = member->type.length ? memrchr(name, '.', member->type.length) : NULL;
        uint32_t skip = dot ? (uint32_t)(dot - name) + 1 : 0;
        if (member->type.length > 0)
            pa_out_target(out, PA_STYLE_PLAIN, name + skip, member->type.length - skip);
        else
            pa_out(out, PA_STYLE_PLAIN, "container"); /* of a type that has no name without its file */
        pa_out_format(out, PA_STYLE_PLAIN, "[%lld]", (long long)member->number);
    }
    }
}

static void print_pool(struct pa_printer *printer, uint32_t indent, const char *begin, uint64_t object)
{
    struct pa_output *out = printer->out;
    const struct pa_members *members = pa_pool_members(&printer->pools, object);
    struct pa_text type = pa_type_name_of(printer->graph->objects, object);
    pa_out_indent(out, indent);
    pa_out(out, PA_STYLE_PLAIN, begin);
    pa_out_target(out, PA_STYLE_FUNCTION, pa_arena_text(&printer->graph->objects->text, type), type.length);
    pa_out(out, PA_STYLE_PLAIN, "(");
    for (uint32_t i = 0; i < members->count; i++) {
        if (i > 0)
            pa_out(out, PA_STYLE_PLAIN, ", ");
        print_member(printer, &members->items[i]);
    }
    pa_out(out, PA_STYLE_PLAIN, members->more ? ", \xe2\x80\xa6)\n" : ")\n");
}

/* Leave of the first task's objects those that every other one waits in too. @return how many. */
static uint32_t common(struct pa_printer *printer, const uint32_t *nodes, uint32_t count, uint64_t *objects, uint32_t found)
{
    uint64_t others[PA_POOLS_SHOWN];
    for (uint32_t i = 1; i < count && found > 0 && pa_work_step(printer->graph->work); i++) {
        uint32_t other = pa_pools_of(&printer->pools, nodes[i], others), kept = 0;
        for (uint32_t k = 0; k < found; k++) {
            bool has = false;
            for (uint32_t m = 0; m < other; m++)
                has = has || others[m] == objects[k];
            if (has)
                objects[kept++] = objects[k];
        }
        found = kept;
    }
    return found;
}

void pa_print_pools(struct pa_printer *printer, uint32_t indent, const uint32_t *nodes, uint32_t count)
{
    uint64_t objects[PA_POOLS_SHOWN];
    uint32_t found = pa_pools_of(&printer->pools, nodes[0], objects);
    bool all = count <= PA_MAX_WAIT_TOGETHER;
    if (all)
        found = common(printer, nodes, count, objects, found);
    for (uint32_t i = 0; i < found; i++)
        print_pool(printer, indent, all ? "  : in " : "  : the first in ", objects[i]);
}
