"""Processes: which files are theirs, and why they cannot be attached to. Facts: proc(5), ptrace(2), capabilities(7)."""

import contextlib
import os
import signal
from typing import Dict, List, NamedTuple, Optional, Tuple

_CAP_SYS_PTRACE = 1 << 19


class Process:
    """A running process, as /proc tells."""

    def __init__(self, pid: int) -> None:
        """Raises ProcessLookupError."""
        self.pid = pid
        self.status = _status(f"/proc/{pid}/status")
        if not self.status:
            raise ProcessLookupError

    def sysroot(self) -> Optional[str]:
        """Where its root is, if the process sees other files than we do. In our mount namespace that folder has a name."""
        root = f"/proc/{self.pid}/root"
        try:
            theirs, ours = os.stat(f"{root}/"), os.stat("/")
            other_namespace = os.readlink(f"/proc/{self.pid}/ns/mnt") != os.readlink("/proc/self/ns/mnt")
        except OSError:
            return None  # attaching will fail too, and say why
        if other_namespace:
            return root
        return None if os.path.samestat(theirs, ours) else os.readlink(root)

    def executable(self, sysroot: Optional[str]) -> List[str]:
        """The arguments that give GDB the executable; none: it finds it itself."""
        link = f"/proc/{self.pid}/exe"
        try:
            path, file = os.readlink(link), os.stat(link)
        except OSError:
            return []
        # The path is as we see the file if we do, else as the process does. Debian 12's GDB finds neither below a sysroot.
        for candidate in (path, f"{sysroot or ''}{path}"):
            with contextlib.suppress(OSError):
                if os.path.samestat(os.stat(candidate), file):
                    return [candidate]
        return [link]  # deleted, or replaced since

    def is_stopped(self) -> bool:
        return _status(f"/proc/{self.pid}/status").get("State", "").startswith("T")

    def unfit(self) -> Optional[str]:
        """What makes attaching senseless, a clause for "process N …"."""
        state = self.status.get("State", "")
        if state.startswith(("Z", "X")):
            return "has ended already and waits only for its parent (a zombie)"
        if not os.path.exists(f"/proc/{self.pid}/task/{self.pid}/exe") and self.status.get("VmSize") is None:
            return "is a thread of the kernel"
        return None

    def refusal(self) -> str:
        """Why attaching was not permitted, and what to do: a clause for "process N …"."""
        tracer = self.status.get("TracerPid", "0")
        if tracer != "0":
            return f"is being debugged by process {tracer} ({_name(tracer)}): only one debugger can attach"
        own = _status("/proc/self/status")
        privileged = int(own.get("CapEff", "0"), 16) & _CAP_SYS_PTRACE
        if own.get("Seccomp") == "2" and not _ptrace_works():
            return (
                "cannot be attached to: seccomp forbids ptrace here. Start the container with --security-opt seccomp=unconfined or "
                "--cap-add SYS_PTRACE, or attach from outside of it"
            )
        if not privileged:
            return self._refusal_without_capability(own)
        if _yama() == 3:
            return "cannot be attached to: kernel.yama.ptrace_scope is 3, which forbids it to all until the next boot"
        if self._in_other_user_namespace():
            return (
                "cannot be attached to: it is in another user namespace, where our CAP_SYS_PTRACE does not count. Attach as root "
                "from outside of the container, or inside of it"
            )
        return "cannot be attached to, though we have CAP_SYS_PTRACE: a security module (AppArmor, SELinux) may forbid it"

    def _refusal_without_capability(self, own: Dict[str, str]) -> str:
        theirs, ours = self.status.get("Uid", "").split(), own.get("Uid", "").split()
        remedy = "run pyasync as root (sudo); in a container it also needs --cap-add SYS_PTRACE"
        if set(theirs) != set(ours[1:2]):
            uid = theirs[1] if len(theirs) > 1 else "?"
            who = "we are root without CAP_SYS_PTRACE" if ours[1:2] == ["0"] else f"we are uid {ours[1]}"
            own_user = f"run pyasync as that user (sudo -u '#{uid}'), or " if ours[1:2] != ["0"] else ""
            return f"cannot be attached to: its uid is {uid}, and {who}: {own_user}{remedy}"
        yama = _yama()
        if yama == 1 and not self._is_descendant():
            return (
                "cannot be attached to: kernel.yama.ptrace_scope is 1, which permits only a process's ancestors. Run pyasync "
                "as root (sudo), start it with pyasync --run, or run: sudo sysctl kernel.yama.ptrace_scope=0"
            )
        if yama >= 2:
            return f"cannot be attached to: kernel.yama.ptrace_scope is {yama}, which permits only CAP_SYS_PTRACE: {remedy}"
        if int(self.status.get("CapPrm", "0"), 16) & ~int(own.get("CapPrm", "0"), 16):
            return f"cannot be attached to: it has capabilities that we have not, and we lack CAP_SYS_PTRACE: {remedy}"
        return f"cannot be attached to: it has made itself undumpable (setuid, prctl), and we lack CAP_SYS_PTRACE: {remedy}"

    def _is_descendant(self) -> bool:
        pid, seen = str(self.pid), set()
        while pid not in seen and pid not in ("", "0"):
            if pid == str(os.getpid()):
                return True
            seen.add(pid)
            pid = _status(f"/proc/{pid}/status").get("PPid", "")
        return False

    def _in_other_user_namespace(self) -> bool:
        try:
            return os.readlink(f"/proc/{self.pid}/ns/user") != os.readlink("/proc/self/ns/user")
        except OSError:
            return True  # root of another namespace may not even look


