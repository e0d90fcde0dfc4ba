/* Values: repr() of objects made by hand, bounds, cycles, and whatever damaged memory holds in their place. */
#include "context.h"
#include "exception.h"
#include "limits.h"
#include "number.h"
#include "value.h"
#include "walk.h"
#include "wellformed.h"

static struct walk walk;
static struct python *python;

/* Types that the miniature CPython has not, and a class of Python's whose instances have a __dict__ pointer. */
enum made { TUPLE, LIST, FLOAT, BYTES, CELL, EXCEPTION, TRACEBACK, FRAME, CONTEXT, VARIABLE, HAMT, BITMAP, ARRAY, COLLISION, MADE };
static uint64_t made[MADE];

static void begin(int build)
{
    static const struct {
        const char *name;
        uint64_t flags;
    } types[MADE] = {
        [TUPLE] = {"tuple", 1u << 26},
        [LIST] = {"list", 1u << 25},
        [FLOAT] = {"float", 0},
        [BYTES] = {"bytes", 1u << 27},
        [CELL] = {"cell", 0},
        [EXCEPTION] = {"BaseException", 1u << 30},
        [TRACEBACK] = {"traceback", 0},
        [FRAME] = {"frame", 0},
        [CONTEXT] = {"_contextvars.Context", 0},
        [VARIABLE] = {"_contextvars.ContextVar", 0},
        [HAMT] = {"hamt", 0},
        [BITMAP] = {"hamt_bitmap_node", 0},
        [ARRAY] = {"hamt_array_node", 0},
        [COLLISION] = {"hamt_collision_node", 0},
    };
    python = python_new((enum python_build)(build % PYTHON_BUILDS));
    for (uint32_t i = 0; i < MADE; i++)
        made[i] = python_type(python, types[i].name, python->object_type, false, types[i].flags);
}

static uint64_t header(void)
{
    return python_offset(python, SLOT_object_size);
}

static void put(uint64_t address, uint64_t value)
{
    image_put_u64(python->image, address, value);
}

/* An object of @p count words behind its header. */
static uint64_t make(enum made type, uint32_t count, const uint64_t *words)
{
    uint64_t object = python_object(python, made[type], header() + 8 * (count + 1));
    for (uint32_t i = 0; i < count; i++)
        put(object + header() + 8 * i, words[i]);
    return object;
}

static uint64_t make_tuple(uint32_t count, const uint64_t *items)
{
    uint64_t tuple = python_object(python, made[TUPLE], python_offset(python, SLOT_tuple_item) + 8 * (count + 1));
    put(tuple + python_offset(python, SLOT_tuple_ob_size), count);
    for (uint32_t i = 0; i < count; i++)
        put(tuple + python_offset(python, SLOT_tuple_item) + 8 * i, items[i]);
    return tuple;
}

static uint64_t make_list(uint32_t count, const uint64_t *items)
{
    uint64_t list = python_object(python, made[LIST], python_offset(python, SLOT_list_size));
    uint64_t array = python_alloc(python, 8 * (count + 1));
    put(list + python_offset(python, SLOT_list_ob_size), count);
    put(list + python_offset(python, SLOT_list_item), array);
    for (uint32_t i = 0; i < count; i++)
        put(array + 8 * i, items[i]);
    return list;
}

static uint64_t make_bytes(const char *text)
{
    uint64_t object = python_object(python, made[BYTES], python_offset(python, SLOT_bytes_data) + strlen(text) + 1);
    put(object + python_offset(python, SLOT_bytes_length), strlen(text));
    image_put(python->image, object + python_offset(python, SLOT_bytes_data), text, strlen(text) + 1);
    return object;
}

static uint64_t make_float(double number)
{
    uint64_t object = python_object(python, made[FLOAT], python_offset(python, SLOT_float_size));
    image_put(python->image, object + python_offset(python, SLOT_float_value), &number, sizeof(number));
    return object;
}

