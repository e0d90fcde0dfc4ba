"""Naming tasks, and choosing among them."""

import fnmatch

import compare
import harness
import pytest

pytestmark = pytest.mark.parametrize("gdb, build", harness.PAIRS)


def json_ids(answer):
    return sorted(task["id"] for task in answer.json()["tasks"])


def titles(answer):
    assert answer.error is None, answer
    return [compare.address_of(block) for block in compare.parse_trees(answer.text)]


@pytest.mark.parametrize("scenario", ["async_generator", "awaitables", "eager", "gather", "future", "subclass"])
def test_every_object_of_a_stack_leads_to_its_task(gdb, build, scenario):
    """The cr_task link: coroutines, generators, async generators and what stands at the chain's end; and the task's own address."""
    oracle = harness.make_core(build, scenario).oracle
    expected = []
    for task in oracle["tasks"]:
        expected.append((task["id"], task["id"]))
        expected += [(address, task["id"]) for address in task["objects"] if address]
    assert len(expected) >= 2 * len(oracle["tasks"])
    answers = harness.ask_core(gdb, build, scenario, *(f"py-async-bt --json {address}" for address, _ in expected))
    for answer, (_, task) in zip(answers, expected):
        assert json_ids(answer) == [task], answer


def test_a_coroutines_frame_leads_to_its_task(gdb, build):
    """What a coroutine embeds: GDB users have its address from the C stack. Its place is a field of the layout."""
    oracle = harness.make_core(build, "gather").oracle
    (info,) = harness.ask_core(gdb, build, "gather", "py-async-info --json")
    offset = info.json()["info"]["fields"]["gen.iframe"]["offset"]
    pairs = [(int(task["objects"][-1], 16) + offset, task["id"]) for task in oracle["tasks"]]
    answers = harness.ask_core(gdb, build, "gather", *(f"py-async-bt --json {frame:#x}" for frame, _ in pairs))
    for answer, (_, task) in zip(answers, pairs):
        assert json_ids(answer) == [task], answer


def test_names_patterns_and_expressions(gdb, build):
    oracle = harness.make_core(build, "names").oracle
    by_name = {task["name"]: task["id"] for task in oracle["tasks"]}
    first, second = by_name["plain"], by_name["it's"]

    def matching(pattern):
        return sorted(task["id"] for task in oracle["tasks"] if fnmatch.fnmatchcase(task["name"], pattern))

    expected = {
        "plain": [first],
        "''": [by_name[""]],
        '"it\'s"': [second],
        "'naïve café'": [by_name["naïve café"]],
        "'🐍 and 🧵'": [by_name["🐍 and 🧵"]],
        "12345678901234567890123": [by_name["12345678901234567890123"]],
        "-- -7": [by_name["-7"]],
        "'Task-*'": matching("Task-*"),
        "'*wide*'": matching("*wide*"),
        "'[ip]*'": matching("[ip]*"),
        "'subclass of st?'": [by_name["subclass of str"]],
        f"plain {second}": sorted([first, second]),
        f"plain {first} plain": [first],
        f"'(char *){first} + 0'": [first],
        f"'*(long *)({first} + 8) * 0 + {second}'": [second],
    }
    answers = harness.ask_core(gdb, build, "names", *(f"py-async-bt --json {operand}" for operand in expected))
    for answer, ids in zip(answers, expected.values()):
        assert json_ids(answer) == ids, answer


def test_an_address_of_no_known_object_is_answered_with_what_it_is(gdb, build):
    oracle = harness.make_core(build, "awaitables").oracle
    loop = oracle["tasks"][0]["loop"]
    expected = {
        loop: f'{loop} = {loop} is a "_UnixSelectorEventLoop" object, no task, future, coroutine or generator',
        "0x10": "0x10 = 0x10 is no Python object: there is no memory",
        "0": 'no task is called "0" among 9; py-async-tasks lists them',
        "0x": "cannot evaluate '0x': Invalid number \"0x\".",
    }
    answers = harness.ask_core(gdb, build, "awaitables", *(f"py-async-bt {operand}" for operand in expected))
    for answer, error in zip(answers, expected.values()):
        assert answer.error == error and answer.text == "", answer


def test_a_named_task_is_shown_though_it_has_ended(gdb, build):
    ended = harness.make_core(build, "stale_awaiter").oracle["ended"]
    answers = harness.ask_core(gdb, build, "stale_awaiter", *(f"py-async-bt {task['id']}" for task in ended))
    for answer, task in zip(answers, ended):
        assert titles(answer) == [task["id"]] and f"  : {task['state']}\n" in answer.text, answer


