"""A request that nobody wants any more is closed at once, by every kind of client."""

import signal
import threading

import pytest
from patience import PATIENCE, join

from test_llm.test_models.conftest import hello, is_in_thread
from test_llm.test_models.provider_server import Reply, refusal, spoken
from toolbench import Conversation, tool
from toolbench.agent import Agent
from toolbench.errors import ModelStoppedError
from toolbench.llm.models import CancelToken, as_model
from toolbench.llm.models.inbox import InLoop, InThread
from toolbench.runs.control import stop
from toolbench.runs.perform import start
from toolbench.runs.run import Run


class TestStopping:
    @pytest.mark.parametrize("when", ["in silence", "in the middle"])
    def test_closes_the_request(self, model, server, when):
        """At once, even while nothing comes; what had come is kept. A sync client ends a little later."""
        events = spoken(model.provider, "Some words of it").events
        reply = Reply(events[:-3], then="stall", rest=events[-3:])
        if when == "in silence":
            reply = Reply(then="silence", rest=events)
        server.reply(reply)
        token = CancelToken()

        def stop():
            assert server.stalling.wait(PATIENCE)
            token.cancel("enough")

        stopper = threading.Thread(target=stop)

        def begin(*_):
            if not stopper.ident:
                stopper.start()

        if when == "in silence":
            begin()
        with pytest.raises(ModelStoppedError) as raised:
            model.complete(hello(model), on_chunk=begin, cancel=token)
        join(stopper)
        if when == "in the middle":
            assert raised.value.answer.text.startswith("Some")
        else:
            assert raised.value.answer is None
        says_so = "stays connected until the next part" in str(raised.value)
        assert says_so == is_in_thread(model)
        self._ends(model, server)

    @staticmethod
    def _ends(model, server):
        """The server sees the end of the request; one of a sync client ends with the next event."""
        if is_in_thread(model):
            server.go_on.set()
        assert server.was_left.wait(PATIENCE)

    def test_of_a_conversation_says_what_it_left(self, model, server):
        """A sync client that stays connected, which may cost something, is no secret of the model."""
        server.reply(Reply(then="silence", rest=spoken(model.provider, "Late").events))
        c = Conversation(agent=Agent(model))
        c.send_message("Hello")

        def stop():
            assert server.stalling.wait(PATIENCE)
            c.interrupt()

        stopper = threading.Thread(target=stop)
        stopper.start()
        assert c.run() == "paused"
        join(stopper)
        says_so = "stays connected until the next part" in c.events[-1].detail
        assert says_so == is_in_thread(model)
        self._ends(model, server)

    def test_ends_a_wait(self, model, server):
        """For a server that is busy."""
        server.reply(refusal(429, "Slow down.", retry_after="50"))
        token = CancelToken()
        with pytest.raises(ModelStoppedError):
            model.complete(hello(model), on_chunk=lambda chunk: token.cancel(), cancel=token)
        assert len(server.requests) == 1

    def test_before_it_begins_sends_nothing(self, model, server):
        """A token that is cancelled already."""
        token = CancelToken()
        token.cancel()
        with pytest.raises(ModelStoppedError):
            model.complete(hello(model), cancel=token)
        assert server.requests == []

    @pytest.mark.usefixtures("no_collector")
    def test_is_what_an_interrupt_does(self, model, server):
        """Kernel > Interrupt, in the thread that waits: the request is closed, the interrupt goes on."""
        server.reply(Reply(then="silence", rest=spoken(model.provider, "Late").events))

        def interrupt():
            assert server.stalling.wait(PATIENCE)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        with pytest.raises(KeyboardInterrupt):
            model.complete(hello(model))
        join(interrupter)
        self._ends(model, server)

    def test_by_an_interrupt_before_the_wait_closes_it_too(self, model, server, monkeypatch):
        """The request has begun, and the thread that will wait for its answer is not there yet."""
        server.reply(Reply(then="silence", rest=spoken(model.provider, "Late").events))

        def interrupted(begin):
            def begun(*args, **options):
                begin(*args, **options)
                assert server.stalling.wait(PATIENCE)
                raise KeyboardInterrupt

            return begun

        for kind in (InThread, InLoop):
            monkeypatch.setattr(kind, "begin", interrupted(kind.begin))
        with pytest.raises(KeyboardInterrupt):
            model.complete(hello(model))
        self._ends(model, server)

    def test_ends_the_question_which_models_there_are(self, server):
        """A server that never lists its models is left at once."""
        server.models = None
        token = CancelToken()

        def stop():
            assert server.stalling.wait(PATIENCE)
            token.cancel()

        stopper = threading.Thread(target=stop)
        stopper.start()
        model = as_model(f"{server.url}/v1")
        with pytest.raises(ModelStoppedError):
            model.complete(hello(model), cancel=token)
        join(stopper)
        assert server.was_left.wait(PATIENCE)

    def test_comes_with_the_run_that_asks(self, server):
        """A tool that asks a model: to stop its run closes the request, without a word from the tool."""
        server.reply(Reply(then="silence"))
        model = as_model(f"{server.url}/v1#toy")

        @tool
        def ask_model() -> str:
            """Ask the model."""
            return model.complete(hello(model)).text

        run = Run(ask_model, {}, source="button")
        thread = start(run)
        assert server.stalling.wait(PATIENCE)
        stop(run)
        assert server.was_left.wait(PATIENCE)
        join(thread)
        assert run.state == "cancelled"
