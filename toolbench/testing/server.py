"""A scripted MCP server in this process, for tests of whatever calls one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from toolbench.core.annotations import ToolAnnotations
from toolbench.core.decorator import tool
from toolbench.core.tool import ToolDefinition
from toolbench.testing.answers import InTurn, RpcError

if TYPE_CHECKING:
    from fastmcp.client.transports.base import ClientTransport

    from toolbench.testing.wire import FakeSession

F = TypeVar("F", bound=Callable[..., Any])

_ANYTHING: dict[str, Any] = {"type": "object"}


@dataclass
class ReceivedCall:
    """One call that reached the server."""

    tool: str
    arguments: dict[str, Any]
    was_cancelled: bool = False
    """Whether the client said that it does not wait any more."""


@dataclass(frozen=True)
class _Script:
    """A listed tool, and what its calls are answered with."""

    listed: dict[str, Any]
    answer: Any


class FakeMCPServer:
    """An MCP server that does what a test tells it to: no process, no network.

    Give it wherever a server is named: to `create_mcp_tools`, or to `connect` of a client.

    >>> from toolbench import current_run
    >>> from toolbench.mcp import create_mcp_tools
    >>> from toolbench.testing import FakeMCPServer, InTurn, RpcError
    >>> server = FakeMCPServer("shop")
    >>> server.answer("price", {"eur": 3})
    >>> server.answer("stock", InTurn(RpcError("database is locked"), [{"sku": 7}]))
    >>> @server.tool
    ... def pay(amount: int) -> str:
    ...     "Pay, if the customer agrees."
    ...     current_run().progress(1, 2, "asking")
    ...     return "paid" if current_run().ask(f"Pay {amount}?") else "not paid"
    >>> with create_mcp_tools(server, answerer=lambda question: True) as client:
    ...     client["price"]({}).data
    ...     client["stock"]({}).text
    ...     client["stock"]({}).data
    ...     client["pay"]({"amount": 5}).text
    {'eur': 3}
    'Database is locked (MCP error -32603).'
    [{'sku': 7}]
    'paid'
    >>> [call.tool for call in server.calls]
    ['price', 'stock', 'stock', 'pay']
    """

    def __init__(
        self,
        name: str = "fake",
        *,
        era: Literal["modern", "legacy"] = "modern",
        instructions: str = "",
    ) -> None:
        """Make a server without tools.

        Args:
            name: What it calls itself.
            era: The protocol it speaks: `modern` (2026-07-28) or `legacy` (2025-11-25).
            instructions: How it wants to be used.
        """
        self.name = name
        self.era = era
        self.instructions = instructions
        self.calls: list[ReceivedCall] = []
        """The calls so far, in the order they came."""
        self._scripts: dict[str, _Script] = {}
        self._resources: dict[str, dict[str, Any]] = {}
        self._prompts: dict[str, tuple[dict[str, Any], str]] = {}
        self._sessions: list[FakeSession] = []
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"FakeMCPServer({self.name!r}, {len(self._scripts)} tools)"

    # --- the script ---------------------------------------------------------------

    def answer(
        self,
        name: str,
        answer: Any,
        *,
        description: str = "",
        schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        annotations: ToolAnnotations | None = None,
    ) -> None:
        """Offer a tool *name* whose calls get *answer*; it replaces one of that name.

        Args:
            name: The name of the tool.
            answer: Text, an image, anything that JSON can carry; an exception, for a call that
                fails; `Raw`, `RpcError`, `NEVER`, `HANG_UP`; or `InTurn`, several of these.
            description: What the model is told.
            schema: The JSON Schema of the arguments; any object if left out.
            output_schema: What the tool promises of its structured content.
            annotations: Its hints.
        """
        listed = {
            "name": name,
            "description": description,
            "inputSchema": dict(schema or _ANYTHING),
        }
        if output_schema is not None:
            listed["outputSchema"] = dict(output_schema)
        if annotations is not None:
            listed["annotations"] = annotations.model_dump(exclude_none=True)
        self._offer(listed, answer)

    def tool(self, function: F) -> F:
        """Offer *function* as a tool; its signature and docstring describe it.

        It runs in a thread. `toolbench.current_run()` in it reports progress, logs, and asks
        the client's person: `ask` is an elicitation. What it raises is a failed call.

        Raises:
            RegistrationError: If it cannot be a tool, see `toolbench.tool`.
        """
        definition = (
            function if isinstance(function, ToolDefinition) else tool(function)
        )
        self._offer(definition.to_mcp_tool(), definition)
        return function

    def remove(self, name: str) -> None:
        """Offer the tool *name* no more.

        Raises:
            KeyError: If it is not offered.
        """
        del self._scripts[name]
        self.notify("notifications/tools/list_changed")

    def resource(
        self, uri: str, content: Any, *, mime_type: str = "text/plain", name: str = ""
    ) -> None:
        """Offer *content* to be read at *uri*: text as it is, anything else as JSON."""
        text = content if isinstance(content, str) else dumps(content)
        self._resources[uri] = {
            "uri": uri,
            "name": name or uri,
            "mimeType": mime_type,
            "text": text,
        }
        self.notify("notifications/resources/list_changed")

    def prompt(self, name: str, text: str, *, arguments: Sequence[str] = ()) -> None:
        """Offer a prompt: *text*, with `{argument}` for each of its required *arguments*."""
        listed = {
            "name": name,
            "arguments": [{"name": each, "required": True} for each in arguments],
        }
        self._prompts[name] = listed, text
        self.notify("notifications/prompts/list_changed")

    # --- while clients are connected ----------------------------------------------

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification to every connected client, from any thread."""
        message = {"jsonrpc": "2.0", "method": method}
        for session in self._connected():
            session.say({**message, **({"params": dict(params)} if params else {})})

    def hang_up(self) -> None:
        """End every connection, as a server that crashes does; clients may come back."""
        for session in self._connected():
            session.hang_up()

    def client_transport(self) -> "ClientTransport":
        """Return what connects a client to this server: one for each connection."""
        from toolbench.testing.wire import (  # noqa: PLC0415 - the SDK takes seconds to load
            FakeTransport,
        )

        return FakeTransport(self)

    def _offer(self, listed: dict[str, Any], answer: Any) -> None:
        self._scripts[listed["name"]] = _Script(listed, answer)
        self.notify("notifications/tools/list_changed")

    def _connected(self) -> "list[FakeSession]":
        with self._lock:
            return list(self._sessions)

    # --- what the wire asks -------------------------------------------------------

    def enter(self, session: "FakeSession") -> Callable[[], None]:
        """Count *session* among the connected; call what is returned when it ends."""
        with self._lock:
            self._sessions.append(session)

        def leave() -> None:
            with self._lock:
                self._sessions.remove(session)

        return leave

    def described(self) -> dict[str, Any]:
        """Return what the server says of itself to a new client."""
        changes = {"listChanged": True}
        capabilities: dict[str, Any] = {"tools": changes, "logging": {}}
        if self._resources:
            capabilities["resources"] = changes
        if self._prompts:
            capabilities["prompts"] = changes
        info = {"name": self.name, "version": "1"}
        told = {"instructions": self.instructions} if self.instructions else {}
        return {"serverInfo": info, "capabilities": capabilities, **told}

    def reply(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a request that is no call of a tool.

        Raises:
            RpcError: If there is no such method, resource or prompt.
        """
        match method:
            case "tools/list":
                return {"tools": [script.listed for script in self._scripts.values()]}
            case "resources/list":
                found = self._resources.values()
                return {"resources": [_without_text(r) for r in found]}
            case "resources/read" if params.get("uri") in self._resources:
                return {"contents": [self._resources[params["uri"]]]}
            case "prompts/list":
                return {"prompts": [listed for listed, _ in self._prompts.values()]}
            case "prompts/get" if params.get("name") in self._prompts:
                return self._written(params)
            case "resources/templates/list":
                return {"resourceTemplates": []}
            case "resources/read" | "prompts/get":
                msg = f"not offered: {params.get('uri') or params.get('name')}"
                raise RpcError(msg, -32602)
            case "ping" | "logging/setLevel":
                return {}
        msg = f"Method not found: {method}"
        raise RpcError(msg, -32601)

    def _written(self, params: Mapping[str, Any]) -> dict[str, Any]:
        _, text = self._prompts[params["name"]]
        for name, value in (params.get("arguments") or {}).items():
            text = text.replace(f"{{{name}}}", str(value))
        content = {"type": "text", "text": text}
        return {"messages": [{"role": "user", "content": content}]}

    def scripted(self, call: ReceivedCall) -> Any:
        """Keep *call*, and return the answer it gets: a value, or a tool to run.

        Raises:
            RpcError: If the server has no such tool.
        """
        self.calls.append(call)
        if call.tool not in self._scripts:
            msg = f"Unknown tool: {call.tool}"
            raise RpcError(msg, -32602)
        answer = self._scripts[call.tool].answer
        return answer.next() if isinstance(answer, InTurn) else answer


def _without_text(resource: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in resource.items() if key != "text"}
