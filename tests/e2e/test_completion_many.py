"""Completion among 100,000 tasks: what is inserted is right though not every name is handed to GDB, and it takes no time."""

import importlib
import json

import harness
import pexpect
import pytest

pytest_plugins = "front_gdb"

pytestmark = [pytest.mark.parametrize("gdb", harness.GDBS)]

BUILD = "python3.15"

MEASURE = """
import gdb, json, time

def best(command):
    times = []
    for _ in range(3):
        begin = time.process_time()
        gdb.execute(command, to_string=True)
        times.append(time.process_time() - begin)
    return min(times)

gdb.execute("py-async-bt --stats", to_string=True)
commands = ("py-async-tasks", "complete py-async-bt conn", "complete py-async-bt conn-a-04999", "complete py-async-bt sam")
print("MEASURED " + json.dumps([best(command) for command in commands]))
"""


@pytest.fixture(scope="module")
def crowd():
    return harness.make_target(BUILD, "crowd").core


def complete(gdb, core, *texts):
    lines = [line for text in texts for line in (f"complete {text}", "echo ---\\n")]
    done = harness.run_gdb(gdb, None, f"core {harness.seen_by(gdb, core)}", "echo ===\\n", *lines)
    return [part.splitlines() for part in done.stdout.partition("===\n")[2].split("---\n")[:-1]]


def test_names_are_listed_once_and_narrowed(gdb, crowd):
    same, some, one, other, none = complete(
        gdb, crowd, "py-async-bt sa", "py-async-bt conn-a-04999", "py-async-bt conn-a-049997", "py-awaited-by o",
        "py-async-tasks zzz",
    )  # fmt: skip
    assert same == ["py-async-bt same"]
    assert some == [f"py-async-bt conn-a-04999{digit}" for digit in range(8)]
    assert one == ["py-async-bt conn-a-049997"]
    assert other == ["py-awaited-by other"]
    assert none == []


def test_a_name_that_ends_what_is_common_is_among_those_shown(gdb, crowd):
    """GDB takes the first 200 names and completes what they have in common: conn-b is one of the last of 49,999."""
    (every,) = complete(gdb, crowd, "py-async-bt conn")
    assert len(every) >= 200 and "py-async-bt conn-b" in every, every[:5]


def test_tab_inserts_no_more_than_all_have_in_common(gdb, crowd):
    harness.prepare()
    file = harness.seen_by(gdb, harness.PLACE / "gdb/pyasync.py")
    quiet = importlib.import_module("front_gdb").QUIET  # not before pytest has imported its plugin
    command = ["gdb", *quiet, "-iex", "set style enabled off", "-ex", f"source {file}", "-core", harness.seen_by(gdb, crowd)]
    if gdb == "root-gdb":
        command = harness.in_root_with_proc(*command)
    child = pexpect.spawn(command[0], command[1:], encoding="utf-8", codec_errors="replace", dimensions=(50, 200), timeout=60,
                          env={"TERM": "xterm", "INPUTRC": "/dev/null", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"})  # fmt: skip
    try:
        child.expect_exact("(gdb) ")
        child.send("py-async-bt con\t")
        child.expect_exact("py-async-bt con")
        child.expect_exact("n-")
        child.send("b\t\n")
        child.expect_exact("Task(name='conn-b'")
    finally:
        child.close(force=True)


def test_completion_is_fast(gdb, crowd):
    """A fraction of what it takes to list them. In milliseconds: some 20 of 500."""
    script = harness.PLACE / "measure.py"
    harness.replace(script, MEASURE.encode())
    done = harness.run_gdb(gdb, None, f"core {harness.seen_by(gdb, crowd)}", "source PLACE/measure.py")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("MEASURED ")]
    listing, *completions = json.loads(line.removeprefix("MEASURED "))
    assert max(completions) < listing / 4, line
