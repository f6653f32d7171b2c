"""A server of the older protocol that says what a JSON file says: `scripted.py FILE`.

The file is read anew for each request. It holds lists of what to write, by method: an object is an
answer without its id, a text is written as it is, `{"stderr": "why"}` to stderr, `{"exit": 3, "stderr": "why", "once": FILE}` ends
the server, with a FILE only until that is there, which it makes. `$NAME` stands for an environment variable,
`$ID` and `$PROGRESS_TOKEN` for what the request has of that.
"""

import json
import os
import sys
from pathlib import Path

UNKNOWN = [{"error": {"code": -32601, "message": "No"}}]
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        meta = request.get("params", {}).get("_meta", {})
        os.environ["ID"] = str(request["id"])
        os.environ["PROGRESS_TOKEN"] = str(meta.get("progressToken"))
        script = json.loads(os.path.expandvars(Path(sys.argv[1]).read_text()))
        for step in script.get(request["method"], UNKNOWN):
            if isinstance(step, dict) and "exit" in step:
                if "once" in step:
                    if Path(step["once"]).exists():
                        continue
                    Path(step["once"]).touch()
                print(step["stderr"], file=sys.stderr, flush=True)
                sys.exit(step["exit"])
            if isinstance(step, dict) and "stderr" in step:
                print(step["stderr"], file=sys.stderr, flush=True)
                continue
            answer = {"jsonrpc": "2.0", "id": request["id"]}
            print(step if isinstance(step, str) else json.dumps(answer | step), flush=True)
