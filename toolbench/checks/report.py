"""The report of checks: a row for each, as text, as HTML, as a table and as JUnit XML."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal

from toolbench.checks.check import Check
from toolbench.checks.check_file import ENDING, CheckFile
from toolbench.core.schema import Observation
from toolbench.display.caps import text_line
from toolbench.display.escape import Html
from toolbench.display.page import Tone, notice
from toolbench.display.tables import TableHead, table_html, table_text
from toolbench.errors import CaseError, Problem
from toolbench.evals.junit import JUnitCase, junit_xml
from toolbench.evals.report_parts import ReportEntries, framed, heading, page, scrolled, written
from toolbench.runs.run import Run
from toolbench.values import clip
from toolbench.wording import counted, duration

State = Literal["passed", "accepted", "failed", "refused", "missing"]
# Rows of a report as text, and problems of one row
_ROWS, _PROBLEMS = 100, 20


@dataclass(frozen=True)
class CheckResult:
    """What came out of one check."""

    check: Check
    state: State
    """passed; accepted (it failed, and its result was written into the file as the expected one);
    failed; refused (by the policy or the user); missing (there is no such tool)."""
    problems: tuple[Problem, ...] = ()
    """How the result differs from what was expected."""
    seconds: float = 0.0
    """How long the call took."""
    observation: Observation | None = None
    """What was returned, without secrets; None if the tool was not run."""
    run: Run | None = None
    """The run of the call."""

    @property
    def passed(self) -> bool:
        """Whether everything was as expected, or was accepted."""
        return self.state in ("passed", "accepted")

    @property
    def has_new_result(self) -> bool:
        """Whether the check failed with a result that can be accepted."""
        return self.state == "failed" and self.observation is not None

    @property
    def error(self) -> str | None:
        """The problems in one text, each on a line; None if there are none."""
        if not self.problems:
            return None
        lines = [str(problem) for problem in self.problems[:_PROBLEMS]]
        if len(self.problems) > _PROBLEMS:
            lines.append(f"and {len(self.problems) - _PROBLEMS:,} more")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        return {
            "name": self.check.name,
            "tool": self.check.tool,
            "state": self.state,
            "seconds": round(self.seconds, 6),
            "problems": [{"where": each.where, "message": each.message} for each in self.problems],
        }


class CheckReport(ReportEntries[CheckResult]):
    """The results of checks, in their order."""

    def __init__(
        self,
        results: Sequence[CheckResult],
        *,
        planned: int,
        stopped: str | None = None,
        seconds: float = 0.0,
        file: CheckFile | None = None,
    ) -> None:
        """Make a report of *results*; users get it from `Checks.run`."""
        super().__init__(
            results, planned=planned, stopped=stopped, notes=(), seconds=seconds, is_saved=False
        )
        self.file = file
        """The file of the checks, in which a new result is accepted."""

    @cached_property
    def failures(self) -> list[CheckResult]:
        """The results of checks that did not pass."""
        return [result for result in self if not result.passed]

    @property
    def passed(self) -> bool:
        """Whether all checks have run, and passed."""
        return not self.failures and len(self) == self.planned

    @property
    def verdict(self) -> str:
        """One sentence: how many checks passed, and in what time."""
        passed = len(self) - len(self.failures)
        text = f"{passed:,} of {counted(self.planned, 'check')} passed in {duration(self.seconds)}"
        accepted = sum(result.state == "accepted" for result in self)
        if accepted:
            text += f"; of {accepted:,} the new result was accepted"
        text += "."
        if self.stopped is not None:
            text = f"{text} {self.stopped} after {len(self):,}."
        return text

    def accepting(self, place: int) -> "CheckReport":
        """Write the result at *place* into the file, as what its check expects from now on.

        Returns:
            The report in which that result is accepted.

        Raises:
            CaseError: If it has no new result, the check in the file is another one by now, or the
                file cannot be written.
        """
        old = self[place]
        if self.file is None or old.observation is None or not old.has_new_result:
            msg = f"The check {clip(old.check.name)} has no new result that could be written into a file."
            raise CaseError(msg)
        if old.check not in self.file.read():
            msg = (
                f"{self.file.path.name} has another check {clip(old.check.name)} now, or none. "
                "Run the checks again."
            )
            raise CaseError(msg)
        check = old.check.accepting(old.observation)
        left = check.problems(old.observation, old.seconds)
        if left:
            msg = f"With this result it would fail as well: {left[0]}. Change what it expects in {self.file.path.name}."
            raise CaseError(msg)
        self.file.replace(check)
        results = list(self)
        results[place] = replace(old, check=check, state="accepted", problems=())
        return CheckReport(
            results,
            planned=self.planned,
            stopped=self.stopped,
            seconds=self.seconds,
            file=self.file,
        )

    def _table_columns(self) -> dict[str, list[Any]]:
        return {
            "check": [result.check.name for result in self],
            "tool": [result.check.tool for result in self],
            "state": [result.state for result in self],
            "seconds": [result.seconds for result in self],
            "difference": [result.error or "" for result in self],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "passed": self.passed,
            "checks": self.planned,
            "failed": len(self.failures),
            "seconds": round(self.seconds, 6),
            "results": [result.to_dict() for result in self],
        }

    def to_text(self) -> str:
        """Return the verdict and the rows as text."""
        lines = [text_line(self.verdict)]
        if len(self):
            lines.append(table_text(shown_results(self, _ROWS), rows=_ROWS))
        return "\n".join(lines)

    def to_html(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as one page that needs no kernel.

        Args:
            path: A file to which the page is also written.
            overwrite: Replace a file that has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        return written(page("Checks", checks_html(self)), path, overwrite=overwrite)

    def to_junit(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as JUnit XML, for a CI; a check that did not run is an error there.

        Args:
            path: A file to which the XML is also written.
            overwrite: Replace a file that has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        text = junit_xml(_junit_cases(self), "toolbench.checks")
        return written(text, path, overwrite=overwrite)

    def __repr__(self) -> str:
        return f"<CheckReport: {self.verdict}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": self.to_text(), "text/html": checks_html(self)}


def _junit_cases(report: CheckReport) -> list[JUnitCase]:
    """Return the test cases of *report*, for JUnit XML, in a suite called like its file."""
    suite, cases = "checks", []
    if report.file is not None:
        suite = report.file.path.name.removesuffix(ENDING)
    for result in report:
        error, failure = result.error, None
        if result.state == "failed":
            error, failure = None, error
        case = JUnitCase(
            suite=suite,
            name=result.check.name,
            seconds=result.seconds,
            error=error,
            failure=failure,
        )
        cases.append(case)
    return cases


def shown_results(report: CheckReport, count: int | None = None) -> TableHead:
    """Return the first *count* rows as they are shown; None: all."""
    rows = []
    for number, result in enumerate(report[:count]):
        time = ""
        if result.run is not None:
            time = duration(result.seconds)
        # A page shows no line ends in a cell
        error = (result.error or "").replace("\n", "; ")
        rows.append((number, result.check.name, result.check.tool, result.state, time, error))
    columns = ("check", "tool", "state", "time", "difference")
    return TableHead(columns, (len(report), len(columns)), tuple(rows))


def checks_html(report: CheckReport, *, rows: int = _ROWS, key: str = "") -> Html:
    """Return *report* as HTML that needs no kernel; shown by a widget, a click on a row sends its number.

    Args:
        report: The report.
        rows: How many rows are written.
        key: The key of the report in `live_results`, where a page gets the other rows.
    """
    title = "Checks"
    if report.file is not None:
        title = f"Checks of {report.file.path.name}"
    tone: Tone = "success"
    if not report.passed:
        tone = "danger"
    parts = [heading(title, ""), notice(report.verdict, tone)]
    if len(report):
        table = table_html(shown_results(report, rows), rows=rows, key=key)
        parts.append(scrolled(Html(f"<div data-toolbench-opens>{table}</div>")))
    return framed(parts)
