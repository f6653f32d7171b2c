"""A list to search and to pick from."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import ipywidgets as w

from toolbench.display.caps import shorten
from toolbench.display.escape import visible
from toolbench.display.page import notice
from toolbench.widgets.parts import HIDDEN, Parts, show_if
from toolbench.widgets.quiet import Quiet

SHOWN = 200  # lines of the list
_LONGEST = 110  # characters of a line


@dataclass(frozen=True)
class Item:
    """One line of a list: what it stands for, what it says, and what else it is found by."""

    key: str
    name: str
    about: str = ""
    also: str = ""

    @property
    def label(self) -> str:
        """The line: what it is called, and the first line of what is said about it."""
        about = self.about.strip().partition("\n")[0]
        text = f"{self.name} — {about}" if about else self.name
        return shorten(visible(text), _LONGEST)

    def has(self, words: Sequence[str]) -> bool:
        """Tell whether each of *words* occurs."""
        text = f"{self.name} {self.about} {self.also}".lower()
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
    ) -> None:
        """Make an empty list.

        Args:
            parts: What makes its widgets.
            label: What the list is called.
            pick: Is called with the key of what is picked, while *lock* is held.
            lock: One its holder can take again: callbacks may come on any thread.
            rows: Lines seen at once, at most.
        """
        self._pick = pick
        self._lock = lock
        self._rows = rows
        self._offered: tuple[tuple[Item, ...], str] = ((), "")
        self._filling = False
        self.picked: str | None = None
        """The key of what is picked."""
        self._search = parts.make(
            w.Text,
            *("toolbench-field", HIDDEN),
            description="Search",
            placeholder="part of a name or description; Enter picks the next",
        )
        self._lines = [self._new_lines(parts, label), self._new_lines(parts, label)]
        self._count = parts.html()
        self._search.observe(lambda _: self._filter(), "value")
        on_enter(self._search, self._next)
        self.widgets = [self._search, *(x.widget for x in self._lines), self._count]
        """What is to be shown, one below the other."""

    def _new_lines(self, parts: Parts, label: str) -> _Lines:
        classes = ("toolbench-field", "toolbench-list", HIDDEN)
        widget = parts.make(w.Select, *classes, description=label, rows=self._rows)
        lines = _Lines(widget)
        widget.observe(lambda _: self._clicked(lines), "index")
        return lines

    @property
    def _list(self) -> Any:
        """The list that is seen."""
        return self._lines[0].widget

    def offer(self, items: Sequence[Item], nothing: str) -> None:
        """List *items*; what was picked stays picked. Say *nothing* where there are none."""
        with self._lock:
            if self._offered != (tuple(items), nothing):
                self._offered = tuple(items), nothing
                show_if(self._search, wanted=len(items) > 1)
                self._filter()

    def _filter(self) -> None:
        with self._lock:
            items, nothing = self._offered
            words = self._search.value.lower().split()
            found = [item for item in items if item.has(words)]
            shown = tuple(found[:SHOWN])
            if shown != self._lines[0].items:
                self._fill(shown)
            show_if(self._list, wanted=bool(items))
            rest = len(found) - len(shown)
            more = f"{rest:,} more: type to narrow the list" if rest else ""
            said = "Nothing matches." if items else nothing
            self._count.value = more if found else notice(said, "neutral")

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
        show_if(old.widget, wanted=False)

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

    def _next(self) -> None:
        """Pick the line below: JupyterLab takes the arrow keys of a list for itself."""
        with self._lock:
            items = self._lines[0].items
            if items:
                self._take(items[below(self._place, len(items))].key)

    def _take(self, key: str) -> None:
        offered, _ = self._offered
        if key != self.picked and any(item.key == key for item in offered):
            self.picked = key
            self._list.index = self._place
            self._pick(key)


def below(index: int | None, count: int) -> int:
    """Return the line below *index* of *count*; the first below the last, and below none."""
    return 0 if index is None else (index + 1) % count


def on_enter(line: w.Text, react: Callable[[], None]) -> None:
    """Call *react* when Enter is pressed in *line*, after the last keys before it came."""
    quiet = Quiet()
    line.observe(lambda _: quiet.edited(), "value")

    def told(_: Any, content: Any, buffers: Any) -> None:
        if content.get("event") == "submit":
            quiet.then(react)

    line.on_msg(told)
