"""
Ctrl-C, and "q" in the pager, end a command of ours at once, and GDB lives.

First with the stand-in library, which works for as long as it takes and can be made to do without polling; then with the product.
"""

import time

import pytest

pytest_plugins = "front_gdb"

MANY_TASKS = """
import asyncio, os, sys

async def wait(): await asyncio.sleep(3600)

async def work(): await wait()

async def main():
    tasks = [asyncio.create_task(work()) for _ in range(int(sys.argv[1]))]
    await asyncio.sleep(0.1)
    if "abort" in sys.argv:
        os.abort()
    print("ready", flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""

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


# ---- the product, on so many tasks that one has the time to press a key

ONE_CORE = pytest.mark.xdist_group("front-product")  # in one test process: the core is big


@pytest.fixture(scope="session")
def many_tasks(front_folder):
    front_folder.copy_product("product")
    (front_folder.host / "many_tasks.py").write_text(MANY_TASKS)
    return ["python3.15", str(front_folder.inside / "many_tasks.py"), "150000"]


@pytest.fixture(scope="session")
def big_core(front_folder, many_tasks):
    yield front_folder.make_core("big-core", *many_tasks, "abort")
    (front_folder.host / "big-core").unlink()


def interrupt_product(child, command):
    """Interrupt @p command at several moments of the time that it takes. From the second on each walks anew."""
    child.sendline(command)
    begin = time.monotonic()
    child.expect_exact(PROMPT)
    whole = time.monotonic() - begin
    assert "Quit" not in child.before
    for part in (0.05, 0.1, 0.2, 0.3, 0.4):
        # On a busy machine the first run may have been so slow that this one ends before the key: then earlier.
        for delay in (whole * part, whole * part / 4, whole * part / 16):
            child.sendline(command)
            time.sleep(delay)
            begin = time.monotonic()
            child.sendintr()
            child.expect_exact(PROMPT)
            assert time.monotonic() - begin < AT_ONCE
            assert "Traceback" not in child.before and "Exception" not in child.before
            if "Quit" in child.before:
                break
            child.expect_exact("Quit")  # said at the prompt, and there is another one
            child.expect_exact(PROMPT)
        else:
            pytest.fail(f"Ctrl-C did not end it after {delay} s, it takes {whole} s")
    child.sendline("py-async-bt --limit 1")
    child.expect_exact("150,001 tasks")
    child.expect_exact(PROMPT)


@ONE_CORE
@pytest.mark.parametrize("option", ["", " --no-map"], ids=["mapped", "read"])
def test_product_on_a_core(gdb, big_core, option):
    arguments = ["-ex", "set style enabled off", *gdb.on_core(big_core), *gdb.source("product")]
    with gdb.terminal(*arguments) as child:
        interrupt_product(child, f"py-async-bt --all --json --output /dev/null{option}")


@ONE_CORE
def test_product_on_a_process(gdb, many_tasks, running):
    with running(*many_tasks) as process:
        arguments = ["-ex", "set style enabled off", *gdb.on_process(process.pid), *gdb.source("product")]
        with gdb.terminal(*arguments) as child:
            interrupt_product(child, "py-async-bt --all --json --output /dev/null")


@ONE_CORE
def test_product_in_the_pager(gdb, big_core):
    arguments = ["-ex", "set style enabled off", *gdb.on_core(big_core), *gdb.source("product")]
    with gdb.terminal(*arguments) as child:
        for key in ("q\n", "\x03"):
            child.sendline("py-async-tasks --all")
            child.expect("--Type <RET> for more")
            begin = time.monotonic()
            child.send(key)
            child.expect_exact(PROMPT)
            assert time.monotonic() - begin < AT_ONCE
            assert "Quit" in child.before
