"""py-greenlets against what greenlet itself says: states, threads, parents, stacks."""

import contextlib
import functools
import re

import compare
import harness
import jsonschema
import pytest

VALIDATOR = jsonschema.Draft202012Validator(harness.json.loads((harness.PROJECT / "src/pyasync-1.schema.json").read_text()))
FILES = (harness.HERE / "scenarios/greenlets").glob("*.py")
SCENARIOS = tuple(sorted(path.stem for path in FILES if not path.stem.endswith("oracle")))
COMMANDS = ("py-greenlets --json --instrumentation", "py-greenlets --all")


def scenarios_of(build):
    """gevent's extension modules are there for 3.14 only, which the debug build takes too; greenback is for test_wheels."""
    others = ("greenback",) if build.startswith("python3.14") else ("greenback", "gevent")
    return [name for name in SCENARIOS if not name.startswith(others)]


@functools.cache
def answers(gdb, build):
    """What one GDB says of every scenario's core: it reads them all."""
    cores = [harness.make_core(build, f"greenlets/{name}").core for name in scenarios_of(build)]
    targets = [f"core {harness.seen_by(gdb, core)}" for core in cores]
    return dict(zip(scenarios_of(build), harness.ask_all(gdb, f"/usr/bin/{build}", targets, COMMANDS)))


def verdicts(document, greenlet):
    """{function: {verdict: tools}} of frames that are not fresh."""
    found = {}
    for entry in greenlet["instrumentation"]:
        function = document["stacks"][greenlet["stack"]][entry["frame"]]["function"]
        found.setdefault(function, {})[entry["verdict"]] = entry["tools"]
    return found


def by_address(awaiters):
    return sorted(awaiters, key=lambda each: (each["id"], each["how"]))


def differences(oracle, document):
    """Everything in which the document is not what the oracle says."""
    found = []
    native_ids = {thread["num"]: thread["native_id"] for thread in document["threads"]}
    ours, theirs = compare.by_id(document["greenlets"]), compare.by_id(oracle["greenlets"])
    found += [f"greenlet {key} is missing" for key in theirs.keys() - ours.keys()]
    found += [f"greenlet {key} is not alive" for key in ours.keys() - theirs.keys()]
    for key in theirs.keys() & ours.keys():
        mine, right = ours[key], theirs[key]
        for field in ("type", "state", "main", "parent", "c_calls"):
            if field in right:
                found += compare.unequal(f"greenlet {key}: {field}", mine[field], right[field])
        found += compare.unequal(f"greenlet {key}: thread", native_ids.get(mine["thread"]), right["thread"])
        stack = compare.frames(document, mine["stack"])
        if stack != (expected := compare.oracle_frames(right["stack"])):
            found.append(f"greenlet {key}: stack{compare.frame_lines(stack)}\n    not{compare.frame_lines(expected)}")
        for field in ("name", "hub", "spawned_at"):
            if field in right:
                found += compare.unequal(f"greenlet {key}: {field}", mine.get(field), right[field])
        if "awaited_by" in right:
            found += compare.unequal(f"greenlet {key}: awaited_by", by_address(mine["awaited_by"]), by_address(right["awaited_by"]))
        if "waits_on" in right:
            wanted = right["waits_on"] or {}
            waits_on = {field: value for field, value in mine.get("waits_on", {}).items() if field in wanted or not wanted}
            found += compare.unequal(f"greenlet {key}: waits_on", waits_on, wanted)
        if "instrumentation" in right:
            found += compare.unequal(f"greenlet {key}: instrumentation", verdicts(document, mine), right["instrumentation"])
        for field, value in right.get("run", {}).items():
            found += compare.unequal(f"greenlet {key}: run {field}", mine["run"].get(field), value)
    resumed = [entry["function"] for entry in document["refreshes"]]
    found += compare.unequal("generators that are refreshed", resumed, oracle.get("refreshes", []))
    threads = {thread["native_id"]: thread for thread in document["threads"]}
    for right in oracle["threads"]:
        mine = threads[right["native_id"]]
        found += compare.unequal(f"thread {right['native_id']}: greenlet", mine["greenlet"], right["greenlet"])
        stack = compare.frames(document, mine["stack"])
        if stack != (expected := compare.oracle_frames(right["stack"])):
            found.append(f"thread {right['native_id']}: stack{compare.frame_lines(stack)}\n    not{compare.frame_lines(expected)}")
    return found


