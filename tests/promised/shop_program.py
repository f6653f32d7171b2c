"""An MCP server as a program, of which a first connection approves what it offers."""

import json
import os
import sys

TOOL = {
    "name": "price",
    "description": os.environ.get("SAYS", "The price of a good."),
    "inputSchema": {"type": "object", "properties": {"of": {"type": "string"}}},
}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "serverInfo": {"name": "shop", "version": "1"},
        "capabilities": {"tools": {}},
        "instructions": "Ask for the price first.",
    },
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "3 euros"}]},
}

for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = RESULTS.get(request["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
