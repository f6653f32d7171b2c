"""A list with a search field, from which the user picks one item.

With our JavaScript module (`frontend/src/picker.ts`) the page draws a fast list with two lines for
each item. Without the module, a list of ipywidgets shows the first items.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import ipywidgets as w
from traitlets import Bool, Dict, List, Unicode

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten
from toolbench.display.escape import Html, visible
from toolbench.display.images import icon_source
from toolbench.display.page import notice
from toolbench.widgets.kit.clicks import on_enter
from toolbench.widgets.kit.parts import HIDDEN, Parts, on_pick, put, show_if

# Lines in the list of ipywidgets
MAX_LINES = 200
# Characters of a line
_LONGEST = 110
# Characters of all icons of one list
_ICONS = 500_000
# The groups of a list with at most this many items are not folded at first
_UNFOLDED = 25

GroupSummary = tuple[str, Sequence[tuple[str, int]]]
"""The summary below a heading: a text, and pairs of a mark and the number of items with it."""
NO_GROUPS: Mapping[str, GroupSummary] = {}


@dataclass(frozen=True)
class Item:
    """One entry of a searchable list. *also* has words that are searched but not shown."""

    key: str
    name: str
    about: str = ""
    also: str = ""
    title: str = ""
    """A name to show to people; empty if the item has only *name*."""
    mark: str = ""
    """A word for the effect or state of the item, drawn as a small mark."""
    group: str = ""
    """The heading above the item, if the list has headings."""
    icon: str = ""
    """The `data:` URL of a small picture; see `toolbench.display.images.icon_source`."""

    @property
    def label(self) -> str:
        """The line of the item in a plain list: *name* and the first line of *about*."""
        text = self.name
        if self._first_line:
            text += f" — {self._first_line}"
        return shorten(visible(text), _LONGEST)

    @property
    def lines(self) -> tuple[str, str]:
        """The two lines of the item: its title and its name.

        Without a title, they are its name and the first line of *about*.
        """
        first, second = self.title, self.name
        if first in ("", second):
            first, second = second, self._first_line
        return shorten(visible(first), _LONGEST), shorten(visible(second), _LONGEST)

    @property
    def _first_line(self) -> str:
        return self.about.strip().partition("\n")[0]

    def has(self, words: Sequence[str]) -> bool:
        """Return whether all *words* occur in the texts of the item."""
        text = f"{self.name} {self.title} {self.about} {self.also}".lower()
        return all(word in text for word in words)


def tool_item(key: str, name: str, tool: ToolDefinition[Any, Any], *, group: str = "") -> Item:
    """Return *tool* as an item called *name*, with a mark for the tool's effect.

    If a tool does not declare its effect, the mark is "undeclared". But if the tool was defined in
    this notebook, it has no mark, because its author knows the effect.
    """
    mark: str = tool.hints.effect
    if mark == "undeclared" and tool.source == ToolDefinition.source:
        mark = ""
    return Item(
        key,
        name,
        tool.description,
        also=group,
        title=tool.title,
        mark=mark,
        group=group,
        icon=icon_source(getattr(tool, "icons", ())),
    )


@dataclass(eq=False)
class _Lines:
    """A list of ipywidgets, and the items of its lines."""

    widget: Any
    items: list[Item] = field(default_factory=list)


class Picker(w.VBox):
    """The widget that draws a list. The page sends the key of the picked item."""

    label = Unicode().tag(sync=True)
    """The name of the list."""
    items: Any = List().tag(sync=True)
    """For each item: its key, two lines, mark, group, and the number of its icon, or -1."""
    icons: Any = List().tag(sync=True)
    """The distinct `data:` URLs of the icons."""
    groups: Any = Dict().tag(sync=True)
    """The summary of each group whose heading folds its items, by heading; see `GroupSummary`."""
    is_folded = Bool(default_value=False).tag(sync=True)
    """Whether all groups except the one with the picked item are folded at first."""
    matches: Any = List().tag(sync=True)
    """The items to list, as ranges of their numbers: pairs of first and last number."""
    picked = Unicode(None, allow_none=True).tag(sync=True)
    """The key of the picked item; None if no item is picked."""
    states = Dict().tag(sync=True)
    """The states of the items' runs, by key. They are shown in place of the second lines."""


