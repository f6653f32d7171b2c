"""A list to search and to pick from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as w

from toolbench.display.caps import shorten
from toolbench.display.escape import visible
from toolbench.display.page import notice
from toolbench.widgets.parts import Parts
from toolbench.widgets.quiet import Quiet

SHOWN = 200  # lines of the list
_LONGEST = 110  # characters of a line


@dataclass(frozen=True)
class Item:
    """One line of a list."""

    key: str
    name: str
    about: str = ""

    @property
    def label(self) -> str:
        """The line: what it is called, and the first line of what is said about it."""
        about = self.about.strip().partition("\n")[0]
        text = f"{self.name} — {about}" if about else self.name
        return shorten(visible(text), _LONGEST)

    def has(self, words: Sequence[str]) -> bool:
        """Tell whether each of *words* occurs."""
        text = f"{self.key} {self.name} {self.about}".lower()
        return all(word in text for word in words)


class PickList:
    """A search field, a list, and how much of it is not shown."""

    def __init__(
        self, parts: Parts, label: str, pick: Callable[[str], None], *, rows: int = 6
    ) -> None:
        """Make an empty list called *label*; call *pick* with the key of what is picked."""
        self._pick = pick
        self._rows = rows
        self._items: Sequence[Item] = ()
        self._listed: list[Item] = []
        self._quiet = False
        self.picked: str | None = None
        """The key of what is picked."""
        self._search = parts.make(
            w.Text,
            "toolbench-field",
            description="Search",
            placeholder="part of a name or description; Enter picks the next",
        )
        self._list = parts.make(
            w.Select, "toolbench-field", "toolbench-list", description=label, rows=rows
        )
        self._count = parts.html()
        self._search.observe(lambda _: self._filter(), "value")
        on_enter(self._search, self._next)
        self._list.observe(lambda _: self._chosen(), "index")
        self.widget = parts.column()

    def offer(self, items: Sequence[Item], nothing: str) -> None:
        """List *items*; what was picked stays picked. Say *nothing* where there are none."""
        if tuple(items) == tuple(self._items) and self.widget.children:
            return
        self._items = items
        self._filter()
        found = [self._search] if len(items) > 1 else []
        self._list.rows = max(2, min(self._rows, len(items)))
        if not items:
            self._count.value = notice(nothing, "neutral")
        shown = [*found, *([self._list] if items else []), self._count]
        self.widget.children = shown

    def choose(self, key: str) -> None:
        """Pick *key*, as if somebody had clicked it."""
        for index, item in enumerate(self._listed):
            if item.key == key:
                self._list.index = index

    def _filter(self) -> None:
        words = self._search.value.lower().split()
        found = [item for item in self._items if item.has(words)]
        self._listed = found[:SHOWN]
        keys = [item.key for item in self._listed]
        self._quiet = True
        try:
            self._list.options = [item.label for item in self._listed]
            known = self.picked in keys
            self._list.index = keys.index(self.picked or "") if known else None
        finally:
            self._quiet = False
        rest = len(found) - len(self._listed)
        more = f"{rest:,} more: type to narrow the list" if rest else ""
        self._count.value = more if found else notice("Nothing matches.", "neutral")

    def _next(self) -> None:
        """Pick the line below: JupyterLab takes the arrow keys of a list for itself."""
        if self._listed:
            self._list.index = below(self._list.index, len(self._listed))

    def _chosen(self) -> None:
        index = self._list.index
        if self._quiet or index is None:
            return
        key = self._listed[index].key
        if key != self.picked:
            self.picked = key
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
