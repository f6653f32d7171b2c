"""The author of a server: writes its source, and changes it."""

import json
import sys

SERVER = """
import json, os, sys, time
from pathlib import Path

HERE = Path(__file__).parent
with (HERE / "starts").open("a") as starts:
    print(os.getpid(), file=starts)
TOOLS = json.loads({tools!r})
INFO = {{"name": "lib", "version": "1"}}


def called(arguments):
    if arguments.get("q") == "slow":
        (HERE / "called").touch()
        while not (HERE / {gate!r}).exists():
            time.sleep(0.01)
    return {{"content": [{{"type": "text", "text": {result!r}}}]}}


for line in sys.stdin:
    request = json.loads(line)
    method, params = request["method"], request.get("params") or {{}}
    result = None
    if method == "initialize":
        capabilities = {{"tools": {{}}}}
        result = {{"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": INFO}}
    elif method == "tools/list":
        result = {{"tools": TOOLS}}
    elif method == "tools/call":
        result = called(params["arguments"])
    answer = {{"error": {{"code": -32601, "message": "No"}}}}
    if result is not None:
        answer = {{"result": result}}
    if "id" in request:
        print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], **answer}}), flush=True)
"""
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


class Author:
    """Writes the source of a server with one tool, `server.py` in *folder*."""

    def __init__(self, folder):
        self.folder, self.file = folder, folder / "server.py"
        self.write("one")

    @property
    def entry(self):
        """The configuration of the server."""
        return {"command": sys.executable, "args": [str(self.file)]}

    @property
    def starts(self):
        """The processes that were started so far."""
        return (self.folder / "starts").read_text().split()

    def write(self, result, *, tool="find", hints=None, gate="go", **properties):
        """Write a server whose *tool* takes *properties*, and answers with *result*.

        The answer to "slow" waits until there is a file *gate*.
        """
        schema = {"type": "object", "properties": properties or {"q": TEXT}}
        described = {"name": tool, "description": "Find.", "inputSchema": schema}
        if hints is not None:
            described["annotations"] = hints
        text = SERVER.format(tools=json.dumps([described]), result=result, gate=gate)
        self.file.write_text(text)

    def hang(self):
        """Write a server that never answers."""
        self.write("one")
        text = self.file.read_text()
        self.file.write_text(
            text.replace("for line in sys.stdin:", "while True:\n    time.sleep(1)\nif 0:")
        )

    def break_it(self):
        """Write what Python cannot read."""
        self.file.write_text("def find(:\n")
