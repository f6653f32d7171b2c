"""One thread looks after all that moves, and sleeps when nothing does."""

import logging
import threading

from toolbench.widgets.kit.ticker import Ticker


class TestTicker:
    def test_calls_until_it_is_enough(self):
        """A watcher is called until it says that it saw the end."""
        ticker, calls = Ticker(0.001), []

        def watch():
            calls.append(1)
            return len(calls) < 3

        ticker.watch(watch)
        assert ticker.wait_idle(20)
        assert len(calls) == 3

    def test_has_no_thread_when_idle(self):
        """It ends with the last watcher and starts again with the next."""
        ticker = Ticker(0.001)
        for _ in range(3):
            ticker.watch(lambda: False)
            assert ticker.wait_idle(20)
        names = [t.name for t in threading.enumerate()]
        assert names.count("toolbench-ticker") <= 1  # ours may be on its way out

    def test_survives_a_watcher_that_fails(self, caplog):
        """One view that fails is dropped and logged; the others go on."""
        ticker, calls = Ticker(0.001), []

        def fails():
            raise ValueError("broken")

        ticker.watch(fails)
        ticker.watch(lambda: bool(calls.append(1)) or len(calls) < 3)
        with caplog.at_level(logging.ERROR):
            assert ticker.wait_idle(20)
        assert len(calls) == 3
        assert "broken" in caplog.text

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
            thread.join()
        assert ticker.wait_idle(20)
        assert sorted(numbers) == list(range(100))