static uint64_t none(void)
{
    return python_object(python, python->types[PA_KIND_NONE_TYPE], header());
}

#define TYPE_OFFSET(gil) ((gil) + (python->free_threaded ? 16u : 0u))

/* A class "Client" with a dictionary pointer and one slot, and an instance of it. */
static uint64_t make_instance(uint64_t dict, uint64_t slot)
{
    uint64_t type = python_type(python, "Client", python->object_type, true, 0), members = python_alloc(python, 80);
    uint64_t name = python_alloc(python, 8), object = python_object(python, type, header() + 16);
    image_put(python->image, name, "slot", 5);
    put(members, name);
    image_put_u32(python->image, members + 8, 16); /* Py_T_OBJECT_EX */
    put(members + 16, header() + 8);
    put(type + TYPE_OFFSET(32), header() + 16);
    put(type + TYPE_OFFSET(240), members);
    put(type + TYPE_OFFSET(288), header());
    put(type + TYPE_OFFSET(344), make_tuple(1, &type));
    put(object + header(), dict);
    put(object + header() + 8, slot);
    return object;
}

static const char *render_within(uint64_t object, struct pa_value_limits limits, const char *name, struct pa_value *value)
{
    static char text[PA_MAX_VALUE_BYTES + 8];
    struct pa_values *values = pa_values_new(&walk.objects, limits);
    pa_value_render(values, name, (uint32_t)strlen(name), object, value);
    ck_assert_uint_le(value->length, PA_MAX_VALUE_BYTES + 3);
    memcpy(text, value->text, value->length);
    text[value->length] = '\0';
    pa_values_free(values);
    return text;
}

static const char *render(uint64_t object)
{
    struct pa_value value;
    return render_within(object, (struct pa_value_limits){0}, "x", &value);
}

START_TEST(test_plain_values)
{
    begin(_i);
    uint64_t one = python_int(python, 1), big = python_int(python, INT64_MIN + 1), half = make_float(0.5);
    uint64_t str = python_str(python, "it's\n\xed\xa0\x80"), bytes = make_bytes("a\"'\x80");
    uint64_t both[] = {one, str}, nested[] = {make_tuple(1, &one), make_list(2, both), make_tuple(0, NULL)};
    uint64_t list = make_list(3, nested), dict = python_dict(python, 1), set = python_set(python, both, 1), nothing = none();
    uint64_t empty = python_set(python, NULL, 0);
    python_dict_set(python, dict, "k", list);
    walk_open(&walk, python);
    ck_assert_str_eq(render(one), "1");
    ck_assert_str_eq(render(big), "-9223372036854775807");
    ck_assert_str_eq(render(half), "0.5");
    ck_assert_str_eq(render(str), "\"it's\\n\\ud800\"");
    ck_assert_str_eq(render(bytes), "b'a\"\\'\\x80'");
    ck_assert_str_eq(render(list), "[(1,), [1, \"it's\\n\\ud800\"], ()]");
    ck_assert_str_eq(render(dict), "{'k': [(1,), [1, \"it's\\n\\ud800\"], ()]}");
    ck_assert_str_eq(render(set), "{1}");
    ck_assert_str_eq(render(empty), "set()");
    ck_assert_str_eq(render(nothing), "None");
    ck_assert_str_eq(render(0), "<NULL>");
    ck_assert_str_eq(render(0x10), "<unreadable at 0x10>");
    walk_close(&walk);
}
END_TEST

