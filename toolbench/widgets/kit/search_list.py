"""A list to search and to pick from.

With our front-end module the page draws it as a virtual list of two lines an item
(`frontend/src/picker.ts`), from the texts that are here in elements that are not seen. Where the
module is not loaded, a list of ipywidgets holds the first lines.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import ipywidgets as w

from toolbench.display.caps import shorten
from toolbench.display.escape import Html, escape, visible
from toolbench.display.page import notice
from toolbench.widgets.kit.debounce import Debounce
from toolbench.widgets.kit.parts import HIDDEN, Parts, put, show_if

MAX_LINES = 200  # lines of the list of ipywidgets
_LONGEST = 110  # characters of a line


@dataclass(frozen=True)
class Item:
    """One entry of a list: what it stands for, what it says, and what else it is found by."""

    key: str
    name: str
    about: str = ""
    also: str = ""
    title: str = ""
    """A name for people, if it has one beside *name*."""
    mark: str = ""
    """What it may do or how it is, in a word; drawn as a small mark."""
    group: str = ""
    """The heading it stands under, if the list has headings."""

    @property
    def label(self) -> str:
        """The line of a plain list: what it is called, and the first line of what is said."""
        text = f"{self.name} — {self._first_line}" if self._first_line else self.name
        return shorten(visible(text), _LONGEST)

    @property
    def lines(self) -> tuple[str, str]:
        """The two lines: title and name, or name and what is said of it."""
        first = self.title or self.name
        second = self._first_line if first == self.name else self.name
        return shorten(visible(first), _LONGEST), shorten(visible(second), _LONGEST)

    @property
    def _first_line(self) -> str:
        return self.about.strip().partition("\n")[0]

    def has(self, words: Sequence[str]) -> bool:
        """Tell whether each of *words* occurs."""
        text = f"{self.name} {self.title} {self.about} {self.also}".lower()
        return all(word in text for word in words)


@dataclass(eq=False)
class _Lines:
    """A list on the page, and what its lines stand for."""

    widget: Any
    items: tuple[Item, ...] = ()


class PickList:
    """A search field, a list, and how much of it is not shown."""

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
            parts: What makes its widgets.
            label: What the list is called.
            pick: Is called with the key of what is picked, while *lock* is held.
            lock: One its holder can take again: callbacks may come on any thread.
            rows: Lines of the plain list that are seen at once, at most.
            search: What the search field is called.
        """
        self._pick = pick
        self._lock = lock
        self._rows = rows
        self._label = label
        self._offered: tuple[tuple[Item, ...], str] = ((), "")
        self._matches: tuple[int, ...] = ()
        self._filling = False
        self.picked: str | None = None
        """The key of what is picked."""
        self._search = parts.make(
            w.Text,
            *("toolbench-field", "toolbench-search", HIDDEN),
            description=search,
            placeholder=f"Filter {label.lower()} (Enter selects)",
        )
        self._lines = [self._new_lines(parts, label), self._new_lines(parts, label)]
        self._count = parts.html()
        self._texts = parts.html()
        self._state = parts.html()
        self._key = parts.make(w.Text, "toolbench-key", HIDDEN, continuous_update=False)
        self._search.observe(lambda _: self._filter(), "value")
        self._key.observe(lambda _: self._chosen_by_module(), "value")
        on_enter(self._search, self._next)
        self.widget = parts.column(
            *(self._search, self._texts, self._state, self._key),
            *(*(x.widget for x in self._lines), self._count),
            kind="toolbench-picker",
        )
        """What is to be shown."""

    def _new_lines(self, parts: Parts, label: str) -> _Lines:
        classes = ("toolbench-field", "toolbench-list", HIDDEN)
        widget = parts.make(w.Select, *classes, description=label, rows=self._rows)
        lines = _Lines(widget)
        widget.observe(lambda _: self._clicked(lines), "index")
        return lines

    @property
    def _list(self) -> Any:
        """The list of ipywidgets that is seen."""
        return self._lines[0].widget

    def offer(self, items: Sequence[Item], nothing: str) -> None:
        """List *items*; what was picked stays picked. Say *nothing* where there are none."""
        with self._lock:
            if self._offered != (tuple(items), nothing):
                self._offered = tuple(items), nothing
                put(self._texts, _texts_html(self._label, items))
                show_if(self._search, is_shown=len(items) > 1)
                self._filter()

    def pick_first(self) -> None:
        """Pick the first item, if there is one and nothing was picked: no page is empty."""
        with self._lock:
            items, _ = self._offered
            if self.picked is None and items:
                self._take(items[0].key)

    def pick(self, key: str) -> bool:
        """Pick the item called *key*; tell whether there is one."""
        with self._lock:
            self._take(key)
            return self.picked == key

    def show_picked(self, key: str | None) -> None:
        """Mark the item called *key* as picked, and do no more."""
        with self._lock:
            self.picked = key
            self._show_picked()

    def _filter(self) -> None:
        with self._lock:
            items, nothing = self._offered
            words = self._search.value.lower().split()
            self._matches = tuple(n for n, item in enumerate(items) if item.has(words))
            lines = tuple(items[n] for n in self._matches[:MAX_LINES])
            if lines != self._lines[0].items:
                self._fill(lines)
            show_if(self._list, is_shown=bool(items))
            self._show_picked()
            rest = len(self._matches) - len(lines)
            more = (
                f'<span class="toolbench-narrow">{rest:,} more: type to narrow the list</span>'
                if rest
                else ""
            )
            text = "Nothing matches." if items else nothing
            self._count.value = more if self._matches else notice(text, "neutral")

    def _fill(self, items: tuple[Item, ...]) -> None:
        """Show *items* in the other list.

        A click says only which line it was on. One that is still under way when the list
        changes is on a line of the list it was made in, and that stays as it is.
        """
        fresh, old = reversed(self._lines)
        self._lines = [fresh, old]
        fresh.items = items
        self._filling = True
        try:
            with fresh.widget.hold_sync():
                fresh.widget.rows = max(2, min(self._rows, len(self._offered[0])))
                fresh.widget.options = [item.label for item in items]
                fresh.widget.index = self._place
        finally:
            self._filling = False
        show_if(old.widget, is_shown=False)

    def _show_picked(self) -> None:
        """Have both lists mark what is picked."""
        self._list.index = self._place
        self._key.value = self.picked or ""
        put(self._state, _state_html(self._matches, self.picked))

    @property
    def _place(self) -> int | None:
        """The line of what is picked, if it is seen."""
        keys = [item.key for item in self._lines[0].items]
        return keys.index(self.picked) if self.picked in keys else None

    def _clicked(self, lines: _Lines) -> None:
        with self._lock:
            index = lines.widget.index
            if not self._filling and index is not None:
                self._take(lines.items[index].key)

    def _chosen_by_module(self) -> None:
        """Pick what the page's own list says, which knows the keys of its items."""
        with self._lock:
            if self._key.value:
                self._take(self._key.value)

    def _next(self) -> None:
        """Pick the next match: where the module is not loaded, JupyterLab takes arrow keys."""
        with self._lock:
            keys = [self._offered[0][n].key for n in self._matches]
            if keys:
                at = keys.index(self.picked) if self.picked in keys else None
                self._take(keys[below(at, len(keys))])

    def _take(self, key: str) -> None:
        offered, _ = self._offered
        if key != self.picked and any(item.key == key for item in offered):
            self.picked = key
            self._show_picked()
            self._pick(key)


