"""
Cores as they come, through the launcher with both GDBs: of each as much is shown as it has, and a line says what it has not.

One program serves for all: two tasks, of which one waits for the other, which dies by abort().
"""

import re
import shutil
import subprocess
import sys

import harness
import pytest
from harness import PLACE, ROOT, inside

LAUNCHER = {
    "host-gdb": lambda: [sys.executable, str(harness.PROJECT / "gdb/pyasync")],
    "root-gdb": lambda: harness.in_root_with_proc("/usr/bin/python3.14", f"{inside(PLACE)}/gdb/pyasync"),
}
CRASH = f"{inside(PLACE)}/targets/crash_in_task.py"
both_gdbs = pytest.mark.parametrize("gdb", harness.GDBS)


def pyasync(gdb, *words):
    """Paths below the root are given to each GDB as it calls them."""
    harness.prepare()
    words = [harness.seen_by(gdb, word) if isinstance(word, harness.pathlib.Path) else word for word in words]
    done = harness.run([*LAUNCHER[gdb](), *words])
    assert "Traceback" not in done.stdout + done.stderr and done.status in (0, 1, 2), done
    return done


def core_of(name, *words, wrapper=()):
    """The core of a command that runs in the root, made once."""
    folder = PLACE / "cores" / name
    source = harness.HERE / "targets/crash_in_task.py"
    command = [*wrapper, *harness.in_root("env", "-i", "-C", inside(folder), *words)]
    harness.make_core_of(harness.Scenario(folder, command, harness.digest(source, command)))
    return folder / "core"


@pytest.fixture(scope="module")
def core():
    return core_of("crash", "/usr/bin/python3.15", CRASH, "abort", "0")


def assert_whole(done, *notes):
    """All is shown; before it stand lines with these words, and no others."""
    assert done.status == 0 and "Complete: 2 tasks" in done.stdout, done
    assert_graph(done)
    assert_notes(done, *notes)


def assert_graph(done):
    assert "Task(name='abort-worker', " in done.stdout and "Task(name='Task-1', " in done.stdout, done
    assert "in async worker()" in done.stdout and "in async main()" in done.stdout, done


def assert_notes(done, *notes):
    lines = [line for line in done.stdout.splitlines() if re.match(r"/.*core\S* (is|does|has) ", line)]
    assert len(lines) == len(notes), done
    for line, words in zip(lines, notes):
        assert words in line, done


NO_FILE = "is read without its executable"


@both_gdbs
def test_with_all_files(gdb, core):
    assert_whole(pyasync(gdb, "--sysroot", ROOT, core))


@both_gdbs
def test_without_any_file(gdb, core, scratch):
    """Another host's core."""
    assert_whole(pyasync(gdb, "--sysroot", scratch, core), f"{NO_FILE} /usr/bin/python3.15, which is not here (--sysroot DIR tells")


@both_gdbs
def test_executable_was_replaced(gdb, core, scratch):
    """As after an upgrade, or in a container of another image: a wrong file is worse than none."""
    (scratch / "usr/bin").mkdir(parents=True)
    shutil.copy(ROOT / "usr/bin/python3.14", scratch / "usr/bin/python3.15")
    done = pyasync(gdb, "--sysroot", scratch, core)
    assert_whole(done, "is read without its files: /usr/bin/python3.15 is another build here (build-id ")


@both_gdbs
def test_executable_is_no_program(gdb, core, scratch):
    (scratch / "usr/bin").mkdir(parents=True)
    (scratch / "usr/bin/python3.15").write_text("#!/bin/sh\n")
    done = pyasync(gdb, "--sysroot", scratch, core)
    assert_whole(done, f"{NO_FILE} /usr/bin/python3.15: what is here of that name is no program")


# What stands where in a core: headers, notes, then memory by address: executable, heap, libraries, stacks.
PARTS = [0, 1, 40, 64, 100, 3000, 9000, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]