START_TEST(test_instance_shows_dictionary_and_slots)
{
    char expected[128];
    begin(_i);
    uint64_t dict = python_dict(python, 1), one = python_int(python, 1);
    python_dict_set(python, dict, "host", one);
    uint64_t object = make_instance(dict, python_str(python, "s")), bare = make_instance(0, 0), value;
    walk_open(&walk, python);
    snprintf(expected, sizeof(expected), "<Client object at 0x%llx: host=1, slot='s'>", (unsigned long long)object);
    ck_assert_str_eq(render(object), expected);
    snprintf(expected, sizeof(expected), "<Client object at 0x%llx>", (unsigned long long)bare);
    ck_assert_str_eq(render(bare), expected);
    ck_assert(pa_instance_attribute(&walk.objects, object, "host", &value) && value == one);
    ck_assert(pa_instance_attribute(&walk.objects, object, "slot", &value));
    ck_assert(!pa_instance_attribute(&walk.objects, object, "port", &value));
    ck_assert(!pa_instance_attribute(&walk.objects, one, "host", &value));
    walk_close(&walk);
}
END_TEST

START_TEST(test_cycles_end)
{
    begin(_i);
    uint64_t list = make_list(1, (uint64_t[]){0}), dict = python_dict(python, 1);
    put(image_u64(python->image, list + python_offset(python, SLOT_list_item)), list);
    python_dict_set(python, dict, "self", dict);
    uint64_t tuple = make_tuple(1, &dict);
    walk_open(&walk, python);
    ck_assert_str_eq(render(list), "[[...]]");
    ck_assert_str_eq(render(dict), "{'self': {...}}");
    ck_assert_str_eq(render(tuple), "({'self': {...}},)");
    walk_close(&walk);
}
END_TEST

START_TEST(test_depth_length_and_total_are_bounded)
{
    struct pa_value value;
    uint64_t items[500], deep;
    begin(_i);
    for (uint32_t i = 0; i < COUNT(items); i++)
        items[i] = python_int(python, i);
    uint64_t list = make_list(COUNT(items), items), str = python_str(python, "0123456789");
    deep = make_list(0, NULL);
    for (uint32_t i = 0; i < 200; i++)
        deep = make_list(1, &deep);
    for (uint32_t i = 0; i < COUNT(items); i++)
        items[i] = list;
    uint64_t wide = make_list(COUNT(items), items), endless = make_list(1, items);
    put(endless + python_offset(python, SLOT_list_ob_size), 1ull << 39);
    walk_open(&walk, python);
    ck_assert_str_eq(render_within(list, (struct pa_value_limits){.length = 3}, "", &value), "[0, 1, 2, … 497 more]");
    ck_assert(value.truncated);
    ck_assert_str_eq(render_within(str, (struct pa_value_limits){.length = 4}, "", &value), "'0123'… 6 more");
    ck_assert_str_eq(render_within(deep, (struct pa_value_limits){.depth = 2}, "", &value), "[[[…]]]");
    render_within(deep, (struct pa_value_limits){.depth = UINT32_MAX}, "", &value);
    ck_assert(value.truncated);
    render_within(wide, (struct pa_value_limits){.length = 100}, "", &value);
    ck_assert_uint_le(value.length, 2003);
    ck_assert(value.truncated);
    render_within(wide, (struct pa_value_limits){.length = UINT32_MAX}, "", &value);
    ck_assert_uint_eq(value.length, PA_MAX_VALUE_BYTES + 3);                            /* 500 times 500 numbers are more */
    render_within(endless, (struct pa_value_limits){.length = UINT32_MAX}, "", &value); /* ends where memory does */
    ck_assert(value.truncated);
    walk_close(&walk);
}
END_TEST

