"""Recordings, snapshots and servers are compared by what they were asked for, and by nothing else."""

import pytest

from toolbench.errors import ServerError
from toolbench.mcp import create_mcp_tools
from toolbench.mcp.recording import Recording
from toolbench.mcp.recording.recording import offer_in
from toolbench.testing import FakeMCPServer


def recorded(path, *names, look=False, tool="t"):
    """A recording of servers called *names*, each with a tool and a resource."""
    config = {}
    for name in names:
        config[name] = FakeMCPServer(name)
        config[name].answer(tool, "ok")
        config[name].resource(f"{name}://hours", "9 to 5")
    with create_mcp_tools(config, record=path) as client:
        for session in client.servers.values():
            if look:
                list(session.resources)
    return Recording.read(path)


def test_what_one_was_not_asked_for_is_not_gone(tmp_path):
    """A recording in which nobody listed the resources does not say that there are none."""
    with_resources = recorded(tmp_path / "asked.jsonl", "n", look=True)
    without_resources = recorded(tmp_path / "not_asked.jsonl", "n")
    assert with_resources.diff(without_resources) == []
    assert without_resources.diff(with_resources) == []
    assert with_resources.snapshot().json["resources"]
    assert "resources" not in without_resources.snapshot().json


def test_servers_that_came_and_went_are_changes(tmp_path):
    """Of several servers each is compared with its namesake; none is passed over."""
    before = recorded(tmp_path / "before.jsonl", "one", "two", look=True)
    after = recorded(tmp_path / "after.jsonl", "one", "three", look=True)
    changes = {(c.where, c.severity) for c in before.diff(after)}
    assert ("two/tools/t", "breaking") in changes
    assert ("two/resources/two://hours", "breaking") in changes
    assert ("three/tools/t", "additive") in changes
    assert not any(where.startswith("one/") for where, _ in changes)


def test_a_file_is_known_by_what_is_in_it(tmp_path):
    """A recording and a snapshot are read whatever their files are called."""
    recording, snapshot = tmp_path / "calls.log", tmp_path / "offer.jsonl"
    recorded(recording, "n")
    offered = Recording.read(recording).snapshot()
    offered.write(snapshot)
    assert offer_in(recording) == offer_in(snapshot) == offered


def test_of_several_servers_the_one_is_taken_that_is_named(tmp_path):
    """A server is compared with its own part of a recording; which those are is told else."""
    path = tmp_path / "both.jsonl"
    recorded(path, "one", "two")
    assert offer_in(path, "two").json["server"]["name"] == "two"
    with pytest.raises(ServerError, match="'one', 'two'"):
        offer_in(path, "three")
    with pytest.raises(ServerError, match=r"no server 'two'. Servers: 'one'"):
        recorded(path, "one").snapshot("two")
