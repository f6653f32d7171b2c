"""Make widgets that share a layout and styles, and close them together."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from ipywidgets import Layout, VBox, Widget

from toolbench.widgets.frontend import front_end
from toolbench.widgets.kit.clicks import keyboard


@cache
def _style_of(kind: Any) -> Any:
    """Return the Style class of widgets of this *kind*; None if they have no Style."""
    trait = kind.class_traits().get("style")
    return None if trait is None else trait.klass


# What no widget of ours changes: the page has the same defaults
_NEVER_SENT = frozenset({"_view_count", "box_style", "description_allow_html"})

# A box with two forms of one thing: each page of the kernel shows the last child, or the others
_EITHER = ("toolbench-box", "toolbench-either")


@cache
def _keys_of(kind: Any) -> list[str]:
    """Return the names of the traits that widgets of this *kind* send to the page."""
    return [key for key in kind.class_traits(sync=True) if key not in _NEVER_SENT]


class Pool:
    """A factory for widgets. All widgets share one Layout, and those of one class share one Style.

    Usually the front end needs three models for a widget: the widget, its Layout and its Style.
    In a pool it needs only one, so a form is fast. CSS classes set the appearance.
    """

    def __init__(self) -> None:
        front_end.load()
        self._shared: dict[type[Widget], Widget] = {}
        self._lender: Pool | None = None
        self._live: dict[int, Widget] = {}

    def __len__(self) -> int:
        return len(self._live) + len(self._shared)

    def borrow(self, lender: "Pool") -> None:
        """Use the Layout and the Styles of *lender*, which closes them, instead of own ones.

        Call this before the first `make`.
        """
        self._lender = lender

    def make(self, kind: Any, *classes: str, **state: Any) -> Any:
        """Return a new widget of this *kind*, with these CSS *classes* and *state*."""
        style = _style_of(kind)
        if style is not None:
            state["style"] = self._one(style)
        layout, keys = self._one(Layout), _keys_of(kind)
        widget = kind(keys=keys, layout=layout, _dom_classes=classes, **state)
        self._live[id(widget)] = widget
        keyboard.follow(widget)
        return widget

    def adopt(self, widget: Widget) -> None:
        """Let `close` also close *widget*, which other code made, with the layout and style it made.

        A layout or style with settings stays open: other widgets may have it too.
        """
        self._live[id(widget)] = widget
        keyboard.follow(widget)
        for name in ("layout", "style"):
            part = getattr(widget, name, None)
            if isinstance(part, Widget) and not part.get_state(drop_defaults=True):
                self._live[id(part)] = part

    def editor_of(self, area: Any) -> Any:
        """Return what to show for editing the text of *area*: an editor for code, or *area* itself."""
        editor = front_end.editor_of(area)
        if editor is None:
            return area
        self._live[id(editor)] = editor
        return self.make(VBox, *_EITHER, children=(area, editor))

    def drawn(self, kind: type[Widget], name: str, *plain: Widget, **state: Any) -> Any:
        """Return a box whose traits our JavaScript module draws.

        Args:
            kind: The class of the box: a `VBox` with these traits.
            name: The function of the module that draws them.
            plain: The widgets that are shown instead on a page without the module.
            state: The traits at first.
        """
        box = self.make(kind, *_EITHER, children=plain, **state)
        view = front_end.view_of(box, name, self._one(Layout))
        if view is not None:
            self._live[id(view)] = view
            box.children = (*plain, view)
        return box

    def drop(self, widgets: Iterable[Widget]) -> None:
        """Close these *widgets* now; the shared layout and styles stay."""
        for widget in widgets:
            if self._live.pop(id(widget), None) is not None:
                widget.close()

    def close(self) -> None:
        """Close every widget, then the shared layout and styles."""
        self.drop(list(self._live.values()))
        for shared in self._shared.values():
            shared.close()
        self._shared.clear()

    def _one(self, kind: Any) -> Widget:
        if self._lender is not None:
            return self._lender._one(kind)
        if kind not in self._shared:
            # All its settings are the page's defaults, and stay that
            keys = [key for key in _keys_of(kind) if key.startswith("_")]
            self._shared[kind] = kind(keys=keys)
        return self._shared[kind]