def check(made, answer):
    document = answer.json()
    assert document["complete"], answer
    errors = [error.message[:300] for error in VALIDATOR.iter_errors(document)]
    found = [*errors, *compare.dangling(document), *differences(made.oracle, document)]
    assert not found, "\n".join([*found, answer.repeat])


@pytest.mark.parametrize(("build", "scenario"), [(build, scenario) for build in harness.BUILDS for scenario in scenarios_of(build)])
@pytest.mark.parametrize("gdb", harness.GDBS)
def test_greenlets_are_what_greenlet_says(gdb, build, scenario):
    check(harness.make_core(build, f"greenlets/{scenario}"), answers(gdb, build)[scenario][0])


@pytest.mark.parametrize(("gdb", "build"), harness.PAIRS)
def test_without_any_file(gdb, build):
    """The executable, greenlet's module and their symbols are missing: the type comes from sys.modules."""
    made = {name: harness.make_core(build, f"greenlets/{name}") for name in scenarios_of(build) if not name.startswith("gevent")}
    targets = [f"core {harness.seen_by(gdb, each.core)}" for each in made.values()]
    before = [f"set sysroot {harness.seen_by(gdb, harness.PLACE)}/empty"]
    # gevent's types have names in its files only: without them nothing is said of waits.
    for each, (answer,) in zip(made.values(), harness.ask_all(gdb, None, targets, COMMANDS[:1], before=before)):
        check(each, answer)


def live(gdb, build, scratch, scenarios, command):
    """All scenarios run at once, and one GDB attaches to each."""
    made, targets = [], []
    with contextlib.ExitStack() as stack:
        for scenario in scenarios:
            folder = scratch / scenario
            folder.mkdir()
            made.append(harness.Scenario(folder, harness.scenario_command(build, f"greenlets/{scenario}", "live", folder), ""))
            process = stack.enter_context(harness.running(made[-1].command, folder))
            targets.append(f"attach {process.pid}")
        return made, harness.ask_all(gdb, f"/usr/bin/{build}", targets, [command])


@pytest.mark.parametrize(("gdb", "build"), harness.PAIRS)
def test_live(gdb, build, scratch):
    for each, (answer,) in zip(*live(gdb, build, scratch, scenarios_of(build), COMMANDS[0])):
        check(each, answer)


@pytest.mark.parametrize("build", harness.BUILDS)
def test_text_says_when_memory_was_searched(build):
    """During a collection the collector holds objects in lists of its own; after gc.freeze() they are in one of its usual ones."""
    collecting, freed, damaged = (answers("root-gdb", build)[name][1] for name in ("collecting", "freed", "damaged_heads"))
    assert "\nFound by a search of memory: the lists of the garbage collector are damaged\n" in damaged.text, damaged
    assert "\nFound by a search of memory: the garbage collector was running\n" in collecting.text, collecting
    assert "Found by" not in freed.text, freed
    assert freed.text.endswith("Complete: 12 greenlets in 1 thread.\n"), freed


