"""The context that all fields of a form share: the schema, the widgets, a lock, and redrawing."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ipywidgets import HTML, Box, Button, Widget

from toolbench.errors import Path, Problem
from toolbench.jsonschema.node import SchemaView
from toolbench.widgets.kit.parts import Parts

# Both are made with a frame
if TYPE_CHECKING:
    from toolbench.widgets.fields.editor import Container
    from toolbench.widgets.fields.rules import Registry

Settle = Callable[[], Iterable[Callable[[], None]]]


class Frame:
    """The context that all fields of a form share, with the lock that every edit holds.

    The lock is necessary because callbacks may run in the main thread or in the thread of a
    subshell. An edit may contain other edits. All changes are drawn together when the outermost
    edit ends.
    """

    def __init__(self, schema: Any, registry: "Registry", settle: Settle) -> None:
        """Make the context of a form.

        Args:
            schema: The schema of the form.
            registry: The rules that choose the editors.
            settle: A function that is called at the end of each edit. It returns functions to call
                after the lock is released.
        """
        self.view = SchemaView(schema)
        self.registry = registry
        self.pool = Parts()
        self.lock = RLock()
        self.revealed = False
        self.outside: list[Problem] = []
        self.changed = False
        self._name = f"tb-{uuid4().hex[:8]}"
        self._marks = count()
        self._settle = settle
        self._depth = 0
        self._stale: dict[Container, None] = {}
        self._closed = False
        self._goal: Callable[[], Iterable[Widget]] | None = None

    @contextmanager
    def edit(self) -> Iterator[bool]:
        """Hold the lock while the `with` block edits the form.

        Edits can be nested. When the outermost edit ends, the form is updated and the listeners are
        called. The value of `as` in the `with` statement is True for the outermost edit, and False
        for the others.
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
        # Without our lock, because a listener may use another lock
        for listener in tell:
            listener()

    def new_mark(self) -> str:
        """Return a new CSS class that no other widget of the page has."""
        return f"{self._name}-{next(self._marks)}"

    def touched(self, path: Path) -> None:
        """Remember that the value at *path* has changed.

        Also remove problems from `outside` that may no longer apply: problems with this value, with
        its parts, and with the values that contain it.
        """
        self.changed = True
        near = len(path)
        self.outside = [
            problem for problem in self.outside if problem.path[:near] != path[: len(problem.path)]
        ]

    def stale(self, container: "Container | None") -> None:
        """Redraw *container* at the end of the present edit. If *container* is None, do nothing."""
        if container is not None:
            self._stale[container] = None

    def draw(self) -> None:
        """Redraw the containers that were passed to `stale`, then move the cursor for `focus`."""
        while self._stale and not self._closed:
            container = next(iter(self._stale))
            del self._stale[container]
            container.draw()
        goal, self._goal = self._goal, None
        self._stale.clear()
        if goal is not None:
            for box in _inputs(goal()):
                box.focus()
                break

    def focus(self, goal: Callable[[], Iterable[Widget]]) -> None:
        """After the next redraw, put the cursor in the first input that *goal* returns."""
        self._goal = goal

    def close(self) -> None:
        """Close every widget, and stop drawing."""
        self._closed = True
        self.pool.close()

    def hear(self, widget: Widget, names: str, react: Callable[[], None]) -> None:
        """Call *react* after the user has clicked or changed *widget*.

        For a button, *react* is called after a click. For any other widget, it is called after a
        change of the trait *names*, unless the form itself made the change.
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
    """Yield the fields and buttons among *widgets* and in their boxes, in page order."""
    for widget in widgets:
        if isinstance(widget, Box):
            yield from _inputs(widget.children)
        elif widget.has_trait("description") and not isinstance(widget, HTML):
            yield widget
