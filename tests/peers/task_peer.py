"""A server with FastMCP's own task extension: `task_peer.py [--http]`.

It runs in an environment of its own. Over HTTP it prints its port.
"""

import asyncio
import socket
import sys

from fastmcp import Context, FastMCP
from fastmcp.dependencies import Progress
from fastmcp.exceptions import ToolError
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

NAME = {"type": "object", "properties": {"name": {"type": "string"}}}
server = FastMCP("peer")
server.add_extension(TasksExtension(url="memory://"))


@server.tool(task=TaskConfig(mode="required"))
async def add_up(numbers: list[int], progress: Progress = Progress()) -> int:  # noqa: B008 - FastMCP's way
    """Add numbers, one after the other."""
    await progress.set_total(len(numbers))
    for number in numbers:
        await progress.set_message(f"adding {number}")
        await progress.increment()
    return sum(numbers)


@server.tool(task=TaskConfig(mode="optional"))
async def greet(ctx: Context) -> str | InputRequiredResult:
    """Greet whoever is named in the answer to a question."""
    answer = (ctx.input_responses or {}).get("whom")
    if answer is None:
        form = ElicitRequestFormParams(message="Whom?", requested_schema=NAME)
        return InputRequiredResult(input_requests={"whom": ElicitRequest(params=form)})
    return f"hello {answer.content['name']}"


@server.tool(task=TaskConfig(mode="optional"))
async def fail() -> str:
    """Fail."""
    msg = "the disk is full"
    raise ToolError(msg)


@server.tool(task=TaskConfig(mode="required"))
async def wait_for_release() -> str:
    """Wait until `release` is called."""
    await released.wait()
    return "released"


@server.tool
async def release() -> str:
    """Let `wait_for_release` go on."""
    released.set()
    return "done"


released = asyncio.Event()

if __name__ == "__main__":
    if "--http" not in sys.argv:
        server.run(show_banner=False)
    else:
        import uvicorn

        with socket.create_server(("127.0.0.1", 0)) as listener:
            print(listener.getsockname()[1], flush=True)
            config = uvicorn.Config(server.http_app(), log_level="critical", ws="none")
            uvicorn.Server(config).run([listener])
