"""The answers of a fake server: those that a test chooses, and those of a recorded server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic_core import to_jsonable_python

from toolbench.core.coercion import observation_of
from toolbench.core.content import ImageContent, TextContent
from toolbench.mcp.recording.matcher import Matcher
from toolbench.mcp.recording.player import NOT_RECORDED
from toolbench.mcp.recording.tape import Exchange, Tape, mapping_of
from toolbench.redaction import without_numbers


@dataclass(frozen=True)
class Raw:
    """An answer to `tools/call` that the fake server sends unchanged, even if it is not valid.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer, Raw
        >>> server = FakeMCPServer("shop")
        >>> blocks = [{"type": "text", "text": "3 euros", "annotations": {"priority": 1}}]
        >>> server.answer("price", Raw({"content": blocks, "isError": False}))
        >>> with create_mcp_tools(server) as client:
        ...     client["price"](sku=12).blocks[0]["annotations"]
        {'priority': 1}
    """

    result: Mapping[str, Any]


class RpcError(Exception):
    """A JSON-RPC error as the answer to a call.

    Pass it to `FakeMCPServer.answer`, or raise it in a tool of the fake server.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import FakeMCPServer, RpcError
        >>> server = FakeMCPServer("shop")
        >>> server.answer("stock", RpcError("database is locked", code=-32000))
        >>> with create_mcp_tools(server) as client:
        ...     client["stock"](sku=12).text
        'Database is locked (MCP error -32000).'
    """

    def __init__(self, message: str, code: int = -32603, data: Any = None) -> None:
        """Make an error with *message*, a JSON-RPC *code*, and *data* that explains the error."""
        super().__init__(message)
        self.code = code
        self.data = data

    @property
    def wire(self) -> dict[str, Any]:
        """The error in the form of JSON-RPC."""
        wire = {"code": self.code, "message": str(self)}
        if self.data is not None:
            wire["data"] = self.data
        return wire


class InTurn:
    """A list of answers for successive calls of a tool.

    After all answers have been used, each further call gets the last answer again.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import HANG_UP, FakeMCPServer, InTurn
        >>> server = FakeMCPServer("shop")
        >>> server.answer("stock", InTurn(7, HANG_UP))
        >>> with create_mcp_tools(server) as client:
        ...     client["stock"](sku=12).text
        ...     client["stock"](sku=12).is_error
        '7'
        True
    """

    def __init__(self, first: Any, *more: Any) -> None:
        """Use *first* for the first call, then the answers of *more*, one for each call."""
        self._left = [first, *more]

    def next(self) -> Any:
        """Return the answer for the next call."""
        if len(self._left) > 1:
            return self._left.pop(0)
        return self._left[0]


@dataclass(frozen=True)
class _Fate:
    """The class of `NEVER` and `HANG_UP`: with either of them, a call gets no answer."""

    name: str = field(repr=False)

    def __repr__(self) -> str:
        return self.name


NEVER: Final = _Fate("NEVER")
"""A call that gets this answer is never answered; it ends when the client cancels it."""
HANG_UP: Final = _Fate("HANG_UP")
"""A call that gets this answer ends the connection, as a crash of the server does."""


def result_of(tool: str, answer: Any) -> dict[str, Any]:
    """Turn *answer* into the result of a `tools/call` request for *tool*.

    An exception becomes a failed result with the text of the exception. If the JSON of *answer* is
    an object, a list, a number or a bool, the result also has structured content.
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
    items = [value]
    if isinstance(value, list | tuple):
        items = list(value)
    if any(isinstance(item, TextContent | ImageContent) for item in items):
        return None
    return to_jsonable_python(value, fallback=str)


# --- answers from a recording ---------------------------------------------------------------

_METHODS = frozenset({"tools/call", "resources/read", "prompts/get"})


class RecordedAnswers:
    """The recorded answers to the requests `tools/call`, `resources/read` and `prompts/get`.

    A request gets the answer that was recorded for the same parameters. If the same request was
    recorded several times, its answers are used in the recorded order.
    """

    def __init__(self, tape: Tape) -> None:
        """Use the requests and answers that are recorded on *tape*."""
        requests = list[Exchange]()
        for exchange in tape.exchanges:
            # Later rounds, with answers to the server's questions, belong to the first one
            if exchange.method in _METHODS and "requestState" not in exchange.params:
                requests.append(exchange)
        self._tape = tape
        self._matcher = Matcher(requests)

    def answer_to(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result that was recorded for a request with this *method* and these *params*.

        Raises:
            RpcError: If the request was not recorded, or its recorded answer is an error.
        """
        recorded = self._matcher.find(method, params)
        if recorded is None:
            raise RpcError(self._matcher.missing(method, params), NOT_RECORDED)
        response = without_numbers(self._tape.outcome(recorded) or {})
        result, error = response.get("result"), mapping_of(response.get("error"))
        if isinstance(result, Mapping):
            return dict(result)
        message = error.get("message", "The recorded request got no answer.")
        raise RpcError(str(message), error.get("code", NOT_RECORDED), error.get("data"))
