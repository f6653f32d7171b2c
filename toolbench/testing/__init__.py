"""A fake MCP server, for tests of notebooks and agents."""

from toolbench.testing.scripted_answers import HANG_UP, NEVER, InTurn, Raw, RpcError
from toolbench.testing.server import FakeMCPServer
from toolbench.testing.server_script import ReceivedCall

__all__ = [
    "HANG_UP",
    "NEVER",
    "FakeMCPServer",
    "InTurn",
    "Raw",
    "ReceivedCall",
    "RpcError",
]