def _texts_html(label: str, items: Sequence[Item]) -> Html:
    """Return the texts of *items* for the page's module, in an element that is not seen."""
    rows = [(item.key, *item.lines, item.mark, visible(item.group)) for item in items]
    return Html(
        f'<div data-toolbench-items="{escape(label)}" hidden>{_json(rows)}</div>'
    )


def _state_html(matches: Sequence[int], picked: str | None) -> Html:
    """Return which items are listed and which one is picked, for the page's module."""
    state = _json([_ranges(matches), picked])
    return Html(f'<div data-toolbench-matches="{state}" hidden></div>')


def _json(value: Any) -> Html:
    """Return *value* as JSON of ASCII alone: nothing in it is spelled out as hidden."""
    return escape(json.dumps(value, separators=(",", ":")).replace("\x7f", "\\u007f"))


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Return *numbers*, which grow, as pairs of the first and the last of each run."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ranges


def below(index: int | None, count: int) -> int:
    """Return the line below *index* of *count*; the first below the last, and below none."""
    return 0 if index is None else (index + 1) % count


def on_enter(line: w.Text, react: Callable[[], None]) -> None:
    """Call *react* when Enter is pressed in *line*, after the last keys before it came."""
    debounce = Debounce()
    line.observe(lambda _: debounce.edited(), "value")

    def submitted(_: Any, content: Any, buffers: Any) -> None:
        if content.get("event") == "submit":
            debounce.then(react)

    line.on_msg(submitted)
