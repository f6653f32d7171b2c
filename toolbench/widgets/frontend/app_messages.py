"""The messages that apps in the page send, passed to the function that handles each app."""

from collections.abc import Callable, Mapping
from functools import partial
from secrets import token_hex
from threading import Lock
from typing import Any

Reply = Callable[[str], object]
Receiver = Callable[[Any, Reply], None]
# Characters
_LONGEST_NAME = 64


class AppMessages:
    """A table of the open apps of this kernel, by random names. Any thread may use it."""

    def __init__(self) -> None:
        """Make an empty table."""
        self._lock = Lock()
        self._receivers: dict[str, Receiver] = {}

    def open(self, receiver: Receiver) -> str:
        """Pass the messages of a new app to *receiver*. Return the name of the app."""
        name = token_hex(16)
        with self._lock:
            self._receivers[name] = receiver
        return name

    def close(self, name: str) -> None:
        """Ignore all further messages of the app *name*."""
        with self._lock:
            self._receivers.pop(name, None)

    def receive(self, content: Any, send: Callable[[Any], object]) -> None:
        """Handle *content*, a message of the page, and return at once.

        *send* sends an answer to the page.
        """
        if not isinstance(content, Mapping):
            return
        name, frame = content.get("app"), content.get("frame")
        if not isinstance(name, str) or not isinstance(frame, str):
            return
        receiver = self._receivers.get(name)
        if receiver is None or len(frame) > _LONGEST_NAME:
            return
        address = {"app": name, "frame": frame}
        if content.get("kind") == "open":
            send({"kind": "opened", **address})
        elif content.get("kind") == "request":
            receiver(content.get("text"), partial(_reply, send, address))


def _reply(send: Callable[[Any], object], address: Mapping[str, str], text: str) -> None:
    send({"kind": "answer", **address, "text": text})


app_messages = AppMessages()
"""The table of the open apps of this kernel."""
