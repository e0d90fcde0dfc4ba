"""
Runs inside GDB, with pyasync loaded: damage a copy of a core in one way after the other, and see what is still told.

The environment variable PYASYNC_DAMAGE names a JSON file: {"core": the whole core, "work": its copy, "results": a file that gets a
JSON line for each damage as soon as it is known, "numbers": [first, last + 1], "scratch": a folder}. Each damage follows from its
number alone.

A task is untouched if none of the bytes that its name and stack are read from is damaged: its own, its coroutines', their code's
with its strings, their types', and the two tables of offsets. Where these are is read from the whole core, with the offsets that
py-async-info tells.
"""

import json
import os
import random
import resource
import struct
import time

from pyasync_gdb import memory_map

import gdb

JOB = json.load(open(os.environ["PYASYNC_DAMAGE"]))
PAGE = 4096
GC_HEAD = 16


class Memory:
    """The core's memory, and the places of the file where it is."""

    def __init__(self, path):
        self.segments = sorted(segment[:3] for segment in memory_map._loaded_segments(path))
        self.file = open(path, "rb")

    def offset(self, address):
        for start, size, offset in self.segments:
            if start <= address < start + size:
                return offset + address - start
        return None

    def read(self, address, size):
        offset = self.offset(address)
        if offset is None:
            return b""
        self.file.seek(offset)
        return self.file.read(size)

    def word(self, address):
        data = self.read(address, 8)
        return struct.unpack("<Q", data)[0] if len(data) == 8 else 0


def ask(command):
    """The JSON document, or what was said instead."""
    path = os.path.join(JOB["scratch"], "answer.json")
    try:
        gdb.execute(f"{command} --json --output {path}", to_string=True)
    except gdb.error as error:
        return str(error)
    with open(path) as file:
        return json.load(file)


class Whole:
    """What is in the whole core."""

    def __init__(self):
        gdb.execute(f"core {JOB['core']}", to_string=True)
        self.memory = Memory(JOB["core"])
        info = ask("py-async-info")["info"]
        self.offsets = {name: field["offset"] for name, field in info["fields"].items()}
        self.runtime, asyncio = (int(info[table]["address"], 16) for table in ("runtime", "asyncio"))
        # Without the two tables of offsets nothing can be read.
        self.tables = [(self.runtime, 1024), (asyncio, 256)]
        document = ask("py-async-bt --all")
        assert document["complete"], document["problems"]
        self.told = told(document)
        self.targets = {kind: [] for kind in ("task", "node", "coroutine", "code", "str", "set", "thread")}
        self.needs = {task["id"]: self._needs_of(task) for task in document["tasks"]}
        self._find_threads()

    def _field(self, address, name):
        return self.memory.word(address + self.offsets[name])

    def _object(self, kind, address, size):
        """The ranges that an object takes and its type does."""
        if kind in self.targets and (address, size) not in self.targets[kind]:
            self.targets[kind].append((address, size))
        type_ = self._field(address, "object.type")
        return [(address - GC_HEAD, GC_HEAD + size), (type_ - GC_HEAD, 512), (self._field(type_, "type.name"), 64)]

    def _needs_of(self, task):
        address = int(task["id"], 16)
        size = self.offsets["task.size"]
        needs = self.tables + self._object("task", address, size)
        self.targets["node"].append((address + self.offsets["task.node"], 16))
        needs += self._object("str", self._field(address, "task.name"), 80)
        awaited_by = self._field(address, "task.awaited_by")
        if len(task["awaited_by"]) > 1:
            self._object("set", awaited_by, self.offsets["set.size"])
        for each in task["objects"]:
            if each is not None:
                needs += self._needs_of_coroutine(int(each, 16))
        return needs

    def _needs_of_coroutine(self, address):
        frame = address + self.offsets["gen.iframe"]
        needs = self._object("coroutine", address, self.offsets["gen.iframe"] + self.offsets["frame.localsplus"] + 96)
        code = self._field(frame, "frame.executable") & ~3
        needs += self._object("code", code, self.offsets["code.size"] + 400)
        for name in ("code.qualname", "code.filename", "code.linetable"):
            needs += self._object("str", self._field(code, name), 160)
        # What is awaited may be an object without a frame (asend() of an async generator), between this one and the next.
        for place in range(frame + self.offsets["frame.localsplus"], frame + self.offsets["frame.localsplus"] + 96, 8):
            needs.append(((self.memory.word(place) & ~3) - GC_HEAD, 96))
        return needs

    def _find_threads(self):
        interpreter = self._field(self.runtime, "runtime.interpreters_head")
        thread = self._field(interpreter, "interpreter.threads_head")
        while thread:
            self.targets["thread"].append((thread, self.offsets["thread_impl.size"]))
            thread = self._field(thread, "thread.next")


