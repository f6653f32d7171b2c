"""One thread looks after all that moves, and sleeps when nothing does."""

import logging
import threading
from itertools import pairwise
from threading import Event
from time import monotonic

from patience import PATIENCE, eventually, join

from toolbench.widgets.kit.ticker import Ticker


class SeveralRuns:
    """A view that is watched once for each run; each run is over at its first look."""

    def __init__(self):
        self.looks = 0

    def refresh(self):
        self.looks += 1
        return False


class TestTicker:
    def test_calls_until_it_is_enough(self):
        """A watcher is called until it says that it saw the end."""
        ticker, calls = Ticker(0.001), []

        def watch():
            calls.append(1)
            return len(calls) < 3

        ticker.watch(watch)
        assert ticker.wait_idle(PATIENCE)
        assert len(calls) == 3

    def test_has_no_thread_when_idle(self):
        """It ends with the last watcher and starts again with the next."""
        ticker = Ticker(0.001)
        for _ in range(3):
            ticker.watch(lambda: False)
            assert ticker.wait_idle(PATIENCE)
        names = [t.name for t in threading.enumerate()]
        # Ours may be on its way out
        assert names.count("toolbench-ticker") <= 1

    def test_survives_a_watcher_that_fails(self, caplog):
        """One view that fails is dropped and logged; the others go on."""
        ticker, calls = Ticker(0.001), []

        def fails():
            raise ValueError("broken")

        ticker.watch(fails)
        ticker.watch(lambda: bool(calls.append(1)) or len(calls) < 3)
        with caplog.at_level(logging.ERROR):
            assert ticker.wait_idle(PATIENCE)
        assert len(calls) == 3
        assert "broken" in caplog.text

    def test_keeps_a_watcher_that_comes_again_in_the_tick_of_its_end(self):
        """The next run of a panel begins while the tick that ended the last one still looks elsewhere."""
        ticker, panel = Ticker(0.001), SeveralRuns()

        def slow():
            ticker.watch(panel.refresh)
            return False

        ticker.watch(panel.refresh)
        ticker.watch(slow)
        assert ticker.wait_idle(PATIENCE)
        assert panel.looks == 2

    def test_looks_at_once_when_work_is_over(self):
        """Its next tick does not wait for the period, also where the work is over before it ticks."""
        ticker, looks, panel = Ticker(600), Event(), SeveralRuns()
        ticker.watch(lambda: bool(looks.set()))
        for _ in range(3):
            ticker.watch(panel.refresh)
        ticker.look_now()
        assert looks.wait(PATIENCE)
        assert ticker.wait_idle(PATIENCE)
        assert panel.looks == 1
        ticker.look_now()
        ticker.watch(lambda: False)
        assert ticker.wait_idle(PATIENCE)

    def test_is_not_driven_by_work_that_ends(self):
        """However many runs end, there are at most five times as many ticks."""
        ticker, looks, enough = Ticker(0.5), [], Event()
        ticker.watch(lambda: not (looks.append(monotonic()) or enough.is_set()))
        for _ in range(5):
            before = len(looks)
            ticker.look_now()
            eventually(lambda n=before: len(looks) > n)
        enough.set()
        ticker.look_now()
        assert ticker.wait_idle(PATIENCE)
        gaps = [b - a for a, b in pairwise(looks)]
        assert min(gaps) >= 0.5 / 5

    def test_loses_no_watcher(self):
        """Many threads may add at the same time."""
        ticker, numbers, lock = Ticker(0.001), [], threading.Lock()

        def add(n):
            def watch():
                with lock:
                    numbers.append(n)
                return False

            ticker.watch(watch)

        threads = [threading.Thread(target=add, args=(n,)) for n in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            join(thread)
        assert ticker.wait_idle(PATIENCE)
        assert sorted(numbers) == list(range(100))
