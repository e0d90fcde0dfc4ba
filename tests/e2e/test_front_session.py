"""A session lives exactly as long as the target stands still and is read in the same way."""

import pytest

pytest_plugins = "front_gdb"

COUNT = "py-async-bt --in target"


def sessions(outputs):
    """The numbers of the sessions that answered (the fake counts them)."""
    return [int(output.split()[1]) for output in outputs if output.startswith("session ")]


@pytest.fixture
def on_core(gdb, core):
    return lambda *lines: sessions(gdb.run(lines, *gdb.on_bare_core(core), *gdb.source()))


@pytest.fixture
def on_process(gdb, process):
    return lambda *lines: sessions(gdb.run(lines, *gdb.on_process(process.pid), *gdb.source()))


def test_commands_share_a_session(on_core):
    assert on_core(COUNT, "bt", "info threads", "thread 2", "frame 1", "print 1", COUNT, "py-async-info --json", COUNT) == [1, 1, 1]


@pytest.mark.parametrize(
    "change",
    [
        "symbol-file",
        "file /bin/true",
        "sharedlibrary",  # loads nothing new
    ],
)
def test_object_files(gdb, core, change):
    arguments = [*gdb.on_core(core), *gdb.source()]
    outputs = gdb.run([COUNT, change, COUNT], *arguments)
    assert sessions(outputs) == ([1, 1] if change == "sharedlibrary" else [1, 2])


def test_another_core(gdb, core, on_core):
    assert on_core(COUNT, f"core {gdb.path(core)}", COUNT) == [1, 2]


def test_core_closed(gdb, core):
    first, _, second = gdb.run([COUNT, "core", COUNT], *gdb.on_bare_core(core), *gdb.source())
    assert first.startswith("session 1 ")
    assert "no process and no core" in second


def test_another_inferior(gdb, core, on_core):
    found = on_core(COUNT, "add-inferior -no-connection", "inferior 2", f"core {gdb.path(core)}", COUNT, "inferior 1", COUNT, COUNT)
    assert found[0] == 1 and found[1] == 2  # its own session
    assert found[2] == found[3]


@pytest.mark.parametrize(
    "change",
    [
        "stepi",
        "set var *(char *)&_Py_NoneStruct = *(char *)&_Py_NoneStruct",
        "set var $rax = $rax",
        "call (int)Py_IsInitialized()",
    ],
)
def test_a_process_that_changed(on_process, change):
    assert on_process(COUNT, COUNT, change, COUNT) == [1, 1, 2]


def test_detached(gdb, process):
    first, _, second = gdb.run([COUNT, "detach", COUNT], *gdb.on_process(process.pid), *gdb.source())
    assert first.startswith("session 1 live ")
    assert "no process and no core" in second


def test_how_to_read_is_part_of_it(on_core):
    no_map, exhaustive = f"{COUNT} --no-map", f"{COUNT} --exhaustive"
    assert on_core(COUNT, no_map, no_map, COUNT, exhaustive, exhaustive) == [1, 2, 2, 3, 4, 4]


def test_no_map_gives_the_library_no_path(gdb, core):
    mapped, unmapped = gdb.run([COUNT, f"{COUNT} --no-map"], *gdb.on_bare_core(core), *gdb.source())
    assert f" core core_path {gdb.path(core)} core_name {gdb.path(core)} " in mapped
    assert f" core core_path - core_name {gdb.path(core)} " in unmapped


def test_a_failed_command_drops_it(on_core):
    """The library may have stopped anywhere in its walk."""
    assert on_core(COUNT, "py-async-bt --in fail", COUNT) == [1, 2]


def test_a_wrong_command_line_does_not(on_core):
    assert on_core(COUNT, "py-async-bt --nope", "py-async-bt &nothing", COUNT) == [1, 1]


def test_completion_takes_the_session_that_is_there(on_core):
    """Whatever it was made for: what maps a core could end GDB where the user has said --no-map."""
    assert on_core(f"{COUNT} --no-map", "complete py-async-bt wor", f"{COUNT} --no-map") == [1, 1]
    assert on_core("complete py-async-bt --no-map wor", f"{COUNT} --no-map", COUNT) == [1, 2]


def test_what_cannot_be_written_leaves_it_alone(on_core):
    assert on_core(COUNT, "py-async-bt --output /no/folder/file", COUNT) == [1, 1]
