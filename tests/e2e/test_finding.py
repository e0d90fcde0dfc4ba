"""Python and its tables are found with ever less to go on (DESIGN §2), and the graph is the same: a bare core is enough."""

import shutil
import subprocess

import compare
import harness
import pytest

pytestmark = [pytest.mark.parametrize("build", harness.BUILDS), pytest.mark.parametrize("gdb", harness.GDBS)]

# As py-async-info says it.
SECTION, ASYNCIO_SECTION = "section .PyRuntime", "section .AsyncioDebug"
COOKIE, CONTENT = "cookie xdebugpy in memory", "its content in memory"

COMMANDS = ("py-async-bt --all --json", "py-async-info --json", "py-async-info")


def no_files(gdb):
    """Nothing is where the core says that its files are."""
    return [f"set sysroot {harness.seen_by(gdb, harness.PLACE / 'empty')}"]


def executables(build):
    """What must be hidden from GDB 18, which looks for the core's executable by itself, whatever the sysroot."""
    return [f"/usr/bin/{build}"]


def expect(made, answers, runtime, asyncio):
    """@p made, a harness.Scenario, is read as its oracle says, and its tables were found by these ways."""
    backtrace, info, text = answers
    found = compare.differences(made.oracle, backtrace.json())
    assert not found, "\n".join([*found[:10], str(backtrace)[:2000]])
    assert backtrace.json()["complete"] == (made.folder.name not in harness.DAMAGED), backtrace
    tables = info.json()["info"]
    assert tables["runtime"]["found_by"] == runtime and f"found by {runtime}" in text.text, info
    if not made.oracle["accelerator"] and made.oracle["python"].startswith("3.14"):
        # Its table is in the shared object of the accelerator, which is blocked.
        assert tables["asyncio"] is None and "no asyncio debug offsets" in text.text, text
        return
    assert tables["asyncio"]["found_by"] == asyncio and f"found by {asyncio}" in text.text, info


def ask_scenarios(gdb, executable, build, scenarios, before=(), hide=()):
    """For each scenario, its harness.Scenario and the answers."""
    made = [harness.make_core(build, name) for name in scenarios]
    targets = [f"core {harness.seen_by(gdb, each.core)}" for each in made]
    return list(zip(made, harness.ask_all(gdb, executable, targets, COMMANDS, before, hide)))


SOME = ("async_generator", "awaitables", "threads", "eager", "callback")
EVERY = tuple(name for name in harness.SCENARIOS if name not in harness.BIG)


def test_by_sections(gdb, build):
    for made, answers in ask_scenarios(gdb, f"/usr/bin/{build}", build, SOME):
        expect(made, answers, SECTION, ASYNCIO_SECTION)


def test_without_shared_objects(gdb, build):
    """3.14 has asyncio's table in _asyncio*.so, which GDB does not see here; 3.15 has it in the executable."""
    for made, answers in ask_scenarios(gdb, f"/usr/bin/{build}", build, SOME, no_files(gdb)):
        expect(made, answers, SECTION, CONTENT if "3.14" in build else ASYNCIO_SECTION)


def test_without_any_file(gdb, build):
    """Every scenario: a bare core gives the whole graph."""
    every = [name for name in EVERY if build in harness.ONLY.get(name, harness.BUILDS)]
    for made, answers in ask_scenarios(gdb, None, build, every, no_files(gdb), executables(build)):
        expect(made, answers, COOKIE, CONTENT)


def test_with_the_wrong_executable(gdb, build):
    """GDB was given another Python: what its sections say is not what is in memory."""
    wrong = "/usr/bin/" + harness.BUILDS[harness.BUILDS.index(build) - 1]
    for made, answers in ask_scenarios(gdb, wrong, build, SOME, no_files(gdb)):
        expect(made, answers, COOKIE, CONTENT)


def test_two_runtimes(gdb, build):
    """libpython is mapped beside the executable, with a _PyRuntime that has no interpreter."""
    ((made, answers),) = ask_scenarios(gdb, f"/usr/bin/{build}", build, ["two_runtimes"])
    expect(made, answers, SECTION, ASYNCIO_SECTION)
    assert answers[1].json()["info"]["runtime"]["copies"] == 2, answers[1]
    assert "the one with interpreters of 2 copies" in answers[2].text, answers[2]


