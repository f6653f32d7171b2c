"""A slow `%mcp connect` shows in its cell what it waits for."""

import shlex
import sys

import pytest
from test_mcp.peers import LIGHT

from test_runs.test_cell_progress import EMPTY, drawn

pytestmark = pytest.mark.slow
IN_A_KERNEL = """
%load_ext toolbench
from toolbench.runs import progress
soon, progress.SOON = progress.SOON, 0
"""
AFTERWARDS = "progress.SOON = soon"


def connecting(kernel, folder, name, *, stdin):
    """Begin to connect a server that starts when the file `ready` is there."""
    after = ["--after", str(folder / "begun"), str(folder / "ready")]
    command = shlex.join([sys.executable, str(LIGHT), *after, name, "ping"])
    return kernel.start(f"%mcp connect {name} -- {command}", stdin=stdin)


def test_are_on_a_line_that_goes_away(kernel, tmp_path):
    """A person reads what the cell waits for, and for how long; in the end the line is empty."""
    request = connecting(kernel, tmp_path, "slow", stdin=True)
    kernel.listen_until(lambda: drawn(kernel, request), "a stage is shown")
    first = drawn(kernel, request)[0]["text/plain"]
    stages = ("starting the server, ", "waiting for its first answer, ")
    assert first.startswith(tuple(f"slow: {stage}" for stage in stages))
    (tmp_path / "ready").touch()
    assert kernel.reply(request)["status"] == "ok"
    kernel.listen_until(lambda: EMPTY in drawn(kernel, request), "the line is empty")


def test_are_not_in_saved_outputs(kernel, tmp_path):
    """Without a person who could answer, as in nbconvert and nbval, no line is drawn."""
    (tmp_path / "ready").touch()
    request = connecting(kernel, tmp_path, "unwatched", stdin=False)
    assert kernel.reply(request)["status"] == "ok"
    texts = [data["text/plain"] for data in drawn(kernel, request)]
    assert not [text for text in texts if text.startswith("unwatched: ")]
