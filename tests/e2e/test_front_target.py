"""What the front tells the library about a target, beside what the kernel and the ELF tools say."""

import pathlib
import re
import struct
import subprocess
from pathlib import Path

import harness
import pytest

pytest_plugins = "front_gdb"

PYTHON = harness.ROOT / "usr/bin/python3.15"


@pytest.fixture
def on_core(gdb, core):
    def run(*lines, **options):
        return gdb.run([f"py-async-bt --in '{line}'" for line in lines], *gdb.on_core(core, **options), *gdb.source())

    return run


@pytest.fixture
def on_process(gdb, process):
    return lambda *lines: gdb.run([f"py-async-bt --in '{line}'" for line in lines], *gdb.on_process(process.pid), *gdb.source())


def readelf(option, file):
    return subprocess.run(["readelf", option, "--wide", str(file)], capture_output=True, text=True, check=True).stdout


def ranges(text):
    """{start: (end, file offset, flags)}"""
    pattern = r"^range 0x([0-9a-f]+)-0x([0-9a-f]+) at 0x([0-9a-f]+)(.*)$"
    return {int(m[1], 16): (int(m[2], 16), int(m[3], 16), set(m[4].split())) for m in re.finditer(pattern, text, re.M)}


def dumped_segments(core):
    """{start: (end, file offset, writable)} of what the core file has the bytes of, from readelf."""
    text = readelf("--program-headers", core)
    found = {}
    for m in re.finditer(r"^  LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ (.{3}) ", text, re.M):
        offset, start, size = int(m[1], 16), int(m[2], 16), int(m[3], 16)
        if size:
            found[start] = (start + size, offset, "W" in m[4])
    return found


def test_ranges_of_a_core(on_core, front_folder, core):
    (text,) = on_core("ranges")
    expected = dumped_segments(front_folder.host / core)
    found = ranges(text)
    assert {start: (end, offset) for start, (end, offset, _) in found.items()} == {s: (e, o) for s, (e, o, _) in expected.items()}
    assert all("core" in flags for _, _, flags in found.values())
    assert {s for s, (_, _, flags) in found.items() if "writable" in flags} == {s for s, (_, _, w) in expected.items() if w}
    files = [start for start, (_, _, flags) in found.items() if {"file", "writable"} <= flags]
    assert len(files) > 5  # the data of the executable, libc, ...
    assert len(files) < len(found) / 2


def elf(count, extended=0, table=64, entry_size=56, headers=()):
    """An ELF file of program headers alone; @p extended is their number where it does not fit into @p count."""
    sections = table + 56 * len(headers)
    identification = struct.pack("<4s12B", b"\x7fELF", 2, 1, 1, *[0] * 9)
    header = identification + struct.pack("<2HI3QI6H", 4, 62, 1, 0, table, sections, 0, 64, entry_size, count, 64, 1, 0)
    packed = b"".join(struct.pack("<2I6Q", 1, 6, 4096, address, 0, size, size, 1) for address, size in headers)
    return header + packed + struct.pack("<2I4Q2I2Q", 0, 0, 0, 0, 0, 0, 0, extended, 0, 0)


def test_program_headers_as_bad_as_may_be(gdb, front_folder):
    """More than 16 bits can count, and those of hostile or cut files: no exception but those that read_core() expects."""
    many = [(8192 * number, 4096) for number in range(1, 70001)]
    files = {
        "many": elf(0xFFFF, 70000, headers=many),
        "empty": b"",
        "text": b"not an ELF file\n" * 20,
        "cut header": elf(1)[:50],
        "cut table": elf(2, headers=many[:2])[:170],
        "32 bit": b"\x7fELF\x01\x01" + bytes(100),
        "no table": elf(1, table=2**63),
        "no sections": elf(0xFFFF, headers=many[:3])[:232],
        "billions": elf(0xFFFF, 2**32 - 1, headers=many[:2]),
        "odd size": elf(1, entry_size=57, headers=many[:2]),
        "around the end": elf(1, headers=[(2**64 - 4096, 2**64 - 1)]),
    }
    (front_folder.host / "elf").mkdir(exist_ok=True)
    for name, content in files.items():
        (front_folder.host / "elf" / name).write_bytes(content)
    script = front_folder.host / "segments.py"
    script.write_text(
        "import os, struct, sys\nfrom pyasync_gdb import memory_map\n"
        f"for name in {list(files)}:\n"
        "    try:\n"
        f"        print(name, len(list(memory_map._loaded_segments(os.path.join({gdb.path('elf')!r}, name)))), sep=': ')\n"
        "    except (OSError, ValueError, struct.error) as error:\n"
        "        print(name, type(error).__name__, sep=': ')\n"
    )
    done = gdb.batch(*gdb.source(), "-x", gdb.path("segments.py"))
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert dict(line.split(": ") for line in done.stdout.splitlines()) == {
        "many": "70000", "empty": "0", "text": "0", "cut header": "error", "cut table": "error", "32 bit": "0",
        "no table": "ValueError", "no sections": "error", "billions": "error", "odd size": "0", "around the end": "1",
    }  # fmt: skip


