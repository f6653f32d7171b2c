"""An MCP server that says in which process it works, and what its environment holds."""

import os
import sys

from fastmcp import FastMCP

server = FastMCP("counting")


@server.tool(annotations={"readOnlyHint": True})
def double(n: int) -> dict:
    """Double a number.

    Args:
        n: The number.
    """
    return {
        "double": 2 * n,
        "process": os.getpid(),
        "token": len(os.environ.get("TOKEN", "")),
    }


if __name__ == "__main__":
    server.run(show_banner=False)
    sys.exit()
