"""Fixtures of the end-to-end tests, and the scheduling that lets one GDB process serve many tests."""

import collections

import harness
import pytest

# (source, gdb, build): scenarios that the selected tests need. Filled at the end of collection, in every test process alike.
WANTED = collections.defaultdict(set)


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also run what `make check` leaves out for its length")


def pytest_report_header(config):
    try:
        harness.check()
    except harness.Missing as missing:
        pytest.exit(str(missing), returncode=1)
    return harness.versions()


def source_of(item):
    return "live" if item.module.__name__ == "test_live" else "core"


def place_of(item):
    """(gdb, build, scenario) of a test that has all three, or None."""
    params = getattr(getattr(item, "callspec", None), "params", {})
    return tuple(params[key] for key in ("gdb", "build", "scenario")) if {"gdb", "build", "scenario"} <= set(params) else None


def exists(item):
    """Whether the build has what the scenario needs."""
    place = place_of(item)
    return place is None or place[1] in harness.ONLY.get(place[2], harness.BUILDS)


@pytest.hookimpl(tryfirst=True)  # xdist looks at the groups in the same hook
def pytest_collection_modifyitems(config, items):
    """Tests of one GDB and build run in one test process, one after the other: they share what that GDB has read."""
    long = [item for item in items if item.get_closest_marker("long")]
    if long and not config.getoption("long"):
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
    items[:] = [item for item in items if exists(item)]
    for item in items:
        place = place_of(item)
        if place is not None:
            item.add_marker(pytest.mark.xdist_group("-".join([source_of(item), *place[:2]])))


def pytest_collection_finish(session):
    for item in session.items:
        place = place_of(item)
        if place is not None and place[2] in harness.SCENARIOS:  # those of greenlets are read on their own
            gdb, build, scenario = place
            WANTED[source_of(item), gdb, build].add(scenario)


@pytest.fixture
def scratch():
    """An empty folder that both GDBs see."""
    with harness.scratch_folder() as folder:
        yield folder


@pytest.fixture
def reading(request, gdb, build, scenario):
    """What @p gdb reads in the core (in test_live: the process) of @p scenario under @p build."""
    source = source_of(request.node)
    return harness.read(source, gdb, build, scenario, WANTED[source, gdb, build])
