"""Clients for the tests, and the proof that no server outlives its test."""

import pytest
from patience import PATIENCE, eventually

from test_mcp.peers import children, is_running
from toolbench.core.background_loop import portal
from toolbench.mcp import MCPClient
from toolbench.mcp.connection.attempt import older_only_servers


@pytest.fixture(autouse=True)
def no_server_is_known():
    """What an earlier test saw of a server's age decides nothing."""
    older_only_servers.clear()


@pytest.fixture
def client():
    """A client whose servers are gone afterwards, also those that never connected."""
    before = children()
    with MCPClient(timeout=PATIENCE) as client:
        yield client
    eventually(lambda: not any(map(is_running, children() - before)))


@pytest.fixture(scope="module")
def shared():
    """A client for tests that only look: connect a server once per module."""
    with MCPClient(timeout=PATIENCE) as client:
        yield client


@pytest.fixture(scope="session", autouse=True)
def loop_ends():
    """The background loop ends with the tests."""
    yield
    portal.close()
