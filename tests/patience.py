"""How long a test waits for what must come: one patience for all tests.

A wait that succeeds costs nothing, so that nobody has to guess how slow a machine may be.
`TOOLBENCH_PATIENCE=3` makes every wait three times as long.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

# Seconds
PATIENCE = 60.0 * float(os.environ.get("TOOLBENCH_PATIENCE") or 1)
# Seconds between the first two looks, and the most between two: a page has its own work to do
SOONEST, LATEST = 0.01, 0.1


def eventually(
    condition: Callable[[], T], *, unless: Callable[[], object] | None = None, what: str = "it"
) -> T:
    """Wait until *condition* returns something true, and return that.

    Args:
        condition: Looks once, and returns soon.
        unless: Looks for the failure that makes waiting useless, such as an error in a log: what it
            returns, if that is true, fails the test at once.
        what: What is waited for, for the failure.
    """
    end = time.monotonic() + PATIENCE
    pause = threading.Event()
    interval = SOONEST
    while not (answer := condition()):
        failure = unless() if unless else None
        assert not failure, f"{what} cannot come true any more: {failure}"
        assert time.monotonic() < end, f"{what} did not come true in {PATIENCE:g} s"
        pause.wait(interval)
        interval = min(1.2 * interval, LATEST)
    return answer


def join(thread: threading.Thread) -> None:
    """Wait until *thread* has ended; it fails the test if it does not."""
    thread.join(PATIENCE)
    assert not thread.is_alive(), f"{thread.name} did not end in {PATIENCE:g} s"


@contextmanager
def when(condition: Callable[[], bool], act: Callable[[], object]) -> Iterator[None]:
    """Do *act* in another thread as soon as *condition* holds: during what the block waits for."""
    calls = []

    def watch() -> None:
        eventually(condition)
        calls.append(True)
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        join(thread)
    assert calls
