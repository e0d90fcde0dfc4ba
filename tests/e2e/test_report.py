"""py-async-report: what it says of the process, how it died and which crash it is, against what the process and the test know."""

import functools
import shutil
import subprocess

import harness
import jsonschema
import pytest

VALIDATOR = jsonschema.Draft202012Validator(harness.json.loads((harness.PROJECT / "src/pyasync-1.schema.json").read_text()))
SCENARIOS = ("in_task", "crowd", "killed", "abort_in_destructor", "in_to_thread", "without_gil")
COMMANDS = ("py-async-report --json", "py-async-report")
SECRET = "never-to-be-seen-7f3a"  # crash_oracle.py


@functools.cache
def answers(gdb, build):
    """{scenario: (document, text)}, by one GDB."""
    cores = [harness.make_core(build, f"crashes/{name}").core for name in SCENARIOS]
    targets = [f"core {harness.seen_by(gdb, core)}" for core in cores]
    return dict(zip(SCENARIOS, harness.ask_all(gdb, f"/usr/bin/{build}", targets, COMMANDS)))


def report_on(gdb, core, executable, *before):
    """The member "report" and the text, of any core."""
    document, text = harness.ask(gdb, executable, f"core {harness.seen_by(gdb, core)}", *COMMANDS, before=before)
    return document.json()["report"], text.text


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_identity_and_death(gdb, build, scenario):
    oracle = harness.make_core(build, f"crashes/{scenario}").oracle
    document, text = answers(gdb, build)[scenario]
    report, process = document.json()["report"], document.json()["process"]
    errors = [error.message[:300] for error in VALIDATOR.iter_errors(document.json())]
    assert not errors, "\n".join(errors)
    assert report["arguments"] == oracle["arguments"], document
    assert process["pid"] == oracle["pid"] and process["signal"] == report["death"]["signal"] == oracle["signal"], document
    assert report["test"] == "tests/test_orders.py::test_refund[eur] (call)" and report["worker"] == "gw3", document
    assert report["task"] == oracle["task"], document
    assert report["core"]["truncated"] is False and report["core"]["size"] == report["core"]["whole"], document
    assert report["files"]["not_as_mapped"] == [] and report["files"]["total"] > 5, document
    assert f"Signature  {report['signature']}\n" in text.text
    assert "Test       tests/test_orders.py::test_refund[eur] (call), worker gw3\n" in text.text
    for part in (document.text, text.text):
        assert SECRET not in part and "DATABASE_PASSWORD" not in part


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_how_it_died(gdb, build):
    deaths = {scenario: answers(gdb, build)[scenario][0].json()["report"]["death"] for scenario in SCENARIOS}
    assert deaths["in_task"]["address"] == "0x0" and deaths["in_task"]["sender"] is None
    assert "Died of    SIGSEGV: nothing is mapped at address 0x0, in thread 1\n" in answers(gdb, build)["in_task"][1].text
    oracle = harness.make_core(build, "crashes/killed").oracle
    assert deaths["killed"]["address"] is None and deaths["killed"]["sender"] == {"pid": oracle["parent"], "uid": 0}
    sent = f"Died of    SIGQUIT: sent by process {oracle['parent']} of user 0, in thread 1\n"
    assert sent in answers(gdb, build)["killed"][1].text
    assert deaths["abort_in_destructor"]["reason"] == "sent by the process itself"


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_other_threads_are_grouped(gdb, build):
    document, text = answers(gdb, build)["crowd"]
    groups = document.json()["report"]["other_threads"]
    threads = {thread["num"]: thread for thread in document.json()["threads"]}
    named = [
        (len(group["threads"]), [frame["function"] for frame in document.json()["stacks"][group["stack"]]]) for group in groups
    ]
    assert [count for count, _ in named] == [3, 2, 1], document
    assert "waits" in named[0][1] and named[1][1] == [] and "waits_elsewhere" in named[2][1], document
    assert not threads.keys() & set(groups[1]["threads"]), document
    (native,) = [each for each in document.json()["native"] if each["thread"] == groups[1]["threads"][0]]
    assert "pauses" in [frame["function"] for frame in native["frames"]], document
    assert "* 3 threads: " in text.text and "pauses() at crash.c:" in text.text, text


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_greenlets_are_listed(gdb, build):
    core = harness.make_core(build, "crashes/in_greenlet").core
    text = report_on(gdb, core, f"/usr/bin/{build}")[1]
    part = text.partition("\nGreenlets\n")[2]
    assert part.count("* greenlet.greenlet(id=0x") == 2 and "in query()" in part and "in async session()" in part, text