START_TEST(test_secrets_are_hidden_by_name)
{
    struct pa_value value;
    begin(_i);
    uint64_t str = python_str(python, "hunter2"), small = python_int(python, 12), large = python_int(python, 123456),
             nothing = none();
    uint64_t name = python_str(python, "password"), pair[] = {name, str}, tuple = make_tuple(2, pair),
             empty = python_str(python, "");
    uint64_t dict = python_dict(python, 0);
    python_dict_set(python, dict, "api_key", str);
    walk_open(&walk, python);
    struct pa_value_limits limits = {0}, shows = {.secrets = true};
    static const struct {
        const char *name;
        int which;
        const char *shown;
    } cases[] = {
        {"password", 0, "<redacted>"},
        {"key", 0, "<redacted>"},
        {"x", 0, "'hunter2'"},
        {"token", 1, "<redacted>"},
        {"key", 1, "12"},
        {"key", 2, "<redacted>"},
        {"token", 3, "None"},
        {"token", 4, "''"},
        {"x", 5, "('password', <redacted>)"},
        {"x", 6, "{'api_key': <redacted>}"},
        {"auth", 5, "<redacted>"},
    };
    uint64_t objects[] = {str, small, large, nothing, empty, tuple, dict};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *text = render_within(objects[cases[i].which], limits, cases[i].name, &value);
        ck_assert_str_eq(text, cases[i].shown);
        ck_assert_int_eq(value.hidden, strstr(text, "redacted") != NULL);
        ck_assert_ptr_null(strstr(render_within(objects[cases[i].which], shows, cases[i].name, &value), "redacted"));
    }
    walk_close(&walk);
}
END_TEST

/* ---- context variables ---- */

static uint64_t make_variable(const char *name)
{
    return make(VARIABLE, 1, (uint64_t[]){python_str(python, name)});
}

static uint64_t make_context(uint64_t root, uint64_t count)
{
    uint64_t hamt = make(HAMT, 3, (uint64_t[]){root, 0, count});
    return make(CONTEXT, 2, (uint64_t[]){0, hamt});
}

/* A bitmap or collision node: ob_size, the bitmap or hash, then keys and values. */
static uint64_t make_node(enum made type, uint32_t words, const uint64_t *items)
{
    uint64_t all[18] = {words, type == BITMAP ? (1u << words / 2) - 1 : 4711};
    memcpy(all + 2, items, 8 * words);
    return make(type, words + 2, all);
}

static const char *read_context(uint64_t context, bool *damaged)
{
    static char names[1024];
    struct pa_context_iterator iterator;
    char name[PA_STRING_BYTES];
    uint32_t length;
    names[0] = '\0';
    pa_context_begin(&walk.objects, context, &iterator);
    while (pa_context_next(&iterator) && strlen(names) < 900) {
        ck_assert(pa_str_read(&walk.objects, iterator.name, name, &length));
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%.*s ", (int)length, name);
    }
    *damaged = iterator.damaged;
    return names;
}

/* With the names of the nodes' types, and without. */
START_TEST(test_context_with_nodes_of_every_type)
{
    bool damaged;
    begin(_i);
    uint64_t one = python_int(python, 1), a = make_variable("a"), b = make_variable("b"), c = make_variable("c"),
             d = make_variable("d");
    uint64_t collision = make_node(COLLISION, 4, (uint64_t[]){c, one, d, one});
    uint64_t inner = make_node(BITMAP, 4, (uint64_t[]){b, one, 0, collision});
    uint64_t children[33] = {[3] = inner, [31] = make_node(BITMAP, 2, (uint64_t[]){a, one}), [32] = 2};
    uint64_t context = make_context(make(ARRAY, 33, children), 4), empty = make_context(0, 0);
    if (_i >= PYTHON_BUILDS)
        python_forget_files(python);
    if (_i >= PYTHON_BUILDS) { /* sections are found by their cookie; types of contexts by sys.modules */
        image_add_section(python->image, ".PyRuntime", python->runtime);
        image_add_section(python->image, ".AsyncioDebug", python->asyncio);
        uint64_t dict = python_module_dict(python, python_module(python, "_contextvars"));
        python_dict_set(python, dict, "Context", made[CONTEXT]);
        python_dict_set(python, dict, "ContextVar", made[VARIABLE]);
    }
    walk_open(&walk, python);
    ck_assert_str_eq(read_context(context, &damaged), "b c d a ");
    ck_assert(!damaged);
    ck_assert_str_eq(read_context(empty, &damaged), "");
    ck_assert(!damaged);
    walk_close(&walk);
}
END_TEST

