"""Calls of answers run only as far as a person agreed, and not after an interrupt."""

from tests.test_evals.sample_tools import TOOLS, bill, message
from toolbench import answering, history
from toolbench.evals import Case, evaluate
from toolbench.llm.models import ScriptedModel

WIPES = [("wipe", {"path": f"/{n}"}) for n in range(7)]


def executed(answer, case, **options):
    """The only trial of a model that gives *answer*; a person agrees to what is asked."""
    with answering(True):
        [trial] = evaluate(
            ScriptedModel([answer]), TOOLS, [case], execute=True, **options
        )
    return trial


def test_no_more_calls_run_than_a_person_agreed_to():
    """The question says at most one call: of seven, one runs, and the report says so."""
    trial = executed(message(*WIPES), Case("Hello"))
    assert len(history()) == 1
    assert [result["state"] for result in trial.results] == ["ok"] + ["not run"] * 6
    assert trial.results[1]["text"] == "not run: more calls than agreed"


def test_the_number_agreed_to_is_that_of_the_expected_calls():
    """Two are expected, so two may run."""
    calls = [{"name": name, "arguments": a} for name, a in WIPES[:2]]
    executed(message(*WIPES), Case("Wipe both", calls))
    assert len(history()) == 2


def test_calls_that_nobody_is_asked_about_all_run():
    """A tool that only reads is in no question, and no question limits it."""
    executed(message(*[bill()] * 3, *WIPES), Case("Hello"))
    assert [record.tool for record in history()] == ["split_bill"] * 3 + ["wipe"]


def test_a_page_tells_which_calls_did_not_run():
    """A reader of the report sees them beside those that ran."""
    with answering(True):
        report = evaluate(
            ScriptedModel([message(*WIPES)]), TOOLS, [Case("Hello")], execute=True
        )
    assert "wipe, not run: more calls than agreed" in report.to_html()
