"""
The test root, the interpreters and GDBs of the matrix, cores and processes of scenarios, and what GDB reads in them.

Everything lies below build/root/pyasync, which both GDBs see: the one inside the root by chroot, the host's through
`set sysroot`. (PYASYNC_PLACE gives that folder another name, so that two people can test two states of the product at
once.)

    scenarios/  gdb/  targets/  batch.py   copies of this folder's files and of the product, brought up to date by prepare()
    extensions/BUILD/                      what extensions/*.pyx is compiled to, for scenarios that import it
    cores/BUILD/SCENARIO/                  core, oracle.json, output: made once, until the scenario or the interpreter changes
    readings/SOURCE/GDB/BUILD/SCENARIO/    what one GDB printed for it, a file a command: until the core or the product changes

Several test processes may work here at once: whoever makes something holds its lock.
"""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Optional, Union

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
ROOT = PROJECT / "build" / "root"
PLACE = ROOT / os.environ.get("PYASYNC_PLACE", "pyasync")

BUILDS = ("python3.14", "python3.15", "python3.14d", "python3.15d")
GDBS = ("host-gdb", "root-gdb")
# Every build once and both GDBs: (gdb, build). For what hardly depends on them.
PAIRS = (("host-gdb", "python3.14"), ("root-gdb", "python3.15"), ("root-gdb", "python3.14d"), ("host-gdb", "python3.15d"))
SCENARIOS = tuple(sorted(path.stem for path in (HERE / "scenarios").glob("*.py") if path.stem != "oracle"))

# Scenarios for some builds only: uvloop is not for 3.15 yet.
ONLY = {"uvloop_server": ("python3.14", "python3.14d")}

# What GDB is asked about every core and process; FILE is the path that --output writes.
COMMANDS = {
    "bt.json": "py-async-bt --all --json --output FILE",
    "any.json": "py-async-bt --all --state any --json --output FILE",
    "awaited_by.json": "py-awaited-by --json --output FILE",
    "tasks.json": "py-async-tasks --all --json --output FILE",
    "info.json": "py-async-info --json --output FILE",
    "stats.json": "py-async-tasks --all --stats --json --output FILE",
    "bt.txt": "py-async-bt --all",
    "compat.txt": "py-async-bt --all --no-group --compat",
    "awaited_by.txt": "py-awaited-by",
    "forest.txt": "py-awaited-by --all --no-group",
    "tasks.txt": "py-async-tasks --all",
    "info.txt": "py-async-info",
    "stats.txt": "py-async-tasks --all --stats",
}

# Scenarios with so many tasks that their ungrouped text would take hundreds of megabytes. One JSON document of them is enough.
BIG = {"deep_awaited_by", "many", "echo"}
BIG_COMMANDS = ("bt.json", "stats.json", "bt.txt", "awaited_by.txt", "tasks.txt", "info.txt", "stats.txt")

# Scenarios that break something: what is shown is right, but not called complete.
DAMAGED = {"damaged_list"}

# Nothing of this machine's environment comes into a core. PYTHONHASHSEED keeps the order of sets of strings from run to run.
ENVIRONMENT = ("PYTHONHASHSEED=0",)


def commands_of(scenario: str) -> dict[str, str]:
    """What GDB is asked about this scenario."""
    return {key: text for key, text in COMMANDS.items() if scenario not in BIG or key in BIG_COMMANDS}


class Missing(Exception):
    """The machine lacks what the tests need."""


def check() -> None:
    """Fail, saying what to do, if the root, one of its interpreters or the built library is not there."""
    for build in BUILDS:
        if not (ROOT / "usr/bin" / build).exists():
            raise Missing(f"{ROOT / 'usr/bin' / build} is missing: run tests/make-root build/root")
    if not (PROJECT / "gdb/pyasync_gdb/libpyasync.so").exists():
        raise Missing("gdb/pyasync_gdb/libpyasync.so is missing: run make")
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern != "core":
        raise Missing(f"kernel.core_pattern is '{pattern}', not 'core': run sysctl kernel.core_pattern=core")