START_TEST(test_damaged_context_ends)
{
    bool damaged;
    begin(_i);
    uint64_t one = python_int(python, 1), a = make_variable("a");
    uint64_t circle = make_node(BITMAP, 2, (uint64_t[]){0, 0}), odd = make_node(BITMAP, 2, (uint64_t[]){a, one});
    put(circle + header() + 24, circle);
    put(odd + header(), 3);
    uint64_t roots[] = {circle, odd, 0, one, UINT64_MAX, make_node(BITMAP, 2, (uint64_t[]){one, one})};
    uint64_t contexts[COUNT(roots) + 2];
    for (size_t i = 0; i < COUNT(roots); i++)
        contexts[i] = make_context(roots[i], 1);
    contexts[COUNT(roots)] = make_context(make_node(BITMAP, 2, (uint64_t[]){a, one}), 2); /* one is missing */
    contexts[COUNT(roots) + 1] = one;
    walk_open(&walk, python);
    for (size_t i = 0; i < COUNT(contexts); i++) {
        const char *names = read_context(contexts[i], &damaged);
        ck_assert_str_eq(names, i == COUNT(roots) ? "a " : "");
        ck_assert_msg(damaged, "context %zu", i);
    }
    walk_close(&walk);
}
END_TEST

/* Seven levels of nodes whose 32 children are one and the same: 32^7 ways to nothing. */
START_TEST(test_context_that_branches_without_end)
{
    bool damaged;
    begin(_i);
    uint64_t node = make(ARRAY, 33, (uint64_t[33]){[32] = 0});
    for (int level = 0; level < 6; level++) {
        uint64_t children[33] = {[32] = 32};
        for (int i = 0; i < 32; i++)
            children[i] = node;
        node = make(ARRAY, 33, children);
    }
    uint64_t context = make_context(node, 1);
    walk_open(&walk, python);
    ck_assert_str_eq(read_context(context, &damaged), "");
    ck_assert(damaged);
    walk_close(&walk);
}
END_TEST

/* ---- variables ---- */

/* A coroutine whose code has three variables: a local, a cell and a free one. */
static uint64_t make_frame_with(uint64_t first, uint64_t second, uint64_t third)
{
    uint64_t code = python_code(python, "f", "/app.py", 1, CO_FUNCTION | CO_COROUTINE);
    uint64_t names[] = {python_str(python, "local"), python_str(python, "cell"), python_str(python, "free")};
    image_put_u32(python->image, code + python_offset(python, SLOT_code_firstlineno) + 4, 3); /* co_nlocalsplus */
    put(code + python_offset(python, SLOT_code_localsplusnames), make_tuple(3, names));
    put(code + python_offset(python, SLOT_code_localspluskinds), make_bytes("\x20\x40\x80"));
    uint64_t frame = python_frame(python, code, 1, 0, 0);
    uint64_t slots = frame + python_offset(python, SLOT_frame_localsplus);
    put(slots, first);
    put(slots + 8, second);
    put(slots + 16, third);
    return frame;
}

static const char *read_variables(uint64_t frame, bool *damaged)
{
    static char text[1024];
    struct pa_variables variables;
    text[0] = '\0';
    pa_variables_begin(&walk.codes, frame, &variables);
    while (pa_variables_next(&variables)) {
        ck_assert_uint_lt(strlen(text), 900);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s=%llx/%lld ", (int)variables.name_length, variables.name,
                 (unsigned long long)variables.object, (long long)variables.number);
    }
    *damaged = variables.damaged;
    return text;
}

