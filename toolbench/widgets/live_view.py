"""Views that belong to the cell that shows them, and are saved and closed with its output.

When a cell runs again, the page removes the old output of the cell, and `shown_views` closes the
views in it.

JupyterLab and Notebook do not save the state of widgets, so a reopened notebook shows an error in
place of a widget. Therefore a cell that shows a view gets two outputs. The first has the view as
HTML, which includes runs that end later. It is hidden while the page can draw the second output,
the widget.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from uuid import uuid4

import ipywidgets as w

from toolbench.display.css import REMARK, TEXT_FONT
from toolbench.display.escape import Html, escape
from toolbench.runs.input_prompt import can_ask_in_cell
from toolbench.runs.kernel import running_shell
from toolbench.runs.record import RunRecord
from toolbench.widgets.kit.parts import Parts

# The number of earlier views, of all cells, that are remembered
_EARLIER = 20

_OUTPUT = ":is(.jp-OutputArea-child, .output_area)"
_WIDGET = ":is(.jupyter-widgets, .jupyter-widgets-view)"
# Otherwise the view has only text or a script
_DRAWN = f"{_WIDGET} > :not(script)"
_STYLE = Html(f"""<style>
{_OUTPUT}:has(+ {_OUTPUT} {_WIDGET}):not(:has(+ {_OUTPUT} {_DRAWN})) .toolbench-still {{ display: block; }}
{_OUTPUT}:has(.toolbench-kept) + {_OUTPUT}:has({_WIDGET}):not(:has({_DRAWN})),
{_OUTPUT}:has(.toolbench-kept):has(+ {_OUTPUT} {_DRAWN}) {{ display: none; }}
</style>""")

_CELL_OF_PAGE = {"msg_type": "execute_request"}
"""The header of a cell in JupyterLite, whose kernel provides no header."""


class LiveView(w.VBox):
    """A widget that is shown as the output of a cell.

    It is saved with the notebook, and is closed when the cell runs again.

    A subclass must define `_static`, which returns a mime bundle. It may also define:

    - `_views`: The views inside this view. While one of them is busy, this view is busy. When this
      view is closed, they are closed, too.
    - `_records`: The records of the runs that the HTML of `_static` shows.
    - `still`: The HTML of the view without runs, if it differs from the HTML of `_static`. In the
      saved notebook, runs that end later are added below this HTML.
    - `_release`: Stops listeners and runs before the view closes.
    - `resume(earlier)`: Takes over the state of *earlier*, a view that the cell showed when it last
      ran, and that may already be closed. It returns whether it took over anything.
    """

    def __init__(
        self,
        parts: Parts,
        lock: AbstractContextManager[Any],
        children: Sequence[w.Widget],
        *classes: str,
        use: str = "",
    ) -> None:
        """Show *children* one below the other.

        Args:
            parts: The factory of the widgets in the view.
            lock: A reentrant lock that is held while the view closes.
            children: The widgets in the view.
            *classes: Additional CSS classes.
            use: What works only after the user runs the cell of a reopened notebook again, such as
                "the form". The saved HTML says so.
        """
        self._parts, self._lock = parts, lock
        self._made_in = shown_views.cell
        self._saved_output = SavedOutput(use)
        super().__init__(children, _dom_classes=("toolbench-box", *classes))

    def _static(self) -> dict[str, Any]:
        """Return the mime bundle of the view as text and HTML that works without a kernel."""
        raise NotImplementedError

    @property
    def still(self) -> Html:
        """The view as HTML for a saved notebook, without the runs that `keep` adds."""
        return Html(self._static()["text/html"])

    def _views(self) -> Iterable[Any]:
        """Return the views inside this one, which have `is_busy` and `close`."""
        return ()

    @property
    def _records(self) -> list[RunRecord]:
        """The runs that the HTML of `_static` already shows."""
        return []

    def _release(self) -> None:
        """Stop the listeners and the runs of the view. `close` calls this first."""

    @property
    def is_busy(self) -> bool:
        """Whether something is running in the view, so that it must not be closed now."""
        return any(view.is_busy for view in self._views())

    def keep(self) -> None:
        """Add to the saved notebook the runs that ended after the view was shown."""
        self._saved_output.keep(self.still, self._records)

    def renew(self) -> None:
        """Update the view in the saved notebook."""
        self._saved_output.renew(self.still)

    def close(self) -> None:
        """Close the view and all its widgets, and cancel what is running in it."""
        # The view may already be closed; the garbage collector calls this too
        if self.comm is not None:
            self._release()
            with self._lock:
                for view in list(self._views()):
                    view.close()
                self._parts.close()
            self.layout.close()
        super().close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        shown_views.add(self, self._made_in)
        # First, because a run that ends meanwhile should be saved twice rather than not at all
        records = self._records
        static = self._static()
        if "text/html" in static:
            self._saved_output.show(static["text/html"], records)
        return {**(super()._repr_mimebundle_(**options) or {}), **static}


class ShownViews:
    """Closes views that are no longer shown, because their cells have run again.

    When a cell runs again, the page removes the old output of the cell. But the widgets in this
    output would stay in the memory of the kernel and of the page. Therefore, this class remembers
    which cells have made or shown each view. When all these cells have run again without showing
    the view, the view is closed.
    """

    def __init__(self) -> None:
        """Start without views."""
        self.cell: str | None = None
        """The front end's id of the running cell; None if no cell with an id is running."""
        self.announcement: CellOutput | None = None
        """The output of `announced` in the running cell, until a view replaces it."""
        self._cells: dict[Any, set[str | None]] = {}
        self._earlier: list[tuple[str, Any]] = []
        """The views of earlier runs, with their cells.

        If a run fails, the next run can resume them.
        """

    def begin(self, cell: str | None) -> None:
        """Record that *cell* starts. Views of its earlier run then no longer belong to the cell.

        Args:
            cell: The id that the front end gives the cell; None if the cell has no id.
        """
        self.cell = cell
        if cell is not None:
            shown = [view for view, cells in self._cells.items() if cell in cells]
            for view in shown:
                self._cells[view].discard(cell)
            earlier = [(cell, view) for view in shown if hasattr(view, "resume")]
            self._earlier = [*self._earlier, *earlier][-_EARLIER:]

    def add(self, view: Any, made_in: str | None) -> None:
        """Record that the running cell shows *view*.

        Args:
            view: An object with `is_busy` and `close`. If it also has `resume`, this method is
                called with one view after another from earlier runs of the cell, until it returns
                True.
            made_in: The value that `self.cell` had when the view was made. It is None if no cell
                has made the view. Such a view is never closed by this class.
        """
        if self.cell is None:
            return
        self._cells.setdefault(view, {made_in}).add(self.cell)
        if hasattr(view, "resume"):
            self._resume(view)

    def _resume(self, view: Any) -> None:
        for entry in self._earlier:
            cell, earlier = entry
            if cell == self.cell and (earlier is view or view.resume(earlier)):
                self._earlier.remove(entry)
                return

    def end(self) -> None:
        """Record that the running cell has ended, and close the views that belong to no cell.

        A view that is still busy is closed at the end of a later cell. If the cell has shown a
        view, the views of its earlier runs are forgotten. They can then no longer be resumed.
        """
        if any(self.cell in cells for cells in self._cells.values()):
            self._earlier = [entry for entry in self._earlier if entry[0] != self.cell]
        self.cell = None
        self.withdraw()
        over = [view for view, cells in self._cells.items() if not cells and not view.is_busy]
        for view in over:
            del self._cells[view]
            view.close()
            _forget_output(view)

    def withdraw(self) -> None:
        """Clear the text that `announced` shows, unless a view has replaced it."""
        announcement, self.announcement = self.announcement, None
        if announcement is not None:
            announcement.replace({"text/plain": ""})


