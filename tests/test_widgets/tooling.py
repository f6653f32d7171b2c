"""Panels of tools that behave in the ways a panel has to cope with."""

import threading
from typing import Any

from ipywidgets import HTML, Button, Tab

from test_widgets.front import is_of, only, walk
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel

SECONDS = 20
LINK = "toolbench-link"


def finish(panel: ToolPanel) -> None:
    """Wait until the run of *panel* is over and shown."""
    until(lambda: panel.result is not None and not panel.is_busy)
    wait_for_ticker()


def wait_for_ticker() -> None:
    """Wait until all that waits for its tick was done."""
    assert ticker.wait_idle(SECONDS)


def shown(root: Any) -> str:
    """All markup below *root*, but what is hidden."""
    return "".join(
        part.value
        for part in walk(root)
        if isinstance(part, HTML) and "toolbench-hidden" not in part._dom_classes
    )


def buttons(root: Any) -> dict[str, Button]:
    """The buttons below *root* that can be seen, by what they say."""
    return {
        part.description: part
        for part in walk(root)
        if isinstance(part, Button) and "toolbench-hidden" not in part._dom_classes
    }


def links(root: Any) -> list[str]:
    """The fields below *root* that a notice names as links."""
    return [name for name, part in buttons(root).items() if is_of(part, LINK)]


def tabs(root: Any) -> Tab:
    """The one row of tabs below *root*."""
    return only(root, Tab)


def until(condition: Any) -> None:
    """Wait until *condition* holds."""
    pause = threading.Event()
    for _ in range(SECONDS * 100):
        if condition():
            return
        pause.wait(0.01)
    message = "It never came to that."
    raise AssertionError(message)