START_TEST(test_variables_of_every_kind)
{
    bool damaged;
    char expected[256];
    begin(_i);
    uint64_t one = python_int(python, 1), cell = make(CELL, 1, &one), empty = make(CELL, 1, (uint64_t[]){0}), object;
    uint64_t plain = make_frame_with(one | 1, cell, cell), ints = make_frame_with((uint64_t)-5 << 2 | 3, one, empty);
    uint64_t unbound = make_frame_with(0, 1, cell | 1);
    walk_open(&walk, python);
    snprintf(expected, sizeof(expected), "local=%llx/0 cell=%llx/0 free=%llx/0 ", (unsigned long long)one, (unsigned long long)one,
             (unsigned long long)one);
    ck_assert_str_eq(read_variables(plain, &damaged), expected);
    snprintf(expected, sizeof(expected), "local=0/-5 cell=%llx/0 ", (unsigned long long)one); /* a parameter that is no cell yet */
    ck_assert_str_eq(read_variables(ints, &damaged), expected);
    snprintf(expected, sizeof(expected), "free=%llx/0 ", (unsigned long long)one);
    ck_assert_str_eq(read_variables(unbound, &damaged), expected);
    ck_assert(!damaged);
    ck_assert(pa_variable_get(&walk.codes, plain, "cell", &object) && object == one);
    ck_assert(!pa_variable_get(&walk.codes, plain, "none", &object));
    walk_close(&walk);
}
END_TEST

START_TEST(test_damaged_variables_are_none)
{
    bool damaged;
    begin(_i);
    uint64_t frames[7], one = python_int(python, 1);
    for (uint32_t i = 0; i < COUNT(frames); i++) {
        frames[i] = make_frame_with(one, one, one);
        uint64_t code = image_u64(python->image, frames[i] + python_offset(python, SLOT_frame_executable));
        uint64_t count = code + python_offset(python, SLOT_code_firstlineno) + 4;
        if (i < 3)
            image_put_u32(python->image, count, i == 0 ? UINT32_MAX : i == 1 ? 4 : 65537);
        if (i == 6)
            image_put_u32(python->image, count, UINT32_MAX);
        if (i == 3 || i == 6)
            put(code + python_offset(python, SLOT_code_localsplusnames), one);
        if (i == 4)
            put(code + python_offset(python, SLOT_code_localspluskinds), make_bytes("ab"));
        if (i == 5)
            put(frames[i] + python_offset(python, SLOT_frame_executable), one);
    }
    walk_open(&walk, python);
    for (uint32_t i = 0; i < COUNT(frames); i++) {
        ck_assert_str_eq(read_variables(frames[i], &damaged), "");
        ck_assert(damaged);
    }
    read_variables(0, &damaged);
    ck_assert(damaged);
    walk_close(&walk);
}
END_TEST

/* ---- exceptions ---- */

static uint64_t make_exception(uint64_t args, uint64_t traceback, uint64_t cause)
{
    return make(EXCEPTION, 7, (uint64_t[]){0, args, 0, traceback, 0, cause, 1});
}

static uint64_t make_traceback(uint64_t next, uint64_t code, uint32_t unit)
{
    uint64_t iframe = python_frame(python, code, unit, 0, 0);
    uint64_t frame = make(FRAME, 7, (uint64_t[7]){0, iframe});
    return make(TRACEBACK, 3, (uint64_t[]){next, frame, 2 * unit});
}

START_TEST(test_traceback_and_causes)
{
    struct pa_exceptions chain = {0};
    begin(_i);
    uint64_t code = python_code(python, "f", "/app.py", 10, CO_FUNCTION), text = python_str(python, "why");
    uint64_t traceback = make_traceback(make_traceback(0, code, 4), code, 2);
    uint64_t first = make_exception(make_tuple(1, &text), traceback, 0);
    uint64_t second = make_exception(make_tuple(0, NULL), none(), first);
    put(first + header() + 40, second); /* a circle of causes */
    walk_open(&walk, python);
    pa_exception_chain(&walk.codes, second, &chain);
    ck_assert_uint_eq(chain.count, 2);
    ck_assert_uint_eq(chain.items[0].stack, 0);
    ck_assert(!chain.items[0].damaged && !chain.items[1].damaged);
    ck_assert_uint_eq(chain.items[1].address, first);
    ck_assert_int_eq(chain.items[1].relation, PA_CAUSE);
    const struct pa_stack *stack = &walk.codes.stacks.items[chain.items[1].stack];
    ck_assert_uint_eq(stack->depth, 2);
    ck_assert_int_eq(walk.codes.frames.items[stack->frame].line, 14);
    pa_array_free(&walk.work, &chain);
    walk_close(&walk);
}
END_TEST

