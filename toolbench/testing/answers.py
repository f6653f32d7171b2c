"""The answers of a fake server: special ones that a test gives, and those of a recording."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_core import to_jsonable_python

from toolbench.core.coercion import observation_of
from toolbench.core.content import ImageContent, TextContent
from toolbench.mcp.recording.matcher import Matcher
from toolbench.mcp.recording.player import NOT_RECORDED
from toolbench.mcp.recording.tape import Exchange, Tape
from toolbench.redaction import without_numbers


@dataclass(frozen=True)
class Raw:
    """A result for `tools/call` that is sent unchanged, even if it is invalid."""

    result: Mapping[str, Any]


class RpcError(Exception):
    """A JSON-RPC error in place of a result. Use it as an answer, or raise it in a tool."""

    def __init__(self, message: str, code: int = -32603, data: Any = None) -> None:
        """Make an error with *message*, a JSON-RPC *code*, and *data* that explains the error."""
        super().__init__(message)
        self.code = code
        self.data = data

    @property
    def wire(self) -> dict[str, Any]:
        """The error in the form of JSON-RPC."""
        more = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": str(self), **more}


class InTurn:
    """Several answers, one for each call; all later calls get the last one."""

    def __init__(self, first: Any, *more: Any) -> None:
        """Use *first* for the first call, then the answers of *more*, one for each call."""
        self._left = [first, *more]

    def next(self) -> Any:
        """Return the answer for the next call."""
        return self._left.pop(0) if len(self._left) > 1 else self._left[0]


@dataclass(frozen=True)
class _Fate:
    """The class of `NEVER` and `HANG_UP`, special answers with which a call gets no answer."""

    name: str = field(repr=False)

    def __repr__(self) -> str:
        return self.name


NEVER: Final = _Fate("NEVER")
"""A call that gets this answer is never answered; it ends when the client cancels it."""
HANG_UP: Final = _Fate("HANG_UP")
"""A call that gets this answer ends the connection, as a crash of the server does."""


def result_of(tool: str, answer: Any) -> dict[str, Any]:
    """Return *answer* as the result of a `tools/call` request for *tool*.

    An exception becomes a failed call; the model gets the text of the exception. A value that is an
    object, a list, a number or a bool in JSON is also added as structured content.
    """
    if isinstance(answer, Raw):
        return dict(answer.result)
    if isinstance(answer, Exception):
        text = str(answer) or type(answer).__name__
        return {"content": [{"type": "text", "text": text}], "isError": True}
    observation = observation_of(answer, None, tool)
    blocks = [block for item in observation.content for block in item.to_mcp_blocks()]
    result: dict[str, Any] = {"content": blocks}
    if observation.is_error:
        result["isError"] = True
    structured = _structured(getattr(observation, "result", None))
    if isinstance(structured, dict):
        result["structuredContent"] = structured
    elif isinstance(structured, list | int | float):
        # As FastMCP does
        result["structuredContent"] = {"result": structured}
    return result


def _structured(value: Any) -> Any:
    """Return *value* as structured content; None if it is a content block or contains one."""
    items = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(item, TextContent | ImageContent) for item in items):
        return None
    return to_jsonable_python(value, fallback=str)


# --- answers from a recording ---------------------------------------------------------------

_METHODS = frozenset({"resources/read", "prompts/get"})


class RecordedAnswers:
    """The recorded answers to calls of one tool.

    A call gets the answer to a recorded call with the same arguments, in the recorded order.
    """

    def __init__(self, tape: Tape, exchanges: list[Exchange]) -> None:
        """Use the answers in *exchanges*, the recorded calls of one tool on *tape*."""
        self._tape = tape
        self._matcher = Matcher([e for e in exchanges if "requestState" not in e.params])

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
        return Raw(_result_of(self._tape.outcome(recorded)))


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
