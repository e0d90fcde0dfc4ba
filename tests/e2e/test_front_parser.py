"""Options and operands: whatever is typed, GDB lives and says one line."""

import struct

import pytest

pytest_plugins = "front_gdb"

COMMANDS = ("py-async-bt", "py-awaited-by", "py-async-tasks", "py-greenlets", "py-async-report", "py-async-info")

# What is wrong, and what the line must name.
WRONG = {
    "py-async-bt --nope": "unknown option --nope",
    "py-async-bt --nope=3": "unknown option --nope",
    "py-async-bt -x": "unknown option -x",
    "py-async-bt --dot --json": "--json does not go with --dot",
    "py-async-bt --json --all --dot": "--dot does not go with --json",
    "py-awaited-by --stats --dot": "--dot does not go with --stats",
    "py-async-bt --dot --compat": "--compat does not go with --dot",
    "py-async-bt --stats --compat": "--compat does not go with --stats",
    "py-async-bt --native --dot": "--dot does not go with --native",
    "py-async-report --thread all": "--thread needs a whole number from 1, not 'all'",
    "py-async-tasks --dot": "unknown option --dot",
    "py-async-bt --stat waiting": "unknown option --stat",
    "py-async-info --stats": "unknown option --stats",
    "py-async-bt --limit": "--limit needs a value: --limit N",
    "py-async-bt --limit --json": "--limit needs a value",
    "py-async-bt --limit=": "--limit needs a whole number from 1",
    "py-async-bt --limit many": "'many'",
    "py-async-bt --limit 0": "'0'",
    "py-async-bt --limit -3": "'-3'",
    "py-async-bt --limit 99999999999999999999": "--limit needs a whole number",
    "py-async-bt --limit ³": "--limit needs a whole number",
    "py-async-bt --frames x": "--frames needs a whole number",
    "py-async-bt --depth 1.5": "--depth needs a whole number",
    "py-async-bt --thread one": "--thread needs a whole number",
    "py-async-bt --state asleep": "'asleep'; it takes live, ended, any",
    "py-async-bt --in ''": "--in needs a text",
    "py-async-bt --output": "--output needs a value: --output FILE",
    "py-async-bt --json=yes": "--json takes no value",
    "py-awaited-by --compat": "unknown option --compat",
    "py-async-tasks --frames 3": "unknown option --frames",
    "py-async-info Task-1": "takes no operand, but got 'Task-1'",
    "py-async-info --all": "unknown option --all",
}


def one_line(text):
    lines = text.replace("❌️ ", "").strip().splitlines()
    assert len(lines) == 1, text
    assert "Traceback" not in text and "Python Exception" not in text and "internal error" not in text
    return lines[0]


@pytest.fixture(scope="module")
def on_core(gdb, core):
    """Run command lines on the core; the output of each."""

    def run(*lines):
        return gdb.run(lines, *gdb.on_bare_core(core), *gdb.source())

    return run


def test_wrong_usage_is_one_line(gdb):
    outputs = gdb.run(list(WRONG), *gdb.source())
    for (line, names), output in zip(WRONG.items(), outputs):
        message = one_line(output)
        assert message.startswith(line.split()[0] + ": "), message
        assert names in message, line


@pytest.mark.parametrize("line", ["py-async-bt --nope", "py-async-tasks --limit", "py-async-info x", "py-async-bt"])
def test_failure_is_status_1_under_batch(gdb, line):
    done = gdb.batch(*gdb.source(), "-ex", line)
    assert done.returncode == 1
    one_line(done.stderr)
    assert done.stdout == ""


def test_success_is_status_0_under_batch(gdb, core):
    done = gdb.batch(*gdb.on_bare_core(core), *gdb.source(), "-ex", "py-async-bt")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("option", ["--help", "-h", "--json --help extra operands here"])
def test_help_option_prints_what_help_prints(gdb, option):
    by_option = gdb.run([f"{command} {option}" for command in COMMANDS], *gdb.source())
    by_help = gdb.run([f"help {command}" for command in COMMANDS], *gdb.source())
    for command, ours, gdbs in zip(COMMANDS, by_option, by_help):
        assert ours == gdbs
        assert f"Usage: {command} [OPTION]..." in ours
        assert "--json" in ours and "Examples:\n" in ours


