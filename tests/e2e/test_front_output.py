"""Where the result goes: --output and what it leaves behind; styles only where they show."""

import os
import re
import stat
import subprocess
import threading

import pytest

pytest_plugins = "front_gdb"

REQUEST = "command 0 format 0 flags 0 thread -1 limit 0 frames 0 depth 0 state -\n"


@pytest.fixture
def run(gdb, core):
    return lambda *lines: gdb.run(lines, *gdb.on_bare_core(core), *gdb.source())


@pytest.fixture
def folder(front_folder, request):
    """An empty folder, named as GDB sees it by place(name)."""
    host = front_folder.host / "output"
    host.mkdir()
    yield host
    for path in host.iterdir():
        path.unlink()
    host.rmdir()


def one_line(text):
    assert len(text.strip().splitlines()) == 1, text
    assert "Traceback" not in text and "internal error" not in text
    return text.replace("❌️ ", "").strip()


def test_a_file(gdb, run, folder):
    (printed,) = run(f"py-async-bt --output {gdb.path('output', 'new')}")
    assert printed == ""
    assert [path.name for path in folder.iterdir()] == ["new"]
    assert (folder / "new").read_text() == REQUEST
    assert stat.S_IMODE((folder / "new").stat().st_mode) == 0o600


def test_a_file_that_exists_is_replaced_not_written_over(gdb, run, folder):
    (folder / "old").write_text("old")
    (folder / "old").chmod(0o644)
    (folder / "other name").hardlink_to(folder / "old")
    run(f"py-async-bt --output={gdb.path('output', 'old')}")
    assert (folder / "old").read_text() == REQUEST
    assert stat.S_IMODE((folder / "old").stat().st_mode) == 0o600
    assert (folder / "other name").read_text() == "old"


def test_a_failed_command_leaves_no_trace(gdb, run, folder):
    (folder / "old").write_text("old")
    (message,) = run(f"py-async-bt --in fail --output {gdb.path('output', 'old')}")
    assert one_line(message) == "nothing here: tried this, do that"
    assert [path.name for path in folder.iterdir()] == ["old"]
    assert (folder / "old").read_text() == "old"


def test_ctrl_c_leaves_no_trace(gdb, core, folder):
    with gdb.terminal("-ex", "set style enabled off", *gdb.on_bare_core(core), *gdb.source()) as child:
        # The first line of the fake goes to the file: wait for that file instead.
        child.sendline(f"py-async-bt --in spin --output {gdb.path('output', 'new')}")
        for _ in range(100):
            if list(folder.iterdir()):
                break
            threading.Event().wait(0.05)
        (temporary,) = folder.iterdir()
        assert temporary.name.startswith(".pyasync-")
        child.sendintr()
        child.expect_exact("Quit")
        child.expect_exact("(gdb) ")
    assert list(folder.iterdir()) == []


def test_relative_to_gdbs_own_folder(gdb, run, folder):
    _, printed = run(f"cd {gdb.path('output')}", "py-async-bt --output here")
    assert printed == ""
    assert (folder / "here").read_text() == REQUEST


def test_blanks_and_quotes(gdb, run, folder):
    run(f'py-async-bt --output "{gdb.path("output", "a name")}"')
    assert (folder / "a name").read_text() == REQUEST


@pytest.mark.parametrize(
    "path, says",
    [
        ("none/file", "No such file or directory"),
        ("", "Is a directory"),
        ("../core/file", "Not a directory"),
    ],
)
def test_what_cannot_be_written(gdb, run, folder, path, says):
    full = gdb.path("output") + "/" + path
    message, lives = run(f"py-async-bt --output {full}", "py-async-bt")
    assert one_line(message) == f"cannot write {full}: {says}"
    assert lives == REQUEST


def test_a_full_disk(run):
    message, lives = run("py-async-bt --output /dev/full", "py-async-bt")
    assert one_line(message) == "cannot write /dev/full: No space left on device"
    assert lives == REQUEST


def test_dev_null(run):
    assert run("py-async-bt --output /dev/null") == [""]