class Child(NamedTuple):
    """A process that another one started, directly or not."""

    pid: int
    name: str
    python: bool  # has files of CPython mapped
    started: str

    def kill(self) -> None:
        """Unless its number is another's by now."""
        with contextlib.suppress(OSError):
            if _start_of(self.pid) == self.started:
                os.kill(self.pid, signal.SIGKILL)


def descendants(pid: int) -> List[Child]:
    """What runs of the processes that a process started, parents first. Those whose parents have ended are not known as such."""
    started: Dict[int, List[Tuple[int, str]]] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        status = _status(f"/proc/{entry}/status")
        if not status.get("State", "Z").startswith(("Z", "X")):
            started.setdefault(int(status["PPid"]), []).append((int(entry), status["Name"]))
    found: List[Child] = []
    left = started.pop(pid, [])
    while left:
        child, name = left.pop(0)
        left += started.pop(child, [])
        with contextlib.suppress(OSError):
            found.append(Child(child, name, _runs_python(child), _start_of(child)))
    return found


def _start_of(pid: int) -> str:
    """When it was started, in the kernel's own measure. Raises OSError."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[19]  # PID (COMMAND) STATE …: starttime is the 22nd


def _runs_python(pid: int) -> bool:
    """By the names of what it has mapped: the interpreter, libpython, or an extension in a folder of Python's."""
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            return any(b"python" in line.partition(b"/")[2] for line in file)
    except OSError:
        return False


def _status(path: str) -> Dict[str, str]:
    """The lines of a status file; none if there is no such process."""
    lines: List[str] = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        pass
    pairs = (line.partition(":") for line in lines)
    return {key: value.strip() for key, _, value in pairs}


def _name(pid: str) -> str:
    return _status(f"/proc/{pid}/status").get("Name", "?")


def _yama() -> int:
    """kernel.yama.ptrace_scope; 0 on kernels without it."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0


def _ptrace_works() -> bool:
    """Whether this process may call ptrace at all: a child asks to be traced."""
    import ctypes

    child = os.fork()
    if child == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        os._exit(0 if libc.ptrace(0, 0, None, None) == 0 else 1)  # PTRACE_TRACEME
    return os.waitpid(child, 0)[1] == 0
