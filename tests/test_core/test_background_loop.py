import asyncio
import os
import subprocess
import sys
import threading
from contextlib import suppress

import pytest
from anyio import to_thread
from patience import PATIENCE, join

from toolbench.core.background_loop import Portal
from toolbench.errors import ToolbenchError
from toolbench.runs.control import Interruptible


@pytest.fixture
def portal():
    portal = Portal()
    yield portal
    portal.close()


async def name():
    return threading.current_thread().name


class TestPortal:
    def test_runs_in_a_thread_of_its_own(self, portal):
        """Whoever calls waits here; the work is done in the background loop, one for all."""
        assert (
            portal.call(name)
            == portal.start(name).result(PATIENCE)
            != threading.current_thread().name
        )

    def test_starts_with_the_first_call_only(self):
        """A portal nobody uses costs no thread."""
        before = set(threading.enumerate())
        Portal().close()
        assert set(threading.enumerate()) <= before

    def test_passes_errors_on(self, portal):
        """What the coroutine raises, the caller gets."""

        async def fail():
            raise OSError("gone")

        with pytest.raises(OSError, match="gone"):
            portal.call(fail)

    def test_cancels_what_takes_too_long(self, portal):
        """After the timeout the task is told to stop: nothing goes on unseen."""
        cancelled = threading.Event()

        async def forever():
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        with pytest.raises(TimeoutError):
            portal.call(forever, timeout=0.01)
        assert cancelled.wait(PATIENCE)

    @pytest.mark.parametrize("way", ["call", "start"])
    def test_never_waits_for_itself(self, portal, way):
        """A blocking call from inside the loop would wait for ever: it is an error."""

        async def inside():
            getattr(portal, way)(name)

        with pytest.raises(ToolbenchError, match="await it instead"):
            portal.call(inside)

    def test_starts_again_after_closing(self, portal):
        """Closing resets it."""
        portal.call(name)
        portal.close()
        portal.close()
        assert portal.call(name)

    def test_closes_what_is_open_before_it_stops(self, portal):
        """In the loop, each once; one that fails keeps no other one open."""
        closed = []

        async def close():
            closed.append(threading.get_ident())

        async def fail():
            raise OSError

        thread = portal.call(threading_id)
        portal.close_first(fail)
        portal.close_first(close)
        portal.close()
        portal.close()
        assert closed == [thread]

    def test_serves_calls_until_it_stops(self, portal):
        """A closer may need the loop from another thread; nothing waits, and no new loop is left."""
        results = []

        async def close():
            await to_thread.run_sync(lambda: results.append(portal.call(threading_id)))

        thread = portal.call(threading_id)
        portal.close_first(close)
        closing = threading.Thread(target=portal.close, daemon=True)
        closing.start()
        join(closing)
        assert results == [thread]
        assert not [t for t in threading.enumerate() if t.ident == thread]

    def test_a_call_refuses_a_loop_that_has_just_stopped(self, portal):
        """The loop stops while a call is on its way: a sentence, and no new loop behind the close."""

        async def stop():
            await portal._running.portal.stop()

        portal.call(stop)
        with pytest.raises(ToolbenchError, match="being closed"):
            portal.call(name)
        portal.close()
        assert portal.call(name)

    def test_an_interrupt_before_there_is_a_future_cancels_the_task(self, portal, monkeypatch):
        """Else an interrupted connection would be made all the same, and be nobody's."""
        begun, left = threading.Event(), threading.Event()
        start = portal.start

        def interrupted(*args):
            start(*args)
            begun.wait(PATIENCE)
            raise KeyboardInterrupt

        async def work():
            begun.set()
            try:
                await asyncio.sleep(PATIENCE)
            finally:
                left.set()

        monkeypatch.setattr(portal, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            portal.call(work)
        assert left.wait(PATIENCE / 2)

    def test_an_interrupt_while_it_starts_ends_the_call(self, portal):
        """The loop has started then, and serves the next call; nothing waits for ever."""
        # Imports what is needed, so that no import is interrupted
        portal.call(name)
        portals = [Portal() for _ in range(30)]
        for delay, starting in enumerate(portals):
            work = Interruptible(KeyboardInterrupt)

            def call(starting=starting, work=work):
                with suppress(KeyboardInterrupt):
                    try:
                        work.begin()
                        starting.call(name)
                    finally:
                        work.end()

            caller = threading.Thread(target=call, daemon=True)
            caller.start()
            for _ in range(delay * 2_000):
                pass
            work.strike()
            join(caller)
            assert starting.call(name) == "toolbench-loop"
            starting.close()

    def test_many_threads_start_one_loop(self, portal):
        """Whoever comes first starts the loop; the others use it."""
        start = threading.Barrier(8)
        names = []

        def use():
            start.wait(PATIENCE)
            names.append(portal.call(threading_id))

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            join(thread)
        assert len(names) == 8 and len(set(names)) == 1


async def threading_id():
    return threading.get_ident()


FORKING = """
import os, signal, sys
from toolbench.core.background_loop import portal

async def here():
    return os.getpid()

assert portal.call(here) == os.getpid()
child = os.fork()
if not child:
    signal.alarm(20)
    assert portal.call(here) == os.getpid()
    portal.close()
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), portal.call(here) == os.getpid())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_a_loop_of_its_own():
    """The parent's thread does not run in the child: the child starts another, and ends."""
    done = subprocess.run(
        [sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (0, "7 True\n"), done.stderr
