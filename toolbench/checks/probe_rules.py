"""The sentences of the MCP specification that a probe quotes, for each of its versions.

Source: github.com/modelcontextprotocol/modelcontextprotocol, docs/specification, at b0f60ba5; the marks
of Markdown are left out.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

_OLDEST, _SCHEMAS, _ERRORS, MODERN = "2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"
VERSIONS = (_OLDEST, "2025-03-26", _SCHEMAS, _ERRORS, MODERN)
"""The versions of the specification, the oldest first."""
_SITE = "https://modelcontextprotocol.io/specification"
_JSON_RPC = "https://www.jsonrpc.org/specification"
_TRUTH = (
    "The full specification of the protocol is defined as a TypeScript schema. This is the source of "
    "truth for all protocol messages and structures."
)


class Rule(NamedTuple):
    """A sentence of the specification, and where it stands."""

    since: str
    """The first version that has it so."""
    breach: Literal["wrong", "advice"]
    """What it is to break it: `wrong` if it must be so, `advice` if it should."""
    page: str
    sentence: str

    def source(self, version: str) -> str:
        """Return the URL of the sentence in the specification of *version*."""
        if self.page.startswith("https://"):
            return self.page
        # An older version may not have it yet
        return f"{_SITE}/{max(version, self.since)}/{self.page}"


def _offer(name: str, capability: str) -> dict[str, tuple[Rule, ...]]:
    """Return the rules that a list of *capability* is answered if it is declared, and only then."""
    page = f"server/{capability}#capabilities"
    return {
        f"declared {capability}": (
            Rule(
                _OLDEST,
                "wrong",
                "basic/lifecycle#capability-negotiation",
                "Client and server capabilities establish which optional protocol features will be "
                "available during the session.",
            ),
            Rule(
                MODERN,
                "wrong",
                page,
                f"Servers that declare the {capability} capability MUST respond to {capability}/list "
                f"requests with the set of {capability} currently available to the requesting client.",
            ),
        ),
        f"undeclared {capability}": (
            Rule(
                _OLDEST,
                "wrong",
                page,
                f"Servers that support {name} MUST declare the {capability} capability",
            ),
        ),
    }


RULES: Mapping[str, tuple[Rule, ...]] = {
    # --- answers
    "response": (
        Rule(
            _OLDEST,
            "wrong",
            f"{_JSON_RPC}#response_object",
            "When a rpc call is made, the Server MUST reply with a Response, except for in the case "
            "of Notifications.",
        ),
    ),
    "unknown method": (
        Rule(
            _OLDEST,
            "advice",
            f"{_JSON_RPC}#error_object",
            "-32601 Method not found: The method does not exist / is not available.",
        ),
    ),
    "unknown method over HTTP": (
        Rule(
            MODERN,
            "wrong",
            "basic/transports/streamable-http#protocol-version-header",
            "If the server does not implement the requested RPC method, it MUST respond with 404 Not "
            "Found and a JSON-RPC error with code -32601 (Method not found).",
        ),
    ),
    # --- lists
    **_offer("tools", "tools"),
    **_offer("resources", "resources"),
    **_offer("prompts", "prompts"),
    "templates": (
        Rule(
            _OLDEST,
            "advice",
            "server/resources#resource-templates",
            "Resource templates allow servers to expose parameterized resources using URI templates.",
        ),
    ),
    "page": (
        Rule(
            _OLDEST,
            "wrong",
            "server/utilities/pagination#response-format",
            "Pagination starts when the server sends a response that includes: The current page of "
            "results. An optional nextCursor field if more results exist",
        ),
    ),
    "order": (
        Rule(
            MODERN,
            "advice",
            "server/tools#capabilities",
            "Servers SHOULD return tools in a deterministic order (i.e., the same ordering across "
            "requests when the underlying set of tools has not changed).",
        ),
    ),
    "same": (
        Rule(
            MODERN,
            "advice",
            "server/tools#capabilities",
            "This set MAY be empty and MAY change over time (see List Changed Notification), but MUST "
            "NOT vary per-connection or as a side effect of other requests on the connection.",
        ),
    ),
    "unique": (
        Rule(_OLDEST, "advice", "server/tools#tool", "name: Unique identifier for the tool"),
        Rule(
            _ERRORS,
            "advice",
            "server/tools#tool-names",
            "Tool names SHOULD be unique within a server.",
        ),
    ),
    # --- definitions of tools
    "definition": (Rule(_OLDEST, "wrong", "basic#schema", _TRUTH),),
    "input schema": (
        Rule(_OLDEST, "wrong", "basic#schema", _TRUTH),
        Rule(
            _ERRORS,
            "wrong",
            "server/tools#tool",
            "inputSchema: JSON Schema defining expected parameters [...] MUST be a valid JSON Schema "
            "object (not null)",
        ),
    ),
    "tool names": (
        Rule(
            _ERRORS,
            "advice",
            "server/tools#tool-names",
            "The following SHOULD be the only allowed characters: uppercase and lowercase ASCII "
            "letters (A-Z, a-z), digits (0-9), underscore (_), hyphen (-), and dot (.)",
        ),
    ),
    # --- calls
    "unknown tool": (
        Rule(
            _OLDEST,
            "advice",
            "server/tools#error-handling",
            "Protocol Errors: Standard JSON-RPC errors for issues like: Unknown tools",
        ),
        Rule(
            MODERN,
            "advice",
            "server/tools#error-handling",
            "Protocol Errors indicate issues with the request structure itself that models are less "
            "likely to be able to fix: Unknown tool [...] They are returned as standard JSON-RPC "
            "errors",
        ),
    ),
}
"""The rules by their names; of those of one name, the last one that a version has."""


def rule_of(name: str, version: str) -> Rule:
    """Return the rule *name* as *version* has it, or else as the first version that has it."""
    rules = RULES[name]
    known = [rule for rule in rules if rule.since <= version]
    return (known or list(rules[:1]))[-1]
