"""Answers that are too long: each way ends soon, in a sentence, and takes no more memory."""

import gzip
import json
import resource
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from patience import join
from payload_bombs import bomb

from toolbench.errors import ServerError
from toolbench.mcp.wire.stdio import Lines
from toolbench.network import MOST_BYTES

EVENT = b'data: {"jsonrpc":"2.0","id":1,"result":{"x":"'


def events():
    """A stream whose first event does not end."""
    return bomb(head=EVENT)


# The kind of the answer, its status, its encoding, its body
WAYS = {
    "gzip": ("application/json", 200, "gzip", bomb),
    "deflate": ("application/json", 200, "deflate", lambda: bomb("deflate")),
    "packed twice": ("application/json", 200, "gzip, gzip", lambda: gzip.compress(bomb())),
    "event": ("text/event-stream", 200, "gzip", events),
    "endless": ("application/json", 200, None, None),
    "failure": ("application/json", 500, "gzip", bomb),
    "failure in events": ("text/event-stream", 500, "gzip", events),
}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1"},
    },
    "tools/list": {"tools": [{"name": name, "inputSchema": {}} for name in (*WAYS, "good")]},
    "good": {"content": [{"type": "text", "text": "fine"}]},
}


class Bombing(BaseHTTPRequestHandler):
    """Answers each tool in its way."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        """Answer one request."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = request.get("params", {}).get("name", request["method"])
        if self.path == "/protected":
            host = self.headers["host"]
            self.send_response(401)
            self.send_header("www-authenticate", f'Bearer resource_metadata="http://{host}/bomb"')
            self.send_header("content-length", "0")
            self.end_headers()
            return
        if name in WAYS:
            kind, status, encoding, body = WAYS[name]
        else:
            kind, status, encoding = "application/json", 200 if "id" in request else 202, None
            answer = {"jsonrpc": "2.0", "id": request.get("id"), "result": RESULTS.get(name, {})}
            body = json.dumps(answer).encode
        self.send_response(status)
        self.send_header("content-type", kind)
        if encoding:
            self.send_header("content-encoding", encoding)
        data = body() if body else None
        if data is None:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(len(data)))
        self.end_headers()
        # The client goes away
        with suppress(OSError):
            while data is None:
                self.wfile.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            self.wfile.write(data)

    def do_GET(self):
        """Answer with a bomb, where a client asks who authorizes, or for the older stream."""
        kinds = {"/bomb": ("application/json", bomb), "/sse": ("text/event-stream", events)}
        if self.path not in kinds:
            self.send_error(405)
            return
        kind, body = kinds[self.path]
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body())))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body())

    def log_message(self, *parts):
        """Say nothing."""


class Quiet(ThreadingHTTPServer):
    """A server whose clients may go away."""

    def handle_error(self, request, client_address):
        """A client that goes away is part of the tests."""


@contextmanager
def bombing_server():
    """Run the server for as long as the block lasts."""
    server = Quiet(("127.0.0.1", 0), Bombing)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        join(thread)


@pytest.mark.slow
def test_every_answer_over_http_has_a_limit_after_decompression(client):
    """The next call works, and the memory never held much more than the limit."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with bombing_server() as url:
        session = client.connect("s", f"{url}/mcp", mode="legacy")
        for name in WAYS:
            text = session.call(name).text
            assert f"more than {MOST_BYTES:,} bytes" in text, name
            assert ("HTTP 500" in text) == name.startswith("failure")
        assert session.call("good").text == "fine"
        client.sync_close()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    assert grown < 3 * MOST_BYTES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"path": "/protected", "auth": "oauth"}, f"more than {MOST_BYTES:,} bytes"),
        ({"path": "/sse", "transport": "sse"}, f"exceeded the {MOST_BYTES} byte limit"),
    ],
)
def test_what_comes_before_a_connection_has_the_limit_too(client, entry, words):
    """Who authorizes, and the stream of the older transport."""
    with bombing_server() as url:
        settings = {key: value for key, value in entry.items() if key != "path"}
        with pytest.raises(ServerError, match=words):
            client.connect("s", {"url": url + entry["path"], "mode": "legacy", **settings})
        client.sync_close()


@pytest.mark.slow
def test_a_line_that_is_too_long_becomes_an_error_with_its_size():
    """The call that waits for it ends; the lines after it are read."""
    lines = Lines()
    piece = b"a" * (1 << 20)
    got = lines.feed(b'{"jsonrpc":"2.0","id":7,"result":{"x":"')
    for _ in range(150):
        got += lines.feed(piece)
    assert sum(map(len, lines.pending)) < MOST_BYTES / 10
    got += lines.feed(b'"}}\n{"jsonrpc":"2.0"}\n')
    refused, other = got
    answer = json.loads(refused)
    assert answer["id"] == 7
    assert "too long: it has 157,286,442 bytes, and more than 100,000,000" in str(answer)
    assert other == b'{"jsonrpc":"2.0"}'
