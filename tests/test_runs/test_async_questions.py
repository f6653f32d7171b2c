"""Questions of `async` executors: asked in the thread that waits, while the loop goes on."""

import asyncio
import threading
from concurrent.futures import Future

import pytest
from kernels import TOOLS
from patience import PATIENCE, join

from test_runs import tools
from toolbench import current_run, history, run_tool, tool
from toolbench.runs.control import stop
from toolbench.runs.perform import start
from toolbench.runs.plain_calls import forget_calls, record_calls
from toolbench.runs.questions import Answer, answering
from toolbench.runs.run import Run

NAME = {"type": "string"}


@tool
async def ask_name() -> str:
    """Ask for a name."""
    answer = await current_run().ask_async("What is your name?", NAME)
    return f"Hello {answer.value}." if answer else f"Nobody: {answer.action}."


@tool
async def nap() -> str:
    """Go through the loop, and end."""
    await asyncio.sleep(0)
    return "rested"


@pytest.fixture
def typing(monkeypatch):
    """Answer `input()` with these lines; the threads it was called in are returned."""

    def type_lines(*lines):
        answers, threads = iter(lines), []

        def answer(prompt):
            threads.append(threading.current_thread())
            return next(answers)

        monkeypatch.setattr("builtins.input", answer)
        return threads

    return type_lines