def test_the_thread_that_died_stays_it_when_another_is_selected():
    made = harness.make_core("python3.15", "crashes/crowd")
    target = f"core {harness.seen_by('root-gdb', made.core)}"
    _, other, named = harness.ask("root-gdb", "/usr/bin/python3.15", target, "thread 2", COMMANDS[0], COMMANDS[0] + " --thread 2")
    assert other.json()["report"]["thread"] == 1 and other.json()["report"]["task"] == made.oracle["task"], other
    assert named.json()["report"]["thread"] == 2 and named.json()["report"]["task"] is None, named
    assert len(named.json()["tasks"]) == 1, named


def test_a_thread_that_is_not_there():
    made = harness.make_core("python3.15", "crashes/in_task")
    target = f"core {harness.seen_by('root-gdb', made.core)}"
    (answer,) = harness.ask("root-gdb", "/usr/bin/python3.15", target, "py-async-report --thread 9")
    assert answer.error == 'there is no thread 9; "info threads" lists them', answer


def test_secrets_among_the_arguments(scratch):
    """The value of an option that tells what it is, in the same argument or the next."""
    arguments = ["--password=hunter2", "--api-key", "sk-live-1", "--level", "3", "https://user:pw@host/x"]
    program = "import asyncio, os\nasync def main(): os.abort()\nasyncio.run(main())"
    core = dump(scratch, "python3.15", "-c", program, *arguments)
    report, text = report_on("root-gdb", core, "/usr/bin/python3.15")
    shown = report["arguments"][3:]
    assert shown[0] == "--password=<redacted>" and shown[1:5] == ["--api-key", "<redacted>", "--level", "3"]
    for secret in ("hunter2", "sk-live-1", "user:pw"):
        assert secret not in text
    target = f"core {harness.seen_by('root-gdb', core)}"
    (answer,) = harness.ask("root-gdb", "/usr/bin/python3.15", target, "py-async-report --json --show-secrets")
    assert answer.json()["report"]["arguments"][3:] == arguments


def test_without_asyncio(scratch):
    core = dump(scratch, "python3.15", "-c", "import os\ndef f(): os.abort()\nf()")
    report, text = report_on("root-gdb", core, "/usr/bin/python3.15")
    assert report["test"] is None and "asyncio was not loaded\n" in text
    assert "line 2, in f()" in text and "abort() in libc.so.6" in text, text


PLUMBING = """
import os, unittest
class Orders(unittest.TestCase):
    def test_refund(self):
        os.abort()
def start():
    unittest.main()
start()
"""


def test_plumbing_of_a_thread_is_left_out(scratch):
    """One screen: of a thread without a task the innermost lines, then one's own functions; --all has the rest."""
    (scratch / "orders.py").write_text(PLUMBING)
    target = f"core {harness.seen_by('root-gdb', dump(scratch, 'python3.15', 'orders.py'))}"
    some, every = harness.ask("root-gdb", "/usr/bin/python3.15", target, "py-async-report", "py-async-report --all")
    stack, whole = (answer.text.partition("  + Call stack:\n")[2].partition("\n\n")[0].splitlines() for answer in (some, every))
    assert any("in Orders.test_refund()" in line for line in stack[:12]), some
    assert [line.rpartition(" in ")[2] for line in stack if "orders.py" in line][1:] == ["start()", "<module>()"], some
    assert stack[12].endswith(" more frames") and "in start()" in stack[13] and len(stack) < 18 < len(whole), some
    assert not any("more frames" in line for line in whole) and any("in TestSuite.run()" in line for line in whole), every


def dump(folder, build, *arguments, setup=()):
    """The core of a command that dies."""
    command = harness.in_root("env", "-i", "-C", harness.inside(folder), *setup, f"/usr/bin/{build}", *arguments)
    subprocess.call(["sh", "-c", 'ulimit -c unlimited; cd "$0"; exec "$@"', str(folder), *command], timeout=60)
    return folder / "core"


# ---- files and cores that are not as they were