def _forget_output(view: Any) -> None:
    """Remove the closed *view* from IPython's `Out`, which would keep its widgets in memory."""
    shell = running_shell()
    if shell is None:
        return
    outputs = shell.user_ns.get("_oh", {})
    for number in [number for number, value in outputs.items() if value is view]:
        del outputs[number]
        # `push` adds a hidden name to both
        for names in (shell.user_ns, shell.user_ns_hidden):
            names.pop(f"_{number}", None)


shown_views = ShownViews()
"""The views that the cells of this process show."""


class CellOutput:
    """An output of the running cell. Any thread may replace it, even after the cell has ended."""

    def __init__(self, publisher: Any) -> None:
        """Show nothing yet. *publisher* is the display publisher of the shell."""
        self._publisher = publisher
        self._cell = dict(getattr(publisher, "parent_header", _CELL_OF_PAGE))
        self._transient = {"display_id": f"toolbench-{uuid4().hex}"}

    def show(self, data: Mapping[str, Any]) -> None:
        """Add the output, the mime bundle *data*, to the cell."""
        self._publisher.publish(data, transient=self._transient)

    def replace(self, data: Mapping[str, Any]) -> None:
        """Replace the contents of the output with the mime bundle *data*."""
        # Without a socket, as in JupyterLite, the page finds the output by its id alone
        if not hasattr(self._publisher, "pub_socket"):
            self._publisher.publish(data, transient=self._transient, update=True)
            return
        # Like publish(), which would name the cell of this thread, or the running one
        self._publisher.session.send(
            self._publisher.pub_socket,
            "update_display_data",
            {"data": data, "metadata": {}, "transient": self._transient},
            parent=self._cell,
            ident=self._publisher.topic,
        )


