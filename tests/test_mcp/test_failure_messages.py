"""Exceptions in words."""

import httpx2
import pytest
from mcp import MCPError
from mcp.client.auth import OAuthRegistrationError
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from toolbench.errors import ServerError
from toolbench.mcp.connection.open_calls import Call, CallTimeoutError, HttpFailure
from toolbench.mcp.errors import (
    broken,
    call_failed,
    root_of,
    sentence,
)
from toolbench.mcp.monitoring.notifications import Inbox

LONG = "evil " * 20_000


def wrong_value_under(key):
    """The error of pydantic about a wrong value that a server put under *key*."""
    with pytest.raises(ValidationError) as error:
        TypeAdapter(dict[str, int]).validate_python({key: "x"})
    return error.value


ENDLESS = {
    "message": MCPError(-32603, LONG),
    "data": MCPError(-32603, "x", {"trace": LONG}),
    "pages": MCPError(-32042, LONG, {"elicitations": [{"url": f"a:{LONG}"}] * 3}),
    "registration": OAuthRegistrationError(f"Registration failed: 400 {LONG}"),
    "our error": ServerError(LONG),
    "Python's error": ValueError(LONG),
    "no connection": httpx2.ConnectError(LONG),
    "broken connection": httpx2.ReadError(LONG),
    "request": PydanticSerializationError(LONG),
    "answer": wrong_value_under(LONG),
}
"""Failures with a text of 100,000 characters, by what has the text."""


class TestSentence:
    def test_ends_with_the_code_if_there_is_no_more_data(self):
        """No space is left before the full stop that comes after it."""
        error = MCPError(-32602, "Unknown tool", "")
        assert sentence(error) == "Unknown tool (MCP error -32602)"

    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (
                MCPError(-32603, "Internal error", {"trace": 1}),
                "Internal error (MCP error -32603)",
            ),
            (MCPError(-32000, "Connection closed"), "the connection was closed"),
            (CallTimeoutError("no answer within 3 s"), "no answer within 3 s"),
            (TimeoutError(), "no answer in time"),
            (ServerError("It is so."), "It is so"),
            (
                MCPError(-32601, "Method not found", "initialize"),
                "the program is not an MCP server",
            ),
            (
                MCPError(-32601, "Method not found", "tools/list"),
                "Method not found (MCP error -32601)",
            ),
            (
                FileNotFoundError("command not found: 'x'. Is it on PATH?"),
                "command not found: 'x'",
            ),
            (ValueError("odd"), "ValueError: odd"),
            (KeyError(), "KeyError"),
        ],
    )
    def test_names_what_went_wrong(self, error, message):
        """Each kind of failure has its words, without a traceback."""
        assert sentence(error).startswith(message)

    def test_finds_the_reason_inside_wrappers(self):
        """Groups and FastMCP's own wrapper are taken off."""
        reason = FileNotFoundError("gone")
        wrapper = RuntimeError("Client failed to connect: ...")
        wrapper.__cause__ = reason
        assert root_of(BaseExceptionGroup("g", [BaseExceptionGroup("h", [wrapper])])) is reason

    @pytest.mark.parametrize(
        ("status", "hint"),
        [
            (401, "set 'auth' to a token"),
            (403, "refuses"),
            (404, "path of the URL"),
            (200, "page"),
        ],
    )
    def test_tells_the_http_status_the_body_and_what_to_do(self, status, hint):
        """What the SDK calls an error response is told as it was."""
        failure = HttpFailure(status, "Reason", "the body")
        message = sentence(MCPError(-32603, "x"), call=Call(seconds=1, http_failure=failure))
        assert f"HTTP {status} Reason: the body" in message
        assert hint in message

    @pytest.mark.parametrize("status", [400, 404, 422, 500])
    def test_tells_the_servers_own_error_without_the_status(self, status):
        """An error of MCP that came with a bad status is told as over any other transport."""
        failure = HttpFailure(status, "Reason", "No such thing", is_answer=True)
        error = MCPError(-32602, "No such thing")
        message = sentence(error, call=Call(seconds=1, http_failure=failure))
        assert message == sentence(error)

    def test_tells_who_may_not_ask_what_to_do(self):
        """A status about the client stays, with the server's message and the advice."""
        failure = HttpFailure(401, "Unauthorized", "No token", is_answer=True)
        call = Call(seconds=1, http_failure=failure)
        message = sentence(MCPError(-32001, "No token"), call=call)
        assert message.startswith("HTTP 401 Unauthorized: No token. ")
        assert "set 'auth' to a token" in message

    @pytest.mark.parametrize("kind", ENDLESS)
    def test_is_short_whatever_a_server_sends(self, kind):
        """A server's text has its limit in every kind of failure, as models read it too."""
        assert len(sentence(ENDLESS[kind])) < 3_000


class TestCallFailed:
    def test_is_a_whole_sentence(self):
        """What a caller reads starts large and ends with a stop."""
        error = CallTimeoutError("no answer within 3 s")
        message = str(call_failed(error, Call(seconds=3), Inbox("s")))
        assert message == "No answer within 3 s."


def failed(inbox):
    """The failure of a call in which the server died."""
    full_error = broken("It broke.", exit_code=3, inbox=inbox)
    return full_error, call_failed(full_error, Call(seconds=1), inbox)


class TestBroken:
    def test_leaves_a_model_the_last_lines_and_a_person_all(self):
        """Of a dead server's log the model reads the end; nothing of it is lost."""
        inbox = Inbox("s")
        for n in range(5):
            inbox.stderr.add(f"line {n}")
        full_error, short_error = failed(inbox)
        head = "It broke.\nIts process ended with exit code 3.\nIts last lines on stderr:"
        assert str(short_error) == f"{head}\n  line 3\n  line 4"
        assert short_error.asides == ["Before that on stderr:\n  line 0\n  line 1\n  line 2"]
        lines = "".join(f"\n  line {n}" for n in range(5))
        assert str(full_error) == f"{head}{lines}"

    def test_has_no_aside_where_little_was_written(self):
        """What the model reads is then all there is."""
        inbox = Inbox("s")
        full_error, short_error = failed(inbox)
        assert (
            str(full_error) == str(short_error) == "It broke.\nIts process ended with exit code 3."
        )
        inbox.stderr.add("dying")
        full_error, short_error = failed(inbox)
        assert str(full_error) == str(short_error)
        assert str(short_error).endswith("\n  dying")
        assert not short_error.asides
