"""Write a report of an evaluation as HTML without scripts, for use without a kernel."""

from typing import TYPE_CHECKING, Any

from toolbench.display.css import LINE, REMARK
from toolbench.display.escape import Html, escape
from toolbench.display.json_tree import json_html
from toolbench.display.page import (
    badge,
    fold,
    key_values,
    notice,
    section,
    short,
)
from toolbench.display.tables import LATER, TableHead, listing_html, table_html
from toolbench.evals.match import ExpectedCall
from toolbench.evals.report_parts import framed, heading, scrolled
from toolbench.evals.summary import Confusion
from toolbench.evals.trial import Trial
from toolbench.jsonschema.types import Json
from toolbench.llm.read import read_message
from toolbench.redaction.detect import hide
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.evals.report import EvalReport


IN_A_CELL = 50
"""The number of failures shown in a cell; few, because they are saved with the notebook."""

# Characters of an answer
_TEXT = 5_000
_COLUMNS = (
    *("model", "case", "repeat", "expected", "called", "answer"),
    *("tokens", "seconds", "what is wrong"),
)


def report_html(report: "EvalReport", *, most: int | None = IN_A_CELL) -> Html:
    """Return the report as HTML: the summary, the confused tools, and rows that open the failures.

    Args:
        report: The report.
        most: The most failures, and the most errors, to show; None for all.
    """
    parts = _overview(report)
    parts += [_failures(report, most), _errors(report, most), _answers(report, most or LATER)]
    return framed(parts)


def overview_html(report: "EvalReport") -> Html:
    """Return the report without its failures: the summary, confusion, errors and all answers."""
    parts = _overview(report)
    parts += [_errors(report, IN_A_CELL), _answers(report, IN_A_CELL, later=LATER)]
    return framed(parts)


def _overview(report: "EvalReport") -> list[str]:
    facts = f"{counted(len(report), 'answer')}, {counted(len(report.models), 'model')}"
    parts = [heading("Evaluation", facts)]
    for text in report.notices:
        parts.append(notice(text, "warning"))
    rates = listing_html(*report.summary.table())
    parts += [section("Rates, with intervals of 95 %", rates), _confusion(report.confusion)]
    return parts


def _answers(report: "EvalReport", rows: int, *, later: int = 0) -> Html:
    """Return a table with a row for each answer, behind a line to click.

    At first the table has *rows* rows. The page draws *later* more rows during scrolling.
    """
    if not len(report):
        return Html("")
    first: list[tuple[Any, ...]] = []
    for number, trial in enumerate(report[: rows + later], 1):
        first.append((number, *_row(trial)))
    frame = TableHead(_COLUMNS, (len(report), len(_COLUMNS)), tuple(first))
    table = table_html(frame, rows=rows, later=later)
    return fold(f"All answers: {len(report):,}", scrolled(table))


def _row(trial: Trial) -> tuple[Any, ...]:
    expected = ", ".join(call.name for call in trial.case.calls) or "no call"
    called = ", ".join(trial.called) or "no call"
    answer = "as expected"
    if trial.error is not None:
        called, answer = "", "none came"
    elif not trial.passed:
        answer = "wrong"
    tokens: Any = trial.tokens
    if tokens is None:
        tokens = ""
    problem = trial.error or "; ".join(trial.problems)
    seconds = round(trial.seconds, 3)
    return (
        trial.model,
        trial.title,
        trial.repeat,
        expected,
        called,
        answer,
        tokens,
        seconds,
        problem,
    )


def _confusion(confusion: Confusion) -> str:
    if not confusion.pairs:
        return ""
    columns = confusion.columns
    rows: list[list[str]] = []
    for expected, counts in confusion.items():
        rows.append([expected, *(str(counts[name] or "") for name in columns)])
    table = listing_html(["expected, and what was called", *columns], rows)
    return section("Which tool was called for which", table)


def _failures(report: "EvalReport", most: int | None) -> str:
    failures = report.failures
    if not failures:
        return notice("Every answer is as expected.", "success") if len(report) else ""
    html = "".join(_failure(trial, report) for trial in failures[:most])
    return section(counted(len(failures), "failure"), Html(html + _rest(len(failures), most)))


def _rest(count: int, most: int | None) -> str:
    if most is None or count <= most:
        return ""
    return f'<div style="{REMARK}">{count - most:,} more: .failures has them all, .to_html() shows them.</div>'


def _failure(trial: Trial, report: "EvalReport") -> str:
    """Return a row that opens and shows the prompt, the calls and the expected calls."""
    head = (
        f"{badge(trial.model, 'info')}<strong>{short(trial.title)}</strong> "
        f'<span style="{REMARK}">{short(trial.problem)}</span>'
    )
    prompt_html = notice(f"Prompt: {trial.prompt}", "neutral")
    calls = ""
    for call in trial.calls:
        calls += section(f"Called: {call['name']}", key_values(call["arguments"]))
        for text in call.get("repairs", ()):
            calls += notice(f"Repaired: {text}", "warning")
    return (
        f'<details style="border:{LINE};border-radius:7px;margin:0 0 8px">'
        f'<summary style="cursor:pointer;padding:5px 10px">{head}</summary>'
        f'<div style="border-top:{LINE};padding:8px 10px">{prompt_html}{expected_html(trial, report)}{calls}'
        f"{_answer(trial)}{_results(trial)}{lint_html(trial, report)}</div></details>"
    )


def expected_html(trial: Trial, report: "EvalReport") -> Html:
    """Return the differences of an answer from its case, and then the expected calls."""
    problems = "".join(notice(text, "danger") for text in trial.problems)
    expected = "".join(
        section(f"Expected: {call.name}", json_html(_hidden(call, report)))
        for call in trial.case.calls
    )
    return Html(problems + expected)


def _hidden(call: ExpectedCall, report: "EvalReport") -> Any:
    """Return the expected arguments with the tool's secrets hidden."""
    tool = report.tools.get(call.name)
    if tool is None:
        return hide(call.arguments, {})
    return tool.secrecy.hide(call.arguments)[0]


def _answer(trial: Trial) -> str:
    text = answer_text(trial)
    if not text:
        return ""
    return notice(f"Answer: {text}", "neutral")


def answer_text(trial: Trial) -> str:
    """Return the text of the answer without its calls; "" if the message of the answer was not kept."""
    if trial.message is None:
        return ""
    return read_message(trial.message).message.text.strip()[:_TEXT]


def _results(trial: Trial) -> str:
    return "".join(notice(_result_text(r), "neutral") for r in trial.results)


def _result_text(result: Json) -> str:
    if result["run"] is None:
        return f"{result['name']}, {result['text']}"
    return f"Run {result['run']}, {result['name']}, {result['state']}: {result['text']}"


def lint_html(trial: Trial, report: "EvalReport") -> Html:
    """Return what lint says about the tools of *trial*, a failure: this may explain the failure."""
    findings = report.findings
    tools = dict.fromkeys([*(c.name for c in trial.case.calls), *trial.called])
    items = ""
    for name in tools:
        for finding in findings.get(name, ()):
            items += f"<li>{escape(str(finding))}</li>"
    if not items:
        return Html("")
    return Html(f'<div style="{REMARK}">What lint says of these tools:<ul>{items}</ul></div>')


def _errors(report: "EvalReport", most: int | None) -> str:
    errors = report.errors
    if not errors:
        return ""
    rows = [(t.model, t.title, t.error or "") for t in errors[:most]]
    table = listing_html(("model", "case", "why there was no answer"), rows)
    return section(
        f"{counted(len(errors), 'request')} without an answer, not counted as wrong",
        Html(table + _rest(len(errors), most)),
    )
