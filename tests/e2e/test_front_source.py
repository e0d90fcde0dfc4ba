"""Where source lines come from: GDB's substitute-path, directory and sysroot, then the path itself. Sane files only."""

import os

import pytest

pytest_plugins = "front_gdb"


@pytest.fixture(scope="session")
def files(front_folder):
    """Source files whose first line says where they are."""
    base = front_folder.host / "sources"
    for name in ("plain/app/x.py", "moved/x.py", "root/srv/app/x.py", "search/srv/app/y.py", "search/z.py", "cwd/here.py"):
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\nsecond\n")
    (base / "plain/crlf.py").write_bytes(b"one\r\ntwo\x0cstill two\rthree\n\nfive")
    (base / "plain/bytes.py").write_bytes(b"caf\xe9 \xff\n" + "…".encode() * 20 + b"\n")
    (base / "plain/empty.py").write_bytes(b"")
    with open(base / "plain/huge.py", "wb") as huge:
        huge.truncate(1 << 30)
    os.mkfifo(base / "plain/fifo.py")
    return base


@pytest.fixture
def ask(gdb, core, files):
    """The line that the front finds, or None. Commands without `source` are GDB's own."""

    def run(*lines):
        commands = [f"py-async-bt --in '{line}'" if line.startswith("source ") else line for line in lines]
        outputs = gdb.run([f"set sysroot {gdb.path('nowhere')}", *commands], *gdb.on_bare_core(core), *gdb.source())[1:]
        answers = []
        for line, output in zip(lines, outputs):
            if line.startswith("source "):
                status, _, text = output.removeprefix("source ").rstrip("\n").partition(" ")
                answers.append(text[1:-1] if status == "0" else None)
        return answers

    return run


def test_the_path_itself(gdb, ask):
    path = gdb.path("sources", "plain/app/x.py")
    assert ask(*(f"source {path} {line}" for line in (1, 2, 3, 0, -1))) == ["plain/app/x.py", "second", None, None, None]


def test_missing(gdb, ask):
    assert ask(f"source {gdb.path('sources', 'plain')} 1", "source /no/such/file.py 1", "source no-such.py 1") == [None, None, None]


def test_substitute_path(gdb, ask):
    rule = f"set substitute-path /srv/app {gdb.path('sources', 'moved')}"
    found = ask("source /srv/app/x.py 1", rule, "source /srv/app/x.py 1", "source /srv/application/x.py 1")
    assert found == [None, "moved/x.py", None]


def test_directory(gdb, ask):
    """By the whole path below the folder, then by the base name, as GDB does."""
    search = f"directory {gdb.path('sources', 'search')}"
    found = ask(search, "source /srv/app/y.py 1", "source /srv/app/z.py 1", "source lib/z.py 1", "source /srv/app/none.py 1")
    assert found == ["search/srv/app/y.py", "search/z.py", "search/z.py", None]


def test_sysroot_comes_before_the_path(gdb, ask):
    """A container's /srv/app/x.py is not the host's."""
    plain = gdb.path("sources", "plain/app/x.py")
    sysroot = f"set sysroot {gdb.path('sources', 'root')}"
    assert ask(sysroot, "source /srv/app/x.py 1", f"source {plain} 1") == ["root/srv/app/x.py", "plain/app/x.py"]


def test_relative_names_are_below_the_working_folder_only(gdb, ask):
    folder = f"cd {gdb.path('sources', 'cwd')}"
    assert ask(folder, "source here.py 1", "source /elsewhere/here.py 1") == ["cwd/here.py", None]


def test_settings_may_change_between_commands(gdb, ask):
    before, after = ask("source /srv/app/y.py 1", f"directory {gdb.path('sources', 'search')}", "source /srv/app/y.py 1")
    assert (before, after) == (None, "search/srv/app/y.py")


def test_lines_end_as_pythons_do(gdb, ask):
    """At \\n, \\r\\n and \\r; a form feed is part of its line."""
    path = gdb.path("sources", "plain/crlf.py")
    assert ask(*(f"source {path} {line}" for line in range(1, 7))) == ["one", "two\x0cstill two", "three", "", "five", None]


def test_bytes_that_are_no_utf_8_and_lines_that_are_too_long(gdb, ask):
    """The fake's buffer has 24 bytes: cut between characters."""
    path = gdb.path("sources", "plain/bytes.py")
    assert ask(f"source {path} 1", f"source {path} 2") == ["caf\ufffd \ufffd", "…" * 7]


def test_what_is_no_source_file(gdb, ask):
    """A hostile file name must not make GDB wait or read without end."""
    names = [gdb.path("sources", name) for name in ("plain/fifo.py", "plain/huge.py", "plain/empty.py", "plain")]
    names += ["/dev/zero", "/dev/stdin", "/proc/kmsg", "/proc/self/mem"]
    assert ask(*(f"source {name} 1" for name in names)) == [None] * len(names)