@contextmanager
def announced(text: str) -> Iterator[None]:
    """Show *text* in the running cell while the `with` block prepares a view.

    The view replaces the text.
    """
    publisher = _publisher()
    # A notebook that runs without a page gets no additional outputs
    if publisher is not None and can_ask_in_cell():
        # An earlier line of the cell may have shown an announcement but no view
        shown_views.withdraw()
        shown_views.announcement = output = CellOutput(publisher)
        html = f'<div style="{TEXT_FONT};{REMARK}" role="status">{escape(text)}</div>'
        output.show({"text/plain": text, "text/html": html})
    try:
        yield
    except BaseException:
        # Even after an interrupt: no view will replace the text
        shown_views.withdraw()
        raise


class SavedOutput:
    """The output of a cell with a view as HTML, which a reopened notebook shows in its place."""

    def __init__(self, use: str = "") -> None:
        """Prepare the output, which `show` makes.

        Args:
            use: What works only after the user runs the cell again, such as "the form". A line
                below the HTML says so; empty for no such line.
        """
        self._use = use
        # None if no page was open when the panel was shown: a notebook that runs without a page
        # must not change
        self._output: CellOutput | None = None
        self._last_keys: frozenset[tuple[str, int]] = frozenset()
        self._views: dict[tuple[str, int], tuple[str, str]] = {}

    def show(self, still: str, records: Sequence[RunRecord] = ()) -> None:
        """Add the output to the running cell, before the view.

        Args:
            still: The view as HTML.
            records: The records of the runs that *still* shows.
        """
        publisher = _publisher()
        if publisher is None:
            return
        self._last_keys = frozenset(record.key for record in records)
        announcement, shown_views.announcement = shown_views.announcement, None
        output = announcement or CellOutput(publisher)
        # Another thread may call `keep` from now on
        if can_ask_in_cell():
            self._output = output
        else:
            self._output = None
        if announcement is None:
            output.show(self._content(still, ()))
        else:
            output.replace(self._content(still, ()))

    def keep(self, still: str, records: Sequence[RunRecord]) -> None:
        """Replace the output with the HTML *still*, followed by the runs that ended later.

        These are the runs in *records* that were not passed to `show`. If there are no such runs,
        do nothing. Any thread may call this method.
        """
        news = [record for record in records if record.key not in self._last_keys]
        if self._output is None or not news:
            return
        # Another thread may replace the views meanwhile
        views = self._views
        views = {r.key: views.get(r.key) or (r.to_html(), r.to_text()) for r in news}
        self._views = views
        self._output.replace(self._content(still, list(views.values())))

    def renew(self, still: str) -> None:
        """Replace the output with the HTML *still*."""
        if self._output is not None:
            self._output.replace(self._content(still, ()))

    def _content(self, still: str, views: Sequence[tuple[str, str]]) -> dict[str, str]:
        """Return the mime bundle of the output. *views* has each run as HTML and as text."""
        ran = "".join(f'<div style="margin-top:8px">{html}</div>' for html, _ in views)
        text = "\n\n".join(text for _, text in views)
        html = (
            f'<div class="toolbench-kept">{_STYLE}'
            f'<div class="toolbench-still" hidden>{still}{_hint(self._use)}</div>{ran}</div>'
        )
        if not text:
            return {"text/html": html}
        return {"text/plain": text, "text/html": html}


def _hint(use: str) -> str:
    """Return the line "Run the cell to use ..." with *use*; empty if *use* is empty."""
    if not use:
        return ""
    style = f"{TEXT_FONT};{REMARK}"
    return f'<div style="{style}">Run the cell to use {use}.</div>'


def _publisher() -> Any:
    """Return the display publisher of ipykernel or JupyterLite; None without a kernel."""
    publisher = getattr(running_shell(), "display_pub", None)
    kinds = ("pub_socket", "update_display_data_callback")
    if any(hasattr(publisher, kind) for kind in kinds):
        return publisher
    return None
