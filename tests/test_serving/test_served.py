"""What is served over time: redefinition, many calls at once, an end that leaves nothing."""

import asyncio
import gc
import logging
import os
import stat
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from itertools import count
from pathlib import Path

import anyio
import httpx2
import pytest
from patience import PATIENCE, eventually

from test_serving.clients import ERAS, call, client_of, post, talk
from toolbench import Action, ToolDefinition, history, register_tool, tool
from toolbench.core.registry import default_registry
from toolbench.errors import RegistrationError, ServerError, ToolNotFoundError
from toolbench.mcp import create_mcp_tools
from toolbench.serving import serve
from toolbench.serving.access.connection_file import connections

OPEN_FILES = Path("/proc/self/fd")


@tool(read_only=True)
def now() -> str:
    """Say the time."""
    return "noon"


@pytest.fixture(params=ERAS.values(), ids=ERAS)
def mode(request):
    return request.param


def greeting(words):
    """A tool called greet that says *words*, and takes an argument of that name."""

    @tool(name="greet", read_only=True, description=f"Say {words}.")
    def greet(who: str = "you") -> str:
        return f"{words}, {who}"

    return greet


@pytest.fixture
def greet():
    """The name of a registered tool that a test defines again."""
    register_tool("greet", greeting("hello"))
    yield "greet"
    default_registry.unregister("greet")


def define_again(words):
    """What a cell does that runs once more."""
    register_tool("greet", greeting(words))


def fail(served):
    """Raise, with the token among the variables of the frame."""
    secret = served.token
    raise ValueError(repr(secret))


class TestRedefinition:
    def test_the_new_tool_is_served(self, greet, mode):
        """By name, as the registry has it."""
        with serve(greet) as served:
            assert call(served, greet, mode=mode).content[0].text == "hello, you"
            define_again("good morning")
            assert call(served, greet, mode=mode).content[0].text == "good morning, you"

    def test_an_object_stands_for_its_name(self, greet):
        """If it is what is registered."""
        with serve([default_registry.recipe(greet)]) as served:
            define_again("bye")
            assert call(served, greet).content[0].text == "bye, you"

    def test_a_cell_that_runs_again_defines_it_again(self):
        """Tools of a module, as those of a notebook, are followed by their place."""
        cell = (
            "from toolbench import tool\n"
            "@tool(read_only=True)\n"
            "def price(of: str) -> str:\n    'Say it.'\n    return {!r}\n"
        )
        names = {"__name__": "a_notebook"}
        exec(cell.format("one"), names)
        with serve([names["price"]]) as served:
            exec(cell.format("two"), names)
            assert call(served, "price", {"of": "x"}).content[0].text == "two"

    def test_clients_are_told(self, greet):
        """tools/list_changed, in the older era's stream, and the next list is the new one."""
        news = asyncio.Event()

        async def note(message):
            if "ToolListChanged" in type(message).__name__:
                news.set()

        async def listen(client):
            await client.list_tools()
            # The stream may not be open yet
            with anyio.fail_after(PATIENCE):
                for number in count():
                    define_again(f"good evening {number}")
                    with anyio.move_on_after(0.1):
                        await news.wait()
                    if news.is_set():
                        break
            return await client.list_tools()

        with serve(greet) as served:
            [one] = talk(served, listen, "legacy", message_handler=note)
        assert one.description.startswith("Say good evening")

    def test_our_own_client_is_told(self, greet, mode):
        """It lists anew by itself: in the newer era it listens for that."""
        with serve(greet) as served:
            headers = {"Authorization": f"Bearer {served.token}"}
            entry = {"url": served.url, "headers": headers, "mode": mode}
            with create_mcp_tools({"mcpServers": {"own": entry}}) as client:
                assert client["greet"].description == "Say hello."
                define_again("good night")
                numbers = count()

                def is_told():
                    # The stream may not be open yet
                    if mode == "legacy":
                        define_again(f"good night {next(numbers)}")
                    return client["greet"].description.startswith("Say good night")

                eventually(is_told)

    def test_what_is_gone_is_served_no_longer(self, greet):
        """A name that stands for nothing any more."""
        with serve([greet, now]) as served:
            default_registry.unregister(greet)
            assert list(served.tools) == ["now"]

    def test_a_function_is_asked_again(self, greet):
        """`%mcp serve` serves what the notebook defines."""
        with serve(lambda: [*map(default_registry.recipe, default_registry)]) as served:
            assert list(served.tools) == ["greet"]


class TestOffer:
    def test_two_of_one_name_are_refused(self):
        """An agent could not tell them apart."""
        with pytest.raises(RegistrationError, match="Two tools are called 'now'"):
            serve([now, now.model_copy()])

    def test_what_is_no_tool_is_refused(self):
        """At once."""
        with pytest.raises(RegistrationError, match="not 3"):
            serve([3])

    def test_an_unknown_name_is_refused(self):
        """At once, too."""
        with pytest.raises(ToolNotFoundError):
            serve("no_such_tool")

    def test_a_tool_without_executor_is_refused(self):
        """It could not be called."""
        with pytest.raises(NotImplementedError):
            serve([ToolDefinition(name="idle", action_type=Action)])

    def test_a_taken_port_is_refused(self):
        """With a sentence, and nothing stays."""
        with serve([now]) as served:
            port = httpx2.URL(served.url).port
            with pytest.raises(ServerError, match=f"Port {port} .* cannot be used"):
                serve([now], name="second", port=port)


