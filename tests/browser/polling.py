"""The only place where the browser tests wait by the clock."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

INTERVAL = 0.1


def poll(probe: Callable[[], T], *, until: str, seconds: float) -> T:
    """Ask until the answer is truthy and return it.

    Args:
        probe: Asks once; must return soon, whatever the state of the thing asked.
        until: What is waited for, for the error.
        seconds: How long to go on asking.

    Raises:
        TimeoutError: The answer was still falsy.
    """
    end = time.monotonic() + seconds
    while not (answer := probe()):
        if time.monotonic() > end:
            message = f"Waited {seconds:g} s until {until}: it did not happen."
            raise TimeoutError(message)
        time.sleep(INTERVAL)
    return answer
