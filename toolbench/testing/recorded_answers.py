"""The answers of a fake server that come from a recording."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolbench.mcp.recording.failure import NOT_RECORDED
from toolbench.mcp.recording.request_matcher import Matcher
from toolbench.mcp.recording.tape import Exchange, Tape
from toolbench.redaction import without_numbers
from toolbench.testing.scripted_answers import Raw, RpcError

_METHODS = frozenset({"resources/read", "prompts/get"})


class RecordedAnswers:
    """The recorded answers to calls of one tool.

    A call gets the answer to a recorded call with the same arguments, in the recorded order.
    """

    def __init__(self, tape: Tape, exchanges: list[Exchange]) -> None:
        """Use the answers in *exchanges*, the recorded calls of one tool on *tape*."""
        first = [e for e in exchanges if "requestState" not in e.params]
        calls = [_without_task(e) for e in first]
        pairs = zip(calls, first, strict=True)
        self._outcomes = {id(call): tape.outcome(e) for call, e in pairs}
        self._matcher = Matcher(calls)

    def answer_to(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Return the recorded answer to a call of *tool* with *arguments*.

        Raises:
            RpcError: If the call was not recorded, or its recorded answer is an error.
        """
        params = {"name": tool, "arguments": dict(arguments)}
        recorded = self._matcher.find("tools/call", params)
        if recorded is None:
            difference = self._matcher.missing("tools/call", params)
            raise RpcError(difference, NOT_RECORDED)
        return Raw(_result_of(self._outcomes[id(recorded)]))


class RecordedReplies:
    """The recorded answers to `resources/read` and `prompts/get`.

    A request gets the answer to a recorded request with the same parameters, in the recorded order.
    """

    def __init__(self, tape: Tape) -> None:
        """Use the answers to the requests recorded on *tape*."""
        self._matcher = Matcher([e for e in tape.exchanges if e.method in _METHODS])

    def reply_to(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the recorded result of the request *method* with *params*.

        Raises:
            RpcError: If the request was not recorded, or its recorded answer is an error.
        """
        recorded = self._matcher.find(method, params)
        if recorded is None:
            raise RpcError(self._matcher.missing(method, params), NOT_RECORDED)
        return _result_of(recorded.response)


def _without_task(call: Exchange) -> Exchange:
    """Return *call* without its parameter `task`, because a fake server does not start tasks."""
    params = {k: v for k, v in call.params.items() if k != "task"}
    return replace(call, request={**call.request, "params": params})


def _result_of(recorded: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the result in *recorded*, an answer.

    Raises:
        RpcError: If the recorded answer is an error, or no answer was recorded.
    """
    response = without_numbers(recorded or {})
    if isinstance(result := response.get("result"), Mapping):
        return result
    error = response.get("error")
    if not isinstance(error, Mapping):
        msg = "The recorded request got no answer."
        raise RpcError(msg, NOT_RECORDED)
    code = error.get("code")
    raise RpcError(
        str(error.get("message")),
        code if isinstance(code, int) else NOT_RECORDED,
        error.get("data"),
    )


def calls_by_tool(tape: Tape) -> dict[str, list[Exchange]]:
    """Return the recorded calls on *tape*, by the name of the tool."""
    calls: dict[str, list[Exchange]] = {}
    for exchange in tape.exchanges:
        if exchange.is_call:
            calls.setdefault(str(exchange.params.get("name")), []).append(exchange)
    return calls
