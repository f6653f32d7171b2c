"""Agents that never answer a question: only so many threads wait, and none after the end."""

import threading

import httpx2
import pytest
from mcp_types.version import LATEST_MODERN_VERSION
from patience import eventually

from test_serving.clients import HEADERS
from toolbench import current_run, tool
from toolbench.serving import handlers, serve

META = {
    "io.modelcontextprotocol/protocolVersion": LATEST_MODERN_VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "mute", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}


@tool(read_only=True)
def sure() -> str:
    """Ask."""
    return current_run().ask("Sure?").action


@pytest.fixture
def served():
    with serve([sure], name="unanswered") as served:
        yield served


def ask(served):
    """Call as a client that is asked, and never comes back."""
    headers = {
        "authorization": f"Bearer {served.token}",
        "mcp-protocol-version": LATEST_MODERN_VERSION,
        "mcp-method": "tools/call",
        "mcp-name": "sure",
    }
    params = {"name": "sure", "arguments": {}, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = httpx2.post(served.url, headers=HEADERS | headers, json=message)
    assert answer.json()["result"]["resultType"] == "input_required"


def test_the_oldest_of_many_is_cancelled(served, monkeypatch):
    """Its tool goes on as if the person had closed the question."""
    monkeypatch.setattr(handlers, "MOST_QUESTIONS", 5)
    for _ in range(8):
        ask(served)
    eventually(lambda: [call.is_over for call in served.calls].count(True) == 3)
    assert [call.observation.text for call in served.calls[:3]] == ["cancel"] * 3


def test_an_end_waits_for_no_answer():
    """Each call is stopped, and its thread ends."""
    threads = threading.active_count()
    with serve([sure], name="unanswered") as served:
        for _ in range(5):
            ask(served)
        calls = served.calls
    eventually(lambda: all(call.state == "cancelled" for call in calls))
    eventually(lambda: threading.active_count() <= threads)
