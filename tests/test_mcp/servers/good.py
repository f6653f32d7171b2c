"""A well-behaved server: one of each thing a server can offer. `good.py --http PORT` serves HTTP."""

import asyncio
import sys

from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image
from pydantic import BaseModel

mcp = FastMCP("good", instructions="Be gentle.")
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da6364f80f00010501012718e3660000000049454e44ae426082"
)


class Point(BaseModel):
    x: int
    y: int


@mcp.tool(annotations={"readOnlyHint": True, "title": "Add two"})
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@mcp.tool
def points(count: int) -> list[Point]:
    """List some points."""
    return [Point(x=i, y=i * i) for i in range(count)]


@mcp.tool(output_schema=None)
def nothing_or(value: str | None = "unset") -> str:
    """Tell apart null, a value, and nothing."""
    return repr(value)


@mcp.tool
def picture() -> Image:
    """Draw one pixel."""
    return Image(data=PNG, format="png")


@mcp.tool
async def steps(count: int, ctx: Context) -> str:
    """Report progress and log, some times."""
    for i in range(count):
        await ctx.report_progress(i + 1, count, f"step {i + 1}")
        await ctx.info(f"at {i + 1}")
    return "done"


@mcp.tool
async def hang(ctx: Context) -> str:
    """Wait until cancelled; say so on stderr."""
    print("hanging", file=sys.stderr, flush=True)
    try:
        await asyncio.sleep(600)
    except asyncio.CancelledError:
        print("told to stop", file=sys.stderr, flush=True)
        raise
    return "never"


@mcp.tool
async def ask(ctx: Context) -> str:
    """Ask for a name (the older protocol)."""
    answer = await ctx.elicit("Who are you?", response_type=str)
    return f"{answer.action}: {getattr(answer, 'data', None)}"


@mcp.resource("good://readme", mime_type="text/plain")
def readme() -> str:
    """What to read first."""
    return "Read me."


@mcp.resource("good://users/{name}/{field}")
def user(name: str, field: str) -> dict:
    """A user's field."""
    return {"name": name, "field": field}


@mcp.prompt
def review(code: str, tone: str = "kind") -> str:
    """Review some code."""
    return f"Review in a {tone} tone: {code}"


if __name__ == "__main__":
    if "--http" in sys.argv:
        mcp.run("http", port=int(sys.argv[-1]), show_banner=False)
    else:
        mcp.run(show_banner=False)