def test_ranges_of_a_process(on_process, process):
    expected = {}
    with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            addresses, permissions, _, _, inode, *_ = [*line.split(), ""]
            start, end = (int(number, 16) for number in addresses.split("-"))
            flags = ({"writable"} if permissions[1] == "w" else set()) | ({"file"} if inode != "0" else set())
            if permissions[0] == "r":
                expected[start] = (end, 0, flags)
    (text,) = on_process("ranges")
    assert ranges(text) == expected


FORGED = 0x1230000
MAPS_A_FORGED_NAME = f"""
import mmap, tempfile, time
with tempfile.NamedTemporaryFile(suffix="\\r{FORGED:x}-{FORGED + 4096:x} rw-p 00000000 00:00 0") as file:
    file.truncate(4096)
    memory = mmap.mmap(file.fileno(), 4096)
    print("ready", flush=True)
    time.sleep(60)
"""


def test_no_name_of_a_file_forges_a_range(gdb, running):
    with running("python3.15", "-c", MAPS_A_FORGED_NAME) as process:
        assert f"\r{FORGED:x}-" in pathlib.Path(f"/proc/{process.pid}/maps").read_bytes().decode()
        (text,) = gdb.run(["py-async-bt --in ranges"], *gdb.on_process(process.pid), *gdb.source())
    assert len(ranges(text)) > 10 and FORGED not in ranges(text), text


def threads(text):
    pattern = r'^thread (\d+)( selected)? lwp (\d+) id 0x([0-9a-f]+) "(.*)"$'
    return [(int(m[1]), bool(m[2]), int(m[3]), int(m[4], 16), m[5]) for m in re.finditer(pattern, text, re.M)]


@pytest.mark.parametrize("where", ["core", "process"])
def test_threads(gdb, core, process, where):
    arguments = gdb.on_core(core) if where == "core" else gdb.on_process(process.pid)
    ask = "py-async-bt --in threads"
    # pthread_self() is stored in the thread's own control block, at offset 16.
    own = 'thread apply all -q printf "self %lx\\n", *(long *)($fs_base + 16)'
    first, selves, _, second = gdb.run([ask, own, "thread 3", ask], *arguments, *gdb.source())
    listed = threads(first)
    assert [number for number, *_ in listed] == [1, 2, 3]
    assert [number for number, selected, *_ in listed if selected] == [1]
    assert [number for number, selected, *_ in threads(second) if selected] == [3]
    assert sorted(thread[3] for thread in listed) == sorted(int(m, 16) for m in re.findall(r"self ([0-9a-f]+)", selves))
    if where == "process":
        tids = sorted(int(path.name) for path in Path(f"/proc/{process.pid}/task").iterdir())
        assert sorted(thread[2] for thread in listed) == tids
        assert listed[0][4].startswith("python3.15")


def elf_symbol(name):
    """Its address in the executable, which is not position independent."""
    text = readelf("--dyn-syms", PYTHON)
    return int(re.search(rf" *\d+: ([0-9a-f]+) .* {name}$", text, re.M)[1], 16)


def test_symbols(on_core):
    runtime, coroutine, static, missing = on_core(
        "symbol _PyRuntime", "symbol PyCoro_Type", "symbol _PyAsyncGenAThrow_Type", "symbol no_such", debug_files=True
    )
    assert runtime == f"symbol 0 {elf_symbol('_PyRuntime'):#x}\n"
    assert coroutine == f"symbol 0 {elf_symbol('PyCoro_Type'):#x}\n"
    assert re.fullmatch(r"symbol 0 0x[0-9a-f]{6,}\n", static)  # from the debug file only
    assert missing == "symbol 1 0x0\n"


def test_symbols_at_an_address(on_core):
    address = elf_symbol("PyCoro_Type")
    here, inside, another, nowhere = on_core(
        f"at {address:#x} PyCoro_Type", f"at {address + 8:#x} PyCoro_Type", f"at {address:#x} PyGen_Type", "at 0x8 PyCoro_Type"
    )
    assert (here, inside, another, nowhere) == ("at 0\n", "at 1\n", "at 1\n", "at 1\n")


def test_symbols_of_a_stripped_file_in_any_language(gdb, front_folder, core):
    """Only .dynsym is left; and the user's own language may not know C's quotes."""
    stripped = front_folder.host / "stripped-python"
    if not stripped.exists():
        subprocess.run(["objcopy", "--strip-all", "--remove-section=.gnu_debuglink", "--remove-section=.note.gnu.build-id",
                        str(PYTHON), str(stripped)], check=True)  # fmt: skip
    for language in ("ada", "rust", "minimal"):
        lines = [f"set language {language}", "py-async-bt --in 'symbol _PyRuntime'", "show language"]
        _, found, shown = gdb.run(lines, gdb.path("stripped-python"), gdb.path(core), *gdb.source())
        assert found == f"symbol 0 {elf_symbol('_PyRuntime'):#x}\n"
        assert f'"{language}"' in shown


