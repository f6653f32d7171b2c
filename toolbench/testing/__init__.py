"""A fake MCP server, for tests of notebooks and agents."""

from toolbench.testing.answers import HANG_UP, NEVER, InTurn, Raw, RpcError
from toolbench.testing.script import ReceivedCall
from toolbench.testing.server import FakeMCPServer

__all__ = [
    "HANG_UP",
    "NEVER",
    "FakeMCPServer",
    "InTurn",
    "Raw",
    "ReceivedCall",
    "RpcError",
]
