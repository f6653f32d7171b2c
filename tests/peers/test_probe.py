"""The public servers probed: each finding was looked at, beside the wire and the specification."""

import os
import subprocess
import sys

import pytest
from patience import PATIENCE

from peers.conftest import entry_of, recorded
from peers.test_conformance_server import TOOLS
from peers.test_servers import NAMES
from toolbench.checks import probe

UNKNOWN = {
    # The SDKs answer with a result whose isError is true
    "tools/call: an unknown tool is refused",
    # The SDKs answer with another code: -32602 before 2026-07-28, 0, or -32603
    "resources/read: an unknown resource is refused",
    "prompts/get: an unknown prompt is refused",
}
ADVICE = {
    # Declares resources, and has no templates; an unknown method gets no answer
    "sqlite": {"resources/templates/list: all pages", "an unknown method is refused"},
    # Enums of numbers
    "excel": {"tools: taken by each provider of models"},
    # An unknown method gets -32602
    "calculator": {"an unknown method is refused"},
}
"""What each server has of its own that the specification advises against."""
WRONG = {
    # "Error: Missing arguments" with isError false; an unknown method ends the process
    "sqlite": {"tools/call: an unknown tool is refused", "it goes on"},
    # A list where its schema says string, and no times to compare, give results
    "mcp-time-go": {
        "tools/call: bad arguments of compare_time are refused",
        "tools/call: bad arguments of convert_timezone are refused",
        "tools/call: bad arguments of current_time are refused",
    },
}
"""What is wrong with each server."""


def questions(report, state):
    """The questions of *report* in *state*."""
    return {each.question for each in report if each.state == state}


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_only_true_findings(name, installed):
    """A server of other people gets no finding that nobody has looked at."""
    record = next(server for server in recorded() if server["name"] == name)
    report = probe(entry_of(record), seconds=20)
    assert report.stopped is None
    assert questions(report, "wrong") == WRONG.get(name, set()), report.to_text()
    assert questions(report, "advice") <= UNKNOWN | ADVICE.get(name, set()), report.to_text()


@pytest.mark.long
def test_tools_of_the_conformance_suite(tmp_path):
    """What a notebook serves for the public suite, over HTTP, has nothing wrong in either era."""
    process = subprocess.Popen(
        [sys.executable, str(TOOLS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
    )
    try:
        url, token = process.stdout.readline().split()
        entry = {"url": url, "headers": {"Authorization": f"Bearer {token}"}}
        report = probe(entry, seconds=20)
    finally:
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        process.stdout.close()
    assert {each.era for each in report} == {"2025-11-25", "2026-07-28"}
    assert not questions(report, "wrong"), report.to_text()
