"""Clients of a server that runs its tools as tasks, by every way to reach it."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from test_mcp.peers import serving_app
from test_mcp.task_server import TaskServer, app

SERVER = Path(__file__).parents[1] / "task_server.py"


def task_entry(era):
    """The entry of the server as a process."""
    return {"command": sys.executable, "args": [str(SERVER), era]}


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


@pytest.fixture(params=["stdio", "http"])
def session(request, client):
    """A session with the server, by each transport."""
    with ExitStack() as stack:
        entry = task_entry("modern")
        if request.param == "http":
            entry = stack.enter_context(serving_app(app(TaskServer("modern")))) + "/mcp"
        session = client.connect("long", entry)
        assert session.era == "modern"
        yield session
        session.close()
