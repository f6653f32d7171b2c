"""What widgets send to the page, counted without a page."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import comm
import ipywidgets
from comm.base_comm import BaseComm


class Wire:
    """Counts the comms that were opened, and the bytes of all messages."""

    def __init__(self) -> None:
        self.comms = self.bytes = 0

    def comm(self, *args, **options) -> BaseComm:
        wire = self

        class CountingComm(BaseComm):
            def publish_msg(self, msg_type, data=None, *_, **__):
                wire.comms += msg_type == "comm_open"
                wire.bytes += len(json.dumps(data, default=str))

        return CountingComm(*args, **options)


def wired() -> Wire:
    """Send what all widgets say to a wire from now on."""
    wire = Wire()
    comm.create_comm = wire.comm
    return wire


@contextmanager
def forgetting() -> Iterator[None]:
    """Forget the widgets that are made inside; Python closes those that nobody holds.

    Closing all of them would break a package that keeps some of them for later.
    """
    kept = ipywidgets.widget._instances
    before = set(kept)
    try:
        yield
    finally:
        for model_id in set(kept) - before:
            kept.pop(model_id, None)
