"""Calls of answers run only as far as a person agreed, and not after an interrupt."""

import os
import subprocess
import sys
from concurrent.futures import Executor, Future

import pytest

from tests.test_evals.sample_tools import TOOLS, bill, message
from toolbench import ToolDefinition, answering, history, tool
from toolbench.errors import ConsentError, ToolbenchError
from toolbench.evals import Case, evaluate, sweep
from toolbench.llm.models import ScriptedModel
from toolbench.mcp import create_mcp_tools
from toolbench.runs.perform import perform
from toolbench.runs.run import Run
from toolbench.testing import FakeMCPServer

WIPES = [("wipe", {"path": f"/{n}"}) for n in range(7)]


def executed(answer, case, **options):
    """The only trial of a model that gives *answer*; a person agrees to what is asked."""
    with answering(True):
        [trial] = evaluate(ScriptedModel([answer]), TOOLS, [case], execute=True, **options)
    return trial


def test_no_more_calls_run_than_a_person_agreed_to(tmp_path):
    """The question says at most one call: of seven, one runs, and the report says so.

    On resume, the question is about the six that did not run, and the first does not run again.
    """
    path = tmp_path / "trials.jsonl"
    trial = executed(message(*WIPES), Case("Hello"), save=path)
    assert len(history()) == 1
    assert [result["state"] for result in trial.results] == ["ok"] + ["not run"] * 6
    assert trial.results[1]["text"] == "not run: more calls than agreed"
    model = ScriptedModel([])
    with answering(False), pytest.raises(ConsentError, match="None of at most 6 calls of"):
        evaluate(model, TOOLS, [Case("Hello")], execute=True, save=path)
    with answering(True):
        [again] = evaluate(model, TOOLS, [Case("Hello")], execute=True, save=path)
    assert [result["text"] for result in again.results] == [f"/{n} is gone" for n in range(7)]
    assert len(history()) == 7


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


@pytest.mark.parametrize(("source", "state"), [("python", "ok"), ("agent", "error")])
def test_a_sweep_of_a_run_asks_as_that_run(source, state):
    """Where nobody is there, a call from an agent outside sweeps no tool that the policy asks about."""
    server = FakeMCPServer("shop")

    @server.tool
    @tool
    def buy(what: str) -> str:
        """Buy it."""
        return what

    with create_mcp_tools(server) as client:

        @tool
        def buy_all() -> int:
            """Buy two things."""
            return len(sweep(client["buy"], {"what": ["a", "b"]}))

        run = Run(buy_all, {}, source=source)
        perform(run)
    assert run.state == state
    assert ("None of 2 calls of buy was run" in run.outcome.text) == (state == "error")


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


@pytest.fixture
def counter(tmp_path):
    """A file with the numbers of the calls that ran, and the tool that writes them there."""
    path = tmp_path / "ran"
    path.touch()
    stops = {1}

    @tool(destructive=True)
    def act(n: int) -> int:
        """Act; a person presses Stop in the first call with 1."""
        if n in stops:
            stops.remove(n)
            raise KeyboardInterrupt
        with path.open("a") as file:
            file.write(f"{n} ")
        return n

    return path, act


ACTS = message(*[("act", {"n": n}) for n in range(3)])
EXPECTED = [{"name": "act", "arguments": {"n": n}} for n in range(3)]


def test_a_call_that_ran_never_runs_again(counter, tmp_path):
    """Not after an interrupt in the middle, nor for a mended case: the file has what it returned."""
    ran, act = counter
    options = {"execute": True, "save": tmp_path / "trials.jsonl"}
    wrong = [{"name": "act", "arguments": {"n": 9}}, *EXPECTED[1:]]
    with answering(True):
        [first] = evaluate(ScriptedModel([ACTS]), [act], [Case("Act", wrong)], **options)
    assert [result["state"] for result in first.results] == ["ok", "cancelled", "not run"]
    assert ran.read_text() == "0 "
    # The model has nothing more to say: it is not asked
    with answering(True):
        [second] = evaluate(ScriptedModel([]), [act], [Case("Act", wrong)], **options)
    assert [result["text"] for result in second.results] == ["0", "1", "2"]
    assert (second.passed, ran.read_text()) == (False, "0 1 2 ")
    # Nobody is asked for consent either
    [third] = evaluate(ScriptedModel([]), [act], [Case("Act", EXPECTED)], **options)
    assert (third.passed, third.results) == (True, second.results)
    [fourth] = evaluate(ScriptedModel([]), [act], [Case("Act", EXPECTED)], save=options["save"])
    assert (fourth.passed, fourth.results) == (True, ())
    assert ran.read_text() == "0 1 2 "


