"""Tab: names of tools, arguments, their values, servers and sub-commands."""

import re
import shlex
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
from toolbench.magics.mcp_magics import CONNECT_OPTIONS, MODES, apart
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
_VALUE = re.compile(
    r"""(?:^|=\s*)%{1,2}tool\s+(\S+)\s.*?(?<!\S)([\w.-]+)=(["']?)((?<=")[^"]*|(?<=')[^']*|[^\s"']*)$"""
)
_CALL = re.compile(r"(?:^|=\s*)%{1,2}tool\s+(\S+)\s+(?:.*\s)?(\S*)$")
_NAME = re.compile(r"(?:^|=\s*)%{1,2}tool\s+(\S*)$")
_SCHEMA = re.compile(r"(?:--schema|%%tool_call\s.*(?:-p|--provider))[ =](\S*)$")
_OTHER = re.compile(r"(?:^|=\s*)%{1,2}(tools|tool_call|tool_history)\s(?:.*\s)?(-\S*)$")
_COMMAND = re.compile(r"%mcp\s+(\w*)$")
_CONNECT = re.compile(r"%mcp\s+connect\s+(?!.*\s--\s)(?:(.*)\s)?(\S*)$")
_BODY = re.compile(r"\s*%%tool\s+(\S+)")


def matcher_for(
    catalog: Catalog,
    servers: Callable[[], Iterable[str]],
    commands: Iterable[str],
    targets: Callable[[], Iterable[str]],
) -> Any:
    """Return IPython's matcher for our magics.

    Args:
        catalog: Where the tools are.
        servers: Gives the names of the connected servers.
        commands: The sub-commands of %mcp.
        targets: Gives the objects of the notebook that `%mcp connect` could connect to.
    """
    subcommands = tuple(commands)
    server = re.compile(rf"%mcp\s+(?:{'|'.join(subcommands)})\s+(\S*)$")
    rules: tuple[tuple[re.Pattern[str], Callable[[Any], SimpleMatcherResult]], ...] = (
        (_NAME, lambda said: _offer(catalog.names(), said[1], "tool")),
        (_SCHEMA, lambda said: _offer(FORMATS, said[1], "format")),
        (_OTHER, lambda said: _offer(_OTHER_OPTIONS[said[1]], said[2], "option")),
        (_VALUE, lambda said: _value(catalog, *said.groups())),
        (_CALL, lambda said: _call(catalog, said[1], said[2])),
        (_COMMAND, lambda said: _offer(subcommands, said[1], "command")),
        (_CONNECT, lambda said: _connect(targets, said[1] or "", said[2])),
        (server, lambda said: _offer(servers(), said[1], "server")),
    )

    @context_matcher(identifier=IDENTIFIER, priority=1000)
    def match(context: CompletionContext) -> SimpleMatcherResult:
        body = _BODY.match(context.full_text) if context.cursor_line else None
        if body:
            names = _argument_names(catalog, body[1], '"{}": ')
            return _offer(names, context.token, "param")
        line = context.line_with_cursor[: context.cursor_position]
        found = ((offer, pattern.search(line)) for pattern, offer in rules)
        return next((offer(said) for offer, said in found if said), _nothing())

    return match


def _call(catalog: Catalog, tool: str, word: str) -> SimpleMatcherResult:
    if word.startswith("-"):
        return _offer(_OPTIONS, word, "option")
    return _offer(_argument_names(catalog, tool, "{}="), word, "param")


def _nothing() -> SimpleMatcherResult:
    return {"completions": [], "suppress": False}


def _value(
    catalog: Catalog, tool: str, argument: str, quote: str, typed: str
) -> SimpleMatcherResult:
    """Offer values as words of the line: quoted as it was begun, or where they have to be."""
    found = [
        SimpleCompletion(text=_quoted(value, quote), type="value")
        for value in _values(catalog, tool, argument)
        if value.startswith(typed)
    ]
    return {
        "completions": found,
        "suppress": bool(found),
        "matched_fragment": quote + typed,
    }


def _quoted(value: str, quote: str) -> str:
    if quote and quote not in value and "\\" not in value:
        return f"{quote}{value}{quote}"
    if "'" in value and not set(value) & set('"\\$`'):
        return f'"{value}"'
    return shlex.quote(value)


def _connect(
    targets: Callable[[], Iterable[str]], line: str, word: str
) -> SimpleMatcherResult:
    before = line.split()
    if before[-1:] == ["--mode"]:
        return _offer(MODES, word, "mode")
    if word.startswith("-"):
        return _offer(CONNECT_OPTIONS, word, "option")
    _, named = apart(["connect", *before])
    return _offer(targets() if len(named) == 2 else (), word, "instance")


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
