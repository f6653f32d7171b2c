"""A program that floods a server: it opens connections, tells how many, and waits to be ended.

`python flood.py PORT KIND COUNT TOKEN`: its standard input ends it.
"""

import json
import socket
import sys

HEAD = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
KNOWN = (
    HEAD + "Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    "Accept: application/json, text/event-stream\r\n"
)
LISTEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "subscriptions/listen",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "flood", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
        "notifications": {"toolsListChanged": True},
    },
}
BODY = json.dumps(LISTEN)
# `HEAD` and `KNOWN` are filled in, the body is not
KINDS = {
    "silent": ("", ""),
    "half a line": ("POST /mc", ""),
    "half the headers": (HEAD, ""),
    "half a body without a token": (HEAD + "Content-Length: 4000\r\n\r\n", BODY),
    "half a body": (KNOWN + "Content-Length: 4000\r\n\r\n", BODY),
    "a stream": (
        KNOWN + "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
        f"Content-Length: {len(BODY)}\r\n\r\n",
        BODY,
    ),
}


def main(port, kind, count, token):
    head, body = KINDS[kind]
    sent = (head.format(port=port, token=token) + body).encode()
    sockets = []
    for _ in range(int(count)):
        one = socket.socket()
        one.settimeout(5)
        try:
            one.connect(("127.0.0.1", int(port)))
            one.sendall(sent)
        except OSError:
            # It was refused
            one.close()
            continue
        sockets.append(one)
    print(len(sockets), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
