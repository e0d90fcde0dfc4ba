/* Findings in words: a line each. See text.h and finding.h. */
#include "hub.h"
#include "text.h"

#include "holder.h"
#include "limits.h"

static void words(struct pa_printer *printer, const char *text)
{
    pa_out(printer->out, PA_STYLE_PLAIN, text);
}

/* "Task-1", "Task-1, Task-2 and 4,094 more" */
static void print_tasks(struct pa_printer *printer, const struct pa_finding *finding)
{
    const uint32_t *tasks = pa_finding_tasks(printer->view->findings, finding);
    uint32_t shown = finding->task_count <= PA_GROUP_NAMES ? finding->task_count : PA_GROUP_NAMES - 1;
    for (uint32_t i = 0; i < shown; i++) {
        if (i > 0)
            pa_out(printer->out, PA_STYLE_PLAIN, i + 1 == finding->task_count ? " and " : ", ");
        pa_print_short(printer, tasks[i]);
    }
    if (shown < finding->task_count) {
        pa_out(printer->out, PA_STYLE_PLAIN, " and ");
        pa_out_counted(printer->out, finding->task_count - shown, "more", "more");
    }
}

static void print_object(struct pa_printer *printer, const struct pa_finding *finding, uint32_t place)
{
    pa_print_object(printer, pa_finding_object(printer->view->findings, finding, place));
}

static void print_party(struct pa_printer *printer, const struct pa_finding_step *step)
{
    if (step->task != PA_NONE)
        pa_print_short(printer, step->task);
    else
        pa_print_thread(printer, step->thread);
}

/* "Task-1 waits for Lock 0x7f…, held by Task-2, which waits for Task-1" */
static void print_deadlock(struct pa_printer *printer, const struct pa_finding *finding)
{
    const struct pa_finding_step *steps = printer->view->findings->steps.items + finding->first_step;
    print_party(printer, steps);
    for (uint32_t i = 0; i < finding->step_count; i++) {
        const struct pa_finding_step *next = &steps[(i + 1) % finding->step_count];
        bool own_thread = steps[i].object == 0 && next->task == PA_NONE;
        if (i == PA_GROUP_NAMES && finding->step_count - i > 1) {
            words(printer, ", \xe2\x80\xa6 ");
            pa_out_counted(printer->out, finding->step_count - i - 1, "more", "more");
            words(printer, " \xe2\x80\xa6");
            i = finding->step_count - 1;
            next = &steps[0];
            own_thread = steps[i].object == 0 && next->task == PA_NONE;
        }
        words(printer, i > 0 ? ", which " : " ");
        words(printer, own_thread ? "is run by " : "waits for ");
        if (steps[i].object != 0) {
            pa_print_object(printer, steps[i].object);
            words(printer, finding->step_count == 1 ? ", which it holds itself" : ", held by ");
        }
        if (steps[i].object == 0 || finding->step_count > 1)
            print_party(printer, next);
    }
}

static void print_free(struct pa_printer *printer, const struct pa_finding *finding)
{
    print_object(printer, finding, 0);
    words(printer, " is free, but nothing will wake ");
    if (finding->task_count > 0)
        print_tasks(printer, finding);
    else
        words(printer, "those who wait for it");
}

static void print_stalled(struct pa_printer *printer, const struct pa_finding *finding)
{
    bool get = finding->variant;
    print_object(printer, finding, 0);
    words(printer,
          get ? " is empty, and nobody is left who could put into it: " : " is full, and nobody is left who could get from it: ");
    print_tasks(printer, finding);
    words(printer, finding->task_count == 1 ? " waits" : " wait");
}

static void print_unreachable(struct pa_printer *printer, const struct pa_finding *finding)
{
    words(printer, "nothing refers to ");
    print_tasks(printer, finding);
    words(printer, finding->task_count == 1 ? " but what it waits for: the garbage collector will destroy it"
                                            : " but what they wait for: the garbage collector will destroy them");
}

static void print_full(struct pa_printer *printer, const struct pa_finding *finding)
{
    print_object(printer, finding, 0);
    words(printer, " is full: all ");
    pa_out_count(printer->out, finding->number);
    words(printer, " are in use, ");
    pa_out_counted(printer->out, finding->queued, "call waits", "calls wait");
    if (finding->task_count > 0) {
        words(printer, ": of ");
        print_tasks(printer, finding);
    }
}

static void print_child(struct pa_printer *printer, const struct pa_finding *finding)
{
    print_tasks(printer, finding);
    pa_out_format(printer->out, PA_STYLE_PLAIN, " waits for process %llu, which has ended", (unsigned long long)finding->number);
    words(printer, finding->variant == PA_CHILD_ZOMBIE ? " and is a zombie" : ": somebody else has reaped it");
}

/* Who holds the lock that a thread waits for. */
static void print_holder(struct pa_printer *printer, uint64_t object)
{
    struct pa_holder holder;
    struct pa_held held;
    if (object == 0 || pa_holders_of(printer->graph, object, &holder, 1, &held) == 0)
        return;
    words(printer, ", held by ");
    if (holder.node != PA_NONE)
        pa_print_short(printer, holder.node);
    else if (holder.thread != PA_NONE)
        pa_print_named_thread(printer, holder.thread);
    else
        words(printer, "a thread that is gone");
    if (holder.frame != PA_NONE) {
        words(printer, " ");
        pa_print_place(printer, holder.frame);
    }
}

