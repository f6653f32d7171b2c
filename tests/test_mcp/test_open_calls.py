"""Calls to real servers: waiting, awaited, stopped."""

import asyncio
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from patience import PATIENCE, join

from test_mcp.peers import good, scripted
from toolbench import run_tool, tool
from toolbench.mcp.elicitation import Answer, answering, reporting


@pytest.fixture(scope="module", params=["auto", "legacy"])
def server(request, shared):
    """The well-behaved server, in both eras."""
    return shared.connect(f"good-{request.param}", good(), mode=request.param)


@pytest.fixture(scope="module")
def asking(shared):
    """The server that asks in the older protocol."""
    return shared.servers.get("good-legacy") or shared.connect("good-legacy", good(), mode="legacy")


def cancellations(server):
    return server.traffic.find(method="notifications/cancelled")


def when_it_hangs(server, then):
    """Do *then* once the tool `hang` is in the middle of its work."""
    hanging = threading.Event()
    lines = server.stderr.total

    def look(changed):
        if any("hanging" in line for line in server.stderr.last(50, since=lines)):
            hanging.set()

    stop = server.observe(look)

    def wait():
        if hanging.wait(PATIENCE):
            then()
        stop()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


class TestThreeWays:
    def test_of_calling_give_the_same(self, server):
        """Waiting, awaiting, and from another thread."""
        tool = server.tool("add")
        with ThreadPoolExecutor() as pool:
            from_thread = pool.submit(tool, {"a": 2, "b": 3}).result(PATIENCE)
        awaited = asyncio.run(tool.acall({"a": 2, "b": 3}))
        assert tool({"a": 2, "b": 3}).data == awaited.data == from_thread.data == 5

    def test_fifty_at_once_get_each_its_own_answer(self, server):
        """Answers go to who asked."""
        tool = server.tool("add")

        async def all_of_them():
            return await asyncio.gather(*[tool.acall({"a": n, "b": n}) for n in range(50)])

        assert [o.data for o in asyncio.run(all_of_them())] == [2 * n for n in range(50)]

    def test_keep_null_apart_from_nothing(self, server):
        """An explicit null reaches the server; what is unset does not."""
        tool = server.tool("nothing_or")
        assert tool({"value": None}).text == "None"
        assert tool({}).text == "'unset'"

    def test_give_tables_and_pictures(self, server):
        """Structured content is data, a picture an image."""
        assert list(server.tool("points")({"count": 3}).df["y"]) == [0, 1, 4]
        (picture,) = server.tool("picture")({}).content
        assert picture.image_urls[0].startswith("data:image/png;base64,")

    def test_never_block_the_background_loop(self, server):
        """An async tool that calls one plainly is told to await it; every server works on."""
        inner = server.tool("add")

        @tool
        async def outer(awaits: bool) -> float:
            """Call the other tool."""
            call = await inner.acall({"a": 1}) if awaits else inner({"a": 1})
            return call.data

        with ThreadPoolExecutor() as pool:
            refused = pool.submit(run_tool, outer, awaits=False).result(PATIENCE)
        assert refused.is_error
        assert "await tool.acall(action)" in refused.text
        assert run_tool(outer, awaits=True).text == "2"

    def test_never_block_the_loop_from_an_answerer(self, asking):
        """An async answerer that calls a tool plainly fails its question only."""

        async def answer(question):
            return {"value": asking.call("add", {"a": 1}).text}

        def ask():
            with answering(answer):
                return asking.tool("ask")({})

        with ThreadPoolExecutor() as pool:
            assert pool.submit(ask).result(PATIENCE).is_error
        assert asking.call("add", {"a": 1}).data == 2


