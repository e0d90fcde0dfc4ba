"""
Native and Python frames as one list (py-async-bt --native), of processes that crashed in a C extension or in the
interpreter, against what the process wrote down before: its own traceback, and which C functions stood where.
"""

import functools

import compare
import harness
import jsonschema
import pytest

VALIDATOR = jsonschema.Draft202012Validator(harness.json.loads((harness.PROJECT / "src/pyasync-1.schema.json").read_text()))
FILES = (harness.HERE / "scenarios/crashes").glob("*.py")
SCENARIOS = tuple(sorted(path.stem for path in FILES if not path.stem.endswith("oracle")))
COMMANDS = ("py-async-bt --native --json", "py-async-bt --native --all")

# What GDB has of the process's files, as commands that come first.
FILES_AT_HAND = {
    "symbols": (),
    "no debug symbols": ("set debug-file-directory /nonexistent",),
}
MATRIX = [(gdb, build, "symbols") for gdb in harness.GDBS for build in harness.BUILDS]
MATRIX += [(gdb, build, "no debug symbols") for gdb, build in harness.PAIRS]


@functools.cache
def answers(gdb, build, files):
    """What one GDB says of every scenario's core: it reads them all."""
    cores = [harness.make_core(build, f"crashes/{name}").core for name in SCENARIOS]
    targets = [f"core {harness.seen_by(gdb, core)}" for core in cores]
    return dict(zip(SCENARIOS, harness.ask_all(gdb, f"/usr/bin/{build}", targets, COMMANDS, before=FILES_AT_HAND[files])))


def own_stack(document, oracle):
    """The merged stack of the thread that died."""
    (number,) = [thread["num"] for thread in document["threads"] if thread["native_id"] == oracle["native_id"]]
    (stack,) = [stack for stack in document["native"] if stack["thread"] == number]
    return stack


def python_frames(frames):
    return [{key: frame[key] for key in ("function", "file", "line", "kind")} for frame in frames if frame["kind"] != "native"]


def native_names(frames):
    return [frame["function"] for frame in frames if frame["kind"] == "native"]


def contains_in_order(names, wanted):
    rest = iter(names)
    return all(name in rest for name in wanted)


def runs(frames):
    """[(a Python function or None, the native functions that stand outside of it)], innermost first."""
    found = [(None, [])]
    for frame in frames:
        if frame["kind"] == "native":
            found[-1][1].append(frame["function"])
        else:
            found.append((frame["function"], []))
    return found


def awaiters(document, task):
    """The names of those that wait for a task, directly or through others: of each the first."""
    tasks, names = compare.by_id(document["tasks"]), []
    while tasks[task]["awaited_by"]:
        task = tasks[task]["awaited_by"][0]["id"]
        names.append(tasks[task]["name"])
    return names


def differences(oracle, document):
    found = []
    stack = own_stack(document, oracle)
    frames = stack["frames"]
    found += compare.unequal("matched", stack["matched"], True)
    found += compare.unequal("Python frames", python_frames(frames), oracle["stack"])
    if any("_PyEval_EvalFrameDefault" in (name or "") for name in native_names(frames)):
        found.append("a loop of the interpreter is shown as a native frame")
    numbers = [frame["number"] for frame in frames if frame["kind"] == "native"]
    if numbers != sorted(set(numbers)):
        found.append(f"native frames are out of order: {numbers}")
    (_, inside), *outer = runs(frames)
    if not contains_in_order(inside, oracle["inside"]):
        found.append(f"inside of all Python frames stand {inside}, not {oracle['inside']}")
    for function, between in outer:
        if between and not contains_in_order(between, oracle["called_by"].get(function, ())):
            found.append(f"{function} is called by {between}, not {oracle['called_by'][function]}")
    for function, wanted in oracle["called_by"].items():
        if not any(name == function and contains_in_order(between, wanted) for name, between in outer):
            found.append(f"{function} is not called by {wanted}")
    tasks = {entry["id"]: frames[entry["first"] : entry["end"]] for entry in stack["tasks"]}
    found += compare.unequal("tasks in the thread", list(tasks), [oracle["task"]] if oracle["task"] else [])
    if oracle["task"]:
        outermost = tasks[oracle["task"]][-1]
        found += compare.unequal("the task's outermost frame", outermost["kind"], "coroutine")
        found += compare.unequal("awaiters", awaiters(document, oracle["task"]), oracle["awaited_by"])
    return found


def names_without_symbols(oracle):
    """Functions of the interpreter and of libc that are not exported have no name then; those of the extension have."""
    own = {"write_nowhere", "segfault", "call", "overflow", "recurse_for_ever", "without_gil", "bomb_dealloc"}
    oracle["inside"] = [name for name in oracle["inside"] if name in own]
    oracle["called_by"] = {key: [name for name in names if name in own] for key, names in oracle["called_by"].items()}
    return oracle


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize(("gdb", "build", "files"), MATRIX)
def test_native_and_python_frames_are_in_their_order(gdb, build, files, scenario):
    oracle = harness.make_core(build, f"crashes/{scenario}").oracle
    answer = answers(gdb, build, files)[scenario][0]
    document = answer.json()
    assert document["complete"], answer
    errors = [error.message[:300] for error in VALIDATOR.iter_errors(document)]
    found = [*errors, *differences(oracle if files == "symbols" else names_without_symbols(oracle), document)]
    assert not found, "\n".join([*found, answer.repeat])


