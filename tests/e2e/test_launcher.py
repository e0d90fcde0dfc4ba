"""The launcher gdb/pyasync: cores, folders of cores and processes."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import harness
import pytest

PYASYNC = [sys.executable, str(harness.PROJECT / "gdb/pyasync")]
PACKERS = {"zst": ["zstd", "-q"], "lz4": ["lz4", "-q"], "xz": ["xz", "-1"], "gz": ["gzip"]}


def pyasync(*words, **options):
    return harness.run([*PYASYNC, *map(str, words)], **options)


@pytest.fixture(scope="module")
def core():
    return harness.make_core("python3.15", "gather").core


@pytest.fixture(scope="module")
def plain(core):
    """What is said about that core, without the files of its process: GDB opens it faster."""
    done = pyasync(core)
    assert done.status == 0 and done.stderr == "", done
    assert "Task(name='Task-1', " in done.stdout and "in async deep()" in done.stdout, done
    return done.stdout


def pack(kind, core, packed):
    with core.open("rb") as source, packed.open("wb") as target:
        subprocess.run([*PACKERS[kind], "-c"], stdin=source, stdout=target, check=True)


def strange(folder, name="a \"b'$(c)\\ \x1b[31m"):
    """A folder whose name a shell, a GDB and a terminal would each misread."""
    (folder / name).mkdir()
    return folder / name


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_core_is_unpacked_and_leaves_nothing(kind, core, plain, scratch):
    packed, temporary = scratch / f"core.{kind}", scratch / "tmp"
    temporary.mkdir()
    pack(kind, core, packed)
    done = pyasync("--tmp", temporary, packed)
    assert done.status == 0 and done.stdout.replace(str(packed), str(core)) == plain, done
    assert not list(temporary.iterdir())


def test_cut_compressed_core_is_shown_as_far_as_it_goes(core, scratch):
    packed = scratch / "core.xz"
    pack("gz", core, packed)  # the first bytes tell, not the name
    os.truncate(packed, packed.stat().st_size * 3 // 4)
    done = pyasync(packed)
    assert done.status == 1, done
    assert " unpacks to " in done.stdout and "the compressed file is damaged or cut short" in done.stdout, done


def without_core(text):
    """The lines that do not name the core."""
    return [line for line in text.splitlines()[1:] if not line.startswith("Core ")]


def test_names_of_files_are_never_interpreted(core, plain, scratch):
    folder = strange(scratch)
    copy = folder / "co re\n"
    os.link(core, copy)
    done = pyasync(copy)
    assert done.status == 0, done
    assert without_core(done.stdout) == without_core(plain), done
    assert "\x1b" not in done.stdout, done


def test_folder_of_cores_and_what_is_none(core, scratch):
    """Cores are found by content; what is only called so is named; other files are passed over."""
    for name in ("core.1", "other", "core.2.zst"):
        pack("zst", core, scratch / name) if name.endswith("zst") else os.link(core, scratch / name)
    (scratch / "core.3").touch()
    (scratch / "notes").write_text("no core\n")
    done = pyasync("-j", "2", scratch)
    assert done.status == 1, done
    assert done.stdout.startswith("4 targets: ") and "1 could not be read" in done.stdout.splitlines()[0], done
    assert f"{scratch}/core.3 is an empty file" in done.stdout and "notes" not in done.stdout, done


def test_json_and_folder_of_reports(core, scratch):
    done = pyasync("--json", "--output", scratch / "out", core, scratch / "missing")
    assert done.status == 1, done
    good, bad = map(json.loads, done.stdout.splitlines())
    assert good["complete"] and good["error"] is None and len(good["report"]["tasks"]) == 3
    assert bad["report"] is None and "No such file" in bad["error"]
    files = sorted(path.name for path in (scratch / "out").iterdir())
    assert files == ["001-core.json", "001-core.txt", "002-missing.json"]
    assert all(path.stat().st_mode & 0o77 == 0 for path in (scratch / "out").iterdir())


def test_exit_status_of_what_cannot_be(scratch):
    (scratch / "empty").mkdir()
    for words, status, text in (
        ([], 64, "needs a core file, a folder of cores or the number of a process"),
        (["--unknown"], 64, "unrecognized arguments: --unknown"),
        (["--source-path", "x", "core"], 64, "needs FROM=TO"),
        (["--run"], 64, "--run needs a command"),
        (["--timeout", "3", "core"], 64, "--timeout goes with --run"),
        (["--cores", "/tmp", "core"], 64, "--cores goes with --run"),
        (["--tmp", "/no/such", "core"], 64, "--tmp: /no/such is no folder that is there: make it first"),
        ([scratch / "no\x1bfile"], 2, "no\\x1bfile cannot be read: No such file or directory"),
        ([scratch / "empty"], 2, "has no core file in it"),
        (["/bin/true"], 2, "is no core file but a program or library"),
        ([__file__], 2, "is no core file"),
        (["4194304"], 2, "process 4194304 is no process"),
        (["--gdb", "/no/gdb", "1"], 2, "install gdb (not gdb-minimal, which has no Python)"),
    ):
        done = pyasync(*words)
        assert done.status == status and text in done.stdout + done.stderr, done
        assert len((done.stdout + done.stderr).splitlines()) == 1, done


def test_source_lines_from_where_the_sources_are(core, scratch):
    """The process had its program at a path that is not here."""
    moved = strange(scratch)
    (moved / "gather.py").write_bytes((harness.HERE / "scenarios/gather.py").read_bytes())
    done = pyasync("--source-path", f"{harness.inside(harness.PLACE)}/scenarios={moved}", core)
    assert done.status == 0 and "await asyncio.gather(" in done.stdout, done
    assert "await asyncio.gather(" not in pyasync(core).stdout


def test_gdb_without_python_is_named(core, scratch):
    minimal = scratch / "gdb"
    minimal.write_text("#!/bin/sh\necho 'Python scripting is not supported in this copy of GDB.' >&2\n")
    minimal.chmod(0o755)
    done = pyasync("--gdb", minimal, core)
    assert done.status == 2 and done.stderr == f"pyasync: {minimal} has no Python: install gdb, not gdb-minimal\n", done


def test_time_limit(core, scratch):
    slow = scratch / "gdb"
    slow.write_text("#!/bin/sh\nexec sleep 100\n")
    slow.chmod(0o755)
    begin = time.monotonic()
    done = pyasync("--gdb", slow, "--time-limit", "0.5", core)
    assert done.status == 2 and "took longer than 0.5 s" in done.stdout and time.monotonic() - begin < 5, done


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_interrupted_it_leaves_nothing(number, core, scratch):
    slow, packed, temporary = scratch / "gdb", scratch / "core.zst", scratch / "tmp"
    slow.write_text(f"#!/bin/sh\necho $$ > {scratch}/pid\nexec sleep 100\n")
    slow.chmod(0o755)
    pack("zst", core, packed)
    temporary.mkdir()
    with subprocess.Popen([*PYASYNC, "--gdb", str(slow), "--tmp", str(temporary), str(packed)]) as process:
        while not (scratch / "pid").exists() or not (scratch / "pid").read_text():
            time.sleep(0.01)
        (folder,) = temporary.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700 and (folder / "core").stat().st_mode & 0o77 == 0
        process.send_signal(number)
        assert process.wait(10) == 128 + number
    assert not list(temporary.iterdir())
    assert not os.path.exists(f"/proc/{(scratch / 'pid').read_text().strip()}")


def test_no_room_to_unpack(core, scratch):
    if os.geteuid() != 0:
        pytest.fail("mounts a small file system: run as root")
    pack("zst", core, scratch / "core.zst")
    (scratch / "small").mkdir()
    mount = f"mount -t tmpfs -o size=1m none {scratch}/small && exec {shlex.join(PYASYNC)} --tmp {scratch}/small {scratch}/core.zst"
    done = harness.run(["unshare", "--mount", "sh", "-c", mount])
    assert done.status == 2 and "MB to be unpacked, and " in done.stdout and "--tmp DIR" in done.stdout, done


def test_only_new_cores_of_a_folder(core, scratch):
    for name in ("old.core", "mark", "new.core"):
        (scratch / name).write_bytes(core.read_bytes() if name.endswith("core") else b"")
        time.sleep(0.02)
    done = pyasync("--json", "--newer", scratch / "mark", scratch)
    assert done.status == 0 and [json.loads(line)["target"] for line in done.stdout.splitlines()] == [f"{scratch}/new.core"], done
    (scratch / "new.core").unlink()
    done = pyasync("--newer", scratch / "mark", scratch)
    assert (done.status, done.stdout, done.stderr) == (0, "", ""), done


def test_the_program_of_a_script_is_found(scratch):
    """A script with #! in the folder of a virtual environment, whose interpreter is a link: neither is an executable to GDB."""
    (scratch / "bin").mkdir()
    (scratch / "bin/python").symlink_to("/usr/bin/python3.15")
    script = scratch / "bin/tool"
    program = "import asyncio, os\nasync def main():\n    os.abort()\nasyncio.run(main())\n"
    script.write_text(f"#!{harness.inside(scratch)}/bin/python\n{program}")
    script.chmod(0o755)
    folder = scratch / "core-folder"
    harness.dump_core(harness.in_root("env", "-i", "-C", harness.inside(folder), harness.inside(script)), folder)
    done = pyasync("--sysroot", harness.ROOT, folder / "core")
    assert done.status == 0 and "without its executable" not in done.stdout and "in async main()" in done.stdout, done
    assert "os_abort()" in done.stdout, done  # a function of the executable's own


