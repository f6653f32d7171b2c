"""Write the MCP server of a package; the server offers the tools over stdio, with FastMCP."""


def server_for(package: str, *, openhands: bool) -> str:
    """Return the text of `server.py` of *package*."""
    text = (_WITH_SDK if openhands else _WITH_TOOLBENCH) + _TAIL
    name = package.replace("_", "-")
    return text.replace("{package}", package).replace("{name}", name)


_WITH_TOOLBENCH = '''\
"""An MCP server with these tools, over stdio: `{name}-server`."""

import signal
import sys
from typing import Any

from toolbench.serving import stdio_server

from {package} import create_tools


def create_server() -> Any:
    """Return the server; its `run()` serves over stdio."""
    return stdio_server(create_tools, name="{name}")
'''
_WITH_SDK = '''\
"""An MCP server with these tools, over stdio: `{name}-server`."""

import asyncio
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool, ToolResult
from mcp.types import TextContent

from {package} import create_tools

WORKER = ThreadPoolExecutor(1)  # the tools run in the thread in which they are made


class ServedTool(Tool):
    """A tool as FastMCP serves it."""

    made: Any

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool in its thread; what fails is an error for the agent."""
        loop = asyncio.get_running_loop()
        try:
            action = self.made.action_from_arguments(arguments)
            observation = await loop.run_in_executor(WORKER, self.made, action)
        except Exception as error:  # a tool may raise anything
            raise ToolError(f"{type(error).__name__}: {error}") from error
        text = "".join(getattr(part, "text", "") for part in observation.to_llm_content)
        if observation.is_error:
            raise ToolError(text)
        structured = observation.model_dump(mode="json") if self.output_schema else None
        return ToolResult(
            content=[TextContent(type="text", text=text)], structured_content=structured
        )


def create_server() -> FastMCP:
    """Return the server; its `run()` serves over stdio."""
    server: FastMCP = FastMCP("{name}")
    for tool in WORKER.submit(create_tools).result():
        offer, annotations = tool.to_mcp_tool(), tool.annotations
        served = ServedTool(
            name=tool.name,
            description=tool.description,
            parameters=offer["inputSchema"],
            output_schema=offer.get("outputSchema"),
            annotations=annotations and annotations.model_dump(),
            made=tool,
        )
        server.add_tool(served)
    return server
'''
_TAIL = '''

def main() -> None:
    """Serve until the client ends it."""
    try:
        server = create_server()
    except OSError as error:  # something is missing here, as a variable or a file
        sys.exit(str(error))
    # C-c ends it at once: FastMCP would wait for a last line of input
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    server.run(show_banner=False)


if __name__ == "__main__":
    main()
'''
