"""The sample core of corefiles/ as someone gets it who has nothing else: no executable, no library, no symbols, no Python 3.15."""

import json
import lzma
import os
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
COMPRESSED = PROJECT / "corefiles" / "sample.core.xz"
PROGRAM = "/srv/shop/shop.py"
CRASHED, PAGE = "thumb:teapot@160", "page:teapot"


@pytest.fixture(scope="module")
def core() -> Path:
    """The core, unpacked once for each sample.core.xz; by renaming, as several test processes may do it at once."""
    core = PROJECT / "build" / "sample-test" / "sample.core"
    if not core.exists() or core.stat().st_mtime < COMPRESSED.stat().st_mtime:
        core.parent.mkdir(parents=True, exist_ok=True)
        new = core.with_name(f"new.{os.getpid()}")
        new.write_bytes(lzma.decompress(COMPRESSED.read_bytes()))
        new.rename(core)
    return core


def gdb(core: Path, no_files: Path, *commands: str) -> str:
    """What GDB prints for commands on the core, with an empty sysroot: this machine's files are not those of the core."""
    arguments = ["gdb", "-nx", "-nh", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"]
    arguments += ["-iex", f"set sysroot {no_files}", "--core", str(core), "-ex", f"source {PROJECT / 'gdb' / 'pyasync.py'}"]
    for command in commands:
        arguments += ["-ex", command]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def document(core: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    output = tmp_path_factory.mktemp("json") / "tasks.json"
    gdb(core, tmp_path_factory.mktemp("no-files"), f"py-async-tasks --json --output {output}")
    return json.loads(output.read_text())


def frames(document: dict, task: dict) -> list:
    return [(frame["function"], frame["file"]) for frame in document["stacks"][task["stack"]]]


def awaiters(document: dict, task: dict) -> list:
    by_id = {other["id"]: other for other in document["tasks"]}
    return [by_id[edge["id"]] for edge in task["awaited_by"]]


def named(document: dict, name: str) -> dict:
    (task,) = [task for task in document["tasks"] if task["name"] == name]
    return task


def test_gdb_has_no_file_but_the_core(core: Path, tmp_path: Path) -> None:
    files = gdb(core, tmp_path, "python print(*(objfile.filename for objfile in gdb.objfiles()), sep=', ')").splitlines()[-1]
    assert re.fullmatch(r"(system-supplied DSO at 0x[0-9a-f]+)?", files)


def test_crashed_task_runs_in_the_crashed_thread(document: dict) -> None:
    task = named(document, CRASHED)
    assert document["process"]["signal"] == "SIGSEGV"
    assert (task["activity"], task["state"], task["thread"]) == ("running", "pending", 1)
    assert frames(document, task) == [("resize", PROGRAM), ("Shop.thumbnail", PROGRAM)]
    assert [other["name"] for other in document["tasks"] if other["activity"] == "running"] == [CRASHED]


def test_lines_are_those_of_the_program(document: dict) -> None:
    source = (PROJECT / "corefiles" / "shop.py").read_text().splitlines()
    found = {}
    for name in (CRASHED, PAGE):
        for frame in document["stacks"][named(document, name)["stack"]]:
            if frame["file"] == PROGRAM:
                found[frame["function"]] = source[frame["line"] - 1].strip()
    assert found == {
        "resize": "libthumb.thumb_resize(photo, thumb, width, height)",
        "Shop.thumbnail": "return resize(photo, width)",
        "Shop.render": "async with asyncio.TaskGroup() as group:",
    }


def test_crashed_task_is_awaited_three_deep(document: dict) -> None:
    (page,) = awaiters(document, named(document, CRASHED))
    assert page["name"] == PAGE
    assert page["activity"] == "waiting"
    assert frames(document, page)[-1] == ("Shop.render", PROGRAM)

    requests = awaiters(document, page)
    assert len(requests) == 2
    for request in requests:
        assert re.fullmatch(r"Task-\d+", request["name"])
        assert request["activity"] == "waiting"
        assert frames(document, request) == [("Shop.page", PROGRAM), ("Shop.serve", PROGRAM)]
        assert request["awaited_by"] == []


def test_every_task_is_found_and_nothing_is_missing(document: dict) -> None:
    names = sorted(task["name"] for task in document["tasks"] if not re.fullmatch(r"Task-\d+", task["name"]))
    customers = [f"customer-{number}" for number in (1, 2, 3)]
    thumbs = [f"thumb:teapot@{width}" for width in (160, 320, 640)]
    assert names == [*customers, "heartbeat", "packer-1", "packer-2", PAGE, "smoke-test", *thumbs]
    # Beside them asyncio named Task-1, which is main(), and the tasks that serve the three customers.
    assert len(document["tasks"]) == len(names) + 4
    assert document["problems"] == []
    assert document["complete"] is True


def test_text_leads_from_the_crash_to_the_requests(core: Path, tmp_path: Path) -> None:
    lines = gdb(core, tmp_path, "py-async-bt --compat").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"* Task(name='{CRASHED}', id=0x"))
    text = [re.sub(r"0x[0-9a-f]+|line \d+|Task-\d+", "…", line) for line in lines[start:]]
    request = [
        "        * Task(name='…', id=…)",
        "          + Call stack:",
        f"          |   File '{PROGRAM}', …, in async Shop.page()",
        f"          |   File '{PROGRAM}', …, in async Shop.serve()",
    ]
    assert text[:4] == [
        f"* Task(name='{CRASHED}', id=…)",
        "  + Call stack:",
        f"  |   File '{PROGRAM}', …, in resize()",
        f"  |   File '{PROGRAM}', …, in async Shop.thumbnail()",
    ]
    assert f"    * Task(name='{PAGE}', id=…)" in text
    assert text[-8:] == request + request


def test_core_tells_nothing_of_the_machine_it_was_made_on(core: Path) -> None:
    contents = core.read_bytes()
    # The stack of a new process holds its arguments, its environment and the path of its executable, one after another.
    assert contents.count(b"\0-I\0-S\0/srv/shop/shop.py\0/usr/bin/python3.15\0") == 1
    # Python itself sets LC_CTYPE when it finds no locale.
    variables = set(re.findall(rb"\0([A-Z_][A-Z0-9_]{2,}=[ -~]{3,})(?=\0)", contents))
    assert {variable for variable in variables if not variable.startswith(b"LC_CTYPE=C.UTF-8")} == set()
    assert re.findall(rb"/(?:home|root|work|build|tmp/[a-z])/[\w./-]*", contents) == []


def test_sample_is_small() -> None:
    assert COMPRESSED.stat().st_size <= 3_000_000
