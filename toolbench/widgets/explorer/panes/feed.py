"""A list of lines that grows at the end. Old lines are not sent again; the oldest are dropped."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from toolbench.display.escape import Html
from toolbench.display.page import notice
from toolbench.widgets.kit.parts import Parts
from toolbench.wording import counted

# Lines of one widget
PIECE = 25
# Widgets
PIECES = 8

T = TypeVar("T")


class Feed(Generic[T]):
    """A view of the last lines. It is scrolled to the end, where the newest line is."""

    def __init__(self, parts: Parts, line: Callable[[T], Html], *, nothing: str) -> None:
        """Draw each item with *line*. While there are no items, show the text *nothing*."""
        self._parts = parts
        self._line = line
        self._nothing = notice(nothing, "neutral")
        self._pieces: list[list[T]] = []
        self._widgets: list[Any] = []
        self._dropped = 0
        self._head = parts.html(self._nothing)
        # Inside another box: only that one counts from its end
        self._box = parts.column()
        self.widget = parts.column(self._head, parts.column(self._box, kind="toolbench-feed"))

    def say_nothing(self, nothing: str) -> None:
        """While there are no items, show the text *nothing* from now on."""
        self._nothing = notice(nothing, "neutral")
        self._say()

    def restart(self, items: Sequence[T]) -> None:
        """Replace all lines by *items*."""
        old = self._widgets
        self._pieces, self._widgets, self._dropped = [], [], 0
        # Also takes the old widgets out of the box, in one step
        self.add(items)
        self._parts.drop(old)

    def add(self, items: Sequence[T]) -> None:
        """Add *items* at the end. Only widgets that get a new item are sent to the page."""
        room = PIECE * PIECES
        self._dropped += len(items) - len(items[-room:])
        changed: dict[int, None] = {}
        for item in items[-room:]:
            if not self._pieces or len(self._pieces[-1]) == PIECE:
                self._pieces.append([])
                self._widgets.append(self._parts.html())
            self._pieces[-1].append(item)
            changed[len(self._pieces) - 1] = None
        for index in changed:
            self._widgets[index].value = "".join(map(self._line, self._pieces[index]))
        self._trim()
        self._say()

    def _trim(self) -> None:
        extra = len(self._pieces) - PIECES
        if extra > 0:
            self._dropped += sum(map(len, self._pieces[:extra]))
            old, self._widgets = self._widgets[:extra], self._widgets[extra:]
            self._pieces = self._pieces[extra:]
        if self._box.children != tuple(self._widgets):
            self._box.children = tuple(self._widgets)
        if extra > 0:
            self._parts.drop(old)

    def _say(self) -> None:
        label = f"{counted(self._dropped, 'earlier line')} not shown" if self._dropped else ""
        dim = f'<span class="toolbench-dim">{label}</span>' if label else ""
        head = dim if self._pieces else self._nothing
        if self._head.value != head:
            self._head.value = head