HOSTILE = "print('executed'); open('{file}', 'w')"


def test_nothing_of_the_target_is_executed(core, scratch):
    """Scripts in all places where GDB looks for some: in the executable, beside it, in the folder it is started in, at home."""
    trap = HOSTILE.format(file=scratch / "executed")
    root = scratch / "root"
    (root / "usr/bin").mkdir(parents=True)
    (scratch / "section").write_bytes(b"\x04gdb.inlined-script\n" + trap.encode() + b"\n\0")
    section = ".debug_gdb_scripts"
    add = ["--add-section", f"{section}={scratch}/section", "--set-section-flags", f"{section}=readonly"]
    subprocess.run(["objcopy", *add, str(harness.ROOT / "usr/bin/python3.15"), str(root / "usr/bin/python3.15")], check=True)
    (root / "usr/bin/python3.15-gdb.py").write_text(trap)
    (root / "usr/bin/python3.15-gdb.gdb").write_text(f"python {trap}\n")
    for name in (".gdbinit", ".gdbearlyinit"):
        (scratch / name).write_text(f"python {trap}\n")
    done = pyasync("--sysroot", root, core, env={**os.environ, "HOME": str(scratch)}, cwd=scratch)
    assert "Task(name='Task-1', " in done.stdout and "without its executable" not in done.stdout, done
    assert not (scratch / "executed").exists(), done
    # The trap is one: a GDB that trusts the executable steps into it.
    trusting = ["gdb", "-nx", "-batch", "-iex", "set auto-load safe-path /", str(root / "usr/bin/python3.15")]
    subprocess.run(trusting, capture_output=True)
    assert (scratch / "executed").exists()
