"""`source pyasync.py`: from anywhere, twice, after an update, and with a library that is missing or does not fit."""

import re
import shutil

import harness
import pytest

pytest_plugins = "front_gdb"


@pytest.fixture
def copy(front_folder):
    """A fresh copy of the folder gdb/ in the scratch folder, with no library yet."""
    front_folder.copy_front("copy of gdb")
    yield front_folder.host / "copy of gdb"
    shutil.rmtree(front_folder.host / "copy of gdb")


@pytest.fixture
def fitting(front_folder, copy):
    front_folder.build_fake("copy of gdb")
    return copy


SOURCE = "source {}/pyasync.py"


def test_a_copy_elsewhere_works(gdb, core, fitting):
    source = SOURCE.format(gdb.path("copy of gdb"))
    printed, answer = gdb.run([source, "py-async-bt"], *gdb.on_bare_core(core))
    assert printed == ""
    assert answer.startswith("command 0")


@pytest.mark.parametrize("how", ["-x", "relative", "symbolic link", "home", "from a script"])
def test_ways_to_source_it(gdb, core, front_folder, fitting, how):
    folder = gdb.path("copy of gdb")
    if how == "-x":
        done = gdb.batch(*gdb.on_bare_core(core), "-x", f"{folder}/pyasync.py", "-ex", "py-async-bt")
    elif how == "relative":
        move = ["-ex", f"cd {folder}", "-ex", "source pyasync.py", "-ex", "cd /"]
        done = gdb.batch(*gdb.on_bare_core(core), *move, "-ex", "py-async-bt")
    elif how == "symbolic link":
        link = front_folder.host / "link.py"
        link.symlink_to("copy of gdb/pyasync.py")
        done = gdb.batch(*gdb.on_bare_core(core), "-ex", f"source {gdb.path('link.py')}", "-ex", "py-async-bt")
        link.unlink()
    elif how == "from a script":
        script = front_folder.host / "script.py"
        script.write_text(f"import gdb\ngdb.execute('source {folder}/pyasync.py')\ngdb.execute('py-async-bt')\n")
        done = gdb.batch(*gdb.on_bare_core(core), "-x", gdb.path("script.py"))
    else:
        home = {"HOME": gdb.path()}
        done = gdb.batch(*gdb.on_bare_core(core), "-ex", "source ~/copy of gdb/pyasync.py", "-ex", "py-async-bt", environment=home)
    assert done.returncode == 0, done.stderr
    assert "command 0 " in done.stdout


def test_twice(gdb, core, fitting):
    source = SOURCE.format(gdb.path("copy of gdb"))
    lines = [source, "py-async-bt --in target", source, "py-async-bt --in target", "core", "py-async-bt --in target"]
    outputs = gdb.run(lines, *gdb.on_bare_core(core))
    assert outputs[0] == outputs[2] == ""
    assert outputs[1].startswith("session 1 ")
    assert outputs[3].startswith("session 2 ")  # the first one's was let go
    assert "no process and no core" in outputs[5]


def test_after_an_update(gdb, core, fitting):
    """Both the package and the entry are the new ones, without leaving GDB."""
    source = SOURCE.format(gdb.path("copy of gdb"))
    file = gdb.path("copy of gdb", "pyasync_gdb", "commands.py")
    edit = f"shell sed -i 's/Print the asyncio call graph/Print the NEW call graph/' '{file}'"
    lines = [source, "help py-async-bt", edit, source, "help py-async-bt", "py-async-bt"]
    _, old, _, _, new, answer = gdb.run(lines, *gdb.on_bare_core(core))
    assert "Print the asyncio call graph" in old
    assert "Print the NEW call graph" in new
    assert answer.startswith("command 0")


def test_another_copy_takes_over(gdb, core, fitting):
    where = "python import pyasync_gdb; print(pyasync_gdb.__file__)"
    lines = ["py-async-bt", SOURCE.format(gdb.path("copy of gdb")), where, "py-async-bt"]
    first, _, place, second = gdb.run(lines, *gdb.on_bare_core(core), *gdb.source())
    assert first.startswith("command 0") and second.startswith("command 0")
    assert gdb.path("copy of gdb") in place


def test_gdbs_own_module_is_not_shadowed(gdb, front_folder):
    """The working folder has a folder `gdb`, as a checkout has; and the user's sys.path is as it was."""
    lines = [
        "python import sys; before = list(sys.path)",
        f"source {gdb.path('gdb', 'pyasync.py')}",
        "python import gdb, gdb.printing, gdb.types; print(gdb.printing.__file__, gdb.VERSION)",
        "python print(sys.path == before)",
    ]
    _, printed, module, path = gdb.run(lines, "-ex", f"cd {gdb.path()}")
    assert printed == ""
    assert "/usr/share/gdb/" in module
    assert path == "True\n"


def one_line(text):
    assert len(text.strip().splitlines()) == 1, text
    return text.replace("❌️ ", "").strip()


def test_library_missing_until_it_is_built(gdb, core, front_folder, copy):
    place = gdb.path("copy of gdb", "pyasync_gdb", "libpyasync.so")
    build = f"shell cp {gdb.path('gdb', 'pyasync_gdb', 'libpyasync.so')} '{place}'"
    sourced, failed, _, works = gdb.run(
        [SOURCE.format(gdb.path("copy of gdb")), "py-async-bt", build, "py-async-bt"], *gdb.on_bare_core(core)
    )
    for message in (sourced, failed):
        assert one_line(message).startswith(f"pyasync: {place} is missing: copy the whole folder gdb/ of a built pyasync again")
    assert works.startswith("command 0")


def test_library_missing_in_a_checkout(gdb, front_folder, copy):
    """There it can be made."""
    checkout = front_folder.host / "checkout"
    (checkout / "src").mkdir(parents=True)
    (checkout / "src" / "pyasync.h").touch()
    shutil.copytree(copy, checkout / "gdb")
    done = gdb.batch("-ex", SOURCE.format(gdb.path("checkout", "gdb")), "-ex", "py-async-bt")
    shutil.rmtree(checkout)
    assert done.returncode == 1
    assert done.stderr.count(f"libpyasync.so is missing: run `make` in {gdb.path('checkout')}\n") == 2


def test_library_of_another_version(gdb, core, front_folder, copy):
    """The number that the front needs is the one of the library's header."""
    front_folder.build_fake("copy of gdb", abi_version=99)
    (needed,) = re.findall(r"^#define PA_ABI_VERSION (\d+)$", (harness.PROJECT / "src/pyasync.h").read_text(), re.MULTILINE)
    sourced, failed = gdb.run([SOURCE.format(gdb.path("copy of gdb")), "py-async-bt"], *gdb.on_bare_core(core))
    for message in (sourced, failed):
        assert f"libpyasync.so has interface version 99, these commands need {needed}: " in one_line(message)


@pytest.mark.parametrize("content", [b"", b"not an ELF file\n" * 100])
def test_library_that_is_none(gdb, core, copy, content):
    (copy / "pyasync_gdb" / "libpyasync.so").write_bytes(content)
    sourced, failed = gdb.run([SOURCE.format(gdb.path("copy of gdb")), "py-async-bt"], *gdb.on_bare_core(core))
    for message in (sourced, failed):
        assert one_line(message).startswith("pyasync: cannot load ")