class TestInACell:
    def test_are_answered_on_the_main_thread(self, typing):
        """Only there does `input()` work."""
        threads = typing("Ada")
        assert run_tool(ask_name).text == "Hello Ada."
        assert threads == [threading.main_thread()]

    @pytest.mark.parametrize("call", [ask_name, lambda _: asyncio.run(ask_name.acall({}))])
    def test_are_asked_by_plain_and_awaited_calls_too(self, typing, call):
        """However a cell calls the tool."""
        threads = typing("Ada")
        record_calls()
        try:
            assert call({}).text == "Hello Ada."
        finally:
            forget_calls()
        assert threads == [threading.main_thread()]

    def test_of_tasks_side_by_side_are_asked_in_turn(self, typing):
        """One prompt at a time."""
        typing("Ada", "Grace")

        @tool
        async def both() -> str:
            """Ask twice at once."""
            ask = current_run().ask_async
            first, second = await asyncio.gather(ask("One?", NAME), ask("Two?", NAME))
            return f"{first.value} {second.value}"

        assert run_tool(both).text == "Ada Grace"

    def test_of_a_tool_it_runs_in_a_thread_are_asked_too(self, typing):
        """What is part of the run asks where the run asks."""
        threads = typing("Ada", "Grace")

        @tool
        async def outer() -> str:
            """Run others in threads."""
            for inner in (tools.ask_name, ask_name):
                observation = await asyncio.to_thread(run_tool, inner)
            return observation.text

        assert run_tool(outer).text == "Hello Grace."
        assert threads == [threading.main_thread()] * 2

    def test_may_be_answered_in_advance(self):
        """As those of any tool."""
        with answering("Ada"):
            assert run_tool(ask_name).text == "Hello Ada."

    def test_answered_no_are_a_decline(self):
        """A yes-or-no question answered no is falsy."""

        @tool
        async def really() -> str:
            """Ask."""
            return (await current_run().ask_async("Really?")).action

        with answering(False):
            assert run_tool(really).text == "decline"

    def test_interrupted_end_the_run_and_its_coroutine(self, monkeypatch):
        """Kernel > Interrupt at the prompt ends the cell; the coroutine is told."""
        cancel_event = threading.Event()

        def interrupted(prompt):
            raise KeyboardInterrupt

        @tool
        async def patient() -> None:
            """Ask, and wait for ever."""
            try:
                await current_run().ask_async("Really?")
                await asyncio.Event().wait()
            finally:
                cancel_event.set()

        monkeypatch.setattr("builtins.input", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_tool(patient)
        assert cancel_event.wait(PATIENCE)
        assert history()[-1].state == "cancelled"

    def test_after_the_end_are_a_cancel(self, typing):
        """A task that outlives its run does not wait for ever, nor disturb the person."""
        threads, left = typing("y", "y"), []

        @tool
        async def forgetful() -> None:
            """Leave something behind."""
            left.extend([current_run(), asyncio.get_running_loop()])

        run_tool(forgetful)
        run, loop = left
        late = asyncio.run_coroutine_threadsafe(run.ask_async("Really?"), loop)
        assert late.result(PATIENCE).action == "cancel"
        assert threads == []


class TestInAPanel:
    def test_leave_other_runs_alone(self):
        """One waits for its answer while the other ends; the answer comes in its own thread."""
        question_event, reply, threads = threading.Event(), Future(), []

        def answer(question):
            threads.append(threading.current_thread())
            question_event.set()
            return reply.result(PATIENCE)

        waits = Run(ask_name, {}, source="button", asker=answer)
        thread = start(waits)
        assert question_event.wait(PATIENCE)
        other = Run(nap, {}, source="button")
        join(start(other))
        assert (waits.state, other.state) == ("waiting", "ok")
        reply.set_result(Answer("accept", {"answer": "Ada"}))
        join(thread)
        assert waits.observation.text == "Hello Ada."
        assert threads == [thread]

    def test_end_with_a_cancelled_run(self):
        """Who waits for an answer waits no more."""
        question_event = threading.Event()

        def never(question):
            question_event.set()
            while not run.cancelled:
                pass
            return Answer("cancel")

        run = Run(ask_name, {}, source="button", asker=never)
        thread = start(run)
        assert question_event.wait(PATIENCE)
        stop(run)
        join(thread)
        assert run.state == "cancelled"

    def test_that_nobody_answers_are_declined(self):
        """A run nobody looks at goes on with a decline."""
        run = Run(ask_name, {}, source="button")
        join(start(run))
        assert run.observation.text == "Nobody: decline."


class TestBlocking:
    def test_is_refused_inside_the_loop(self):
        """The plain `ask` would stop every other run: the error says what to await."""

        @tool
        async def hasty() -> str:
            """Ask without awaiting."""
            return current_run().ask("Really?").action

        observation = run_tool(hasty)
        assert observation.is_error
        assert "await current_run().ask_async(message, schema)" in observation.text

    def test_is_right_in_a_thread_of_the_executor(self, typing):
        """There it waits for the thread that waits for the run."""
        threads = typing("y")

        @tool
        async def threaded() -> str:
            """Ask in a thread."""
            return (await asyncio.to_thread(current_run().ask, "Really?")).action

        assert run_tool(threaded).text == "accept"
        assert threads == [threading.main_thread()]


IN_A_KERNEL = (
    TOOLS
    + """
import asyncio
from toolbench.runs.control import active, stop

@tool
async def bake() -> str:
    '''Ask.'''
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    answer = await current_run().ask_async("Is it brown?", schema)
    return answer.action

@tool
async def nap() -> str:
    '''Go through the loop, and end.'''
    await asyncio.sleep(0)
    return "rested"
"""
)
MAGIC = "print(get_ipython().run_line_magic('tool', 'bake {}').text)"


@pytest.mark.slow
class TestInAKernel:
    @pytest.mark.parametrize(
        "code",
        [MAGIC, "print(bake({}).text)", "print((await bake.acall({})).text)"],
        ids=["magic", "plain", "awaited"],
    )
    def test_a_cell_is_asked(self, kernel, code):
        """Through the front end's input box."""
        kernel.run("from toolbench.runs import input_prompt; input_prompt.TOO_SOON = 0")
        [prompt], printed = kernel.answer(code, "yes")
        assert "Is it brown?" in prompt
        assert "accept" in printed

    def test_a_cell_is_declined_where_nobody_is(self, kernel):
        """nbval, nbconvert and papermill do not hang."""
        assert kernel.run(MAGIC).strip() == "decline"

    def test_a_panel_asks_while_others_work(self, kernel):
        """Other runs end meanwhile, cells go on, and a click answers."""
        kernel.run("other, panel = ToolPanel(nap), ToolPanel(bake); panel")
        kernel.click("Run")
        kernel.wait_for("Is it brown?")
        assert kernel.run("print(other.run().done.wait())").strip() == "True"
        assert kernel.value("other.result.text") == "rested"
        assert kernel.value("nap({}).text") == "rested"
        assert kernel.value("len(active)") == 1
        kernel.click("Accept")
        kernel.run("for run in active: run.done.wait()")
        assert kernel.value("panel.result.text") == "accept"


class TestOutsideARun:
    def test_find_nobody(self):
        """An executor that asks works anywhere: outside a run it is declined."""
        assert not asyncio.run(current_run().ask_async("Really?"))
