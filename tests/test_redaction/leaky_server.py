"""An MCP server that tells its secrets and those of its calls everywhere: `leaky_server ERA`."""

import json
import os
import sys

from test_redaction.writings import writings

END = "that was all"
TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "password": TEXT,
        "code": {**TEXT, "format": "password"},
        "seal": {**TEXT, "writeOnly": True},
        "login": {"type": "object", "properties": {"token": TEXT}},
        "api_keys": {"type": "array", "items": TEXT},
        "cookies": {"type": "object", "additionalProperties": TEXT},
        "body": TEXT,
        "note": TEXT,
        "how": TEXT,
        "lane": TEXT,
    },
    "if": {"properties": {"how": {"const": "badge"}}, "required": ["how"]},
    "then": {"properties": {"badge": {**TEXT, "format": "password"}}},
    "dependentSchemas": {"lane": {"properties": {"stamp": {**TEXT, "format": "password"}}}},
}
CAPABILITIES = {"tools": {}, "logging": {}}
NAME = {"name": "leaky", "version": "1"}
ERAS = {
    "legacy": {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": CAPABILITIES,
            "serverInfo": NAME,
        }
    },
    "modern": {
        "server/discover": {
            "supportedVersions": ["2026-07-28"],
            "capabilities": CAPABILITIES,
            "_meta": {"io.modelcontextprotocol/serverInfo": NAME},
        }
    },
}
MORE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
# Nobody is asked before
HINTS = {"readOnlyHint": True}
TOOLS = [
    {
        "name": name,
        "description": f"Tell what the server knows: {os.environ.get('API_TOKEN')}.",
        "inputSchema": SCHEMA,
        "annotations": HINTS,
        "_meta": {"note": os.environ.get("API_TOKEN")},
    }
    for name in ("tell", "fail")
]


def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def texts(value):
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in texts(v)] if isinstance(value, list) else [value]


def called(params):
    secrets = [*texts(params["arguments"]), os.environ.get("API_TOKEN", "")]
    text = "\n".join(writings(secret) for secret in filter(None, secrets))
    print(text, file=sys.stderr, flush=True)
    print(f"noise {text[:9]}", flush=True)
    say(method="notifications/message", params={"level": "info", "data": text})
    token = params.get("_meta", {}).get("progressToken")
    progress = {"progressToken": token, "progress": 1, "message": text}
    say(method="notifications/progress", params=progress)
    print(END, file=sys.stderr, flush=True)
    failed = params["name"] == "fail"
    return {"content": [{"type": "text", "text": text}], "isError": failed, **more}


if __name__ == "__main__":
    first = ERAS[sys.argv[1]]
    more = MORE if sys.argv[1] == "modern" else {}
    for line in sys.stdin:
        request = json.loads(line)
        match request:
            case {"id": number, "method": method} if method in first:
                say(id=number, result=first[method] | more)
            case {"id": number, "method": "tools/list"}:
                say(id=number, result={"tools": TOOLS, **more})
            case {"id": number, "method": "tools/call", "params": params}:
                say(id=number, result=called(params))
            case {"id": number}:
                say(id=number, error={"code": -32601, "message": "No such method"})
