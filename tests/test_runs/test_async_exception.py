"""Breaking a thread off: only during the work, never after it."""

import threading

from patience import join

from toolbench.runs.control import Interruptible


class TestBreakable:
    class Stop(BaseException):
        pass

    def test_strikes_only_during_the_work(self):
        """However often it is struck, what follows the work is never disturbed."""
        work = Interruptible(self.Stop)
        for _ in range(80):
            over = threading.Event()
            striker = threading.Thread(target=_strike, args=(work, over))
            striker.start()
            try:
                work.begin()
                for _ in range(200):
                    pass
            except self.Stop:
                pass
            finally:
                try:
                    work.end()
                except self.Stop:
                    work.end()
            undisturbed = sum(range(500))
            over.set()
            join(striker)
            assert undisturbed == 124750

    def test_outside_work_does_nothing(self):
        """A strike before the work and after it goes nowhere."""
        work = Interruptible(self.Stop)
        struck = []
        for strikes in ("before", "during", "after"):
            try:
                if strikes == "before":
                    work.strike()
                work.begin()
                if strikes == "during":
                    work.strike()
                work.end()
                if strikes == "after":
                    work.strike()
                # Where a strike on its way would arrive
                for _ in range(100_000):
                    pass
            except self.Stop:
                work.end()
                struck.append(strikes)
        assert struck == ["during"]

    def test_strikes_no_thread_that_begins(self):
        """A thread that is started meanwhile begins, so that its parent does not wait for ever."""
        begun = []

        def start_threads():
            work = Interruptible(self.Stop)
            over = threading.Event()
            striker = threading.Thread(target=_strike, args=(work, over))
            striker.start()
            for _ in range(300):
                try:
                    work.begin()
                    threading.Thread(target=begun.append, args=(1,)).start()
                except self.Stop:
                    pass
                finally:
                    try:
                        work.end()
                    except self.Stop:
                        work.end()
            over.set()

        starter = threading.Thread(target=start_threads, daemon=True)
        starter.start()
        join(starter)
        assert begun


def _strike(work, over):
    while not over.is_set():
        work.strike()
