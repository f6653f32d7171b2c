"""Calls of answers run only as far as a person agreed, and not after an interrupt."""

from concurrent.futures import Executor, Future

import pytest

from tests.test_evals.sample_tools import TOOLS, bill, message
from toolbench import ToolDefinition, answering, history, tool
from toolbench.evals import Case, evaluate
from toolbench.llm.models import ScriptedModel
from toolbench.mcp import create_mcp_tools
from toolbench.testing import FakeMCPServer

WIPES = [("wipe", {"path": f"/{n}"}) for n in range(7)]


def executed(answer, case, **options):
    """The only trial of a model that gives *answer*; a person agrees to what is asked."""
    with answering(True):
        [trial] = evaluate(ScriptedModel([answer]), TOOLS, [case], execute=True, **options)
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


@pytest.mark.parametrize(("answer", "state"), [(True, "ok"), (False, "denied")])
def test_a_call_that_its_model_rates_high_is_asked_about(answer, state):
    """The one question is about tools that need consent: nobody agreed to this call by it."""
    model = ScriptedModel([message(bill(security_risk="HIGH"))])
    with answering(answer):
        evaluate(model, TOOLS[:1], [Case("Hello")], execute=True)
    assert [run.state for run in history()] == [state]


def test_a_call_is_asked_about_once():
    """A tool that asks before some calls is part of the one question."""

    class Post(ToolDefinition):
        name = "post"

        def asks_because(self, action):
            return "it leaves the machine"

    @tool(read_only=True)
    def post(what: str) -> str:
        """Send it."""
        return what

    fields = ("description", "action_type", "observation_type", "executor", "annotations")
    asking = Post(**{name: getattr(post, name) for name in fields})
    with answering(True):
        evaluate(
            ScriptedModel([message(("post", {"what": "x"}))]), [asking], [Case("Hi")], execute=True
        )
    assert [run.state for run in history()] == ["ok"]


def test_what_runs_as_nobody_is_there_runs_by_the_rule_for_each_call():
    """A rating needs a person, who has agreed to nothing."""
    server = FakeMCPServer("shop")

    @server.tool
    @tool
    def buy(what: str) -> str:
        """Buy it."""
        return what

    bought = [("buy", {"what": "a"}), ("buy", {"what": "b", "security_risk": "HIGH"})]
    expected = [{"name": name, "arguments": {}} for name, _ in bought]
    with create_mcp_tools(server) as client:
        evaluate(
            ScriptedModel([message(*bought)]), list(client), [Case("Buy", expected)], execute=True
        )
    assert [run.state for run in history()] == ["ok", "denied"]


def test_a_page_tells_which_calls_did_not_run():
    """A reader of the report sees them beside those that ran."""
    with answering(True):
        report = evaluate(ScriptedModel([message(*WIPES)]), TOOLS, [Case("Hello")], execute=True)
    assert "wipe, not run: more calls than agreed" in report.to_html()


class InterruptedExecutor(Executor):
    """It answers at once; a person presses Stop when it gets the request after *answers*."""

    def __init__(self, answers):
        self._left = answers

    def submit(self, function, /, *args, **kwargs):
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        future = Future()
        future.set_result(function(*args, **kwargs))
        return future


def deleter(messages, tools):
    """A model that deletes what its prompt says."""
    return message(("wipe", {"path": messages[-1]["content"]}))


def test_nothing_runs_after_an_interrupt_and_all_runs_later(tmp_path):
    """Answers that wait for their calls are not done: the same line runs them another time."""
    cases, path = [Case(f"/{n}") for n in range(5)], tmp_path / "trials.jsonl"
    options = {"execute": True, "save": path}
    with answering(True):
        report = evaluate(deleter, TOOLS, cases, executor=InterruptedExecutor(3), **options)
        assert report.stopped == "interrupted"
        assert not history()
        assert [trial.results[0]["text"] for trial in report] == [
            "not run: the evaluation was interrupted"
        ] * 3
    with answering(True):
        again = evaluate(deleter, TOOLS, cases, **options)
    assert [trial.results[0]["state"] for trial in again] == ["ok"] * 5
    assert len(history()) == 5


def test_an_interrupt_in_the_calls_of_the_last_answer_is_told_as_such():
    """All answers are there, and the report does not say that it stopped after them."""

    @tool(read_only=True)
    def act() -> int:
        """Act; a person presses Stop."""
        raise KeyboardInterrupt

    model = ScriptedModel([message(("act", {}))])
    report = evaluate(model, [act], [Case("Act")], execute=True)
    assert (len(report), report.planned, report.stopped) == (1, 1, "interrupted")
    assert "It was interrupted while calls of its answers ran." in report.to_text()
    assert "1 of 1 answers" not in report.to_text()


def test_an_answer_whose_call_was_interrupted_is_not_done(tmp_path):
    """The call that a person stops, and those behind it, are made another time."""
    began = []

    @tool(read_only=True)
    def act(n: int) -> int:
        """Act; a person presses Stop in the second call."""
        began.append(n)
        if len(began) == 2:
            raise KeyboardInterrupt
        return n

    answer = message(*[("act", {"n": n}) for n in range(3)])
    options = {"execute": True, "save": tmp_path / "trials.jsonl"}
    [first] = evaluate(ScriptedModel([answer]), [act], [Case("Act")], **options)
    assert [result["state"] for result in first.results][::2] == ["ok", "not run"]
    assert began == [0, 1]
    [second] = evaluate(ScriptedModel([answer]), [act], [Case("Act")], **options)
    assert [result["state"] for result in second.results] == ["ok"] * 3
