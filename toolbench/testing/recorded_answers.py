"""A fake server's script out of a recording: what was offered, and what calls were answered."""

from collections.abc import Mapping
from typing import Any

from toolbench.mcp.recording.failure import NOT_RECORDED
from toolbench.mcp.recording.request_matcher import Matcher
from toolbench.mcp.recording.tape import Exchange, Tape
from toolbench.redaction.marks import without_numbers
from toolbench.testing.scripted_answers import Raw, RpcError


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
        response = without_numbers(self._last[id(recorded)].response or {})
        if isinstance(result := response.get("result"), Mapping):
            return Raw(result)
        error = response.get("error")
        if not isinstance(error, Mapping):
            msg = "The call got no answer when it was recorded."
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


def resources_read(tape: Tape) -> dict[str, Mapping[str, Any]]:
    """Return what was read of each resource, by its URI."""
    return {
        str(exchange.params.get("uri")): exchange.response["result"]
        for exchange in tape.exchanges
        if exchange.method == "resources/read"
        and exchange.response is not None
        and "result" in exchange.response
    }