@both_gdbs
def test_cut_short(gdb, core, scratch):
    """At every length: a line that says so, what is left, and nothing that is not true."""
    size = core.stat().st_size
    cuts = []
    for part in PARTS:
        length = part if isinstance(part, int) else int(size * part)
        cut = scratch / f"core.{length}"
        with core.open("rb") as whole:
            cut.write_bytes(whole.read(length))
        cuts.append((length, cut))
    done = pyasync(gdb, "--each", "--json", *(cut for _, cut in cuts))
    assert done.status == 1, done
    for (length, _), line in zip(cuts, map(harness.json.loads, done.stdout.splitlines())):
        said = " ".join([*line["notes"], line["error"] or ""])
        assert {0: "is an empty file", 1: "is no core file"}.get(length, "is cut short") in said, line
        assert not line["complete"] and "\n" not in said, line
        for task in (line["report"] or {}).get("tasks", ()):
            assert task["name"] in ("abort-worker", "Task-1"), line
    # The last bytes are the stack's: with all but these the tasks are there.
    assert len(line["report"]["tasks"]) == 2 and line["error"] is None, line


@both_gdbs
def test_not_python(gdb):
    core = core_of("dash-crash", "/usr/bin/dash", "-c", "kill -ABRT $$")
    done = pyasync(gdb, core)
    assert "no CPython here" in done.stdout, done
    assert done.status in (1, 2), done


FILTERS = {
    0x31: "executable",  # private memory and the first pages of files (build-ids), no shared memory
    0x33: "the default",
    0x3F: "and the files too",
    0x21: "no ELF headers: no build-id",
}


@both_gdbs
@pytest.mark.parametrize("value", FILTERS, ids=hex)
def test_coredump_filter(gdb, value):
    wrapper = ["sh", "-c", f'echo {value:#x} >/proc/self/coredump_filter; exec "$@"', "sh"]
    core = core_of(f"filter-{value:x}", "/usr/bin/python3.15", CRASH, "abort", "0", wrapper=wrapper)
    assert_whole(pyasync(gdb, "--sysroot", ROOT, core))


@both_gdbs
def test_core_of_gcore(gdb, scratch):
    """Of a process that goes on."""
    harness.prepare()
    command = harness.in_root("env", "-i", "/usr/bin/python3.15", CRASH, "hang", "0")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            harness.wait_until_asleep(process.pid)
            subprocess.run(["gcore", "-o", str(scratch / "core"), str(process.pid)], check=True, capture_output=True)
        finally:
            process.kill()
    done = pyasync(gdb, scratch / f"core.{process.pid}", "--sysroot", ROOT)
    assert done.status == 0 and "Task(name='hang-worker', " in done.stdout and "Complete: 2 tasks" in done.stdout, done
    # That of outside has written down the paths of outside.
    assert_notes(done, *([NO_FILE] if gdb == "root-gdb" else []))


EMBEDDED = "int Py_BytesMain(int, char **); int main(int argc, char **argv) { return Py_BytesMain(argc, argv); }"


@pytest.fixture(scope="module")
def shared():
    """A core of a program that has CPython from libpython3.14.so."""
    folder = PLACE / "embedded"
    folder.mkdir(exist_ok=True)
    with harness.lock("embedded"):
        if not (folder / "program").exists():
            library = str(ROOT / "usr/lib/x86_64-linux-gnu/libpython3.14.so.1.0")
            words = ["-x", "c", "-", "-o", str(folder / "program"), "-x", "none", library, "-Wl,--allow-shlib-undefined"]
            subprocess.run(["cc", *words], input=EMBEDDED.encode(), check=True)
    return core_of("shared", f"{inside(folder)}/program", CRASH, "abort", "0")


@both_gdbs
def test_shared_libpython(gdb, shared):
    done = pyasync(gdb, "--sysroot", ROOT, shared)
    assert_whole(done)


@both_gdbs
@pytest.mark.parametrize("other", ["libpython3.15.so.1.0", "libpython3.14d.so.1.0"])
def test_libpython_was_replaced(gdb, other, shared, scratch):
    """By an upgrade while the process ran; its executable is the same."""
    folder = scratch / "usr/lib/x86_64-linux-gnu"
    program = scratch / harness.inside(PLACE / "embedded/program")[1:]
    for path in (folder, program.parent):
        path.mkdir(parents=True)
    shutil.copy(PLACE / "embedded/program", program)
    shutil.copy(ROOT / "usr/lib/x86_64-linux-gnu" / other, folder / "libpython3.14.so.1.0")
    done = pyasync(gdb, "--sysroot", scratch, shared)
    assert_whole(done, "is read without its files: /usr/lib/x86_64-linux-gnu/libpython3.14.so.1.0 is another build here")


