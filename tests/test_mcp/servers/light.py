"""A server of the older protocol that starts at once: `light.py NAME TOOL...`.

Each tool answers with NAME. With `--after THERE HERE` it starts once the file HERE is there,
after making the file THERE.
"""

import json
import sys
import time
from pathlib import Path

words = sys.argv[1:]
if words[0] == "--after":
    _, there, here, *words = words
    Path(there).touch()
    end = time.time() + 15
    while not Path(here).exists() and time.time() < end:
        time.sleep(0.01)
name, *tools = words
INFO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": name, "version": "1"},
}
RESULTS = {
    "initialize": INFO,
    "tools/list": {
        "tools": [{"name": t, "inputSchema": {"type": "object"}} for t in tools]
    },
    "tools/call": {"content": [{"type": "text", "text": name}]},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = RESULTS.get(request["method"])
        answer = (
            {"result": result}
            if result
            else {"error": {"code": -32601, "message": "No"}}
        )
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
