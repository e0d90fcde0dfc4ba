"""
Comparing what GDB printed with what a scenario's oracle wrote down. Differences come back as lines of text, so that a
test shows all of them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Optional

TASK_FIELDS = ("name", "type", "state", "activity", "cancel_requests", "must_cancel", "interpreter", "loop", "stale_awaiters")
LOOP_FIELDS = ("type", "state", "ready", "scheduled", "signal_handlers", "callback")
FRAME_FIELDS = ("function", "file", "line", "kind")

# The library keeps so many characters of a string (PA_MAX_STRING in src/limits.h), and says how many it left out.
MAX_STRING = 4096


def expected_text(text: Optional[str]) -> Optional[str]:
    if text is None or len(text) <= MAX_STRING:
        return text
    return f"{text[:MAX_STRING]}… ({len(text) - MAX_STRING:,} more characters)"


def expected_name(task: dict) -> str:
    """
    A task's name as it is printed: without secrets (a scenario that has some says what may be shown), and not longer
    than the library keeps.
    """
    return expected_text(task.get("shown", task["name"]))


def escaped(text: str) -> str:
    """Text of the target as it reaches the terminal where asyncio prints it raw."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def differences(oracle: dict, document: dict, lwps: Optional[dict[int, int]] = None, own_clock: Optional[bool] = None) -> list[str]:
    """
    Everything in which the document of `py-async-bt --all --json` is not what the oracle says.

    @p lwps: for a process in a PID namespace, {thread id inside: what GDB, outside, calls it}. @p own_clock: whether the process
    has the clock of GDB's host; unless told otherwise every process has.
    """
    own_clock = document["process"]["core"] is None if own_clock is None else own_clock
    return [
        *task_differences(oracle, document),
        *future_differences(oracle, document),
        *loop_differences(oracle, document, own_clock),
        *thread_differences(oracle, document, lwps or {}),
        *finding_differences(oracle, document),
        *dangling(document),
    ]


# Kinds of findings that no scenario states: tests of their own are about them.
UNSTATED = ("stale_instrumentation", "stale_instrumentation_death")


def finding_differences(oracle: dict, document: dict) -> Iterator[str]:
    """What is found is what the scenario has arranged, no more and no less."""

    def listed(findings: list[dict]) -> list[tuple]:
        return sorted((each["kind"], *sorted(each["tasks"]), *sorted(each["objects"])) for each in findings)

    mine = [each for each in document["findings"] if each["kind"] not in UNSTATED]
    for each in mine:
        if not each["text"].isprintable():
            yield f"finding {each['text']!r}"
    yield from unequal("findings", listed(mine), listed(oracle.get("findings", [])))


def by_id(entries: list[dict]) -> dict[str, dict]:
    return {entry["id"]: entry for entry in entries}


def unequal(what: str, ours: object, theirs: object) -> Iterator[str]:
    if ours != theirs:
        yield f"{what}: {ours!r}, but the oracle says {theirs!r}"


def frames(document: dict, index: int) -> list[tuple]:
    return [tuple(frame.get(field) for field in FRAME_FIELDS) for frame in document["stacks"][index]]


def oracle_frames(stack: list[dict]) -> list[tuple]:
    return [(expected_text(frame["function"]), expected_text(frame["file"]), frame["line"], frame["kind"]) for frame in stack]


def frame_lines(stack: list[tuple]) -> str:
    return "".join(f"\n        {kind} {function} {file}:{line}" for function, file, line, kind in stack)


def task_differences(oracle: dict, document: dict) -> Iterator[str]:
    ours, theirs = by_id(document["tasks"]), by_id(oracle["tasks"])
    native_ids = {thread["num"]: thread["native_id"] for thread in document["threads"]}
    yield from unequal("number of tasks", len(document["tasks"]), len(theirs))
    for address, task in theirs.items():
        if address not in ours:
            yield f"task {address} {task['name']!r} is missing"
            continue
        mine, label = ours[address], f"task {address} {task['name'][:40]!r}"
        for field in TASK_FIELDS:
            yield from unequal(f"{label}: {field}", mine.get(field), expected_name(task) if field == "name" else task[field])
        yield from unequal(f"{label}: thread", native_ids.get(mine["thread"]), task["thread"])
        yield from awaiter_differences(label, mine, task)
        yield from unequal(f"{label}: derived_stack", mine.get("derived_stack", False), task["derived_stack"])
        yield from unequal(f"{label}: objects", mine["objects"], task["objects"])
        if (found := frames(document, mine["stack"])) != (right := oracle_frames(task["stack"])):
            yield f"{label}: stack{frame_lines(found)}\n    but the oracle says{frame_lines(right)}"
        if task["activity"] == "waiting":
            yield from unequal(f"{label}: future", (mine["waits_on"] or {}).get("future"), task["future"])
    for address in ours.keys() - theirs.keys():
        yield f"task {address} {ours[address]['name']!r} is not alive"


