"""IPython's matcher: complete tools, arguments, values, servers and sub-commands."""

import re
import shlex
from collections.abc import Callable, Iterable
from json import dumps
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleMatcherResult,
    context_matcher,
)

from toolbench.jsonschema.node import read
from toolbench.llm.formats import FORMATS
from toolbench.magics.arguments.call_arguments import FORMS, looks_like_json
from toolbench.magics.catalog import Catalog
from toolbench.magics.commands.serving_command import OPTIONS as SERVING_OPTIONS
from toolbench.magics.completion.body_completion import (
    offer_in_json,
    offer_in_yaml,
    offered,
)
from toolbench.magics.mcp_magics import CONNECT_OPTIONS, MODES, apart
from toolbench.magics.parsers import open_json

IDENTIFIER = "toolbench.matcher"
_OPTIONS = (
    *("--schema", "--format", "--out", "--dry-run", "--yes", "--bg", "--sweep"),
    *("--export", "--openhands"),
    "--timeout",
)
_OTHER_OPTIONS = {
    "tools": ("--source", "--lint"),
    "tool_call": ("--provider", "--out"),
    "chat": ("--model", "--tools", "--new"),
    "tool_history": ("--json", "--rerun"),
}
_VALUE = re.compile(
    r"""(?:^|=\s*)%{1,2}tool\s+(\S+)\s.*?(?<!\S)([\w.-]+)=(["']?)((?<=")[^"]*|(?<=')[^']*|[^\s"']*)$"""
)
_OBJECT = re.compile(r"(?:^|=\s*)%{1,2}tool\s+(\S+)(\s.*)$")
_CALL = re.compile(r"(?:^|=\s*)%{1,2}tool\s+(\S+)\s+((?:.*\s)?)(\S*)$")
_FORM = re.compile(r"%{1,2}tool\s.*\s(?:-f|--format)[ =](\S*)$")
_NEW = re.compile(r"%{1,2}tool\s.*\s(?:-o|--out|--timeout|--export)[ =]\s*\S*$")
_SOURCE = re.compile(r"(?:^|=\s*)%tools\s(?:.*\s)?--source[ =](\S*)$")
_PATTERN = re.compile(r"(?:^|=\s*)%tools\s+(?:(?:--lint|--source[ =]\S+)\s+)*(?!-)(\S*)$")
_NAME = re.compile(r"(?:^|=\s*)%{1,2}tool\s+(\S*)$")
_SCHEMA = re.compile(r"(?:--schema|%%tool_call\s.*(?:-p|--provider))[ =](\S*)$")
_OTHER = re.compile(r"(?:^|=\s*)%{1,2}(tools|tool_call|tool_history|chat)\s(?:.*\s)?(-\S*)$")
_MODEL = re.compile(r"(?:^%model\s+|%%chat\s.*--model[ =])(\S*)$")
_CHAT_TOOLS = re.compile(r"%%chat\s.*--tools[ =](?:[^-\s,][^\s,]*\s*,\s*)*([^\s,]*)$")
_COMMAND = re.compile(r"%mcp\s+(\w*)$")
_CONNECT = re.compile(r"%mcp\s+connect\s+(?!(?:.*\s)?--\s)(?:(.*)\s)?(\S*)$")
_SERVE = re.compile(r"%mcp\s+serve\s+(?:.*\s)?(\S*)$")
_BODY = re.compile(r"\s*%%tool\s+(\S+)([^\n]*)\n(.*)", re.DOTALL)
_BODY_FORM = re.compile(r"\s(?:-f|--format)[ =]?(\w+)")
_KEYWORD = re.compile(r"(?<!\S)([\w.-]+)=")