@both_gdbs
def test_stripped_of_all_that_is_not_loaded(gdb, scratch):
    """Symbols, debug links and the table of sections."""
    folder = PLACE / "stripped"
    folder.mkdir(exist_ok=True)
    with harness.lock("stripped"):
        if not (folder / "python3.15").exists():
            new = folder / "new"
            subprocess.run(["strip", "-s", "-R", ".gnu_debuglink", "-o", str(new), str(ROOT / "usr/bin/python3.15")], check=True)
            with new.open("r+b") as file:  # Elf64_Ehdr: e_shoff; e_shnum, e_shstrndx
                file.seek(40), file.write(bytes(8)), file.seek(60), file.write(bytes(4))
            new.rename(folder / "python3.15")
    core = core_of("stripped-crash", "PYTHONHOME=/usr", f"{inside(folder)}/python3.15", CRASH, "abort", "0")
    assert_whole(pyasync(gdb, "--sysroot", ROOT, core))


BIG = """
import mmap, os, runpy
keep = mmap.mmap(-1, 2 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for page in range(0, 2 << 30, 1 << 26):
    keep[page] = 1
runpy.run_path(os.environ["CRASH"], run_name="__main__")
"""


@both_gdbs
def test_two_gigabytes_with_holes(gdb):
    """The limit of GDB's memory does not count the core that it maps; the file takes some megabytes of the disk."""
    core = core_of("big", f"CRASH={CRASH}", "/usr/bin/python3.15", "-c", BIG, "abort", "0")
    assert core.stat().st_size > 2 << 30 and core.stat().st_blocks * 512 < 200 << 20
    assert_whole(pyasync(gdb, "--sysroot", ROOT, "--memory-limit", "600", core))


def test_two_gigabytes_unpacked_with_holes(scratch):
    core = core_of("big", f"CRASH={CRASH}", "/usr/bin/python3.15", "-c", BIG, "abort", "0")
    with (scratch / "core.zst").open("wb") as packed:
        subprocess.run(["zstd", "-q", "-1", "-c", str(core)], stdout=packed, check=True)
    (scratch / "small").mkdir()
    gdb = scratch / "gdb"
    gdb.write_text(f"#!/bin/sh\ndu -k --apparent-size $PWD >{scratch}/size; du -k $PWD >{scratch}/disk\n")
    gdb.chmod(0o755)
    harness.run([*LAUNCHER["host-gdb"](), "--gdb", str(gdb), str(scratch / "core.zst")])
    apparent, disk = (int((scratch / name).read_text().split()[0]) for name in ("size", "disk"))
    assert apparent > 2 << 20 and disk < 200 << 10


def test_memory_limit_is_one(core):
    done = harness.run([*LAUNCHER["host-gdb"](), "--sysroot", str(ROOT), "--memory-limit", "20", str(core)])
    assert done.status == 2 and "it may take 20 MB, --memory-limit MB gives it more" in done.stdout, done


HOSTILE = """
import random, sys
sys.path.insert(0, sys.argv[1])
from pyasync_launcher.core_file import CoreFile, NotACore
whole = bytearray(open(sys.argv[2], "rb").read(1 << 20))
end = CoreFile(sys.argv[2])._loaded[0].offset  # headers and notes stand before
for number in range(300):
    chance, damaged = random.Random(number), bytearray(whole)
    for _ in range(chance.randrange(1, 20)):
        place = chance.randrange(4, end - 8)
        damaged[place : place + 8] = chance.choice([chance.randbytes(8), bytes(8), b"\\xff" * 8, b"\\xff" * 4 + bytes(4)])
    open(sys.argv[3], "wb").write(damaged)
    try:
        with CoreFile(sys.argv[3]) as core:
            core.executable(), [core.build_id(mapping) for mapping in core.mappings()]
    except NotACore:
        pass
print("done")
"""


def test_headers_and_notes_of_any_content(core, scratch):
    """The launcher reads these itself: no exception but its own, and no time without bound."""
    command = [sys.executable, "-c", HOSTILE, str(harness.PROJECT / "gdb"), str(core), str(scratch / "core")]
    done = harness.run(command, timeout=60)
    assert done.stdout == "done\n", done
