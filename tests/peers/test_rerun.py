"""The public servers recorded, and the calls made again: of a replay, and of the servers started anew."""

import pytest
from patience import PATIENCE

from peers.conftest import PEERS, entry_of, recorded
from peers.test_servers import NAMES, answer
from toolbench.checks import recorded_checks, rerun, reruns
from toolbench.mcp import MCPClient
from toolbench.mcp.recording import Recording

STATEFUL = {
    # The file is there the second time
    "filesystem": {"list_directory", "directory_tree"},
    # What exists is not created again
    "memory": {"create_entities", "create_relations"},
    # The row is there twice
    "sqlite": {"read_query"},
    # The name of a file has the time in it, and not as a date-time
    "playwright": {"browser_navigate", "browser_take_screenshot"},
}
"""The tools whose results differ the second time, and why."""


def tools_in(state, report):
    """The names of the tools whose rows have *state*."""
    return {row.check.tool.partition(".")[2] for row in report if row.state == state}


# tests/test_checks/test_rerun.py does the same with servers of ours
@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_recorded_calls_are_made_again(name, installed, tmp_path, monkeypatch):
    """A replay gives the same; the server too, but for its state. Checks of the recording find that too."""
    monkeypatch.setattr(reruns, "_SECONDS", PATIENCE)
    record = next(server for server in recorded() if server["name"] == name)
    roots = [] if name == "filesystem" else [f"file://{PEERS}/data"]
    path = tmp_path / "recording.jsonl"
    with MCPClient(
        timeout=PATIENCE, roots=roots, elicitation_handler=answer, sampling_handler=answer
    ) as client:
        session = client.connect(name, entry_of(record), record=path)
        for call in record["sample_calls"]:
            session.call(call["tool"], call["arguments"])
    with MCPClient(timeout=PATIENCE, roots=roots) as client:
        replay = client.connect(name, replay=path)
        replayed = rerun(replay, path)
        checks = recorded_checks(Recording.read(path), name)
        checked = checks.run(client)
    assert {row.state for row in replayed} <= {"same", "not called"}
    assert not replayed.changes
    assert checks
    assert checked.passed, checked.to_text()
    with MCPClient(timeout=PATIENCE, roots=roots) as client:
        report = rerun(client.connect(name, entry_of(record)), path, confirm=False)
    # Started again: `everything` toggles its log
    with MCPClient(timeout=PATIENCE, roots=roots) as client:
        client.connect(name, entry_of(record))
        checked = checks.run(client, confirm=False)
    # Of a tool that is not listed
    assert tools_in("not called", report) <= {"nope"}
    assert tools_in("error", report) == set()
    assert tools_in("differs", report) <= STATEFUL.get(name, set()), report.to_text()
    failed = {result.check.tool.partition(".")[2] for result in checked.failures}
    assert failed <= STATEFUL.get(name, set()), checked.to_text()
    # mcp-time-go lists its formats in another order at each start
    assert {change.severity for change in report.changes} <= {"routing"}, report.to_text()