@pytest.mark.parametrize("other", [evaluate, sweep])
def test_a_file_that_is_in_use_is_refused(other, tmp_path):
    """Two at once would both ask and run what is not in it yet; afterwards it is free."""
    path, refusals = tmp_path / "rows.jsonl", []

    @tool(read_only=True)
    def act(n: int) -> int:
        """Begin another one in the middle."""
        with pytest.raises(ToolbenchError, match="is in use by another evaluation or sweep"):
            if other is sweep:
                sweep(act, {"n": [1]}, save=path)
            else:
                evaluate(ScriptedModel([]), [], [Case("Act")], save=path)
        refusals.append(n)
        return n

    for numbers in ([1], [1, 2]):
        assert [row.error for row in sweep(act, {"n": numbers}, save=path)] == [None] * len(numbers)
    assert refusals == [1, 2]


def test_a_call_of_an_answer_that_was_only_scored_runs_later(counter, tmp_path):
    """The file has the answer, so `execute=True` asks for nothing but consent."""
    ran, act = counter
    path = tmp_path / "trials.jsonl"
    answer = message(("act", {"n": 0}))
    evaluate(ScriptedModel([answer]), [act], [Case("Act", EXPECTED[:1])], save=path)
    assert ran.read_text() == ""
    with answering(True):
        evaluate(ScriptedModel([]), [act], [Case("Act", EXPECTED[:1])], save=path, execute=True)
    assert ran.read_text() == "0 "


def test_an_answer_with_a_hidden_secret_is_asked_for_again_if_its_calls_did_not_run(tmp_path):
    """The file does not have what such a call needs."""
    requests = []

    @tool(read_only=True)
    def log_in(password: str) -> str:
        """Log in; a person presses Stop in the first call."""
        if len(requests) == 1:
            raise KeyboardInterrupt
        return "welcome"

    def model(messages, tools):
        requests.append(1)
        return message(("log_in", {"password": "planted-1234"}))

    for state in ("cancelled", "ok", "ok"):
        [trial] = evaluate(
            model, [log_in], [Case("Log in")], execute=True, save=tmp_path / "trials.jsonl"
        )
        assert [result["state"] for result in trial.results] == [state]
        assert trial.called == ("log_in",)
    assert len(requests) == 2
    assert "planted-1234" not in (tmp_path / "trials.jsonl").read_text()


KILLED = """
import os, sys
from pathlib import Path
from tests.test_evals.sample_tools import message
from toolbench import tool
from toolbench.evals import Case, evaluate

folder = Path(sys.argv[1])

@tool(read_only=True)
def act(n: int) -> int:
    "Act; the process is killed in the second call of the first process."
    if n == 1 and not (folder / "killed").exists():
        (folder / "killed").touch()
        if not os.fork():
            os.read(int(sys.argv[2]), 1)
            os._exit(0)
        os.kill(os.getpid(), 9)
    with (folder / "ran").open("a") as file:
        file.write(f"{n} ")
    return n

def model(messages, tools):
    with (folder / "ran").open("a") as file:
        file.write("asked ")
    return message(*[("act", {"n": n}) for n in range(3)])

evaluate(model, [act], [Case("Act")], execute=True, save=folder / "trials.jsonl")
"""


@pytest.mark.slow
def test_a_killed_process_loses_only_the_call_that_ran(tmp_path):
    """The next one asks for nothing, and goes on with that call, even if a fork of the first lives on."""
    ends, still_open = os.pipe()
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(ends)]
    for code in (-9, 0, 0):
        assert subprocess.run(command, pass_fds=[ends], check=False).returncode == code
    os.close(ends)
    os.close(still_open)
    assert (tmp_path / "ran").read_text() == "asked 0 1 2 "
