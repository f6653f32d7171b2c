"""The widgets of one form: made with a shared layout and shared styles, closed together."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from ipywidgets import Layout, Widget


@cache
def _style_of(kind: type[Widget]) -> type[Widget] | None:
    trait = kind.class_traits().get("style")
    return None if trait is None else trait.klass


class Pool:
    """Makes widgets that share one Layout and one Style of each kind.

    A widget costs the front end one model for itself, one for its Layout and one for
    its Style. Sharing the last two is what makes a form light; the looks come from
    CSS classes.
    """

    def __init__(self) -> None:
        self._shared: dict[type[Widget], Widget] = {}
        self._live: dict[int, Widget] = {}

    def __len__(self) -> int:
        return len(self._live) + len(self._shared)

    def make(self, kind: type[Widget], *classes: str, **state: Any) -> Any:
        """Return a new widget of this *kind*, with these CSS *classes* and *state*."""
        style = _style_of(kind)  # type: ignore[arg-type]  # untyped classes are hashable
        if style is not None:
            state["style"] = self._one(style)
        widget = kind(layout=self._one(Layout), _dom_classes=classes, **state)
        self._live[id(widget)] = widget
        return widget

    def adopt(self, widget: Widget) -> None:
        """Close *widget*, which somebody else made, together with the others."""
        for part in (widget, getattr(widget, "layout", None), _own_style(widget)):
            if isinstance(part, Widget):
                self._live[id(part)] = part

    def drop(self, widgets: Iterable[Widget]) -> None:
        """Close these *widgets* now; the shared layout and styles stay."""
        for widget in widgets:
            if self._live.pop(id(widget), None) is not None:
                widget.close()

    def close(self) -> None:
        """Close every widget, then the layout and the styles they shared."""
        self.drop(list(self._live.values()))
        for shared in self._shared.values():
            shared.close()
        self._shared.clear()

    def _one(self, kind: type[Widget]) -> Widget:
        if kind not in self._shared:
            self._shared[kind] = kind()
        return self._shared[kind]


def _own_style(widget: Widget) -> Widget | None:
    return getattr(widget, "style", None)