@pytest.mark.parametrize("build", harness.BUILDS)
def test_text_tells_apart_what_has_no_stack(build):
    """Those whose thread has exited, asked or not; pending ones; those in C code only: never somebody else's stack."""
    exited, states = (answers("root-gdb", build)[scenario][1] for scenario in ("exited", "states"))
    for_ever = r"  : suspended for ever, its thread has exited, parent \w+\n  \+ Call stack:\n"
    assert len(re.findall(for_ever, exited.text)) == 1, exited
    assert len(re.findall(r"  : dead, its thread has exited, parent \w+\n(?!  \+)", exited.text)) == 1, exited
    texts = [states.text] + ([answers("root-gdb", build)["gevent_waits"][1].text] if build == "python3.14" else [])
    for text in texts:
        blocks = text.split("\n* ")
        pending = [block for block in blocks if "  : pending, not started" in block]
        in_c = [block for block in blocks if "  : no Python frames: it is in C code only" in block]
        assert pending and in_c, text
        assert not any("Call stack" in block or "File" in block.partition("spawned at")[0] for block in in_c), text
        assert not any("Call stack" in block for block in pending), text
    assert "  : will call wait(), File '/" in states.text, states
    assert re.search(r"  : will call a functools.partial object at 0x\w+\n", states.text), states
    pending = r"^\* 2 greenlet.greenlet: .*\n  : pending, not started\n  : will call wait\(\), File"
    assert re.search(pending, states.text, re.M), states


@pytest.mark.parametrize(("gdb", "build"), harness.PAIRS)
def test_verdicts_in_the_text(gdb, build):
    with_option, without = harness.ask_core(gdb, build, "greenlets/profile_on", "py-greenlets --instrumentation", "py-greenlets")
    crashes = "3.15" in build
    lines = with_option.text.splitlines()
    leaf = next(number for number, line in enumerate(lines) if line.endswith("in leaf()"))
    misses = "  |     : instrumentation misses events of sys.setprofile until the function is called again"
    crash = "  |     : instrumentation will crash (SIGSEGV) when an exception passes through this frame"
    assert lines[leaf + 1 : leaf + 2 + crashes] == [crash] * crashes + [misses], with_option
    assert "  |     : instrumentation fresh" in lines, with_option
    place = "in gen (profile_on.py:35)"
    assert f"1 suspended generator or coroutine {place}: instrumentation stale, refreshes on resume" in lines, with_option
    assert any(line.startswith("What helps: call the function again") for line in lines), with_option
    misses_only, crash_too = "with frames that miss events of a tool", "will crash (SIGSEGV) when an exception passes through"
    finding = f"1 greenlet {crash_too if crashes else misses_only}"
    assert f"! stale instrumentation: {finding}; py-greenlets --instrumentation" in without.text.splitlines(), without


@pytest.mark.parametrize(
    ("build", "target", "function", "why"),
    [
        ("python3.15", "stale_crash", "raises", "when an exception passes through such a frame (gh-142186)"),
        ("python3.15d", "stale_crash", "raises", ""),
        ("python3.14d", "stale_abort", "turns_on", "a debug build checks that, and aborts"),
        ("python3.15d", "stale_abort", "turns_on", "a debug build checks that, and aborts"),
    ],
)
@pytest.mark.parametrize("gdb", harness.GDBS)
def test_a_death_by_stale_instrumentation_is_named(gdb, build, target, function, why):
    core = harness.make_target(build, target).core
    place = f"core {harness.seen_by(gdb, core)}"
    text, document = harness.ask(gdb, f"/usr/bin/{build}", place, "py-greenlets", "py-greenlets --json")
    line = next((line for line in text.text.splitlines() if line.startswith("! likely cause of death: thread 1")), "")
    assert f"was in {function} ({target}.py:" in line and line.endswith(why), text
    finding = document.json()["findings"][0]
    assert (finding["kind"], finding["thread"], finding["function"]) == ("stale_instrumentation_death", 1, function), document


def check_bridges(oracle, answer):
    document = answer.json()
    assert document["complete"], answer
    tasks = {task["name"]: task for task in document["tasks"]}
    for right in oracle["tasks"]:
        mine = tasks[right["name"]]
        assert compare.frames(document, mine["stack"]) == compare.oracle_frames(right["stack"]), answer.repeat
        assert mine.get("greenlets") == right["greenlets"], answer.repeat
        assert len(mine["objects"]) == len(right["stack"]), answer.repeat