def test_two_runtimes_without_any_file(gdb, build):
    ((made, answers),) = ask_scenarios(gdb, None, build, ["two_runtimes"], no_files(gdb), executables(build))
    expect(made, answers, COOKIE, CONTENT)
    assert answers[1].json()["info"]["runtime"]["copies"] == 2, answers[1]


# ---- stripped files: a scenario runs from copies of the executable and of _asyncio*.so


def strip(path):
    """Remove all symbols; sections stay."""
    subprocess.run(["strip", "--strip-all", "--remove-section=.gnu_debuglink", path], check=True)


def remove_section_headers(path):
    """What the kernel and the dynamic linker do not need."""
    content = bytearray(path.read_bytes())
    assert content[:5] == b"\x7fELF\x02"
    content[0x28:0x30] = bytes(8)  # e_shoff
    content[0x3C:0x40] = bytes(4)  # e_shnum, e_shstrndx
    path.write_bytes(content)


def run_from_copies(build, change, scenario="async_generator"):
    """The core of a scenario whose executable and _asyncio*.so were changed, and the executable's path inside the root."""
    folder = harness.PLACE / "copies" / change.__name__ / build
    executable = folder / "bin" / build
    with harness.lock(f"copies-{change.__name__}-{build}"):
        if not executable.exists():
            abi = build.replace("python", "").replace(".", "")
            modules = (harness.ROOT / "usr/lib/python3.14/lib-dynload").glob(f"_asyncio.cpython-{abi}-*.so")
            for source in (harness.ROOT / "usr/bin" / build, *modules):
                copy = folder / ("lib" if source.suffix == ".so" else "bin") / source.name
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
                change(copy)
    core = folder / "core"
    script = f"{harness.inside(harness.PLACE)}/scenarios/{scenario}.py"
    command = harness.in_root(
        "env", "-i", "-C", harness.inside(core), *harness.ENVIRONMENT,
        "PYTHONHOME=/usr", f"PYTHONPATH={harness.inside(folder)}/lib", harness.inside(executable), script, "core", "oracle.json",
    )  # fmt: skip
    made = harness.Scenario(core, command, harness.scenario_stamp(build, scenario))
    harness.make_core_of(made)
    return made, harness.inside(executable)


def test_stripped_files(gdb, build):
    made, executable = run_from_copies(build, strip)
    answers = harness.ask(gdb, executable, f"core {harness.seen_by(gdb, made.core)}", *COMMANDS)
    expect(made, answers, SECTION, ASYNCIO_SECTION)


def test_files_without_section_headers(gdb, build):
    """GDB 18 reads dynamic symbols without them, so it knows _PyRuntime. (asyncio's table is a static symbol.)"""
    made, executable = run_from_copies(build, remove_section_headers)
    answers = harness.ask(gdb, executable, f"core {harness.seen_by(gdb, made.core)}", *COMMANDS)
    expect(made, answers, COOKIE if gdb == "host-gdb" else "symbol _PyRuntime", CONTENT)


def test_no_type_is_searched_by_the_name_of_its_symbol(gdb, build):
    """With debug symbols that takes GDB 18 half a second for the first one; what stands at an address it knows at once."""
    core = harness.seen_by(gdb, harness.make_core(build, "async_generator").core)
    replace = (
        "python import sys; target = sys.modules['pyasync_gdb.target'].Target; symbol = target._symbol; "
        "target._symbol = lambda self, name, address: (print('SEARCHED', name), symbol(self, name, address))[1]"
    )
    done = harness.run_gdb(gdb, f"/usr/bin/{build}", f"core {core}", replace, "py-async-bt --all", "py-async-info")
    assert "Complete: " in done.stdout, done
    searched = {line.split("'")[1] for line in done.stdout.splitlines() if line.startswith("SEARCHED ")}
    assert not {name for name in searched if name.startswith("Py")}, done
