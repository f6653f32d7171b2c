"""How long a run worked, and how long it waited for a person, are two numbers everywhere."""

import asyncio
from threading import Event

import pytest
from patience import PATIENCE

from toolbench import current_run, history, run_tool, tool
from toolbench.runs.history import Journal
from toolbench.runs.perform import perform
from toolbench.runs.questions import Answer
from toolbench.runs.run import Run, run_here


class Clock:
    """A clock that goes on only when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    """The clock of all runs; a person needs ten seconds for each answer."""
    clock = Clock()
    monkeypatch.setattr("toolbench.runs.run.monotonic", clock)
    monkeypatch.setattr("toolbench.runs.dialogue.monotonic", clock)

    def answer(question):
        clock.advance(10)
        return Answer("accept", {"answer": True})

    monkeypatch.setattr("toolbench.runs.run.ask_in_cell", answer)
    return clock


@pytest.fixture
def lend(clock):
    """A tool that works for two seconds and asks a question."""

    @tool
    def lend(title: str = "") -> str:
        """Lend a book."""
        clock.advance(1)
        current_run().ask("Sure?")
        clock.advance(1)
        return "lent"

    return lend


def test_is_not_in_the_seconds_of_a_record(lend, tmp_path):
    """Nor in those of a line of its file, and of a row of its tables."""
    run_tool(lend, title="Northanger Abbey")
    [record] = history()
    assert (record.seconds, record.waited) == (2, 10)
    assert record.time_taken == "2.0 s, and 10 s waiting for an answer"
    journal = Journal(tmp_path / "runs.jsonl")
    journal.write(record)
    [again] = journal.read(1)
    assert (again.seconds, again.waited) == (2, 10)
    [row] = history().to_dataframe()[["seconds", "waited"]].to_dict("records")
    assert row == {"seconds": 2, "waited": 10}
    bundle = history()._repr_mimebundle_()
    assert "2.0 s, and 10 s waiting for an answer" in bundle["text/html"]
    assert 'title = "Northanger Abbey"' in bundle["text/plain"]


def test_is_not_in_the_seconds_of_a_run_around_it(lend, clock):
    """The outer run waited too: it did nothing else."""

    @tool
    def lend_two() -> str:
        """Lend two books."""
        clock.advance(3)
        return run_tool(lend).text + run_tool(lend).text

    run_tool(lend_two)
    assert (history()[-1].seconds, history()[-1].waited) == (7, 20)


def test_of_two_questions_at_once_counts_once(clock):
    """Else the seconds of work would be too few."""

    @tool
    async def ask_both() -> str:
        """Ask two questions."""
        ask = current_run().ask_async
        await asyncio.gather(ask("One?"), ask("Two?"))
        clock.advance(4)
        return "asked"

    run_tool(ask_both)
    assert (history()[-1].seconds, history()[-1].waited) == (4, 20)


def test_is_not_of_the_time_that_a_limit_gives(clock):
    """Who thinks for a minute about a question has not used up the minute of the tool."""
    stopped, in_the_question = Event(), []

    @tool
    def lend() -> str:
        """Lend a book, and then wait for ever."""
        current_run().on_cancel(stopped.set)
        current_run().ask("Sure?")
        clock.advance(1)
        assert stopped.wait(PATIENCE)
        return "stopped"

    def person(question):
        clock.advance(60)
        in_the_question.append(stopped.wait(0.1))
        return Answer("accept", {"answer": True})

    run = run_here(lend, {})
    run.dialogue.asker = person
    perform(run, timeout=0.01)
    assert in_the_question == [False]
    assert (run.state, run.control.why.words) == ("cancelled", "timed out after 0.01 s")


def test_ends_with_the_run(lend, clock):
    """A question that is still open then adds nothing later."""
    run = run_here(lend, {})
    run.begin()

    def person(question):
        clock.advance(5)
        assert (run.state, run.seconds, run.dialogue.seconds) == ("waiting", 0, 5)
        run.enter("cancelled")
        clock.advance(60)
        return Answer("decline")

    run.dialogue.asker = person
    run.ask("Sure?")
    assert (run.seconds, run.dialogue.seconds) == (0, 5)


def test_goes_on_while_one_of_two_questions_is_open():
    """The state says so: a run with an open question waits, whatever else was answered."""
    run = Run(lend_nothing, {}, source="button")
    run.begin()
    states = []

    def person(question):
        if question.message == "First?":
            run.ask("Second?")
            states.append((run.state, len(run.dialogue.unanswered)))
        return Answer("accept", {"answer": True})

    run.dialogue.asker = person
    run.ask("First?")
    assert states == [("waiting", 1)]
    assert (run.state, run.dialogue.unanswered) == ("running", [])


@tool
def lend_nothing() -> None:
    """Lend nothing."""
