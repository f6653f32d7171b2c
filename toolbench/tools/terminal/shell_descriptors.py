"""Wait until a file descriptor can be read or written, and close descriptors."""

import os
import selectors
import sys


def close_all(*descriptors: int) -> None:
    """Close *descriptors*."""
    for descriptor in descriptors:
        os.close(descriptor)


def selector() -> selectors.BaseSelector:
    """Return a new selector. On Linux the selector works even if no descriptor is free."""
    if sys.platform == "linux":
        return selectors.PollSelector()
    # poll() of macOS does not work with terminals
    return selectors.DefaultSelector()


def ready(descriptor: int, event: int, seconds: float) -> bool:
    """Wait for *event* on *descriptor*; return False if it does not happen within *seconds*."""
    with selector() as one:
        one.register(descriptor, event)
        return bool(one.select(max(0.0, seconds)))
