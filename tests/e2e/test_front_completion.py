"""Completion of options, their values and task names, by `complete` and by the TAB key. GDB breaks words at "-" and at more."""

import re

import pytest

pytest_plugins = "front_gdb"

PROMPT = "(gdb) "


@pytest.fixture
def complete(gdb, core):
    def run(*lines):
        arguments = [*gdb.on_bare_core(core), *gdb.source()]
        return [output.splitlines() for output in gdb.run([f"complete {line}" for line in lines], *arguments)]

    return run


@pytest.fixture
def terminal(gdb, core):
    with gdb.terminal("-ex", "set style enabled off", *gdb.on_bare_core(core), *gdb.source()) as child:
        yield child


def test_options(gdb, complete):
    (every,) = complete("py-async-bt --")
    (text,) = gdb.run(["help py-async-bt"], *gdb.source())
    assert "py-async-bt --all" in every and "py-async-bt --no-group" in every and "py-async-bt --output" in every
    assert every == sorted(f"py-async-bt {option}" for option in re.findall(r"^  (--\S+)", text, re.M))
    assert "py-async-bt --memory-stats" not in every


def test_only_the_options_of_the_command(complete):
    (every,) = complete("py-async-info --")
    assert every == [f"py-async-info --{name}" for name in ("exhaustive", "help", "json", "no-map", "output")]


def test_parts_of_options(complete):
    one, several, behind, nothing = complete(
        "py-async-bt --st", "py-async-bt --no-", "py-async-bt worker-1 --json --sh", "py-async-bt --nothing-like-it"
    )
    assert one == ["py-async-bt --state", "py-async-bt --stats"]
    assert several == ["py-async-bt --no-group", "py-async-bt --no-head", "py-async-bt --no-map"]
    assert behind == ["py-async-bt worker-1 --json --show-secrets"]
    assert nothing == []


def test_values(complete):
    states, thread, number = complete("py-async-bt --state e", "py-async-tasks --thread ", "py-async-bt --limit ")
    assert states == ["py-async-bt --state ended", "py-async-bt --state executing"]
    assert thread == ["py-async-tasks --thread all"]
    assert number == []


def test_values_behind_an_equals_sign(gdb, complete):
    folder = gdb.path("gdb")
    states, file, switch, nothing, ended = complete(
        "py-async-bt --state=e", f"py-async-bt --json --output={folder}/pyasync.", "py-async-bt --json=", "py-async-bt --x=",
        "py-async-bt -- --state=e",
    )  # fmt: skip
    assert states == ["py-async-bt --state=ended", "py-async-bt --state=executing"]
    assert file == [f"py-async-bt --json --output={folder}/pyasync.py"]
    assert switch == nothing == ended == []


def test_task_names(complete):
    first, dashed, second, every = complete("py-async-bt wor", "py-async-bt worker-", "py-awaited-by --json oth", "py-async-tasks ")
    after_dashes, in_info = complete("py-async-bt -- wor", "py-async-info w")
    assert first == ["py-async-bt worker-1", "py-async-bt worker-2"]
    assert dashed == first
    assert second == ["py-awaited-by --json other"]
    assert len(every) == 5
    assert after_dashes == ["py-async-bt -- worker-1", "py-async-bt -- worker-2"]
    assert in_info == []  # it takes no operand


def test_file_names(gdb, complete):
    folder = gdb.path("gdb")
    part, inside, nothing = complete(
        f"py-async-bt --output {folder}/pyas", f"py-async-bt --output {folder}/pyasync_g", f"py-async-bt --output {folder}/none/x"
    )
    names = ("pyasync", "pyasync.py", "pyasync_gdb/", "pyasync_launcher/")
    assert sorted(part) == [f"py-async-bt --output {folder}/{name}" for name in names]
    # The only one is a folder: it goes on with what is in it.
    assert f"py-async-bt --output {folder}/pyasync_gdb/commands.py" in inside
    assert nothing == []


def test_nothing_and_no_error_without_a_target(gdb):
    names, options = gdb.run(["complete py-async-bt wor", "complete py-async-bt --js"], *gdb.source())
    assert names == ""
    assert options == "py-async-bt --json\n"


def tab(child, typed, completed):
    """Type and press TAB; the line becomes @p completed. Then leave it."""
    child.send(f"{typed}\t")
    child.expect("\a?".join(map(re.escape, completed)))  # a bell may ring where the word goes on in several ways
    child.send("\x15\n")  # kill the line
    child.expect_exact(PROMPT)


def test_tab_key(terminal):
    tab(terminal, "py-async-bt --outp", "py-async-bt --output ")
    tab(terminal, "py-async-bt --no-g", "py-async-bt --no-group ")
    tab(terminal, "py-async-bt --state wai", "py-async-bt --state waiting ")
    tab(terminal, "py-async-bt --state=wai", "py-async-bt --state=waiting ")
    tab(terminal, "py-async-bt wor", "py-async-bt worker-")
    tab(terminal, "py-awaited-by oth", "py-awaited-by other ")


def test_tab_twice_lists(terminal):
    terminal.send("py-async-bt worker-\t\t")
    terminal.expect(r"[\r\n]1 +2")  # the part from the last "-"
    terminal.send("1\n")
    terminal.expect_exact("operand 0 0x0 <worker-1>")