# A task, and how many greenlets it runs through.
BRIDGES = {"bridge_sqlalchemy": ("nested", 2), "bridge_portal": ("portal_in_portal", 2), "bridge_session": ("execute", 1)}


@pytest.mark.parametrize("build", harness.BUILDS)
@pytest.mark.parametrize("gdb", harness.GDBS)
@pytest.mark.parametrize("scenario", BRIDGES)
def test_tasks_run_through_greenlets(gdb, build, scenario):
    """One stack out of the coroutines and the greenlets between them; --compat has what asyncio prints, without these."""
    oracle = harness.make_core(build, f"greenlets/{scenario}").oracle
    names = list(oracle.get("texts", ()))
    task, greenlets = BRIDGES[scenario]
    commands = ["py-async-bt --all --json", f"py-async-bt {task}", *(f"py-async-bt {name} --compat" for name in names)]
    answer, text, *compat = harness.ask_core(gdb, build, f"greenlets/{scenario}", *commands)
    check_bridges(oracle, answer)
    assert text.text.count("  : runs through greenlet 0x") == greenlets, text
    for name, ours in zip(names, compat):
        assert ours.text == oracle["texts"][name] + "\n", ours


@pytest.mark.parametrize(("gdb", "build"), harness.PAIRS)
def test_bridges_live(gdb, build, scratch):
    made, answers = live(gdb, build, scratch, BRIDGES, "py-async-bt --all --json")
    for each, (answer,) in zip(made, answers):
        check_bridges(each.oracle, answer)


