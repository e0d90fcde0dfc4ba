"""The launcher on running processes: what it says, that they go on, and why it could not."""

import contextlib
import ctypes
import json
import os
import subprocess
import sys

import harness
import pytest
from test_launcher import PYASYNC, pyasync

CRASH = f"{harness.inside(harness.PLACE)}/targets/crash_in_task.py"
NOBODY = 65534


@contextlib.contextmanager
def started(command, **options):
    with subprocess.Popen(command, stdout=subprocess.PIPE, **options) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            harness.wait_until_asleep(process.pid)
            yield process
        finally:
            process.kill()


@pytest.fixture
def hung():
    """A process in the test root, which is another root than ours."""
    harness.prepare()
    with started(harness.in_root("env", "-i", "/usr/bin/python3.15", CRASH, "hang", "0")) as process:
        yield process


SLEEPER = [sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(600)"]


def state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(") ")[2][0]


def test_process_in_another_root(hung):
    done = pyasync(hung.pid)
    assert done.status == 0 and done.stdout.startswith(f"process {hung.pid} stood still for "), done
    assert "Task(name='hang-worker', " in done.stdout and "epoll_wait" in done.stdout, done
    assert state(hung.pid) == "S"


def test_process_in_another_mount_namespace():
    """As a container's, whose root no path of ours leads to: the same path leads to another file there."""
    harness.prepare()
    words = ["/usr/bin/python3.14", CRASH, "hang", "0"]
    script = f'mount --bind {harness.ROOT} /mnt && cd /mnt && pivot_root . mnt && cd / && exec "$@"'
    with started(["unshare", "--mount", "sh", "-c", script, "sh", *words]) as process:
        done = pyasync(process.pid)
        assert done.status == 0 and "hang-worker" in done.stdout and "epoll_wait" in done.stdout, done


def test_json_of_processes(hung):
    done = pyasync("--json", hung.pid, os.getpid())
    first, second = map(json.loads, done.stdout.splitlines())
    assert done.status == 1 and first["complete"] and first["report"]["process"]["pid"] == hung.pid, done
    # The one of the tests themselves: an older Python, or another program.
    assert second["error"] is None and not second["complete"] and second["report"]["report"]["no_python"], done
    assert second["report"]["process"]["pid"] == os.getpid(), done


def test_a_gdb_that_hangs_is_ended_and_the_process_goes_on(hung):
    done = pyasync("--time-limit", "0.05", hung.pid)
    assert done.status == 2 and "took longer than 0.05 s" in done.stdout, done
    assert state(hung.pid) == "S"


def refused(pid, *wrapper, **options):
    done = harness.run([*wrapper, *PYASYNC, str(pid)], **options)
    assert done.status == 2 and len(done.stdout.splitlines()) == 1 and done.stderr == "", done
    assert done.stdout.startswith(f"process {pid} "), done
    return done.stdout


def as_root():
    if os.geteuid() != 0:
        pytest.fail("changes its user and capabilities: run as root")


def test_refused_because_of_the_uid():
    as_root()
    with started(SLEEPER) as process:
        text = refused(process.pid, "setpriv", f"--reuid={NOBODY}", "--clear-groups")
    assert f"its uid is 0, and we are uid {NOBODY}: run pyasync as that user (sudo -u '#0'), or run pyasync as root" in text


def test_refused_for_the_lack_of_the_capability():
    """As in a container without it: root, but not over a process of another user."""
    as_root()
    with started(["setpriv", f"--reuid={NOBODY}", "--clear-groups", "/usr/bin/python3", *SLEEPER[1:]]) as process:
        text = refused(process.pid, "setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-all")
    assert f"its uid is {NOBODY}, and we are root without CAP_SYS_PTRACE" in text and "--cap-add SYS_PTRACE" in text


def test_refused_for_capabilities_that_it_has_and_we_have_not():
    as_root()
    with started(SLEEPER) as process:
        text = refused(process.pid, "setpriv", "--bounding-set=-sys_ptrace,-net_admin", "--inh-caps=-all")
    assert "it has capabilities that we have not, and we lack CAP_SYS_PTRACE" in text


def test_refused_because_another_debugger_is_attached():
    with started(SLEEPER) as process:
        gdb = subprocess.Popen(["gdb", "-nx", "-q", "-p", str(process.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with gdb:
            while b"(gdb) " not in gdb.stdout.read1():
                pass
            text = refused(process.pid)
            gdb.kill()
    assert f"is being debugged by process {gdb.pid} (gdb): only one debugger can attach" in text


def forbid_ptrace():
    """A seccomp filter as of a container: ptrace, number 101, fails with EPERM. linux/filter.h, linux/seccomp.h"""
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 101), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
    program = b"".join(k.to_bytes(2, "little") + bytes([t, f]) + v.to_bytes(4, "little") for k, t, f, v in code)
    buffer = ctypes.create_string_buffer(program)
    header = len(code).to_bytes(8, "little") + ctypes.addressof(buffer).to_bytes(8, "little")
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, header, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP


def test_refused_by_seccomp():
    with started(SLEEPER) as process:
        text = refused(process.pid, preexec_fn=forbid_ptrace)
    assert "seccomp forbids ptrace here" in text and "--security-opt seccomp=unconfined" in text


YAMA = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pyasync_launcher import process
process._yama = lambda: int(sys.argv[2])
print(process.Process(os.getppid()).refusal())
"""


@pytest.mark.parametrize("scope, words", [(1, "is 1, which permits only a process's ancestors"), (2, "is 2, which permits only")])
def test_refused_by_yama(scope, words):
    """Of kernels with Yama, which this one may not be."""
    as_root()
    without = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-all"]
    done = harness.run([*without, "/usr/bin/python3", "-c", YAMA, str(harness.PROJECT / "gdb"), str(scope)])
    assert f"kernel.yama.ptrace_scope {words}" in done.stdout, done


def test_zombie_and_kernel_thread():
    zombie = subprocess.Popen(["true"])
    harness.os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    assert "has ended already" in refused(zombie.pid)
    zombie.wait()
    if os.path.exists("/proc/2/status") and not os.path.exists("/proc/2/exe"):
        assert "is a thread of the kernel" in refused(2)
