"""A factory for the simple widgets of a panel, which share styles and are closed together."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import ipywidgets as w
from ipywidgets.widgets.widget_description import DescriptionWidget

from toolbench.display.escape import Html
from toolbench.widgets.frontend import front_end
from toolbench.widgets.kit.clicks import HeldButton, keyboard

HIDDEN = "toolbench-hidden"
"""The CSS class of hidden widgets."""
INVALID = "tb-invalid"
"""The CSS class of fields with an error."""
SUBMIT = "toolbench-submit"
"""The CSS class of the button that Ctrl+Enter presses."""


def put(widget: Any, html: Html) -> None:
    """Show *html* in *widget*. Send nothing if the widget already shows it."""
    if widget.value != html:
        widget.value = html


def show_if(widget: Any, *, is_shown: bool) -> None:
    """Show *widget* if *is_shown* is true; otherwise hide it."""
    mark(widget, HIDDEN, is_marked=not is_shown)


def mark(widget: Any, name: str, *, is_marked: bool) -> None:
    """Add the CSS class *name* to *widget*, or remove it. Send nothing if nothing changes."""
    classes = widget._dom_classes
    if is_marked and name not in classes:
        widget._dom_classes = (*classes, name)
    elif not is_marked and name in classes:
        widget._dom_classes = tuple(each for each in classes if each != name)


def on_pick(widget: Any, react: Callable[[str], object]) -> None:
    """Call *react* with the key of each item that the user picks in *widget*.

    Our JavaScript module draws the widget and sends the keys.
    """

    def heard(_: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"picked": str(key)}:
                react(key)

    widget.on_msg(heard)


# Traits that our widgets never change: the page has the same defaults
_NEVER_SENT = frozenset({"_view_count", "box_style", "description_allow_html"})

# A box with two forms of one view: each page shows either the last child or the others
_EITHER = ("toolbench-box", "toolbench-either")


@cache
def _style_of(kind: Any) -> Any:
    """Return the Style class of widgets of this *kind*; None if they have no Style."""
    trait = kind.class_traits().get("style")
    if trait is None:
        return None
    return trait.klass


@cache
def _keys_of(kind: Any) -> list[str]:
    """Return the names of the traits that widgets of this *kind* send to the page."""
    return [key for key in kind.class_traits(sync=True) if key not in _NEVER_SENT]


class Parts:
    """A factory for the widgets of one panel, which also closes them.

    In ipywidgets, each widget has its own Layout and Style, so the front end loads three models for
    each widget. Here, all widgets share one Layout, and widgets of the same class share one Style.
    Therefore, a form appears faster. CSS classes determine how the widgets look.
    """

    def __init__(self) -> None:
        """Load our JavaScript module into the page. No widget is made yet."""
        front_end.load()
        self._shared: dict[type[w.Widget], w.Widget] = {}
        self._lender: Parts | None = None
        self._live: dict[int, w.Widget] = {}

    def __len__(self) -> int:
        return len(self._live) + len(self._shared)

    def borrow(self, lender: "Parts") -> None:
        """Use the Layout and the Styles of *lender*. Call this before the first `make`.

        `lender.close` closes them.
        """
        self._lender = lender

    # --- one widget ------------------------------------------------------------------

    def make(self, kind: Any, *classes: str, **state: Any) -> Any:
        """Return a new widget of the class *kind*, with these CSS *classes* and this *state*."""
        style = _style_of(kind)
        if style is not None:
            state["style"] = self._one(style)
        if issubclass(kind, DescriptionWidget):
            # ipywidgets shows None as the tooltip "null" of a label
            state.setdefault("tooltip", "")
        layout, keys = self._one(w.Layout), _keys_of(kind)
        names = [name for name in classes if name]
        widget = kind(keys=keys, layout=layout, _dom_classes=names, **state)
        self._live[id(widget)] = widget
        keyboard.follow(widget)
        return widget

    def button(
        self,
        label: str,
        act: Callable[[], object] | None = None,
        *,
        look: str = "",
        tip: str = "",
        kind: str = "",
        is_urgent: bool = False,
        **state: Any,
    ) -> Any:
        """Return a button. A click on it calls *act*.

        Args:
            label: The text of the button.
            act: The function that a click calls. If it is None, the caller adds the function later.
            look: The `button_style` of ipywidgets.
            tip: The tooltip. By default, it is the label.
            kind: One or more CSS classes, separated by spaces.
            is_urgent: Whether a click takes effect at once, for example on a button that stops
                work. Any other click takes effect only after all keys that the user typed before it
                have arrived.
            **state: Other traits of the widget.
        """
        state |= {"description": label, "button_style": look, "tooltip": tip or label}
        button_class: type[w.Button] = HeldButton
        if is_urgent:
            button_class = w.Button
        button = self.make(button_class, "toolbench-button", *kind.split(), **state)
        if act is not None:
            button.on_click(lambda _: act())
        return button

    def html(self, content: str = "", *, kind: str = "", **state: Any) -> Any:
        """Return a widget for our own HTML. Text from tools or servers must be escaped first.

        *kind* is an additional CSS class.
        """
        return self.make(w.HTML, "toolbench-text", kind, value=content, **state)

    def chooser(self, label: str, options: list[Any]) -> Any:
        """Return a drop-down list."""
        return self.make(w.Dropdown, "toolbench-field", options=options, description=label)

    def column(self, *children: Any, kind: str = "") -> Any:
        """Return a box with *children* one below the other. *kind* is an additional CSS class."""
        return self.make(w.VBox, "toolbench-box", kind, children=children)

    def row(self, *children: Any, kind: str = "") -> Any:
        """Return a box with *children* side by side, wrapped if there is no room.

        *kind* is an additional CSS class.
        """
        return self.make(w.HBox, "toolbench-row", kind, children=children)

    def editor_of(self, area: Any) -> Any:
        """Return the widget for editing the text of *area*: a code editor, or *area* itself."""
        editor = front_end.editor_of(area)
        if editor is None:
            return area
        self._live[id(editor)] = editor
        return self.make(w.VBox, *_EITHER, children=(area, editor))

    def drawn(self, kind: type[w.Widget], name: str, *plain: w.Widget, **state: Any) -> Any:
        """Return a box whose contents our JavaScript module draws from the traits of the box.

        Args:
            kind: The class of the box: a subclass of `VBox` that defines the traits.
            name: The name of the module's function that draws the box.
            plain: The widgets to show instead on a page without the module.
            state: The initial values of the traits.
        """
        box = self.make(kind, *_EITHER, children=plain, **state)
        view = front_end.view_of(box, name, self._one(w.Layout))
        if view is not None:
            self._live[id(view)] = view
            box.children = (*plain, view)
        return box

    def _one(self, kind: Any) -> w.Widget:
        """Return the shared Layout or Style of the class *kind*."""
        if self._lender is not None:
            return self._lender._one(kind)
        if kind not in self._shared:
            # All its settings are the page's defaults, and remain so
            keys = [key for key in _keys_of(kind) if key.startswith("_")]
            self._shared[kind] = kind(keys=keys)
        return self._shared[kind]

    # --- their end -------------------------------------------------------------------

    def adopt(self, widget: w.Widget) -> None:
        """Make `close` also close *widget*, which other code has made.

        Its layout and style are closed too, unless they have settings, because other widgets may
        then share them.
        """
        self._live[id(widget)] = widget
        keyboard.follow(widget)
        for name in ("layout", "style"):
            part = getattr(widget, name, None)
            if isinstance(part, w.Widget) and not part.get_state(drop_defaults=True):
                self._live[id(part)] = part

    def drop(self, widgets: Iterable[w.Widget]) -> None:
        """Close these *widgets* now. The shared layout and styles stay open."""
        for widget in widgets:
            if self._live.pop(id(widget), None) is not None:
                widget.close()

    def close(self) -> None:
        """Close every widget, then the shared layout and styles."""
        self.drop(list(self._live.values()))
        for shared in self._shared.values():
            shared.close()
        self._shared.clear()


class Panes:
    """Three panes: a list, the picked item, and details. Empty panes are hidden.

    If the page is at least 900 pixels wide, the panes are side by side, and the list is as high as
    the other panes. On a narrower page, the panes are one below the other.
    """

    def __init__(self, parts: Parts) -> None:
        """Make the panes, all empty."""
        self._lists = parts.column(kind="toolbench-pane-list")
        self._main = parts.column(kind="toolbench-pane-main")
        self._aside = parts.column(kind="toolbench-pane-aside")
        children = (self._lists, self._main, self._aside)
        self.widget = parts.make(w.HBox, "toolbench-panes", children=children)

    def fill(
        self,
        *,
        lists: Sequence[Any] | None = None,
        main: Sequence[Any] | None = None,
        aside: Sequence[Any] | None = None,
    ) -> None:
        """Put widgets into the panes. If an argument is None, its pane does not change."""
        panes = (self._lists, lists), (self._main, main), (self._aside, aside)
        for pane, children in panes:
            if children is not None:
                pane.children = children


# --- a page without our module -----------------------------------------------------------

# Styles that keep panels and forms readable on a page that cannot load the module. All others are
# in the module's style sheet (`frontend/src/style`). The module removes these from its page.

PANEL = Html("""<div class="toolbench-without">This page could not load the front-end module of
 toolbench (it needs anywidget): all works, in plain form.</div><style data-toolbench-plain>
