"""A server over HTTP that answers as real ones did, but for what a plan says.

The path chooses how answers travel: `/json`, `/events` (a stream for each answer), or `/sse` (the
older transport: one stream for all answers). The plan has, by method, what is written instead: a
text of messages, or an `Http`, a whole response. `@ID@` stands for the id of the request.
"""

import json
import queue
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from patience import join

UNKNOWN = {"error": {"code": -32601, "message": "Method not found"}}


@dataclass(frozen=True)
class Http:
    """A response byte for byte, after which the connection ends."""

    text: str


@dataclass(frozen=True)
class Events:
    """The text of a stream of events, in any way."""

    text: str


class AnsweringServer(ThreadingHTTPServer):
    """Answers requests with *answers*, by method, or with what `plan` has."""

    daemon_threads = True

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = answers
        self.plan = {}
        self.streams = queue.SimpleQueue()
        self.open = []
        self.over = Event()

    def url(self, way):
        """The URL at which answers travel in this *way*."""
        return f"http://127.0.0.1:{self.server_port}/{way}"

    def keep(self, **plan):
        """Answer as planned; without a plan, all answers are the real ones."""
        self.plan = plan

    def answer(self, request):
        """What is written for *request*."""
        method, identity = request["method"], json.dumps(request["id"])
        planned = self.plan.get(method)
        if planned is None:
            known = method in self.answers
            body = {"result": self.answers[method]} if known else UNKNOWN
            return json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}) + "\n"
        if isinstance(planned, str):
            return planned.replace("@ID@", identity)
        return type(planned)(planned.text.replace("@ID@", identity))

    def handle_error(self, request, address):
        """Say nothing: clients leave in the middle of odd answers."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: AnsweringServer

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in request or "method" not in request:
            self._send(202, "", "")
        elif self.path == "/sse":
            self._send_by_stream(request)
        elif request["method"] == "subscriptions/listen":
            self._hold_open()
        else:
            self._send_answer(self.server.answer(request))

    def do_GET(self):
        if self.path != "/sse":
            self._send(405, "", "")
            return
        stream = queue.SimpleQueue()
        self.server.open.append(stream)
        self.close_connection = True
        self._head(200, "text/event-stream", "connection", "close")
        self._write("event: endpoint\ndata: /sse\n\n")
        while not self.server.over.is_set():
            try:
                self._write(stream.get(timeout=0.2))
            except queue.Empty:
                self._write(": still there\n\n")

    def do_DELETE(self):
        self._send(200, "", "")

    def _send_by_stream(self, request):
        answer = self.server.answer(request)
        if isinstance(answer, Http):
            self._send_answer(answer)
            return
        text = answer.text if isinstance(answer, Events) else events(answer)
        self.server.open[-1].put(text)
        self._send(202, "", "")

    def _send_answer(self, answer):
        if isinstance(answer, Http):
            self._write(answer.text)
            self.close_connection = True
        elif isinstance(answer, Events):
            self._send(200, "text/event-stream", answer.text)
        elif self.path == "/json":
            self._send(200, "application/json", answer)
        else:
            self._send(200, "text/event-stream", events(answer))

    def _hold_open(self):
        self._head(200, "text/event-stream", "connection", "close")
        self.close_connection = True
        while not self.server.over.wait(0.2):
            self._write(": still there\n\n")

    def _send(self, status, kind, body):
        data = body.encode("latin-1")
        self._head(status, kind, "content-length", str(len(data)))
        self.wfile.write(data)

    def _head(self, status, kind, name, value):
        self.send_response(status)
        if kind:
            self.send_header("content-type", kind)
        self.send_header(name, value)
        self.end_headers()

    def _write(self, text):
        self.wfile.write(text.encode("latin-1"))
        self.wfile.flush()

    def log_message(self, *parts):
        """Say nothing."""


def events(text):
    """The lines of *text*, each as an event."""
    return "".join(f"data: {line}\n\n" for line in text.split("\n") if line)


@contextmanager
def answering(answers):
    """The server, until the end of the `with`."""
    server = AnsweringServer(answers)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        join(thread)
