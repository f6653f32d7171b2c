"""A Stop button in a cell that waits for a model; it is gone when the cell is over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from toolbench.runs.input_prompt import somebody_there
from toolbench.widgets.kit.parts import STYLE, Parts

_FEATURE = "kernel subshells"
"""What a kernel calls it (JEP 91) that a click is heard while a cell runs."""


class StopButton:
    """Stops what a cell of *shell* waits for; elsewhere Kernel > Interrupt does.

    It is shown where a click is heard in time: a person is there, and the kernel has subshells.
    """

    def __init__(self, shell: Any, stop: Callable[[], object]) -> None:
        """Have a press call *stop*, on the thread of a subshell."""
        self._publisher = shell.display_pub
        self._stop = stop
        features = getattr(getattr(shell, "kernel", None), "kernel_info", {})
        self._is_heard = _FEATURE in features.get("supported_features", ())
        self.is_pressed = False

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the button during the `with` block."""
        if not (self._is_heard and somebody_there()):
            yield
            return
        parts = Parts()
        button = parts.button("Stop", tip="Stop the request and the tools that run")
        button.on_click(self._pressed)
        here = {"transient": {"display_id": uuid4().hex}}
        view = parts.row(parts.html(STYLE), button)._repr_mimebundle_()
        self._publisher.publish(view, **here)
        _hear_while_busy(button)
        try:
            yield
        finally:
            nothing = {"text/plain": "", "text/html": ""}
            self._publisher.publish(nothing, update=True, **here)
            parts.close()

    def _pressed(self, button: Any) -> None:
        self.is_pressed = button.disabled = True
        self._stop()


def _hear_while_busy(button: Any) -> None:
    """Have the front end choose the thread for a click on *button*, as ipykernel 7.0 to 7.3 do.

    From 7.4 on, a click comes to the thread that made the button: the one that waits.
    """
    with suppress(AttributeError):
        del button.comm._reply_subshell_id