def test_sections(on_core):
    text = readelf("--sections", PYTHON)
    expected = {m[1]: int(m[2], 16) for m in re.finditer(r"\] (\.\S+) +PROGBITS +([0-9a-f]+)", text)}
    runtime, asyncio, missing = on_core("section .PyRuntime", "section .AsyncioDebug", "section .NoSuch")
    assert runtime == f"section 1 {expected['.PyRuntime']:#x} 0x0\n"
    assert asyncio == f"section 1 {expected['.AsyncioDebug']:#x} 0x0\n"
    assert missing == "section 0 0x0 0x0\n"


def test_member_offsets(on_core):
    """From the debug file; the numbers are python3.15's own."""
    nested, plain, char, no_member, no_type = on_core(
        "member TaskObj task_node.next", "member TaskObj task_coro", "member PyGenObject gi_frame_state",
        "member TaskObj task_nothing", "member NoSuchType x", debug_files=True,
    )  # fmt: skip
    assert nested == "member 152\n"
    assert plain == "member 128\n"
    assert char == "member 67\n"
    assert no_member == "member -1\n"
    assert no_type == "member -1\n"


def test_members_of_anonymous_structures(on_core):
    """PyObject's ob_refcnt is in an anonymous union (3.14 and later); ob_type stands behind it."""
    refcount, kind = on_core("member PyObject ob_refcnt", "member PyObject ob_type", debug_files=True)
    assert (refcount, kind) == ("member 0\n", "member 8\n")


def test_memory(gdb, process):
    text, hole, symbol = gdb.run(
        ["py-async-bt --in 'bytes 400000'", "py-async-bt --in 'bytes 10'", "py-async-bt --in 'symbol _PyRuntime'"],
        *gdb.on_process(process.pid), *gdb.source(),
    )  # fmt: skip
    assert text == "bytes 0 7f 45 4c\n"  # the ELF header
    assert hole == "bytes 1 00 00 00\n"
    assert symbol.startswith("symbol 0 0x")


def test_facts_of_a_core(gdb, on_core, core):
    (text,) = on_core("target")
    path, executable = gdb.path(core), gdb.root_path("/usr/bin/python3.15")
    version = {13: "13.1", 18: "18.1"}[gdb.version]
    expected = f"core core_path {path} core_name {path} executable {executable} signal SIGABRT debugger {version} pid "
    assert expected in text


def test_the_signal_of_a_core_from_any_thread(gdb, core):
    _, text = gdb.run(["thread 3", "py-async-bt --in target"], *gdb.on_core(core), *gdb.source())
    assert " signal SIGABRT " in text


def test_core_paths_with_blanks_and_quotes(gdb, front_folder, core):
    folder = front_folder.host / "it's a `folder'"
    folder.mkdir(exist_ok=True)
    (folder / "core 1").unlink(missing_ok=True)
    (folder / "core 1").hardlink_to(front_folder.host / core)
    path = gdb.path("it's a `folder'", "core 1")
    (text,) = gdb.run(["py-async-bt --in target"], gdb.root_path("/usr/bin/python3.15"), path, *gdb.source())
    assert f" core_path {path} core_name {path} executable " in text


def test_facts_of_a_process(gdb, on_process, process):
    (text,) = on_process("target")
    executable = gdb.root_path("/usr/bin/python3.15")
    assert f" live core_path - core_name - executable {executable} signal - " in text  # attached: nothing stopped it but GDB
    assert text.endswith(f" pid {process.pid}\n")


def test_the_signal_of_a_process_that_crashed_under_gdb(gdb, process):
    ask = "py-async-bt --in target"
    # The signal comes from the program itself, as in a crash. Outside the root, GDB 13 would not find the executable to `run`.
    lines = [f"shell kill -SEGV {process.pid}", "continue", ask, "thread 2", ask]
    *_, here, _, from_other_thread = gdb.run(lines, *gdb.on_process(process.pid), *gdb.source())
    assert " signal SIGSEGV " in here
    assert " signal SIGSEGV " in from_other_thread


def test_a_process_behind_gdbserver(gdb, process):
    """As GDB sees it itself; the server reads the process's files for it."""
    connect = f"target remote | gdbserver --once --attach - {process.pid}"
    asks = [f"py-async-bt --in {what}" for what in ("target", "threads", "ranges", "'section .PyRuntime'")]
    executable = gdb.root_path("/usr/bin/python3.15")
    facts, listed, memory, section = gdb.run([connect, *asks], executable, *gdb.source())[1:]
    direct = gdb.run(asks, *gdb.on_process(process.pid), *gdb.source())
    assert facts == direct[0]
    assert " live core_path - " in facts and " signal - " in facts
    # Names of threads and their order are the server's own.
    assert sorted(thread[2:4] for thread in threads(listed)) == sorted(thread[2:4] for thread in threads(direct[1]))
    assert len(threads(listed)) == 3 and all(thread[3] for thread in threads(listed))
    assert ranges(memory) == ranges(direct[2])
    assert section == direct[3] and section.startswith("section 1 0x")
