"""Runs and their questions as spans of a timeline."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from time import time

from toolbench.core.tool_names import ToolAddress
from toolbench.display.timeline import QUESTIONS, RUNS, Span, State
from toolbench.runs.questions import Answer, Wait
from toolbench.runs.record import RunRecord, question_line, state_words, waits_of
from toolbench.runs.run import Run
from toolbench.wording import ANSWER


def spans_of_runs(records: Iterable[RunRecord], running: Iterable[Run] = ()) -> Iterator[Span]:
    """Yield the spans of recorded and running runs, and of their questions."""
    for record in records:
        state: State = "failed"
        text = f"{state_words(record.state)}: {record.result_line}"
        if record.state == "ok":
            state, text = "ok", record.result_line
        end = record.started.timestamp() + record.seconds + record.waited
        answers = list(record.answers)
        of_run = _SpansOfRun(record.id, record.tool, record.address, record.started)
        yield of_run.span(end, state, text, record.waited)
        for wait in record.waits:
            reply = record.decision
            if not wait.is_consent:
                reply = _reply(wait, answers)
            yield of_run.of_question(wait, end, reply)
    now = time()
    for run in running:
        of_run = _SpansOfRun(run.id, run.tool.name, ToolAddress.of(run.tool), run.started)
        yield of_run.span(now, "open", run.progress_view.state.text, run.dialogue.seconds)
        for wait in waits_of(run):
            yield of_run.of_question(wait, now, "")


def _reply(wait: Wait, answers: list[Answer]) -> str:
    """Remove the answer to the question of *wait* from *answers*, and return it in words.

    It is removed because the same question may be asked again.
    """
    for place, answer in enumerate(answers):
        if question_line(answer.question) == wait.question:
            return answers.pop(place).words
    return ""


class _SpansOfRun:
    """Creates the spans of one run."""

    def __init__(
        self, number: int, tool: str, address: ToolAddress | None, started: datetime
    ) -> None:
        self._tool, self._start = tool, started.timestamp()
        there, server = tool, ""
        if address is not None:
            there, server = address.name, address.server
        self._made = partial(Span, key=f"run:{number}", tool=there, server=server)

    def span(self, end: float, state: State, text: str, waited: float) -> Span:
        """Return the span of the run itself, which waited for the user for *waited* seconds."""
        return self._made(
            RUNS, "run", self._tool, self._start, end, state, text=text, waited=waited
        )

    def of_question(self, wait: Wait, end: float, reply: str) -> Span:
        """Return the span of a question; without an answer, it ends at *end*."""
        ended = wait.ended or end
        state: State = "waiting"
        if wait.ended is not None and ended - wait.began < ANSWER:
            state = "ok"
        return self._made(
            QUESTIONS, "question", wait.question, wait.began, ended, state, text=reply
        )
