"""What an HTTP server answers in a way the SDK would refuse, and what is made of it."""

import asyncio
import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbench.mcp.wire.lenient_http import MendedEvents

DEEP = '{"a":' * 300 + "1" + "}" * 300
GOOD = '{"name":"good","inputSchema":{"type":"object"}}'
# As they are written
RESULTS = {
    "initialize": '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
    '"serverInfo":{"name":"s","version":"1"}}',
    "tools/list": f'{{"tools":[{GOOD},{{"name":"deep","inputSchema":{DEEP}}}]}}',
    "good": '{"content":[{"type":"text","text":"the \\"method\\""}]}',
    "nothing": "null",
    "half": r'{"content":[{"type":"text","text":"before \ud83d after"}]}',
}


class Odd(BaseHTTPRequestHandler):
    """Answers in JSON or in events, and not as it should."""

    def do_POST(self):
        """Answer one request."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = request.get("params", {}).get("name", request["method"])
        result = RESULTS.get(name)
        outcome = f'"result":{result}' if result else '"error":{"code":-32601,"message":"?"}'
        answer = f'{{"jsonrpc":"2.0","id":{json.dumps(request.get("id"))},{outcome}}}'
        in_events = self.path == "/events"
        body = f"event: message\r\ndata: {answer}\r\n\r\n" if in_events else answer
        kind = "text/event-stream" if in_events else "application/json"
        self.send_response(200 if "id" in request else 202)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        """Refuse: there is nothing else to hear."""
        self.send_error(405)

    def log_message(self, *parts):
        """Say nothing."""


@contextmanager
def odd_server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    Thread(target=server.serve_forever).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class TestAnswers:
    @pytest.mark.parametrize("way", ["json", "events"])
    def test_are_mended_however_they_come(self, client, way):
        """A deep tool hides no other; no result is told; half a character is replaced."""
        with odd_server() as url:
            session = client.connect("odd", f"{url}/{way}", mode="legacy")
            assert [tool.name for tool in session.tools] == ["good", "deep"]
            assert session.call("good").text == 'the "method"'
            assert "result is null" in session.call("nothing").text
            assert session.call("half").text == "before \ufffd after"
            client.sync_close()


class Chunks(httpx2.AsyncByteStream):
    """A stream of the given chunks."""

    def __init__(self, chunks):
        self.chunks = chunks

    async def __aiter__(self):
        for chunk in self.chunks:
            yield chunk


def mended(chunks):
    async def read():
        return b"".join([chunk async for chunk in MendedEvents(Chunks(chunks))])

    return asyncio.run(read())


class TestEvents:
    WHOLE = (
        b'event: message\nid: 1\ndata: {"jsonrpc":"2.0","id":1,"result":null}\n\n'
        b': still there\n\ndata: {"jsonrpc":"2.0","id":2,"result":{}}\n\n'
        b"data: priming\n\ndata"
    )

    @given(st.lists(st.integers(0, len(WHOLE)), max_size=8).map(sorted))
    def test_may_be_cut_anywhere(self, cuts):
        """The messages are the same, wherever a chunk ends."""
        edges = zip([0, *cuts], [*cuts, len(self.WHOLE)], strict=True)
        chunks = [self.WHOLE[start:end] for start, end in edges]
        assert mended(chunks) == mended([self.WHOLE])

    def test_are_left_alone_if_nothing_is_wrong(self):
        """Everything but the message to mend, and what is none, goes through byte for byte."""
        first, last = self.WHOLE.split(b'"result":null}', 1)
        whole = mended([self.WHOLE])
        assert whole.startswith(first.partition(b"data")[0])
        assert whole.endswith(last.replace(b"data: priming\n\n", b""))
        assert b"result is null" in whole

    def test_are_not_held_back_where_lines_end_in_another_way(self):
        """A stream may end its lines by carriage returns alone."""
        event = b'data: {"jsonrpc":"2.0","id":1,"result":{}}'

        async def first():
            stream = aiter(MendedEvents(Chunks([event + b"\r\r", b"data: 2"])))
            return await anext(stream)

        assert asyncio.run(first()) == event + b"\n\n"

    def test_one_that_cannot_be_read_ends_the_request_at_once(self):
        """The stream may stay open for ever; other noise before the answer is left out."""

        async def first():
            chunks = Chunks([b"data: noise\n\n", b'data: {"id":7,"result":{bad\n\n'])
            stream = aiter(MendedEvents(chunks, 7))
            event = await anext(stream)
            await stream.aclose()
            return event

        assert b'"id": 7, "error"' in asyncio.run(first())
        good = b'data: {"jsonrpc":"2.0","id":7,"result":{}}\n\n'

        async def read():
            chunks = Chunks([b"data: noise\n\n", good])
            return b"".join([chunk async for chunk in MendedEvents(chunks, 7)])

        assert asyncio.run(read()) == good
