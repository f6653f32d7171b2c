"""A server that speaks the protocols of OpenAI, Anthropic and Google, and misbehaves as it is told.

It is the other end of the real client packages: what they send is in `requests`, what they get
is the next of `replies`.
"""

import json
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from select import select
from threading import Event, Thread
from typing import Any

from patience import join

KEY = "sk-test-4f9a1c77be02"
"""The key that the clients of the tests have."""


@dataclass
class Reply:
    """What the server does with one request."""

    events: Iterable[Any] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    """Instead of events: one JSON value, or a text that is none, or bytes as they are sent."""
    then: str = "end"
    """After the events: "end", "cut" the connection, "stall" until the client goes, or "pause"."""
    rest: Iterable[Any] = ()
    """The events after a stall or a pause, once `go_on` is set; only after a pause the answer ends."""
    before: bytes = b""
    """What stands before the first event."""


def refusal(status, message, **headers):
    """What a provider says instead of an answer."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    error = {"message": message, "type": "an_error", "code": status, "status": "NO"}
    return Reply(status=status, headers=names, body={"type": "error", "error": error})


class ProviderServer:
    """The server, at `url`, with what it got and what it is to say."""

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        self.replies: list[Reply] = []
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.models: Any = ["toy"]
        """The names it lists; another value is sent as it is, None is silence."""
        self.stalling = Event()
        self.was_left = Event()
        """The client closed its connection while the server stalled."""
        self.go_on = Event()
        """The server, which stalls, sends the rest."""

    @property
    def bodies(self):
        """What was asked, without the headers."""
        return [body for _, _, body in self.requests]

    def reply(self, *replies):
        """Do these next, one a request."""
        self.replies += replies


class _Handler(BaseHTTPRequestHandler):
    """One connection; `script` is what the server is to do."""

    script: ProviderServer
    protocol_version = "HTTP/1.1"
    # Else each event of a connection that is used again waits 40 ms for the client
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def do_GET(self):
        if self.script.models is None:
            self.stall()
            return
        models = self.script.models
        if isinstance(models, list):
            models = {"data": [{"id": name} for name in models]}
        self.json(200, {}, models)

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(size))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.script.requests.append((self.path, headers, body))
        reply = self.script.replies.pop(0)
        if reply.body is not None:
            self.json(reply.status, reply.headers, reply.body)
        elif reply.then != "silence" or not self.stall():
            self.stream(reply)

    def json(self, status, headers, value):
        text = value if isinstance(value, str | bytes) else json.dumps(value)
        kind = "text/html" if isinstance(value, str) else "application/json"
        data = value if isinstance(value, bytes) else text.encode()
        self.send_response(status)
        for name, content in {"Content-Type": kind, **headers}.items():
            self.send_header(name, content)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, reply):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.events(reply.events, reply.before)
        if reply.then == "pause":
            self.stall()
            self.events(reply.rest)
            self.piece(b"")
        elif reply.then in ("stall", "silence"):
            if not self.stall():
                self.wait_for_the_end(reply.rest)
        elif reply.then == "cut":
            self.close_connection = True
        else:
            self.piece(b"")

    def events(self, events, before=b""):
        for event in events:
            kind = event.get("type") if isinstance(event, dict) else None
            head = f"event: {kind}\n" if kind else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.piece(before + f"{head}data: {data}\n\n".encode())
            before = b""

    def piece(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def stall(self):
        """Wait until the client goes, or `go_on` is set; tell whether it went."""
        self.close_connection = True
        self.script.stalling.set()
        while not self.script.go_on.is_set():
            if select([self.connection], [], [], 0.01)[0]:
                self.wait_for_the_end()
                return True
        return False

    def wait_for_the_end(self, events=()):
        try:
            self.events(events)
            if not self.connection.recv(1):
                self.script.was_left.set()
        except ConnectionError:
            self.script.was_left.set()


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that goes away is part of the tests."""


@contextmanager
def provider_server():
    """Run a server for as long as the block lasts."""
    handler = type("Handler", (_Handler,), {})
    http = _Quiet(("127.0.0.1", 0), handler)
    handler.script = script = ProviderServer(http.server_address[1])
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        http.shutdown()
        http.server_close()
        join(thread)


# --- what each provider streams -------------------------------------------------------


def cut(text, size=7):
    """*text* in pieces."""
    return [text[i : i + size] for i in range(0, len(text), size)]


