"""The report of a rerun: a row for each recorded call, and what changed in what the server offers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from typing import Any, Literal

from toolbench.checks.check import Check, result_of
from toolbench.core.schema import Observation
from toolbench.display.caps import text_line
from toolbench.display.differences import Difference, differences, differences_html
from toolbench.display.escape import Html
from toolbench.display.page import Tone, notice, section
from toolbench.display.tables import TableHead, table_html, table_text
from toolbench.errors import Problem
from toolbench.evals.match import ABSENT, LOOSE, equal_json, loosened
from toolbench.evals.report_parts import ReportEntries, framed, heading, page, scrolled, written
from toolbench.mcp.snapshots.diff import Change
from toolbench.mcp.snapshots.page import changes_html
from toolbench.wording import counted, duration

State = Literal["same", "slower", "differs", "error", "not called"]
# Rows, results whose differences are marked, differences of one, and changes of schemas
_ROWS, _MARKED, _DIFFERENCES, _CHANGES = 100, 20, 50, 20
_COLUMNS = ("call", "outcome", "then", "now", "why")


@dataclass(frozen=True)
class RerunRow:
    """What came of one recorded call."""

    check: Check
    """The call, and the result of then; `CheckFile.add` keeps it."""
    state: State
    """same; slower (the same result, more than twice as late and at least 0.5 s later); differs; error
    (it fails now, and did not then); not called."""
    why: str = ""
    """What differs, or why the call was not made; empty for the same."""
    problems: tuple[Problem, ...] = ()
    """The places that differ."""
    observation: Observation | None = None
    """The result of now, without secrets; None if the call was not made."""
    seconds: float | None = None
    """How long the call took."""
    was: float | None = None
    """How long it took then."""

    @property
    def error(self) -> str | None:
        """What differs; None if the result is the same, or the call was not made."""
        if self.state in ("differs", "error"):
            return self.why
        return None

    @property
    def differences(self) -> list[Difference]:
        """What differs in the result, part by part, to mark it; date-times and ids may differ."""
        if self.observation is None:
            return []
        before, after = self.check.expectation.expected, result_of(self.observation)
        if after is ABSENT or "result" not in self.check.expect:
            after = self.observation.text
        try:
            return [*islice(filter(_is_real, differences(before, after)), _DIFFERENCES)]
        except RecursionError:
            # Nested too deeply, which the problem says
            return []

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON data."""
        return {
            "tool": self.check.tool,
            "arguments": dict(self.check.arguments),
            "outcome": self.state,
            "why": self.why,
            "problems": [{"where": each.where, "message": each.message} for each in self.problems],
            "seconds": self.seconds,
            "secondsThen": self.was,
        }


class RerunReport(ReportEntries[RerunRow]):
    """The rows of a rerun, in the order of the recording."""

    def __init__(
        self,
        rows: Sequence[RerunRow],
        *,
        before: str,
        after: str,
        changes: Sequence[Change],
        planned: int,
        stopped: str | None,
        notes: Sequence[str],
        refusal: str,
        seconds: float,
    ) -> None:
        """Make a report of *rows*; users get it from `rerun`."""
        super().__init__(
            rows, planned=planned, stopped=stopped, notes=notes, seconds=seconds, is_saved=False
        )
        self.before = before
        """The other side: the name of the file of the recording, or of the other server."""
        self.after = after
        """The name of the server; several are separated by commas."""
        self.changes = tuple(changes)
        """What changed in what the server offers, the most severe first."""
        self.refusal = refusal
        """Why nobody agreed to the calls that change something; empty if that was not needed."""

    @property
    def is_same(self) -> bool:
        """Whether each call was made that the user wanted, and none differs or fails."""
        return not self.errors and not self.refusal and len(self) == self.planned

    @property
    def verdict(self) -> str:
        """One sentence: how many calls had which outcome."""
        counts = Counter(row.state for row in self)
        words = [f"{count:,} {state}" for state, count in counts.items()]
        text = f"{counted(self.planned, 'call')}: {', '.join(words) or 'nothing was called'}."
        if self.stopped is not None:
            text = f"{text} {self.stopped} after {len(self):,}."
        return text

    @property
    def about_changes(self) -> str:
        """A sentence: how many changes there are in what the server offers."""
        if self._notes:
            return " ".join(self._notes)
        if not self.changes:
            return f"{self.after} offers the same as {self.before}."
        counts = Counter(change.severity for change in self.changes)
        words = [f"{count:,} {severity}" for severity, count in counts.items()]
        return f"What {self.after} offers has changed: {', '.join(words)}."

    def _table_columns(self) -> dict[str, list[Any]]:
        return {
            "tool": [row.check.tool for row in self],
            "arguments": [dict(row.check.arguments) for row in self],
            "outcome": [row.state for row in self],
            "then": [row.was for row in self],
            "now": [row.seconds for row in self],
            "why": [row.why for row in self],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "same": self.is_same,
            "before": self.before,
            "after": self.after,
            "calls": [row.to_dict() for row in self],
            "changes": [
                {"meaning": each.severity, "where": each.where, "text": each.text}
                for each in self.changes
            ],
        }

    def to_text(self) -> str:
        """Return the verdict, the rows, and the changes of what the server offers, as text."""
        lines = [text_line(self.verdict)]
        if len(self):
            lines.append(table_text(self._table(_ROWS), rows=_ROWS))
        lines.append(text_line(self.about_changes))
        for change in self.changes[:_CHANGES]:
            lines.append(text_line(f"- {change.severity}: {change.text}"))
        return "\n".join(lines)

    def to_html(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as one page that needs no kernel.

        Args:
            path: A file to which the page is also written.
            overwrite: Replace a file that has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        return written(page(self._title, self._body()), path, overwrite=overwrite)

    def __repr__(self) -> str:
        return f"<RerunReport: {self.verdict}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": self.to_text(), "text/html": self._body()}

    @property
    def _title(self) -> str:
        return f"{self.before} rerun at {self.after}"

    def _table(self, count: int) -> TableHead:
        rows = []
        for number, row in enumerate(self[:count]):
            then, now = _time(row.was), _time(row.seconds)
            # A page shows no line ends in a cell
            why = row.why.replace("\n", "; ")
            rows.append((number, row.check.name, row.state, then, now, why))
        return TableHead(_COLUMNS, (len(self), len(_COLUMNS)), tuple(rows))

    def _body(self) -> Html:
        tone: Tone = "success"
        if not self.is_same:
            tone = "danger"
        parts = [heading(self._title, duration(self.seconds)), notice(self.verdict, tone)]
        if len(self):
            parts.append(scrolled(table_html(self._table(_ROWS), rows=_ROWS)))
        for row in [row for row in self.errors if row.differences][:_MARKED]:
            parts.append(section(row.check.name, differences_html(row.differences)))
        if self.changes:
            shown = changes_html(self.changes, before=self.before, after=self.after, most=_CHANGES)
            parts.append(section(self.about_changes, shown))
        else:
            parts.append(notice(self.about_changes, "neutral"))
        return framed(parts)


def _is_real(each: Difference) -> bool:
    """Tell whether *each* is more than another date-time or id."""
    return not equal_json(loosened(each.before, LOOSE), loosened(each.after, LOOSE))


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return duration(seconds)
