"""Call something later: from a thread of its own or, without threads, from the kernel's loop."""

import asyncio
from collections.abc import Callable
from threading import Timer
from typing import Any

from toolbench.threads import have_threads


def later(
    seconds: float, act: Callable[..., object], *args: Any
) -> Callable[[], object]:
    """Call `act(*args)` after *seconds*, and return a function that takes this back.

    Without threads it comes when the kernel's loop is free: after the cell or the run of a
    plain function that goes on now. Without a loop it never comes.
    """
    if have_threads():
        timer = Timer(seconds, act, args)
        timer.daemon = True
        timer.start()
        return timer.cancel
    try:
        return asyncio.get_running_loop().call_later(seconds, act, *args).cancel
    except RuntimeError:  # a script: nothing would call it
        return lambda: None