static void print_blocked(struct pa_printer *printer, const struct pa_finding *finding)
{
    const uint32_t *tasks = pa_finding_tasks(printer->view->findings, finding);
    uint32_t thread = (uint32_t)finding->number;
    words(printer, "loop ");
    pa_out_address(printer->out, pa_finding_object(printer->view->findings, finding, 0));
    words(printer, " stands still, since its ");
    pa_print_thread(printer, thread);
    words(printer, " is blocked ");
    pa_print_blocked(printer, thread);
    switch (finding->variant) {
    case PA_RELEASE_TASK:
    case PA_RELEASE_OWN_TASK:
        words(printer, ", until ");
        pa_print_short(printer, tasks[0]);
        words(printer, finding->variant == PA_RELEASE_TASK ? " has ended" : " has ended, which only this loop could run");
        break;
    case PA_RELEASE_OWN_HANDLE:
        words(printer, ", until a coroutine has ended that only this loop could run");
        break;
    default:
        print_holder(printer, pa_thread_awaited_lock(printer->graph, thread, NULL));
        break;
    }
}

static void print_asleep(struct pa_printer *printer, const struct pa_finding *finding)
{
    print_object(printer, finding, 0);
    words(printer, " is in select while ");
    pa_out_counted(printer->out, finding->number, "handle is ready", "handles are ready");
    words(printer, ", put there without call_soon_threadsafe()");
    if (finding->task_count > 0) {
        words(printer, ": of ");
        print_tasks(printer, finding);
    }
}

static void print_not_woken(struct pa_printer *printer, const struct pa_finding *finding)
{
    print_tasks(printer, finding);
    words(printer, " awaits ");
    print_object(printer, finding, 0);
    words(printer, ", which is done, but no handle of its loop will wake it");
}

static void print_hub(struct pa_printer *printer, const struct pa_finding *finding)
{
    struct pa_hub_blocked blocked;
    if (pa_hub_is_blocked(printer->graph, (uint32_t)finding->number, &blocked))
        pa_print_blocked_hub(printer, &blocked);
}

static void print_orphaned(struct pa_printer *printer, const struct pa_finding *finding)
{
    bool one = finding->task_count == 1;
    pa_out_counted(printer->out, finding->task_count, "pending task of ", "pending tasks of ");
    print_object(printer, finding, 0);
    words(printer, finding->variant == PA_ORPHANED_CLOSED ? ", which is closed: "
                   : finding->variant == PA_ORPHANED_LOOP_THREAD
                       ? ", whose thread is gone: "
                       : (one ? ", which does not run, and the thread of the task has exited: "
                              : ", which does not run, and the thread of the tasks has exited: "));
    print_tasks(printer, finding);
}

static void print_runaway(struct pa_printer *printer, const struct pa_finding *finding)
{
    uint64_t awaiters = printer->graph->nodes.items[*pa_finding_tasks(printer->view->findings, finding)].edge_count;
    print_tasks(printer, finding);
    if (finding->variant == PA_RUNAWAY_CANCELS) {
        words(printer, " was asked to cancel ");
        pa_out_count(printer->out, finding->number);
        words(printer, " times and is pending");
        return;
    }
    words(printer, " has ");
    pa_out_count(printer->out, finding->number);
    if (finding->variant == PA_RUNAWAY_AWAITERS) {
        words(printer, " awaiters that have ended");
    } else if (finding->number - awaiters > PA_MANY_CALLBACKS) {
        words(printer, " callbacks, more than tasks await it");
    } else {
        words(printer, " callbacks: ");
        pa_out_counted(printer->out, awaiters, "task awaits it", "tasks await it");
    }
}

void pa_print_finding(struct pa_printer *printer, uint32_t index)
{
    static void (*const print[PA_FINDING_COUNT])(struct pa_printer *, const struct pa_finding *) = {
        [PA_FINDING_EXECUTOR_FULL] = print_full,       [PA_FINDING_CHILD_GONE] = print_child,
        [PA_FINDING_DEADLOCK] = print_deadlock,        [PA_FINDING_FREE_BUT_WAITED] = print_free,
        [PA_FINDING_QUEUE_STALLED] = print_stalled,    [PA_FINDING_UNREACHABLE] = print_unreachable,
        [PA_FINDING_LOOP_BLOCKED] = print_blocked,     [PA_FINDING_LOOP_ASLEEP] = print_asleep,
        [PA_FINDING_DONE_NOT_WOKEN] = print_not_woken, [PA_FINDING_ORPHANED] = print_orphaned,
        [PA_FINDING_RUNAWAY] = print_runaway,          [PA_FINDING_HUB_BLOCKED] = print_hub,
    };
    const struct pa_finding *finding = &printer->view->findings->items.items[index];
    print[finding->kind](printer, finding);
}