class TestManyAtOnce:
    @pytest.mark.slow
    def test_while_tools_are_defined_again(self, greet):
        """80 calls of 8 clients: each gets an answer of one of the definitions, whole."""
        words = [f"hello {n}" for n in range(20)]

        async def client(served, number):
            mode = list(ERAS.values())[number % 2]
            async with client_of(served, mode) as client:
                texts = []
                for n in range(10):
                    result = await client.call_tool(
                        "greet", {"who": f"{number}-{n}"}, raise_on_error=False
                    )
                    assert not result.is_error
                    texts.append(result.content[0].text)
                return texts

        async def define():
            for each in words:
                await asyncio.to_thread(define_again, each)
                await asyncio.sleep(0)

        async def all_of_them(served):
            *texts, _ = await asyncio.gather(*(client(served, n) for n in range(8)), define())
            return texts

        with serve(greet) as served:
            texts = asyncio.run(all_of_them(served))
            calls = served.calls
        for number, own in enumerate(texts):
            for n, text in enumerate(own):
                greeting, _, who = text.partition(", ")
                assert who == f"{number}-{n}"
                assert greeting in {"hello", *words}
        assert len(calls) == 80
        assert {one.state for one in calls} == {"ok"}
        records = [record for record in history() if record.source == "agent"]
        assert len({record.id for record in records}) == 80


class TestToken:
    def test_is_shown_nowhere(self, caplog, capfd):
        """In no repr, log, traceback, record, output or answer."""
        caplog.set_level(logging.DEBUG)
        with serve([now], name="silent") as served:
            token = f"{served.token}"
            texts = [repr(served), repr(served.token), repr(vars(served))]
            texts += [repr(served.calls), str(served.client_config("claude"))]
            for mode in ERAS.values():
                call(served, "now", mode=mode)
            answer = post(served, authorization=f"Bearer {token}x")
            texts += [answer.text, repr(answer.headers)]
            texts += [history().to_json(), repr(served.calls[0].run.__dict__)]
            texts.append(repr(connections("silent")))
            try:
                fail(served)
            except ValueError as error:
                report = traceback.TracebackException.from_exception(error, capture_locals=True)
                local = [line for frame in report.stack for line in frame.locals.items()]
                texts += [repr(line) for line in local if line[0] != "token"]
                texts += report.format_exception_only()
        server_logs = [
            record.getMessage()
            for record in caplog.records
            if not record.name.startswith(("httpx2", "httpcore2"))
        ]
        captured = capfd.readouterr()
        texts += [*server_logs, captured.out, captured.err]
        assert not [text for text in texts if token[:20] in text]

    def test_is_another_each_time(self):
        """What was noted down once is of no use later."""
        with serve([now]) as first, serve([now], name="other") as second:
            assert first.token != second.token
            header = {"authorization": f"Bearer {first.token}"}
            assert post(second, **header).status_code == 401


class TestFile:
    def test_only_its_owner_can_read(self):
        """URL and token are in it."""
        with serve([now], name="file") as served:
            [connection] = connections("file")
            path = connection.path
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            assert (connection.url, connection.token) == (served.url, served.token)
        assert not path.exists()


class TestEnd:
    @pytest.mark.long
    @pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="needs /proc")
    def test_leaves_no_thread_and_no_socket(self, mode):
        """However often, and whatever was open."""

        def left():
            gc.collect()
            return threading.active_count(), len(list(OPEN_FILES.iterdir()))

        def once():
            with serve([now]) as served:
                call(served, "now", mode=mode)

        once()
        threads, files = left()
        for _ in range(3):
            once()
        eventually(lambda: left()[0] <= threads and left()[1] <= files)

    def test_comes_while_clients_listen(self, mode):
        """An open stream does not hold it up."""

        async def stay(client):
            await client.list_tools()
            await asyncio.to_thread(served.close)

        served = serve([now])
        with suppress(Exception):
            talk(served, stay, mode)
        assert served.is_closed
        with pytest.raises(httpx2.ConnectError):
            post(served)

    @pytest.mark.slow
    def test_of_the_interpreter_takes_the_file_away(self):
        """And is not held up: nothing waits for the server."""
        code = (
            "from toolbench import tool\nfrom toolbench.serving import serve\n"
            "@tool\ndef f() -> int:\n  'One.'\n  return 1\n"
            "served = serve([f], name='short')\nprint(served.url)\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            capture_output=True,
            text=True,
            check=False,
            timeout=2 * PATIENCE,
            env=os.environ,
        )
        assert (done.returncode, done.stderr) == (0, "")
        with pytest.raises(ServerError, match="Nothing is served as 'short'"):
            connections("short")

    def test_twice_does_no_harm(self):
        """As with every close."""
        served = serve([now])
        served.close()
        served.close()
        assert repr(served) == "<Served 'notebook': closed>"
