"""--output: the whole result in a file of its own, nothing on the terminal."""

import json

import harness
import pytest

pytestmark = pytest.mark.parametrize("gdb, build", harness.PAIRS)


def test_file_has_what_the_terminal_would_have(gdb, build, scratch):
    commands = [command.replace(" --output FILE", "") for command in harness.COMMANDS.values()]
    outputs = [f"{command} --output {harness.seen_by(gdb, scratch)}/{number}" for number, command in enumerate(commands)]
    answers = harness.ask_core(gdb, build, "gather", *outputs, *commands)
    for number, (silent, printed) in enumerate(zip(answers[: len(commands)], answers[len(commands) :])):
        assert silent.error is None and silent.text == "", silent
        path = scratch / str(number)
        # py-async-info tells how much memory the library has used up to then.
        if not commands[number].startswith("py-async-info"):
            assert path.read_text() == printed.text, silent
        assert path.stat().st_mode & 0o777 == 0o600, silent
    assert sorted(path.name for path in scratch.iterdir()) == sorted(str(number) for number in range(len(commands)))


def test_an_old_file_is_replaced_as_a_whole(gdb, build, scratch):
    """Who has it open keeps the old one. The new one does not get the old one's mode."""
    path = scratch / "result"
    path.write_text("old")
    path.chmod(0o644)
    with path.open() as old:
        (answer,) = harness.ask_core(gdb, build, "gather", f"py-async-bt --json --output {harness.seen_by(gdb, path)}")
        assert answer.error is None, answer
        assert old.read() == "old"
    assert len(json.loads(path.read_text())["tasks"]) == 3
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_failed_command_leaves_the_old_file_and_nothing_else(gdb, build, scratch):
    path = scratch / "result"
    path.write_text("old")
    seen = harness.seen_by(gdb, path)
    answers = harness.ask_core(gdb, build, "gather", f"py-async-bt nobody --output {seen}", f"py-async-bt --output {seen}/below")
    assert answers[0].error == 'no task is called "nobody" among 3; py-async-tasks lists them', answers[0]
    assert answers[1].error and answers[1].error.startswith("cannot write "), answers[1]
    assert [entry.name for entry in scratch.iterdir()] == ["result"] and path.read_text() == "old"


def test_what_is_no_file_is_written_to_directly(gdb, build):
    """A descriptor of GDB's own, and a device."""
    core = harness.make_core(build, "gather").core
    command = "py-async-bt --json --output /dev/"
    done = harness.run_gdb(gdb, f"/usr/bin/{build}", f"core {harness.seen_by(gdb, core)}", f"{command}stdout", f"{command}null")
    begin = done.stdout.index('{"schema"')
    assert len(json.loads(done.stdout[begin:])["tasks"]) == 3, done
    assert done.status == 0, done