def future_differences(oracle: dict, document: dict) -> Iterator[str]:
    ours = by_id(document["futures"])
    for future in oracle["futures"]:
        mine, label = ours.get(future["id"]), f"future {future['id']}"
        if mine is None:
            yield f"{label} is missing"
            continue
        for field in ("type", "state", "stale_awaiters"):
            yield from unequal(f"{label}: {field}", mine.get(field), future[field])
        yield from awaiter_differences(label, mine, future)


def ended_differences(oracle: dict, document: dict) -> Iterator[str]:
    """Tasks that have ended and are still there: in what `--state any` answers."""
    ours = {task["id"]: task for task in document["tasks"] if task["activity"] == "ended"}
    for task in oracle["ended"]:
        mine, label = ours.pop(task["id"], None), f"ended task {task['id']} {task['name'][:40]!r}"
        if mine is None:
            yield f"{label} is missing"
            continue
        for field in ("type", "state"):
            yield from unequal(f"{label}: {field}", mine[field], task[field])
        yield from unequal(f"{label}: name", mine["name"], expected_name(task))
    for address, task in ours.items():
        yield f"ended task {address} {task['name']!r} is not there"


def awaiter_differences(label: str, mine: dict, theirs: dict) -> Iterator[str]:
    yield from unequal(f"{label}: awaited_by", sorted(edge["id"] for edge in mine["awaited_by"]), theirs["awaited_by"])
    found = sorted(edge["id"] for edge in mine["awaited_by"] if edge["source"] == "derived")
    yield from unequal(f"{label}: derived awaiters", found, theirs["derived"])


def loop_differences(oracle: dict, document: dict, own_clock: bool) -> Iterator[str]:
    ours = by_id(document["loops"])
    native_ids = {thread["num"]: thread["native_id"] for thread in document["threads"]}
    for loop in oracle["loops"]:
        mine, label = ours.get(loop["id"]), f"loop {loop['id']}"
        if mine is None:
            if loop["state"] not in ("closed", "not running"):
                yield f"{label} is missing"
            continue
        for field in LOOP_FIELDS:
            yield from unequal(f"{label}: {field}", mine.get(field), loop[field])
        yield from timer_differences(label, mine["next_timer"], loop, own_clock and loop["monotonic"])
        running = loop["state"] not in ("closed", "not running")
        yield from unequal(f"{label}: thread", native_ids.get(mine["thread"]), loop["thread"] if running else None)
    for address in ours.keys() - by_id(oracle["loops"]).keys():
        yield f"loop {address} does not exist"


def timer_differences(label: str, mine: Optional[float], loop: dict, own_clock: bool) -> Iterator[str]:
    """Seconds until its next timer: live they have gone by since the oracle wrote, in a core since the loop looked at its clock."""
    if loop["next_when"] is None or (not own_clock and loop["last_look"] is None):
        yield from unequal(f"{label}: next_timer", mine, None)
    elif own_clock:
        most = loop["next_when"] - loop["written"]
        if mine is None or not most - 300 <= mine <= most:
            yield f"{label}: next_timer: {mine}, but the oracle says at most {most}"
    elif mine is None or abs(mine - (loop["next_when"] - loop["last_look"])) > 1e-6:
        yield f"{label}: next_timer: {mine}, but the oracle says {loop['next_when'] - loop['last_look']}"


def thread_differences(oracle: dict, document: dict, lwps: dict[int, int]) -> Iterator[str]:
    ours = {(thread["native_id"], thread["interpreter"]): thread for thread in document["threads"]}
    for thread in oracle["threads"]:
        mine, label = ours.get((thread["native_id"], thread["interpreter"])), f"thread {thread['native_id']}"
        if mine is None:
            yield f"{label} of interpreter {thread['interpreter']} is missing"
            continue
        for field in ("loop", "task"):
            yield from unequal(f"{label}: {field}", mine.get(field), thread[field])
        if "blocked" in thread:
            yield from unequal(f"{label}: blocked", mine["blocked"], thread["blocked"])
        yield from unequal(f"{label}: lwp", mine["lwp"], lwps.get(thread["native_id"], thread["native_id"]))
        if (found := frames(document, mine["stack"])) != (right := oracle_frames(thread["stack"])):
            yield f"{label}: stack{frame_lines(found)}\n    but the oracle says{frame_lines(right)}"


