"""The report of checks, with a row for each check: as text, HTML, table and JUnit XML."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from os import PathLike
from typing import Any, Literal

from toolbench.checks.check import Check
from toolbench.checks.check_file import ENDING, CheckFile
from toolbench.core.schema import Observation
from toolbench.display.caps import text_line
from toolbench.display.differences import NOTHING, Difference, differences, differences_html
from toolbench.display.escape import Html
from toolbench.display.page import Tone, fold, notice, section
from toolbench.display.tables import TableHead, table_html, table_text
from toolbench.errors import CaseError, Path, Problem
from toolbench.evals.junit import JUnitCase, junit_xml
from toolbench.evals.match import ABSENT
from toolbench.evals.report_parts import ReportEntries, framed, heading, page, scrolled, written
from toolbench.mcp.snapshots.diff import Change
from toolbench.mcp.snapshots.page import changes_html
from toolbench.runs.record import RunRecord, is_lost
from toolbench.runs.run import Run
from toolbench.values import clip, plain
from toolbench.wording import counted, duration

State = Literal[
    "passed",
    "accepted",
    "failed",
    "refused",
    "missing",
    "same",
    "slower",
    "differs",
    "error",
    "not called",
]
_PASSED = frozenset({"passed", "accepted", "same", "slower"})
# Rows of a report as text
_ROWS = 100
# Differences of one part of a result that are counted, results whose differences a page shows, and changes
_DIFFERENCES, _MARKED, _CHANGES = 5_000, 20, 20


@dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.checks import Check, Checks
        >>> @tool
        ... def greet(name: str) -> str:
        ...     "Greet a guest."
        ...     return f"Hello, {name}!"
        >>> check = Check("greets", "greet", arguments={"name": "Ada"}, expect={"text": "Hi, Ada!"})
        >>> [result] = Checks([check]).run([greet])
        >>> result.state, result.error
        ('failed', '"Hi, Ada!" was expected, and "Hello, Ada!" was returned')
    """

    check: Check
    state: State
    """How the check ended: passed; accepted (it failed, and its result became the expected result
    in the file); failed; refused (by the policy or the user); missing (there is no such tool). For
    a recorded call that `rerun` made again: same; slower (the result is the same, but it took more
    than twice as long, and at least half a second longer); differs; error (the call fails now, but
    did not fail before); not called."""
    problems: tuple[Problem, ...] = ()
    """How the result differs from what was expected."""
    seconds: float = 0.0
    """How long the call took."""
    observation: Observation | None = None
    """The returned result, without secrets; None if the tool was not run."""
    run: Run | None = None
    """The run of the call."""

    @property
    def passed(self) -> bool:
        """Whether everything was as expected, or was accepted."""
        return self.state in _PASSED

    @property
    def has_new_result(self) -> bool:
        """Whether the tool returned an unexpected result that can be accepted.

        This is False if a recording has no answer, or if the server cannot be reached.
        """
        if self.state != "failed" or self.observation is None or self.run is None:
            return False
        is_away = self.run.tool.is_replayed or self.run.error_kind == "network"
        return not (self.observation.is_error and is_away)

    @property
    def error(self) -> str | None:
        """The problems, one on each line; None if there are none."""
        return "\n".join(map(str, self.problems)) or None

    def differences(self) -> tuple[list[Difference], list[Problem]]:
        """Return the parts in which the results differ, and problems that concern no such part."""
        found, others = dict[Path, Difference](), list[Problem]()
        expected = actual = ABSENT
        seen = self.observation
        if seen is not None and seen.is_error == bool(self.check.expectation.error):
            expected, actual = self.check.compared(seen)
        for problem in self.problems:
            parts = _differences(problem.path, expected, actual)
            found |= {each.path: each for each in parts}
            if not parts:
                others.append(problem)
        return [*found.values()], others

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        return {
            "name": self.check.name,
            "tool": self.check.tool,
            "state": self.state,
            "seconds": round(self.seconds, 6),
            "problems": [{"where": each.where, "message": each.message} for each in self.problems],
        }


def _differences(path: Path, expected: Any, actual: Any) -> list[Difference]:
    """Return the parts at *path* in which two results differ; an empty list if there are none."""
    are_objects = isinstance(expected, dict) and isinstance(actual, dict)
    # Of objects, each key that differs is a problem of its own
    if expected is ABSENT or (are_objects and not path):
        return []
    for step in path:
        expected, actual = _part(expected, step), _part(actual, step)
    try:
        return list(islice(differences(expected, actual, path), _DIFFERENCES))
    except RecursionError:
        # Nested too deeply, which the problem says
        return []


