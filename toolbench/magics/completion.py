"""Tab: names of tools, arguments, their values, servers and sub-commands."""

import re
from collections.abc import Callable, Iterable
from json import dumps
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)

from toolbench.magics.catalog import Catalog
from toolbench.widgets.formats import FORMATS

IDENTIFIER = "toolbench.matcher"
_OPTIONS = (
    *("--schema", "--format", "--out", "--dry-run", "--yes", "--bg"),
    "--timeout",
)
_OTHER_OPTIONS = {
    "tools": ("--source", "--lint"),
    "tool_call": ("--provider", "--out"),
    "tool_history": ("--json", "--rerun"),
}
_CALL = re.compile(r"(?:^|=\s*)%{1,2}tool\s+(\S+)\s+(?:.*\s)?(\S*)$")
_NAME = re.compile(r"(?:^|=\s*)%{1,2}tool\s+(\S*)$")
_SCHEMA = re.compile(r"(?:--schema|%%tool_call\s.*(?:-p|--provider))[ =](\S*)$")
_OTHER = re.compile(r"(?:^|=\s*)%{1,2}(tools|tool_call|tool_history)\s(?:.*\s)?(-\S*)$")
_BODY = re.compile(r"\s*%%tool\s+(\S+)")


def matcher_for(
    catalog: Catalog, servers: Callable[[], Iterable[str]], commands: Iterable[str]
) -> Any:
    """Return IPython's matcher for our magics.

    Args:
        catalog: Where the tools are.
        servers: Gives the names of the connected servers.
        commands: The sub-commands of %mcp.
    """
    subcommands = tuple(commands)
    server = re.compile(rf"%mcp\s+(?:{'|'.join(subcommands)})\s+(\S*)$")

    @context_matcher(identifier=IDENTIFIER, priority=1000)
    def match(context: CompletionContext) -> SimpleMatcherResult:
        line = context.line_with_cursor[: context.cursor_position]
        body = _BODY.match(context.full_text) if context.cursor_line else None
        if body:
            return _offer(
                _argument_names(catalog, body[1], '"{}": '), context.token, "param"
            )
        if found := _NAME.search(line):
            return _offer(catalog.names(), found[1], "tool")
        if found := _SCHEMA.search(line):
            return _offer(FORMATS, found[1], "format")
        if found := _OTHER.search(line):
            return _offer(_OTHER_OPTIONS[found[1]], found[2], "option")
        if found := _CALL.search(line):
            return _call(catalog, found[1], found[2])
        if found := re.search(r"%mcp\s+(\w*)$", line):
            return _offer(subcommands, found[1], "command")
        if found := server.search(line):
            return _offer(servers(), found[1], "server")
        return {"completions": [], "suppress": False}

    return match


def _call(catalog: Catalog, tool: str, word: str) -> SimpleMatcherResult:
    if word.startswith("-"):
        return _offer(_OPTIONS, word, "option")
    name, equals, typed = word.partition("=")
    if equals:
        return _offer(_values(catalog, tool, name), typed, "value")
    return _offer(_argument_names(catalog, tool, "{}="), word, "param")


def _schema(catalog: Catalog, tool: str) -> dict[str, Any]:
    try:
        return catalog.find(tool).input_schema
    except Exception:  # noqa: BLE001 - no such tool, or a create() that fails: Tab says nothing
        return {}


def _argument_names(catalog: Catalog, tool: str, pattern: str) -> list[str]:
    return [pattern.format(n) for n in _schema(catalog, tool).get("properties", ())]


def _values(catalog: Catalog, tool: str, argument: str) -> list[str]:
    field = _schema(catalog, tool).get("properties", {}).get(argument)
    if not isinstance(field, dict):
        return []
    branches = [field, *(b for b in field.get("anyOf", ()) if isinstance(b, dict))]
    values = [v for b in branches for v in (*b.get("enum", ()), *_const(b))]
    if any(b.get("type") == "boolean" for b in branches):
        values += [True, False]
    return [v if isinstance(v, str) else dumps(v) for v in values]


def _const(branch: dict[str, Any]) -> list[Any]:
    return [branch["const"]] if "const" in branch else []


def _offer(candidates: Iterable[str], typed: str, kind: str) -> SimpleMatcherResult:
    bare = typed.lstrip('{[,"')  # inside a JSON body
    found = [
        SimpleCompletion(text=candidate, type=kind)
        for candidate in candidates
        if candidate.lstrip('"').startswith(bare)
    ]
    return {"completions": found, "suppress": bool(found)}
