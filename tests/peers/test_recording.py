"""The public servers recorded, then replayed with their programs and the network out of reach."""

import pytest
from cut_off import cut_off
from patience import PATIENCE

from peers.conftest import PEERS, entry_of, recorded
from peers.test_servers import NAMES, answer
from toolbench.mcp import MCPClient


def seen_of(session, calls):
    """What a server offers, and what it answers to the sample calls."""
    results = [session.call(call["tool"], call["arguments"]) for call in calls]
    return session.snapshot().json, [result.model_dump() for result in results]


# tests/test_mcp/test_recording does the same with servers of ours
@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_replay_is_what_was_recorded(name, installed, tmp_path, monkeypatch):
    """Each offers and answers the same once its command and the network are gone."""
    record = next(server for server in recorded() if server["name"] == name)
    roots = [] if name == "filesystem" else [f"file://{PEERS}/data"]
    calls, path = record["sample_calls"], tmp_path / "recording.jsonl"
    with MCPClient(
        timeout=PATIENCE, roots=roots, elicitation_handler=answer, sampling_handler=answer
    ) as client:
        live = seen_of(client.connect(name, entry_of(record), record=path), calls)
    monkeypatch.setenv("PATH", "")
    with cut_off() as tried, MCPClient(timeout=PATIENCE, roots=roots) as client:
        session = client.connect(name, replay=path)
        assert session.connection.pid is None
        replayed = seen_of(session, calls)
    assert replayed == live
    assert tried == []
