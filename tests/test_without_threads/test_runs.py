"""Where Python has no threads, a plain tool runs at once and an async one in the loop."""

import asyncio

import pytest

from toolbench import current_run, history, run_tool, tool
from toolbench.errors import ToolbenchError
from toolbench.runs.control import stop
from toolbench.runs.parallel import run_tools
from toolbench.runs.perform import start
from toolbench.runs.questions import Answer
from toolbench.runs.run import Run
from toolbench.threads import have_threads


@tool(read_only=True)
def halve(total: float) -> str:
    """Halve a number."""
    return f"{total / 2:g}"


@tool
async def count(n: int) -> str:
    """Count."""
    for i in range(n):
        print("step", i)
        await asyncio.sleep(0)
    return f"{n} steps"


@tool
async def wait_for_ever() -> str:
    """Wait."""
    await asyncio.Event().wait()
    return "over"


def test_there_are_none():
    """What Pyodide says of itself decides, and not an attempt that a full machine may fail too."""
    assert not have_threads()


def test_plain_tool_runs_at_once():
    """It is over when `start` returns, with its output and record."""
    run = Run(halve, {"total": 5}, source="button")
    start(run)
    assert run.done.is_set()
    assert run.outcome.text == "2.5"
    assert history()[-1].state == "ok"


def test_async_tool_runs_in_the_loop():
    """The loop goes on meanwhile, and the run has the output and the result."""

    async def page():
        run, ended = Run(count, {"n": 3}, source="button"), asyncio.Event()
        start(run, then=lambda _: ended.set())
        assert not run.done.is_set()
        await ended.wait()
        return run

    run = asyncio.run(page())
    assert run.outcome.text == "3 steps"
    assert "step 2" in run.output.text
    assert history()[-1].state == "ok"


def test_async_run_is_cancelled():
    """Cancel ends it, and so does a time limit, which the record names."""

    async def page(timeout, act):
        run, ended = Run(wait_for_ever, {}, source="button"), asyncio.Event()
        start(run, timeout=timeout, then=lambda _: ended.set())
        await asyncio.sleep(0)
        act(run)
        await ended.wait()
        return run

    stopped = asyncio.run(page(None, stop))
    assert stopped.state == "cancelled"
    late = asyncio.run(page(0.01, lambda run: None))
    assert late.state == "cancelled"
    assert "timed out" in late.outcome.text


def test_denied_async_tool_is_not_called():
    """The policy is asked before the tool, not when its result is there."""
    from toolbench.runs.policy import policy

    called = []

    @tool
    async def touch() -> str:
        """Touch."""
        called.append(1)
        return "touched"

    policy.deny(touch)

    async def page():
        run, ended = Run(touch, {}, source="button"), asyncio.Event()
        start(run, then=lambda _: ended.set())
        await ended.wait()
        return run

    assert asyncio.run(page()).state == "denied"
    assert not called


def test_awaited_calls():
    """`await tool.acall(action)` works for both kinds, where blocking calls say what to do."""

    async def page():
        return await count.acall({"n": 2}), await halve.acall({"total": 3})

    assert [o.text for o in asyncio.run(page())] == ["2 steps", "1.5"]
    assert run_tool(count, n=1).is_error
    with pytest.raises(ToolbenchError, match="no threads"):
        count({"n": 1})


def test_question_of_a_plain_tool_is_declined():
    """Nothing can wait for a person, and the tool learns it at once."""
    answers = []

    @tool
    def ask() -> str:
        """Ask."""
        answers.append(current_run().ask("Sure?"))
        return "asked"

    run = Run(ask, {}, source="button")
    run.dialogue.desk = lambda question: pytest.fail("nobody can answer")
    start(run)
    assert answers == [Answer("decline")]


def test_several_runs_go_one_by_one():
    """`run_tools` gives every result, in order."""
    results = run_tools([(halve, {"total": n}) for n in (2, 4, 6)])
    assert [result.text for result in results] == ["1", "2", "3"]
