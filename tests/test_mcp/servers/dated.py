"""A server of the newer protocol whose answers are fresh for a time: `dated.py TTL_MS [LIST_MS]`.

Each answer has a number that counts the answers. A call of `tell` sends the notification in its
argument, on the stream that is open for it.
"""

import json
import sys

TTL = int(sys.argv[1])
count = 0
stream = None


def send(message):
    """Write one message."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(method, params):
    """The result of a request."""
    if method == "server/discover":
        changes = {"listChanged": True}
        return {
            "supportedVersions": ["2026-07-28"],
            "serverInfo": {"name": "dated", "version": "1"},
            "capabilities": {
                "tools": changes,
                "prompts": changes,
                "resources": {**changes, "subscribe": True},
            },
        }
    text = f"answer {count}"
    tools = [{"name": n, "inputSchema": {"type": "object"}} for n in ("tell", text)]
    return {
        "tools/list": {"tools": tools},
        "resources/list": {"resources": [{"uri": "d://a", "name": text}]},
        "resources/templates/list": {"resourceTemplates": []},
        "prompts/list": {"prompts": [{"name": text}]},
        "resources/read": {"contents": [{"uri": params.get("uri"), "text": text}]},
        "tools/call": {"content": [{"type": "text", "text": "sent"}]},
    }[method]


for line in sys.stdin:
    request = json.loads(line)
    method, params = request.get("method"), request.get("params") or {}
    if "id" not in request:
        continue
    if method == "subscriptions/listen":
        stream = request["id"]
        meta = {"io.modelcontextprotocol/subscriptionId": stream}
        agreed = {"notifications": params["notifications"], "_meta": meta}
        send({"method": "notifications/subscriptions/acknowledged", "params": agreed})
        continue
    count += 1
    if method == "tools/call":
        arguments = params["arguments"]
        meta = {"io.modelcontextprotocol/subscriptionId": stream}
        send(
            {
                "method": arguments["method"],
                "params": {**arguments["params"], "_meta": meta},
            }
        )
    result = answer(method, params)
    send(
        {
            "id": request["id"],
            "result": {
                **result,
                "resultType": "complete",
                "ttlMs": TTL,
                "cacheScope": "private",
            },
        }
    )