def test_in(gdb, build):
    """A function, qualified or not, a file, file:line: anywhere on the stack."""
    oracle = harness.make_core(build, "async_generator").oracle

    def having(test):
        return sorted(task["id"] for task in oracle["tasks"] if any(test(frame) for frame in task["stack"]))

    (line,) = {frame["line"] for task in oracle["tasks"] for frame in task["stack"] if frame["function"] == "outer"}
    path = next(frame["file"] for frame in oracle["tasks"][0]["stack"] if frame["file"].endswith("async_generator.py"))
    expected = {
        "outer": having(lambda frame: frame["function"] == "outer"),
        "TaskGroup.__aexit__": having(lambda frame: frame["function"] == "TaskGroup.__aexit__"),
        "__aexit__": having(lambda frame: frame["function"].endswith("__aexit__")),
        "async_generator.py": having(lambda frame: frame["file"].endswith("/async_generator.py")),
        path: having(lambda frame: frame["file"] == path),
        f"async_generator.py:{line}": having(lambda frame: frame["file"] == path and frame["line"] == line),
        f"{path}:{line}": having(lambda frame: frame["file"] == path and frame["line"] == line),
    }
    assert all(expected.values())
    answers = harness.ask_core(gdb, build, "async_generator", *(f"py-async-bt --json --in {text}" for text in expected))
    for answer, ids in zip(answers, expected.values()):
        assert json_ids(answer) == ids, answer
    nothing = ("oute", f"{path}:{line + 1000}", "generator.py")
    for answer in harness.ask_core(gdb, build, "async_generator", *(f"py-async-bt --in {text}" for text in nothing)):
        assert answer.error == "none of 11 tasks matches these options", answer


def test_state(gdb, build):
    """The groups live, ended and any, and each state and activity, where they are what they are and where there is none."""
    groups = ("live", "ended", "any")
    activities = ("running", "executing", "ready", "created", "waiting")
    states = (*groups, "pending", "done", "failed", "cancelled", *activities)
    made = [harness.make_core(build, scenario) for scenario in ("threads", "callback", "eager", "stale_awaiter")]
    targets = [f"core {harness.seen_by(gdb, each.core)}" for each in made]
    answers = harness.ask_all(gdb, f"/usr/bin/{build}", targets, [f"py-async-tasks --json --state {state}" for state in states])
    for each, of_core in zip(made, answers):
        every = [*each.oracle["tasks"], *each.oracle["ended"]]
        for state, answer in zip(states, of_core):
            if state in groups:
                tasks = [task for task in every if state == "any" or (state == "live") == (task["state"] == "pending")]
            else:
                tasks = [task for task in every if state in (task["state"], task["activity"])]
            if tasks:
                assert json_ids(answer) == sorted(task["id"] for task in tasks), answer
            else:
                assert answer.error == f"none of {len(every)} tasks matches these options", answer


def test_thread(gdb, build):
    oracle = harness.make_core(build, "threads").oracle
    (info,) = harness.ask_core(gdb, build, "threads", "py-async-bt --all --json")
    numbers = {thread["native_id"]: thread["num"] for thread in info.json()["threads"]}
    commands, expected = [], []
    for native_id, number in numbers.items():
        commands.append(f"py-async-tasks --json --thread {number}")
        expected.append(sorted(task["id"] for task in oracle["tasks"] if task["thread"] == native_id))
    commands.append("py-async-tasks --json --thread all")
    expected.append(sorted(task["id"] for task in oracle["tasks"]))
    for answer, ids in zip(harness.ask_core(gdb, build, "threads", *commands), expected):
        if ids:
            assert json_ids(answer) == ids, answer
        else:
            assert answer.error == "none of 4 tasks matches these options", answer


def test_limit_counts_groups(gdb, build):
    one, two, every, everything = harness.ask_core(
        gdb, build, "hostile", "py-async-bt --limit 1", "py-async-bt --limit 2", "py-async-bt", "py-async-bt --all --limit 1"
    )
    groups = len(titles(every))
    assert groups == 11
    assert len(titles(one)) == 1 and f"… {groups - 1} more groups; --all shows them" in one.text, one
    assert len(titles(two)) == 2 and f"… {groups - 2} more groups; --all shows them" in two.text, two
    assert len(titles(everything)) == groups and "more group" not in everything.text, everything


def test_frames_keeps_the_first_frame_of_the_users_own(gdb, build):
    """A client of `echo` stands two frames deep in asyncio before its own function."""
    (task,) = [task for task in harness.make_core(build, "wait_for").oracle["tasks"] if task["name"] == "Task-1"]
    stack = task["stack"]
    own = next(n for n, frame in enumerate(stack) if "/asyncio/" not in frame["file"])
    assert own >= 2, stack
    one, two, every = harness.ask_core(
        gdb, build, "wait_for", f"py-async-bt --frames 1 {task['id']}", f"py-async-bt --frames {own} {task['id']}",
        f"py-async-bt --frames {len(stack)} {task['id']}",
    )  # fmt: skip
    for answer, shown in ((one, [0, own]), (two, [*range(own), own]), (every, range(len(stack)))):
        frames = [line for line in answer.text.splitlines() if line.startswith("  |   File ")]
        assert frames == [
            f"  |   File {stack[n]['file']!r}, line {stack[n]['line']}, in async {stack[n]['function']}()" for n in shown
        ], answer
    hidden = own - 1
    assert f"  |   … {hidden} more frame" in one.text if hidden else "more frame" not in one.text, one
    assert "more frame" not in every.text, every
