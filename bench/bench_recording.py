"""What servers over time cost: recording and replaying calls, opening recordings, comparing tools."""

import json
import sys
from copy import deepcopy
from itertools import count
from pathlib import Path

import pytest
from conftest import CORPUS
from measuring import WALL, Cold

from toolbench.mcp import MCPClient
from toolbench.mcp.recording import Recording
from toolbench.mcp.snapshots.snapshot import Snapshot

# Its servers
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_mcp.peers import good

CALLS = 50
BATCH = 10


@pytest.fixture
def client():
    with MCPClient(timeout=60) as client:
        yield client


def calling(session):
    """Calls a tool some times: one call is too short beside the noise of a machine."""
    tool = session.tool("add")

    def call():
        for _ in range(BATCH):
            tool({"a": 1, "b": 2})

    return call


def test_a_recorded_call(ledger, client, tmp_path):
    """At most 5 % more than one that is not recorded, over stdio.

    Both call the same server, since two processes of the same server differ by as much.
    """
    session = client.connect("good", good())
    calls, files = calling(session), count()

    def record(*, is_recorded):
        if session.recording:
            session.stop_recording()
        if is_recorded:
            session.start_recording(tmp_path / f"{next(files)}.jsonl")
        # The first calls after the change
        calls()

    ledger.compare(
        "call over stdio, recorded",
        ours=Cold(lambda: record(is_recorded=True), lambda _: calls(), WALL),
        peer=Cold(lambda: record(is_recorded=False), lambda _: calls(), WALL),
        peer_name="not recorded",
        goal=1.05,
        rounds=CALLS,
        clock=WALL,
        note=f"median of {{rounds}} times {BATCH} calls",
    )


def test_a_replayed_call(ledger, client, tmp_path):
    """At most a millisecond."""
    path = tmp_path / "r.jsonl"
    client.connect("good", good(), record=path).tool("add")({"a": 1, "b": 2})
    tool = client.connect("good", replay=path).tool("add")
    ledger.time(
        "call, replayed",
        lambda: tool({"a": 1, "b": 2}),
        limit=0.001,
        rounds=300,
        clock=WALL,
        note="median of {rounds}",
    )


def test_a_large_recording(ledger, tmp_path):
    """100 MB open in under a second, and are read frame by frame."""
    path = tmp_path / "large.jsonl"
    start = {"format": "toolbench-recording", "version": 1}
    text = "x" * 1_000
    with path.open("w") as file:
        print(
            json.dumps({"at": 0, "direction": "start", "server": "", "message": start}),
            file=file,
        )
        result = {"content": [{"type": "text", "text": text}]}
        for n in range(100_000):
            message = {"jsonrpc": "2.0", "id": n, "result": result}
            frame = {
                "at": n,
                "direction": "received",
                "server": "s",
                "message": message,
            }
            print(json.dumps(frame), file=file)
    assert path.stat().st_size > 100_000_000
    ledger.time("recording of 100 MB: open", lambda: Recording.read(path), limit=1.0, rounds=5)


def test_a_diff(ledger):
    """1,000 real tools, compared with themselves, with some changed, with all changed."""
    if not CORPUS.is_file():
        ledger.absent("diff of 1,000 tools", "the corpus is not beside the checkout")
        return
    lines = [json.loads(line) for line in CORPUS.read_text().splitlines()[:1_000]]
    tools = {
        f"{n}_{line['name']}": {
            "name": line["name"],
            "description": line.get("description") or "",
            "inputSchema": line["inputSchema"],
        }
        for n, line in enumerate(lines)
    }
    before = Snapshot.of({"tools": tools})
    for work, every in (
        ("none changed", 0),
        ("every tenth changed", 10),
        ("all changed", 1),
    ):
        after = Snapshot.of({"tools": changed(tools, every)})
        ledger.time(
            f"diff of 1,000 tools, {work}",
            lambda after=after: before.diff(after),
            limit=1.0,
            rounds=5,
            note="a new required argument each" if every else "",
        )


def changed(tools, every):
    """The *tools*, of which one in *every* requires one more argument."""
    copy = deepcopy(tools)
    for tool in list(copy.values())[::every] if every else ():
        schema = tool["inputSchema"]
        schema["required"] = [*(schema.get("required") or []), "zzz"]
        schema.setdefault("properties", {})["zzz"] = {"type": "string"}
    return copy
