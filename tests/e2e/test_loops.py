"""What loops do, and, where no task is alive, what threads do instead, in the head of a listing."""

import re

import harness
import pytest


def head(gdb, build, scenario):
    """The lines of the head, with what differs from run to run as X."""
    (answer,) = harness.ask_core(gdb, build, scenario, "py-async-tasks")
    text = re.sub(r"0x[0-9a-f]+|(?<=oracle\.py:)\d+|(?<=events\.py:)\d+|(?<=thread )\d+", "X", answer.text)
    return text.splitlines()[1:], answer


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
def test_head_says_what_loops_do(gdb, build):
    lines, answer = head(gdb, build, "loops")
    for line in (
        "thread X: loop X in epoll, next timer in 700 s, 0 ready; 2 of its 2 tasks wait",
        "thread X: loop X in epoll, no timer, 0 ready; 1 of its 1 task waits",
        "thread X: loop X runs callback block (loops.py:19), in posix.read; 1 of its 1 task waits",
        "thread X: loop X runs callback read, in posix.read; 1 of its 1 task waits",
        "thread X: loop X runs Task-8, in block (loops.py:19), in posix.read; 0 of its 1 task waits",
        "loop X is not running; 1 of its 1 task waits",
        "loop X is closed; 1 of its 1 task waits",
    ):
        assert line in lines, f"{line}\n{answer}"
    (mine,) = [line for line in lines if "runs callback finish" in line]
    assert mine.endswith("in stop (oracle.py:X); handles SIGUSR1, SIGTERM; 1 of its 1 task waits"), answer


@pytest.mark.parametrize("gdb, build", harness.PAIRS)
@pytest.mark.parametrize(
    "scenario, lines",
    [
        ("shutdown", (
            "MainThread (thread X): threading._shutdown waits for consumer (thread X), stopper (thread X), which are no daemons",
            "consumer (thread X): in consume (shutdown.py:23), in Queue.get of Queue X",
            "Thread-1 (consume) (thread X): in consume (shutdown.py:23), in Queue.get of Queue X",
        )),
        ("shutdown_executor", (
            "MainThread (thread X): threading._shutdown joins pool_0 (thread X)",
            "pool_0 (thread X): in hangs (shutdown_executor.py:20), in Event.wait of Event X",
        )),
        ("blocked", (
            "MainThread (thread X): in stop (oracle.py:X), in posix.abort",
            "sleep (thread X): in sleeps (blocked.py:66), in time.sleep for 4,000 s",
            "… 24 more threads",
        )),
    ],
)  # fmt: skip
def test_no_task_alive_is_an_answer(gdb, build, scenario, lines):
    found, answer = head(gdb, build, scenario)
    for line in (*lines, "No task is alive"):
        assert line in found, f"{line}\n{answer}"
    assert answer.error is None and len(found) <= 12, answer
