"""Fakes for the tests of notebooks and agents that use tools."""

from toolbench.testing.answers import HANG_UP, NEVER, InTurn, Raw, RpcError
from toolbench.testing.server import FakeMCPServer, ReceivedCall

__all__ = [
    "HANG_UP",
    "NEVER",
    "FakeMCPServer",
    "InTurn",
    "Raw",
    "ReceivedCall",
    "RpcError",
]