def versions() -> list[str]:
    """What the tests run with, a line each."""
    lines = []
    for build in BUILDS:
        lines.append(f"{build}: " + output_of(in_root(f"/usr/bin/{build}", "-VV")).replace("\n", " "))
    for gdb in GDBS:
        lines.append(f"{gdb}: " + output_of(gdb_command(gdb, None, "--version")).splitlines()[0])
    return lines


def output_of(command: list[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


# ---- running things in and beside the root


def in_root(*command: str) -> list[str]:
    """The command line that runs @p command with the test root as its root."""
    chroot = ["chroot", str(ROOT), *command]
    return chroot if os.geteuid() == 0 else ["unshare", "--map-root-user", *chroot]


def in_root_with_proc(*command: str, hide: Iterable[str] = ()) -> list[str]:
    """The same with /proc mounted and the files @p hide hidden, in a mount namespace that vanishes with the command."""
    mounts = [f"mount -t proc proc {ROOT}/proc", *(f"mount --bind /dev/null {ROOT}{file}" for file in hide)]
    script = " && ".join([*mounts, f"exec chroot {ROOT} " + '"$@"'])
    user = [] if os.geteuid() == 0 else ["--map-root-user", "--pid"]
    return ["unshare", *user, "--mount", "--fork", "sh", "-c", script, "sh", *command]


def inside(path: pathlib.Path) -> str:
    """A path below the root as it is called inside it."""
    return "/" + str(path.relative_to(ROOT))


def gdb_command(
    gdb: str,
    executable: Union[str, pathlib.Path, None],
    *arguments: str,
    sysroot: pathlib.Path = ROOT,
    hide: Iterable[str] = (),
) -> list[str]:
    """
    The command line of a GDB that reads the user's files of neither side and asks no server.

    @p executable is a path inside the root, for the host's GDB also a Path of the host's own, or None. The host's GDB
    gets @p sysroot. The root's does not see @p hide.
    """
    options = ["-nx", "-nh", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"]
    if gdb == "host-gdb":
        file = [str(ROOT / executable[1:] if isinstance(executable, str) else executable)] if executable else []
        return ["gdb", *options, "-iex", f"set sysroot {sysroot}", *file, *arguments]
    return in_root_with_proc("gdb", *options, *([executable] if executable else []), *arguments, hide=hide)


def seen_by(gdb: str, path: pathlib.Path) -> str:
    """A path below the root as this GDB calls it."""
    return str(path) if gdb == "host-gdb" else inside(path)


class Run(NamedTuple):
    """A finished command: assert on its parts with itself as the message."""

    command: list[str]
    status: int
    stdout: str
    stderr: str

    def __str__(self) -> str:
        return f"\nrepeat: {shlex.join(self.command)}\nstatus {self.status}\n{self.stdout}{self.stderr}"


def run(command: list[str], timeout: float = 120, **options) -> Run:
    done = subprocess.run(command, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL, **options)
    return Run(command, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def run_gdb(
    gdb: str, executable: Union[str, pathlib.Path, None], *commands: str, sysroot: pathlib.Path = ROOT, timeout: float = 120
) -> Run:
    """Run one GDB with pyasync loaded. In @p commands PLACE stands for the path of PLACE as that GDB sees it."""
    prepare()
    place = seen_by(gdb, PLACE)
    lines = [command.replace("PLACE", place) for command in ("source PLACE/gdb/pyasync.py", *commands)]
    arguments = [word for line in lines for word in ("-ex", line)]
    return run(gdb_command(gdb, executable, *arguments, sysroot=sysroot), timeout)


class Answer(NamedTuple):
    """What one command printed, and what it said if it failed."""

    text: str
    error: Optional[str]
    repeat: str

    def json(self) -> dict:
        assert self.error is None, f"{self.error}\n{self.repeat}"
        return json.loads(self.text)

    def __str__(self) -> str:
        return f"\n{self.repeat}\n{self.error or ''}{self.text}"


def ask_all(
    gdb: str,
    executable: Union[str, pathlib.Path, None],
    targets: Iterable[str],
    commands: Iterable[str],
    before: Iterable[str] = (),
    hide: Iterable[str] = (),
) -> list[list[Answer]]:
    """
    Let one GDB answer commands, each on its own, about each target, which is opened by the GDB command in @p targets.

    @p before are GDB commands that come first. A command that fails does not end the others.
    """
    prepare()
    with scratch_folder() as scratch:
        jobs = []
        for number, target in enumerate(targets):
            folder = scratch / str(number)
            folder.mkdir()
            files = {f"{place}.txt": command for place, command in enumerate(commands)}
            jobs.append({"target": target, "folder": seen_by(gdb, folder), "commands": files})
        file = scratch / "jobs.json"
        file.write_text(json.dumps(jobs))
        place = seen_by(gdb, PLACE)
        words = [word for line in (*before, f"source {place}/gdb/pyasync.py") for word in ("-ex", line)]
        command = gdb_command(gdb, executable, *words, "-x", f"{place}/batch.py", hide=hide)
        done = run(command, 60 + 20 * len(jobs), env={**os.environ, "PYASYNC_JOBS": seen_by(gdb, file)})
        by_hand = gdb_command(gdb, executable, *words, hide=hide)
        return [answers_in(scratch / str(number), job, by_hand, done) for number, job in enumerate(jobs)]


@contextlib.contextmanager
def scratch_folder() -> Iterator[pathlib.Path]:
    """A folder below the root, which vanishes at the end."""
    (PLACE / "scratch").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PLACE / "scratch") as name:
        yield pathlib.Path(name)


def answers_in(folder: pathlib.Path, job: dict, by_hand: list[str], done: Run) -> list[Answer]:
    assert (folder / "errors.json").exists(), done
    errors = json.loads((folder / "errors.json").read_text())
    answers = []
    for file, command in job["commands"].items():
        text = (folder / file).read_text() if (folder / file).exists() else ""
        repeat = f"repeat: {shlex.join([*by_hand, '-ex', job['target'], '-ex', command])}"
        answers.append(Answer(text, errors.get(file), repeat))
    return answers


def ask(
    gdb: str, executable: Union[str, pathlib.Path, None], target: str, *commands: str, before: Iterable[str] = ()
) -> list[Answer]:
    """ask_all() about one target."""
    return ask_all(gdb, executable, [target], commands, before)[0]


def ask_core(gdb: str, build: str, scenario: str, *commands: str, before: Iterable[str] = ()) -> list[Answer]:
    """ask() about a scenario's core."""
    return ask(gdb, f"/usr/bin/{build}", f"core {seen_by(gdb, make_core(build, scenario).core)}", *commands, before=before)


# ---- files and locks


@contextlib.contextmanager
def lock(name: str) -> Iterator[None]:
    """Wait until no other test process holds the lock of this name."""
    folder = PLACE / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name.replace("/", "_")).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def digest(*things: object) -> str:
    """A hash over files (their bytes) and texts."""
    result = hashlib.sha256()
    for thing in things:
        result.update(thing.read_bytes() if isinstance(thing, pathlib.Path) else str(thing).encode())
    return result.hexdigest()


def replace(path: pathlib.Path, content: bytes) -> None:
    """Write a file so that whoever has the old one open keeps it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_bytes(content)
    new.rename(path)


@functools.cache
def prepare() -> str:
    """
    Bring the copies in PLACE up to date. Returns a hash of the product and of what reads with it.

    Once in a process: nothing may change in the middle of a run, and ten thousand tests would take ten minutes for it.
    """
    with lock("prepare"):
        for name, source in (("gdb", PROJECT / "gdb"), ("scenarios", HERE / "scenarios"), ("targets", HERE / "targets")):
            synchronize(source, PLACE / name)
        replace(PLACE / "batch.py", (HERE / "batch.py").read_bytes())
        (PLACE / "empty").mkdir(exist_ok=True)
        compile_extensions()
        return digest(*product_files(PLACE / "gdb"), PLACE / "batch.py")


def compile_extensions() -> None:
    """Let this machine's compiler, and the root's Cython, make the extensions. Debug builds import those of the release."""
    for source in sorted([*(HERE / "extensions").glob("*.pyx"), *(HERE / "extensions").glob("*.c")]):
        for build in ("python3.14", "python3.15"):
            folder = PLACE / "extensions" / build
            name = source.stem
            stamp = digest(source, ROOT / "usr/bin/cython3", (ROOT / "usr/bin" / build).stat().st_mtime)
            if (folder / f"{name}.stamp").exists() and (folder / f"{name}.stamp").read_text() == stamp:
                continue
            replace(folder / source.name, source.read_bytes())
            if source.suffix == ".pyx":
                run_or_fail(in_root("env", "-C", inside(folder), "cython3", "-3", source.name, "-o", f"{name}.c"))
            # The root has no compiler; its headers come behind this machine's own.
            headers = ["-I", str(ROOT / "usr/include" / build), "-idirafter", str(ROOT / "usr/include")]
            library = f"{name}.cpython-{build.removeprefix('python').replace('.', '')}-x86_64-linux-gnu.so"
            command = ["cc", "-O1", "-g", "-w", "-shared", "-fPIC", *headers, f"{name}.c", "-o", library]
            run_or_fail(["env", "-C", str(folder), *command])
            replace(folder / f"{name}.stamp", stamp.encode())


def run_or_fail(command: list[str]) -> None:
    done = run(command)
    assert done.status == 0, done


def product_files(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def synchronize(source: pathlib.Path, copy: pathlib.Path) -> None:
    """Make @p copy hold exactly what @p source holds."""
    wanted = {path.relative_to(source): path.read_bytes() for path in product_files(source)}
    for relative, content in wanted.items():
        target = copy / relative
        if not target.exists() or target.read_bytes() != content:
            replace(target, content)
    if copy.exists():
        for path in product_files(copy):
            if path.relative_to(copy) not in wanted:
                path.unlink()


# ---- cores and processes


class Scenario(NamedTuple):
    """A scenario under one build: the folder that its core and its oracle's answer are in."""

    folder: pathlib.Path
    command: list[str]
    stamp: str

    @property
    def core(self) -> pathlib.Path:
        return self.folder / "core"

    @property
    def oracle(self) -> dict:
        return json.loads((self.folder / "oracle.json").read_text())


def scenario_command(
    build: str, name: str, mode: str, folder: pathlib.Path, packages: Optional[pathlib.Path] = None
) -> list[str]:
    """@p packages is a folder of packages that come before the root's own."""
    script = f"{inside(PLACE)}/scenarios/{name}.py"
    path = (f"PYTHONPATH={inside(packages)}",) if packages else ()
    return in_root("env", "-i", "-C", inside(folder), *ENVIRONMENT, *path, f"/usr/bin/{build}", script, mode, "oracle.json")


@functools.cache
def scenario_stamp(build: str, name: str) -> str:
    interpreter = (ROOT / "usr/bin" / build).stat()
    script = HERE / "scenarios" / f"{name}.py"
    oracles = {HERE / "scenarios" / "oracle.py", *script.parent.glob("*oracle.py")}
    sources = [script, *sorted(oracles)]
    if any("extensions" in source.read_text() for source in sources):
        sources += sorted((HERE / "extensions").iterdir())
    return digest(*sources, interpreter.st_size, interpreter.st_mtime, ENVIRONMENT)


def make_core(build: str, name: str, packages: Optional[pathlib.Path] = None) -> Scenario:
    """The core of a scenario, made now unless there is one of the same sources."""
    folder = PLACE / "cores" / build / (packages.name if packages else "") / name
    stamp = scenario_stamp(build, name) + (f" {(packages / 'stamp').stat().st_mtime}" if packages else "")
    made = Scenario(folder, scenario_command(build, name, "core", folder, packages), stamp)
    make_core_of(made)
    assert (folder / "oracle.json").exists(), f"the scenario wrote no oracle.json\nrepeat: {shlex.join(made.command)}"
    return made


def make_core_of(made: Scenario) -> None:
    """Run what dies with a core, unless there is one of the same stamp."""
    prepare()
    with lock(f"core-{made.folder.relative_to(PLACE)}"):
        if not up_to_date(made.folder, made.stamp):
            dump_core(made.command, made.folder)
            replace(made.folder / "stamp", made.stamp.encode())


def make_target(build: str, name: str) -> Scenario:
    """The core of a program in targets/, which has no oracle."""
    folder = PLACE / "cores" / build / f"target-{name}"
    source = HERE / "targets" / f"{name}.py"
    command = in_root("env", "-i", "-C", inside(folder), f"/usr/bin/{build}", f"{inside(PLACE)}/targets/{name}.py", "core")
    made = Scenario(folder, command, digest(source, (ROOT / "usr/bin" / build).stat().st_mtime))
    make_core_of(made)
    return made


def up_to_date(folder: pathlib.Path, stamp: str) -> bool:
    return (folder / "stamp").exists() and (folder / "stamp").read_text() == stamp


def dump_core(command: list[str], folder: pathlib.Path) -> None:
    """
    Run a program that dies (or whose child does) with a core in @p folder, which is its working directory and is
    emptied before.
    """
    empty(folder)
    with (folder / "output").open("wb") as output:
        status = subprocess.call(
            ["sh", "-c", 'ulimit -c unlimited; cd "$0"; exec "$@"', str(folder), *command],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=120)  # fmt: skip
    if not (folder / "core").exists():
        text = (folder / "output").read_text(errors="replace")
        raise AssertionError(f"no core (status {status})\nrepeat: cd {folder}; {shlex.join(command)}\n{text}")


def empty(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()


class Process(NamedTuple):
    """A running scenario."""

    popen: subprocess.Popen
    pid: int


@contextlib.contextmanager
def running(
    command: list[str], folder: pathlib.Path, pid_of: Optional[Callable[[subprocess.Popen], int]] = None
) -> Iterator[Process]:
    """
    Run a scenario or target until it says "ready"; at the end its standard input is closed, which ends it.

    @p pid_of tells the PID of the process that stops, if it is neither the one started nor what the oracle says.
    """
    with (folder / "output").open("wb") as errors:
        popen = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
    try:
        if popen.stdout.readline().strip() != b"ready":
            text = (folder / "output").read_text(errors="replace")
            raise AssertionError(f"not ready (status {popen.wait()})\nrepeat: cd {folder}; {shlex.join(command)}\n{text}")
        oracle = folder / "oracle.json"
        pid = json.loads(oracle.read_text())["pid"] if oracle.exists() else popen.pid
        if pid_of is not None:
            pid = pid_of(popen)
        wait_until_asleep(pid)
        yield Process(popen, pid)
    finally:
        popen.stdin.close()
        popen.stdout.close()
        try:
            popen.wait(10)
        except subprocess.TimeoutExpired:
            popen.send_signal(signal.SIGKILL)
            popen.wait()
    assert popen.returncode == 0, f"the process ended with status {popen.returncode} after it was read: {shlex.join(command)}"


def wait_until_asleep(pid: int) -> None:
    """Wait until the main thread sleeps in the kernel."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
        if state == "S":
            return
        time.sleep(0.005)
    raise AssertionError(f"process {pid} does not come to rest")


# ---- readings


class Reading(NamedTuple):
    """What one GDB printed about one scenario."""

    folder: pathlib.Path
    scenario: Scenario
    command: list[str]  # that repeats it, up to the commands of pyasync

    @property
    def oracle(self) -> dict:
        return self.scenario.oracle

    @property
    def errors(self) -> dict[str, str]:
        """What the commands that failed said, by name in COMMANDS."""
        return json.loads((self.folder / "errors.json").read_text())

    def text(self, name: str) -> str:
        """What this command printed. Fails if it failed."""
        assert name not in self.errors, f"{self.errors[name]}\n{self.repeat(name)}"
        return (self.folder / name).read_text()

    def json(self, name: str) -> dict:
        return json.loads(self.text(name))

    def repeat(self, name: str) -> str:
        return f"repeat: {shlex.join([*self.command, '-ex', COMMANDS[name].replace(' --output FILE', '')])}"


def read(source: str, gdb: str, build: str, name: str, wanted: Iterable[str]) -> Reading:
    """
    What @p gdb reads in a scenario. @p source is "core" or "live".

    All scenarios in @p wanted are read by one GDB process, since most of its time goes into starting and reading symbols.
    """
    read_all(source, gdb, build, frozenset({name, *wanted}))
    return reading_of(source, gdb, build, name)


@functools.cache
def read_all(source: str, gdb: str, build: str, names: frozenset[str]) -> None:
    folder = PLACE / "readings" / source / gdb / build
    with lock(f"readings-{source}-{gdb}-{build}"):
        product = prepare()
        todo = []
        for each in sorted(names):
            stamp = digest(product, scenario_stamp(build, each), commands_of(each))
            if not up_to_date(folder / each, stamp):
                todo.append((each, stamp))
        if todo:
            (read_cores if source == "core" else read_processes)(gdb, build, todo)


@functools.cache
def reading_of(source: str, gdb: str, build: str, name: str) -> Reading:
    folder = PLACE / "readings" / source / gdb / build / name
    if source == "core":
        made = make_core(build, name)
        target = ["-ex", f"core {seen_by(gdb, made.core)}"]
    else:
        made = Scenario(folder, scenario_command(build, name, "live", folder), scenario_stamp(build, name))
        target = ["-ex", f"echo the process was: {shlex.join(made.command)}", "-ex", "attach PID"]
    load = ["-ex", f"source {seen_by(gdb, PLACE)}/gdb/pyasync.py"]
    return Reading(folder, made, gdb_command(gdb, f"/usr/bin/{build}", *target, *load))


def read_cores(gdb: str, build: str, todo: list[tuple[str, str]]) -> None:
    cores = {name: make_core(build, name).core for name, _ in todo}
    for name, _ in todo:
        empty(PLACE / "readings/core" / gdb / build / name)
    targets = {name: f"core {seen_by(gdb, core)}" for name, core in cores.items()}
    run_batch("core", gdb, build, todo, targets)


def read_processes(gdb: str, build: str, todo: list[tuple[str, str]]) -> None:
    with contextlib.ExitStack() as stack:
        targets = {}
        for name, _ in todo:
            folder = PLACE / "readings/live" / gdb / build / name
            empty(folder)
            process = stack.enter_context(running(scenario_command(build, name, "live", folder), folder))
            targets[name] = f"attach {process.pid}"
        run_batch("live", gdb, build, todo, targets)


def run_batch(source: str, gdb: str, build: str, todo: list[tuple[str, str]], targets: dict[str, str]) -> None:
    """Let one GDB read everything; if it dies, note that on what it was reading and let another go on with the rest."""
    folder = PLACE / "readings" / source / gdb / build
    left = [name for name, _ in todo]
    died = set()
    while left:
        jobs = [
            {
                "target": targets[name],
                "folder": seen_by(gdb, folder / name),
                "commands": commands_of(name),
            }
            for name in left
        ]
        file = folder / "jobs.json"
        replace(file, json.dumps(jobs).encode())
        place = seen_by(gdb, PLACE)
        command = gdb_command(gdb, f"/usr/bin/{build}", "-ex", f"source {place}/gdb/pyasync.py", "-x", f"{place}/batch.py")
        try:
            done = run(command, 60 + 20 * len(left), env={**os.environ, "PYASYNC_JOBS": seen_by(gdb, file)})
        except subprocess.TimeoutExpired as timeout:
            done = Run(command, -1, "", str(timeout))
        while left and (folder / left[0] / "errors.json").exists():
            left.pop(0)
        if left:
            errors = dict.fromkeys(COMMANDS, f"GDB ended here with {done}")
            replace(folder / left[0] / "errors.json", json.dumps(errors).encode())
            died.add(left.pop(0))
    for name, stamp in todo:
        if name not in died:
            replace(folder / name / "stamp", stamp.encode())
