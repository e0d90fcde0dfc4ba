/* The threads other than the one that died, grouped by equal stacks. See report.h. */
#include "report.h"

#include "limits.h"

#include <stdlib.h>

/* Threads that run no Python are told by their innermost native frames; of how many, since each has to be unwound. */
#define NATIVE_THREADS 64u
#define NATIVE_FRAMES  8u

static uint64_t mix_text(uint64_t key, const struct pa_native *native, struct pa_text text)
{
    const char *bytes = pa_arena_text(&native->text, text);
    for (uint32_t i = 0; i < text.length; i++)
        key = pa_mix(key + (uint8_t)bytes[i] + 1);
    return pa_mix(key + 257);
}

/* The key of a thread without Python: never below 2^33, where those of Python's stacks are. */
static uint64_t native_key(struct pa_report *report, uint32_t number)
{
    const struct pa_native *native =
        report->natives.count < NATIVE_THREADS ? pa_natives_get(&report->natives, report->graph, number) : NULL;
    uint64_t key = 0;
    for (uint32_t i = 0; native && i < native->frames.count && i < NATIVE_FRAMES; i++)
        key = mix_text(mix_text(key, native, native->frames.items[i].function), native, native->frames.items[i].object);
    return key | 1ull << 63;
}

/* The Python stack of a thread: of several interpreters' thread states the first that has one. */
static uint32_t stack_of(const struct pa_graph *graph, uint32_t number)
{
    for (uint32_t i = 0; i < graph->threads.count; i++) {
        if (graph->threads.items[i].number == number && graph->threads.items[i].stack != 0)
            return graph->threads.items[i].stack;
    }
    return 0;
}

/* In groups: key, stack and, for the time being, in first the thread. Then equal ones become one. */
static int by_key(const void *a, const void *b)
{
    const struct pa_report_group *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The biggest first, then the one with the lowest thread. */
static int by_size(const void *a, const void *b, void *context)
{
    const struct pa_report *report = context;
    const struct pa_report_group *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    uint32_t left = report->members.items[x->first], right = report->members.items[y->first];
    return left < right ? -1 : left > right;
}

void pa_report_group_threads(struct pa_report *report)
{
    struct pa_work *work = report->graph->work;
    for (uint32_t i = 0; i < report->infos.count && pa_work_step(work); i++) {
        uint32_t number = report->infos.items[i].number, stack = stack_of(report->graph, number);
        struct pa_report_group *slot = number == report->number ? NULL : pa_array_push(work, &report->groups, PA_MAX_THREADS);
        if (slot)
            *slot = (struct pa_report_group){stack, stack, i, 1};
        if (slot && stack == 0)
            slot->key = native_key(report, number);
    }
    if (!report->groups.items)
        return;
    qsort(report->groups.items, report->groups.count, sizeof(struct pa_report_group), by_key);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < report->groups.count; i++) {
        struct pa_report_group group = report->groups.items[i];
        uint32_t *member = pa_array_push(work, &report->members, PA_MAX_THREADS);
        if (!member)
            break;
        *member = group.first;
        if (kept > 0 && report->groups.items[kept - 1].key == group.key) {
            report->groups.items[kept - 1].count++;
            continue;
        }
        group.first = report->members.count - 1;
        report->groups.items[kept++] = group;
    }
    report->groups.count = kept;
    qsort_r(report->groups.items, kept, sizeof(struct pa_report_group), by_size, report);
}
