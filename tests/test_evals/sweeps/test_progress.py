"""The line of progress of work that no worker does."""

from toolbench.evals.progress import QUIET, ProgressLine


class HandClock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self):
        return self.now


def test_work_that_stands_still_says_so_and_how_to_end_it():
    """A cluster without a worker takes calls and gives nothing back."""
    clock, lines = HandClock(), []
    line = ProgressLine("Sweep of add", 10, lines.append, clock=clock)
    line.draw()
    assert "no result" not in lines[-1]
    clock.now += QUIET
    line.draw()
    assert "no result for 60 s" in lines[-1]
    assert "finished results are kept" in lines[-1]
    line.done += 1
    clock.now += 1
    line.draw()
    assert "no result" not in lines[-1]
    clock.now += 2 * QUIET
    line.draw()
    assert "no result for 2 min" in lines[-1]
