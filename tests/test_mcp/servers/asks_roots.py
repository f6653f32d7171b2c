"""A server of the older protocol that asks for roots at the start and after each announcement."""

import json
import sys

ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "serverInfo": {"name": "asking", "version": "1"},
        "capabilities": {"tools": {}},
    },
    "tools/list": {"tools": [{"name": "ping", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "pong"}]},
}
number = 0
has_roots = False
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method", "")
    if method == "initialize":
        has_roots = "roots" in message["params"]["capabilities"]
    if method in ("notifications/initialized", "notifications/roots/list_changed"):
        if has_roots:
            number += 1
            question = {"jsonrpc": "2.0", "id": f"q{number}", "method": "roots/list"}
            print(json.dumps(question), flush=True)
    elif method and "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if method in ANSWERS:
            answer["result"] = ANSWERS[method]
        else:
            answer["error"] = {"code": -32601, "message": "No"}
        print(json.dumps(answer), flush=True)
