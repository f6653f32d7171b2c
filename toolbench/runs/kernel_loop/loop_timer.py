"""Call a function later: in a separate thread or, without threads, in the kernel's loop."""

import asyncio
from collections.abc import Callable
from threading import Timer
from typing import Any

from toolbench.threads import have_threads


def later(seconds: float, act: Callable[..., object], *args: Any) -> Callable[[], object]:
    """Call `act(*args)` after *seconds*; return a function that cancels the call.

    On a Python without threads, *act* is called when the kernel's loop is free: after the running
    cell or plain function. Without threads and without a loop, *act* is never called.
    """
    if have_threads():
        timer = Timer(seconds, act, args)
        timer.daemon = True
        timer.start()
        return timer.cancel
    try:
        return asyncio.get_running_loop().call_later(seconds, act, *args).cancel
    except RuntimeError:
        # A script: nothing would call it
        return lambda: None