def arguments_text(arguments):
    """The arguments of a call, which may be a text already, as text."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def openai_events(text, calls=(), finish=None):
    """The chunks of a chat completion, with the usage at the end."""

    def chunk(choices, **more):
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
        return {**head, "model": "toy-1", "choices": choices, **more}

    def delta(delta, finish=None):
        return chunk([{"index": 0, "delta": delta, "finish_reason": finish}])

    yield delta({"role": "assistant", "content": ""})
    for piece in cut(text):
        yield delta({"content": piece})
    for index, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": ""}
        head = {"index": index, "id": f"c{index}", "type": "function"}
        yield delta({"tool_calls": [{**head, "function": function}]})
        for piece in cut(arguments_text(arguments)):
            function = {"arguments": piece}
            yield delta({"tool_calls": [{"index": index, "function": function}]})
    yield delta({}, finish or ("tool_calls" if calls else "stop"))
    usage = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
    yield chunk([], usage=usage)
    yield "[DONE]"


def responses_events(text, calls=(), finish=None):
    """The events of a response; the last repeats it all."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
    items = [message] if text else []
    items += [
        {
            "type": "function_call",
            "id": f"fc_{index}",
            "call_id": f"c{index}",
            "name": name,
            "arguments": arguments_text(arguments),
            "status": "completed",
        }
        for index, (name, arguments) in enumerate(calls)
    ]
    usage = {
        "input_tokens": 12,
        "output_tokens": 5,
        "total_tokens": 17,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    head = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1.0,
        "model": "toy-1",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    first = {**head, "status": "in_progress", "output": []}
    yield {"type": "response.created", "sequence_number": 0, "response": first}
    for place, item in enumerate(items):
        at = {"output_index": place, "item_id": item["id"], "sequence_number": 1}
        empty = {"content": []} if item is message else {"arguments": ""}
        added = {**item, **empty}
        yield {"type": "response.output_item.added", **at, "item": added}
        if item is message:
            for piece in cut(text):
                event = {"type": "response.output_text.delta", "delta": piece}
                yield {**event, **at, "content_index": 0, "logprobs": []}
        else:
            for piece in cut(item["arguments"]):
                event = {"type": "response.function_call_arguments.delta"}
                yield {**event, **at, "delta": piece}
        yield {"type": "response.output_item.done", **at, "item": item}
    status = {"status": "completed"}
    if finish:
        status = {"status": "incomplete", "incomplete_details": {"reason": finish}}
    kind = status["status"]
    whole = {**head, "output": items, "usage": usage, **status}
    yield {"type": f"response.{kind}", "sequence_number": 9, "response": whole}


def anthropic_events(text, calls=(), finish=None):
    """The events of a message."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "toy-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": message}
    blocks = [({"type": "text", "text": ""}, "text_delta", "text", text)] if text else []
    blocks += [
        (
            {"type": "tool_use", "id": f"c{index}", "name": name, "input": {}},
            *("input_json_delta", "partial_json", arguments_text(arguments)),
        )
        for index, (name, arguments) in enumerate(calls)
    ]
    for index, (block, kind, key, whole) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for piece in cut(whole):
            delta = {"type": kind, key: piece}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = finish or ("tool_use" if calls else "end_turn")
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def gemini_events(text, calls=(), finish=None):
    """The chunks of a generated content."""

    def chunk(parts, **more):
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **more}
        usage = {"promptTokenCount": 12, "candidatesTokenCount": 5}
        head = {"modelVersion": "toy-1", "responseId": "r1", "usageMetadata": usage}
        return {**head, "candidates": [candidate]}

    for piece in cut(text):
        yield chunk([{"text": piece}])
    for name, arguments in calls:
        part = {"functionCall": {"name": name, "args": arguments}}
        yield chunk([{**part, "thoughtSignature": "c2lnbmVk"}])
    yield chunk([], finishReason=finish or "STOP")


EVENTS = {
    "openai": openai_events,
    "responses": responses_events,
    "anthropic": anthropic_events,
    "gemini": gemini_events,
}
CUT_OFF = {
    "openai": "length",
    "responses": "max_output_tokens",
    "anthropic": "max_tokens",
    "gemini": "MAX_TOKENS",
}
"""Each provider's word for an answer that reached the limit."""


def spoken(provider, text="", calls=(), finish=None, **reply):
    """A streamed answer of *provider*."""
    return Reply(list(EVENTS[provider](text, calls, finish)), **reply)
