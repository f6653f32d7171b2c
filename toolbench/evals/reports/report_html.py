"""A report of an evaluation as HTML that needs no kernel, no script and no network."""

from collections.abc import Mapping
from html import escape as escape_text
from typing import TYPE_CHECKING, Any

from toolbench.display.escape import NO_MATHS, Html, escape
from toolbench.display.html.css import LINE, REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.json_tree import json_html
from toolbench.display.page import badge, key_values, notice, section, short, whole_page
from toolbench.evals.cases.call_match import ExpectedCall
from toolbench.evals.reports.confusion import Confusion
from toolbench.evals.reports.html_table import text_table
from toolbench.evals.trials.trial import Trial
from toolbench.llm.calls.messages import read_message
from toolbench.llm.lint import Finding
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.evals.reports.eval_report import EvalReport

IN_A_CELL = 50
"""Failures that a cell shows: what it shows is saved with the notebook."""

_TEXT = 5_000  # characters of an answer


def page(title: str, body: str) -> str:
    """Return *body* as a whole page."""
    return whole_page(escape_text(title), body, width="70rem")


def report_html(report: "EvalReport", *, most: int | None = IN_A_CELL) -> Html:
    """Return the report: the summary, what was taken for what, and each failure, folded.

    Args:
        report: The report.
        most: How many failures, and how many errors, are shown; None: all.
    """
    rows = report.summary.rows()
    keep = [key for key in rows[0] if any(row[key] != "-" for row in rows)]
    cells = [[row[key] for key in keep] for row in rows]
    parts = [
        _head(report),
        *(notice(text, "warning") for text in report.notices),
        text_table(keep, cells, caption=""),
        _confusion(report.confusion),
        _failures(report, most),
        _errors(report, most),
    ]
    style = (
        f"{TEXT_FONT};{TEXT_COLOR};border:{LINE};border-radius:8px;padding:12px 16px"
    )
    return Html(f'<div {NO_MATHS} style="{style}">{"".join(parts)}</div>')


def _head(report: "EvalReport") -> str:
    facts = [counted(len(report), "answer"), counted(len(report.models), "model")]
    return (
        f'<div style="border-bottom:{LINE};padding:0 0 6px;margin:0 0 10px">'
        f'<strong>Evaluation</strong> <span style="{REMARK}">{escape(", ".join(facts))}</span></div>'
    )


def _confusion(confusion: Confusion) -> str:
    if not confusion.pairs:
        return ""
    columns = confusion.columns
    rows = [
        [expected, *(str(counts.get(name) or "") for name in columns)]
        for expected, counts in confusion.items()
    ]
    table = text_table(["expected, and what was called", *columns], rows)
    return section("Which tool was called for which", table)


def _failures(report: "EvalReport", most: int | None) -> str:
    failures = report.failures
    if not failures:
        return notice("Every answer is as expected.", "success") if len(report) else ""
    html = "".join(_failure(trial, report) for trial in failures[:most])
    return section(
        counted(len(failures), "failure"), Html(html + _rest(len(failures), most))
    )


def _rest(count: int, most: int | None) -> str:
    if most is None or count <= most:
        return ""
    return f'<div style="{REMARK}">{count - most:,} more: .failures has them all, .to_html() shows them.</div>'


def _failure(trial: Trial, report: "EvalReport") -> str:
    """A row that opens into what was said, called and expected."""
    problem = trial.problems[0] if trial.problems else "not as expected"
    head = (
        f"{badge(trial.model, 'info')}<strong>{short(trial.case.title)}</strong> "
        f'<span style="{REMARK}">{short(problem)}</span>'
    )
    prompt_html = notice(f"Prompt: {trial.case.prompt}", "neutral")
    problems = "".join(notice(text, "danger") for text in trial.problems)
    calls = "".join(
        section(f"Called: {call['name']}", key_values(call["arguments"]))
        + "".join(
            notice(f"Repaired: {text}", "warning") for text in call.get("repairs", ())
        )
        for call in trial.calls
    )
    expected = "".join(
        section(f"Expected: {call.name}", json_html(_hidden(call, report)))
        for call in trial.case.calls
    )
    return (
        f'<details style="border:{LINE};border-radius:7px;margin:0 0 8px">'
        f'<summary style="cursor:pointer;padding:5px 10px">{head}</summary>'
        f'<div style="border-top:{LINE};padding:8px 10px">{prompt_html}{problems}{expected}{calls}'
        f"{_answer(trial)}{_results(trial)}{_lint(trial, report.findings)}</div></details>"
    )


def _hidden(call: ExpectedCall, report: "EvalReport") -> Any:
    """Return the expected arguments without what the tool calls secret."""
    tool = report.tools.get(call.name)
    return (
        dict(call.arguments) if tool is None else tool.secrecy.hide(call.arguments)[0]
    )


def _answer(trial: Trial) -> str:
    if trial.message is None:
        return ""
    text = "".join(read_message(trial.message).text).strip()
    return notice(f"Answer: {text[:_TEXT]}", "neutral") if text else ""


def _results(trial: Trial) -> str:
    return "".join(
        notice(f"Run {r['run']}, {r['name']}, {r['state']}: {r['text']}", "neutral")
        for r in trial.results
    )


def _lint(trial: Trial, findings: Mapping[str, list[Finding]]) -> str:
    """What lint says of the tools of the failure: it may explain it."""
    tools = dict.fromkeys([*(c.name for c in trial.case.calls), *trial.called])
    tool_findings = [finding for name in tools for finding in findings.get(name, ())]
    if not tool_findings:
        return ""
    items = "".join(f"<li>{escape(str(finding))}</li>" for finding in tool_findings)
    return f'<div style="{REMARK}">What lint says of these tools:<ul>{items}</ul></div>'


def _errors(report: "EvalReport", most: int | None) -> str:
    errors = report.errors
    if not errors:
        return ""
    rows = [(t.model, t.case.title, t.error or "") for t in errors[:most]]
    table = text_table(("model", "case", "why there was no answer"), rows)
    return section(
        f"{counted(len(errors), 'request')} without an answer, not counted as wrong",
        Html(table + _rest(len(errors), most)),
    )
