"""Write the MCP server of a package; the server offers the tools over stdio, with FastMCP."""


def server_for(package: str, *, openhands: bool) -> str:
    """Return the text of `server.py` of *package*."""
    text = _HEAD + (_WITH_SDK if openhands else _WITH_TOOLBENCH) + _TAIL
    name = package.replace("_", "-")
    return text.replace("{package}", package).replace("{name}", name)


_HEAD = '''\
"""An MCP server with these tools, over stdio: `{name}-server`."""

import asyncio
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
'''
_WITH_TOOLBENCH = '''\
from mcp_types import CallToolResult
from toolbench import run_tool

from {package} import create_tools


class ServedTool(Tool):
    """A tool as FastMCP serves it."""

    made: Any

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool in a thread; what fails is an error for the agent."""
        observation = await asyncio.to_thread(run_tool, self.made, arguments)
        if observation.is_error:
            raise ToolError(observation.text)
        result = CallToolResult.model_validate(observation.to_mcp_result())
        return ToolResult(
            content=result.content, structured_content=result.structured_content
        )
'''
_WITH_SDK = '''\
from mcp.types import TextContent

from {package} import create_tools


class ServedTool(Tool):
    """A tool as FastMCP serves it."""

    made: Any

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool in a thread; what fails is an error for the agent."""
        try:
            action = self.made.action_from_arguments(arguments)
            observation = await asyncio.to_thread(self.made, action)
        except Exception as error:  # a tool may raise anything
            raise ToolError(f"{type(error).__name__}: {error}") from error
        text = "".join(getattr(part, "text", "") for part in observation.to_llm_content)
        if observation.is_error:
            raise ToolError(text)
        return ToolResult(content=[TextContent(type="text", text=text)])
'''
_TAIL = '''

def create_server() -> FastMCP:
    """Return the server; its `run()` serves over stdio."""
    server: FastMCP = FastMCP("{name}")
    for tool in create_tools():
        offer = tool.to_mcp_tool()
        served = ServedTool(
            name=tool.name,
            description=tool.description,
            parameters=offer["inputSchema"],
            annotations=offer.get("annotations"),
            made=tool,
        )
        server.add_tool(served)
    return server


def main() -> None:
    """Serve until the client ends it."""
    create_server().run(show_banner=False)


if __name__ == "__main__":
    main()
'''