def dangling(document: dict) -> Iterator[str]:
    """References to what the document neither defines nor lists as unknown."""
    tasks = by_id(document["tasks"])
    loops = by_id(document["loops"])
    nodes = {**tasks, **by_id(document["futures"])}
    unknown = set(document.get("unknown", ()))
    for node in nodes.values():
        for edge in node["awaited_by"]:
            if edge["id"] not in nodes and edge["id"] not in unknown:
                yield f"{node['id']}: awaited by {edge['id']}, which is not defined"
    for task in tasks.values():
        future = (task["waits_on"] or {}).get("future")
        if future and future not in nodes and future not in unknown:
            yield f"{task['id']}: waits on {future}, which is not defined"
        if task["loop"] not in loops and task["loop"] not in unknown:
            yield f"{task['id']}: loop {task['loop']}, which is not defined"
        if len(task["objects"]) != len(document["stacks"][task["stack"]]):
            yield f"{task['id']}: objects are not aligned with the stack"
    for thread in document["threads"]:
        if thread["task"] and thread["task"] not in tasks and thread["task"] not in unknown:
            yield f"thread {thread['num']}: task {thread['task']}, which is not defined"
    for cycle in document["cycles"]:
        for address in cycle:
            if address not in nodes and address not in unknown:
                yield f"cycle with {address}, which is not defined"


# ---- the text of asyncio.format_call_graph()


class Block(NamedTuple):
    """A task or future in asyncio's text form, with its awaiters in an order of their own: that of a set is of no meaning."""

    title: str
    lines: tuple[str, ...]
    awaiters: tuple["Block", ...]


def expected_call_graph(oracle: dict, text: str) -> str:
    """
    What `--compat` prints where asyncio prints @p text. It differs in three ways: function names are escaped, and task
    names are cut and redacted as everywhere.
    """
    for function in {frame["function"] for task in oracle["tasks"] for frame in task["stack"]}:
        text = text.replace(function, escaped(function))
    for task in oracle["tasks"]:
        text = text.replace(f"Task(name={task['name']!r}", f"Task(name={expected_name(task)!r}")
    return text


def parse_call_graph(text: str) -> list[Block]:
    """The blocks at the outermost level of a text in asyncio's form, which problems may follow."""
    blocks, lines = [], text.rstrip("\n").split("\n") if text else []
    while lines and not lines[0].startswith(("! ", "INCOMPLETE: ")):
        blocks.append(parse_block(lines, 0))
        assert is_title(blocks[-1].title), blocks[-1].title
    return blocks


def is_title(line: str) -> bool:
    return bool(re.match(r"\* (Task\(name=.*, id=0x[0-9a-f]+\)|Future\(id=0x[0-9a-f]+\))$", line))


def parse_trees(text: str) -> list[Block]:
    """The blocks at the outermost level of our own text: what stands before and after them is left out."""
    lines = text.splitlines()
    begin = next((n for n, line in enumerate(lines) if line.startswith("* ")), len(lines))
    lines = [line for line in lines[begin:] if line.startswith((" ", "* "))]
    blocks = []
    while lines:
        blocks.append(parse_block(lines, 0))
    return blocks


def every_block(blocks: Iterable[Block]) -> Iterator[Block]:
    """These blocks and all that stand below them."""
    waiting = list(blocks)
    while waiting:
        block = waiting.pop()
        yield block
        waiting += block.awaiters


def address_of(block: Block) -> str:
    return block.title.rpartition("id=")[2].rstrip(")")


def parse_block(lines: list[str], indent: int) -> Block:
    """Take one block, which begins at this column, off the front of @p lines."""
    title, own, awaiters = lines.pop(0)[indent:], [], []
    assert title.startswith("* "), title
    while lines and column(lines[0]) > indent:
        if lines[0][column(lines[0])] == "*":
            awaiters.append(parse_block(lines, column(lines[0])))
        else:
            own.append(lines.pop(0)[indent:])
    return Block(title, tuple(own), tuple(sorted(awaiters)))


def column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
