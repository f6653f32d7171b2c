"""One call or answer that fails in whatever way is a row; the report comes with all others."""

from asyncio import CancelledError
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.test_evals.sample_tools import TOOLS, PlantedModel, bill, message
from toolbench import tool
from toolbench.evals import Case, evaluate, sweep
from toolbench.evals.match import FieldRule
from toolbench.llm.models import ScriptedModel

EXITS = [SystemExit(3), CancelledError(), GeneratorExit()]
exits = pytest.mark.parametrize("error", EXITS, ids=lambda error: type(error).__name__)


def ended_executor():
    """An executor that was shut down."""
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    return pool


def exiting(error):
    """A tool that raises *error* when it gets 2."""

    @tool(read_only=True)
    def leave(n: int) -> int:
        """Return the number."""
        if n == 2:
            raise error
        return n

    return leave


@exits
def test_a_call_of_a_sweep_that_exits_is_a_row(error):
    """The calls around it are made."""
    report = sweep(exiting(error), {"n": range(4)})
    assert [row.state for row in report] == ["ok", "ok", "error", "ok"]
    assert type(error).__name__ in report.errors[0].error


@exits
def test_a_model_that_exits_is_a_row(error):
    """The other answers come, and the report with them."""

    def model(messages, tools):
        if messages[-1]["content"] == "2":
            raise error
        return "Hello."

    report = evaluate(model, [], [Case(str(n)) for n in range(4)])
    assert [trial.error is None for trial in report] == [True, True, False, True]


@exits
def test_a_call_of_an_answer_that_exits_is_its_result(error):
    """The calls of the later answers run."""
    answers = [message(("leave", {"n": n})) for n in range(4)]
    cases = [Case(str(n)) for n in range(4)]
    report = evaluate(ScriptedModel(answers), [exiting(error)], cases, execute=True)
    states = [trial.results[0]["state"] == "ok" for trial in report]
    assert states == [True, True, False, True]


def test_an_executor_that_was_shut_down_makes_rows_of_errors():
    """Each row says what the executor said."""
    rows = sweep(exiting(None), {"n": range(2)}, executor=ended_executor())
    trials = evaluate(lambda messages, tools: "Hi", [], [Case("Hi")], executor=ended_executor())
    for errors in (rows.errors, trials.errors):
        assert "after shutdown" in errors[0].error
    assert (len(rows.errors), len(trials.errors)) == (2, 1)


def test_an_interrupt_in_a_model_is_still_an_interrupt():
    """It ends the evaluation, and is no row."""

    def model(messages, tools):
        raise KeyboardInterrupt

    report = evaluate(model, [], [Case("Hi")], repeats=3, workers=1)
    assert report.stopped == "interrupted"


class OwnRule(FieldRule):
    """A rule that a person wrote, and that fails for one value."""

    def matches(self, expected, actual):
        if actual == 5:
            raise ZeroDivisionError("five is not compared")
        return expected == actual


class OwnCase(Case):
    """A case with such a rule."""

    rules = {"people": OwnRule("equal")}  # noqa: RUF012 - as a person writes it


def test_a_rule_of_a_person_that_fails_is_a_row():
    """It is no wrong answer; what the answer cost is counted, and the other answers come."""
    name, arguments = bill()
    case = OwnCase("Split it", {"name": name, "arguments": arguments})
    report = evaluate(PlantedModel(wrong_value=0.5), TOOLS, [case], repeats=40)
    assert len(report) == 40
    assert 0 < len(report.errors) < 40
    assert not report.failures
    for trial in report.errors:
        assert "could not be scored" in trial.error
        assert "five is not compared" in trial.error
    assert report.summary.cost == pytest.approx(0.04)
    assert "could not be scored" in report.to_html()


def test_an_endless_name_of_a_tool_makes_no_endless_report():
    """Text that a model makes up is cut off before it is kept."""
    sent = message(("x" * 300_000, {}))
    report = evaluate(ScriptedModel([sent]), TOOLS, [Case("Hi", forbid=["wipe"])])
    assert report.failures
    assert len(report[0].called[0]) == 500
    assert len(report[0].problems[0]) <= 5_000
    for text in (report.to_html(), report.to_junit(), report.to_text()):
        assert len(text) < 60_000
