"""Named ways to spoil what carries an answer over HTTP: the response, or the stream of events.

`RESULT` and `@ID@` stand for the result and the id of the request.
"""

from test_mcp.test_mutated_answers.http_server import Events, Http
from test_mcp.test_mutated_answers.mutations import OK

LONG = "long " * 40_000
_JSON = "Content-Type: application/json\r\n"
_EVENTS = "Content-Type: text/event-stream\r\n"


def _page(status, head=_JSON, body=""):
    end = f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    return f"HTTP/1.1 {status}\r\n{head}{end}{body}"


RESPONSES = {
    "no-content": "HTTP/1.1 204 No Content\r\n\r\n",
    "accepted": _page("202 Accepted"),
    "not-modified": "HTTP/1.1 304 Not Modified\r\n\r\n",
    "partial": _page("206 Partial Content", body="{"),
    "bad-request": _page("400 Bad Request", body="no"),
    "bad-request-with-an-odd-error": _page("400 Bad Request", body='{"error": [1, 2]}'),
    "bad-request-without-an-id": _page("400 Bad Request", body='{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "What?"}}'),
    "unauthorized": _page("401 Unauthorized"),
    "unauthorized-with-an-odd-challenge": _page("401 Unauthorized", "WWW-Authenticate: \x00\x01,,,==\r\n"),
    "forbidden": _page("403 Forbidden", body="<html>"),
    "too-many": _page("429 Too Many Requests", "Retry-After: 99999999999\r\n"),
    "an-error-in-html": _page("500 Oops", "Content-Type: text/html\r\n", "<h1>Down</h1>" * 9_000),
    "an-error-with-marks-of-a-terminal": _page("500 \x1b[31mred", "Content-Type: text/plain\r\n", "\x1b[2J\x07bell"),
    "an-error-of-an-unknown-status": _page("799 Odd"),
    "a-status-of-two-digits": _page("20 Short"),
    "a-page": _page("200 OK", "Content-Type: text/html\r\n", "<h1>Welcome</h1>"),
    "a-picture": _page("200 OK", "Content-Type: image/png\r\n", "\x89PNG"),
    "no-kind": _page("200 OK", "", "{}"),
    "an-odd-kind": _page("200 OK", "Content-Type: ;;;\xff/=\r\n", "{}"),
    "a-kind-of-100-kB": _page("200 OK", f"Content-Type: {'x' * 100_000}\r\n", "{}"),
    "nothing-at-all": "",
    "half-a-head": "HTTP/1.1 200 OK\r\nContent-Ty",
    "no-http": "SSH-2.0-OpenSSH_9.6\r\n",
    "a-head-without-end": "HTTP/1.1 200 OK\r\n" + "X-More: 1\r\n" * 20_000,
    "a-length-too-large": f"HTTP/1.1 200 OK\r\n{_JSON}Content-Length: 900000\r\n\r\n" + '{"jsonrpc"',
    "a-length-below-zero": f"HTTP/1.1 200 OK\r\n{_JSON}Content-Length: -1\r\n\r\n" + "{}",
    "two-lengths": f"HTTP/1.1 200 OK\r\n{_JSON}Content-Length: 1\r\nContent-Length: 2\r\n\r\n" + "{}",
    "chunks-without-end": f"HTTP/1.1 200 OK\r\n{_JSON}Transfer-Encoding: chunked\r\n\r\n5\r\n{{    \r\n",
    "chunks-of-odd-size": f"HTTP/1.1 200 OK\r\n{_JSON}Transfer-Encoding: chunked\r\n\r\nzz\r\n{{}}\r\n",
    "compressed-and-not": _page("200 OK", f"{_JSON}Content-Encoding: gzip\r\n", "{}"),
    "compressed-in-an-odd-way": _page("200 OK", f"{_JSON}Content-Encoding: odd\r\n", "{}"),
    "events-compressed-and-not": _page("200 OK", f"{_EVENTS}Content-Encoding: gzip\r\n", "data: {}\n\n"),
    "in-another-alphabet": _page("200 OK", "Content-Type: application/json; charset=utf-16\r\n", "{\x00}\x00"),
    "in-an-unknown-alphabet": _page("200 OK", "Content-Type: text/event-stream; charset=odd\r\n", "data: {}\n\n"),
    "an-empty-body": _page("200 OK"),
    "events-and-none": _page("200 OK", _EVENTS),
    "moved-to-itself": _page("307 Temporary Redirect", "Location: #\r\n"),
    "moved-to-nowhere": _page("302 Found", ""),
    "moved-to-another-port": _page("308 Permanent Redirect", "Location: http://127.0.0.1:1/mcp\r\n"),
    "moved-to-a-file": _page("307 Temporary Redirect", "Location: file:///etc/passwd\r\n"),
    "moved-to-no-address": _page("307 Temporary Redirect", "Location: http://[::1\r\n"),
    "an-odd-session": _page("200 OK", f"{_JSON}Mcp-Session-Id: \xff\xfe odd\r\n", "{}"),
    "two-answers-at-once": _page("200 OK", body="{}") + _page("200 OK", body="{}"),
    "an-upgrade": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
}  # fmt: skip
"""By name, responses in which there is no answer: each ends the wait."""

