"""`%mcp doctor` shows each step of a connection, and a failed connect offers it."""

import shlex
import sys

import pytest
from test_mcp.peers import GOOD

from toolbench.errors import ServerError, ToolNotFoundError
from toolbench.magics.line import UsageError
from toolbench.wording import CROSS

BAD = f"{shlex.quote(sys.executable)} -c 'import sys; sys.exit(\"<b>LIB_KEY is not set</b>\")'"
"""The command of a server that ends as it starts."""


def test_a_failed_connect_offers_it(mcp):
    """And it says of the same server what to do below the steps."""
    for line in (f"connect lib -- {BAD}", "reconnect lib"):
        with pytest.raises(ServerError) as error:
            mcp(line)
        assert str(error.value).endswith("\n%mcp doctor lib checks each step.")
    shown = mcp("doctor lib")._repr_mimebundle_()
    assert f"{CROSS} failed" in shown["text/plain"]
    assert "add --env LIB_KEY" in " ".join(shown["text/plain"].split())
    assert "&lt;b&gt;LIB_KEY" in shown["text/html"]
    assert "<b>" not in shown["text/html"]


def test_its_value_is_the_steps(mcp):
    """Of a command that no connect has named."""
    steps = mcp(f"doctor --timeout 60 -- {shlex.quote(sys.executable)} {shlex.quote(str(GOOD))}")
    assert [step.name for step in steps][:3] == ["configuration", "command", "process"]
    assert {step.state for step in steps} <= {"ok", "skipped"}


def test_of_a_server_that_is_kept_is_not_offered(mcp):
    """The name then means the earlier one."""
    mcp(f"connect lib -- {shlex.quote(sys.executable)} {shlex.quote(str(GOOD))}")
    with pytest.raises(ServerError) as error:
        mcp(f"connect lib -- {BAD}")
    assert "from before is still connected" in str(error.value)
    assert "doctor" not in str(error.value)


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("doctor", UsageError, "Which server?"),
        ("doctor lib -- python", UsageError, "Which server?"),
        ("doctor nope", ToolNotFoundError, "No server 'nope'"),
    ],
)
def test_says_what_a_line_lacks(mcp, line, kind, message):
    with pytest.raises(kind, match=message.replace("?", r"\?")):
        mcp(line)
