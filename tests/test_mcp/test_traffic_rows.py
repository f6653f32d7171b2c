"""A row for each exchange: what came of a call, also of one whose process died, and new connections."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from patience import eventually

from test_mcp.peers import scripted
from toolbench.display.filter import Filter
from toolbench.errors import ServerError
from toolbench.mcp.monitoring.traffic import TRAFFIC_KEYS, paired
from toolbench.runs.control import stop
from toolbench.runs.perform import perform
from toolbench.runs.run import run_here

DEATH = {"exit": 3, "stderr": "fatal: the disk is gone"}


def found(session, words):
    """The exchanges that match."""
    only = Filter(words, TRAFFIC_KEYS)
    return [exchange for exchange in paired(session.traffic) if only.matches(exchange)]


def test_a_call_whose_process_died_says_so_and_a_reconnect_has_a_row(client, tmp_path):
    """It is an error, with the exit code; the row of the new connection says how the one before ended."""
    path = tmp_path / "script"
    session = client.connect("d", scripted(path, {"tools/call": [DEATH]}))
    assert not found(session, "state:reconnected")
    assert session.call("t").is_error
    [died] = found(session, "error tool:t")
    assert died.outcome == "error: the process ended (exit code 3)"
    assert (died.answer, died.ms) == (None, None)
    scripted(path, {})
    assert not session.call("t").is_error
    [again] = found(session, "state:reconnected")
    assert (again.outcome, again.subject) == ("the process ended (exit code 3)", "reconnected")
    after = [each.tool for each in paired(session.traffic) if each.message.id > again.message.id]
    assert [*filter(None, after)] == ["t"]
    assert [each.state for each in found(session, "tool:t")] == ["error", "ok"]


def test_a_server_that_is_started_again_here_leaves_no_failed_call(client, tmp_path):
    """Of a request that is not a call, and that it died in, the row says so too."""
    path = tmp_path / "script"
    session = client.connect("d", scripted(path, {}))
    session.reconnect()
    [again] = found(session, "state:reconnected")
    assert again.outcome == "it was disconnected" and not found(session, "error")
    scripted(path, {"ping": [DEATH]})
    with pytest.raises(ServerError):
        session.request("ping", {})
    [died] = found(session, "error")
    assert (died.message.method, died.state) == ("ping", "error")


def test_a_call_that_was_given_up_is_cancelled(client, tmp_path):
    """It is no failure of the server, and waits for nothing, also when the connection has ended."""
    session = client.connect("d", scripted(tmp_path / "script", {"tools/call": []}))
    run = run_here(session.tools["t"], {}, "button")
    with ThreadPoolExecutor(1) as thread:
        performed = thread.submit(perform, run)
        eventually(lambda: found(session, "tool:t state:waiting"))
        stop(run)
        performed.result()
    eventually(lambda: found(session, "tool:t state=cancelled"))
    [call] = found(session, "tool:t")
    assert (call.state, call.outcome) == ("cancelled", "cancelled")
    assert not found(session, "error")
    session.close()
    assert not found(session, "error")
