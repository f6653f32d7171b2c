"""Descriptors of a shell: wait until there is something to read or write, close them."""

import os
import selectors
import sys


def close_all(*descriptors: int) -> None:
    """Close *descriptors*."""
    for descriptor in descriptors:
        os.close(descriptor)


def selector() -> selectors.BaseSelector:
    """A selector; on Linux one without a descriptor of its own: perhaps none is left."""
    if sys.platform == "linux":
        return selectors.PollSelector()
    return selectors.DefaultSelector()  # poll() of macOS knows no terminals


def ready(descriptor: int, event: int, seconds: float) -> bool:
    """Tell whether *event* comes for *descriptor* within *seconds*."""
    with selector() as one:
        one.register(descriptor, event)
        return bool(one.select(max(0.0, seconds)))
