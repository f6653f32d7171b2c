"""The client the public conformance suite drives: toolbench's own, through its public API.

python conformance_client.py URL      # run by the suite, once for each scenario
"""

import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
import webbrowser

from toolbench.mcp import MCPClient
from toolbench.mcp.elicitation import FormQuestion, answering

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
VERSION = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION")
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
STUBS = {
    "string": "x",
    "integer": 0,
    "number": 0,
    "boolean": False,
    "object": {},
    "array": [],
}
ROUNDS = (
    "test_mrtr_echo_state",
    "test_mrtr_unrelated",
    "test_mrtr_no_state",
    "test_mrtr_no_result_type",
)


def answer(question):
    """Accept every form with its defaults, and every other question with a word."""
    if not isinstance(question, FormQuestion):
        return "ok"
    fields = question.schema.get("properties", {})
    content = {
        name: field["default"] for name, field in fields.items() if "default" in field
    }
    return content | ({"confirmed": True} if "confirmed" in fields else {})


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def visit(url, *rest):
    """Stand in for the browser: visit the page once, then follow it to the local callback."""

    def go():
        try:
            urllib.request.build_opener(_Stay).open(url, timeout=10)
            return
        except urllib.error.HTTPError as error:
            callback = error.headers.get("Location")
        for _ in range(60):
            try:
                urllib.request.urlopen(callback, timeout=10).read()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.25)  # the callback's server is still starting

    threading.Thread(target=go, daemon=True).start()
    return True


def auth():
    """The OAuth settings of a scenario."""
    settings = {"callback_timeout": 15}
    if CONTEXT.get("client_id"):
        return settings | {
            k: CONTEXT[k] for k in ("client_id", "client_secret") if k in CONTEXT
        }
    url = "https://conformance-test.local/client-metadata.json"
    return settings | {"client_metadata_url": url}


def stub(schema):
    """Arguments for every required property."""
    properties = schema.get("properties", {})
    return {
        n: STUBS.get(properties.get(n, {}).get("type"), "x")
        for n in schema.get("required", [])
    }


def calls(session):
    """What a scenario wants called, with which arguments."""
    names = [tool.remote_name for tool in session.tools]
    if SCENARIO.startswith("auth/"):
        return [(name, {}) for name in names[:1]]
    if SCENARIO in ("initialize", "json-schema-ref-no-deref"):
        return []
    if SCENARIO == "sep-2322-client-request-state":
        return [(name, {}) for name in ROUNDS]
    if SCENARIO == "http-custom-headers":
        planned_calls = CONTEXT.get("toolCalls", [])
        return [
            (c["name"], c.get("arguments") or {})
            for c in planned_calls
            if c["name"] in names
        ]
    return [
        (
            t.remote_name,
            {"a": 5, "b": 3} if t.remote_name == "add_numbers" else stub(t.schema),
        )
        for t in session.tools
    ]


def main(url):
    """Connect to the suite's server and do what its scenario wants."""
    webbrowser.open = visit
    entry = {"url": url, **({"auth": auth()} if SCENARIO.startswith("auth/") else {})}
    mode = "auto" if VERSION in (None, "2026-07-28") else "legacy"
    with MCPClient(timeout=20, roots=["file:///tmp"]) as client, answering(answer):
        session = client.connect("conformance", entry, mode=mode)
        for name, arguments in calls(session):
            observation = session.call(name, arguments)
            print("called", name, observation.is_error, observation.text[:200])


if __name__ == "__main__":
    main(sys.argv[1])
