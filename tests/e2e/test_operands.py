"""Naming tasks, and choosing among them."""

import fnmatch

import compare
import harness
import pytest

pytestmark = pytest.mark.parametrize("gdb, build", harness.PAIRS)


def json_ids(answer):
    return sorted(task["id"] for task in answer.json()["tasks"])


def nothing_left(answer):
    """The line that says why a selection is empty."""
    assert answer.error is None, answer
    first, last = answer.text.splitlines()
    assert last.startswith("Complete: "), answer
    return first


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
        assert titles(answer) == [task["id"]] and f"\n  : {task['state']}" in answer.text, answer


def test_in(gdb, build):
    """A function, qualified or not, a file, file:line: anywhere on the stack."""
    oracle = harness.make_core(build, "async_generator").oracle

    def having(test):
        return sorted(task["id"] for task in oracle["tasks"] if any(test(frame) for frame in task["stack"]))

    (line,) = {frame["line"] for task in oracle["tasks"] for frame in task["stack"] if frame["function"] == "outer"}
    files = {frame["file"] for task in oracle["tasks"] for frame in task["stack"]}
    (path,) = [file for file in files if file.endswith("/async_generator.py")]
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
    answers = harness.ask_core(gdb, build, "async_generator", *(f"py-async-bt --no-head --in {text}" for text in nothing))
    for answer, text in zip(answers, nothing):
        assert nothing_left(answer) == f"No task is left of 11: --in {text} leaves out 11", answer


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
                selection = answer.json()["selection"]
                assert selection["left_out"] == {"state": len(every), "thread": 0, "in": 0}, answer


def test_thread(gdb, build):
    oracle = harness.make_core(build, "threads").oracle
    (info,) = harness.ask_core(gdb, build, "threads", "py-async-bt --all --json")
    numbers = {thread["native_id"]: thread["num"] for thread in info.json()["threads"]}
    commands, expected = [], []
    for native_id, number in numbers.items():
        commands.append(f"py-async-tasks --json --thread {number}")
        expected.append(sorted(task["id"] for task in oracle["tasks"] if task["thread"] == native_id))
    assert [] in expected
    commands.append("py-async-tasks --json --thread all")
    expected.append(sorted(task["id"] for task in oracle["tasks"]))
    for answer, ids in zip(harness.ask_core(gdb, build, "threads", *commands), expected):
        if ids:
            assert json_ids(answer) == ids, answer
        else:
            assert json_ids(answer) == [], answer
            assert answer.json()["selection"]["left_out"] == {"state": 0, "thread": 4, "in": 0}, answer


def test_filters_and_operands_together(gdb, build):
    """What passes them all is shown; what is left out is counted under the first filter that it fails."""
    oracle = harness.make_core(build, "stale_awaiter").oracle
    every = [*oracle["tasks"], *oracle["ended"]]
    ended = [task["name"] for task in oracle["ended"]]
    live = [task for task in oracle["tasks"] if task["state"] == "pending"]
    function = live[0]["stack"][-1]["function"]
    inside = [task for task in live if any(frame["function"] == function for frame in task["stack"])]
    outside = len(live) - len(inside)
    some, none, address, stacked, wrong = harness.ask_core(
        gdb, build, "stale_awaiter",
        f"py-async-bt --json --state live --in {function} '*'",
        f"py-async-bt --state live '{ended[0]}'",
        f"py-async-bt --no-head --state live {oracle['ended'][0]['id']}",
        f"py-async-bt --json --in no-such-file.py --state live {' '.join(task['id'] for task in every)}",
        "py-async-bt --state live 'no such task'",
    )  # fmt: skip
    assert json_ids(some) == sorted(task["id"] for task in inside), some
    assert some.json()["selection"]["left_out"] == {"state": len(ended), "thread": 0, "in": outside}
    count = ended.count(ended[0])
    assert nothing_left(none) == f"No task is left of {count}: --state live leaves out {count}", none
    assert nothing_left(address) == "No task is left of 1: --state live leaves out 1", address
    assert json_ids(stacked) == [], stacked
    assert stacked.json()["selection"]["left_out"] == {"state": len(ended), "thread": 0, "in": len(live)}
    assert wrong.error.startswith('no task is called "no such task"'), wrong


def test_an_empty_selection_still_says_what_the_process_does(gdb, build):
    (answer,) = harness.ask_core(gdb, build, "threads", "py-async-bt --in nowhere.py")
    assert answer.error is None, answer
    lines = answer.text.splitlines()
    assert lines[0] == "No task is left of 4: --in nowhere.py leaves out 4"
    assert any(": loop 0x" in line for line in lines) and lines[-1] == "Complete: 4 tasks in 4 threads.", answer


def test_tasks_are_limited_only_if_asked(gdb, build):
    options = ("--limit 3", "", "--all --limit 3")
    commands = [f"py-async-tasks --no-head {option}" for option in options]
    few, every, everything = harness.ask_core(gdb, build, "hostile", *commands)
    lines = every.text.splitlines()
    assert everything.text == every.text
    assert few.text.splitlines() == [*lines[:3], f"… {len(lines) - 1 - 3} more tasks", lines[-1]], few


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