def told(document):
    """{id: (name, stack)} of the tasks of a document."""
    stacks = [[(frame["function"], frame["line"]) for frame in stack] for stack in document["stacks"]]
    return {task["id"]: (task["name"], stacks[task["stack"]]) for task in document["tasks"]}


def damage(whole, chance):
    """What is done, and [(address, bytes)]."""
    memory, kind = whole.memory, chance.choice(list(whole.targets))
    address, size = chance.choice(whole.targets[kind])
    words = range(address, address + size - 7, 8)
    how = chance.choice(["flip", "page", "swap", "point", "random"])
    if how == "flip":
        patches = []
        for _ in range(chance.randrange(1, 9)):
            at = address + chance.randrange(size)
            patches.append((at, bytes([memory.read(at, 1)[0] ^ 1 << chance.randrange(8)])))
    elif how == "page":
        page = address & -PAGE
        patches = [(page, bytes(PAGE))]
    elif how == "swap":
        other, other_size = chance.choice(whole.targets[kind])
        offset = chance.randrange(0, min(size, other_size) - 7, 8)
        patches = [(address + offset, memory.read(other + offset, 8)), (other + offset, memory.read(address + offset, 8))]
    elif how == "point":
        pointed = chance.choice(whole.targets[chance.choice(list(whole.targets))])[0]
        patches = [(chance.choice(words), struct.pack("<Q", pointed))]
    else:
        patches = [(chance.choice(words), chance.randbytes(8))]
    return f"{how} {kind} {address:#x}", patches


def break_lists(whole):
    """The heads of the lists of tasks, and the links of these and of their neighbours in the garbage collector's lists."""
    nothing, memory = struct.pack("<2Q", 0x10, 0x10), whole.memory
    patches = [(thread + whole.offsets["thread_impl.asyncio_tasks_head"], nothing) for thread, _ in whole.targets["thread"]]
    for task, _ in whole.targets["task"]:
        links = struct.unpack("<2Q", memory.read(task - GC_HEAD, 16))
        patches += [(link & ~3, nothing) for link in links] + [(task - GC_HEAD, nothing)]
    return "lists", patches


def untouched(whole, patches):
    ranges = [(at, at + len(data)) for at, data in patches]

    def is_hit(needs):
        return any(at < start + size and start < end for start, size in needs for at, end in ranges)

    return {task for task, needs in whole.needs.items() if not is_hit(needs)}


def write(whole, patches):
    with open(JOB["work"], "r+b") as file:
        for address, data in patches:
            offset = whole.memory.offset(address)
            if offset is not None:
                file.seek(offset)
                file.write(data)


COMMANDS = ("py-async-report", "py-awaited-by --all", "py-async-bt --all --locals --no-head")


def try_one(whole, number):
    what, patches = damage(whole, random.Random(number)) if number >= 0 else break_lists(whole)
    result = {"number": number, "what": what}
    # Said before: if GDB dies now, its last line tells what killed it.
    emit(result)
    write(whole, patches)
    try:
        begin = time.monotonic()
        gdb.execute(f"core {JOB['work']}", to_string=True)
        document = ask("py-async-bt --all")
        for command in COMMANDS:
            try:
                gdb.execute(f"{command} --output {JOB['scratch']}/text", to_string=True)
            except gdb.error as error:
                result.setdefault("errors", []).append(str(error))
        result["seconds"] = time.monotonic() - begin
    finally:
        write(whole, [(address, whole.memory.read(address, len(data))) for address, data in patches])
    now = told(document) if isinstance(document, dict) else {}
    expected = untouched(whole, patches) if number >= 0 else set(whole.told)
    result["untouched"] = len(expected)
    result["lost"] = sorted(whole.told[task][0] for task in expected if now.get(task) != whole.told[task])
    result["error"] = None if isinstance(document, dict) else document
    result["found"] = sorted({task["found"] for task in document["tasks"]}) if isinstance(document, dict) else []
    result["complete"] = isinstance(document, dict) and document["complete"]
    result["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    emit(result)


def emit(result):
    with open(JOB["results"], "a") as file:
        file.write(json.dumps(result) + "\n")


for setting in ("confirm off", "pagination off", "width 0"):
    gdb.execute(f"set {setting}")
WHOLE = Whole()
for number in range(*JOB["numbers"]):
    try_one(WHOLE, number)
