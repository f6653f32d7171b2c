"""IPython's matcher: complete tools, arguments, values, servers and sub-commands."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from json import dumps
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleMatcherResult,
    context_matcher,
)

from toolbench.jsonschema.node import read
from toolbench.magics.body_completion import (
    offer_in_json,
    offer_in_yaml,
    offered,
)
from toolbench.magics.call_arguments import looks_like_json
from toolbench.magics.call_magics import TOOL_CALL
from toolbench.magics.catalog import Catalog
from toolbench.magics.chat_magics import CHAT, MODEL
from toolbench.magics.commands import Family, LineParser
from toolbench.magics.line import open_json, with_whole_lists
from toolbench.magics.mcp_magics import MCP
from toolbench.magics.tool_magics import TOOL
from toolbench.magics.tools_magics import TOOLS

IDENTIFIER = "toolbench.matcher"
_PARSERS = {parser.prog: parser for parser in (TOOL, TOOL_CALL, MODEL, CHAT)}
_FAMILIES = {family.name: family for family in (TOOLS, MCP)}
_VALUE = re.compile(
    r"""(?:^|=\s*)%{1,2}tool\s+(\S.*?\s)([\w.][\w.-]*)=(["']?)((?<=")[^"]*|(?<=')[^']*|[^\s"']*)$"""
)
_OBJECT = re.compile(r"(?:^|=\s*)%{1,2}tool\s+(\S.*)$")
_LINE = re.compile(r"(?:^|=\s*)%{1,2}(\w+)\s+(.*\s)?(\S*)$")
_BODY = re.compile(r"\s*%%tool\s+(\S[^\n]*)\n(.*)", re.DOTALL)
_BODY_FORM = re.compile(r"(?<!\S)(?:-f|--format)[ =]?(\w+)")
# What is known only now, by what an argument offers: the kind of the completions, and the values
_Known = Mapping[str, tuple[str, Callable[[str], Iterable[str]]]]


def matcher_for(
    catalog: Catalog,
    servers: Callable[[], Iterable[str]],
    targets: Callable[[], Iterable[str]],
    models: Callable[[], Iterable[str]] = tuple,
) -> Any:
    """Return a matcher: a function that IPython calls to complete the lines of our magics.

    Args:
        catalog: The tools.
        servers: Returns the names of the servers, also of those that were disconnected.
        targets: Returns the names of the objects that `%mcp connect` can connect to.
        models: Returns the names of the models.
    """
    known: _Known = {
        "tool": ("tool", catalog.names),
        "tools": ("tool", lambda typed: [*catalog.names(typed), *servers()]),
        "source": ("source", lambda typed: catalog.sources()),
        "model": ("model", lambda typed: models()),
        "server": ("server", lambda typed: servers()),
        "target": ("instance", lambda typed: targets()),
        "level": ("value", lambda typed: _levels()),
    }

    @context_matcher(identifier=IDENTIFIER, priority=1000)
    def match(context: CompletionContext) -> SimpleMatcherResult:
        line = context.line_with_cursor[: context.cursor_position]
        rest = context.line_with_cursor[context.cursor_position :]
        above = context.full_text.split("\n")[: context.cursor_line]
        if body := _BODY.match("\n".join([*above, line])):
            return _body(catalog, body, rest)
        hit = _OBJECT.search(line)
        if hit and (text := open_json(hit[1])) is not None:
            offered = offer_in_json(_schema(catalog, hit[1].split()), text, rest)
            return offered or _nothing()
        if hit := _VALUE.search(line):
            return _value(catalog, hit, rest)
        if hit := _LINE.search(line):
            return _word(catalog, known, hit[1], (hit[2] or "").split(), hit[3])
        return _nothing()

    return match


def _word(
    catalog: Catalog, known: _Known, magic: str, words: Sequence[str], typed: str
) -> SimpleMatcherResult:
    """Offer the continuations of *typed*, the word after *words* in the line of *magic*."""
    parser = _PARSERS.get(magic)
    commands: list[str] = []
    if family := _FAMILIES.get(magic):
        parser, words, commands = _in_family(family, words, typed)
    # After two dashes stands the command of a server
    if parser is None or "--" in words:
        return _offer(commands, typed, "command")
    *words, typed = with_whole_lists([*words, typed], parser.lists)
    name, equals, value = typed.partition("=")
    if equals and name in parser.value_options:
        words, typed = [*words, name], value
    elif typed.startswith("-"):
        return _offer(parser.long_options, typed, "option")
    argument = parser.argument_after(words)
    if argument is None:
        return _offer(commands, typed, "command")
    offers = parser.offers.get(argument.dest, "")
    if offers == "argument":
        return _keywords(catalog, parser.positional_words(words), words, typed)
    if not set(argument.option_strings).isdisjoint(parser.lists):
        typed = typed.rpartition(",")[2]
    if offers in known:
        kind, values = known[offers]
        return _offer([*commands, *values(typed)], typed, kind)
    return _offer([*commands, *(argument.choices or ())], typed, "value")


def _in_family(
    family: Family, words: Sequence[str], typed: str
) -> tuple[LineParser | None, Sequence[str], list[str]]:
    """Return the parser of the line, the words it reads, and the commands that may stand here."""
    if words and words[0] in family.parsers:
        return family.parsers[words[0]], words[1:], []
    commands: list[str] = []
    if not words and not typed.startswith("-"):
        commands = list(family.commands)
    if family.takes_other_words:
        return family.parsers[family.default], words, commands
    if not words and typed.startswith("-"):
        commands = ["--help"]
    return None, words, commands


def _keywords(
    catalog: Catalog, names: Sequence[str], words: Sequence[str], typed: str
) -> SimpleMatcherResult:
    """Offer the arguments of the tool that is first in *names* that *words* do not have."""
    present = {word.partition("=")[0] for word in words}
    accepted = read(_schema(catalog, names)).names
    return _offer([f"{name}=" for name in accepted if name not in present], typed, "param")


def _body(catalog: Catalog, match: re.Match[str], rest: str) -> SimpleMatcherResult:
    head, text = match.groups()
    form = _BODY_FORM.search(head)
    if form and form[1] == "py":
        return _nothing()
    is_json = looks_like_json(text) or (form and form[1] == "json")
    schema = _schema(catalog, head.split())
    if is_json:
        return offer_in_json(schema, text, rest) or _nothing()
    return offer_in_yaml(schema, text, rest) or _nothing()


def _nothing() -> SimpleMatcherResult:
    return {"completions": [], "suppress": False}


def _value(catalog: Catalog, match: re.Match[str], rest: str) -> SimpleMatcherResult:
    """Offer values as words of the line, in the quotes that the person typed or that a value needs.

    If *rest* begins with the closing quote, which the editor has added, no quote is
    added.
    """
    line, argument, quote, typed = match.groups()
    is_closed = bool(quote) and rest.startswith(quote)
    values = [
        text.removesuffix(quote) if is_closed else text
        for value in _choices(catalog, line.split(), argument)
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


def _schema(catalog: Catalog, words: Sequence[str]) -> dict[str, Any]:
    """Return the schema of the tool that *words*, those after `%tool`, name; empty if there is none."""
    names = TOOL.positional_words(words)
    try:
        return catalog.find(names[0]).input_schema
    except Exception:  # noqa: BLE001 - no such tool, or its create() fails: offer nothing
        return {}


def _choices(catalog: Catalog, words: Sequence[str], argument: str) -> list[str]:
    choices = read(_schema(catalog, words)).at(argument).choices
    return [v if isinstance(v, str) else dumps(v) for v in choices]


def _levels() -> Iterable[str]:
    """Return the levels of a server's log."""
    from toolbench.mcp.monitoring.log import LEVELS  # noqa: PLC0415 - brings toolbench.mcp

    return LEVELS


def _offer(candidates: Iterable[str], typed: str, kind: str) -> SimpleMatcherResult:
    return offered([c for c in candidates if c.startswith(typed)], typed, kind)
