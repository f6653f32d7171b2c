"""The only place where the browser tests wait by the clock."""

import time
from collections.abc import Callable
from typing import TypeVar

from patience import PATIENCE

T = TypeVar("T")

# Seconds. Each look asks the page, which has its own work to do
INTERVAL = 0.1


def poll(
    probe: Callable[[], T], *, until: str, unless: Callable[[], str | None] | None = None
) -> T:
    """Ask until the answer is truthy and return it.

    Args:
        probe: Asks once; must return soon, whatever the state of the thing asked.
        until: What is waited for, for the error.
        unless: Returns the failure that makes waiting useless, if there is one.

    Raises:
        TimeoutError: The answer was still falsy.
        AssertionError: It cannot come any more.
    """
    end = time.monotonic() + PATIENCE
    while not (answer := probe()):
        failure = unless() if unless else None
        assert not failure, f"Waited until {until}: {failure}"
        if time.monotonic() > end:
            message = f"Waited {PATIENCE:g} s until {until}: it did not happen."
            raise TimeoutError(message)
        time.sleep(INTERVAL)
    return answer