START_TEST(test_damaged_tracebacks_end)
{
    struct pa_exceptions chain = {0};
    begin(_i);
    uint64_t code = python_code(python, "f", "/app.py", 10, CO_FUNCTION), args = make_tuple(0, NULL), one = python_int(python, 1);
    uint64_t circle = make_traceback(0, code, 2), bad_frame = make_traceback(0, code, 2), bad_next = make_traceback(one, code, 2);
    put(circle + header(), circle);
    put(bad_frame + header() + 8, one);
    uint64_t exceptions[] = {make_exception(args, circle, 0), make_exception(args, bad_frame, 0), make_exception(args, bad_next, 0),
                             make_exception(one, UINT64_MAX, one)};
    /* The list of a group's members is a list whose length is damaged. */
    uint64_t list = make_list(0, NULL), words[9] = {0, args, 0, 0, 0, 0, 1, 0, list}, builtins, many = 0;
    put(list + header(), PA_MAX_SEQUENCE);
    put(list + header() + 8, 0x10);
    made[EXCEPTION] = python_type(python, "BaseExceptionGroup", made[EXCEPTION], false, 1u << 30);
    walk_open(&walk, python);
    ck_assert(pa_dict_get(&walk.objects, python->modules, "builtins", &builtins));
    pa_graph_deinit(&walk.graph);
    pa_codes_deinit(&walk.codes);
    pa_objects_deinit(&walk.objects);
    pa_memory_deinit(&walk.memory);
    python_dict_set(python, python_module_dict(python, builtins), "BaseExceptionGroup", made[EXCEPTION]);
    uint64_t group = make(EXCEPTION, 9, words);
    for (uint32_t i = 0; i < 2 * PA_MAX_EXCEPTIONS; i++)
        many = make_exception(args, 0, many);
    walk_open(&walk, python);
    for (size_t i = 0; i < COUNT(exceptions); i++) {
        pa_exception_chain(&walk.codes, exceptions[i], &chain);
        ck_assert_uint_eq(chain.count, 1);
        ck_assert(chain.items[0].damaged);
        render(exceptions[i]);
    }
    pa_exception_chain(&walk.codes, many, &chain);
    ck_assert_uint_eq(chain.count, PA_MAX_EXCEPTIONS);
    ck_assert(chain.more);
    pa_exception_chain(&walk.codes, group, &chain);
    ck_assert_uint_eq(chain.count, 1);
    pa_exception_chain(&walk.codes, one, &chain);
    ck_assert_uint_eq(chain.count, 0);
    pa_array_free(&walk.work, &chain);
    walk_close(&walk);
}
END_TEST

/* ---- every word of every object, damaged in turn ---- */

static uint64_t make_one_of_everything(void)
{
    uint64_t dict = python_dict(python, 1), general = python_dict(python, 0), one = python_int(python, 1);
    uint64_t str = python_str(python, "text \xe2\x82\xac");
    python_dict_set(python, dict, "key", str);
    python_dict_set(python, general, "other", one);
    uint64_t set_of[] = {one, str};
    uint64_t items[] = {
        one,
        str,
        make_bytes("bytes"),
        make_float(1.5),
        make_tuple(2, set_of),
        dict,
        general,
        python_set(python, set_of, 2),
        make_instance(dict, str),
        make_exception(make_tuple(1, &str), make_traceback(0, python_code(python, "g", "/b.py", 1, 0), 1), 0),
        python_str_subclass(python, "sub"),
        python_coroutine(python, "coro", one),
        python->modules,
    };
    return make_list(COUNT(items), items);
}

