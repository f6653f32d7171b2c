"""The client the public conformance suite drives: toolbench's own, through its public API.

python conformance_client.py URL      # run by the suite, once for each scenario
"""

import json
import os
import sys
import threading
import urllib.error
import urllib.request
import webbrowser
from urllib.parse import urlencode, urlsplit

from patience import PATIENCE, eventually

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
    content = {name: field["default"] for name, field in fields.items() if "default" in field}
    return content | ({"confirmed": True} if "confirmed" in fields else {})


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def visit(url, *rest):
    """Stand in for the browser: visit the page once, then follow it to the local callback."""

    def go():
        try:
            urllib.request.build_opener(_Stay).open(url, timeout=PATIENCE)
            return
        except urllib.error.HTTPError as error:
            callback = error.headers.get("Location")

        def is_followed():
            try:
                urllib.request.urlopen(callback, timeout=PATIENCE).read()
            except urllib.error.HTTPError:
                return True
            except OSError:
                # The callback's server is still starting
                return False
            return True

        eventually(is_followed)

    threading.Thread(target=go, daemon=True).start()
    return True


def auth(url):
    """The OAuth settings of a scenario whose server is at *url*."""
    if SCENARIO == "auth/enterprise-managed-authorization":
        return identity_assertion(url)
    if SCENARIO.startswith("auth/client-credentials"):
        return credentials(url)
    settings = {"callback_timeout": 15}
    if CONTEXT.get("client_id"):
        return settings | {k: CONTEXT[k] for k in ("client_id", "client_secret") if k in CONTEXT}
    url = "https://conformance-test.local/client-metadata.json"
    return settings | {"client_metadata_url": url}


def credentials(url):
    """The settings of a program: with a key of its own, or with a secret."""
    settings = {"client_id": CONTEXT["client_id"], "issuer": issuer_of(url)}
    if "private_key_pem" in CONTEXT:
        return settings | {
            "private_key": CONTEXT["private_key_pem"],
            "signing_algorithm": CONTEXT["signing_algorithm"],
        }
    secret = CONTEXT["client_secret"]
    return settings | {"grant_type": "client_credentials", "client_secret": secret}


def issuer_of(url):
    """The authorization server that the server itself names: the suite gives no other word of it."""
    parts = urlsplit(url)
    place = "/.well-known/oauth-protected-resource"
    address = f"{parts.scheme}://{parts.netloc}{place}{parts.path}"
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        return json.load(answer)["authorization_servers"][0]


def identity_assertion(url):
    """An object of the SDK that trades a person's identity for a token: ours only carries it."""
    from mcp.client.auth.extensions.identity_assertion import (
        IdentityAssertionOAuthProvider,
    )

    async def assertion(audience, resource):
        kinds = "urn:ietf:params:oauth:token-type"
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token": CONTEXT["idp_id_token"],
            "subject_token_type": f"{kinds}:id_token",
            "requested_token_type": f"{kinds}:id-jag",
            "audience": audience,
            "resource": resource,
            "client_id": CONTEXT["idp_client_id"],
        }
        body = urlencode(form).encode()
        with urllib.request.urlopen(CONTEXT["idp_token_endpoint"], body) as answer:
            return json.load(answer)["access_token"]

    return IdentityAssertionOAuthProvider(
        url,
        Tokens(),
        CONTEXT["client_id"],
        CONTEXT["client_secret"],
        issuer_of(url),
        assertion,
        token_endpoint_auth_method="client_secret_basic",
    )


class Tokens:
    """The tokens of one run."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def stub(schema):
    """Arguments for every required property."""
    properties = schema.get("properties", {})
    return {
        n: STUBS.get(properties.get(n, {}).get("type"), "x") for n in schema.get("required", [])
    }


def calls(session):
    """What a scenario wants called, with which arguments."""
    names = [tool.remote_name for tool in session.tools]
    if SCENARIO.startswith("auth/"):
        return [(name, {}) for name in names[:1]]
    if SCENARIO in ("initialize", "json-schema-ref-no-deref"):
        return []
    if SCENARIO == "json-schema-2020-12-preservation":
        schema = session.tool("json_schema_2020_12_tool").to_mcp_tool()["inputSchema"]
        return [("json_schema_echo", {"schema": schema})]
    if SCENARIO == "sep-2322-client-request-state":
        return [(name, {}) for name in ROUNDS]
    if SCENARIO == "http-custom-headers":
        planned_calls = CONTEXT.get("toolCalls", [])
        return [(c["name"], c.get("arguments") or {}) for c in planned_calls if c["name"] in names]
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
    entry = {
        "url": url,
        **({"auth": auth(url)} if SCENARIO.startswith("auth/") else {}),
    }
    mode = "auto" if VERSION in (None, "2026-07-28") else "legacy"
    with MCPClient(timeout=PATIENCE, roots=["file:///tmp"]) as client, answering(answer):
        session = client.connect("conformance", entry, mode=mode)
        for name, arguments in calls(session):
            observation = session.call(name, arguments)
            print("called", name, observation.is_error, observation.text[:200])


if __name__ == "__main__":
    main(sys.argv[1])
