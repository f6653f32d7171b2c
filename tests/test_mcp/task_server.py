"""A fake server that runs its tools as tasks: `task_server.py ERA`.

A task takes a step each time its state is asked for, so no test waits for a clock. A server of the
older protocol lists its tools and has no tasks. `app(server)` serves the same over HTTP.
"""

import asyncio
import json
import sys

EXTENSION = "io.modelcontextprotocol/tasks"
NAME = {"type": "object", "properties": {"name": {"type": "string"}}}
TOOLS = {
    "add_up": "required",
    "greet": "optional",
    "fails": "required",
    "reports_failure": "required",
    "is_stopped": "required",
    "never_ends": "optional",
    "at_once": "forbidden",
}
FAILURE = {"code": -32603, "message": "the disk is full"}
QUESTION = {"message": "Whom?", "requestedSchema": NAME, "mode": "form"}
# Looks at the state before a task ends
STEPS = 2


class RefusedError(Exception):
    """A JSON-RPC error."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.body = {"code": code, "message": message}
        if data is not None:
            self.body["data"] = data


class TaskServer:
    """The server; *received* has the messages of the client."""

    def __init__(self, era):
        self.era = era
        self.received = []
        # Milliseconds between two requests for the state of a task
        self.interval = 70
        self.tasks = {}

    def methods(self):
        """The methods that were called, in order."""
        return [m["method"] for m in self.received if "method" in m]

    def asked(self, method):
        """The parameters of the requests of *method*."""
        return [m.get("params", {}) for m in self.received if m.get("method") == method]

    async def take(self, message, send):
        """Handle *message*; *send* writes to the client."""
        self.received.append(message)
        if "method" not in message:
            return
        if "id" not in message:
            return
        try:
            result = await self._answer(message["method"], message.get("params") or {}, send)
            body = {"result": result}
            if self.era == "modern":
                body["result"] = {"resultType": "complete", **result}
        except RefusedError as error:
            body = {"error": error.body}
        await send({"jsonrpc": "2.0", "id": message["id"], **body})

    async def _answer(self, method, params, send):
        info = {"serverInfo": {"name": "tasks", "version": "1"}}
        if method == "initialize" and self.era == "legacy":
            features = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
            return {
                **info,
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}, "tasks": features},
            }
        if method == "server/discover" and self.era == "modern":
            return {
                **info,
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}, "extensions": {EXTENSION: {}}},
                "ttlMs": 0,
                "cacheScope": "private",
            }
        if method == "tools/list":
            tools = [
                {"name": n, "inputSchema": NAME, "execution": {"taskSupport": s}}
                for n, s in TOOLS.items()
            ]
            if self.era == "modern":
                return {
                    "tools": [{k: v for k, v in t.items() if k != "execution"} for t in tools],
                    "ttlMs": 0,
                    "cacheScope": "private",
                }
            return {"tools": tools}
        if method == "tools/call":
            return self._called(params)
        if method.startswith("tasks/"):
            verb = getattr(self, f"task_{method.partition('/')[2]}", None)
            if verb is not None:
                return await verb(params, send)
        raise RefusedError(-32601, "Method not found", method)

    def _called(self, params):
        name = params["name"]
        if TOOLS[name] == "forbidden":
            return {"content": [{"type": "text", "text": "at once"}]}
        meta = params.get("_meta") or {}
        client = meta.get("io.modelcontextprotocol/clientCapabilities") or {}
        if EXTENSION not in (client.get("extensions") or {}):
            raise RefusedError(-32601, f"{name} runs as a task only")
        identity = f"{len(self.tasks) + 1}-a-long-and-random-id"
        task = {
            "id": identity, "tool": name, "status": "working", "looks": 0,
            "token": meta.get("progressToken"), "name": params["arguments"].get("name"),
            "asked": False, "answer": None, "ttl": 60_000,
        }  # fmt: skip
        self.tasks[identity] = task
        return {"resultType": "task", **self._state(task)}

    def _state(self, task):
        times = {
            "createdAt": f"2026-11-23T20:00:0{task['id'][0]}Z",
            "lastUpdatedAt": "2026-11-23T20:01:00Z",
        }
        state = {
            "taskId": task["id"],
            "status": task["status"],
            "statusMessage": f"looked at {task['looks']}",
            **times,
        }
        return {**state, "ttlMs": task["ttl"], "pollIntervalMs": self.interval}

    def _named(self, params):
        if params.get("taskId") not in self.tasks:
            raise RefusedError(-32602, "Task not found")
        return self.tasks[params["taskId"]]

    async def _step(self, task, send):
        """Let *task* go on by one step."""
        if task["status"] not in ("working", "input_required"):
            return
        task["looks"] += 1
        if task["token"] is not None:
            progress = {
                "progressToken": task["token"],
                "progress": task["looks"],
                "total": STEPS,
                "message": f"step {task['looks']}",
            }
            await send(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/progress",
                    "params": progress,
                }
            )
        tool = task["tool"]
        if tool == "greet" and task["answer"] is None:
            task["status"] = "input_required"
        elif tool != "never_ends" and task["looks"] >= STEPS:
            ends = {"fails": "failed", "is_stopped": "cancelled"}
            task["status"] = ends.get(tool, "completed")

    def _result(self, task):
        text = {"add_up": "3 files", "greet": f"hello {task['answer']}"}.get(
            task["tool"], "no more space"
        )
        is_error = task["tool"] == "reports_failure"
        return {"content": [{"type": "text", "text": text}], "isError": is_error}

    # --- requests about a task -------------------------------------------------------

    async def task_get(self, params, send):
        task = self._named(params)
        await self._step(task, send)
        state = self._state(task)
        if task["status"] == "input_required":
            state["inputRequests"] = {"whom": {"method": "elicitation/create", "params": QUESTION}}
        if task["status"] == "failed":
            state["error"] = FAILURE
        if task["status"] == "completed":
            state["result"] = self._result(task)
        return state

    async def task_update(self, params, send):
        task, answer = self._named(params), params["inputResponses"]["whom"]
        task["answer"] = (answer.get("content") or {}).get("name", answer["action"])
        task["status"] = "working"
        return {}

    async def task_cancel(self, params, send):
        self._named(params)["status"] = "cancelled"
        return {}


def app(server):
    """The ASGI application of *server*: each request to `/mcp` is answered by a stream of events."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    async def post(request: Request):
        message = await request.json()
        if server.era == "modern" and str(message.get("method")).startswith("tasks/"):
            assert request.headers["mcp-name"] == message["params"]["taskId"]
        lines = asyncio.Queue()
        if message.get("method") == "server/discover" and server.era == "legacy":
            error = {"code": -32601, "message": "Method not found"}
            return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error}, 404)
        if "method" not in message or "id" not in message:
            await server.take(message, lines.put)
            return Response(status_code=202)
        work = asyncio.ensure_future(server.take(message, lines.put))
        work.add_done_callback(lambda _: lines.put_nowait(None))

        async def stream():
            while (line := await lines.get()) is not None:
                yield f"event: message\ndata: {json.dumps(line)}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def other(request: Request):
        return Response(status_code=405)

    return Starlette(
        routes=[
            Route("/mcp", post, methods=["POST"]),
            Route("/mcp", other, methods=["GET", "DELETE"]),
        ]
    )


async def serve_stdio(server):
    """Answer the lines of stdin until they end."""
    loop = asyncio.get_running_loop()

    async def send(message):
        print(json.dumps(message), flush=True)

    work = set()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        task = asyncio.ensure_future(server.take(json.loads(line), send))
        work.add(task)
        task.add_done_callback(work.discard)


if __name__ == "__main__":
    asyncio.run(serve_stdio(TaskServer(*sys.argv[1:])))
