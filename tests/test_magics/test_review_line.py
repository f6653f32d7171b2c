"""%mcp review --probe: the review, and below it what the server answered to the questions."""

import pytest
from IPython.core.error import UsageError

from toolbench.testing import FakeMCPServer


def test_a_review_with_a_probe(shell, mcp):
    """The value is the report of the probe, which shows the review above itself."""
    server = FakeMCPServer("shop")
    server.answer("promise", {"n": "x"}, output_schema={"properties": {"n": {"type": "integer"}}})
    shell.user_ns["server"] = server
    mcp("connect shop server")
    with pytest.raises(UsageError, match="give --probe too"):
        mcp("review shop --tools promise")
    report = mcp("review shop --probe --tools promise")
    assert "tools/call: the result of promise" in {row.question for row in report.errors}
    shown = report._repr_mimebundle_()
    for text in shown.values():
        assert text.index("1 tool, ") < text.index("tools/call: the result of promise")
