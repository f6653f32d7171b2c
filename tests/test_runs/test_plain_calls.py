"""Plain and awaited calls of tools, recorded as `%load_ext toolbench` has them."""

import asyncio
from contextlib import suppress

import pytest

from test_runs import tools
from toolbench import (
    Action,
    Conversation,
    Observation,
    ToolDefinition,
    current_run,
    tool,
)
from toolbench.core.registry import ToolNotFoundError
from toolbench.errors import ArgumentsError
from toolbench.runs.history import history
from toolbench.runs.parallel import run_tools
from toolbench.runs.perform import run_tool
from toolbench.runs.plain_calls import forget_calls, record_calls


class GoAction(Action):
    n: int = 1


@pytest.fixture(autouse=True)
def recording():
    record_calls()
    yield
    forget_calls()


def make(executor):
    return ToolDefinition(name="go", action_type=GoAction, executor=executor)


async def slowly(action):
    await asyncio.sleep(0)
    return f"{action.n} {current_run().id}"


def at_once(action):
    return f"{action.n} {current_run().id}"


class TestAwaitedCalls:
    @pytest.mark.parametrize("executor", [slowly, at_once])
    @pytest.mark.parametrize("arguments", [{"n": 2}, GoAction(n=2)], ids=["dict", "action"])
    def test_are_recorded_like_plain_ones(self, executor, arguments):
        """One record, of the run that the executor knows it is in."""
        before = len(history())
        observation = asyncio.run(make(executor).acall(arguments))
        record = history()[-1]
        assert len(history()) == before + 1
        assert (record.tool, record.arguments, record.state) == ("go", {"n": 2}, "ok")
        assert record.source == "python"
        assert observation.text == f"2 {record.id}" == record.observation.text

    def test_run_in_the_loop_of_the_caller(self):
        """What a coroutine function waits for belongs to the loop that awaits it."""
        loops = []

        async def look(action):
            loops.append(asyncio.get_running_loop())
            return ""

        async def cell():
            await make(look).acall({})
            return asyncio.get_running_loop()

        assert [asyncio.run(cell())] == loops

    def test_raise_what_the_tool_raises(self):
        """The caller gets the exception, the history a record of it."""

        async def fail(action):
            raise OSError("disk full")

        for executor, error in ((fail, OSError), (slowly, ArgumentsError)):
            with pytest.raises(error):
                asyncio.run(make(executor).acall({"n": 1 if error is OSError else "x"}))
            assert history()[-1].state == "error"

    def test_cancelled_are_recorded_as_cancelled(self):
        """Whoever stops waiting cancels the run, and its coroutine is told."""
        events = []

        async def cell():
            begun = asyncio.Event()

            async def hang(action):
                begun.set()
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    events.append("cancelled")
                    raise

            before = len(history())
            call = asyncio.create_task(make(hang).acall({}))
            await begun.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            async with asyncio.timeout(10):
                while len(history()) == before:
                    await asyncio.sleep(0.01)

        asyncio.run(cell())
        assert events == ["cancelled"]
        assert history()[-1].state == "cancelled"

    def test_side_by_side_are_runs_of_their_own(self):
        """Many at once are many records, and every executor is in its own run."""

        async def cell():
            tool = make(slowly)
            return await asyncio.gather(*[tool.acall({"n": n}) for n in range(20)])

        words = [one.text.split() for one in asyncio.run(cell())]
        assert [n for n, _ in words] == [str(n) for n in range(20)]
        assert len({run for _, run in words}) == 20

    def test_are_plain_again_without_recording(self):
        """Nothing is recorded where nobody asked for it."""
        forget_calls()
        before = len(history())
        assert asyncio.run(make(lambda a, c: str(c)).acall({}, "here")).text == "here"
        assert len(history()) == before

    def test_pass_the_conversation_on(self):
        """The executor sees what the caller gave."""
        conversation, conversations = Conversation(), []
        asyncio.run(make(lambda a, c: conversations.append(c)).acall({}, conversation))
        assert conversations == [conversation]


class Hits(Observation):
    """Counts as false when there are none."""

    names: list[str]

    def __len__(self):
        return len(self.names)


class TestFalsyObservations:
    @pytest.mark.parametrize(
        "call",
        [
            lambda tool: tool({}),
            lambda tool: asyncio.run(tool.acall({})),
            lambda tool: run_tool(tool, {}),
            lambda tool: run_tools([(tool, {})])[0],
        ],
        ids=["plain", "awaited", "run_tool", "run_tools"],
    )
    def test_are_what_came_out(self, call):
        """An observation that counts as false is not taken for none."""
        definition = make(lambda action: Hits.from_text("nothing", names=[]))
        observation = call(definition)
        assert not observation
        assert type(observation) is Hits
        assert observation.text == "nothing"


class TestMistakes:
    @pytest.mark.parametrize("arguments", [[1], [], "x", 5], ids=repr)
    def test_arguments_that_are_no_mapping_are_one_sentence(self, arguments):
        """Python's own words about sequences and mappings help nobody."""
        pattern = r"go takes a GoAction or a dict .*, not (a list|a str|an int)\."
        for call in (
            lambda: run_tool(make(at_once), arguments),
            lambda: run_tools([(make(at_once), arguments)]),
        ):
            with pytest.raises(TypeError, match=pattern):
                call()

    def test_names_of_nothing_stay_what_they_are(self):
        """A name is looked up before anything is read."""
        with pytest.raises(ToolNotFoundError):
            run_tool("no such tool", [1])


class TestSecrets:
    @pytest.mark.parametrize("user", ["Ada", "nobody"])
    def test_of_an_action_are_hidden_like_those_of_a_dict(self, user):
        """What a plain call returns or raises may hold its secret; its record never does."""
        action = tools.unlock.action_type(user=user, password="hunter2222")
        with suppress(ValueError):
            tools.unlock(action)
        record = history()[-1]
        assert record.tool == "unlock"
        assert "hunter2222" not in f"{record.to_dict()}{record.to_html()}"

    def test_that_are_the_name_of_an_argument_stop_no_later_call(self):
        """The call runs; the name, which its tool declares, is no secret."""
        with suppress(ValueError):
            tools.unlock(user="Ada", password="description")
        describe = tool(lambda description: description.upper(), name="describe")
        assert describe(description="all").text == "ALL"
        assert history()[-1].arguments == {"description": "all"}


def frames_of(error):
    """The names of the functions in the traceback that IPython does not leave out."""
    trace = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_locals.get("__tracebackhide__"):
            yield trace.tb_frame.f_code.co_qualname.rpartition(".")[2]
        trace = trace.tb_next


def fail(action):
    raise KeyError(action.n)


@tool
def broken(n: int = 1) -> str:
    """Break."""
    raise KeyError(n)


class TestTracebacks:
    @pytest.mark.parametrize("called", [make(fail), broken], ids=["made", "decorated"])
    @pytest.mark.parametrize("is_recorded", [True, False])
    def test_lead_from_the_call_to_the_tool(self, called, is_recorded):
        """Between the line that calls and the function that fails, no frame of ours shows."""
        if not is_recorded:
            forget_calls()
        with pytest.raises(KeyError) as failed:
            called({"n": 2})
        here, *between, last = frames_of(failed.value)
        assert here == "test_lead_from_the_call_to_the_tool"
        # Which gives a function what it takes
        assert between in ([], ["<lambda>"])
        assert last in ("fail", "broken")
