"""The report of an evaluation: each failure opens into its transcript and the panels of its calls."""

import re

from payloads import some_payloads
from test_evals.sample_tools import bill, message

from test_widgets.front import deliver, named, page, type_into, walk
from test_widgets.tooling import finish
from toolbench import tool
from toolbench.display.live_results import live_results
from toolbench.display.table_query import TableQuery
from toolbench.evals import Case, evaluate, sweep
from toolbench.evals.report_html import shown_answers
from toolbench.llm.models import ScriptedModel
from toolbench.redaction.redactor import NO_SECRETS
from toolbench.widgets.panel import ToolPanel
from toolbench.widgets.report_panel import ReportPanel, SweepPanel


@tool(read_only=True)
def split_bill(total: float, people: int, tip: float = 0.0) -> float:
    """Split a restaurant bill."""
    return (total + tip) / people


@tool(read_only=True)
def login(user: str, password: str) -> str:
    """Log in."""
    return f"{user} is in"


SPLIT = Case("Split 84 by 4", {"name": "split_bill", "arguments": {"total": 84, "people": 4}})


def report_of(*answers, case=SPLIT, tools=(split_bill, login)):
    """The report of one model that gave *answers* to *case*."""
    model = ScriptedModel([*answers], name="scripted")
    return evaluate(model, tools, [case], repeats=len(answers), workers=1)


def click_row(widget, row):
    """Do what the page does after a click on the row that is called *row*."""
    deliver(widget, {"method": "custom", "content": {"picked": row}})


def panels(root):
    return [part for part in walk(root) if isinstance(part, ToolPanel)]


def test_a_failure_opens_into_what_was_said_and_the_panel_of_the_call():
    """The first is open; the panel holds the call as it was sent, and nothing has run."""
    wrong = message(bill(people=5), text="Five, I think.")
    panel = ReportPanel(report_of(message(bill()), wrong))
    assert panel.opened is panel.report.failures[0]
    html = page(panel)
    for words in ("Split 84 by 4", "Five, I think.", "4 was expected, and 5 was sent"):
        assert words in html
    [call] = panels(panel)
    assert call.form.value == {"total": 84, "people": 5}
    assert call.record is None


def test_the_call_runs_and_can_be_changed():
    """It is a panel like any other."""
    panel = ReportPanel(report_of(message(bill(people=5))))
    [call] = panels(panel)
    type_into(named(call, "people"), "4")
    call.run()
    finish(call)
    assert call.result.result == 21


def test_another_failure_takes_its_place():
    """Each has panels of its own; those before are closed."""
    panel = ReportPanel(report_of(*(message(bill(people=n)) for n in (5, 6, 7))))
    [first] = panels(panel)
    panel.show_row(2)
    [third] = panels(panel)
    assert third.form.value["people"] == 7
    assert first.comm is None


def test_several_calls_have_a_panel_each_and_unknown_tools_none():
    """What cannot be run says so, with what was sent."""
    sent = message(bill(people=5), ("gone", {"where": "far"}), bill(people=6))
    panel = ReportPanel(report_of(sent))
    assert [call.form.value["people"] for call in panels(panel)] == [5, 6]
    assert "there is no such tool" in page(panel)
    assert "far" in page(panel)


def test_arguments_that_do_not_fit_are_marked():
    """The fields say what is wrong with what the model sent."""
    panel = ReportPanel(report_of(message(("split_bill", {"total": 84}))))
    [call] = panels(panel)
    assert "Enter a value." in page(call)


def test_a_secret_is_not_filled_in():
    """It is kept nowhere; the panel says what is missing."""
    sent = message(("login", {"user": "ada", "password": "hunter2-x9"}))
    panel = ReportPanel(report_of(sent))
    [call] = panels(panel)
    assert call.form.value == {"user": "ada"}
    assert "Not kept, because it is secret: password" in page(panel)
    bundle = panel._repr_mimebundle_()
    assert "hunter2-x9" not in page(panel) + bundle["text/html"] + bundle["text/plain"]


def test_answers_are_searched():
    """By the case, what is wrong, what was called and the model."""
    small = ScriptedModel([message(bill(people=5)), "No."])
    large = ScriptedModel([message(("login", {"user": "a", "password": "b"})), message(bill())])
    cases = [
        SPLIT,
        Case("Hello", {"name": "split_bill", "arguments": {"total": 1, "people": 1}}),
    ]
    report = evaluate({"small": small, "large": large}, [split_bill, login], cases, workers=1)
    panel = ReportPanel(report)
    assert "All answers: 4, 4 of them wrong" in page(panel)
    rows = TableQuery(shown_answers(report), NO_SECRETS).rows("failed login", None, 0, 9).rows
    [row] = rows
    assert row[2] == "Split 84 by 4" and row[-1] == "login was called, and split_bill was expected"


def test_without_failures_there_is_only_the_summary():
    """And it says so."""
    panel = ReportPanel(report_of(message(bill())))
    assert panel.opened is None and panels(panel) == []
    assert "1 of 1" in page(panel)


@some_payloads
def test_hostile_texts_stay_texts(payloads):
    """What a model says, and a file of cases."""
    for payload in payloads:
        case = Case(payload, {"name": "split_bill", "arguments": {}}, name=payload)
        sent = message((payload, {payload: payload}), text=payload)
        html = page(ReportPanel(report_of(sent, case=case)))
        assert "<" not in payload or payload not in html


def test_a_row_opens_its_answer_right_or_wrong():
    """A click in the page names the row."""
    panel = ReportPanel(report_of(message(bill()), message(bill(people=5))))
    [overview] = [part for part in walk(panel) if "All answers" in str(getattr(part, "value", ""))]
    for row in ("1", "7", "x"):
        click_row(overview, row)
        assert panel.opened is panel.report[0]
    [call] = panels(panel)
    assert call.form.value["people"] == 4


def test_a_row_of_a_sweep_opens_the_panel_of_its_call(wire):
    """Filled in, one at a time; a secret is missing, and nothing runs."""
    report = sweep(login, {"user": ["ada", "bob"], "password": ["hunter2-x9"]})
    panel = SweepPanel(report)
    [rows] = [
        part for part in walk(panel) if "data-toolbench-opens" in str(getattr(part, "value", ""))
    ]
    for place, user in (("0", "ada"), ("1", "bob"), ("9", "bob")):
        click_row(rows, place)
        [call] = panels(panel)
        assert call.form.value == {"user": user} and call.record is None
    assert "Not kept, because it is secret: password" in page(panel)
    panel.close()
    assert wire.live == set()


def test_closing_leaves_no_widget(wire):
    """Those of panels too; twice does no harm."""
    panel = ReportPanel(report_of(message(bill(people=5)), message(bill(people=6))))
    panel.show_row(1)
    panel.close()
    panel.close()
    assert wire.live == set()
    assert not panel.is_busy


def test_all_answers_are_in_the_page_and_few_in_the_saved_notebook():
    """The kernel has them for the live page, and filters them; what is saved has the first 50."""
    panel = ReportPanel(report_of(*(message(bill(people=5)) for _ in range(400))))
    live, saved = page(panel), panel._repr_mimebundle_()["text/html"]
    assert "All answers: 400" in live and "All answers: 400" in saved
    [key] = re.findall('data-toolbench-result="([^"]*)"', live)
    assert live_results.query(key).rows("repeat=399", None, 0, 9).rows[0][0] == "399"
    assert "data-toolbench-result" not in saved
    assert "350 rows left out" in saved
