"""Make the simple widgets of a panel: buttons, texts, drop-down lists, columns and rows."""

from collections.abc import Callable
from typing import Any

import ipywidgets as w

from toolbench.display.escape import Html
from toolbench.widgets.kit.clicks import HeldButton
from toolbench.widgets.kit.pool import Pool

HIDDEN = "toolbench-hidden"
"""The CSS class of hidden widgets."""
INVALID = "tb-invalid"
"""The CSS class of fields with an error."""
SUBMIT = "toolbench-submit"
"""The CSS class of the button that Ctrl+Enter presses."""


def put(widget: Any, html: Html) -> None:
    """Show *html* in *widget*; send nothing if *widget* shows it already."""
    if widget.value != html:
        widget.value = html


def show_if(widget: Any, *, is_shown: bool) -> None:
    """Show *widget* if *is_shown* is true, else hide it."""
    mark(widget, HIDDEN, is_marked=not is_shown)


def mark(widget: Any, name: str, *, is_marked: bool) -> None:
    """Give *widget* the CSS class *name*, or take it away; send nothing if nothing changes."""
    classes = tuple(each for each in widget._dom_classes if each != name)
    classes = (*classes, name) if is_marked else classes
    if widget._dom_classes != classes:
        widget._dom_classes = classes


def on_pick(widget: Any, react: Callable[[str], object]) -> None:
    """Call *react* with each key that a person picks in what our JavaScript module draws in *widget*."""

    def heard(_: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"picked": str(key)}:
                react(key)

    widget.on_msg(heard)


class Parts(Pool):
    """A factory for the widgets of one panel; `close` closes them all."""

    def button(
        self, label: str, *, look: str = "", tip: str = "", kind: str = "", **state: Any
    ) -> Any:
        """Return a button. *look* is the `button_style` of ipywidgets; *kind* is a CSS class."""
        return self.make(
            HeldButton,
            *("toolbench-button", *([kind] if kind else [])),
            description=label,
            button_style=look,
            tooltip=tip or label,
            **state,
        )

    def html(self, content: str = "", *, kind: str = "", **state: Any) -> Any:
        """Return a widget for our own HTML. Text from tools or servers must be escaped first.

        *kind* is another CSS class.
        """
        classes = ("toolbench-text", *([kind] if kind else []))
        return self.make(w.HTML, *classes, value=content, **state)

    def chooser(self, label: str, options: list[Any]) -> Any:
        """Return a drop-down list."""
        return self.make(w.Dropdown, "toolbench-field", options=options, description=label)

    def column(self, *children: Any, kind: str = "") -> Any:
        """Return *children* below each other; *kind* is another CSS class."""
        classes = ("toolbench-box", *([kind] if kind else []))
        return self.make(w.VBox, *classes, children=children)

    def row(self, *children: Any, kind: str = "") -> Any:
        """Return *children* beside each other, in several lines if there is no room.

        *kind* is another CSS class.
        """
        classes = ("toolbench-row", *([kind] if kind else []))
        return self.make(w.HBox, *classes, children=children)
