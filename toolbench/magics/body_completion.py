"""Complete the arguments of a call that are written as JSON or YAML, where the cursor is."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from json import dumps, loads
from typing import Any, Literal

from IPython.core.completer import SimpleCompletion, SimpleMatcherResult

from toolbench.errors import BodyError
from toolbench.jsonschema.node import read

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*("?)')
_BARE = re.compile(r'[^\s"{}\[\],:]+')
_NAME = re.compile(r"""(?P<typed>(["']?)[\w.-]*)$""")
_VALUE = re.compile(r"""(["']?)(?P<name>[\w.-]+)\1:\s+(?P<typed>.*)$""")
_KEY_AT_START = re.compile(r"""^(["']?)([\w.-]+)\1:""", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """The place of a cursor after `typed`, which is the beginning of a name or of a value."""

    kind: Literal["name", "value"]
    path: tuple[str | int, ...]
    """The path in the arguments: to the object in which a name is typed, or to a value."""
    typed: str
    """The text before the cursor, with its opening quote if it has one."""
    present: frozenset[str] = frozenset()
    """If a name is typed: the names that the object has already."""


@dataclass
class _Open:
    """An object or a list that is not closed yet."""

    is_object: bool
    key: str | int
    present: set[str] = field(default_factory=set)


class _JSON:
    """A reader of the beginning of a JSON text; it takes one mark or word at a time."""

    def __init__(self) -> None:
        self.open: list[_Open] = []
        self.wants: Literal["name", "value", "nothing"] = "value"

    def mark(self, mark: str) -> None:
        """Take one of the marks `{}[],:`."""
        if mark in "{[":
            self._begin(is_object=mark == "{")
        elif mark in "}]":
            del self.open[-1:]
            self.wants = "nothing"
        elif mark == ":":
            self.wants = "value"
        elif mark == "," and self.open:
            here = self.open[-1]
            self.wants = "value"
            if here.is_object:
                self.wants = "name"
            if isinstance(here.key, int):
                here.key += 1

    def _begin(self, *, is_object: bool) -> None:
        if is_object:
            self.open.append(_Open(is_object=True, key=""))
            self.wants = "name"
        else:
            self.open.append(_Open(is_object=False, key=0))
            self.wants = "value"

    def word(self, text: str) -> None:
        """Take a whole string or number."""
        if self.wants == "name":
            name = _text_of(text)
            self.open[-1].key = name
            self.open[-1].present.add(name)
        self.wants = "nothing"

    def place(self, typed: str) -> Place | None:
        """Return the place of a cursor after *typed*; None if nothing can be inserted there."""
        if self.wants == "nothing" or not self.open:
            return None
        path = tuple(each.key for each in self.open)
        if self.wants == "name":
            return Place("name", path[:-1], typed, frozenset(self.open[-1].present))
        return Place("value", path, typed)


def place_in_json(text: str) -> Place | None:
    """Return the place of the cursor after *text*, the beginning of a JSON object.

    Return None if nothing can be inserted there.
    """
    reader, at = _JSON(), 0
    while at < len(text):
        word = _STRING.match(text, at) or _BARE.match(text, at)
        if word is None:
            reader.mark(text[at])
            at += 1
            continue
        at = word.end()
        if at == len(text) and not (word.re is _STRING and word[1]):
            return reader.place(word[0])
        reader.word(word[0])
    return reader.place("")


def place_in_yaml(text: str) -> Place | None:
    """Return the place of the cursor after *text*, a block of `name: value` lines.

    Return None if nothing can be inserted there, such as in indented lines.
    """
    line = text.rpartition("\n")[2]
    names = frozenset(name for _, name in _KEY_AT_START.findall(text))
    if match := _NAME.match(line):
        return Place("name", (), match["typed"], names)
    if match := _VALUE.match(line):
        return Place("value", (match["name"],), match["typed"])
    return None


def _text_of(word: str) -> str:
    try:
        return str(loads(word))
    except ValueError:
        return word


def offer_in_json(schema: Any, text: str, rest: str) -> SimpleMatcherResult | None:
    """Offer the continuations of *text*, the beginning of a JSON object.

    Args:
        schema: The schema of the arguments.
        text: The text before the cursor.
        rest: The text after the cursor.

    Returns:
        The completions; None if nothing can be inserted here.
    """
    place = place_in_json(text)
    if place is None:
        return None
    return _offer(place, schema, rest, _json)


def offer_in_yaml(schema: Any, text: str, rest: str) -> SimpleMatcherResult | None:
    """Offer the continuations of *text*, the beginning of a YAML block; see `offer_in_json`."""
    place = place_in_yaml(text)
    if place is None:
        return None
    return _offer(place, schema, rest, _yaml)


def _offer(
    place: Place, schema: Any, rest: str, write: Callable[[Any, str], str]
) -> SimpleMatcherResult:
    here = read(schema).at(*place.path)
    quote = place.typed[:1]
    if quote not in ('"', "'"):
        quote = ""
    # The editor closed it
    is_closed = bool(quote) and rest.startswith(quote)
    if place.kind == "name":
        words = [name for name in here.names if name not in place.present]
        kind, end = "param", ": "
        if is_closed:
            end = ""
    else:
        words, kind, end = here.choices, "value", ""
    offers = []
    for word in words:
        text = write(word, quote)
        if text.startswith(place.typed) or text.lstrip("\"'").startswith(place.typed):
            if is_closed:
                text = text.removesuffix(quote)
            offers.append(text + end)
    return offered(offers, place.typed, kind)


def offered(texts: list[str], typed: str, kind: str) -> SimpleMatcherResult:
    """Return *texts* as IPython's completions of type *kind*, which replace *typed*."""
    return {
        "completions": [SimpleCompletion(text=text, type=kind) for text in texts],
        "suppress": bool(texts),
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
    from toolbench.magics.yaml_body import (  # noqa: PLC0415 - heavy: PyYAML
        read_yaml,
    )

    try:
        return bool(read_yaml(f"- {word}", {}) == [word])
    except BodyError:
        return False