class PickList:
    """The widgets of a searchable list: a search field, a list, and a note about hidden items."""

    def __init__(
        self,
        parts: Parts,
        label: str,
        pick: Callable[[str], None],
        lock: AbstractContextManager[Any],
        *,
        rows: int = 6,
        search: str = "Search",
    ) -> None:
        """Make an empty list.

        Args:
            parts: The factory of the widgets.
            label: The name of the list for screen readers.
            pick: A function that is called with the key of the picked item, while *lock* is held.
            lock: A reentrant lock, which the callbacks hold, because any thread may call them.
            rows: The maximum number of visible lines on a page without our JavaScript module.
            search: The label of the search field.
        """
        self._pick = pick
        self._lock = lock
        self._rows = rows
        self._items: tuple[Item, ...] = ()
        self._nothing = ""
        self._matches: list[int] = []
        self._filling = False
        self._states_lock = Lock()
        self._search = parts.make(
            w.Text,
            "toolbench-field",
            "toolbench-search",
            HIDDEN,
            description=search,
            placeholder=f"Filter {label.lower()} (Enter selects)",
        )
        # The first of the two lists is shown
        self._lines = [self._new_lines(parts, label), self._new_lines(parts, label)]
        self._count = parts.html()
        plain = (lines.widget for lines in self._lines)
        self._picker = parts.drawn(Picker, "picker", *plain, label=label)
        self._search.observe(lambda _: self._filter(), "value")
        on_enter(self._search, self._next)
        on_pick(self._picker, self.pick)
        self.widget = parts.column(self._search, self._picker, self._count, kind="toolbench-picker")
        """The widget that contains the search field, the list and the note."""

    def _new_lines(self, parts: Parts, label: str) -> _Lines:
        classes = ("toolbench-field", "toolbench-list", HIDDEN)
        widget = parts.make(w.Select, *classes, description=label, rows=self._rows)
        lines = _Lines(widget)
        widget.observe(lambda _: self._clicked(lines), "index")
        return lines

    @property
    def picked(self) -> str | None:
        """The key of the picked item; None if no item is picked."""
        key: str | None = self._picker.picked
        return key

    @property
    def searched(self) -> str:
        """The text in the search field."""
        text: str = self._search.value
        return text

    def search(self, text: str) -> None:
        """Put *text* into the search field, and list only the items that match it."""
        self._search.value = text

    @property
    def is_folded(self) -> bool:
        """Whether the groups of the list were folded at first."""
        return bool(self._picker.groups and self._picker.is_folded)

    def offer(
        self,
        items: Sequence[Item],
        nothing: str,
        *,
        groups: Mapping[str, GroupSummary] = NO_GROUPS,
    ) -> None:
        """Show *items*. If there are none, show the text *nothing*. The picked item stays picked.

        *groups* contains a summary for each group, by the heading of the group. The heading shows
        the summary, and a click on the heading folds or unfolds the group. In a long list, all
        groups are folded at first.
        """
        with self._lock:
            if (self._items, self._nothing) != (tuple(items), nothing):
                self._items, self._nothing = tuple(items), nothing
                show_if(self._search, is_shown=len(items) > 1)
                # One message, because an item and whether it matches belong together
                with self._states_lock, self._picker.hold_sync():
                    self._picker.groups = {visible(name): group for name, group in groups.items()}
                    self._picker.is_folded = len(items) > _UNFOLDED
                    self._picker.items, self._picker.icons = _texts(items)
                    self._filter()

    def pick_first(self, mark: str = "") -> None:
        """If no item is picked, pick the first item or, if *mark* is given, the first with it."""
        with self._lock:
            if self.picked is not None:
                return
            for item in self._items:
                if mark in ("", item.mark):
                    self._take(item.key)
                    return

    def pick(self, key: str) -> bool:
        """Pick the item with *key*. Return whether there is such an item."""
        with self._lock:
            self._take(key)
            return self.picked == key

    def show_picked(self, key: str | None) -> None:
        """Show the item with *key* as picked, without calling the function *pick*."""
        with self._lock:
            self._picker.picked = key
            self._lines[0].widget.index = self._place

    def show_state(self, key: str, words: str) -> None:
        """Show the state *words*, such as "running", in place of the second line of an item.

        If *words* is empty, the second line of the item is shown again. A page that has not loaded
        our JavaScript module does not show states. Any thread may call this method, even while the
        thread holds other locks.
        """
        with self._states_lock:
            states = dict(self._picker.states)
            states.pop(key, None)
            if words:
                states[key] = words
            self._picker.states = states

    def _filter(self) -> None:
        with self._lock:
            words = self._search.value.lower().split()
            self._matches = [n for n, item in enumerate(self._items) if item.has(words)]
            lines = [self._items[n] for n in self._matches[:MAX_LINES]]
            if lines != self._lines[0].items:
                self._fill(lines)
            show_if(self._lines[0].widget, is_shown=bool(self._items))
            self._picker.matches = _ranges(self._matches)
            self.show_picked(self.picked)
            rest = len(self._matches) - len(lines)
            note = Html("")
            if not self._items:
                note = notice(self._nothing, "neutral")
            elif not self._matches:
                note = notice("Nothing matches.", "neutral")
            elif rest:
                text = f"{rest:,} more: type to narrow the list"
                note = Html(f'<span class="toolbench-narrow">{text}</span>')
            put(self._count, note)

    def _fill(self, items: list[Item]) -> None:
        """Show *items* in a second list, and hide the present list without changing it.

        A click sends only the number of a line. If a click on the old list arrives after this
        change, its number must still refer to the old items.
        """
        fresh, old = reversed(self._lines)
        self._lines = [fresh, old]
        fresh.items = items
        self._filling = True
        try:
            with fresh.widget.hold_sync():
                fresh.widget.rows = max(2, min(self._rows, len(self._items)))
                fresh.widget.options = [item.label for item in items]
                fresh.widget.index = self._place
        finally:
            self._filling = False
        show_if(old.widget, is_shown=False)

    @property
    def _place(self) -> int | None:
        """The number of the line with the picked item; None if no line has it."""
        for number, item in enumerate(self._lines[0].items):
            if item.key == self.picked:
                return number
        return None

    def _clicked(self, lines: _Lines) -> None:
        with self._lock:
            index = lines.widget.index
            if not self._filling and index is not None:
                self._take(lines.items[index].key)

    def _next(self) -> None:
        """Pick the next item that matches the search, for the Enter key in the search field.

        After the last match comes the first. The arrow keys are not used, because JupyterLab takes
        them.
        """
        with self._lock:
            keys = [self._items[n].key for n in self._matches]
            if keys:
                place = 0
                if self.picked in keys:
                    place = keys.index(self.picked) + 1
                self._take(keys[place % len(keys)])

    def _take(self, key: str) -> None:
        if key != self.picked and any(item.key == key for item in self._items):
            self.show_picked(key)
            self._pick(key)


def _texts(items: Sequence[Item]) -> tuple[list[Any], list[str]]:
    """Return the values for `Picker.items` and `Picker.icons`.

    After `_ICONS` characters of icons, further icons are left out.
    """
    icons: dict[str, int] = {}
    left = _ICONS
    rows = []
    for item in items:
        if item.icon and item.icon not in icons and len(item.icon) <= left:
            icons[item.icon] = len(icons)
            left -= len(item.icon)
        number = icons.get(item.icon, -1)
        rows.append([item.key, *item.lines, item.mark, visible(item.group), number])
    return rows, list(icons)


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Return the ascending *numbers* as ranges, which are pairs of first and last number."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges
