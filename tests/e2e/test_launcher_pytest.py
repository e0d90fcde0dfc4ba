"""
pytest with pytest-asyncio and pytest-xdist under the launcher's --run: a test that hangs, and one that crashes.

Where no package index can be reached these tests are skipped, and the summary says so: they have not passed.
"""

import harness
import pytest
import wheels
from test_launcher_children import run

PACKAGES = ("pytest", "pytest-asyncio", "pytest-xdist", "execnet", "pluggy", "iniconfig", "packaging", "pygments")
INI = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
TESTS = "orders_pytest.py"
builds = pytest.mark.parametrize("build", [pytest.param("python3.14", marks=pytest.mark.long), "python3.15"])


def pytest_command(build, folder, *words):
    """The command line of pytest in a folder."""
    try:
        packages = wheels.unpacked(build, *PACKAGES)
    except wheels.Unreachable as why:
        pytest.skip(f"NOT TESTED: pytest and its plugins for {build} cannot be downloaded: {why}")
    print(f"{build}: " + ", ".join(f"{name} {version}" for name, version in sorted(wheels.versions(packages).items())))
    (folder / "pytest.ini").write_text(INI)
    (folder / TESTS).write_text((harness.HERE / "targets" / TESTS).read_text())
    place = ("-C", harness.inside(folder), f"PYTHONPATH={harness.inside(packages)}")
    return harness.in_root("env", "-i", *place, f"/usr/bin/{build}", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, TESTS)


def line_of(text):
    """The number of the line of the tests with this text."""
    lines = (harness.HERE / "targets" / TESTS).read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return number


def assert_hung(report, worker=""):
    assert f"\nTest       {TESTS}::test_refund[eur] (call){worker}\n" in report, report
    assert "Task(name='refund-eur', " in report and ", 1 waiter, holder: none on any stack" in report, report
    assert f"/{TESTS}', line {line_of('# hangs')}, in async test_refund()\n" in report, report
    assert f"/{TESTS}', line {line_of('lock.acquire()')}, in async Stock.take()\n" in report, report


def assert_crashed(report, how, worker=""):
    assert f"\nTest       {TESTS}::test_payment (call){worker}\n" in report, report
    assert f"Died of    SIGSEGV: {how}, in thread 1\n" in report, report
    assert "* Task(name='payment', " in report and "in string_at()" in report, report
    assert f"/{TESTS}', line {line_of('string_at(0)')}, in async test_payment.<locals>.pay()\n" in report, report


@builds
def test_hung_test(build, scratch):
    done = run(pytest_command(build, scratch, "-k", "not payment"), "--timeout", "8")
    assert done.status == 124 and "was still running after 8 s, and was killed\n" in done.stderr, done
    assert_hung(done.stderr)


@builds
def test_segfault_in_a_test(build, scratch):
    done = run(pytest_command(build, scratch, "-k", "not refund"))
    assert done.status == 139 and "Fatal Python error: Segmentation fault" in done.stderr, done  # pytest's faulthandler
    assert_crashed(done.stderr.partition("was killed by SIGSEGV\n")[2], "nothing is mapped at address 0x0")


@builds
def test_hung_test_of_a_worker(build, scratch):
    """xdist: the process that was started only waits; the test hangs in one of its two workers."""
    done = run(pytest_command(build, scratch, "-n", "2", "-k", "not payment"), "--timeout", "12")
    assert done.status == 124 and done.stderr.startswith("3 targets: 3 different reports, 0 could not be read\n"), done
    hung = done.stderr.split("\n=== ")[1]  # those that run a test come first
    worker = "gw1" if "worker gw1" in hung else "gw0"
    assert_hung(hung, f", worker {worker}")
    assert any("\nTest       worker gw" in group for group in done.stderr.split("\n=== ") if group != hung), done


@builds
def test_segfault_of_a_worker(build, scratch):
    """xdist goes on with another worker; the kernel has written a core."""
    done = run(pytest_command(build, scratch, "-n", "1", "-k", "payment"), cores=True, cwd=scratch)
    assert done.status == 1 and "crashed while running" in done.stdout, done
    report = done.stderr[done.stderr.index("Process ") :]
    # By faulthandler, which tells what it knows and then sends the signal again.
    assert_crashed(report, "sent by the process itself", ", worker gw0")