STREAMS = {
    "with-crlf": f"data: {OK}\r\n\r\n",
    "with-cr": f"data: {OK}\r\r",
    "without-a-blank": f"data:{OK}\n\n",
    "with-a-byte-order-mark": f"\xef\xbb\xbfdata: {OK}\n\n",
    "with-comments": f": {LONG}\n:\n\ndata: {OK}\n\n",
    "with-a-name": f"event: message\nid: 1\ndata: {OK}\n\n",
    "with-an-odd-id": f"id: \x00\x07\xff\ndata: {OK}\n\n",
    "with-an-odd-pause": f"retry: -5\nretry: x\nretry: {'9' * 400}\ndata: {OK}\n\n",
    "with-unknown-fields": f"odd: 1\nodd\ndata: {OK}\n\n",
    "on-many-lines": "data: " + OK.replace(", ", ",\ndata: ") + "\n\n",
    "after-an-unknown-event": f"event: odd\ndata: {{}}\n\ndata: {OK}\n\n",
    "after-an-error-event": f"event: error\ndata: no\n\ndata: {OK}\n\n",
    "after-an-empty-event": f"data:\n\ndata: {OK}\n\n",
    "after-a-primed-event": f"id: 7\ndata:\n\ndata: {OK}\n\n",
    "after-another-endpoint": f"event: endpoint\ndata: http://127.0.0.1:1/x\n\ndata: {OK}\n\n",
    "after-an-unknown-notification": 'data: {"jsonrpc": "2.0", "method": "odd"}\n\n' + f"data: {OK}\n\n",
    "after-a-notification-without-sense": 'data: {"jsonrpc": "2.0", "method": "notifications/progress", "params": [1]}\n\n' + f"data: {OK}\n\n",
}  # fmt: skip
"""By name, streams of events in which there is an answer, which is taken or refused."""

SILENT_STREAMS = {
    "no-line-end": f"data: {OK}",
    "no-blank-line": f"data: {OK}\n",
    "comments-only": ": still there\n\n" * 20,
    "an-unknown-event-only": f"event: odd\ndata: {OK}\n\n",
    "an-empty-event-only": "data:\n\n",
    "a-notification-only": 'data: {"jsonrpc": "2.0", "method": "notifications/odd"}\n\n',
    "blank-lines-only": "\n\n\n\n",
    "binary": "\x00\xff\x80\n\n",
}  # fmt: skip
"""By name, streams of events that end, and have no answer in them."""


def responses():
    """`RESPONSES`, by name."""
    return {name: Http(text) for name, text in RESPONSES.items()}


def streams(result, texts):
    """The *texts* of streams with *result* in them, by name."""
    return {name: Events(text.replace("RESULT", result)) for name, text in texts.items()}
