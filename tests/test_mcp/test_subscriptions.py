"""News of lists and resources, in both eras."""

import json
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic

import pytest
from mcp.server.mcpserver import Context, MCPServer
from patience import PATIENCE, eventually

from test_mcp.peers import light, scripted
from toolbench.errors import ServerError


@pytest.fixture
def newsroom():
    """A server of the newer protocol that tells its subscribers what changes."""
    server = MCPServer("newsroom")

    @server.resource("news://today")
    def today() -> str:
        return "nothing new"

    @server.tool()
    async def publish(ctx: Context) -> str:
        await ctx.notify_resource_updated("news://today")
        return "published"

    @server.tool()
    async def hire(ctx: Context) -> str:
        server.add_tool(lambda: "hello", name="greet", description="x")
        await ctx.notify_tools_changed()
        return "hired"

    return server


def acknowledged(session):
    """Whether the server has taken our subscription."""
    return session.traffic.find(method="notifications/subscriptions/acknowledged")


def heard(session, fact):
    """An event that is set once *fact* holds after some news."""
    event = threading.Event()
    session.observe(lambda names: event.set() if fact() else None)
    return event


class TestNews:
    def test_of_a_resource_reaches_who_subscribed(self, client, newsroom):
        """A changed resource is told, once however often it changes."""
        session = client.connect("news", newsroom)
        session.resources.subscribe("news://today")
        news = heard(session, lambda: session.resources.updated)
        eventually(lambda: acknowledged(session))
        session.tool("publish")({})
        session.tool("publish")({})
        assert news.wait(PATIENCE)
        assert session.resources.updated == ["news://today"]
        session.resources.unsubscribe("news://today")

    def test_of_the_tools_refreshes_the_list(self, client, newsroom):
        """A server that takes on a tool says so over its stream."""
        session = client.connect("news", newsroom)
        assert session.era == "modern"
        news = heard(session, lambda: session.tools.last_change)
        eventually(lambda: acknowledged(session))
        session.tool("hire")({})
        assert news.wait(PATIENCE)
        assert session.tools.last_change.added == ("greet",)

    def test_a_refusal_is_told(self, client):
        """An older server that does not know subscriptions says so."""
        session = client.connect("light", light("light", "x"))
        with pytest.raises(ServerError, match="did not subscribe us to 'x://y'"):
            session.resources.subscribe("x://y")
        assert session.resources.updated == []


def answering(directory, answers):
    """The entry of a server that gives these *answers* to subscriptions."""
    return scripted(directory / "script", {"resources/subscribe": answers})


class TestReconnecting:
    @pytest.mark.parametrize(
        ("answers", "why"),
        [
            (
                [{"error": {"code": -32002, "message": "gone"}}],
                "gone (MCP error -32002)",
            ),
            ([], "no answer within 3 s"),
        ],
    )
    def test_outlives_a_resource_that_is_gone(self, client, tmp_path, answers, why):
        """What can be heard of no more is told as a problem, and stops nothing else."""
        client.timeout = 3
        session = client.connect("s", answering(tmp_path, [{"result": {}}]))
        session.resources.subscribe("x://y")
        answering(tmp_path, answers)
        session.reconnect()
        assert session.problems == [f"no updates of 'x://y': {why}"]
        assert session.call("t").text == "fine"
        session.resources.unsubscribe("x://y")
        assert session.problems == []

    def test_asks_for_nothing_that_was_given_up(self, client, tmp_path):
        """A resource is forgotten even where the server was lost before it could be told."""
        session = client.connect("s", answering(tmp_path, [{"result": {}}]))
        session.resources.subscribe("x://y")
        os.kill(session.connection.pid, signal.SIGKILL)
        eventually(lambda: session.status == "lost")
        with pytest.raises(ServerError, match="did not unsubscribe us"):
            session.resources.unsubscribe("x://y")
        requests = session.traffic.find(method="resources/subscribe", kind="request")
        assert len(requests) == 1


class CutStream(BaseHTTPRequestHandler):
    """A server behind a proxy that cuts each event stream; in both eras."""

    protocol_version = "HTTP/1.1"
    # When each was opened
    streams = ()
    tools = ("a",)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if message["method"] == "subscriptions/listen":
            names = {"io.modelcontextprotocol/subscriptionId": message["id"]}
            params = {"notifications": {"toolsListChanged": True}, "_meta": names}
            method = "notifications/subscriptions/acknowledged"
            self.stream({"jsonrpc": "2.0", "method": method, "params": params})
            return
        described = {"capabilities": {"tools": {"listChanged": True}}}
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in type(self).tools]
        about = {"name": "h", "version": "1"}
        old = {"protocolVersion": "2025-11-25", "serverInfo": about, **described}
        results = {
            "initialize": old,
            "server/discover": {"supportedVersions": ["2026-07-28"], **described},
            "tools/list": {"tools": tools},
        }
        whole = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        result = {**whole, **results.get(message["method"], {})}
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response(200 if "id" in message else 202)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("mcp-session-id", "1")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.stream({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    def do_DELETE(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def stream(self, message):
        """Send one event, and end within the body."""
        type(self).streams += (monotonic(),)
        event = f"retry: 10\ndata: {json.dumps(message)}\n\n".encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.flush()
        self.close_connection = True

    def log_message(self, *parts):
        """Say nothing."""


@pytest.fixture
def proxy():
    """The class of what answers behind the proxy, with its URL."""
    handler = type("Handler", (CutStream,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        handler.url = f"http://127.0.0.1:{http.server_port}/mcp"
        yield handler
        http.shutdown()


class TestACutStream:
    def test_is_opened_again(self, proxy, client):
        """What changed meanwhile is seen; until then a problem says that no updates come."""
        session = client.connect("h", proxy.url)
        said = (
            "notifications of changed lists and resources stopped: their stream was cut. "
            "toolbench opens their stream again by itself; reconnect() does it now."
        )
        eventually(lambda: session.problems == [said])
        proxy.tools = ("a", "b")
        eventually(lambda: len(session.tools) == 2)
        # A server that is in trouble is not asked without a pause
        assert proxy.streams[1] - proxy.streams[0] >= 1
        session.close()

    def test_of_the_older_protocol_is_opened_again_however_often(self, proxy, client):
        """Not only twice, as the SDK does by itself."""
        session = client.connect("h", proxy.url, mode="legacy")
        eventually(lambda: len(proxy.streams) > 3)
        session.close()
