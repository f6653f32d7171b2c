"""Delay the effect of a click until the last typed keys have arrived.

With our JavaScript module the page delays the click (`frontend/src/clicks.ts`) until the kernel has
answered all changes of fields. The page marks such a click as settled, so it need not wait here.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import monotonic
from typing import Any, ParamSpec

from ipywidgets import Button

from toolbench.runs.page import later
from toolbench.widgets.kit.ticker import ticker

# Seconds after the last edit before a click takes effect
QUIET = 0.3
_P = ParamSpec("_P")
_settled: ContextVar[bool] = ContextVar("settled", default=False)


@contextmanager
def message_of_page(content: Mapping[str, Any]) -> Iterator[None]:
    """Make a `with` block in which *content*, a message from a widget in the page, is handled.

    If the page has already waited for the last typed keys, no `Debounce` in the block waits again.
    """
    token = _settled.set(content.get("settled") is True)
    try:
        yield
    finally:
        _settled.reset(token)


class HeldButton(Button):
    """A button. If our JavaScript module is there, a click waits in the page for the last typed keys."""

    def _handle_custom_msg(self, content: Any, buffers: Any) -> None:
        with message_of_page(content):
            super()._handle_custom_msg(content, buffers)


class Debounce:
    """Delays an action until no field has been edited for a moment.

    ipywidgets sends a change of a field only after the kernel has answered the change
    before, but ipywidgets sends a click at once. So a quick click may arrive before the
    last typed keys.
    """

    def __init__(self) -> None:
        """Make a delay. No field has been edited yet."""
        self._last_edit = 0.0
        self._waiting: list[tuple[Any, ...]] = []
        self._lock = Lock()

    def edited(self) -> None:
        """Remember that a field was edited now."""
        self._last_edit = monotonic()

    def then(self, act: Callable[_P, object], *args: _P.args, **options: _P.kwargs) -> None:
        """Call *act* with these arguments now if the last edit is old enough, else later in another thread.

        If the page has waited already (see `message_of_page`), call *act* now. If the same call
        still waits, do nothing: a second click asks for the same action.
        """
        is_settled = _settled.get()
        call = (act, args, options)
        with self._lock:
            if call in self._waiting:
                return
            self._waiting.append(call)

        def go() -> bool:
            if not is_settled and monotonic() - self._last_edit < QUIET:
                return True
            with self._lock:
                self._waiting.remove(call)
            act(*args, **options)
            return False

        if go():
            ticker.watch(go)
            later(QUIET - (monotonic() - self._last_edit), ticker.look_now)
