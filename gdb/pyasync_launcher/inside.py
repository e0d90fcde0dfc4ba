"""
Runs in GDB: has pyasync report on one core, process or program, as the file that the environment variable PYASYNC_JOB names says.

The answer is files in the folder of that file: report.txt and report.json as far as there are any, and result.json, written last.
"""

import contextlib
import json
import os
import resource
import signal
import time

import gdb

FOLDER = os.path.dirname(os.environ["PYASYNC_JOB"])
SYSROOT = gdb.parameter("sysroot")


def path_of(name):
    return os.path.join(FOLDER, name)


def write(name, text):
    with open(path_of(f"{name}.new"), "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    os.rename(path_of(f"{name}.new"), path_of(name))


def quoted(path):
    """A path as GDB's commands take it."""
    return "".join(char if char.isalnum() or char in "/._-" else "\\" + char for char in path)


def load(product):
    """As `source` does, which takes not every file name."""
    with open(product, encoding="utf-8") as file:
        exec(compile(file.read(), product, "exec"), {})


def report(arguments, base="report"):
    """Write report.txt and report.json. @return what result.json says: what failed, and then what GDB alone knows."""
    error = None
    for name, form in ((f"{base}.json", "--json"), (f"{base}.txt", "")):
        try:
            gdb.execute(f"py-async-report {arguments} {form} --output {quoted(path_of(name))}", to_string=True)
        except gdb.error as failure:
            error = error or str(failure)
    return {"error": error, "native": native()} if error else {}


def native():
    """GDB's own backtraces of all threads."""
    gdb.execute("set print frame-arguments presence")  # no values: they are not redacted
    try:
        return gdb.execute("thread apply all -q bt 60", to_string=True)
    except gdb.error as failure:
        return f"no native backtrace: {failure}\n"


def on_core(job):
    if not gdb.selected_inferior().threads():
        return {"error": "GDB cannot open it"}
    return report(job["arguments"])


def on_process(job):
    begin = time.monotonic()
    try:
        gdb.execute(f"attach {job['pid']}", to_string=True)
    except gdb.error as failure:
        return {"error": str(failure), "refused": True}
    try:
        result = report(job["arguments"])
    finally:
        gdb.execute("detach", to_string=True)
    result["stood_still"] = time.monotonic() - begin
    return result


# Signals that end a process with a core unless it handles them: signal(7).
FATAL = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS", "SIGTRAP")
MOST_HELD = 3


class Running:
    """The command of --run."""

    def __init__(self, job):
        self.job = job
        self.signal = None  # that stopped it; None: it has ended
        self.reported = None  # (signal, thread) of the report that is held
        self.held = 0
        self.result = {}
        gdb.events.stop.connect(self.stopped)
        gdb.events.exited.connect(self.exited)

    def stopped(self, event):
        # There are no breakpoints: a trap that GDB does not call a signal is the command's own, too.
        self.signal = event.stop_signal if isinstance(event, gdb.SignalEvent) else "SIGTRAP"

    def exited(self, event):
        self.signal = None
        if hasattr(event, "exit_code"):
            self.result["exit_code"] = event.exit_code

    def run(self):
        settings = ["startup-with-shell off", "disable-randomization off", "auto-solib-add off", "follow-exec-mode same"]
        for setting in settings:
            gdb.execute(f"set {setting}")
        for signals in ("all", "SIGINT"):
            gdb.execute(f"handle {signals} nostop noprint pass", to_string=True)
        for name in FATAL[:-1]:
            gdb.execute(f"handle {name} stop print pass", to_string=True)
        gdb.execute("handle SIGSTOP stop print nopass", to_string=True)
        gdb.execute("starti", to_string=True)
        limit_memory(self.job["memory_limit"])
        pid = gdb.selected_inferior().pid
        os.write(self.job["events"], str(pid).encode())
        self.signal = "none"
        while self.signal is not None:
            if self.signal == "SIGSTOP" and os.path.exists(path_of("timeout")):
                return self.time_over()
            if self.signal in FATAL:
                self.crash(pid)
            # SIGTRAP is GDB's own, and is not passed unless it is said; what is left here is the command's.
            gdb.execute("signal SIGTRAP" if self.signal == "SIGTRAP" else "continue", to_string=True)
        if "exit_code" not in self.result:
            number = int(gdb.parse_and_eval("$_exitsignal"))
            self.result.update(exit_signal=number, exit_signal_name=signal.Signals(number).name)
        return self.result

    def crash(self, pid):
        """A report, kept until it is clear that the process dies: what it handles itself may be no crash (faulthandler's is)."""
        place = (self.signal, gdb.selected_thread().num)
        if place == self.reported or (handles(pid, self.signal) and self.held >= MOST_HELD):
            return
        self.held += 1
        self.reported = place
        self.report()

    def time_over(self):
        """Reports on the command and on what it started, and the end of all that were told."""
        self.report()
        self.result["timeout"] = True
        with open(path_of("timeout"), encoding="ascii") as file:
            others = json.load(file)
        self.result["others"] = {pid: self.other(pid) for pid in others}
        gdb.execute("inferior 1", to_string=True)
        gdb.execute("kill", to_string=True)
        return self.result

    def other(self, pid):
        """GDB is an ancestor of what the command started, and may attach to it wherever it may trace the command."""
        gdb.execute("add-inferior", to_string=True)
        number = max(inferior.num for inferior in gdb.inferiors())
        gdb.execute(f"inferior {number}", to_string=True)
        try:
            gdb.execute(f"attach {pid}", to_string=True)
            find_files()
            result = report(self.job["arguments"], f"process-{pid}")
            gdb.execute("kill", to_string=True)
        except gdb.error as failure:
            return {"error": f"cannot be attached to: {failure}"}
        gdb.execute("inferior 1", to_string=True)
        gdb.execute(f"remove-inferiors {number}", to_string=True)  # and with it the symbols of its files
        return result

    def report(self):
        find_files()
        self.result.update(report(self.job["arguments"]))


def find_files():
    """Only now, since GDB reads all libraries anew."""
    with contextlib.suppress(OSError):  # of a process whose root we may not ask for
        use_root()
    gdb.execute("sharedlibrary", to_string=True)


def use_root():
    """The selected process may have changed its root (chroot, unshare)."""
    folder = f"/proc/{gdb.selected_inferior().pid}"
    root = f"{folder}/root"
    if os.readlink(f"{folder}/ns/mnt") == os.readlink("/proc/self/ns/mnt"):
        root = os.readlink(root)
    if os.path.samestat(os.stat(f"{root}/"), os.stat("/")):
        root = SYSROOT
    known, path = gdb.selected_inferior().progspace.filename, os.readlink(f"{folder}/exe")
    if gdb.parameter("sysroot") != root or not is_same(known, f"{folder}/exe"):
        gdb.execute(f"set sysroot {root}", to_string=True)
        # GDB would look for it below the old root, or below the new one by its name outside of it.
        gdb.execute(f"file {quoted(path if is_same(path, f'{folder}/exe') else f'{folder}/exe')}", to_string=True)


def is_same(path, other):
    try:
        return path is not None and os.path.samefile(path, other)
    except OSError:
        return False


def limit_memory(most):
    """Not before the command was started, which would inherit it."""
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def handles(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt:"))
    return bool(caught >> (signal.Signals[name].value - 1) & 1)


def on_run(job):
    try:
        return Running(job).run()
    except gdb.error as failure:
        return {"error": str(failure)}


def main():
    with open(os.environ.pop("PYASYNC_JOB"), encoding="utf-8") as file:
        job = json.load(file)
    for setting in ("confirm off", "pagination off", "width 0", "print thread-events off", "print inferior-events off"):
        gdb.execute(f"set {setting}")
    for before, after in job["source_path"]:
        gdb.execute(f"set substitute-path {quoted(before)} {quoted(after)}")
    load(job["product"])
    result = {"core": on_core, "process": on_process, "run": on_run}[job["kind"]](job)
    write("result.json", json.dumps(result))


main()
