"""Reports of processes without a Python that can be read: how they died and where in native code, and why there is no more."""

import functools
import json
import os
import shutil
import subprocess
import sys

import harness
import jsonschema
import pytest

VALIDATOR = jsonschema.Draft202012Validator(harness.json.loads((harness.PROJECT / "src/pyasync-1.schema.json").read_text()))
COMMANDS = ("py-async-report --json", "py-async-report")
PYASYNC = [sys.executable, str(harness.PROJECT / "gdb/pyasync")]
FOLDER = harness.PLACE / "native"

# Dies in parse(), in the main thread, while three threads wait. Before, it may do to its arguments and its environment what
# programs do.
TOOL = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) static void *waits(void *unused) { for (;;) pause(); return unused; }
__attribute__((noinline)) void parse(int *where) { *(volatile int *)where = 1; }
int main(int argc, char **argv)
{
    pthread_t thread;
    char *first = argv[1], **end = argv + argc;
    const char *how = strncmp(first, "change:", 7) == 0 ? first + 7 : "";
    if (strchr(how, 'e'))
        setenv("FIRST", "replaced", 1); /* of the variable that stood behind the arguments */
    if (strchr(how, 't'))
        memset(argv[2], ' ', strlen(argv[2]) + 1); /* as for a title in the list of processes: its end is gone, too */
    if (strchr(how, 'p'))
        argv[1] = argv[2], argv[2] = first; /* as getopt() */
    if (strchr(how, 'c'))
        end[1] = end[2] = NULL; /* all variables */
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, 0, waits, 0);
    usleep(100000);
    parse((int *)8);
    return 0;
}
"""

# Aborts before main(), or when the interpreter first asks for a link: when it looks for its own files, with half of it made.
EARLY = """
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void before_main(void) { if (getenv("BEFORE_MAIN")) abort(); }
ssize_t readlink(const char *path, char *buffer, size_t size) { (void)path, (void)buffer, (void)size; abort(); }
"""


@functools.cache
def compiled(name, source, *options):
    """A program or library for this machine and the root."""
    with harness.lock("native"):
        FOLDER.mkdir(exist_ok=True)
        stamp = FOLDER / f"{name}.stamp"
        if not stamp.exists() or stamp.read_text() != source:
            words = ["cc", "-g", "-O1", "-pthread", *options, "-x", "c", "-", "-o", str(FOLDER / name)]
            subprocess.run(words, input=source.encode(), check=True)
            stamp.write_text(source)
    return harness.inside(FOLDER / name)


def core_of(name, *command, setup=()):
    """The core of a command that runs in the root, made once."""
    folder = harness.PLACE / "cores" / f"native-{name}"
    words = harness.in_root("env", "-i", "-C", harness.inside(folder), *setup, *command)
    harness.make_core_of(harness.Scenario(folder, words, harness.digest(words, TOOL, EARLY)))
    return folder / "core"


def tool(*arguments):
    return core_of("tool-" + harness.digest(arguments)[:8], compiled("tool", TOOL), *arguments)


def early(build, *setup):
    preload = f"LD_PRELOAD={compiled('early.so', EARLY, '-shared', '-fPIC')}"
    return core_of(f"early-{build}-{len(setup)}", f"/usr/bin/{build}", "-c", "pass", setup=(preload, *setup))


def report_on(gdb, executable, core, *before):
    """The document and the text of py-async-report on any core."""
    document, text = harness.ask(gdb, executable, f"core {harness.seen_by(gdb, core)}", *COMMANDS, before=before)
    document = document.json()
    errors = [error.message[:300] for error in VALIDATOR.iter_errors(document)]
    assert not errors, errors
    assert text.error is None, text
    return document, text.text


def assert_native_only(document, text, why):
    """What holds for every such report: it is incomplete, and says why, once for people and once for programs."""
    report = document["report"]
    assert why in report["no_python"], report
    assert document["complete"] is False and [each["why"] for each in document["problems"]] == [report["no_python"]]
    assert document["tasks"] == document["threads"] == document["loops"] == [] and report["task"] is None
    assert f"\nNo Python  {report['no_python']}\n" in text and f"\nSignature  {report['signature']}, of native code only\n" in text
    assert text.endswith("\nINCOMPLETE: native code only; no Python could be read.\n"), text
    assert "asyncio was not loaded" not in text and "INCOMPLETE" not in text[:-80], text


def names(document, thread=1):
    (stack,) = [each for each in document["native"] if each["thread"] == thread]
    return [frame["function"] for frame in stack["frames"]]


NO_PYTHON = "no CPython here: looked for section .PyRuntime and symbol _PyRuntime in every object file, and for the cookie"


@pytest.mark.parametrize("gdb", harness.GDBS)
def test_program_that_is_not_python(gdb):
    core = tool("--password=hunter2", "--level", "3")
    document, text = report_on(gdb, compiled("tool", TOOL), core)
    assert_native_only(document, text, NO_PYTHON)
    assert document["python"] is None and document["process"]["executable"].endswith(compiled("tool", TOOL))
    report = document["report"]
    assert report["arguments"] == [compiled("tool", TOOL), "--password=<redacted>", "--level", "3"]
    assert report["arguments_complete"] and "hunter2" not in text
    assert report["death"]["signal"] == "SIGSEGV" and report["death"]["address"] == "0x8", report
    assert report["core"]["truncated"] is False and report["files"]["not_as_mapped"] == []
    assert names(document)[:2] == ["parse", "main"], document
    assert "Died of    SIGSEGV: nothing is mapped at address 0x8, in thread 1\n" in text
    assert "* 3 threads: 2, 3, 4\n" in text and text.count(" waits() at ") == 1, text


ENVIRONMENT = ("FIRST=never-to-be-seen-1", "SECOND=never-to-be-seen-2")
LONG = ("bbbb", "", "x" * 70, "postgres://admin:hunter2-hunter2@host/base", "--token", "abc", "y" * 70)


def changed(how):
    """The core of a tool that has changed its arguments."""
    return core_of(f"changed-{how}", compiled("tool", TOOL), f"change:{how}", *LONG, setup=ENVIRONMENT)


@pytest.mark.parametrize("how", ["n", "p"])
@pytest.mark.parametrize("gdb", harness.GDBS)
def test_arguments_of_any_length(gdb, how):
    """All of them, in their order, and nothing of the environment behind them."""
    document, text = report_on(gdb, compiled("tool", TOOL), changed(how))
    shown = ["bbbb", "", "x" * 70, "postgres://<redacted>@host/base", "--token", "<redacted>", "y" * 70]
    assert document["report"]["arguments"] == [compiled("tool", TOOL), f"change:{how}", *shown], document
    assert document["report"]["arguments_complete"] is True, document
    assert "never-to-be-seen" not in text + json.dumps(document)


@pytest.mark.parametrize("how", ["e", "t", "et", "c"])
@pytest.mark.parametrize("gdb", harness.GDBS)
def test_arguments_that_were_changed(gdb, how):
    """Where it is not certain what is an argument there are the first 80 bytes, as the kernel tells them; half a word is none."""
    document, text = report_on(gdb, compiled("tool", TOOL), changed(how))
    shown = " ".join(document["report"]["arguments"])
    assert shown == f"{compiled('tool', TOOL)} change:{how} {'bbbb' if 't' not in how else '    '} ", document
    assert document["report"]["arguments_complete"] is False and " …\n" in text
    assert "never-to-be-seen" not in text + json.dumps(document) and "xxx" not in text


def test_no_environment():
    document, _ = report_on("host-gdb", None, core_of("no-environment", compiled("tool", TOOL), "n", *LONG))
    assert len(document["report"]["arguments"]) == 9 and document["report"]["arguments"][-1] == "y" * 70, document


def test_arguments_of_a_truncated_core(scratch):
    """The stack is at its end: the first 80 bytes stand in its beginning."""
    core = scratch / "core"
    shutil.copy(changed("n"), core)
    os.truncate(core, core.stat().st_size * 9 // 10)
    document, text = report_on("host-gdb", None, core)
    assert document["report"]["arguments"][1:3] == ["change:n", "bbbb"] and not document["report"]["arguments_complete"], document


@pytest.mark.parametrize("gdb", harness.GDBS)
def test_none_of_its_files(gdb, scratch):
    """As on another host: the executable is named all the same, and the place of the crash by its object file."""
    before = [f"set sysroot {harness.seen_by(gdb, scratch)}"]
    document, text = report_on(gdb, None, tool("a"), *before)
    assert_native_only(document, text, NO_PYTHON)
    assert document["process"]["executable"] == compiled("tool", TOOL), document
    assert {file["state"] for file in document["report"]["files"]["not_as_mapped"]} == {"missing"}
    assert "! missing: /usr/lib/x86_64-linux-gnu/libc.so.6, build-id " in text and "in tool\n" in text, text
    # The newer GDB looks for a core's executable by itself, wherever the sysroot is.
    assert (f"! missing: {compiled('tool', TOOL)}, build-id " in text) == (gdb == "host-gdb"), text
    with_files = report_on(gdb, compiled("tool", TOOL), tool("a"))[0]["report"]["signature"]
    assert document["report"]["signature"] == with_files


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_before_the_interpreter(gdb, build):
    core = early(build, "BEFORE_MAIN=1")
    document, text = report_on(gdb, f"/usr/bin/{build}", core)
    assert_native_only(document, text, "has no interpreter: it has not started yet, or is finalised")
    assert document["python"]["version"].startswith(build.removeprefix("python")[:4]), document
    assert document["report"]["arguments"] == [f"/usr/bin/{build}", "-c", "pass"]
    assert "before_main" in names(document), document


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_while_the_interpreter_is_made(gdb, build):
    """There is one already, with its first frames and almost no modules: that is told, and nothing is missing."""
    document, text = report_on(gdb, f"/usr/bin/{build}", early(build))
    assert document["complete"] and document["report"]["no_python"] is None, document
    assert document["report"]["arguments"] == [f"/usr/bin/{build}", "-c", "pass"], document
    assert "readlink" in names(document) and "File '<frozen getpath>', line " in text, text


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_after_the_interpreter(gdb, build):
    document, text = report_on(gdb, f"/usr/bin/{build}", harness.make_target(build, "finalised").core)
    assert_native_only(document, text, "has no interpreter: it has not started yet, or is finalised")
    assert document["report"]["arguments"][0] == f"/usr/bin/{build}" and document["report"]["death"]["signal"] == "SIGABRT"
    assert "exit" in names(document), document


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_while_the_interpreter_is_finalised(gdb, build):
    """With a Python part: there is an interpreter, though sys has lost its attributes."""
    made = harness.make_core(build, "crashes/finalising")
    document, text = report_on(gdb, f"/usr/bin/{build}", made.core)
    assert document["complete"] and document["report"]["no_python"] is None, document
    assert names(document)[:2] == ["write_nowhere", "bomb_dealloc"], document
    assert document["report"]["arguments"][1].endswith("/scenarios/crashes/finalising.py"), document
    assert "Died of    SIGSEGV: nothing is mapped at address 0x0, in thread 1\n" in text


def old_python():
    """The host's own Python, whose files the root's GDB does not see."""
    executable = shutil.which("python3.11", path="/usr/bin")
    assert executable, "this test needs Debian 12's python3.11"
    folder = harness.PLACE / "cores" / "native-python3.11"
    command = ["env", "-i", executable, "-c", "import asyncio, os\nasync def main(): os.abort()\nasyncio.run(main())"]
    harness.make_core_of(harness.Scenario(folder, command, harness.digest(command)))
    return executable, folder / "core"


def test_unsupported_version():
    executable, core = old_python()
    document, text = report_on("host-gdb", harness.pathlib.Path(executable), core, "set sysroot /")
    assert_native_only(document, text, "publishes no debug offsets; pyasync reads CPython 3.14 and 3.15")
    assert document["python"]["version"].startswith("3.11."), document
    assert any("abort" in (name or "") for name in names(document)) and "_asyncio.cpython-311" in text, text


@pytest.mark.parametrize("gdb", harness.GDBS)
def test_live_process_that_is_not_python(gdb):
    process = subprocess.Popen(harness.in_root("/usr/bin/sleep", "1000"))
    try:
        harness.wait_until_asleep(process.pid)
        answer, text, other = harness.ask(gdb, None, f"attach {process.pid}", *COMMANDS, "py-async-bt")
        assert_native_only(answer.json(), text.text, "(--exhaustive searches all of its memory)")
        assert answer.json()["report"]["arguments"] == ["/usr/bin/sleep", "1000"], answer
        assert "Died of    nothing: it lives; thread 1 is told\n" in text.text and " in libc.so.6\n" in text.text, text
        assert other.error and other.error.startswith("no CPython here: "), other
    finally:
        process.kill()
        process.wait()


# ---- by the launcher


def test_pile_of_cores(scratch):
    """Of any kind: grouped by signature with their numbers; only what is no core at all could not be read."""
    python = harness.make_core("python3.15", "crashes/in_task").core
    cores = {"a": tool("1"), "b": tool("2"), "c": tool("3"), "python": python, "early": early("python3.15", "BEFORE_MAIN=1")}
    for name, core in cores.items():
        os.link(core, scratch / f"core.{name}")
    (scratch / "core.none").touch()
    done = harness.run([*PYASYNC, "-j", "2", "--sysroot", str(harness.ROOT), str(scratch)])
    assert done.status == 1, done
    first, *groups = done.stdout.split("\n=== ")
    assert first == "6 targets: 3 different reports, 1 could not be read\n", done
    assert groups[0].startswith("3 × s1:") and all(f"core.{name}" in groups[0].splitlines()[0] for name in "abc"), done
    assert groups[0].count("\nSignature ") == 1 and "parse() at " in groups[0] and NO_PYTHON in groups[0], done
    assert sum("has no interpreter: it has not started yet" in group for group in groups) == 1, done
    assert sum("Complete: " in group for group in groups) == 1, done
    assert f"{scratch}/core.none is an empty file" in groups[-1], done


def test_run_of_a_program_that_is_not_python():
    harness.prepare()
    command = harness.in_root("env", "-i", compiled("tool", TOOL), "--token", "hunter2")
    done = harness.run([*PYASYNC, "--run", "--", *command])
    assert done.status == 139 and done.stderr.startswith("chroot was killed by SIGSEGV\nProcess "), done
    assert f"Arguments  {compiled('tool', TOOL)} --token <redacted>\n" in done.stderr and "hunter2" not in done.stderr, done
    assert "parse() at " in done.stderr and "* 3 threads: 2 \"tool\", 3 \"tool\", 4 \"tool\"\n" in done.stderr, done


def test_status_of_a_core_without_python():
    """Something was shown, and something could not be: 1, as for a core that is cut short."""
    done = harness.run([*PYASYNC, "--sysroot", str(harness.ROOT), str(tool("1"))])
    assert done.status == 1 and done.stdout.startswith("Process ") and "parse() at " in done.stdout, done
