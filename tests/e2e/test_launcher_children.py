"""The launcher's --run with a command that starts others: all are told when the time is over, and the cores that they leave."""

import json
import os
import signal

import harness
import pytest
from test_launcher import PYASYNC

PARENT = f"{harness.inside(harness.PLACE)}/targets/parent.py"
HUNG = ("--timeout", "6")


def parent(build, how, folder):
    harness.prepare()
    return harness.in_root("env", "-i", "-C", harness.inside(folder), f"/usr/bin/{build}", PARENT, how, harness.inside(folder))


def run(command, *options, cores=False, **keywords):
    limit = ["sh", "-c", f'ulimit -c {"unlimited" if cores else 0}; exec "$@"', "sh"]
    return harness.run([*limit, *PYASYNC, "--run", *options, "--", *command], **keywords)


def assert_all_ended(pids):
    """Zombies have: whoever they were left to may never ask for them."""
    for pid in pids:
        stat = harness.pathlib.Path(f"/proc/{pid}/stat")
        assert not stat.exists() or stat.read_text().rpartition(") ")[2][0] in "ZX", pid


@pytest.mark.parametrize("build", ["python3.14", "python3.15"])
def test_hung_children(build, scratch):
    """Those that wait alike are one group; the parent is told too, and what runs no Python is named."""
    done = run(parent(build, "hang", scratch), *HUNG, "--output", str(scratch / "out"))
    assert done.status == 124, done
    first, *groups = done.stderr.split("\n=== ")
    assert first == "4 targets: 3 different reports, 0 could not be read\n", done  # with multiprocessing's resource tracker
    assert groups[0].startswith("2 × s1:") and "Task(name='job-" in groups[0] and "in async main()" in groups[0], done
    (command,) = [group for group in groups if "chroot was still running after 6 s, and was killed" in group]
    assert "had started processes without Python: " in command and " (sleep)\n" in command, done
    assert "in <module> (parent.py:" in command and "posix.waitpid" in command, done
    documents = [json.loads(path.read_text()) for path in sorted((scratch / "out").glob("*.json"))]
    assert len(documents) == 4 and all(each["complete"] for each in documents), done
    assert_all_ended(each["report"]["process"]["pid"] for each in documents)
    assert_all_ended([int(command.partition("without Python: ")[2].split()[0])])


def test_parent_without_python(scratch):
    """As make or tox: a line says how it ended, and the reports are those of its descendants."""
    command = " ".join(parent("python3.15", "hang", scratch))
    done = run(["sh", "-c", f"{command}; true"], *HUNG)
    assert done.status == 124, done
    assert "5 targets: 4 different reports, 0 could not be read" in done.stderr and "No Python" not in done.stderr, done
    assert "sh was still running after 6 s, and was killed\n" in done.stderr and done.stderr.count("\nSignature ") == 3, done


def test_nothing_but_a_parent_without_python():
    done = run(["sh", "-c", "sleep 1000; true"], "--timeout", "1")
    assert done.status == 124, done
    assert "sh was still running after 1 s, and was killed\n" in done.stderr and "without Python: " in done.stderr, done
    assert "No Python  no CPython here" in done.stderr and "INCOMPLETE: native code only" in done.stderr, done


def test_child_that_cannot_be_attached_to():
    """For one, a debugger is there already."""
    script = "import os, sys, time; os.fork() and time.sleep(99) or time.sleep(99)"
    tracer = "import ctypes, os, time; pid = os.fork() or (ctypes.CDLL(None).ptrace(0, 0, 0, 0), time.sleep(99)); time.sleep(99)"
    for program, failures in ((script, 0), (tracer, 1)):
        done = run(["/usr/bin/python3", "-c", program], "--timeout", "2")
        assert done.status == 124 and done.stderr.count("cannot be attached to: ") == failures, done


@pytest.mark.parametrize("build", ["python3.14", "python3.15"])
def test_core_of_a_child(build, scratch):
    """The parent goes on, and its status stays."""
    done = run(parent(build, "crash", scratch), cores=True, cwd=scratch)
    assert (done.status, done.stdout) == (0, f"joined [-{int(signal.SIGSEGV)}]\n"), done
    assert "Died of    SIGSEGV: nothing is mapped at address 0x0, in thread 1\n" in done.stderr, done
    assert "Task(name='job-0', " in done.stderr and "in async main()" in done.stderr, done
    assert len(list(scratch.glob("core*"))) == 1


def test_core_elsewhere_and_old_cores(scratch):
    for name in ("work", "old", "away"):
        (scratch / name).mkdir()
    old = scratch / "work/core.1"
    os.link(harness.make_core("python3.15", "gather").core, old)
    command = parent("python3.15", "crash", scratch / "away")
    unseen = run(command, cores=True, cwd=scratch / "work")
    assert (unseen.status, unseen.stderr) == (0, ""), unseen
    done = run(command, "--cores", str(scratch), cores=True, cwd=scratch / "work")
    assert done.status == 0 and done.stderr.count("\nDied of ") == 1 and "Task(name='job-0', " in done.stderr, done


def test_without_cores_nothing_is_told(scratch):
    done = run(parent("python3.15", "crash", scratch), cwd=scratch)
    assert (done.status, done.stdout, done.stderr) == (0, "joined [-11]\n", ""), done


def test_the_commands_own_core_is_not_told_again(scratch):
    crash = f"{harness.inside(harness.PLACE)}/targets/crash_in_task.py"
    harness.prepare()
    command = harness.in_root("env", "-i", "-C", harness.inside(scratch), "/usr/bin/python3.15", crash, "abort", "0")
    done = run(command, cores=True, cwd=scratch)
    assert done.status == 134 and done.stderr.count("\nDied of ") == 1, done
    assert len(list(scratch.glob("core*"))) == 1


def test_with_the_newer_gdb(scratch):
    harness.prepare()
    launcher = ["/usr/bin/python3.14", f"{harness.inside(harness.PLACE)}/gdb/pyasync", "--run", *HUNG, "--"]
    command = ["/usr/bin/python3.15", PARENT, "hang", harness.inside(scratch)]
    done = harness.run(harness.in_root_with_proc(*launcher, *command))
    assert done.status == 124 and done.stderr.startswith("4 targets: 3 different reports, 0 could not be read\n"), done
    assert "\n=== 2 × s1:" in done.stderr and "Task(name='job-" in done.stderr, done
