/* Messages of exceptions. See value.h. */
#include "value_parts.h"

static uint64_t word_at(struct pa_values *values, uint64_t object, uint32_t field)
{
    uint64_t word;
    pa_object_word(values->objects, object, field, &word);
    return word;
}

/* As str() of it. */
static void put_as_str(struct pa_values *values, uint64_t object)
{
    if (object == 0)
        put(values, "None");
    else if (!put_str_plain(values, object))
        put_object(values, object, PA_NOT_TELLING);
    while (values->depth > 0 && pa_work_step(values->objects->work))
        step_level(values);
}

static void put_as_repr(struct pa_values *values, uint64_t object)
{
    put_object(values, object, PA_NOT_TELLING);
    while (values->depth > 0 && pa_work_step(values->objects->work))
        step_level(values);
}

/* Objects/exceptions.c, OSError_str(): [Errno 2] No such file or directory: 'a' -> 'b'. @return false if it has no such fields. */
static bool put_os_error(struct pa_values *values, uint64_t exception)
{
    uint64_t number = word_at(values, exception, PA_F_os_error_number), text = word_at(values, exception, PA_F_os_error_text);
    uint64_t filename = word_at(values, exception, PA_F_os_error_filename),
             other = word_at(values, exception, PA_F_os_error_filename2);
    if (!pa_is_instance(values->objects, exception, "OSError") || (filename == 0 && (number == 0 || text == 0)))
        return false;
    put(values, "[Errno ");
    put_as_str(values, number);
    put(values, "] ");
    put_as_str(values, text);
    if (filename != 0) {
        put(values, ": ");
        put_as_repr(values, filename);
    }
    if (filename != 0 && other != 0) {
        put(values, " -> ");
        put_as_repr(values, other);
    }
    return true;
}

/* BaseExceptionGroup_str(): many (2 sub-exceptions) */
static bool put_group(struct pa_values *values, uint64_t exception)
{
    uint64_t items, count;
    if (!pa_is_instance(values->objects, exception, "BaseExceptionGroup") ||
        !pa_sequence(values->objects, word_at(values, exception, PA_F_group_exceptions), &items, &count))
        return false;
    put_as_str(values, word_at(values, exception, PA_F_group_message));
    put_format(values, " (%llu sub-exception%s)", (unsigned long long)count, count == 1 ? "" : "s");
    return true;
}

void put_message(struct pa_values *values, uint64_t exception)
{
    uint64_t args = word_at(values, exception, PA_F_exception_args), items, count, first;
    if (put_os_error(values, exception) || put_group(values, exception) || !pa_sequence(values->objects, args, &items, &count) ||
        count == 0)
        return;
    if (count > 1 || !pa_memory_u64(values->objects->memory, items, &first))
        put_as_repr(values, args);
    else if (pa_is_instance(values->objects, exception, "KeyError"))
        put_as_repr(values, first);
    else
        put_as_str(values, first);
}
