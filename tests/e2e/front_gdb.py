"""Starting GDB for the tests of the front: the host's and the test root's, over one scratch folder that both see."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import harness
import pexpect
import pytest
from harness import PROJECT, ROOT

QUIET = ["-nx", "-nh", "-q", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"]
# Reading Python's debug files takes five times as long as all else in most of these tests.
QUIET += ["-iex", "set debug-file-directory /none"]
DEBUG_FILES = ["-iex", "set debug-file-directory /usr/lib/debug"]
PROMPT = "(gdb) "

PROGRAM = """
import asyncio, os, sys, threading, time

async def main():
    if "abort" in sys.argv:
        os.abort()
    print("ready", flush=True)
    await asyncio.sleep(3600)

for number in range(2):
    threading.Thread(target=time.sleep, args=(3600,), daemon=True, name=f"sleeper-{number}").start()
asyncio.run(main())
"""


class Scratch:
    """A folder in the test root. `host` is its path outside, `inside` its path for who runs in the root."""

    def __init__(self):
        harness.PLACE.mkdir(exist_ok=True)
        self.host = Path(tempfile.mkdtemp(prefix="front-", dir=harness.PLACE))
        self.inside = Path(harness.inside(self.host))

    def remove(self):
        shutil.rmtree(self.host)

    def copy_front(self, name):
        """Copy the folder gdb/ of the project, as a user would. Without the library."""
        self.copy_product(name)
        (self.host / name / "pyasync_gdb" / "libpyasync.so").unlink(missing_ok=True)

    def copy_product(self, name):
        """The same with the library that `make` built."""
        shutil.copytree(PROJECT / "gdb", self.host / name, ignore=shutil.ignore_patterns("__pycache__"))

    def build_fake(self, name, abi_version=None):
        """Put the stand-in library front_fake.c into such a copy."""
        define = [] if abi_version is None else [f"-DFAKE_ABI_VERSION={abi_version}"]
        library = self.host / name / "pyasync_gdb" / "libpyasync.so"
        library.unlink(missing_ok=True)  # not written over: a GDB may have it mapped
        command = ["gcc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *define]
        command += ["-I", str(PROJECT / "src"), str(PROJECT / "tests" / "e2e" / "front_fake.c"), "-o", str(library)]
        subprocess.run(command, check=True)

    def make_core(self, name, *command):
        """Run a command in the test root that ends with a core, which becomes the file @p name."""
        place = self.host / f"{name}-folder"
        place.mkdir()
        script = f'cd {self.inside / place.name} && ulimit -c unlimited && exec env -i "$@"'
        output = subprocess.DEVNULL
        subprocess.run(harness.in_root("sh", "-c", script, "sh", *command), stdout=output, stderr=output, check=False)
        (found,) = place.glob("core*")
        found.rename(self.host / name)
        return name


class Gdb:
    """One of the two GDBs and how to reach files of the scratch folder from it."""

    def __init__(self, version, scratch):
        self.version = version
        self.scratch = scratch

    def path(self, *parts):
        """The path of a scratch file as this GDB sees it."""
        return str((self.scratch.host if self.version == 13 else self.scratch.inside).joinpath(*parts))

    def root_path(self, path):
        """The path of a file of the test root as this GDB sees it."""
        return str(ROOT / str(path).lstrip("/")) if self.version == 13 else str(path)

    def command(self, *arguments):
        if self.version == 13:
            return ["gdb", *QUIET, "-iex", f"set sysroot {ROOT}", *arguments]
        # The default "target:" has all files read through gdbserver, where there is one.
        return harness.in_root_with_proc("gdb", *QUIET, "-iex", "set sysroot /", *arguments)

    def on_bare_core(self, name):
        """The core alone: opens many times faster than with the executable and its debug file."""
        return ["-core", self.path(name)]

    def on_core(self, name, debug_files=False):
        return [*(DEBUG_FILES if debug_files else []), self.root_path("/usr/bin/python3.15"), self.path(name)]

    def on_process(self, pid, debug_files=False):
        # GDB 13 outside the root does not find the executable by itself: it puts the sysroot before a path that has it already.
        return [*(DEBUG_FILES if debug_files else []), self.root_path("/usr/bin/python3.15"), "-p", str(pid)]

    def source(self, folder="gdb"):
        return ["-ex", f"source {self.path(folder, 'pyasync.py')}"]

    def batch(self, *arguments, environment=None):
        """Run to the end with -batch; the last command's failure shows in the status."""
        variables = {**os.environ, **(environment or {})}
        command = self.command("-batch", *arguments)
        return subprocess.run(command, capture_output=True, text=True, env=variables, timeout=120, stdin=subprocess.DEVNULL)

    def run(self, lines, *arguments):
        """Feed commands; return the output of each, standard error included. No command ends the session but a crash of GDB."""
        marks = [f"--- {number} ---" for number in range(len(lines))]
        script = ["set height 0", "set width 0", "set confirm off", "echo --- start ---\\n"]
        for line, mark in zip(lines, marks):
            script += [line, f"echo {mark}\\n"]
        text = "\n".join(script) + "\n"
        command = self.command(*arguments)
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        outputs = []
        rest = done.stdout.replace(PROMPT, "").partition("--- start ---\n")[2]
        for line, mark in zip(lines, marks):
            output, found, rest = rest.partition(mark + "\n")
            assert found, f"GDB did not live after: {line}\n{done.stdout}"
            outputs.append(output)
        return outputs

    @contextlib.contextmanager
    def terminal(self, *arguments, environment=None, rows=50, columns=200):
        """GDB on a pseudo-terminal, at its prompt."""
        command = self.command(*arguments)
        variables = {**os.environ, "TERM": "xterm", "INPUTRC": "/dev/null", **(environment or {})}
        child = pexpect.spawn(
            command[0], command[1:], env=variables, encoding="utf-8", codec_errors="replace", dimensions=(rows, columns), timeout=20
        )
        child.delaybeforesend = None
        try:
            child.expect_exact(PROMPT)
            yield child
        finally:
            child.close(force=True)


@pytest.fixture(scope="session")
def running():
    return process_in_root


@contextlib.contextmanager
def process_in_root(*command):
    """A process that runs in the test root and prints a line when it is ready. Killed at the end."""
    with subprocess.Popen(harness.in_root(*command), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline(), "the process did not get ready"
            yield process
        finally:
            process.kill()


# Fixtures; a test file gets them with pytest_plugins = "front_gdb".


@pytest.fixture(scope="session")
def front_folder():
    folder = Scratch()
    yield folder
    folder.remove()


@pytest.fixture(scope="session", params=[13, 18], ids=["gdb13", "gdb18"])
def gdb(request, front_folder):
    """Each GDB in turn, with the front and the stand-in library in the scratch folder gdb/."""
    if not (front_folder.host / "gdb").exists():
        front_folder.copy_front("gdb")
        front_folder.build_fake("gdb")
    return Gdb(request.param, front_folder)


@pytest.fixture(scope="session")
def program(front_folder):
    """A small Python program with three threads and an asyncio task, in the scratch folder; it prints a line when it is ready."""
    path = front_folder.host / "program.py"
    path.write_text(PROGRAM)
    return str(front_folder.inside / "program.py")


@pytest.fixture(scope="session")
def core(front_folder, program):
    """The name of a core of that program in the scratch folder, as the kernel writes it when it aborts."""
    return front_folder.make_core("core", "python3.15", program, "abort")


@pytest.fixture
def process(program):
    with process_in_root("python3.15", program) as running:
        yield running
