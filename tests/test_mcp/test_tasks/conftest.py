"""Clients of a server that runs its tools as tasks, by every way to reach it."""

import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from test_mcp.peers import serving_app
from test_mcp.task_server import TaskServer, app

SERVER = Path(__file__).parents[1] / "task_server.py"


def task_entry(era, *file):
    """The entry of the server as a process."""
    return {"command": sys.executable, "args": [str(SERVER), era, *map(str, file)]}


@contextmanager
def stdio(era):
    """The server as a process."""
    yield task_entry(era)


@contextmanager
def http(era):
    """The server over HTTP."""
    with serving_app(app(TaskServer(era))) as url:
        yield f"{url}/mcp"


@pytest.fixture(params=["modern stdio", "modern http", "legacy stdio", "legacy http"])
def session(request, client):
    """A session with the server, of each protocol and by each transport."""
    era, way = request.param.split()
    with {"stdio": stdio, "http": http}[way](era) as entry:
        session = client.connect("long", entry)
        assert session.era == era
        yield session
        session.close()
