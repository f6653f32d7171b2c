"""What the fields of one form share: the schema, the widgets, the lock, and when to redraw."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import RLock
from typing import Any, Protocol
from uuid import uuid4

from ipywidgets import HTML, Box, Button, Widget

from toolbench.errors import Path, Problem
from toolbench.jsonschema.view import SchemaView
from toolbench.widgets.kit.pool import Pool

Settle = Callable[[], Iterable[Callable[[], None]]]


class Drawn(Protocol):
    """What is drawn again at the end of an edit: a container."""

    def draw(self) -> None:
        """Show what changed."""


class EditorSource(Protocol):
    """What chooses the editor of a slot: a `Registry`."""

    def editor(self, slot: Any) -> Any:
        """Return a new editor for *slot*."""


class Frame:
    """The common ground of a form's fields.

    Callbacks arrive on the main thread or on a subshell's; every edit happens under one
    lock, and what it changed is drawn once, when the outermost edit ends.
    """

    def __init__(self, schema: Any, registry: EditorSource, settle: Settle) -> None:
        """Share *schema* and *registry*; *settle* is called once after every edit.

        It returns whom to tell, once the lock is free again.
        """
        self.view = SchemaView(schema)
        self.registry = registry
        self.pool = Pool()
        self.lock = RLock()
        self.revealed = False
        self.outside: list[Problem] = []
        self.changed = False
        self._name = f"tb-{uuid4().hex[:8]}"
        self._marks = count()
        self._settle = settle
        self._depth = 0
        self._stale: dict[Drawn, None] = {}
        self._closed = False
        self._goal: Callable[[], Iterable[Widget]] | None = None

    @contextmanager
    def edit(self) -> Iterator[bool]:
        """Hold the lock; when the outermost edit is done, settle it and tell who listens.

        Yields whether this edit is the outermost one.
        """
        tell: Iterable[Callable[[], None]] = ()
        with self.lock:
            self._depth += 1
            try:
                yield self._depth == 1
            finally:
                try:
                    if self._depth == 1:
                        tell = self._settle()
                finally:
                    self._depth -= 1
        for listener in tell:  # without the lock: a listener may hold one of its own
            listener()

    def new_mark(self) -> str:
        """Return a CSS class that nothing on the page has yet."""
        return f"{self._name}-{next(self._marks)}"

    def touched(self, path: Path) -> None:
        """Note that the value at *path* changed, and forget the errors reported about it."""
        self.changed = True
        near = len(path)
        self.outside = [
            problem
            for problem in self.outside
            if problem.path[:near] != path[: len(problem.path)]
        ]

    def stale(self, container: Drawn | None) -> None:
        """Have *container* drawn again at the end of this edit."""
        if container is not None:
            self._stale[container] = None

    def draw(self) -> None:
        """Draw what is stale now, and put the cursor where the edit wants it."""
        while self._stale and not self._closed:
            container = next(iter(self._stale))
            del self._stale[container]
            container.draw()
        goal, self._goal = self._goal, None
        self._stale.clear()
        box = None if goal is None else next(_inputs(goal()), None)
        if box is not None:
            box.focus()

    def focus(self, goal: Callable[[], Iterable[Widget]]) -> None:
        """Put the cursor into the first input of *goal* when this edit is drawn."""
        self._goal = goal

    def close(self) -> None:
        """Close every widget, and draw nothing from now on."""
        self._closed = True
        self.pool.close()

    def hear(self, widget: Widget, names: str, react: Callable[[], None]) -> None:
        """Call *react* after a person changed the trait *names* of *widget*, or clicked it.

        What the form itself writes into its widgets is not heard.
        """

        def on_click(_: Any) -> None:
            with self.edit() as outermost:
                if outermost:
                    react()

        if isinstance(widget, Button):
            widget.on_click(on_click)
        else:
            widget.observe(on_click, names)


def _inputs(widgets: Iterable[Widget]) -> Iterator[Any]:
    """Give the widgets a person can type into or choose from, in their order."""
    for widget in widgets:
        if isinstance(widget, Box):
            yield from _inputs(widget.children)
        elif widget.has_trait("description") and not isinstance(widget, HTML):
            yield widget
