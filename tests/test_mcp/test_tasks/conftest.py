"""Clients of a server that runs its tools as tasks, by every way to reach it."""

import json
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


@contextmanager
def sse(era):
    """The server over SSE."""
    with serving_app(app(TaskServer(era))) as url:
        yield {"url": f"{url}/sse", "transport": "sse"}


def refusing(served, is_refused, status=503):
    """The ASGI application *served*, but with *status* for each message that *is_refused* picks."""

    async def application(scope, receive, send):
        if scope.get("method") != "POST":
            await served(scope, receive, send)
            return
        parts, more = [], True
        while more:
            event = await receive()
            parts.append(event.get("body", b""))
            more = event.get("more_body", False)
        if is_refused(json.loads(b"".join(parts))):
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        events = [{"type": "http.request", "body": b"".join(parts)}]

        async def again():
            return events.pop() if events else await receive()

        await served(scope, again, send)

    return application


WAYS = {"stdio": stdio, "http": http, "sse": sse}


@pytest.fixture(params=["modern stdio", "modern http", "legacy stdio", "legacy http", "legacy sse"])
def session(request, client):
    """A session with the server, of each protocol and by each transport."""
    era, way = request.param.split()
    with WAYS[way](era) as entry:
        session = client.connect("long", entry)
        assert session.era == era
        yield session
        session.close()