def _part(value: Any, step: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(step, NOTHING)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return NOTHING


class CheckReport(ReportEntries[CheckResult]):
    """The results of checks, in order.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.checks import Check, Checks
        >>> @tool
        ... def double(number: int) -> int:
        ...     "Double a number."
        ...     return 2 * number
        >>> check = Check("doubles", "double", arguments={"number": 4}, expect={"result": 8})
        >>> report = Checks([check]).run([double])
        >>> report.passed, report[0].state
        (True, 'passed')
    """

    def __init__(
        self,
        results: Sequence[CheckResult],
        *,
        planned: int,
        stopped: str | None = None,
        seconds: float = 0.0,
        file: CheckFile | None = None,
        title: str = "Checks",
        changes: Sequence[Change] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """Make a report of *results*; users get reports from `Checks.run` and `rerun`."""
        super().__init__(
            results, planned=planned, stopped=stopped, notes=notes, seconds=seconds, is_saved=False
        )
        self.file = file
        """The file of the checks, into which an accepted result is written."""
        self.title = title
        """What was checked."""
        self.changes = changes
        """After `rerun`, the changes in what the servers offer, most severe first; else None."""

    @cached_property
    def failures(self) -> list[CheckResult]:
        """The results of checks that did not pass."""
        return [each for each in self if not (each.passed or each.state == "not called")]

    @property
    def passed(self) -> bool:
        """Whether all checks have run and passed."""
        return not self.failures and len(self) == self.planned

    @property
    def verdict(self) -> str:
        """One sentence: how many checks passed, in what time, and how the others ended."""
        states = Counter(result.state for result in self)
        passed = sum(result.passed for result in self)
        text = f"{passed:,} of {counted(self.planned, 'check')} passed in {duration(self.seconds)}"
        others = [f"{count:,} {state}" for state, count in states.items() if state != "passed"]
        if others:
            text = f"{text}: {', '.join(others)}"
        if self.stopped is not None:
            text = f"{text}. {self.stopped} after {len(self):,}"
        return f"{text}."

    @property
    def about_changes(self) -> str:
        """After `rerun`, a sentence about changes in what the servers offer; otherwise empty."""
        if self.changes is None:
            return ""
        text = f"{counted(len(self.changes), 'change')} in what is offered."
        return " ".join([text, *self._notes])

    def accepting(self, place: int) -> "CheckReport":
        """Accept the result at the index *place*: it becomes the expected result in the file.

        Everything else in the file stays unchanged, including comments.

        Returns:
            A copy of this report in which the result is accepted.

        Raises:
            CaseError: If the check has no new result, or the result depends on an answer that is
                secret. Also if the check in the file has changed, or the file cannot be written.
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
        if old.run is not None and len(old.run.dialogue.answers) > len(check.answers):
            # Somebody has answered, whom a shell cannot ask
            check = replace(check, answers=_answers_of(old.run))
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
        """Return the report as JSON data; a report of `rerun` includes the changes."""
        data = {
            "passed": self.passed,
            "checks": self.planned,
            "failed": len(self.failures),
            "seconds": round(self.seconds, 6),
            "results": [result.to_dict() for result in self],
        }
        if self.changes is not None:
            data["changes"] = [
                {"meaning": each.severity, "where": each.where, "text": each.text}
                for each in self.changes
            ]
        return data

    def to_text(self) -> str:
        """Return the verdict, the rows, and the changes as text."""
        lines = [text_line(self.verdict)]
        if len(self):
            lines.append(table_text(shown_results(self, _ROWS), rows=_ROWS))
        lines.append(text_line(self.about_changes))
        for change in (self.changes or ())[:_CHANGES]:
            lines.append(text_line(f"- {change.severity}: {change.text}"))
        return "\n".join(lines).rstrip()

    def to_html(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as one page that needs no kernel.

        Args:
            path: A file to which the page is also written.
            overwrite: Whether to replace a file that has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        return written(page(self.title, checks_html(self)), path, overwrite=overwrite)

    def to_junit(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as JUnit XML for a CI.

        Unexpected results become failures. Checks that could not be run become errors.

        Args:
            path: A file to which the XML is also written.
            overwrite: Whether to replace a file that has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        suite = "checks"
        if self.file is not None:
            suite = self.file.path.name.removesuffix(ENDING)
        text = junit_xml({suite: [*map(_junit_case, self)]}, "toolbench.checks")
        return written(text, path, overwrite=overwrite)

    def __repr__(self) -> str:
        return f"<CheckReport: {self.verdict}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": self.to_text(), "text/html": checks_html(self)}


def _answers_of(run: Run) -> list[Any]:
    """Return the answers to the questions of *run* in the form that a check has.

    Raises:
        CaseError: If an answer is secret or too long.
    """
    answers = [answer.preset for answer in RunRecord.of(run).answers]
    if is_lost(plain(answers)):
        msg = "The result rests on an answer that no file keeps: it is secret, or very long."
        raise CaseError(msg)
    return answers


def _junit_case(result: CheckResult) -> JUnitCase:
    """Return *result* as a test case for JUnit XML."""
    error, failure = result.error, None
    if result.passed:
        error = None
    elif result.observation is not None:
        error, failure = None, error
    return JUnitCase(name=result.check.name, seconds=result.seconds, error=error, failure=failure)


def shown_results(report: CheckReport, count: int | None = None) -> TableHead:
    """Return the first *count* rows as users see them; all rows if *count* is None."""
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
    """Return *report* as HTML that needs no kernel.

    In a widget, the user can click a row to see the differences of its result. Without a widget,
    the differences of the first failures are shown below the rows.

    Args:
        report: The report.
        rows: The maximum number of rows in the HTML.
        key: The key of the report in `live_results`, with which a widget loads more rows. Leave it
            empty for a page without a kernel.
    """
    title = report.title
    if report.file is not None:
        title = f"Checks of {report.file.path.name}"
    tone: Tone = "success"
    if not report.passed:
        tone = "danger"
    parts = [heading(title, ""), notice(report.verdict, tone)]
    if len(report):
        table = table_html(shown_results(report, rows), rows=rows, key=key)
        parts.append(scrolled(Html(f"<div data-toolbench-opens>{table}</div>")))
    if not key:
        for result in report.failures[:_MARKED]:
            if result.observation is not None:
                found, _ = result.differences()
                parts.append(section(result.check.name, differences_html(found)))
    if report.changes:
        changes = changes_html(report.changes, most=_CHANGES)
        if key:
            # A row opens below them, where it has to be seen
            parts.append(fold(report.about_changes, changes))
        else:
            parts.append(section(report.about_changes, changes))
    elif report.about_changes:
        parts.append(notice(report.about_changes, "neutral"))
    return framed(parts)