def matcher_for(
    catalog: Catalog,
    servers: Callable[[], Iterable[str]],
    commands: Iterable[str],
    targets: Callable[[], Iterable[str]],
    models: Callable[[], Iterable[str]] = tuple,
) -> Any:
    """Return a matcher: a function that IPython calls to complete the lines of our magics.

    Args:
        catalog: The tools.
        servers: Returns the names of the servers, also of those that were disconnected.
        commands: The sub-commands of %mcp.
        targets: Returns the names of the objects that `%mcp connect` can connect to.
        models: Returns the names of the models.
    """
    subcommands = tuple(commands)
    server = re.compile(rf"%mcp\s+(?:{'|'.join(subcommands)})\s+(\S*)$")
    rules: tuple[tuple[re.Pattern[str], Callable[[Any], SimpleMatcherResult]], ...] = (
        (_NAME, lambda hit: _offer(catalog.names(hit[1]), hit[1], "tool")),
        (_SCHEMA, lambda hit: _offer(FORMATS, hit[1], "format")),
        (_SOURCE, lambda hit: _offer(catalog.sources(), hit[1], "source")),
        (_OTHER, lambda hit: _offer(_OTHER_OPTIONS[hit[1]], hit[2], "option")),
        (_PATTERN, lambda hit: _offer(catalog.names(hit[1]), hit[1], "tool")),
        (_FORM, lambda hit: _offer(FORMS, hit[1], "format")),
        (_NEW, lambda hit: _nothing()),
        (_CALL, lambda hit: _call(catalog, *hit.groups())),
        (_COMMAND, lambda hit: _offer(subcommands, hit[1], "command")),
        (_CONNECT, lambda hit: _connect(targets, hit[1] or "", hit[2])),
        (_SERVE, lambda hit: _serve(catalog, hit[1])),
        (_MODEL, lambda hit: _offer(models(), hit[1], "model")),
        (
            _CHAT_TOOLS,
            lambda hit: _offer([*catalog.names(hit[1]), *servers()], hit[1], "tool"),
        ),
        (server, lambda hit: _offer(servers(), hit[1], "server")),
    )

    @context_matcher(identifier=IDENTIFIER, priority=1000)
    def match(context: CompletionContext) -> SimpleMatcherResult:
        line = context.line_with_cursor[: context.cursor_position]
        rest = context.line_with_cursor[context.cursor_position :]
        above = context.full_text.split("\n")[: context.cursor_line]
        if body := _BODY.match("\n".join([*above, line])):
            return _body(catalog, body, rest)
        hit = _OBJECT.search(line)
        if hit and (text := open_json(hit[2])) is not None:
            offered = offer_in_json(_schema(catalog, hit[1]), text, rest)
            return offered or _nothing()
        if hit := _VALUE.search(line):
            return _value(catalog, hit, rest)
        offers = ((offer, pattern.search(line)) for pattern, offer in rules)
        return next((offer(hit) for offer, hit in offers if hit), _nothing())

    return match


def _body(catalog: Catalog, match: re.Match[str], rest: str) -> SimpleMatcherResult:
    tool, head, text = match.groups()
    form = _BODY_FORM.search(head)
    if form and form[1] == "py":
        return _nothing()
    is_json = looks_like_json(text) or (form and form[1] == "json")
    offer = offer_in_json if is_json else offer_in_yaml
    return offer(_schema(catalog, tool), text, rest) or _nothing()


def _call(catalog: Catalog, tool: str, before: str, word: str) -> SimpleMatcherResult:
    if word.startswith("-"):
        return _offer(_OPTIONS, word, "option")
    present = set(_KEYWORD.findall(before))
    names = (n for n in read(_schema(catalog, tool)).names if n not in present)
    return _offer([f"{name}=" for name in names], word, "param")


def _nothing() -> SimpleMatcherResult:
    return {"completions": [], "suppress": False}


def _value(catalog: Catalog, match: re.Match[str], rest: str) -> SimpleMatcherResult:
    """Offer values as words of the line, in the quotes that the person typed or that a value needs.

    If *rest* begins with the closing quote, which the editor has added, no quote is
    added.
    """
    tool, argument, quote, typed = match.groups()
    is_closed = bool(quote) and rest.startswith(quote)
    values = [
        text.removesuffix(quote) if is_closed else text
        for value in _values(catalog, tool, argument)
        # A newline would end the line
        if value.startswith(typed) and "\n" not in value
        if (text := _quoted(value, quote)).startswith(quote) or not is_closed
    ]
    return offered(values, quote + typed, "value")


def _quoted(value: str, quote: str) -> str:
    if quote and quote not in value and "\\" not in value:
        return f"{quote}{value}{quote}"
    if "'" in value and not set(value) & set('"\\$`'):
        return f'"{value}"'
    return shlex.quote(value)


def _connect(targets: Callable[[], Iterable[str]], line: str, word: str) -> SimpleMatcherResult:
    before = line.split()
    if before[-1:] == ["--mode"]:
        return _offer(MODES, word, "mode")
    if word.startswith("-"):
        return _offer(CONNECT_OPTIONS, word, "option")
    _, positional = apart(["connect", *before])
    return _offer(targets() if len(positional) == 2 else (), word, "instance")


def _serve(catalog: Catalog, word: str) -> SimpleMatcherResult:
    if word.startswith("-"):
        return _offer(SERVING_OPTIONS, word, "option")
    return _offer(catalog.names(word), word, "tool")


def _schema(catalog: Catalog, tool: str) -> dict[str, Any]:
    try:
        return catalog.find(tool).input_schema
    except Exception:  # noqa: BLE001 - no such tool, or its create() fails: offer nothing
        return {}


def _values(catalog: Catalog, tool: str, argument: str) -> list[str]:
    choices = read(_schema(catalog, tool)).at(argument).choices
    return [v if isinstance(v, str) else dumps(v) for v in choices]


def _offer(candidates: Iterable[str], typed: str, kind: str) -> SimpleMatcherResult:
    return offered([c for c in candidates if c.startswith(typed)], typed, kind)
