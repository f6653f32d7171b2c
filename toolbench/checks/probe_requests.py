"""A probe's questions about requests other than lists and calls of tools."""

from typing import Any

from toolbench.checks.probe_connection import Answer, ProbeConnection
from toolbench.checks.probe_lists import INVALID_PARAMS, LISTS
from toolbench.checks.probe_rules import MODERN, VERSIONS
from toolbench.checks.probe_traffic import part_of
from toolbench.mcp.errors import METHOD_NOT_FOUND
from toolbench.wording import duration

_NOWHERE = "toolbench-probe://no/such/resource"
_NO_ITEM = "toolbench_probe_no_such_item"
_OLDER_NOT_FOUND = -32002
# Seconds: a request is cancelled at once
_AT_ONCE = 0.001


_OPENING = {
    "server/discover": ("discover", {"supportedVersions", "capabilities"}),
    "initialize": ("initialize", {"protocolVersion", "capabilities", "serverInfo"}),
}
"""The first request of each kind of connection, with the rule and required keys of its answer."""


async def look_at_opening(connection: ProbeConnection) -> bool:
    """Check the answers to the first requests; return whether one of them is wrong."""
    is_wrong = False
    for method, (rule, names) in _OPENING.items():
        for message in connection.inbox.traffic.find(method=method, kind="response"):
            result, broken, era = part_of(message, "result"), rule, MODERN
            if method == "initialize":
                era = connection.version or VERSIONS[-2]
            if names <= result.keys():
                broken = ""
                if str(result.get("protocolVersion", era)) < VERSIONS[0]:
                    broken = "version"
            is_wrong = is_wrong or bool(broken)
            connection.add(method, Answer(method, result), broken, era=era)
    return is_wrong


async def ask_for_what_is_not_there(connection: ProbeConnection) -> None:
    """Ask for methods, pages, resources and prompts that do not exist on the server."""
    rule = "unknown method"
    if connection.is_modern and connection.transport == "http":
        rule = "unknown method over HTTP"
    question, method = "an unknown method is refused", "toolbench/no_such_method"
    await connection.ask_refused(question, method, {}, rule, METHOD_NOT_FOUND, answered="wrong")
    # A server whose lists have one page may read no cursor
    for key in connection.paged[:1]:
        question, method = "an unknown cursor is refused", LISTS[key][1]
        params = {"cursor": _NO_ITEM}
        await connection.ask_refused(question, method, params, "cursor", INVALID_PARAMS)
    if "prompts" in connection.lists:
        question, params = "prompts/get: an unknown prompt is refused", {"name": _NO_ITEM}
        await connection.ask_refused(question, "prompts/get", params, "no prompt", INVALID_PARAMS)
    question = "resources/read: an unknown resource is refused"
    templates = connection.lists.get("resourceTemplates", [])
    if any(str(each.get("uriTemplate", "{")).startswith("{") for each in templates):
        connection.add_not_asked(question, "a template of the server takes any URI")
    elif "resources" in connection.lists:
        code = _OLDER_NOT_FOUND
        if connection.is_modern:
            code = INVALID_PARAMS
        params = {"uri": _NOWHERE}
        await connection.ask_refused(question, "resources/read", params, "no resource", code)


async def ask_for_what_is_declared(connection: ProbeConnection) -> None:
    """Use each capability that the server declares, in addition to its lists."""
    declared = connection.capabilities
    if "completions" in declared:
        await _complete(connection)
    uris = [each["uri"] for each in connection.lists.get("resources", []) if each.get("uri")][:1]
    if not (declared.get("resources") or {}).get("subscribe"):
        uris = []
    if connection.is_modern:
        await _listen(connection, uris)
        return
    if "logging" in declared:
        await connection.ask_declared("logging/setLevel", {"level": "info"})
    for uri in uris:
        await connection.ask_declared("resources/subscribe", {"uri": uri})
        await connection.ask_declared("resources/unsubscribe", {"uri": uri})
    if "list" in (declared.get("tasks") or {}):
        await connection.ask_declared("tasks/list", {})
    question = "ping: answered"
    answer = await connection.ask("ping")
    if answer.result is not None:
        connection.add(question, answer)
    elif not connection.is_lost(question, answer):
        connection.add(question, answer, "ping")


async def _listen(connection: ProbeConnection, uris: list[str]) -> None:
    filters: dict[str, Any] = {}
    for key in ("tools", "prompts", "resources"):
        if (connection.capabilities.get(key) or {}).get("listChanged"):
            filters[f"{key}_list_changed"] = True
    if uris:
        filters["resource_subscriptions"] = uris
    if filters:
        await connection.listen(filters)


async def _complete(connection: ProbeConnection) -> None:
    """Ask for completions of the first argument of a prompt."""
    question, method = "completion/complete: answered", "completion/complete"
    for prompt in connection.lists.get("prompts", []):
        for argument in (prompt.get("arguments") or [])[:1]:
            params = {
                "ref": {"type": "ref/prompt", "name": prompt.get("name")},
                "argument": {"name": argument.get("name"), "value": ""},
            }
            await connection.ask_declared(method, params)
            return
    connection.add_not_asked(question, "no prompt has an argument")


async def ask_once_more(connection: ProbeConnection) -> None:
    """Request a list and cancel the request, then check that a second request is answered."""
    for key in list(connection.lists)[:1]:
        method = LISTS[key][1]
        await connection.ask(method, seconds=_AT_ONCE)
        answer = await connection.ask(method)
        question = f"{method}: answered after all that, and after a request that was cancelled"
        if answer.result is not None:
            connection.add(question, f"in {duration(answer.seconds)}")
        elif not connection.is_lost(question, answer):
            connection.add(question, answer, "response")
