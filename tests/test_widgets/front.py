"""What a front end does to a form, without one: it records, types, picks and clicks."""

import re
from collections.abc import Iterator
from typing import Any

import ipywidgets as w
from comm.base_comm import BaseComm

from toolbench.widgets.kit.parts import PANEL
from toolbench.widgets.kit.search_list import Picker


class Wire:
    """Records every message of every comm, and what came beside them as bytes."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, Any]] = []
        self.live: set[str] = set()
        self.buffers: list[bytes] = []

    def comm(self, *args: Any, **options: Any) -> BaseComm:
        wire = self

        class RecordingComm(BaseComm):
            def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **_):
                wire.heard(self.comm_id, msg_type, data)
                wire.buffers += buffers or []

        return RecordingComm(*args, **options)

    def heard(self, comm_id: str, kind: str, data: Any) -> None:
        self.messages.append((comm_id, kind, data))
        if kind == "comm_open":
            self.live.add(comm_id)
        elif kind == "comm_close":
            self.live.discard(comm_id)

    def opened(self) -> int:
        """Count the comms opened so far."""
        return sum(kind == "comm_open" for _, kind, _ in self.messages)

    def updates(self) -> list[tuple[str, dict[str, Any]]]:
        """List the state changes sent so far: comm and state."""
        return [
            (comm_id, data["state"])
            for comm_id, kind, data in self.messages
            if kind == "comm_msg" and data.get("method") == "update"
        ]

    def text(self) -> str:
        """Everything that was ever sent, as text."""
        return repr([data for _, _, data in self.messages])


def deliver(widget: w.Widget, data: dict[str, Any]) -> None:
    """Deliver a message as a front end sends it."""
    widget._handle_msg({"content": {"data": data}, "buffers": []})


def receive(widget: w.Widget, **state: Any) -> None:
    """Deliver *state* as a front end sends it."""
    deliver(widget, {"method": "update", "state": state, "buffer_paths": []})


def type_into(widget: w.Widget, text: str) -> None:
    """Type *text* key by key, as `continuous_update` sends it."""
    if not widget.continuous_update:
        receive(widget, value=text)
        return
    receive(widget, value="")
    for end in range(1, len(text) + 1):
        receive(widget, value=text[:end])


def pick(widget: w.Widget, label: str) -> None:
    """Pick the option *label* of a list."""
    receive(widget, index=labels(widget).index(label))


def labels(widget: w.Widget) -> list[str]:
    """Return what the options of a list, or the buttons of a row, are called."""
    options = widget.options
    return [option if isinstance(option, str) else option[0] for option in options]


def press(buttons: w.ToggleButtons, label: str) -> None:
    """Click one of a row of buttons."""
    pick(buttons, label)


def click(button: w.Button, *, settled: bool = True) -> None:
    """Click a button, in a page that has waited for the last keys; not *settled*, in one without our module."""
    content = {"event": "click", **({"settled": True} if settled else {})}
    deliver(button, {"method": "custom", "content": content})


def walk(widget: w.Widget) -> Iterator[w.Widget]:
    """Give a widget and all that is shown in it, in the order of the page."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


def named(root: w.Widget, description: str, kind: type = w.Widget) -> Any:
    """Return the one shown widget of that description."""
    matches = [
        widget
        for widget in walk(root)
        if isinstance(widget, kind) and getattr(widget, "description", None) == description
    ]
    assert len(matches) == 1, f"{len(matches)} widgets are called {description!r}"
    return matches[0]


def only(root: w.Widget, kind: type) -> Any:
    """Return the one shown widget of that kind."""
    (match,) = [widget for widget in walk(root) if type(widget) is kind]
    return match


def page(root: w.Widget) -> str:
    """Return all the HTML on the page, but for the style sheet."""
    values = [widget.value for widget in walk(root) if isinstance(widget, w.HTML)]
    html = "".join(values).replace(PANEL, "")
    return re.sub("<style.*?</style>", "", html, flags=re.DOTALL)


def listing(view: Any, label: str | None = None) -> Any:
    """Return the list of *view* that is seen: the first, or the one called *label*; or None."""
    lists = (
        widget
        for widget in walk(root_of(view))
        if is_of(widget, "toolbench-list")
        and not is_of(widget, "toolbench-hidden")
        and label in (None, widget.description)
    )
    return next(lists, None)


def search_field(view: Any, label: str = "") -> Any:
    """Return the first search field of *view*, or the one that filters the list called *label*."""
    return next(
        widget
        for widget in walk(root_of(view))
        if is_of(widget, "toolbench-search") and label.lower() in widget.placeholder
    )


def pick_in_page(view: Any, key: str) -> None:
    """Pick the item with this *key* in the list that the page's module draws."""
    deliver(picker_of(view), {"method": "custom", "content": {"picked": key}})


def picker_of(view: Any) -> Picker:
    """Return what the page's module draws of the first list in *view*."""
    return next(widget for widget in walk(root_of(view)) if isinstance(widget, Picker))


def root_of(view: Any) -> w.Widget:
    """Return the widget of *view*, which may be one itself."""
    return getattr(view, "widget", view)


def is_of(widget: w.Widget, css_class: str) -> bool:
    """Tell whether *widget* has a CSS class."""
    return css_class in getattr(widget, "_dom_classes", ())
