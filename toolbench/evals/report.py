"""The report of an evaluation: its trials, rates and failures."""

from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten, text_line
from toolbench.display.render import to_text
from toolbench.evals.budget import Estimate
from toolbench.evals.compare import Comparison, compared
from toolbench.evals.intervals import Rate
from toolbench.evals.junit import case_of_trial, junit_xml
from toolbench.evals.report_html import report_html
from toolbench.evals.report_parts import ReportEntries, page, written
from toolbench.evals.score import Score, score_of
from toolbench.evals.summary import Confusion, Summary
from toolbench.evals.trial import Trial, by_model
from toolbench.llm.lint import Finding, lint_tools
from toolbench.values import clip
from toolbench.wording import CROSS, counted

# Failures in the text of a report
_MAX_LINES = 10
_WIDTH = 110
# Characters of a tool's name that a model made up
_NAME = 200
_STOPS = {
    "interrupted": "It was interrupted",
    "max_cost": "It stopped for max_cost",
    "executor": "Its executor broke",
}


class EvalReport(ReportEntries[Trial]):
    """The trials of an evaluation, in the order of the cases, with their statistics.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.evals import Case, evaluate
        >>> from toolbench.llm import ScriptedModel
        >>> @tool
        ... def roll(sides: int) -> str:
        ...     "Roll a die."
        ...     return "6"
        >>> cases = [Case("Hello"), Case("Roll a die", {"name": "roll", "arguments": {"sides": 6}})]
        >>> report = evaluate(ScriptedModel(["Hi!", "I rolled a 4."]), [roll], cases)
        >>> report.has_passed, [trial.problem for trial in report.failures]
        (False, ['roll was expected, and was not called'])
    """

    def __init__(
        self,
        trials: Sequence[Trial],
        *,
        models: Sequence[str],
        tools: Sequence[ToolDefinition[Any, Any]],
        planned: int,
        estimate: Estimate | None = None,
        stopped: str | None = None,
        is_cost_unknown: bool = False,
        notes: Sequence[str] = (),
        seconds: float = 0.0,
        is_saved: bool = False,
    ) -> None:
        """Make a report of *trials*; users get reports from `evaluate`."""
        super().__init__(
            trials,
            planned=planned,
            stopped=stopped,
            notes=notes,
            seconds=seconds,
            is_saved=is_saved,
        )
        self.models = tuple(models)
        """The names of the models."""
        self.tools = {tool.name: tool for tool in tools}
        """The offered tools, by name."""
        self.estimate = estimate
        """The estimate that was made before the start."""
        self._is_cost_unknown = is_cost_unknown

    # --- what it says ------------------------------------------------------------------

    @cached_property
    def summary(self) -> Summary:
        """The rates of each model, with their confidence intervals."""
        return Summary(self, self.models)

    @cached_property
    def confusion(self) -> Confusion:
        """How often each tool was called for each expected tool, for all models together."""
        return Confusion(self)

    def confusion_of(self, model: str) -> Confusion:
        """Return how often *model* called each tool, for each expected tool."""
        return Confusion(trial for trial in self if trial.model == model)

    @cached_property
    def failures(self) -> list[Trial]:
        """The trials whose answer is not as expected."""
        return [trial for trial in self if trial.passed is False]

    @cached_property
    def findings(self) -> dict[str, list[Finding]]:
        """The findings of `lint_tools` about the offered tools, by the name of the tool."""
        by_tool: dict[str, list[Finding]] = {}
        for finding in lint_tools(self.tools.values()):
            by_tool.setdefault(finding.tool, []).append(finding)
        return by_tool

    @property
    def notices(self) -> list[str]:
        """Notes that a reader needs in order to judge the numbers."""
        notices = [*self._notes]
        if self.stopped is not None:
            where = f"after {len(self):,} of {self.planned:,} answers"
            if self.stopped == "interrupted" and len(self) == self.planned:
                where = "while calls of its answers ran"
            notices.append(f"{_STOPS[self.stopped]} {where}. {self._how_to_go_on}")
        if self._is_cost_unknown:
            notices.append("Some answers do not say what they cost: max_cost could not count them.")
        cases = {id(trial.case): trial.case for trial in self}
        proposals = sum(case.is_proposal for case in cases.values())
        if proposals:
            notices.append(
                f"{counted(proposals, 'case')} of {len(cases)}: a proposal that no person has "
                "confirmed; see Case.confirmed()."
            )
        return notices

    @property
    def has_passed(self) -> bool:
        """Whether all planned answers exist and are as expected."""
        return not (self.failures or self.errors) and len(self) == self.planned

    def score(self, name: str = "") -> Score:
        """Return the score of the evaluation: how many of the planned answers are as expected.

        A missing answer counts as wrong. The score also has a line to paste into a spreadsheet.

        Args:
            name: The name of the participant, for the first cell of the line.
        """
        right = sum(trial.passed is True for trial in self)
        cases = {id(trial.case): trial.case for trial in self}.values()
        return score_of(Rate(right, self.planned), name=name, models=self.models, cases=cases)

    def compare(self, earlier: "EvalReport") -> Comparison:
        """Compare this report with *earlier*: list the changed cases, and test for significance.

        A case in one report is the same as a case in the other if their titles and prompts are
        equal. Trials without an answer are left out. A change is significant if the probability
        that chance alone causes it is below 5 %.
        """
        return compared(self, earlier)

    # --- as something else -----------------------------------------------------------

    def _table_columns(self) -> dict[str, list[Any]]:
        rows = [_row(trial) for trial in self]
        return {name: [row[name] for row in rows] for name in _COLUMNS}

    def to_html(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as one page that needs no kernel, with every failure.

        Args:
            path: A file to which the page is also written.
            overwrite: Whether to replace the file if it has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        text = page("Evaluation", report_html(self, most=None))
        return written(text, path, overwrite=overwrite)

    def to_junit(self, path: str | PathLike[str] | None = None, *, overwrite: bool = False) -> str:
        """Return the report as JUnit XML, for a CI.

        Args:
            path: A file to which the XML is also written.
            overwrite: Whether to replace the file if it has other content.

        Raises:
            FileError: If the file exists with other content, or cannot be written.
        """
        suites = {model: [*map(case_of_trial, group)] for model, group in by_model(self).items()}
        text = junit_xml(suites, "toolbench.evals")
        return written(text, path, overwrite=overwrite)

    def to_text(self) -> str:
        """Return the summary and the first failures as text."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        heads, rows = self.summary.table()
        for head in heads:
            table.add_column(head)
        for row in rows:
            table.add_row(*(Text(text_line(text)) for text in row))
        lines = [*map(text_line, self.notices), to_text(table, width=_WIDTH)]
        for expected, called, count in self.confusion.pairs[:_MAX_LINES]:
            pair = f"{shorten(called, _NAME)} in place of {shorten(expected, _NAME)}"
            lines.append(text_line(f"{pair}: {count:,}"))
        for trial in self.failures[:_MAX_LINES]:
            problem = "; ".join(trial.problems) or trial.problem
            lines.append(text_line(f"{CROSS} {trial.model}: {clip(trial.title)}: {problem}"))
        if len(self.failures) > _MAX_LINES:
            lines.append(f"… {len(self.failures) - _MAX_LINES:,} more failures")
        lines += [
            text_line(f"! {t.model}: {clip(t.title)}: {t.error}") for t in self.errors[:_MAX_LINES]
        ]
        if len(self.errors) > _MAX_LINES:
            lines.append(f"… {len(self.errors) - _MAX_LINES:,} more requests without an answer")
        return "\n".join(lines)

    def __repr__(self) -> str:
        failed, errors = len(self.failures), len(self.errors)
        return (
            f"<EvalReport: {counted(len(self), 'answer')}, {counted(failed, 'failure')}, "
            f"{counted(errors, 'error')}>"
        )

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        return {"text/plain": self.to_text(), "text/html": report_html(self)}


_COLUMNS = (
    *("model", "case", "prompt", "repeat", "expected", "called", "arguments"),
    *("passed", "picked", "filled", "called_when_none", "forbidden", "repaired"),
    *("problems", "error", "input_tokens", "output_tokens", "cost", "seconds"),
)


def _row(trial: Trial) -> dict[str, Any]:
    facts = {name: getattr(trial, name, None) for name in _COLUMNS}
    return facts | {
        "case": trial.title,
        "expected": ", ".join(call.name for call in trial.case.calls),
        "called": ", ".join(trial.called),
        "arguments": [call["arguments"] for call in trial.calls],
        "problems": "; ".join(trial.problems),
    }