.toolbench-hidden, .toolbench-copy-call, .toolbench-either > :last-child { display: none !important; }
/* A page whose module is still on its way says nothing */
.toolbench-without { animation: 1ms 5s backwards toolbench-without; }
@keyframes toolbench-without { from, to { visibility: hidden; position: absolute; } }
.toolbench-panes .toolbench-without { display: none; }
.toolbench-box, .toolbench-row { overflow: visible; }
.toolbench-row { flex-flow: row wrap; }
.toolbench-box .toolbench-button { width: auto; }
:is(.toolbench-field, .toolbench-prose, .toolbench-code) { width: auto; height: auto; flex-flow: row wrap; }
.toolbench-box .widget-label { width: auto; }
:is(.toolbench-prose, .toolbench-code) > textarea { flex: 0 0 100%; height: 15em; }
.toolbench-text > .widget-html-content { line-height: 1.45; }
:is(.toolbench-log, .toolbench-feed) { flex-flow: column-reverse; max-height: 30em; overflow: auto; }
:is(.toolbench-out, .toolbench-line, .toolbench-code > textarea) {
 font-family: var(--jp-code-font-family, monospace); white-space: pre-wrap; }
</style>""")
"""The HTML, shown in each panel, with its styles and a sentence for pages without the module."""

FORM = Html("""<style data-toolbench-plain>
.tb-form .widget-box, .tb-grid { overflow: visible; }
.tb-grid { display: grid; grid-template-columns: minmax(0, 1fr) auto auto; width: 100%; }
.tb-grid > * { grid-column: 1 / -1; }
.tb-grid > :has(+ .tb-actions) { grid-column: 1 / 3; }
.tb-grid > .tb-actions { grid-column: 3; }
.tb-texts, .tb-texts > .widget-html-content { display: contents; }
:is(.tb-intro, .tb-head, .tb-note) { grid-column: 1 / -1; line-height: 1.4; }
:is(.tb-left, .tb-right) { grid-row: var(--below); }
.tb-error { color: #c62828; }
.tb-blank, .tb-form .toolbench-hidden { display: none; }
.tb-sr { position: absolute; clip-path: inset(50%); }
.tb-form .tb-field { flex-flow: column; align-items: stretch; width: auto; height: auto; }
.tb-form .tb-field > .widget-label { width: auto; max-width: none; text-align: left; white-space: normal; }
.tb-form .tb-field > :is(input, textarea, select) { width: 100%; max-width: none; }
.tb-marks::after { content: "Ctrl-click (on a Mac ⌘-click) marks several, or none"; font-size: 12px; }
</style>""")
"""The HTML, shown in each form, with its styles."""
