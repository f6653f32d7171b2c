"""A server of the older protocol that starts at once: `light.py NAME TOOL...`.

Each tool answers with NAME. With `--after THERE HERE` it starts once the file HERE is there,
after making the file THERE; with `--lingers THERE HERE` it ends in the same way. With
`--dead-inside` it stops at the probe for the newer protocol, and ends when it has read one more
line, as servers of early Python SDKs do. With `--flood` it never stops talking once a tool was called.
"""

import json
import signal
import sys
import time
from pathlib import Path


def wait(there, here):
    """Wait until the file *here* exists, after making the file *there*."""
    Path(there).touch()
    end = time.time() + 15
    while not Path(here).exists() and time.time() < end:
        time.sleep(0.01)


words = sys.argv[1:]
lingers = ()
if words[0] == "--after":
    _, there, here, *words = words
    wait(there, here)
elif words[0] == "--lingers":
    lingers, words = words[1:3], words[3:]
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
dead_inside = "--dead-inside" in words
floods = "--flood" in words
name, *tools = (word for word in words if not word.startswith("--"))
INFO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": name, "version": "1"},
}
RESULTS = {
    "initialize": INFO,
    "tools/list": {"tools": [{"name": t, "inputSchema": {"type": "object"}} for t in tools]},
    "tools/call": {"content": [{"type": "text", "text": name}]},
}
for line in sys.stdin:
    request = json.loads(line)
    if dead_inside and request["method"] == "server/discover":
        sys.stdin.readline()
        sys.exit("dead inside")
    if "id" in request:
        result = RESULTS.get(request["method"])
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "No"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
        while floods and request["method"] == "tools/call":
            print('{"jsonrpc":"2.0","method":"notifications/x"}', flush=True)
if lingers:
    wait(*lingers)
