"""%mcp on a real server over stdio."""

import pytest
from IPython.core.error import UsageError

from toolbench.errors import ServerError, ToolNotFoundError

CONNECT = "connect time -- python -m mcp_server_time --local-timezone=UTC"


@pytest.fixture
def mcp(shell):
    return lambda line: shell.run_line_magic("mcp", line)


class TestServers:
    def test_are_connected_listed_and_disconnected(self, shell, mcp):
        """A connected server's tools are tools like any other, until it is disconnected."""
        listed = mcp(CONNECT)
        assert [row[0] for row in listed.rows] == ["get_current_time", "convert_time"]
        assert [row[:2] for row in mcp("list").rows] == [("time", "connected")]
        sources = dict(row[:2] for row in shell.run_line_magic("tools", "").rows)
        assert sources["convert_time"] == "mcp:time"

        arguments = "source_timezone=UTC time=16:30 target_timezone=Asia/Tokyo"
        observation = shell.run_line_magic("tool", f"convert_time {arguments}")
        assert observation.data["time_difference"] == "+9.0h"
        assert len(mcp("traffic time")) > 0

        mcp("disconnect --all")
        assert len(mcp("list")) == 0
        with pytest.raises(ToolNotFoundError):
            shell.run_line_magic("tool", f"convert_time {arguments}")

    def test_use_the_kernels_own_python(self, mcp):
        """`python` is the kernel's: a server installed beside toolbench is found."""
        assert len(mcp(CONNECT)) == 2

    def test_can_be_connected_again(self, mcp):
        """The cell that connects can be run twice: the new session takes the old one's place."""
        mcp(CONNECT)
        mcp(CONNECT)
        assert len(mcp("list")) == 1

    def test_stop_with_the_extension(self, shell, mcp):
        """Unloading stops the servers; loading again starts without any."""
        mcp(CONNECT)
        shell.run_line_magic("reload_ext", "toolbench")
        assert len(shell.run_line_magic("mcp", "list")) == 0


class TestMistakes:
    """Each is one sentence that says what to do."""

    @pytest.mark.parametrize(
        ("line", "kind", "said"),
        [
            ("", UsageError, "the following arguments are required: COMMAND"),
            ("frob", UsageError, "invalid choice: 'frob'"),
            ("connect", UsageError, "Give the server a name"),
            ("connect x", UsageError, "Where is 'x'?"),
            (
                "connect x -- no-such-program",
                ServerError,
                "command not found: 'no-such-program'",
            ),
            ("tools nope", ToolNotFoundError, "No server 'nope'"),
            ("disconnect", UsageError, "Say which server, or --all"),
        ],
    )
    def test_on_the_line(self, mcp, line, kind, said):
        with pytest.raises(kind) as caught:
            mcp(line)
        assert said in str(caught.value)
        assert hasattr(caught.value, "_render_traceback_") or kind is UsageError
