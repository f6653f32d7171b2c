"""A server that answers as real ones did, but for what a plan says: `planned_server.py ANSWERS SERVER PLAN`.

ANSWERS has the results of real servers by server and method. The file PLAN is read anew for each
request: by method, the text to write instead, in which `@ID@` stands for the id of the request;
and under `ends`, the method after which the process ends.
"""

import json
import sys
from pathlib import Path

answers_file, server, plan_file = sys.argv[1:]
answers = json.loads(Path(answers_file).read_text())[server]
UNKNOWN = {"error": {"code": -32601, "message": "Method not found"}}
for line in sys.stdin.buffer:
    request = json.loads(line)
    if "id" not in request or "method" not in request:
        continue
    method, identity = request["method"], json.dumps(request["id"])
    plan = json.loads(Path(plan_file).read_text())
    if method in plan:
        text = plan[method].encode("latin-1").replace(b"@ID@", identity.encode())
    elif method == "subscriptions/listen":
        continue
    else:
        body = {"result": answers[method]} if method in answers else UNKNOWN
        answer = {"jsonrpc": "2.0", "id": request["id"], **body}
        text = json.dumps(answer).encode() + b"\n"
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    if plan.get("ends") == method:
        sys.exit()
