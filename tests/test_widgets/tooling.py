"""Panels of tools that behave in the ways a panel has to cope with."""

from typing import Any

from ipywidgets import HTML, Button, Tab
from patience import PATIENCE, eventually

from test_widgets.front import is_of, only, walk
from toolbench.widgets.kit.ticker import ticker
from toolbench.widgets.panel import ToolPanel

LINK = "toolbench-link"


def finish(panel: ToolPanel) -> None:
    """Wait until the run of *panel* is over and shown."""
    eventually(lambda: panel.result is not None and not panel.is_busy)
    wait_for_ticker()


def wait_for_ticker() -> None:
    """Wait until all that waits for its tick was done."""
    assert ticker.wait_idle(PATIENCE)


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