class TestStopping:
    @pytest.mark.usefixtures("no_collector")
    def test_by_keyboard_tells_the_server(self, server):
        """KeyboardInterrupt in the waiting cell cancels the call at the server."""
        before = len(cancellations(server))
        thread = when_it_hangs(server, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            server.tool("hang")({})
        join(thread)
        assert server.tool("add")({"a": 1}).data == 2
        assert len(cancellations(server)) == before + 1

    def test_by_interrupt_returns_an_observation(self, server):
        """A Cancel button ends the wait with an observation that says so."""
        tool = server.tool("hang")
        before = len(cancellations(server))
        thread = when_it_hangs(server, tool.executor.interrupt)
        observation = tool({})
        join(thread)
        assert observation.is_error
        assert "cancelled" in observation.text
        assert server.tool("add")({"a": 1}).data == 2
        assert len(cancellations(server)) == before + 1

    def test_by_time_says_how_long_it_took(self, server):
        """A call has a time limit of its own, and the server hears that it is over."""
        before, limit = len(cancellations(server)), server.call_seconds
        server.call_seconds = 0.3
        try:
            observation = server.tool("hang")({})
        finally:
            server.call_seconds = limit
        assert observation.text == "No answer within 0.3 s."
        assert len(cancellations(server)) == before + 1

    def test_by_cancelling_the_awaiting_task(self, server):
        """A cancelled task raises, as tasks do; the server is told."""
        before = len(cancellations(server))

        async def give_up():
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(server.tool("hang").acall({}), 0.3)

        asyncio.run(give_up())
        assert server.tool("add")({"a": 1}).data == 2
        assert len(cancellations(server)) == before + 1

    def test_an_awaited_call_by_interrupt_leaves_its_task_alone(self, server):
        """Cancelling the call is not cancelling the task that awaits it."""
        tool = server.tool("hang")

        async def wait():
            thread = when_it_hangs(server, tool.executor.interrupt)
            observation = await tool.acall({})
            await asyncio.to_thread(thread.join)
            return observation

        assert "cancelled" in asyncio.run(wait()).text


class TestProgress:
    def test_reaches_whoever_asked(self, server):
        """Value, total and message, in order; the server's log goes to its own list."""
        steps, logged = [], server.log.total
        with reporting(lambda *step: steps.append(step)):
            assert server.tool("steps")({"count": 3}).text == "done"
        assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
        assert server.log.total == logged + 3

    def test_is_a_number_that_a_float_can_be(self, client, tmp_path):
        """JSON has no largest number: one that is too large is left out, and its message is no noise."""
        message = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"$PROGRESS_TOKEN","progress":%s}}'
        large, small = message % f"1{'0' * 400}", message % "2"
        script = {"tools/call": [large, small, {"result": {"content": []}}]}
        session, steps = client.connect("s", scripted(tmp_path / "script", script)), []
        with reporting(lambda *step: steps.append(step)):
            session.call("t")
        assert (steps, list(session.noise)) == ([(2, None, "")], [])

    def test_goes_into_the_run(self, server):
        """In a run the progress is the run's."""
        from toolbench.runs.perform import perform
        from toolbench.runs.run import run_here

        run = run_here(server.tool("steps"), {"count": 2})
        assert perform(run).text == "done"
        assert (run.progress_view.state.value, run.progress_view.state.message) == (2, "step 2")


class TestQuestions:
    def test_go_to_whoever_answers(self, asking):
        """The answerer learns who asks what about which tool, in the thread that waits."""
        questions = []

        def answer(question):
            questions.append((question.server, question.tool, question.message))
            assert threading.current_thread() is threading.main_thread()
            return {"value": "Ann"}

        with answering(answer):
            assert asking.tool("ask")({}).text == "accept: Ann"
        assert questions == [(asking.name, "ask", "Who are you?")]

    @pytest.mark.parametrize(
        ("answer", "text"),
        [
            (None, "decline: None"),
            (Answer("cancel"), "cancel: None"),
            (Answer("accept", {"value": "Bob"}), "accept: Bob"),
        ],
    )
    def test_can_be_declined_and_cancelled(self, asking, answer, text):
        """All three answers of the protocol reach the asking."""
        with answering(lambda question: answer):
            assert asking.tool("ask")({}).text == text

    def test_can_be_answered_asynchronously(self, asking):
        """A coroutine function answers too, from any kind of call."""

        async def answer(question):
            await asyncio.sleep(0)
            return {"value": "Cy"}

        with answering(answer):
            assert asking.tool("ask")({}).text == "accept: Cy"
            assert asyncio.run(asking.tool("ask").acall({})).text == "accept: Cy"

    def test_are_declined_where_nobody_can_answer(self, asking):
        """Without a person there is an answer at once: no. Nor after a block that answers."""
        with answering(lambda question: {"value": "Eve"}):
            pass
        assert asking.tool("ask")({}).text == "decline: None"

    def test_go_through_the_run(self, asking):
        """Answers given in advance for runs answer servers too."""
        from toolbench import run_tool
        from toolbench.runs.questions import answering as in_advance

        with in_advance({"value": "Di"}):
            assert run_tool(asking.tool("ask")).text == "accept: Di"

    def test_stop_the_clock(self, asking):
        """The time a person takes is not the server's: the call is not limited meanwhile."""
        waiting = []

        def answer(question):
            waiting.extend(call.is_waiting for call in asking.connection.inbox.calls)
            return {"value": "late"}

        with answering(answer):
            assert asking.tool("ask")({}).text == "accept: late"
        assert waiting == [True]

    def test_an_answerer_that_fails_fails_the_question_only(self, asking):
        """The server hears of the failure; the next call works."""

        def answer(question):
            raise ValueError("no idea")

        with answering(answer):
            assert asking.tool("ask")({}).is_error
        assert asking.tool("add")({"a": 1}).data == 2
