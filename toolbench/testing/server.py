"""A fake MCP server in this process, for tests of code that uses a server."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, TypeVar

from toolbench.core.declarations import ToolAnnotations
from toolbench.core.functions import tool
from toolbench.core.tool import ToolDefinition
from toolbench.mcp.recording.recording import Recording
from toolbench.testing.answers import RecordedAnswers
from toolbench.testing.script import Era, ReceivedCall, Script
from toolbench.wording import counted

if TYPE_CHECKING:
    from fastmcp.client.transports.base import ClientTransport

    from toolbench.mcp.wire.memory import ServerEnd

F = TypeVar("F", bound=Callable[..., Any])

_FIRST_MODERN = "2026-07-28"
_ANYTHING: dict[str, Any] = {"type": "object"}


class FakeMCPServer:
    """A fake MCP server that a test controls. It needs neither a process nor the network.

    Pass it to `create_mcp_tools`, or to the method `connect` of a client, like any other server.

    Examples:
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
        >>> with create_mcp_tools(server, elicitation_handler=lambda question: True) as client:
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
        era: Era = "modern",
        instructions: str = "",
    ) -> None:
        """Make a server without tools.

        Args:
            name: The name of the server.
            era: The version of the protocol: `modern` (2026-07-28) or `legacy` (2025-11-25).
            instructions: The instructions for the use of the server.
        """
        self._script = Script(name, era, instructions)
        self._ends: list[ServerEnd] = []
        self._lock = Lock()

    @classmethod
    def from_recording(cls, path: str | Path, server: str | None = None) -> Self:
        """Return a fake server with the tools, resources, prompts and answers of a recorded server.

        A request gets the answer that was recorded for the same parameters. If the same request was
        recorded several times, its answers are used in the recorded order. A request that was not
        recorded gets an error that names the most similar recorded request.

        You can add tools, resources and prompts to the fake server. To replay every message,
        including logs and questions, use `create_mcp_tools(replay=)` instead.

        Args:
            path: The file of the recording, which `%mcp connect --record` or
                `create_mcp_tools(record=)` wrote.
            server: The name of the recorded server. It may be left out if the recording has only
                one server.

        Raises:
            ServerError: If *path* is not a recording, or does not contain *server*.
        """
        recording = Recording.read(path)
        tape, offered = recording.tape(server), recording.snapshot(server).json
        era: Era = "legacy"
        if str(offered.get("protocolVersion")) >= _FIRST_MODERN:
            era = "modern"
        name = str(offered.get("server", {}).get("name") or tape.server)
        fake = cls(name, era=era, instructions=str(offered.get("instructions") or ""))
        fake._script.add_recorded(offered, RecordedAnswers(tape))
        return fake

    def __repr__(self) -> str:
        return f"FakeMCPServer({self.name!r}, {counted(len(self._script), 'tool')})"

    @property
    def name(self) -> str:
        """The server's own name."""
        return self._script.name

    @property
    def era(self) -> Era:
        """The version of the protocol that the server speaks: `modern` or `legacy`."""
        return self._script.era

    @property
    def instructions(self) -> str:
        """The instructions for the use of the server."""
        return self._script.instructions

    @property
    def calls(self) -> list[ReceivedCall]:
        """The calls that the server has received so far, oldest first."""
        return self._script.calls

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
        """Offer the tool *name*, and answer each call of this tool with *answer*.

        If the server already has a tool of this name, the new tool replaces it.

        Args:
            name: The name of the tool.
            answer: The result of each call: a string, an image or any JSON value. If it is an
                exception, each call fails. `Raw`, `RpcError`, `NEVER` and `HANG_UP` are special
                answers. `InTurn` gives a different answer to each call.
            description: The description of the tool, which a model reads.
            schema: The JSON Schema of the arguments; if left out, any object is accepted.
            output_schema: The JSON Schema of the structured content.
            annotations: The MCP annotations of the tool, such as `readOnlyHint`.
        """
        offer = {
            "name": name,
            "description": description,
            "inputSchema": dict(schema or _ANYTHING),
        }
        if output_schema is not None:
            offer["outputSchema"] = dict(output_schema)
        if annotations is not None:
            offer["annotations"] = annotations.model_dump(exclude_none=True)
        self._offer(offer, answer)

    def tool(self, function: F) -> F:
        """Offer *function* as a tool, which is described by the function's signature and docstring.

        The function runs in a thread. With `toolbench.current_run()`, it can report progress, send
        log messages, and ask the user of the client a question (as an elicitation). If the function
        raises an exception, the call fails.

        Raises:
            RegistrationError: If *function* cannot be a tool; see `toolbench.tool`.
        """
        definition: Any = function
        if not isinstance(definition, ToolDefinition):
            definition = tool(function)
        self._offer(definition.to_mcp_tool(), definition)
        return function

    def remove(self, name: str) -> None:
        """Stop offering the tool *name*.

        Raises:
            KeyError: If the server does not offer the tool.
        """
        self._script.remove_tool(name)
        self.notify("notifications/tools/list_changed")

    def resource(
        self, uri: str, content: Any, *, mime_type: str = "text/plain", name: str = ""
    ) -> None:
        """Offer the resource *uri* with *content*: a string unchanged, any other value as JSON."""
        self._script.add_resource(uri, content, mime_type, name)
        self.notify("notifications/resources/list_changed")

    def prompt(self, name: str, text: str, *, arguments: Sequence[str] = ()) -> None:
        """Offer the prompt *name*. In *text*, `{argument}` is replaced by the argument's value."""
        offer = {
            "name": name,
            "arguments": [{"name": each, "required": True} for each in arguments],
        }
        self._script.add_prompt(offer, text)
        self.notify("notifications/prompts/list_changed")

    # --- while clients are connected ----------------------------------------------

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send the notification *method* to every connected client; any thread may call this."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params:
            message["params"] = dict(params)
        for end in self._connected():
            end.send_soon(message)

    def hang_up(self) -> None:
        """End every connection, as a crash of the server does. Clients may connect again."""
        for end in self._connected():
            end.hang_up()

    def client_transport(self) -> "ClientTransport":
        """Return a new transport, with which one client can connect to this server."""
        from toolbench.mcp.wire.memory import (  # noqa: PLC0415 - the SDK takes seconds to load
            MemoryTransport,
        )

        return MemoryTransport(self._serve)

    async def _serve(self, end: "ServerEnd") -> None:
        from toolbench.testing.session import FakeSession  # noqa: PLC0415 - as above

        with self._lock:
            self._ends.append(end)
        try:
            await FakeSession(self._script, end).serve()
        finally:
            with self._lock:
                self._ends.remove(end)

    def _offer(self, offer: dict[str, Any], answer: Any) -> None:
        self._script.add_tool(offer, answer)
        self.notify("notifications/tools/list_changed")

    def _connected(self) -> "list[ServerEnd]":
        with self._lock:
            return list(self._ends)
