"""A probe finds what is wrong with a server, names the rule, and calls nothing that may change something."""

import pytest
from patience import PATIENCE
from test_mcp.peers import children, good, misbehaving

from toolbench.checks import probe

# The modes of the misbehaving server that a probe can see, each with the question that finds it
SEEN = {
    "dup-names": "tools/list: no name twice",
    "list-null": "tools/list: all pages",
    "list-error": "tools/list: all pages",
    "same-cursor": "tools/list: all pages",
    "bad-cursor": "tools/list: all pages",
    "exit-on-list": "it goes on",
    "illegal-schemas": "tools: definitions and schemas",
    "odd-names": "tools: names",
}


def found(report):
    """The questions that have a finding."""
    return {each.question for each in report.findings}


@pytest.mark.parametrize("mode", SEEN)
def test_modes_of_the_misbehaving_server(mode):
    report = probe(misbehaving(mode), seconds=PATIENCE)
    assert SEEN[mode] in found(report), report.to_text()
    for each in report.findings:
        assert each.rule or each.state == "advice"


def test_nothing_is_wrong_with_a_good_server():
    """FastMCP answers a call of an unknown tool with a failed result, which the specification does not."""
    before = children()
    report = probe(good(), seconds=PATIENCE)
    assert found(report) <= {"tools/call: an unknown tool is refused"}, report.to_text()
    assert report.passed
    assert children() == before
