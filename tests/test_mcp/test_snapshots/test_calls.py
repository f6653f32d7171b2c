"""Calls that were made once, held against what a server offers now."""

import pytest

from toolbench.mcp import create_mcp_tools
from toolbench.mcp.snapshots.check_calls import check_calls
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.redaction import MARK
from toolbench.runs.perform import run_tool
from toolbench.testing import FakeMCPServer


def snapshot_of(**properties):
    schema = {"type": "object", "properties": properties}
    return Snapshot({"tools": {"add": {"name": "add", "inputSchema": schema}}})


LOOSE = snapshot_of(a={"type": "integer"}, key={"type": "string"})
TIGHT = snapshot_of(a={"type": "integer", "maximum": 9}, key={"enum": ["k"]})


def call(name="add", **arguments):
    return {"name": name, "arguments": arguments}


class TestCalls:
    def test_that_would_be_refused_are_told(self):
        """A call that does not fit the new schema is told with the reason; others are not."""
        checked = check_calls(TIGHT, [call(a=1), call(a=10), call(a=11)])
        assert [dict(each.arguments) for each in checked] == [{"a": 10}, {"a": 11}]
        assert checked.checked == 3
        assert checked.summary == "2 of your 3 calls would be refused now."
        assert "at most 9" in checked[0].reasons[0]
        name = "add\n- and\x1b[2K"
        forged = Snapshot({"tools": {name: {"inputSchema": {"required": ["a\n- b"]}}}})
        assert str(*check_calls(forged, [call(name)])) == "add - and^[[2K({}): a - b: is required"

    def test_of_other_tools_do_not_count(self):
        """What is no tool of the server is none of its business."""
        assert check_calls(TIGHT, [call("other", a=10)]).checked == 0

    def test_of_tools_that_are_gone_are_refused(self):
        """A call of a tool that the server had before, and has no more, is refused."""
        [refused] = check_calls(Snapshot({"tools": {}}), [call(a=1)], before=LOOSE)
        assert "there is no tool 'add' now" in refused.reasons[0]

    def test_that_were_refused_before_do_not_count(self):
        """A call that did not fit then either is no news."""
        assert list(check_calls(TIGHT, [call(a="x")], before=LOOSE)) == []

    @pytest.mark.parametrize("hidden", [MARK, "<secret-hidden:3>"])
    def test_a_hidden_secret_stands_for_any_value(self, hidden):
        """What was not kept is not judged."""
        assert list(check_calls(TIGHT, [call(key=hidden)])) == []
        assert len(check_calls(TIGHT, [call(key="other")])) == 1

    def test_null_for_what_is_left_out_is_no_reason(self):
        """A null that is not sent is not judged."""
        assert list(check_calls(TIGHT, [call(a=None)])) == []

    def test_from_the_history_are_those_of_the_server(self):
        """Records of runs are checked by the server's own names, and only those of that server."""
        server = FakeMCPServer("shop")
        schema = TIGHT.json["tools"]["add"]["inputSchema"]
        server.answer("add", "ok", schema={"type": "object"})
        with create_mcp_tools({"shop": server}) as client:
            run_tool(client["add"], {"a": 10})
            run_tool(client["add"], {"a": 2})
        from toolbench import history

        records = list(history())[-2:]
        later = Snapshot({"tools": {"add": {"inputSchema": schema}}})
        assert check_calls(later, records).summary == ("1 of your 2 calls would be refused now.")
        assert check_calls(later, records, server="shop").checked == 2
        assert check_calls(later, records, server="other").checked == 0