@pytest.mark.parametrize("gdb", harness.GDBS)
def test_truncated_core(gdb, scratch):
    made = harness.make_core("python3.15", "crashes/in_task")
    shutil.copy(made.core, scratch / "core")
    whole = (scratch / "core").stat().st_size
    with (scratch / "core").open("r+b") as file:
        file.truncate(whole - 100_000)
    report, text = report_on(gdb, scratch / "core", "/usr/bin/python3.15")
    assert report["core"] == {"size": whole - 100_000, "whole": whole, "truncated": True}
    assert "TRUNCATED, 100,000 bytes are missing\n" in text


def test_missing_and_different_files(scratch):
    """A sysroot that has the interpreter, but no libc, and an extension that was built again."""
    made = harness.make_core("python3.15", "crashes/in_task")
    (scratch / "usr/bin").mkdir(parents=True)
    shutil.copy(harness.ROOT / "usr/bin/python3.15", scratch / "usr/bin")
    folder = scratch / harness.inside(harness.PLACE / "extensions/python3.15")[1:]
    folder.mkdir(parents=True)
    library = "crash.cpython-315-x86_64-linux-gnu.so"
    source = harness.PLACE / "extensions/python3.15"
    (scratch / "empty.c").write_text("int other;\n")
    harness.run_or_fail(["cc", "-shared", "-Wl,--build-id=0x1234", str(scratch / "empty.c"), "-o", str(folder / library)])
    document, text = harness.ask(
        "host-gdb", scratch / "usr/bin/python3.15", f"core {made.core}", *COMMANDS, before=[f"set sysroot {scratch}"]
    )
    files = {harness.pathlib.Path(file["path"]).name: file for file in document.json()["report"]["files"]["not_as_mapped"]}
    assert files[library]["state"] == "differs" and files[library]["file_build_id"] == "1234", document
    assert files[library]["build_id"] == build_id_of(source / library), document
    assert files["libc.so.6"]["state"] == "missing" and "python3.15" not in files, document
    assert f"! another build: {harness.inside(source / library)} is 1234 here, was {build_id_of(source / library)}\n" in text.text


def build_id_of(path):
    notes = harness.output_of(["readelf", "-n", str(path)])
    return notes.rpartition("Build ID: ")[2].split()[0]


# ---- the signature


def signature_of(gdb, core, executable, *before):
    return report_on(gdb, core, executable, *before)[0]["signature"]


def test_signature_is_equal_for_equal_crashes():
    """Of all builds, which differ in version, optimisation and object files, by both GDBs, with and without symbols."""
    found = {(gdb, build): answers(gdb, build)["in_task"][0].json()["report"]["signature"] for gdb, build in harness.PAIRS}
    for build in harness.BUILDS:
        core = harness.make_core(build, "crashes/in_task").core
        found[build] = signature_of("root-gdb", core, f"/usr/bin/{build}", "set debug-file-directory /nonexistent")
    assert len(set(found.values())) == 1, found


def test_signature_does_not_change_with_the_place_or_the_line(scratch):
    """As on another host, with another patch release: all paths differ, and lines, and the extension is stripped."""
    (scratch / "app").mkdir()
    for name in ("in_task.py", "crash_oracle.py"):
        text = (harness.HERE / "scenarios/crashes" / name).read_text()
        (scratch / "app" / name).write_text("# another line\n" * 7 + text)
    extensions = scratch.parent / "extensions/python3.15"  # where crash_oracle.py looks for it
    extensions.mkdir(parents=True, exist_ok=True)
    library = "crash.cpython-315-x86_64-linux-gnu.so"
    shutil.copy(harness.PLACE / "extensions/python3.15" / library, extensions)
    harness.run_or_fail(["strip", str(extensions / library)])
    (scratch / "python/lib").mkdir(parents=True)
    (scratch / "python/lib/python3.15").symlink_to("/usr/lib/python3.15")
    script = harness.inside(scratch / "app/in_task.py")
    home = f"PYTHONHOME={harness.inside(scratch)}/python"
    core = dump(scratch, "python3.15", script, "core", "oracle.json", setup=(home,))
    here = signature_of("root-gdb", core, "/usr/bin/python3.15")
    assert here == answers("root-gdb", "python3.15")["in_task"][0].json()["report"]["signature"]


def test_signatures_of_other_crashes_differ():
    signatures = {name: answer[0].json()["report"]["signature"] for name, answer in answers("root-gdb", "python3.15").items()}
    assert len(set(signatures.values())) == len(SCENARIOS), signatures