@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_not_truncated(gdb, core, front_folder, folder, path):
    """Standard output is a regular file here, as in many a CI job: what stands in it before and after stays."""
    command = gdb.command("-batch", *gdb.on_bare_core(core), *gdb.source(), "-ex", "echo before\\n",
                          "-ex", f"py-async-bt --output {path}", "-ex", "echo after\\n")  # fmt: skip
    with open(folder / "log", "wb") as log:
        subprocess.run(command, stdout=log, stderr=subprocess.DEVNULL, check=True)
    assert (folder / "log").read_text().endswith("before\n" + REQUEST + "after\n")


def test_a_descriptor_of_the_shell(gdb, core):
    """As in: gdb … -ex 'py-async-bt --output /dev/fd/N' N>… or bash's >(…)."""
    reader, writer = os.pipe()
    command = gdb.command("-batch", *gdb.on_bare_core(core), *gdb.source(), "-ex", f"py-async-bt --output /dev/fd/{writer}")
    done = subprocess.run(command, pass_fds=[writer], capture_output=True, text=True, check=True)
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert stream.read() == REQUEST
    assert "command 0" not in done.stdout


def test_a_reader_that_has_gone(gdb, core):
    reader, writer = os.pipe()
    os.close(reader)
    command = gdb.command("-batch", *gdb.on_bare_core(core), *gdb.source(), "-ex", f"py-async-bt --output /dev/fd/{writer}")
    done = subprocess.run(command, pass_fds=[writer], capture_output=True, text=True, check=False)
    os.close(writer)
    assert done.returncode == 1
    assert f"cannot write /dev/fd/{writer}: Broken pipe" in done.stderr


def test_a_fifo(gdb, run, folder):
    os.mkfifo(folder / "fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append((folder / "fifo").read_text()))
    reader.start()
    run(f"py-async-bt --output {gdb.path('output', 'fifo')}")
    reader.join(10)
    assert read == [REQUEST]
    assert stat.S_ISFIFO((folder / "fifo").stat().st_mode)


# ---- styles


def styled(gdb, core, *lines, environment=None):
    """What GDB on a terminal sends for the last line."""
    arguments = [*gdb.on_bare_core(core), *gdb.source()]
    with gdb.terminal(*arguments, environment=environment) as child:
        for line in lines:
            child.sendline(line)
            child.expect_exact("(gdb) ")
        return child.before.partition("\n")[2]


STYLES = "py-async-bt --in styles"


def test_styles_on_a_terminal(gdb, core):
    text = styled(gdb, core, STYLES)
    assert re.search(r"[\r\n]styled\r", text)  # the plain one
    # GDB's own colours for functions (yellow), file names (green), variables (cyan) and addresses (blue).
    for color in ("33", "32", "36", "34"):
        assert f"\x1b[{color}" in text
    assert styled(gdb, core, "py-async-bt").count("flags 32 ") == 1  # PA_REQUEST_STYLED


def test_the_users_own_colours(gdb, core):
    text = styled(gdb, core, "set style function foreground magenta", "set style function intensity bold", STYLES)
    assert "\x1b[33" not in text
    assert "\x1b[35;1m" in text or "\x1b[35;49;1;" in text


@pytest.mark.parametrize(
    "lines, environment",
    [
        (["set style enabled off", STYLES], {}),
        ([STYLES], {"NO_COLOR": "1"}),
        ([STYLES], {"TERM": "dumb"}),
        ([f"pipe {STYLES} | cat"], {}),
        ([f"python print(gdb.execute('{STYLES}', to_string=True), end='')"], {}),
        ([f"{STYLES} --json"], {}),
    ],
    ids=["off", "NO_COLOR", "dumb", "pipe", "to_string", "json"],
)
def test_no_styles(gdb, core, lines, environment):
    text = styled(gdb, core, *lines, environment=environment)
    assert text.count("styled") == 8  # one for each style
    assert "\x1b[3" not in text and "\x1b[1m" not in text and "\x1b[m" not in text


def test_no_styles_in_a_log(gdb, core, folder):
    done = gdb.batch("-ex", "set style enabled on", *gdb.on_bare_core(core), *gdb.source(), "-ex", STYLES)
    assert done.stdout.count("styled") == 8
    assert "\x1b" not in done.stdout


def test_utf_8_in_any_locale(gdb, core):
    """The library prints UTF-8, in pieces of any length; a C locale must not end the command."""
    done = gdb.batch(*gdb.on_bare_core(core), *gdb.source(), "-ex", "py-async-bt --in utf-8", environment={"LC_ALL": "C"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("naïve…\n")
