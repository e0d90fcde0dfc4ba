"""Ctrl-C, and "q" in the pager, end a command of ours at once, and GDB lives."""

import time

import pytest

pytest_plugins = "front_gdb"

PROMPT = "(gdb) "
AT_ONCE = 1.0  # seconds from the key to the prompt; the library polls every 50 ms


def interrupt(child, key="\x03"):
    """Press a key; the prompt comes back at once, after "Quit" and nothing else."""
    begin = time.monotonic()
    child.send(key)
    child.expect_exact(PROMPT)
    elapsed = time.monotonic() - begin
    assert "Quit" in child.before
    assert "Traceback" not in child.before and "Python" not in child.before and "Exception" not in child.before
    assert elapsed < AT_ONCE
    # GDB lives, and so do our commands.
    child.sendline("py-async-bt")
    child.expect("command 0 format 0")
    child.expect_exact(PROMPT)


@pytest.fixture
def on_core(gdb, core):
    with gdb.terminal("-ex", "set style enabled off", *gdb.on_bare_core(core), *gdb.source()) as child:
        yield child


@pytest.fixture
def on_process(gdb, process):
    with gdb.terminal("-ex", "set style enabled off", *gdb.on_process(process.pid), *gdb.source()) as child:
        yield child


def test_core_walk(on_core):
    on_core.sendline("py-async-bt --in spin")
    on_core.expect_exact("spinning")
    time.sleep(0.3)
    interrupt(on_core)


def test_live_walk(on_process):
    on_process.sendline("py-async-bt --in spin")
    on_process.expect_exact("spinning")
    time.sleep(0.3)
    interrupt(on_process)


def test_reads_without_poll(on_process):
    """The front itself sees the Ctrl-C in whichever callback comes next; many times, as it can hit any instruction."""
    on_process.sendline("p/x (long)$sp & ~0xfff")
    on_process.expect(r"= (0x[0-9a-f]+)")
    stack = on_process.match[1]
    on_process.expect_exact(PROMPT)
    for attempt in range(20):
        on_process.sendline(f"py-async-bt --in 'read {stack}'")
        on_process.expect_exact("reading")
        time.sleep(0.05 + attempt * 0.003)
        interrupt(on_process)


@pytest.mark.parametrize("key", ["\x03", "q\n"], ids=["ctrl-c", "q"])
def test_pager(on_core, key):
    on_core.sendline("py-async-bt --in lines")
    on_core.expect("--Type <RET> for more")
    on_core.send("\n")
    on_core.expect("--Type <RET> for more")
    interrupt(on_core, key)


def test_ctrl_c_twice(on_core):
    """Two in a row, as an impatient user presses: the second one is for GDB, which has nothing to stop."""
    on_core.sendline("py-async-bt --in spin")
    on_core.expect_exact("spinning")
    on_core.send("\x03\x03")
    on_core.expect_exact("Quit")
    on_core.sendline("echo still-alive\\n")
    on_core.expect(r"[\r\n]still-alive")