def tree(answer):
    """[(level, address)] of the titles in a text."""
    lines = [line for line in answer.text.splitlines() if line.lstrip().startswith("* ")]
    return [((len(line) - len(line.lstrip())) // 4, line.partition("id=")[2].rstrip(")")) for line in lines]


@pytest.mark.parametrize(("gdb", "build"), harness.PAIRS)
def test_awaited_by_follows_parents(gdb, build):
    oracle = harness.make_core(build, "greenlets/boundaries").oracle
    parents = {each["id"]: each["parent"] for each in oracle["greenlets"] if each["state"] != "running"}
    chain = [oracle["innermost"]]
    while parents.get(parents[chain[-1]]):
        chain.append(parents[chain[-1]])
    assert len(chain) == 5
    words = f"py-awaited-by {chain[0]}"
    text, shallow, document = harness.ask_core(
        gdb, build, "greenlets/boundaries", words, f"{words} --depth 2", f"{words} --json"
    )
    assert tree(text) == [*enumerate(chain)], text
    assert text.text.count("  : its parent: goes on when that ends\n") == 4, text
    assert tree(shallow) == [*enumerate(chain[:3])], shallow
    assert "            \N{HORIZONTAL ELLIPSIS} 1 more greenlet; --depth N shows more levels\n" in shallow.text, shallow
    assert [each["id"] for each in document.json()["greenlets"]] == chain, document


@pytest.mark.parametrize("gdb", harness.GDBS)
def test_awaited_by_follows_gevent(gdb):
    oracle = harness.make_core("python3.14", "greenlets/gevent_awaited").oracle
    awaited_by = {each["id"]: sorted(awaiter["id"] for awaiter in each["awaited_by"]) for each in oracle["greenlets"]}
    target, one, member = oracle["named"].values()
    words = f"py-awaited-by {target} {one} {member}"
    text, dot = harness.ask_core(gdb, "python3.14", "greenlets/gevent_awaited", words, f"{words} --dot")
    found, path = {}, []
    for level, address in tree(text):
        path[level:] = [address]
        found.setdefault(address, [])
        if level:
            found[path[level - 1]].append(address)
    assert {address: sorted(awaiters) for address, awaiters in found.items()} == {key: awaited_by[key] for key in found}, text
    assert len(found) == 11, text
    assert text.text.count("  : shown above: a cycle\n") == 1, text
    assert dot.error == "--dot shows tasks, no greenlets", dot


@pytest.mark.parametrize("gdb", harness.GDBS)
def test_a_hub_that_cannot_run_is_a_finding(gdb):
    oracle = harness.make_core("python3.14", "greenlets/gevent_blocked").oracle
    document, text = harness.ask_core(gdb, "python3.14", "greenlets/gevent_blocked", "py-greenlets --json", "py-greenlets")
    found = [each for each in document.json()["findings"] if each["kind"] == "hub-blocked"]
    told = {}
    for finding in found:
        call = finding["text"].partition(" blocks the thread in ")[2].partition("()")[0]
        others = int(finding["text"].rpartition("; ")[2].partition(" ")[0])
        told[call] = {"objects": finding["objects"], "others": others}
    assert told == oracle["blocked"], document
    assert len(found) == len(told), document
    head = [line for line in text.text.splitlines() if line.startswith("! hub-blocked: ")]
    assert head[-1] == "! hub-blocked: 4 more Hubs" and len(head) == 3, text
    assert text.text.index("! hub-blocked") < text.text.index("\n* "), text
    # A Hub that could run, in a process that dies meanwhile.
    (document,) = harness.ask_core(gdb, "python3.14", "greenlets/gevent_waits", "py-greenlets --json")
    assert not document.json()["findings"], document


@pytest.mark.parametrize(("gdb", "build"), harness.PAIRS)
def test_a_greenlet_stands_for_the_task_that_runs_through_it(gdb, build):
    oracle = harness.make_core(build, "greenlets/bridge_sqlalchemy").oracle
    task = next(task for task in oracle["tasks"] if task["name"] == "nested")
    main = next(each["id"] for each in oracle["greenlets"] if each["main"])
    commands = ["py-awaited-by nested", "py-async-bt nested"]
    commands += [f"py-awaited-by {task['greenlets'][2]}", f"py-async-bt {task['greenlets'][6]}", f"py-async-bt {main}"]
    awaited_by, backtrace, by_greenlet, bt_greenlet, of_main = harness.ask_core(
        gdb, build, "greenlets/bridge_sqlalchemy", *commands
    )
    assert task["greenlets"][2] != task["greenlets"][6]
    assert by_greenlet.text == awaited_by.text and "nested" in awaited_by.text, by_greenlet
    assert bt_greenlet.text == backtrace.text, bt_greenlet
    expected = f'{main} = {main} is a "greenlet.greenlet" object, a greenlet that no task runs through; py-greenlets shows it'
    assert of_main.error == expected, of_main


RUNNING = {
    "bridge_running": ["stop", "crunch", "business", "greenlet_spawn", "handler"],
    "portal_running": ["stop", "crunch", "user_inner", "user_main", "shim", "handler"],
}


@pytest.mark.parametrize(("gdb", "build"), harness.PAIRS)
@pytest.mark.parametrize("scenario", RUNNING)
def test_a_task_whose_sync_code_runs(gdb, build, scenario):
    """The thread's own frames end where the greenlet began; the task's go on in the greenlet that waits for it."""
    (answer,) = harness.ask_core(gdb, build, f"greenlets/{scenario}", "py-async-bt --all --json")
    document = answer.json()
    task = next(task for task in document["tasks"] if task["name"] == "busy")
    functions = [frame[0] for frame in compare.frames(document, task["stack"])]
    assert functions == RUNNING[scenario], answer
    assert task["activity"] == "running", answer
    main = next(greenlet["id"] for greenlet in document["greenlets"] if greenlet["main"])
    assert task["greenlets"] == [None] * (len(functions) - 2) + [main, main], answer
    thread = compare.frames(document, document["threads"][0]["stack"])
    assert thread[: len(functions)] == compare.frames(document, task["stack"]) and thread[-1][0] == "<module>", answer
