"""A registry of MCP servers on this machine, which serves recorded answers over real HTTP."""

from contextlib import contextmanager
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route

from test_mcp.peers import serving_app

OFFICIAL = "io.modelcontextprotocol.registry/official"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def published(name, *, status="active", message="", latest=True, **parts):
    """One entry of a registry's answer, as the official registry writes it."""
    facts = {
        "status": status,
        "publishedAt": "2026-03-02T09:14:21.183Z",
        "updatedAt": "2026-03-02T09:14:21.183Z",
        "isLatest": latest,
    }
    if message:
        facts["statusMessage"] = message
    document = {"$schema": SCHEMA, "name": name, "description": "", "version": "1.0.0", **parts}
    return {"server": document, "_meta": {OFFICIAL: facts}}


class RecordedRegistry:
    """What a registry holds, how it fails, and what it was asked."""

    def __init__(self, *entries):
        self.entries = list(entries)
        self.page = 2
        self.failure = None
        self.asked = []

    def list(self, request):
        self.asked.append(dict(request.query_params))
        if self.failure == "html":
            return HTMLResponse("<h1>Sign in to the guest network</h1>")
        if self.failure is not None:
            return PlainTextResponse("no", status_code=self.failure)
        words = request.query_params.get("search", "").lower()
        found = [each for each in self.entries if words in each["server"]["name"].lower()]
        start = int(request.query_params.get("cursor", "0"))
        end = start + min(self.page, int(request.query_params["limit"]))
        metadata = {"count": len(found[start:end])}
        if end < len(found):
            metadata["nextCursor"] = str(end)
        return JSONResponse({"servers": found[start:end], "metadata": metadata})

    def one(self, request):
        path = request.scope["raw_path"].decode().removeprefix("/v0.1/servers/")
        name, _, version = path.partition("/versions/")
        for entry in self.entries:
            versions = {entry["server"]["version"], "latest"}
            if entry["server"]["name"] == unquote(name) and unquote(version) in versions:
                return JSONResponse(entry)
        return JSONResponse({"error": "Server not found"}, status_code=404)

    @contextmanager
    def serving(self):
        """The URL of the registry."""
        routes = [Route("/v0.1/servers", self.list), Route("/v0.1/servers/{rest:path}", self.one)]
        with serving_app(Starlette(routes=routes)) as url:
            yield url
