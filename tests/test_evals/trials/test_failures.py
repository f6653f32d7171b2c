"""One call or answer that fails in whatever way is a row; the report comes with all others."""

from asyncio import CancelledError
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.test_evals.sample_tools import message
from toolbench import tool
from toolbench.evals import Case, evaluate, sweep
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
    trials = evaluate(
        lambda messages, tools: "Hi", [], [Case("Hi")], executor=ended_executor()
    )
    for errors in (rows.errors, trials.errors):
        assert "after shutdown" in errors[0].error
    assert (len(rows.errors), len(trials.errors)) == (2, 1)


def test_an_interrupt_in_a_model_is_still_an_interrupt():
    """It ends the evaluation, and is no row."""

    def model(messages, tools):
        raise KeyboardInterrupt

    report = evaluate(model, [], [Case("Hi")], repeats=3, workers=1)
    assert report.stopped == "interrupted"
