"""A Stop button in a cell that waits for a model; it disappears when the cell ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from toolbench.display.css import REMARK
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.widgets.kit.parts import Parts
from toolbench.widgets.kit.plain_style import PANEL

_FEATURE = "kernel subshells"
"""The name of the kernel's feature (JEP 91) that lets a click arrive while a cell runs."""
_TIP = "Stop the request, the tools that run, and a question to you"
_STOPPING = "Stopping. If the cell goes on, choose Kernel &gt; Interrupt."


class StopButton:
    """A button that stops the work of a cell.

    The button is shown only if a click can arrive while the cell runs: a person must use the front
    end, and the kernel must have subshells. Without the button, Kernel > Interrupt stops the work.
    """

    def __init__(self, shell: Any, stop: Callable[[], object]) -> None:
        """Make a button for *shell*. A click calls *stop*, on the thread of a subshell."""
        self._publisher = shell.display_pub
        self._stop = stop
        features = getattr(getattr(shell, "kernel", None), "kernel_info", {})
        self._is_heard = _FEATURE in features.get("supported_features", ())
        self.is_pressed = False

    @contextmanager
    def display(self) -> Iterator[None]:
        """Show the button during the `with` block."""
        if not (self._is_heard and can_ask_in_cell()):
            yield
            return
        parts = Parts()
        button = parts.button("Stop", tip=_TIP)
        remark = parts.html()
        button.on_click(lambda button: self._pressed(button, remark))
        here = {"transient": {"display_id": uuid4().hex}}
        view = parts.row(parts.html(PANEL), button, remark)._repr_mimebundle_()
        self._publisher.publish(view, **here)
        _hear_while_busy(button)
        try:
            yield
        finally:
            nothing = {"text/plain": "", "text/html": ""}
            self._publisher.publish(nothing, update=True, **here)
            parts.close()

    def _pressed(self, button: Any, remark: Any) -> None:
        self.is_pressed = button.disabled = True
        self._stop()
        remark.value = f'<span style="{REMARK}">{_STOPPING}</span>'


def _hear_while_busy(button: Any) -> None:
    """Let the front end choose the thread that handles a click on *button*.

    ipykernel 7.0 to 7.3 do this always. From ipykernel 7.4 on, the thread that made the button
    handles the click, but this thread is busy.
    """
    with suppress(AttributeError):
        del button.comm._reply_subshell_id
