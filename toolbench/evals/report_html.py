"""Write a report of an evaluation as HTML without scripts, for use without a kernel."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolbench.display.ansi import on_page
from toolbench.display.css import CELL, LINE, REMARK, TABLE, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape, visible
from toolbench.display.json_tree import json_html
from toolbench.display.page import (
    TONES,
    Tone,
    badge,
    fold,
    key_values,
    notice,
    section,
    short,
)
from toolbench.display.tables import ColumnType, TableHead, listing_html, table_html
from toolbench.errors import Problem
from toolbench.evals.intervals import Rate
from toolbench.evals.match import ExpectedCall, FieldRule, SentCall, paired
from toolbench.evals.report_parts import framed, heading, scrolled
from toolbench.evals.scoring import defaults_of, redactor_of, secrecy_of
from toolbench.evals.summary import RATES, Confusion, Summary
from toolbench.evals.trial import Trial
from toolbench.jsonschema.types import Json
from toolbench.llm.read import read_message
from toolbench.redaction import MARK
from toolbench.redaction.redactor import Redactor
from toolbench.values import json_text
from toolbench.wording import counted, duration

if TYPE_CHECKING:
    from toolbench.evals.report import EvalReport


IN_A_CELL = 50
"""The number of failures that a cell shows; a small number, because the notebook saves them."""

# On a page of its own
_PAGE_ROWS = 10_000
# A row of a comparison
_DIFFERENT = "background:rgba(190,50,60,.1)"
# Characters of a value that needs no tree
_LINE = 60
# Characters of an answer
_TEXT = 5_000
_COLUMNS = (
    *("model", "case", "repeat", "expected", "called", "state"),
    *("tokens", "seconds", "what is wrong"),
)


def report_html(report: "EvalReport", *, most: int | None = IN_A_CELL) -> Html:
    """Return the report as HTML: the summary, confused tools, and expandable rows of failures.

    Args:
        report: The report.
        most: The maximum number of failures to show, and also of errors. None shows all.
    """
    parts = _overview(report)
    parts += [_failures(report, most), _errors(report, most), _answers(report, most or _PAGE_ROWS)]
    return framed(parts)


def overview_html(report: "EvalReport", key: str) -> Html:
    """Return the report without its failures: the summary, confusion, errors and all answers.

    If the user clicks an answer, the page sends the number of its row, counted from 1, to the
    widget that shows the HTML. *key* is the key of the report in `live_results`, with which the
    page loads more answers.
    """
    parts = _overview(report)
    answers = _answers(report, IN_A_CELL, key=key)
    parts += [_errors(report, IN_A_CELL), f"<div data-toolbench-opens>{answers}</div>"]
    return framed(parts)


def _overview(report: "EvalReport") -> list[str]:
    facts = f"{counted(len(report), 'answer')}, {counted(len(report.models), 'model')}"
    parts = [heading("Evaluation", facts)]
    for text in report.notices:
        parts.append(notice(text, "warning"))
    totals = listing_html(*report.summary.table(has_rates=False))
    parts += [_rates(report.summary), totals, _confusion(report.confusion)]
    return parts


# What each rate counts; of most, less is better
_MEANINGS = {
    "passed": "the answer is as the case expects",
    "picked": "exactly the expected tools were called; of the answers with expected calls",
    "filled": "all arguments are right; of the answers with the right tools",
    "called_when_none": "a tool was called, and the case expects none; less is better",
    "forbidden": "a tool was called that the case forbids; less is better",
    "repaired": (
        "a call was not valid as the model wrote it, such as a number in quotes, and could be "
        "corrected; of the answers with calls; less is better"
    ),
}
_IS_GOOD = frozenset({"passed", "picked", "filled"})


def _rates(summary: Summary) -> Html:
    """Return each rate, with a bar of its interval and the numbers for each model."""
    html = ""
    for attribute, name in RATES.items():
        tone: Tone = "warning"
        if attribute in _IS_GOOD:
            tone = "info"
        rows = ""
        for model, of in summary.items():
            rate = getattr(of, attribute)
            if not rate.total:
                continue
            head = ""
            if len(summary) > 1:
                head = f'<th scope="row" style="{CELL};font-weight:400">{short(model)}</th>'
            rows += f'<tr>{head}<td style="{CELL}">{_rate(rate, tone)}</td></tr>'
        if rows:
            html += (
                f'<div style="display:flex;flex-wrap:wrap;gap:2px 16px;padding:5px 0;border-bottom:{LINE}">'
                f'<div style="flex:1 1 18em"><strong>{name}</strong><div style="{REMARK}">'
                f'{_MEANINGS[attribute]}</div></div><div style="flex:1 1 22em"><table style="{TABLE};{TEXT_FONT}">'
                f"<tbody>{rows}</tbody></table></div></div>"
            )
    return section("Rates, with intervals of 95 %", Html(html))


def _rate(rate: Rate, tone: Tone) -> str:
    """Return *rate* as a bar from 0 to 100 %, with its interval and a line at the rate."""
    red, green, blue = TONES[tone]
    fill = f"background:rgba({red},{green},{blue},.4)"
    line = f"border-left:2px solid {on_page(TONES[tone])}"
    bar = ""
    for share, style in (
        (rate.low, ""),
        (rate - rate.low, fill),
        (rate.high - rate, f"{fill};{line}"),
    ):
        bar += f'<span style="box-sizing:border-box;height:10px;width:{share:.1%};{style}"></span>'
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:0 8px;align-items:center">'
        '<span aria-hidden="true" style="display:flex;width:120px;height:10px;border-radius:2px;'
        f'overflow:hidden;background:rgba(128,128,128,.18)">{bar}</span>'
        f"<span><strong>{rate:.0%}</strong> {rate.hits:,} of {rate.total:,} "
        f'<span style="{REMARK}">{rate.low:.0%} to {rate.high:.0%}</span></span></div>'
    )


def _answers(report: "EvalReport", rows: int, *, key: str = "") -> Html:
    """Return a collapsed table with a row for each of the first *rows* answers."""
    if not len(report):
        return Html("")
    table = table_html(shown_answers(report, rows), rows=rows, key=key)
    title = f"All answers: {len(report):,}"
    if report.failures:
        title += f", {len(report.failures):,} of them wrong"
    return fold(title, scrolled(table), is_open=bool(key))


def shown_answers(report: "EvalReport", count: int | None = None) -> TableHead:
    """Return a table row for each of the first *count* answers, or for all if it is None."""
    first: list[tuple[Any, ...]] = []
    for number, trial in enumerate(report[:count], 1):
        first.append((number, *_row(trial)))
    kinds = [ColumnType("", "O")] * len(_COLUMNS)
    for place in map(_COLUMNS.index, ("repeat", "tokens", "seconds")):
        kinds[place] = ColumnType("", "f")
    return TableHead(_COLUMNS, (len(report), len(_COLUMNS)), tuple(first), tuple(kinds))


def _row(trial: Trial) -> tuple[Any, ...]:
    expected = ", ".join(call.name for call in trial.case.calls) or "no call"
    called = ", ".join(trial.called) or "no call"
    state = "ok"
    if trial.error is not None:
        called, state = "", "error"
    elif not trial.passed:
        state = "failed"
    tokens: Any = trial.tokens
    if tokens is None:
        tokens = ""
    problem = trial.error or "; ".join(trial.problems)
    return (
        trial.model,
        trial.title,
        trial.repeat,
        expected,
        called,
        state,
        tokens,
        duration(trial.seconds),
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
    """Return a row that expands to the prompt, the calls and the expected calls."""
    head = (
        f"{badge(trial.model, 'info')}<strong>{short(trial.title)}</strong> "
        f'<span style="{REMARK}">{short(trial.problem)}</span>'
    )
    prompt_html = notice(f"Prompt: {trial.prompt}", "neutral")
    return (
        f'<details style="border:{LINE};border-radius:7px;margin:0 0 8px">'
        f'<summary style="cursor:pointer;padding:5px 10px">{head}</summary>'
        f'<div style="border-top:{LINE};padding:8px 10px">{prompt_html}{comparison_html(trial, report)}'
        f"{_answer(trial)}{_results(trial)}{lint_html(trial, report)}</div></details>"
    )


def comparison_html(trial: Trial, report: "EvalReport") -> Html:
    """Show how an answer differs from its case: in words, and with the calls side by side."""
    html = "".join(notice(text, "danger") for text in trial.problems)
    redactor = redactor_of(trial.case, [], report.tools)
    expected = [_hidden(call, report, redactor) for call in trial.case.calls]
    sent: list[SentCall] = []
    for call in trial.calls:
        tool = report.tools.get(call["name"])
        defaults = secrecy_of(tool).hide(defaults_of(tool))[0]
        sent.append(SentCall(call["name"], call["arguments"], defaults))
    for one, other, problems in paired(expected, sent, trial.case.rules):
        html += _pair(one, other, problems, trial.case.rules)
        expected = [call for call in expected if call is not one]
        sent = [call for call in sent if call is not other]
    alone = "".join(_alone(call, "expected, not called") for call in expected)
    alone += "".join(_alone(call, "called, not expected") for call in sent)
    if alone:
        html += (
            f'<div style="display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 8px">{alone}</div>'
        )
    for call in trial.calls:
        for text in call.get("repairs", ()):
            html += notice(f"Repaired in {call['name']}: {text}", "warning")
    return Html(html)


def _alone(call: ExpectedCall | SentCall, words: str) -> str:
    """Return *call*, which has no counterpart; *words* say whether it was expected or sent."""
    head = f"{badge(words, 'danger')}<code>{short(call.name)}</code>"
    return f'<div style="flex:1 1 20em;min-width:0">{head}{key_values(call.arguments)}</div>'


def _pair(
    expected: ExpectedCall, sent: SentCall, problems: list[Problem], rules: Mapping[str, FieldRule]
) -> Html:
    """Return a table of the arguments of two calls, with the differing arguments marked."""
    differing: dict[str, list[str]] = {}
    for problem in problems:
        differing.setdefault(str(problem.path[0]), []).append(problem.where)
    rows = ""
    for name in dict.fromkeys([*expected.arguments, *sent.arguments, *differing]):
        wanted = _argument(expected.arguments, name, sent.defaults)
        got = _argument(sent.arguments, name, sent.defaults)
        if name in rules:
            wanted += f'<div style="{REMARK}">compared by {rules[name].kind}</div>'
        # Of two secrets nothing can be said here
        is_hidden = expected.arguments.get(name) == MARK == sent.arguments.get(name)
        mark = style = ""
        if name in differing and not is_hidden:
            mark = badge("differs", "danger")
            inside = [where for where in differing[name] if where != name]
            mark += f'<div style="{REMARK}">{escape(", ".join(inside))}</div>'
            style = f' style="{_DIFFERENT}"'
        rows += (
            f'<tr{style}><th scope="row" style="{CELL};padding-left:6px">{short(name)} {mark}</th>'
            f'<td style="{CELL};width:42%">{wanted}</td><td style="{CELL};width:42%">{got}</td></tr>'
        )
    heads = ""
    for head in (f"<code>{short(sent.name)}</code>", "expected", "sent"):
        heads += f'<th scope="col" style="{CELL}">{head}</th>'
    return Html(
        f'<table {NO_MATHS} style="{TABLE};width:100%;margin:0 0 8px"><thead style="border-bottom:'
        f'{LINE}"><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _argument(arguments: Mapping[str, Any], name: str, defaults: Mapping[str, Any]) -> str:
    """Return the value of an argument; if it was omitted, its default or the word "nothing"."""
    remark = ""
    value = arguments.get(name)
    if name not in arguments and name in defaults:
        value, remark = defaults[name], f' <span style="{REMARK}">the default</span>'
    elif name not in arguments:
        return f'<span style="{REMARK}">nothing</span>'
    text = json_text(value)
    if len(text) <= _LINE:
        return f'<span style="overflow-wrap:anywhere">{escape(visible(text))}</span>{remark}'
    return json_html(value) + remark


def _hidden(call: ExpectedCall, report: "EvalReport", redactor: Redactor) -> ExpectedCall:
    """Return the expected *call*, with its secrets and those of *redactor* masked."""
    hidden = secrecy_of(report.tools.get(call.name)).hide(call.arguments)[0]
    return ExpectedCall(call.name, redactor.value(hidden))


def _answer(trial: Trial) -> str:
    text = answer_text(trial)
    if not text:
        return ""
    return notice(f"Answer: {text}", "neutral")


def answer_text(trial: Trial) -> str:
    """Return the text of the answer without its calls; "" if the message was not kept."""
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
    """Return the lint findings about the tools of *trial*, which may explain its failure."""
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
