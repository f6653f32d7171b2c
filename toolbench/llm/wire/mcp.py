"""MCP's `tools/call` messages, as the log of an agent contains them: calls and their results."""

from collections.abc import Sequence
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.llm.formats.arguments import Changes
from toolbench.llm.message import (
    DATA_URL,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    as_mapping,
)
from toolbench.llm.wire.openai_chat import OpenAIChatWire
from toolbench.llm.wire.wire import AnyTool, first_of


class MCPWire(OpenAIChatWire):
    """The format of MCP's calls; a model that uses this format gets messages in OpenAI's format."""

    provider = "mcp"
    title = "MCP"
    maker = "MCP"
    part_types = frozenset()
    part_keys = frozenset({"params", "arguments"})
    call_prefix = ""
    is_for_models = False
    tool_names = None
    package = None
    path = None

    def read_parts(self, parts: Sequence[Any]) -> Message:
        """Read *parts*, requests or their `params`, as the calls of one message."""
        calls: list[ToolCallPart] = []
        for part in parts:
            params = first_of(part, "params") or part
            name, arguments = first_of(params, "name"), first_of(params, "arguments")
            calls.append(ToolCallPart(name, arguments, first_of(part, "id")))
        return Message("assistant", tuple(calls), "mcp")

    def write(self, message: Message) -> list[Json]:
        """Write *message* as for OpenAI's chat completions, but results of calls as MCP does."""
        if not message.results:
            return OpenAIChatWire().write(message)
        return [self._written_result(result) for result in message.results]

    @staticmethod
    def _written_result(result: ToolResultPart) -> Json:
        content: list[Json] = []
        for part in result.content:
            if isinstance(part, TextPart):
                content.append({"type": "text", "text": part.text})
            elif data := DATA_URL.match(part.url):
                content.append({"type": "image", "data": data[2], "mimeType": data[1]})
            else:
                content.append({"type": "text", "text": part.words})
        return {"content": content, "isError": result.is_error}

    def arguments(self, values: Json) -> Any:
        """Return *values*, the arguments of a call, which are an object."""
        return values

    def write_call(self, call: ToolCallPart) -> Json:
        """Write *call* as a request."""
        params = {"name": call.name, "arguments": as_mapping(call.arguments)}
        return {"jsonrpc": "2.0", "id": call.id, "method": "tools/call", "params": params}

    def write_tool(
        self, tool: AnyTool, changes: Changes, *, security_risk: bool = False, summary: bool = False
    ) -> Json:
        """Write *tool* as a server lists it, unchanged."""
        parameters = tool.parameters(security_risk=security_risk, summary=summary)
        return tool.to_mcp_tool(input_schema=parameters)
