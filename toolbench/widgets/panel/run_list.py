"""The list of earlier runs: filter it, open a run, run it again, load its arguments, compare two.

With our JavaScript module (`frontend/src/runs.ts`) the runs are a table in which two can be marked
for comparison. Without the module, the user chooses a run from a list.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any

import ipywidgets as w
from traitlets import Bool, List, Unicode

from toolbench.display.caps import shorten
from toolbench.display.differences import Difference, differences, differences_html
from toolbench.display.escape import Html, escape
from toolbench.display.objects import call_html
from toolbench.display.page import Card, cards_html, notice
from toolbench.runs.record import RunRecord, state_words
from toolbench.runs.run_rows import RUN_KEYS, RunRow, rows_of
from toolbench.widgets.kit.filter_field import FilterField
from toolbench.widgets.kit.parts import Parts, on_pick, put, show_if
from toolbench.widgets.panel.comparison import value_of

MAX_RUNS = 200
"""The maximum number of runs in a list. The filter finds the others."""
# Characters of a run's arguments in a list without the module
_ARGUMENTS = 80
# Characters of all pictures of a list
_PICTURES = 2_000_000
# Differences of two runs that are counted
_DIFFERENCES = 5_000


class Runs(w.VBox):
    """The widget that draws the runs on the page.

    The page sends messages that contain the key of a run. The message `picked` says that the user
    has opened the run. The message `compare` says that the user has marked the run for comparison.
    """

    rows: Any = List().tag(sync=True)
    """The rows, newest run first; see `_sent`."""
    pictures: Any = List().tag(sync=True)
    """The `data:` URLs of the images in results."""
    has_tools = Bool().tag(sync=True)
    """Whether there is a column with the tool of each run."""
    picked = Unicode().tag(sync=True)
    """The key of the open run; empty if no run is open."""
    compared: Any = List().tag(sync=True)
    """The keys of the runs that are compared, at most two."""


class RunList:
    """A list of runs with a filter. Below it is the opened run, or a comparison of two runs."""

    def __init__(
        self,
        parts: Parts,
        lock: AbstractContextManager[Any],
        runs: Callable[[], Sequence[RunRecord]],
        *,
        load: Callable[[RunRecord], object],
        run_again: Callable[[RunRecord], object],
        save: Callable[[RunRecord], object] | None = None,
        check: Callable[[RunRecord], object] | None = None,
        words: str = "",
        has_tools: bool = False,
    ) -> None:
        """Make the list. It stays empty until `refresh` is called.

        Args:
            parts: The factory of the widgets.
            lock: A reentrant lock: any thread may call the callbacks.
            runs: A function that returns the records of the runs, oldest first.
            load: What the button *Load* does: put the arguments of a record into a form.
            run_again: What *Run again* does: call the tool with the arguments of a record.
            save: What *Save as example* does: save the arguments of a record. None for no such
                button.
            check: What *Save as check* does: save a record as a check. None for no such button.
            words: The initial text of the filter.
            has_tools: Whether the runs are of several tools, so that each row names its tool.
        """
        self._lock, self._all = lock, runs
        self._rows: list[RunRow] = []
        self._is_filling = self._is_chosen = False
        self._filter = FilterField(parts, "Filter", RUN_KEYS, value=words)
        self.chooser = parts.chooser("Run", [])
        self._table = parts.drawn(Runs, "runs", self.chooser, has_tools=has_tools)
        self._rest = parts.html()
        tip = "Run it again, with the same arguments"
        self._again = parts.button("Run again", lambda: self._act(run_again), tip=tip)
        tip = "Put its arguments into the form"
        self._load = parts.button("Load", lambda: self._act(load), tip=tip)
        self._hint = parts.html()
        self._detail = parts.html()
        self._buttons = [self._again, self._load]
        if save is not None:
            self._buttons.append(parts.button("Save as example", lambda: self._act(save)))
        if check is not None:
            self._buttons.append(parts.button("Save as check", lambda: self._act(check)))
        buttons = parts.row(*self._buttons, self._hint)
        self.widget = parts.column(
            self._filter.widget,
            self._table,
            self._rest,
            buttons,
            self._detail,
            kind="toolbench-runs",
        )
        self._filter.text.observe(lambda _: self.follow(), "value")
        self.chooser.observe(lambda _: self._chosen(), "value")
        on_pick(self._table, self.pick)
        self._table.on_msg(lambda _, content, buffers: self._hear(content))

    # --- the list ---------------------------------------------------------------------

    def refresh(self) -> None:
        """List the runs again, and open the newest."""
        with self._lock:
            self._table.compared, self._is_chosen = [], False
            self._fill("")

    def follow(self) -> None:
        """List the runs again. Open the newest, unless the user has chosen a run."""
        with self._lock:
            picked = ""
            if self._is_chosen:
                picked = self._table.picked
            self._fill(picked)

    def _fill(self, picked: str) -> None:
        """List the runs that match the filter, and open one of them.

        *picked* is the key of the run to open. If no listed run has this key, open the newest.
        """
        records = self._all()
        found = rows_of(records, self._filter.matches)
        self._rows = list(islice(found, MAX_RUNS))
        rest = sum(1 for _ in found)
        keys = [row.key for row in self._rows]
        sent, pictures = _sent(self._rows)
        compared = [key for key in self._table.compared if key in keys]
        if picked not in keys:
            picked = ""
        if keys and not picked:
            picked = keys[0]
        self._is_filling = True
        try:
            # One message: a row and its picture belong together
            with self._table.hold_sync():
                self._table.rows, self._table.pictures = sent, pictures
                self._table.picked, self._table.compared = picked, compared
            with self.chooser.hold_sync():
                self.chooser.options = [(_label(row), row.key) for row in self._rows]
                self.chooser.value = picked or None
        finally:
            self._is_filling = False
        show_if(self._filter.widget, is_shown=len(records) > 1 or self._filter.text.value != "")
        note = ""
        if rest:
            note = f'<span class="toolbench-narrow">{rest:,} more: type to narrow the list</span>'
        put(self._rest, Html(note))
        self._show(is_any=bool(records))

    # --- what the user does -------------------------------------------------------------

    def pick(self, key: str) -> None:
        """Open the run with *key*, if it is listed."""
        with self._lock:
            if any(row.key == key for row in self._rows):
                self._table.compared = []
                self.chooser.value = key
                # It was chosen already, and two runs were compared
                self._chosen()

    def compare(self, key: str) -> None:
        """Mark the run with *key* for comparison, or unmark it. Two marked runs are compared."""
        with self._lock:
            marked = [other for other in self._table.compared if other != key]
            if len(marked) == len(self._table.compared):
                marked = [*marked, key][-2:]
            self._table.compared = marked
            self._show(is_any=True)

    def _hear(self, content: Any) -> None:
        match content:
            case {"compare": str(key)} if any(row.key == key for row in self._rows):
                self.compare(key)

    def _chosen(self) -> None:
        if self._is_filling:
            return
        with self._lock:
            self._is_chosen = True
            self._table.picked = self.chooser.value or ""
            self._show(is_any=True)

    def _act(self, act: Callable[[RunRecord], object]) -> None:
        with self._lock:
            record, self._is_chosen = self.record, True
            if record is not None:
                act(record)

    @property
    def record(self) -> RunRecord | None:
        """The record of the opened run; None if no run is open."""
        return self._record_of(self._table.picked)

    def _record_of(self, key: str) -> RunRecord | None:
        for row in self._rows:
            if row.key == key:
                return row.record
        return None

    # --- below the list -----------------------------------------------------------------

    def say(self, words: str) -> None:
        """Show *words* beside the buttons, to say why nothing was done."""
        put(self._hint, Html(f'<span class="toolbench-wrong">{escape(words)}</span>'))

    def _show(self, *, is_any: bool) -> None:
        record = self.record
        for button in self._buttons:
            button.disabled = record is None
        compared = [self._record_of(key) for key in self._table.compared]
        hint = ""
        if len(compared) == 1:
            hint = "Mark a second run to see how the two differ."
        put(self._hint, Html(hint))
        if record is None:
            words = "No runs yet."
            if is_any:
                words = "No run matches the filter."
            put(self._detail, notice(words, "neutral"))
        elif len(compared) == 2 and compared[0] is not None and compared[1] is not None:
            put(self._detail, compared_html(compared[0], compared[1]))
        else:
            put(self._detail, record_html(record))


def _sent(rows: Sequence[RunRow]) -> tuple[list[list[Any]], list[str]]:
    """Return the values for `Runs.rows` and `Runs.pictures`.

    Each row becomes a list with its key, number, start, tool, state, colour of the state, duration,
    arguments and result. The last item is the index of its picture, or -1 if it has none.
    """
    pictures = list[str]()
    room, sent = _PICTURES, []
    for row in rows:
        place, record = -1, row.record
        picture = record.picture
        if picture and len(picture) <= room:
            place = len(pictures)
            pictures.append(picture)
            room -= len(picture)
        sent.append(
            [
                row.key,
                record.id,
                record.started.isoformat(),
                row.tool,
                row.state,
                row.tone,
                record.time_taken,
                row.arguments,
                record.result_line,
                place,
            ]
        )
    return sent, pictures


def _label(row: RunRow) -> str:
    text = f"{row.record.id}: {row.state}, {row.record.time_taken}, {row.arguments}"
    return shorten(text.removesuffix(", "), _ARGUMENTS)


def record_html(record: RunRecord) -> Html:
    """Return a whole run as HTML: its arguments, its answers and its result."""
    when = f"{record.started.astimezone():%H:%M:%S}"
    remark = " · ".join(filter(None, (when, record.source, record.decision)))
    return call_html(
        record.tool,
        record.arguments,
        record.observation,
        remark=remark,
        answers=record.dialogue,
    )


def compared_html(first: RunRecord, second: RunRecord) -> Html:
    """Return the differences of two runs' arguments and results, the earlier run first."""
    earlier, later = sorted((first, second), key=lambda record: record.started)
    asked = differences(dict(earlier.arguments), dict(later.arguments))
    before, after = value_of(earlier.observation), value_of(later.observation)
    if isinstance(before, str) != isinstance(after, str):
        # Long JSON is kept cut off, as a string; compared with an object, all of it would differ
        before, after = earlier.observation.text, later.observation.text
    given = differences(before, after)
    title = f"{_state_of(earlier)} → {_state_of(later)}"
    cards = (
        Card("Arguments", _found_html(asked, "The same arguments."), title),
        Card("Result", _found_html(given, "The same result."), title),
    )
    return cards_html(cards)


def _found_html(found: Iterator[Difference], same: str) -> Html:
    some = list(islice(found, _DIFFERENCES))
    if not some:
        return notice(same, "neutral")
    return differences_html(some)


def _state_of(record: RunRecord) -> str:
    return f"run {record.id}, {state_words(record.state, record.observation)}"