def test_help_names_every_option_of_the_command_and_no_other(gdb):
    backtrace, awaited_by, tasks, greenlets, report, info = gdb.run([f"help {command}" for command in COMMANDS], *gdb.source())
    every = ["--json", "--output FILE", "--no-map", "--exhaustive", "--help"]
    shown = ["--all", "--thread N|all", "--state S", "--limit N", "--no-head", "--show-secrets"]
    lists = [*shown, "--in TEXT", "--stats"]
    frames = ["--group", "--no-group", "--frames N", "--source", "--locals", "--locals-depth N", "--locals-length N"]
    stacks = [*frames, "--depth N", "--context", "--dot"]

    def options(text):
        lines = text.partition("Options:\n")[2].partition("\n\n")[0].splitlines()
        return sorted(line[2:].split("  ")[0] for line in lines)

    assert options(backtrace) == sorted(every + lists + stacks + ["--compat", "--native"])
    assert options(awaited_by) == sorted(every + lists + stacks)
    assert options(tasks) == sorted(every + lists)
    assert options(greenlets) == sorted([*every, *shown, *frames, "--instrumentation"])
    about = ["--all", "--thread N", "--limit N", "--frames N", "--depth N", "--source", "--show-secrets"]
    assert options(report) == sorted([*every, *about])
    assert options(info) == sorted(every)


def test_options_reach_the_library(on_core):
    lines = {
        "py-async-bt": "command 0 format 0 flags 0 thread -1 limit 0 frames 0 depth 0 state -",
        "py-awaited-by": "command 1 format 0 flags 0 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-tasks": "command 2 format 0 flags 0 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-info --json": "command 3 format 1 flags 0 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --limit 3 --frames=4 --depth 5": "command 0 format 0 flags 0 thread -1 limit 3 frames 4 depth 5 state -",
        "py-async-bt --thread 7 --state waiting": "command 0 format 0 flags 0 thread 7 limit 0 frames 0 depth 0 state waiting",
        "py-async-bt --thread all": "command 0 format 0 flags 0 thread -2 limit 0 frames 0 depth 0 state -",
        # The values of PA_REQUEST_* in src/pyasync.h.
        "py-awaited-by --dot": "command 1 format 2 flags 0 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --all": "command 0 format 0 flags 1 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --compat": "command 0 format 0 flags 2 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --no-head": "command 0 format 0 flags 4 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --source": "command 0 format 0 flags 8 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --show-secrets": "command 0 format 0 flags 16 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --group": "command 0 format 0 flags 64 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --no-group": "command 0 format 0 flags 128 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --no-group --group": "command 0 format 0 flags 64 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --exhaustive": "command 0 format 0 flags 256 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --stats": "command 0 format 0 flags 4096 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --native": "command 0 format 0 flags 8192 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-report --json": "command 5 format 1 flags 0 thread -1 limit 0 frames 0 depth 0 state -",
        "py-async-bt --memory-stats": "command 0 format 0 flags 512 thread -1 limit 0 frames 0 depth 0 state -",
    }
    for (line, expected), output in zip(lines.items(), on_core(*lines)):
        assert output == expected + "\n", line


def test_operands_after_before_and_between_options(on_core):
    lines = ["py-async-bt a --limit 2 b --json c", "py-async-bt -- --json -x", "py-async-bt 'a b' c\\ d \"e\""]
    mixed, ended, quoted = (output.splitlines() for output in on_core(*lines))
    assert mixed[1:] == ["operand 0 0x0 <a>", "operand 0 0x0 <b>", "operand 0 0x0 <c>"]
    assert "format 1" in mixed[0] and "limit 2" in mixed[0]
    assert ended[1:] == ["operand 0 0x0 <--json>", "operand 0 0x0 <-x>"]
    assert "format 0" in ended[0]
    assert quoted[1:] == ["operand 0 0x0 <a b>", "operand 0 0x0 <c d>", "operand 0 0x0 <e>"]


def test_kinds_of_operands(on_core):
    """0 a name, 1 a pattern, 2 an address; a name that a task has wins over what it looks like (the fake knows job[1], 0xname)."""
    operands = {
        "worker-1": "operand 0 0x0 <worker-1>",
        "'w*'": "operand 1 0x0 <w*>",
        "w?": "operand 1 0x0 <w?>",
        "job[2]": "operand 1 0x0 <job[2]>",
        "job[1]": "operand 0 0x0 <job[1]>",
        "0xname": "operand 0 0x0 <0xname>",
        "0x7f00": "operand 2 0x7f00 <0x7f00>",
        "0x7f00+16": "operand 2 0x7f10 <0x7f00+16>",
        "'(char *)0x7f00 + 1'": "operand 2 0x7f01 <(char *)0x7f00 + 1>",
        "$kept": "operand 2 0x1234 <$kept>",
        "'$kept==0x1234'": "operand 2 0x1 <$kept==0x1234>",
        "*worker*": "operand 1 0x0 <*worker*>",
        "*": "operand 1 0x0 <*>",
        "(long)-1": "operand 2 0xffffffffffffffff <(long)-1>",
        "Ünïcode": "operand 0 0x0 <Ünïcode>",
    }
    outputs = on_core("set $kept = 0x1234", *(f"py-async-bt {operand}" for operand in operands))[1:]
    for (operand, expected), output in zip(operands.items(), outputs):
        assert output.splitlines()[1:] == [expected], operand


