"""Twelve servers other people wrote: connect, list, call, and get what was recorded."""

import re

import pytest
from patience import PATIENCE

from peers.conftest import PEERS, SERVERS, entry_of, recorded
from toolbench.mcp import MCPClient
from toolbench.mcp.elicitation import Answer, FormQuestion, SamplingQuestion, answering

# Recorded on what an earlier round had left
HAD_STATE = {"memory", "sqlite"}
NAMES = [server["name"] for server in recorded()] or [
    pytest.param("", marks=pytest.mark.skip(f"NO PUBLIC SERVER IS TESTED: {SERVERS} is missing"))
]


def answer(question):
    """What the person of the recordings answered."""
    if isinstance(question, FormQuestion):
        return {"name": "text", "check": True}
    return "a message" if isinstance(question, SamplingQuestion) else Answer("decline")


def kinds(observation):
    """The types of the blocks, as the recordings write them."""
    labels = []
    for block in observation.blocks:
        mime = block.get("mimeType")
        labels.append(f"{block['type']}:{mime}" if mime else block["type"])
    return labels


def alike(text):
    """The start of *text* without what differs from day to day: digits, hashes, quotes."""
    return re.sub(r"[0-9a-f]*[0-9][0-9a-f]*", "#", " ".join(text.split()))[:30]


def needs_task(tool):
    """Whether the server takes a call of *tool* as a task only."""
    return tool.to_mcp_tool().get("execution", {}).get("taskSupport") == "required"


@pytest.fixture(scope="module", params=NAMES)
def peer(request, installed):
    """What is recorded of one server, and a session with it."""
    record = next(s for s in recorded() if s["name"] == request.param)
    # the recordings were made with this root; the server of files serves its own folder
    roots = [] if record["name"] == "filesystem" else [f"file://{PEERS}/data"]
    with MCPClient(timeout=PATIENCE, roots=roots) as client:
        yield record, client.connect(record["name"], entry_of(record))


# Each is a server that a user may have; what costs is to start it
@pytest.mark.every_case
class TestPeers:
    def test_speak_the_recorded_protocol(self, peer):
        """The version is negotiated; a server that the probe kills gets the older protocol."""
        record, session = peer
        assert session.protocol_version == record["protocol"]
        assert session.connection.mode == record["client_mode"]

    def test_list_what_was_recorded(self, peer):
        """Tools, resources, templates and prompts, none of them disabled."""
        record, session = peer
        counts = record["counts"]
        assert len(session.tools) == counts["tools"]
        assert session.tools.disabled == []
        assert session.problems == []
        assert len(session.resources) == counts["resources"]
        assert len(session.resources.templates) == counts["templates"]
        assert len(session.prompts) == counts["prompts"]

    def test_export_every_tool(self, peer):
        """Each tool goes to every provider as the server wrote it."""
        for tool in peer[1].tools:
            assert tool.to_mcp_tool()["inputSchema"] == tool.schema
            tool.to_openai_tool(), tool.to_responses_tool()

    def test_answer_as_recorded(self, peer):
        """The sample calls give the recorded kinds of content and the recorded words."""
        record, session = peer
        if record["name"] in HAD_STATE:
            for sample in record["sample_calls"]:
                session.call(sample["tool"], sample["arguments"])
        tasks = {tool.remote_name for tool in session.tools if needs_task(tool)}
        for sample in record["sample_calls"]:
            expected = sample["expect"]
            with answering(answer):
                observation = session.call(sample["tool"], sample["arguments"])
            if "raises" in expected:
                assert observation.is_error, sample
                assert expected["message"] in observation.text
                continue
            if sample["tool"] in tasks:
                # the server refuses the recorded plain call; we do not send it
                assert expected["isError"], sample
                assert observation.is_error
                assert "only as a task of MCP 2025-11-25" in observation.text
                continue
            assert observation.is_error == expected["isError"], (
                sample,
                observation.text,
            )
            assert kinds(observation) == expected["content"], sample
            assert (observation.structured is not None) == expected["structured"], sample
            texts = " | ".join(b["text"] for b in observation.blocks if b["type"] == "text")
            assert alike(texts) == alike(expected["text_starts"]), sample
