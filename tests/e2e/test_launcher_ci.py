"""The README's chapter "In CI": its scripts are run as they stand there."""

import os
import re
import subprocess
import sys

import harness
import pytest

README = (harness.PROJECT / "README.md").read_text()
CHAPTER = README.partition("\n## In CI\n")[2].partition("\n## ")[0]
RUN, SCRIPT = re.findall(r"^```sh\n(.*?)^```$", CHAPTER, re.M | re.S)
CRASH = f"{harness.inside(harness.PLACE)}/targets/crash_in_task.py"


@pytest.fixture
def machine(scratch):
    """A folder to work in, a TMPDIR, and `pyasync` and `ci-test` on the PATH. `pyasync` knows the test root."""
    for name in ("bin", "tmp", "work"):
        (scratch / name).mkdir()
    programs = {
        "pyasync": f'#!/bin/sh\nexec {sys.executable} {harness.PROJECT}/gdb/pyasync --sysroot {harness.ROOT} "$@"\n',
        "ci-test": SCRIPT,
        # What the tests of the chapter's first script are: a program that hangs.
        "python3": '#!/bin/sh\n[ "$*" = "-m pytest tests" ] || exec /usr/bin/python3 "$@"\nexec $TESTS\n',
    }
    for name, text in programs.items():
        (scratch / "bin" / name).write_text(text)
        (scratch / "bin" / name).chmod(0o755)
    return scratch


def crash(build, *words):
    harness.prepare()
    return harness.in_root("env", "-i", f"/usr/bin/{build}", CRASH, *words)


def in_ci(machine, *command, pattern=None, **variables):
    """Run a command on that machine; @p pattern is what it reads as the kernel's core pattern."""
    environment = {**os.environ, "PATH": f"{machine}/bin:{os.environ['PATH']}", "TMPDIR": str(machine / "tmp"), **variables}
    if pattern is not None:
        (machine / "pattern").write_text(pattern + "\n")
        mount = f'mount --bind {machine}/pattern /proc/sys/kernel/core_pattern && exec "$@"'
        command = ("unshare", "--mount", "sh", "-c", mount, "sh", *command)
    return harness.run([*command], cwd=machine / "work", env=environment)


def chroot_core(machine, build, folder):
    """A command that dies with a core in @p folder, below the root."""
    harness.prepare()
    return harness.in_root("env", "-i", "-C", harness.inside(folder), f"/usr/bin/{build}", CRASH, "abort", "0")


def test_without_cores(machine):
    """The first script, with its time cut: a hung asyncio program in the place of pytest, which the test root has not."""
    line = RUN.replace("--timeout 1800", "--timeout 3")
    assert line != RUN
    tests = " ".join(crash("python3.15", "hang", "0"))
    done = in_ci(machine, "sh", "-c", line, TESTS=tests)
    assert done.status == 124, done
    assert "was still running after 3 s" in done.stderr and "Task(name='hang-worker', " in done.stderr, done
    assert len(list((machine / "work/reports").iterdir())) == 2


def test_the_script_is_correct_shell():
    for shell in ("dash", "bash"):
        subprocess.run([shell, "-n"], input=SCRIPT.encode(), check=True)


def test_tests_that_pass_leave_no_report(machine):
    (machine / "tmp/core.old").write_bytes(b"\x7fELF")
    os.utime(machine / "tmp/core.old", (1, 1))
    for status in (0, 3):
        done = in_ci(machine, "ci-test", "sh", "-c", f"echo tested; exit {status}")
        assert (done.status, done.stdout, done.stderr) == (status, "tested\n", ""), done
    assert sorted(path.name for path in (machine / "tmp").iterdir()) == ["core.old"]


PATTERNS = [("work", None), ("tmp", "core"), ("cores", "{cores}/%e/core.%p"), ("cores", "{cores}/core")]


@pytest.mark.parametrize("folder, pattern", PATTERNS)
def test_core_wherever_it_is(folder, pattern, machine):
    """The command's own status is 0: the crash was in a process that it started."""
    (machine / folder).mkdir(exist_ok=True)
    command = " ".join(chroot_core(machine, "python3.14", machine / folder))
    pattern = pattern and pattern.format(cores=machine / "cores")
    done = in_ci(machine, "ci-test", "sh", "-c", f"{command}; echo tested", pattern=pattern)
    assert done.status == 1, done
    assert "Task(name='abort-worker', " in done.stdout and "tested\n" in done.stdout, done
    assert (machine / "work/reports/001-core.txt").exists()


def test_cores_out_of_reach(machine):
    done = in_ci(machine, "ci-test", "false", pattern="|/usr/share/handler %p %s")
    assert done.status == 1 and "cores are given to |/usr/share/handler, out of reach: use pyasync --run" in done.stderr, done


def test_cores_of_systemd(machine):
    """As it leaves them: compressed, in its own folder, some seconds later."""
    harness.prepare()
    folder = machine / "systemd"
    folder.mkdir()
    core = harness.make_core("python3.15", "gather").core
    write = f"(sleep 2; zstd -q -c {core} >{folder}/core.python3.15.0.1.zst) >/dev/null 2>&1 & exit 134"
    mount = f'mkdir -p /var/lib/systemd/coredump && mount --bind {folder} /var/lib/systemd/coredump && exec "$@"'
    command = ("unshare", "--mount", "sh", "-c", mount, "sh", "ci-test", "sh", "-c", write)
    done = in_ci(machine, *command, pattern="|/usr/lib/systemd/systemd-coredump %P %u")
    assert done.status == 134 and "in async deep()" in done.stdout, done