def test_expressions_of_the_programs_own_symbols(gdb, core):
    lines = ["p/x (long)&_PyRuntime", "py-async-bt &_PyRuntime", "py-async-bt '*&_PyRuntime'", "py-async-bt *Py_DecRef"]
    printed, pointer, object_, function = gdb.run(lines, *gdb.on_core(core, debug_files=True), *gdb.source())
    address = printed.split()[-1]
    assert pointer.splitlines()[1:] == [f"operand 2 {address} <&_PyRuntime>"]
    assert object_.splitlines()[1:] == [f"operand 2 {address} <*&_PyRuntime>"]
    # *NAME is no expression because the program happens to have a function of that name.
    assert function.splitlines()[1:] == ["operand 1 0x0 <*Py_DecRef>"]


@pytest.mark.parametrize(
    "operand, says",
    [
        ("$nothing", "its type void is no address"),
        ("&no_such_symbol", "No symbol"),
        ("0x10+", "syntax error"),
        ("(1+2", "syntax error"),
        ("'($a=3)'", "may not assign"),
        ("'(*(long*)$sp=3)'", "may not assign"),
        ("'$a++'", "may not assign"),
        ("'($a <<= 1)'", "may not assign"),
        ("'(1.5)'", "is no address"),
    ],
)
def test_operands_that_are_no_address(on_core, operand, says):
    (output,) = on_core(f"py-async-bt {operand}")
    message = one_line(output)
    assert message.startswith("cannot evaluate '")
    assert says in message


def test_nothing_is_called_in_the_target(gdb, process):
    """A function call in an operand is refused, and the user's own setting stays."""
    lines = ["py-async-bt '(long)Py_IsInitialized()'", "show may-call-functions", "p (long)Py_IsInitialized()"]
    refused, setting, called = gdb.run(lines, *gdb.on_process(process.pid), *gdb.source())
    assert "may-call-functions is off" in one_line(refused)
    assert setting.strip() == "Permission to call functions in the program is on."
    assert called.strip() == "$1 = 1"


def test_no_target(gdb):
    for output in gdb.run(COMMANDS, *gdb.source()):
        assert one_line(output) == "no process and no core: use `core FILE` or `attach PID`"


def test_another_architecture(gdb, front_folder):
    """The core of a 32-bit process: nothing but one thread's registers (NT_PRSTATUS)."""
    note = struct.pack("<3I8s", 5, 144, 1, b"CORE") + struct.pack("<12xh10xI116x", 11, 4711)
    header = struct.pack("<4s12B2H5I6H", b"\x7fELF", 1, 1, 1, *[0] * 9, 4, 3, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    (front_folder.host / "core32").write_bytes(header + struct.pack("<8I", 4, 84, 0, 0, len(note), 0, 0, 1) + note)
    lines = [*COMMANDS, "complete py-async-bt wor"]
    *refused, completed = gdb.run(lines, *gdb.on_bare_core("core32"), *gdb.source())
    for output in refused:
        assert one_line(output) == "the target's architecture is i386: pyasync reads i386:x86-64 only"
    assert completed == ""


def test_a_running_thread(gdb, process):
    lines = ["py-async-bt", "continue &", "py-async-bt", "interrupt"]
    stopped, _, running, _ = gdb.run(lines, *gdb.on_process(process.pid), *gdb.source())
    assert stopped.startswith("command 0")
    assert "is running: stop the process first" in one_line(running)


def test_library_errors_are_one_line(on_core):
    failed, memory, lives = on_core("py-async-bt --in fail", "py-async-bt --in 'no memory'", "py-async-bt")
    assert one_line(failed.replace("half a result\n", "")) == "nothing here: tried this, do that"
    assert "out of memory" in one_line(memory)
    assert lives.startswith("command 0")
