"""A fake server's script out of a recording: what was offered, and what calls were answered."""

from collections.abc import Mapping
from typing import Any

from toolbench.mcp.recording.failure import NOT_RECORDED
from toolbench.mcp.recording.request_matcher import Matcher
from toolbench.mcp.recording.tape import Exchange, Tape
from toolbench.redaction.marks import without_numbers
from toolbench.testing.scripted_answers import Raw, RpcError

_METHODS = frozenset({"resources/read", "prompts/get"})


class RecordedAnswers:
    """What the calls of one tool were answered, by their arguments, in the order recorded."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        """Answer by *exchanges*, calls of one tool."""
        rounds = [e for e in exchanges if "requestState" not in e.params]
        self._last = {id(e): e.last for e in rounds}
        self._matcher = Matcher(rounds)

    def answer_to(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Return the answer to a call.

        Raises:
            RpcError: If the call was not recorded, or got an error.
        """
        params = {"name": tool, "arguments": dict(arguments)}
        recorded = self._matcher.find("tools/call", params)
        if recorded is None:
            difference = self._matcher.missing("tools/call", params)
            raise RpcError(difference, NOT_RECORDED)
        return Raw(_result_of(self._last[id(recorded)]))


class RecordedReplies:
    """What was answered to requests that call no tool, by their parameters, in the order recorded."""

    def __init__(self, tape: Tape) -> None:
        """Answer by the requests of *tape*."""
        self._matcher = Matcher([e for e in tape.exchanges if e.method in _METHODS])

    def reply_to(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of a request.

        Raises:
            RpcError: If the request was not recorded, or got an error.
        """
        recorded = self._matcher.find(method, params)
        if recorded is None:
            raise RpcError(self._matcher.missing(method, params), NOT_RECORDED)
        return _result_of(recorded)


def _result_of(exchange: Exchange) -> Mapping[str, Any]:
    """Return the result that *exchange* had.

    Raises:
        RpcError: If it got an error, or no answer at all.
    """
    response = without_numbers(exchange.response or {})
    if isinstance(result := response.get("result"), Mapping):
        return result
    error = response.get("error")
    if not isinstance(error, Mapping):
        msg = "The request got no answer when it was recorded."
        raise RpcError(msg, NOT_RECORDED)
    code = error.get("code")
    raise RpcError(
        str(error.get("message")),
        code if isinstance(code, int) else NOT_RECORDED,
        error.get("data"),
    )


def calls_by_tool(tape: Tape) -> dict[str, list[Exchange]]:
    """Return the recorded calls of each tool."""
    calls: dict[str, list[Exchange]] = {}
    for exchange in tape.exchanges:
        if exchange.is_call:
            calls.setdefault(str(exchange.params.get("name")), []).append(exchange)
    return calls
