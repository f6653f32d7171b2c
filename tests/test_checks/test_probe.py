"""A probe finds what is wrong with a server, names the rule, and calls nothing that may change something."""

import pytest
from patience import PATIENCE
from test_mcp.peers import children, good, misbehaving

from toolbench.checks import probe

SEEN = {
    "bad-annotations": "tools: definitions and schemas",
    "bad-cursor": "tools/list: all pages",
    "bad-discover": "server/discover",
    "bad-output-schema": "tools: definitions and schemas",
    "bad-schemas": "tools: definitions and schemas",
    "binary-later": "stdout has messages only",
    "binary-stdout": "stdout has messages only",
    "claims-all": "prompts/list: all pages",
    "deep-schema": "tools: definitions and schemas",
    "dup-names": "tools/list: no name twice",
    "endless-pages": "tools/list: all pages",
    "exit-after-init": "it goes on",
    "exit-on-list": "it goes on",
    "illegal-schemas": "tools: definitions and schemas",
    "junk-stdout": "stdout has messages only",
    "list-error": "tools/list: all pages",
    "list-null": "tools/list: all pages",
    "missing-schema": "tools: definitions and schemas",
    "no-capabilities": "initialize",
    "odd-names": "tools: names",
    "same-cursor": "tools/list: all pages",
    "wrong-version": "initialize",
}
"""The modes of the misbehaving server that a probe sees, each with the question that finds it.

It does not see: `batch`, `crlf`, `slow-bytes`, `slow-start`, `stderr-flood`, `notify-first`, `hang-discover`,
`exit-on-discover`, `ignore-close`, `empty-pages`, `no-tools` and `many-tools`, which older versions allow or no
sentence forbids; `hostile-listing`, which the review shows; `illegal-output-schema`, whose root is allowed in
2026-07-28; `never-init`, `pretty-json`, `no-newline`, `init-error`, `future-version`, `exit-at-start` and the HTTP
modes, which do not connect (the doctor says why); `never-list` within the patience of a test.
"""
CALLS = {
    "bad_structured": "tools/call: the result of bad_structured",
    "missing_structured": "tools/call: the result of missing_structured",
    "structured_only": "tools/call: the result of structured_only",
    "no_content": "tools/call: the result of no_content",
    "bad_base64": "tools/call: the result of bad_base64",
    "unknown_block": "tools/call: the result of unknown_block",
    "rpc_error": "tools/call: the result of rpc_error",
    "null_result": "tools/call: the result of null_result",
    "twice": "each request has one answer",
    "string_id": "each request has one answer",
    "odd_progress": "progress belongs to a call, and grows",
    "junk_between": "stdout has messages only",
}
"""The same, of the tools of its mode `calls`."""


def found(report):
    """The questions that have a finding."""
    return {each.question for each in report.findings}


class TestFindings:
    """What is wrong is found, by the right question."""

    @pytest.mark.parametrize(
        "mode",
        ["bad-cursor", "bad-discover", "claims-all", "dup-names", "exit-on-list", "junk-stdout"],
    )
    def test_of_a_mode(self, mode):
        report = probe(misbehaving(mode), seconds=PATIENCE)
        assert SEEN[mode] in found(report), report.to_text()

    @pytest.mark.slow
    def test_of_all_modes(self):
        for mode in SEEN:
            self.test_of_a_mode(mode)

    def test_of_calls(self):
        """Each row has the sentence of the specification, its URL, and what to do."""
        report = probe(misbehaving("calls"), tools=CALLS, seconds=PATIENCE)
        assert set(CALLS.values()) <= found(report), report.to_text()
        for each in report.findings:
            assert each.rule
            assert each.source.startswith("https://")
            assert each.what_to_do
            assert each.came
        assert not report.passed
        assert len(report.errors) < len(report.findings)

    @pytest.mark.slow
    def test_of_a_cancelled_call(self):
        """The tool answers all the same, which the newer protocol forbids over stdio."""
        report = probe(misbehaving("calls", "--modern"), tools=["slow"], seconds=PATIENCE)
        question = "a call that is cancelled is not answered"
        states = [each.state for each in report if each.question == question]
        assert states == ["wrong", "advice"], report.to_text()

    def test_nothing_is_wrong_with_a_good_server(self):
        """FastMCP answers a call of an unknown tool with a failed result, and takes any cursor."""
        before = children()
        report = probe(good(), seconds=PATIENCE)
        assert not report.errors, report.to_text()
        assert found(report) <= {
            "tools/call: an unknown tool is refused",
            "an unknown cursor is refused",
            "resources/read: an unknown resource is refused",
            "prompts/get: an unknown prompt is refused",
        }
        assert {each.era for each in report} == {"2026-07-28", "2025-11-25"}
        assert report.passed
        assert children() == before
