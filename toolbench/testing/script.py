"""What a fake server offers and answers, and the calls that it has received."""

from collections.abc import Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any, Literal

from toolbench.testing.answers import InTurn, Raw, RecordedAnswers, RpcError

Era = Literal["modern", "legacy"]


@dataclass
class ReceivedCall:
    """A call of a tool that a fake server has received.

    Examples:
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.testing import NEVER, FakeMCPServer
        >>> server = FakeMCPServer("shop")
        >>> server.answer("stock", NEVER)
        >>> with create_mcp_tools(server) as client:
        ...     client.servers["shop"].call_seconds = 0.1
        ...     result = client["stock"](sku=12)
        >>> server.calls
        [ReceivedCall(tool='stock', arguments={'sku': 12}, was_cancelled=True)]
    """

    tool: str
    arguments: dict[str, Any]
    was_cancelled: bool = False
    """Whether the client cancelled the call."""


@dataclass(frozen=True)
class _ScriptedTool:
    """A tool that the server lists, with the answer to its calls."""

    definition: dict[str, Any]
    answer: Any


class Script:
    """What one fake server offers and answers. All clients of the server share one script."""

    def __init__(self, name: str, era: Era, instructions: str) -> None:
        """Make a script without tools, resources and prompts."""
        self.name = name
        self.era = era
        self.instructions = instructions
        self.calls: list[ReceivedCall] = []
        """The calls that the server has received so far, oldest first."""
        self._tools: dict[str, _ScriptedTool] = {}
        self._resources: dict[str, dict[str, Any]] = {}
        self._texts: dict[str, str] = {}
        self._templates: list[Any] = []
        self._prompts: dict[str, dict[str, Any]] = {}
        self._sayings: dict[str, str] = {}
        self._recorded: RecordedAnswers | None = None

    def __len__(self) -> int:
        return len(self._tools)

    def add_tool(self, tool: dict[str, Any], answer: Any) -> None:
        """Offer *tool*, in the form of `tools/list`, and answer each call of it with *answer*."""
        self._tools[tool["name"]] = _ScriptedTool(tool, answer)

    def remove_tool(self, name: str) -> None:
        """Stop offering the tool *name*.

        Raises:
            KeyError: If the server does not offer the tool.
        """
        del self._tools[name]

    def add_resource(self, uri: str, content: Any, mime_type: str, name: str) -> None:
        """Offer the resource *uri* with *content*: a string unchanged, any other value as JSON."""
        if not isinstance(content, str):
            content = dumps(content)
        self._resources[uri] = {"uri": uri, "name": name or uri, "mimeType": mime_type}
        self._texts[uri] = content

    def add_prompt(self, prompt: dict[str, Any], text: str) -> None:
        """Offer *prompt*, in the form of `prompts/list`, with *text*."""
        self._prompts[prompt["name"]] = prompt
        self._sayings[prompt["name"]] = text

    def add_recorded(self, offered: Mapping[str, Any], recorded: RecordedAnswers) -> None:
        """Offer what a recorded server offered, with its *recorded* answers."""
        for tool in offered["tools"].values():
            self.add_tool(dict(tool), recorded)
        # Of a list that was not requested nothing is known
        self._resources.update(offered.get("resources") or {})
        self._templates += (offered.get("templates") or {}).values()
        self._prompts.update(offered.get("prompts") or {})
        self._recorded = recorded

    # --- answers to clients -------------------------------------------------------

    def described(self) -> dict[str, Any]:
        """Return what a new client is told about the server: name, capabilities, instructions."""
        changes = {"listChanged": True}
        capabilities: dict[str, Any] = {"tools": changes, "logging": {}}
        if self._resources or self._templates:
            capabilities["resources"] = changes
        if self._prompts:
            capabilities["prompts"] = changes
        info = {"name": self.name, "version": "1"}
        about: dict[str, Any] = {"serverInfo": info, "capabilities": capabilities}
        if self.instructions:
            about["instructions"] = self.instructions
        return about

    def reply(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a request other than a tool call.

        Raises:
            RpcError: If there is no such method, resource or prompt.
        """
        match method:
            case "tools/list":
                return {"tools": [tool.definition for tool in self._tools.values()]}
            case "resources/list":
                return {"resources": list(self._resources.values())}
            case "resources/read" if params.get("uri") in self._texts:
                uri = params["uri"]
                return {"contents": [{**self._resources[uri], "text": self._texts[uri]}]}
            case "prompts/list":
                return {"prompts": list(self._prompts.values())}
            case "prompts/get" if params.get("name") in self._sayings:
                return self._prompt(params)
            case "resources/templates/list":
                return {"resourceTemplates": self._templates}
            case "resources/read" | "prompts/get" if self._recorded is not None:
                return self._recorded.answer_to(method, params)
            case "resources/read" | "prompts/get":
                msg = f"not offered: {params.get('uri') or params.get('name')}"
                raise RpcError(msg, -32602)
            case "ping" | "logging/setLevel":
                return {}
        msg = f"Method not found: {method}"
        raise RpcError(msg, -32601)

    def _prompt(self, params: Mapping[str, Any]) -> dict[str, Any]:
        text = self._sayings[params["name"]]
        for name, value in (params.get("arguments") or {}).items():
            text = text.replace(f"{{{name}}}", str(value))
        content = {"type": "text", "text": text}
        return {"messages": [{"role": "user", "content": content}]}

    def answer_to(self, call: ReceivedCall) -> Any:
        """Add *call* to `calls`, and return the answer that the test defined for it.

        If the tool was made from a function, the result is the tool. The caller then runs the tool.

        Raises:
            RpcError: If the server does not have the tool, or if the recorded answer is an error.
        """
        self.calls.append(call)
        if call.tool not in self._tools:
            msg = f"Unknown tool: {call.tool}"
            raise RpcError(msg, -32602)
        answer = self._tools[call.tool].answer
        if isinstance(answer, RecordedAnswers):
            params = {"name": call.tool, "arguments": call.arguments}
            return Raw(answer.answer_to("tools/call", params))
        if isinstance(answer, InTurn):
            return answer.next()
        return answer
