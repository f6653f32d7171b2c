"""A matcher for IPython that completes tools, arguments, values, servers, commands and bodies."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from json import dumps, loads
from typing import Any, Literal

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)

from toolbench.display.filter import STATE, STATES
from toolbench.display.timeline import TIMELINE_KEYS
from toolbench.errors import BodyError
from toolbench.jsonschema.node import read
from toolbench.magics.call_arguments import looks_like_json
from toolbench.magics.catalog import Catalog
from toolbench.magics.chat_magics import CHAT, MODEL
from toolbench.magics.commands import Family, LineParser
from toolbench.magics.line import open_json, with_whole_lists
from toolbench.magics.mcp_magics import MCP
from toolbench.magics.tool_magics import TOOL, TOOL_CALL
from toolbench.magics.tools_magics import TOOLS
from toolbench.mcp.monitoring.log import LOG_KEYS
from toolbench.mcp.monitoring.traffic import TRAFFIC_KEYS
from toolbench.runs.run_rows import RUN_KEYS

IDENTIFIER = "toolbench.matcher"
_PARSERS = {parser.prog: parser for parser in (TOOL, TOOL_CALL, MODEL, CHAT)}
_FAMILIES = {family.name: family for family in (TOOLS, MCP)}
_VALUE = re.compile(
    r"""(?:^|=\s*)%{1,2}tool(?:s\s+sweep)?\s+(\S.*?\s)([\w.][\w.-]*)=("[^"]*|'[^']*|[^\s"']*)$"""
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
        catalog: The catalog of the tools to offer.
        servers: A function that returns the names of all servers, including disconnected servers.
        targets: A function that returns the names of the variables that `%mcp connect` accepts.
        models: A function that returns the names of the models.
    """
    known: _Known = {
        "tool": ("tool", catalog.names),
        "tools": ("tool", lambda typed: [*catalog.names(typed), *servers()]),
        "source": ("source", lambda typed: catalog.sources()),
        "model": ("model", lambda typed: models()),
        "server": ("server", lambda typed: servers()),
        "target": ("instance", lambda typed: targets()),
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
            return offer_in_json(_schema(catalog, hit[1].split()), text, rest)
        if hit := _VALUE.search(line):
            return _value(catalog, hit, rest)
        if hit := _LINE.search(line):
            return _word(catalog, known, hit[1], (hit[2] or "").split(), hit[3])
        return _nothing()

    return match


def _word(
    catalog: Catalog, known: _Known, magic: str, words: Sequence[str], typed: str
) -> SimpleMatcherResult:
    """Offer completions of the word *typed*, which follows *words* in a line of *magic*."""
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
    if offers == "filter":
        return _offer(_filter_words(parser, words), typed, "keyword")
    if not set(argument.option_strings).isdisjoint(parser.lists):
        typed = typed.rpartition(",")[2]
    if offers in known:
        kind, values = known[offers]
        return _offer([*commands, *values(typed)], typed, kind)
    return _offer([*commands, *(argument.choices or ())], typed, "value")


def _filter_words(parser: LineParser, words: Sequence[str]) -> list[str]:
    """Return the beginnings of filter terms, such as `tool:`, that fit the line.

    *parser* is the parser of the line, and *words* are the words before the cursor.
    """
    keys: Sequence[str] = LOG_KEYS
    if parser is TOOLS.parsers["history"]:
        keys = RUN_KEYS
    elif parser is MCP.parsers["timeline"]:
        keys = TIMELINE_KEYS
    elif "--traffic" in words:
        keys = TRAFFIC_KEYS
    elif "--stderr" in words:
        keys = ()
    terms = [f"{key}:" for key in keys]
    if STATE in keys:
        terms += STATES
    return terms


def _in_family(
    family: Family, words: Sequence[str], typed: str
) -> tuple[LineParser | None, Sequence[str], list[str]]:
    """Find the command of a line, and return what is needed to complete the word *typed*.

    Returns:
        The parser of the command (None if there is no command), the words after the command, and
        the commands that may come next.
    """
    commands: list[str] = []
    if words and words[0] in family.parsers:
        parser, words = family.parsers[words[0]], words[1:]
        if parser is MCP.parsers["timeline"]:
            # In place of a server, the first word may be one of a filter
            commands = _filter_words(parser, words)
        return parser, words, commands
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
    """Offer the arguments of the tool `names[0]` that are not yet in *words*."""
    present = {word.partition("=")[0] for word in words}
    accepted = read(_schema(catalog, names)).names
    return _offer([f"{name}=" for name in accepted if name not in present], typed, "param")


def _body(catalog: Catalog, match: re.Match[str], rest: str) -> SimpleMatcherResult:
    head, text = match.groups()
    schema, form = _schema(catalog, head.split()), ""
    if option := _BODY_FORM.search(head):
        form = option[1]
    if form == "py":
        return _nothing()
    if form == "json" or looks_like_json(text):
        return offer_in_json(schema, text, rest)
    return offer_in_yaml(schema, text, rest)


def _nothing() -> SimpleMatcherResult:
    return {"completions": [], "suppress": False}


def _value(catalog: Catalog, match: re.Match[str], rest: str) -> SimpleMatcherResult:
    """Offer the values of an argument, with the quotes that the user typed or that are needed."""
    line, argument, typed = match.groups()
    place = Place("value", (argument,), typed)
    return _continued(place, _schema(catalog, line.split()), rest, _word_of)


def _word_of(value: Any, quote: str) -> str:
    if not isinstance(value, str):
        value = dumps(value)
    if quote and quote not in value and "\\" not in value:
        return f"{quote}{value}{quote}"
    if "'" in value and not set(value) & set('"\\$`'):
        return f'"{value}"'
    return shlex.quote(value)


def _schema(catalog: Catalog, words: Sequence[str]) -> dict[str, Any]:
    """Return the schema of the tool that *words* after `%tool` name; empty if there is none."""
    names = TOOL.positional_words(words)
    try:
        return catalog.find(names[0]).input_schema
    except Exception:  # noqa: BLE001 - no such tool, or its create() fails: offer nothing
        return {}


def _offer(candidates: Iterable[str], typed: str, kind: str) -> SimpleMatcherResult:
    return _offered([c for c in candidates if c.startswith(typed)], typed, kind)


# --- in the JSON or YAML of a call -----------------------------------------------------------

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*("?)')
_BARE = re.compile(r'[^\s"{}\[\],:]+')
_YAML_NAME = re.compile(r"""(?P<typed>(["']?)[\w.-]*)$""")
_YAML_VALUE = re.compile(r"""(["']?)(?P<name>[\w.-]+)\1:\s+(?P<typed>.*)$""")
_YAML_KEY = re.compile(r"""^(["']?)([\w.-]+)\1:""", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """Where the cursor is in the arguments: the user is typing a name or a value there."""

    kind: Literal["name", "value"]
    path: tuple[str | int, ...]
    """The path in the arguments: to the object in which a name is typed, or to a value."""
    typed: str
    """The text before the cursor, with its opening quote if it has one."""
    present: frozenset[str] = frozenset()
    """If a name is typed: the names that the object has already."""


def place_in_json(text: str) -> Place | None:
    """Find the place of the cursor in an unfinished JSON object.

    Return None if neither a name nor a value can be inserted at the cursor.

    Args:
        text: The text before the cursor, which starts at the object's opening brace.
    """
    # Of each object and list that is not closed: the name or the index of its last value, and its names
    path: list[str | int] = []
    names: list[set[str]] = []
    wants, typed, at = "value", "", 0
    while at < len(text):
        word = _STRING.match(text, at) or _BARE.match(text, at)
        if word is None:
            if text[at] in "{}[],:":
                wants = _after_mark(text[at], path, names)
            at += 1
            continue
        at = word.end()
        if at == len(text) and not (word.re is _STRING and word[1]):
            typed = word[0]
            break
        if wants == "name":
            path[-1] = name = _text_of(word[0])
            names[-1].add(name)
        wants = "nothing"
    if wants == "nothing" or not path:
        return None
    if wants == "name":
        return Place("name", tuple(path[:-1]), typed, frozenset(names[-1]))
    return Place("value", tuple(path), typed)


def _after_mark(mark: str, path: list[str | int], names: list[set[str]]) -> str:
    """Update *path* and *names* after the character *mark*; return whether a name comes next.

    *mark* is a brace, a bracket, a colon or a comma. *path* is the path of the current value, and
    *names* are the names in each object around it. The result is `name`, `value` or `nothing`.
    """
    if mark == "{":
        path.append("")
        names.append(set())
        return "name"
    if mark == "[":
        path.append(0)
        names.append(set())
        return "value"
    if mark in "}]":
        del path[-1:], names[-1:]
        return "nothing"
    if mark == ":" or not path:
        return "value"
    last = path[-1]
    if isinstance(last, str):
        return "name"
    path[-1] = last + 1
    return "value"


def place_in_yaml(text: str) -> Place | None:
    """Find the place of the cursor in YAML with lines of the form `name: value`.

    Return None if nothing can be completed at the cursor, for example in an indented line.

    Args:
        text: The text before the cursor.
    """
    line = text.rpartition("\n")[2]
    names = frozenset(name for _, name in _YAML_KEY.findall(text))
    if match := _YAML_NAME.match(line):
        return Place("name", (), match["typed"], names)
    if match := _YAML_VALUE.match(line):
        return Place("value", (match["name"],), match["typed"])
    return None


def _text_of(word: str) -> str:
    try:
        return str(loads(word))
    except ValueError:
        return word


def offer_in_json(schema: Any, text: str, rest: str) -> SimpleMatcherResult:
    """Complete the name or the value that the user is typing in a JSON object.

    Args:
        schema: The schema of the arguments.
        text: The text before the cursor.
        rest: The text after the cursor.
    """
    return _continued(place_in_json(text), schema, rest, _json)


def offer_in_yaml(schema: Any, text: str, rest: str) -> SimpleMatcherResult:
    """Complete the name or the value that the user is typing in YAML; see `offer_in_json`."""
    return _continued(place_in_yaml(text), schema, rest, _yaml)


def _continued(
    place: Place | None, schema: Any, rest: str, write: Callable[[Any, str], str]
) -> SimpleMatcherResult:
    if place is None:
        return _nothing()
    here = read(schema).at(*place.path)
    quote = place.typed[:1]
    if quote not in ('"', "'"):
        quote = ""
    # The editor closed it
    is_closed = bool(quote) and rest.startswith(quote)
    words, kind, end = here.choices, "value", ""
    if place.kind == "name":
        words, kind = [name for name in here.names if name not in place.present], "param"
        if not is_closed:
            end = ": "
    offers = []
    for word in words:
        text = write(word, quote)
        fits = text.startswith(place.typed) or text.lstrip("\"'").startswith(place.typed)
        if fits:
            if is_closed:
                text = text.removesuffix(quote)
            offers.append(text + end)
    return _offered(offers, place.typed, kind)


def _offered(texts: list[str], typed: str, kind: str) -> SimpleMatcherResult:
    """Return *texts* as IPython's completions of type *kind*, which replace *typed*."""
    # After a line break, the rest of a server's name would be code of the cell
    offers = [SimpleCompletion(text, type=kind) for text in texts if text.splitlines() == [text]]
    return {
        "completions": offers,
        "suppress": bool(offers),
        "matched_fragment": typed,
    }


def _json(word: Any, quote: str) -> str:
    return dumps(word, ensure_ascii=False)


def _yaml(word: Any, quote: str) -> str:
    if not isinstance(word, str) or quote == '"':
        return dumps(word, ensure_ascii=False)
    if quote:
        return "'" + word.replace("'", "''") + "'"
    if _reads_as_itself(word):
        return word
    return dumps(word, ensure_ascii=False)


def _reads_as_itself(word: str) -> bool:
    from toolbench.jsonschema.yaml_text import (  # noqa: PLC0415 - heavy: PyYAML
        read_yaml,
    )

    try:
        return bool(read_yaml(f"- {word}", {}) == [word])
    except BodyError:
        return False
