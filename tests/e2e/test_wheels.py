"""
Greenlets of published packages: other versions of greenlet than the root's, whose layout calibrates itself, the newest SQLAlchemy
and gevent, and greenback.

Where no package index can be reached these tests are skipped, and the summary says so: they have not passed.
"""

import functools

import compare
import harness
import pytest
import test_greenlets
import wheels

PLAIN = tuple(name for name in test_greenlets.SCENARIOS if not name.startswith(("gevent", "greenback", "bridge_")))
BRIDGES = ("bridge_portal", "bridge_running", "bridge_session", "bridge_sqlalchemy")
GEVENT = tuple(name for name in test_greenlets.SCENARIOS if name.startswith("gevent"))
NEWEST = ("greenlet", "sqlalchemy>=2.1")
# (build, requirements, scenarios): greenlet 3.2.4 has no wheel for 3.15, gevent is for release builds.
MATRIX = (
    ("python3.14", ("greenlet==3.2.4",), PLAIN + BRIDGES),
    ("python3.14d", ("greenlet==3.2.4",), PLAIN),
    *((build, NEWEST, PLAIN + BRIDGES) for build in harness.BUILDS),
    *((build, ("greenlet", "gevent"), GEVENT) for build in ("python3.14", "python3.15")),
)


def packages(build, requirements):
    try:
        return wheels.unpacked(build, *requirements)
    except wheels.Unreachable as why:
        pytest.skip(f"NOT TESTED: {', '.join(requirements)} for {build} cannot be downloaded: {why}")


@functools.cache
def answers(build, requirements, scenarios):
    folder = packages(build, requirements)
    made = [harness.make_core(build, f"greenlets/{name}", folder) for name in scenarios]
    targets = [f"core {each.core}" for each in made]
    found = harness.ask_all("host-gdb", f"/usr/bin/{build}", targets, [test_greenlets.COMMANDS[0], "py-async-bt --all --json"])
    return dict(zip(scenarios, zip(made, found)))


def row_of(build, requirements, *rest):
    """A parameter set. One test process reads all cores of a row; debug builds are for `make check-long`."""
    marks = [pytest.mark.xdist_group(f"wheels-{build}-{requirements[0]}")]
    return pytest.param(build, requirements, *rest, marks=marks + [pytest.mark.long] * build.endswith("d"))


@pytest.mark.parametrize(
    ("build", "requirements", "scenario"),
    [row_of(build, requirements, scenario) for build, requirements, scenarios in MATRIX for scenario in scenarios],
    ids=lambda each: "+".join(each) if isinstance(each, tuple) else each,
)
def test_greenlets_of_published_packages(build, requirements, scenario):
    scenarios = next(row[2] for row in MATRIX if row[:2] == (build, requirements))
    made, (greenlets, tasks) = answers(build, requirements, scenarios)[scenario]
    test_greenlets.check(made, greenlets)
    if "tasks" in made.oracle:
        test_greenlets.check_bridges(made.oracle, tasks)


GREENBACK = (*NEWEST, "greenback", "outcome", "sniffio")


@pytest.mark.parametrize("build", harness.BUILDS)
def test_greenback(build):
    made = harness.make_core(build, "greenlets/greenback_portal", packages(build, GREENBACK))
    (answer,) = harness.ask("host-gdb", f"/usr/bin/{build}", f"core {made.core}", "py-async-bt --all --json")
    check_greenback(made, answer)


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_greenback_live(gdb, build, scratch):
    folder = packages(build, GREENBACK)
    harness.prepare()
    command = harness.scenario_command(build, "greenlets/greenback_portal", "live", scratch, folder)
    with harness.running(command, scratch) as process:
        (answer,) = harness.ask(gdb, f"/usr/bin/{build}", f"attach {process.pid}", "py-async-bt --all --json")
    check_greenback(harness.Scenario(scratch, command, ""), answer)


def check_greenback(made, answer):
    document = answer.json()
    assert document["complete"], answer
    tasks = {task["name"]: task for task in document["tasks"]}
    for name, functions in made.oracle["own"].items():
        stack = document["stacks"][tasks[name]["stack"]]
        own = [frame["function"] for frame in stack if frame["file"].endswith("greenback_portal.py")]
        assert own == functions, answer
        assert any(tasks[name]["greenlets"]), answer
        assert compare.frames(document, tasks[name]["stack"])[0][0] == "sleep", answer


@pytest.mark.parametrize(("build", "requirements"), [row_of(*row[:2]) for row in MATRIX], ids="+".join)
def test_the_versions_are_other_ones_than_those_of_the_root(build, requirements):
    found = wheels.versions(packages(build, requirements))
    print(f"{build}: " + ", ".join(f"{name} {version}" for name, version in sorted(found.items())))
    assert found["greenlet"] != "3.3.2"
