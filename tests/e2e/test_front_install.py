"""`make install` and `make uninstall`, and the product used from where it was installed."""

import shutil
import stat
import subprocess
import sys

import pytest
from harness import PROJECT

pytest_plugins = "front_gdb"

INSTALLED = "opt/my tools/share/pyasync"


def make(target, destination):
    """Without a build, which another test process could be in the middle of: `make check` has built before."""
    library = "gdb/pyasync_gdb/libpyasync.so"
    command = ["make", "-s", "-C", str(PROJECT), "-o", library, target, f"DESTDIR={destination}", "PREFIX=/opt/my tools"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


@pytest.fixture
def destination(front_folder):
    yield front_folder.host / "a destination"
    shutil.rmtree(front_folder.host / "a destination")


def test_all_that_is_needed_is_installed(destination):
    printed = make("install", destination)
    assert "source /opt/my tools/share/pyasync/pyasync.py" in printed
    source = PROJECT / "gdb"
    programs = {"pyasync", "pyasync_gdb/libpyasync.so"}
    expected = {str(path.relative_to(source)) for path in source.rglob("*.py")} | programs
    assert files(destination / INSTALLED) == expected
    for name in expected:
        mode = stat.S_IMODE((destination / INSTALLED / name).stat().st_mode)
        assert mode == (0o755 if name in programs else 0o644), name


def test_the_launcher_works_from_where_it_was_installed(core, destination, front_folder):
    make("install", destination)
    program = destination / "opt/my tools/bin/pyasync"
    done = subprocess.run([sys.executable, str(program), str(front_folder.host / core)], capture_output=True, text=True)
    assert done.returncode == 0 and "Task(name='Task-1', " in done.stdout, done
    assert not list(destination.rglob("__pycache__"))
    make("uninstall", destination)
    assert files(destination) == set()


def test_it_works_there_and_uninstall_leaves_nothing(gdb, core, destination):
    other = destination / "opt/my tools/share/other"
    other.mkdir(parents=True)
    (other / "file").touch()
    make("install", destination)
    place = gdb.path("a destination", INSTALLED, "pyasync.py")
    caches = {"PYTHONDONTWRITEBYTECODE": ""}  # Python leaves them, as it does for users
    done = gdb.batch(*gdb.on_bare_core(core), "-ex", f"source {place}", "-ex", "py-async-bt", environment=caches)
    assert done.returncode == 0, done.stderr
    assert "Task(name='Task-1', " in done.stdout and "in async main()" in done.stdout
    make("uninstall", destination)
    assert files(destination) == {"opt/my tools/share/other/file"}
    assert not (destination / INSTALLED).exists()
