"""Functions put over the streams cost little, however many streams there ever were."""

import sys
from io import StringIO

import pytest

from test_runs import tools
from toolbench.runs.redirect import redirect_to
from toolbench.runs.run import Run
from toolbench.runs.screen import Patches


def covered(count: int) -> int:
    """How many lines of the module of Patches run to patch *count* streams twice.

    Lines elsewhere are left out: the garbage collector may end objects of other tests here.
    """
    patches, streams, lines = Patches(), [StringIO() for _ in range(count)], 0
    module = Patches.put.__code__.co_filename

    def trace(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        return trace if frame.f_code.co_filename == module else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for stream in streams * 2:
            patches.put(stream, "write", lambda write: write)
    finally:
        sys.settrace(before)
    patches.take_away()
    assert all("write" not in vars(stream) for stream in streams)
    return lines


def test_many_streams_are_patched_one_by_one():
    """Ten times as many streams take ten times the work, not a hundred times."""
    assert covered(500) < 12 * covered(50)


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_closed_stream_is_let_go(monkeypatch, is_closed):
    """A run takes what is printed to any open stream; one that was closed costs it nothing."""
    stream = StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    with redirect_to(Run(tools.add, {"a": 1}, source="button").output):
        pass
    monkeypatch.undo()
    if is_closed:
        stream.close()
    with redirect_to(Run(tools.add, {"a": 1}, source="button").output):
        assert ("write" in vars(stream)) is not is_closed