# GDB watches the process that it starts, not the child that dies.
ALIVE = [name for name in SCENARIOS if name not in ("in_child", "killed")]


def run_by_launcher(gdb, build, scenario, folder):
    """The document about the process at the stop, before it dies: by the launcher's --run."""
    harness.prepare()
    words = [f"/usr/bin/{build}", f"{harness.inside(harness.PLACE)}/scenarios/crashes/{scenario}.py", "core", "oracle.json"]
    place = ["env", "-i", "-C", harness.inside(folder), *harness.ENVIRONMENT, "PATH=/usr/bin:/bin"]
    if gdb == "host-gdb":
        command = [str(harness.PROJECT / "gdb/pyasync"), "--run", "--json", "--", *harness.in_root(*place, *words)]
    else:
        launcher = ["/usr/bin/python3.14", f"{harness.inside(harness.PLACE)}/gdb/pyasync", "--run", "--json", "--"]
        command = harness.in_root_with_proc(*place, *launcher, *words)
    done = harness.run(["sh", "-c", 'ulimit -c 0; exec "$@"', "sh", *command])
    lines = [line for line in done.stderr.splitlines() if line.startswith('{"target": ')]
    assert len(lines) == 1, done
    return harness.json.loads(lines[0])["report"], done


@pytest.mark.parametrize("scenario", ALIVE)
@pytest.mark.parametrize(
    ("gdb", "build"), [pytest.param(*pair, marks=[pytest.mark.long] * pair[1].endswith("d")) for pair in harness.PAIRS]
)
def test_alive_at_the_stop(gdb, build, scenario, scratch):
    """As in the core, before the process has died."""
    document, done = run_by_launcher(gdb, build, scenario, scratch)
    oracle = harness.Scenario(scratch, [], "").oracle
    errors = [error.message[:300] for error in VALIDATOR.iter_errors(document)]
    found = [*errors, *differences(oracle, document)]
    assert not found, "\n".join([*found, str(done)])
    assert document["complete"] and document["process"]["core"] is None, done
    assert document["process"]["pid"] == oracle["pid"] and document["report"]["death"]["signal"] == oracle["signal"], done


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_text_has_the_frames_of_the_document(gdb, build, scenario):
    """Every frame of the list on a line of its own, in its order; only recursions are shortened."""
    document, text = (answers(gdb, build, "symbols")[scenario][index] for index in (0, 1))
    stack = own_stack(document.json(), harness.make_core(build, f"crashes/{scenario}").oracle)
    lines = [line.partition("  |   ")[2] for line in text.text.splitlines()]
    shown = [line for line in lines if line.startswith(("#", "File "))]
    wanted = [
        f"#{frame['number']:<3} {frame['function'] or frame['pc']}"
        if frame["kind"] == "native"
        else f"File '{frame['file']}', line {frame['line']}, in "
        for frame in stack["frames"]
    ]
    assert len(shown) >= len(wanted), text
    for line, beginning in zip(shown, wanted):
        assert line.startswith(beginning), f"{line}\nis not: {beginning}\n{text}"


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_python_frames_go_on_where_the_native_ones_end(gdb, build):
    made = harness.make_core(build, "crashes/in_sorted_key")
    target = f"core {harness.seen_by(gdb, made.core)}"
    (answer,) = harness.ask(gdb, f"/usr/bin/{build}", target, COMMANDS[0], before=["set backtrace limit 4"])
    stack = own_stack(answer.json(), made.oracle)
    assert stack["matched"] and stack["stopped"] == "`set backtrace limit` ends it", answer
    assert python_frames(stack["frames"]) == made.oracle["stack"], answer
    assert native_names(stack["frames"])[:2] == ["write_nowhere", "segfault"] and len(native_names(stack["frames"])) <= 4, answer


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_without_any_file_no_frame_is_misattributed(gdb, build):
    """GDB cannot unwind code that it has no file of: one native frame is certain, the rest is not shown."""
    made = harness.make_core(build, "crashes/in_sorted_key")
    target = f"core {harness.seen_by(gdb, made.core)}"
    empty = f"set sysroot {harness.seen_by(gdb, harness.PLACE / 'empty')}"
    (answer,) = harness.ask(gdb, None, target, COMMANDS[0], before=[empty])
    stack = own_stack(answer.json(), made.oracle)
    assert stack["matched"], answer
    assert python_frames(stack["frames"]) == made.oracle["stack"], answer
    native = [frame for frame in stack["frames"] if frame["kind"] == "native"]
    assert [harness.pathlib.Path(frame["object"]).name.partition(".")[0] for frame in native] == ["crash"], answer
    assert stack["frames"][0] == native[0] and "no file" in stack["stopped"], answer
