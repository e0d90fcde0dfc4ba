"""What ends a command: one line that says what was found, what was tried and what to do, and status 1 under -batch."""

import os
import re
import shutil
import subprocess

import harness
import pytest

COMMANDS = ("py-async-bt", "py-awaited-by", "py-async-tasks", "py-async-info", "py-async-bt --json", "py-async-bt Task-1")

matrix = [pytest.mark.parametrize("build", harness.BUILDS), pytest.mark.parametrize("gdb", harness.GDBS)]


def over_matrix(test):
    for parameter in matrix:
        test = parameter(test)
    return test


def expect(gdb, executable, core, pattern, before=()):
    """Every command fails with a line that fits @p pattern, and the last one's failure is the status of `gdb -batch`."""
    target = f"core {harness.seen_by(gdb, core)}"
    for answer in harness.ask(gdb, executable, target, *COMMANDS, before=before):
        assert answer.error is not None and re.fullmatch(pattern, answer.error), f"does not fit {pattern!r}: {answer}"
        assert answer.text == "", answer
    done = harness.run_gdb(gdb, executable, *before, target, "py-async-bt")
    assert done.status == 1, done
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch("(❌️ )?" + pattern, last), done
    for word in ("Traceback", "Python Exception", "Error occurred"):
        assert word not in done.stderr, done


@over_matrix
def test_asyncio_was_never_imported(gdb, build):
    """3.15 has the table in the executable all the same, but nothing of asyncio has run."""
    version = r"3\.14\.\d+" if "3.14" in build else r"3\.15\.\d+"
    core = harness.make_target(build, "no_asyncio").core
    expect(gdb, f"/usr/bin/{build}", core, rf"this CPython {version} has not loaded asyncio: .*")


@over_matrix
def test_greenlet_was_never_imported(gdb, build):
    """With the files, and from a bare core."""
    core = harness.make_core(build, "gather").core
    for executable in (f"/usr/bin/{build}", None):
        (answer,) = harness.ask(gdb, executable, f"core {harness.seen_by(gdb, core)}", "py-greenlets")
        assert answer.error is not None, answer
        assert answer.error.startswith("this process has not loaded greenlet: there is no greenlet._greenlet in its sys.modules")


@over_matrix
def test_python_is_finalised(gdb, build):
    core = harness.make_target(build, "finalised").core
    version = r"3\.14\.\d+" if "3.14" in build else r"3\.15\.\d+"
    pattern = rf"CPython {version} is here \(section \.PyRuntime\), but has no interpreter: it has not started yet, or is finalised"
    expect(gdb, f"/usr/bin/{build}", core, pattern)


NOT_PYTHON = (
    r"no CPython here: looked for section \.PyRuntime and symbol _PyRuntime in every object file, and for the cookie xdebugpy in "
    r"[\d.]+ MB of memory; is this the right core, and is it complete\?"
)


@pytest.mark.parametrize("gdb", harness.GDBS)
@pytest.mark.parametrize("file", ["/usr/bin/dash", None])
def test_core_is_of_no_python(gdb, file):
    folder = harness.PLACE / "cores" / "dash"
    command = harness.in_root("env", "-i", "-C", harness.inside(folder), "/usr/bin/dash", "-c", "kill -ABRT $$")
    made = harness.Scenario(folder, command, harness.digest(command))
    harness.make_core_of(made)
    expect(gdb, file, made.core, NOT_PYTHON)


def test_python_is_too_old():
    """The host's own Python. The root's GDB sees no file of it, so the host's alone is asked."""
    executable = shutil.which("python3.11", path="/usr/bin")
    assert executable, "this test needs Debian 12's python3.11"
    folder = harness.PLACE / "cores" / "python3.11"
    command = ["env", "-i", executable, "-c", "import asyncio, os; os.abort()"]
    made = harness.Scenario(folder, command, harness.digest(command))
    harness.make_core_of(made)
    pattern = r"CPython 3\.11\.\d+ is not supported: it publishes no debug offsets; pyasync reads CPython 3\.14 and 3\.15"
    expect("host-gdb", harness.pathlib.Path(executable), made.core, pattern, before=["set sysroot /"])


@pytest.mark.parametrize("gdb", harness.GDBS)
def test_live_process_is_of_no_python(gdb):
    """All memory of a live process is searched only if the user asks for it."""
    process = subprocess.Popen(harness.in_root("/usr/bin/sleep", "1000"))
    try:
        harness.wait_until_asleep(process.pid)
        plain, exhaustive = harness.ask(gdb, None, f"attach {process.pid}", "py-async-bt", "py-async-bt --exhaustive")
        for answer in (plain, exhaustive):
            assert answer.error and answer.error.startswith("no CPython here: "), answer
            assert answer.error.endswith("is this the right process? (--exhaustive searches all of its memory)"), answer
            assert "\n" not in answer.error and answer.text == "", answer
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


@over_matrix
def test_tasks_that_are_not_there(gdb, build):
    """Wrong names, addresses and filters of a good core."""
    oracle = harness.make_core(build, "threads").oracle
    thread = len(oracle["threads"]) + 7
    expected = {
        "py-async-bt nobody": 'no task is called "nobody" among 4; py-async-tasks lists them',
        "py-async-bt 'no*'": 'no task matches "no*" among 4; py-async-tasks lists them',
        "py-async-bt Task-2 nobody": 'no task is called "nobody" among 4; py-async-tasks lists them',
        "py-async-bt 0x10": "0x10 = 0x10 is no Python object: there is no memory",
        f"py-async-bt --thread {thread}": f'thread {thread} runs no Python, or is not there; "info threads" lists the threads, '
        "py-async-info those of Python",
    }
    for answer, error in zip(harness.ask_core(gdb, build, "threads", *expected), expected.values()):
        assert answer.error == error and answer.text == "", answer


@pytest.mark.parametrize("gdb", harness.GDBS)
def test_core_cut_short(gdb):
    """A disk that was full: whatever is missing, one line or an INCOMPLETE result; GDB lives."""
    whole = harness.make_core("python3.15", "gather").core
    folder = harness.PLACE / "cores" / "cut"
    folder.mkdir(parents=True, exist_ok=True)
    size = whole.stat().st_size
    for part in (1, 3, 9):
        cut = folder / f"{part}.{gdb}"
        shutil.copy(whole, cut)
        os.truncate(cut, size * part // 10)
        answers = harness.ask(gdb, "/usr/bin/python3.15", f"core {harness.seen_by(gdb, cut)}", *COMMANDS)
        for answer in answers:
            assert answer.error or answer.text, answer
            assert "\n" not in (answer.error or "") and "internal error" not in (answer.error or ""), answer
