"""The sentences of the MCP specification that a probe quotes, for each version of MCP.

Source: github.com/modelcontextprotocol/modelcontextprotocol, docs/specification, at b0f60ba5.
Markdown marks are left out, and [...] stands for omitted words.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

_OLDEST, STRUCTURED, INPUT_ERRORS, MODERN = (
    "2024-11-05",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
)
VERSIONS = (_OLDEST, "2025-03-26", STRUCTURED, INPUT_ERRORS, MODERN)
"""The versions of the specification, oldest first. The third introduces structured results. From
the fourth on, wrong arguments are an error of the tool, not of the protocol."""
_SITE = "https://modelcontextprotocol.io/specification"
_JSON_RPC = "https://www.jsonrpc.org/specification"
_TRUTH = (
    "The full specification of the protocol is defined as a TypeScript schema. This is the source of "
    "truth for all protocol messages and structures."
)


class Rule(NamedTuple):
    """A sentence of the specification, and its page."""

    since: str
    """The first version that contains the sentence."""
    breach: Literal["wrong", "advice"]
    """The state of an answer that breaks it: "wrong" for MUST, "advice" for SHOULD."""
    page: str
    sentence: str

    def source(self, version: str) -> str:
        """Return the URL of the sentence in the specification of *version*."""
        if self.page.startswith("https://"):
            return self.page
        # An older version may not have it yet
        return f"{_SITE}/{max(version, self.since)}/{self.page}"


_NEGOTIATED = Rule(
    _OLDEST,
    "wrong",
    "basic/lifecycle#capability-negotiation",
    "Client and server capabilities establish which optional protocol features will be "
    "available during the session.",
)


def _offer(capability: str) -> dict[str, tuple[Rule, ...]]:
    """Return the rules about the lists of *capability* and its declaration."""
    page = f"server/{capability}#capabilities"
    return {
        f"declared {capability}": (
            _NEGOTIATED,
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
                f"Servers that support {capability} MUST declare the {capability} capability",
            ),
        ),
        f"same {capability}": (
            Rule(
                MODERN,
                "advice",
                page,
                "This set MAY be empty and MAY change over time (see List Changed Notification), but "
                "MUST NOT vary per-connection or as a side effect of other requests on the connection.",
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
    "same id": (
        Rule(
            _OLDEST,
            "wrong",
            f"{_JSON_RPC}#response_object",
            "It MUST be the same as the value of the id member in the Request Object.",
        ),
    ),
    "declared": (
        _NEGOTIATED,
        Rule(
            MODERN,
            "wrong",
            "server/discover#discoverresult",
            "capabilities: Capabilities the server supports (tools, resources, prompts, etc.)",
        ),
    ),
    "stdout": (
        Rule(
            _OLDEST,
            "wrong",
            "basic/transports#stdio",
            "The server MUST NOT write anything to its stdout that is not a valid MCP message.",
        ),
        Rule(
            MODERN,
            "wrong",
            "basic/transports/stdio",
            "The server MUST NOT write anything to its stdout that is not a valid MCP message.",
        ),
    ),
    "result type": (
        Rule(
            MODERN,
            "wrong",
            "basic#result-responses",
            "The result MUST include a resultType field to indicate the type of the result.",
        ),
    ),
    "caching": (
        Rule(
            MODERN,
            "wrong",
            "server/utilities/caching#cacheable-results",
            'Servers MUST include caching hints on results with resultType: "complete" returned by '
            "the following operations",
        ),
    ),
    # --- the first requests
    "discover": (
        Rule(
            MODERN,
            "wrong",
            "server/discover#response",
            "The server replies with its supported protocol versions, capabilities, and identity.",
        ),
    ),
    "initialize": (
        Rule(
            _OLDEST,
            "wrong",
            "basic/lifecycle#initialization",
            "The server MUST respond with its own capabilities and information",
        ),
    ),
    "version": (
        Rule(
            _OLDEST,
            "wrong",
            "basic/lifecycle#version-negotiation",
            "If the server supports the requested protocol version, it MUST respond with the same "
            "version. Otherwise, the server MUST respond with another protocol version it supports.",
        ),
    ),
    "ping": (
        Rule(
            _OLDEST,
            "wrong",
            "basic/utilities/ping#behavior-requirements",
            "The receiver MUST respond promptly with an empty response",
        ),
    ),
    # --- what is not there
    "cursor": (
        Rule(
            _OLDEST,
            "advice",
            "server/utilities/pagination#error-handling",
            "Invalid cursors SHOULD result in an error with code -32602 (Invalid params).",
        ),
    ),
    "no prompt": (
        Rule(
            _OLDEST,
            "advice",
            "server/prompts#error-handling",
            "Servers SHOULD return standard JSON-RPC errors for common failure cases: Invalid prompt "
            "name: -32602 (Invalid params)",
        ),
    ),
    "no resource": (
        Rule(
            _OLDEST,
            "advice",
            "server/resources#error-handling",
            "Servers SHOULD return standard JSON-RPC errors for common failure cases: Resource not "
            "found: -32002",
        ),
        Rule(
            MODERN,
            "wrong",
            "server/resources#error-handling",
            "If the requested resource does not exist, servers MUST return a JSON-RPC error with "
            "code -32602 (Invalid Params).",
        ),
    ),
    # --- notifications
    "undeclared logging": (
        Rule(
            _OLDEST,
            "wrong",
            "server/utilities/logging#capabilities",
            "Servers that emit log message notifications MUST declare the logging capability",
        ),
    ),
    "log": (
        Rule(
            MODERN,
            "wrong",
            "server/utilities/logging",
            "The server MUST NOT emit notifications/message for a request that does not include this "
            "field.",
        ),
    ),
    "progress token": (
        Rule(
            _OLDEST,
            "wrong",
            "basic/utilities/progress#behavior-requirements",
            "Progress notifications MUST only reference tokens that: Were provided in an active "
            "request [...] Are associated with an in-progress operation",
        ),
        Rule(
            MODERN,
            "wrong",
            "basic/patterns/progress#behavior-requirements",
            "Progress notifications MUST only reference tokens that: Were provided in an active "
            "request [...] Are associated with an in-progress operation",
        ),
    ),
    "progress": (
        Rule(
            _OLDEST,
            "wrong",
            "basic/utilities/progress#progress-flow",
            "The progress value MUST increase with each notification, even if the total is unknown.",
        ),
        Rule(
            MODERN,
            "wrong",
            "basic/patterns/progress#progress-flow",
            "The progress value MUST increase with each notification, even if the total is unknown.",
        ),
    ),
    "cancellation": (
        Rule(
            _OLDEST,
            "advice",
            "basic/utilities/cancellation#behavior-requirements",
            "Receivers of cancellation notifications SHOULD: [...] Not send a response for the "
            "cancelled request",
        ),
        Rule(
            MODERN,
            "advice",
            "basic/patterns/cancellation#behavior-requirements",
            "Servers receiving cancellation notifications SHOULD: [...] Not send a response for the "
            "cancelled request",
        ),
    ),
    "cancellation over stdio": (
        Rule(
            MODERN,
            "wrong",
            "basic/transports/stdio#cancellation",
            "Servers SHOULD stop work on a cancelled request as soon as practical and MUST NOT send "
            "any further messages for it.",
        ),
    ),
    # --- lists
    **_offer("tools"),
    **_offer("resources"),
    **_offer("prompts"),
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
            "results [...] An optional nextCursor field if more results exist",
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
    "unique tools": (
        Rule(_OLDEST, "advice", "server/tools#tool", "name: Unique identifier for the tool"),
        Rule(
            INPUT_ERRORS,
            "advice",
            "server/tools#tool-names",
            "Tool names SHOULD be unique within a server.",
        ),
    ),
    "unique prompts": (
        Rule(_OLDEST, "advice", "server/prompts#prompt", "name: Unique identifier for the prompt"),
    ),
    "unique resources": (
        Rule(
            _OLDEST,
            "advice",
            "server/resources#resource",
            "uri: Unique identifier for the resource",
        ),
    ),
    # --- definitions of tools
    "definition": (Rule(_OLDEST, "wrong", "basic#schema", _TRUTH),),
    "input schema": (
        Rule(_OLDEST, "wrong", "basic#schema", _TRUTH),
        Rule(
            INPUT_ERRORS,
            "wrong",
            "server/tools#tool",
            "inputSchema: JSON Schema defining expected parameters [...] MUST be a valid JSON Schema "
            "object (not null)",
        ),
    ),
    "tool names": (
        Rule(
            INPUT_ERRORS,
            "advice",
            "server/tools#tool-names",
            "The following SHOULD be the only allowed characters: uppercase and lowercase ASCII "
            "letters (A-Z, a-z), digits (0-9), underscore (_), hyphen (-), and dot (.)",
        ),
    ),
    # --- calls
    "structured": (
        Rule(
            STRUCTURED,
            "wrong",
            "server/tools#output-schema",
            "If an output schema is provided: Servers MUST provide structured results that conform "
            "to this schema.",
        ),
    ),
    "text": (
        Rule(
            STRUCTURED,
            "advice",
            "server/tools#structured-content",
            "For backwards compatibility, a tool that returns structured content SHOULD also return "
            "the serialized JSON in a TextContent block.",
        ),
    ),
    "tool errors": (
        Rule(
            _OLDEST,
            "advice",
            "server/tools#error-handling",
            "Tool Execution Errors: Reported in tool results with isError: true",
        ),
        Rule(
            MODERN,
            "advice",
            "server/tools#error-handling",
            "They are reported in tool results with isError: true",
        ),
    ),
    "validate": (
        Rule(
            _OLDEST,
            "wrong",
            "server/tools#security-considerations",
            "Servers MUST: Validate all tool inputs",
        ),
    ),
    "input errors": (
        Rule(
            INPUT_ERRORS,
            "advice",
            "server/tools#error-handling",
            "Tool Execution Errors: Reported in tool results with isError: true: [...] Input "
            "validation errors (e.g., date in wrong format, value out of range)",
        ),
        Rule(
            MODERN,
            "advice",
            "server/tools#error-handling",
            "Input validation errors (e.g., date in wrong format, value out of range) [...] They are "
            "reported in tool results with isError: true",
        ),
    ),
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
"""The rules by name. A name has several rules, oldest first, if versions of MCP differ in it."""


FIXES: Mapping[str, str] = {
    "response": "Answer each request once, with a result or with an error, and end at none.",
    "same id": "Answer with the id of the request, as it was sent.",
    "unknown method": "Refuse it with the error -32601.",
    "unknown method over HTTP": "Refuse it with the status 404 and the error -32601.",
    "unknown tool": "Refuse it with the error -32602.",
    "cursor": "Refuse it with the error -32602.",
    "no prompt": "Refuse it with the error -32602.",
    "no resource": "Refuse it with the error of this version: -32602, and -32002 before 2026-07-28.",
    "declared": "Answer it, or do not declare the capability.",
    "templates": "Answer with an empty list.",
    "stdout": "Write a log to stderr.",
    "result type": "Add resultType, 'complete'.",
    "caching": "Add ttlMs, 0 or more, and cacheScope.",
    "discover": "Answer with supportedVersions and capabilities.",
    "initialize": "Answer with protocolVersion, capabilities and serverInfo.",
    "version": "Answer with the version that was asked for, or the newest that you know.",
    "ping": "Answer with an empty result.",
    "undeclared logging": "Declare the capability 'logging'.",
    "log": "Send log messages only if the request asks for them.",
    "progress token": "Send progress only with the token of a request, and before its answer.",
    "progress": "Let progress grow with each notification.",
    "cancellation": "Stop the work, and send no answer.",
    "cancellation over stdio": "Stop the work, and send no answer.",
    "page": "Answer with a list, also to your own cursors; give the last page no nextCursor.",
    "order": "List in one order, for example sorted by name.",
    "definition": "Write it as the schema of this version has it.",
    "input schema": "Correct the inputSchema of the tool.",
    "tool names": "Use letters, digits, _, - and . only, 128 of them at most.",
    "structured": "Return what the outputSchema says, in structuredContent.",
    "text": "Return the same as text, too.",
    "tool errors": "Answer with a result whose isError is true.",
    "validate": "Check the arguments by the schema of the tool.",
    "input errors": "Answer with a result whose isError is true: a model can correct itself.",
}
"""What to do if a rule is broken, by the name of the rule."""
_FIXES_OF_LISTS = {
    "declared": "Answer with a list, an empty one if there is nothing.",
    "undeclared": "Declare the capability.",
    "same": "List the same while nothing has changed.",
    "unique": "Give each item its own name.",
}


def rule_of(name: str, version: str) -> Rule:
    """Return the rule *name* as *version* states it, or else as the first later version does."""
    rules = RULES[name]
    known = [rule for rule in rules if rule.since <= version]
    return (known or list(rules[:1]))[-1]


def fix_of(name: str) -> str:
    """Return advice on what to do if the rule *name* is broken."""
    return FIXES.get(name) or _FIXES_OF_LISTS[name.partition(" ")[0]]
