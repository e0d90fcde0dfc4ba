"""The launcher's --run: the command as it would have run without, and a report when it dies of a signal or hangs."""

import os
import shlex
import signal
import subprocess
import sys
import time

import harness
import pexpect
import pytest
from test_launcher import PYASYNC

CRASH = f"{harness.inside(harness.PLACE)}/targets/crash_in_task.py"


def run(command, *options, **keywords):
    return harness.run([*PYASYNC, "--run", *options, "--", *command], **keywords)


def crash(build, *words):
    harness.prepare()
    return harness.in_root("env", "-i", f"/usr/bin/{build}", CRASH, *map(str, words))


# What a shell's child can see of itself. Numbers of processes are left out, and the file descriptors that `ls` opens.
SELF = """
grep -E '^(Sig[^Q]|Shd|Cap|NoNewPrivs|Seccomp:)' /proc/self/status; env -u _ | sort; pwd; ulimit -a; ulimit -Ha
ls /proc/$$/fd; ps -o pgid= -p $$ | grep -qw $(ps -o pgid= -p $GROUP) && echo same group; cat; echo to stderr >&2; exit 7
"""


def test_the_command_sees_what_it_would_have_seen():
    environment = {**os.environ, "LINES": "7", "PYTHONPATH": "/x", "GROUP": str(os.getpid()), "A": "\n b 'c' \udcff"}
    options = {"input": b"a line\0\xff\n", "capture_output": True, "env": environment, "cwd": "/usr", "timeout": 60}
    expected = subprocess.run(["sh", "-c", SELF], **options)
    seen = subprocess.run([*PYASYNC, "--run", "--", "sh", "-c", SELF], **options)
    assert seen.stdout.decode(errors="replace") == expected.stdout.decode(errors="replace")
    assert (seen.stderr, seen.returncode) == (expected.stderr, 7) == (b"to stderr\n", 7)


@pytest.mark.parametrize("words, status", [(["true"], 0), (["false"], 1), (["/no/such"], 127), (["/etc/passwd"], 126)])
def test_exit_status_is_the_commands(words, status):
    done = run(words)
    assert done.status == status and len(done.stderr.splitlines()) == (status > 1), done


def test_death_by_an_ordinary_signal_is_no_crash():
    done = run(["sh", "-c", "kill -TERM $$"])
    assert done.status == 128 + signal.SIGTERM and done.stderr == "", done


@pytest.mark.parametrize("build", harness.BUILDS)
def test_segfault_in_a_task(build):
    """faulthandler handles the signal first, as under pytest: the report is of the crash itself, and faulthandler's stays."""
    done = run(crash(build, "segfault", 0))
    assert done.status == 128 + signal.SIGSEGV and done.stdout == "ready\n", done
    assert done.stderr.count(" was killed by SIGSEGV") == 1 and "Fatal Python error: Segmentation fault" in done.stderr, done
    assert "Task(name='segfault-worker'" in done.stderr and "in async worker()" in done.stderr, done
    assert "faulthandler" not in done.stderr.partition("was killed by")[2], done


def test_a_signal_that_the_command_handles_is_no_crash():
    done = run(crash("python3.15", "survive", 4))
    assert (done.status, done.stdout, done.stderr) == (4, "ready\nalive\n", ""), done


@pytest.mark.parametrize("build", ["python3.14", "python3.15"])
def test_hung_command_is_reported_and_killed(build):
    begin = time.monotonic()
    done = run(crash(build, "hang", 0), "--timeout", "3")
    assert done.status == 124 and time.monotonic() - begin < 60, done
    assert "was still running after 3 s, and was killed" in done.stderr, done
    assert "Task(name='hang-worker'" in done.stderr and "waits on Event" in done.stderr, done
    assert "in async worker()" in done.stderr and "in async main()" in done.stderr, done


def test_report_into_a_folder(scratch):
    done = run(crash("python3.15", "abort", 0), "--output", str(scratch / "reports"))
    assert done.status == 128 + signal.SIGABRT, done
    assert "abort-worker" in (scratch / "reports/001-chroot.txt").read_text(), done


WAITER = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
signal.signal(signal.SIGINT, lambda *_: (print("interrupted", flush=True), sys.exit(6)))
print("ready", flush=True)
time.sleep(60)
"""


def test_signals_sent_to_the_launcher_reach_the_command():
    command = [*PYASYNC, "--run", "--", sys.executable, "-c", WAITER]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 5


def test_ctrl_c_reaches_the_command_once():
    child = pexpect.spawn(PYASYNC[0], [*PYASYNC[1:], "--run", "--", sys.executable, "-c", WAITER], timeout=30, encoding="utf-8")
    child.expect_exact("ready")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.wait()
    assert child.exitstatus == 6 and child.before.count("interrupted") == 1, (shlex.join(child.args), child.before)


@pytest.mark.parametrize("how, options, status", [("segfault", [], 139), ("hang", ["--timeout", "3"], 124), ("survive", [], 4)])
def test_with_the_newer_gdb(how, options, status):
    """All of it inside the test root, whose Python runs the launcher."""
    harness.prepare()
    launcher = ["/usr/bin/python3.14", f"{harness.inside(harness.PLACE)}/gdb/pyasync", "--run"]
    done = harness.run(harness.in_root_with_proc(*launcher, *options, "--", "/usr/bin/python3.15", CRASH, how, "4"))
    assert done.status == status and done.stdout.startswith("ready\n"), done
    assert (f"Task(name='{how}-worker', " in done.stderr) == (how != "survive"), done
