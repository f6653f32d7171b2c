"""Clicks and Enter keys that are delayed until the last typed keys have arrived.

ipywidgets sends a change of a field only after the kernel has answered the previous change, but it
sends a click at once. So a quick click would overtake the last typed keys. A page with our
JavaScript module delays the click until the kernel has answered all changes, and marks the click as
settled (`frontend/src/clicks.ts`). On other pages, and in Colab, whose widgets the JavaScript
cannot access, this Python module delays the click in the kernel.
"""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from ipywidgets import Button

from toolbench.runs.page import later

QUIET = 0.3
"""Seconds after an edit in which more keys may still arrive, and for which a click is delayed."""


class Keyboard:
    """A record of when the user last typed in any field."""

    def __init__(self) -> None:
        """Start as if nothing has been typed yet."""
        self._last = -QUIET

    def follow(self, field: Any) -> None:
        """Record what is typed into *field*, if the user can type or drag in it."""
        if field.has_trait("continuous_update"):
            field.observe(self._typed, "value")

    def _typed(self, _: object) -> None:
        self._last = monotonic()

    def is_settled(self, message: Mapping[str, Any]) -> bool:
        """Whether the keys that were typed before the page sent *message* have arrived."""
        return message.get("settled") is True or monotonic() - self._last >= QUIET


keyboard = Keyboard()
"""The record of typing on the pages of this process."""


class HeldButton(Button):
    """A button whose click takes effect after the last typed keys have arrived.

    While a click is delayed, further clicks are ignored.
    """

    _is_held = False

    def _handle_custom_msg(self, content: Any, buffers: Any) -> None:
        if keyboard.is_settled(content):
            super()._handle_custom_msg(content, buffers)
        elif not self._is_held:
            self._is_held = True
            later(QUIET, self._let_go, content, buffers)

    def _let_go(self, content: Any, buffers: Any) -> None:
        self._is_held = False
        # Like the module, drop a click on a button that has been closed or disabled meanwhile
        if self.comm is not None and not self.disabled:
            super()._handle_custom_msg(content, buffers)


def on_enter(line: Any, react: Callable[[], object]) -> None:
    """Call *react* when Enter is pressed in *line*, after the last typed keys have arrived."""

    def let_go() -> None:
        if line.comm is not None:
            react()

    def submitted(_: Any, content: Any, buffers: Any) -> None:
        if content.get("event") != "submit":
            return
        if keyboard.is_settled(content):
            react()
        else:
            later(QUIET, let_go)

    line.on_msg(submitted)