START_TEST(test_whatever_a_word_holds_rendering_ends_with_printable_text)
{
    static const uint64_t words[] = {0, 1, 8, UINT64_MAX, INT64_MAX, 0x100000000, 1ull << 40};
    struct pa_value value;
    begin(_i);
    uint64_t from = python->next_object, root = make_one_of_everything(), to = python->next_object, n = 0;
    for (uint64_t address = from; address < to; address += 8) {
        uint64_t before = image_u64(python->image, address), other = from + (address * 40503u % (to - from)) / 8 * 8;
        for (size_t i = 0; i < COUNT(words) + 3; i++) {
            /* Not everything everywhere: most words are 0, and most of these are padding. */
            if (before == 0 ? i != n++ % (COUNT(words) + 3) : n++ % 2 == 0)
                continue;
            put(address, i < COUNT(words) ? words[i] : i == COUNT(words) ? other : i == COUNT(words) + 1 ? address : root);
            walk_open(&walk, python);
            const char *text = render_within(root, (struct pa_value_limits){.depth = 8, .length = 50}, "", &value);
            ck_assert_uint_eq(first_bad_byte(text, value.length), value.length);
            ck_assert_ptr_null(strchr(text, '\n'));
            walk_leave(&walk);
        }
        put(address, before);
    }
    python_free(python);
}
END_TEST

START_TEST(test_floats_and_ints)
{
    static const struct {
        double number;
        const char *text;
    } floats[] = {{0, "0.0"},
                  {-0.0, "-0.0"},
                  {1e16, "1e+16"},
                  {9999999999999998, "9999999999999998.0"},
                  {1e-5, "1e-05"},
                  {0.0001, "0.0001"},
                  {1.0 / 3, "0.3333333333333333"},
                  {5e-324, "5e-324"},
                  {100, "100.0"},
                  {1.5e300, "1.5e+300"},
                  {-12.25, "-12.25"}};
    char text[PA_FLOAT_BYTES], decimals[PA_INT_BYTES];
    uint32_t digits[PA_INT_DIGITS], length;
    for (size_t i = 0; i < COUNT(floats); i++) {
        length = pa_float_repr(floats[i].number, true, text);
        ck_assert_int_eq(length, strlen(floats[i].text));
        ck_assert_mem_eq(text, floats[i].text, length);
    }
    for (uint32_t i = 0; i < PA_INT_DIGITS; i++)
        digits[i] = (1u << 30) - 1;
    ck_assert_uint_eq(pa_int_repr(digits, PA_INT_DIGITS, true, decimals), 4309);
    digits[0] = digits[1] = 0;
    digits[2] = 1;
    length = pa_int_repr(digits, 3, false, decimals);
    ck_assert_uint_eq(length, 19);
    ck_assert_mem_eq(decimals, "1152921504606846976", 19);
    ck_assert_uint_eq(pa_int_repr(digits, 0, false, decimals), 1);
}
END_TEST

Suite *value_suite(void)
{
    Suite *suite = suite_create("value");
    TCase *tests = add_case(suite, "value");
    tcase_add_loop_test(tests, test_plain_values, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_instance_shows_dictionary_and_slots, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_cycles_end, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_depth_length_and_total_are_bounded, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_secrets_are_hidden_by_name, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_context_with_nodes_of_every_type, 0, 2 * PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_damaged_context_ends, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_context_that_branches_without_end, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_variables_of_every_kind, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_damaged_variables_are_none, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_traceback_and_causes, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_damaged_tracebacks_end, 0, PYTHON_BUILDS);
    tcase_add_loop_test(tests, test_whatever_a_word_holds_rendering_ends_with_printable_text, 0, PYTHON_BUILDS);
    tcase_add_test(tests, test_floats_and_ints);
    return suite;
}
