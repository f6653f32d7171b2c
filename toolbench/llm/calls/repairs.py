"""Repair the JSON text and the values that a model wrote, if they can mean only one thing.

JSON text is repaired token by token, so that values and brackets stay where they are. Text that was
cut off remains an error. A value is repaired if the schema of the tool allows only one meaning.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from operator import eq
from typing import Any, NoReturn

from toolbench.errors import Path, Problem
from toolbench.jsonschema.node import Node
from toolbench.redaction import MARK
from toolbench.values import clip, each_once
from toolbench.wording import counted

# --- JSON text ------------------------------------------------------------------------

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n")
_OPENING = re.compile(r"""\{(?=\s*["'}])|\[(?=\s*\{)""")
_TAGS = re.compile(r"</?tool_calls?>|```[a-zA-Z]*")


class NotJsonError(ValueError):
    """The text is not JSON, and a repair would be a guess."""


def _no_constant(name: str) -> NoReturn:
    msg = f"{name} is not a JSON value"
    raise NotJsonError(msg)


_each_once = partial(each_once, error=NotJsonError)
_exact = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_each_once)
_lenient = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_each_once, strict=False)
_sent = json.JSONEncoder(ensure_ascii=False, allow_nan=False, skipkeys=True, default=lambda _: None)


def read_json(text: str) -> tuple[Any, list[str]]:
    """Parse *text* as JSON; return the value, and a sentence for each repair.

    Only errors that models were seen to make are repaired:

    - a code fence around the JSON, a comma before a closing bracket, and keys without quotes
    - strings in single quotes, and Python's `True`, `False` and `None`
    - raw control characters in strings, and backslashes that do not begin an escape

    Text that was cut off, or that can mean two things, is never repaired.

    Raises:
        NotJsonError: If *text* is not JSON, and the meaning is not certain enough for a repair. The
            error message gives the reason.
    """
    repairs: list[str] = []
    inside = _unfenced(text)
    if inside is not None:
        text = inside
        repairs.append("the code fence around it was removed")
    try:
        return _sendable(_exact.decode(text)), repairs
    except (ValueError, RecursionError):
        pass
    try:
        value = _sendable(_lenient.decode(text))
        return value, [*repairs, "control characters in its strings were escaped"]
    except (ValueError, RecursionError) as error:
        refused = NotJsonError(_where(text, error))
    try:
        value = _sendable(_lenient.decode(_PIECE.sub(_as_json, text)))
    except (ValueError, RecursionError):
        raise refused from None
    return value, [*repairs, "its JSON was corrected: quotes, commas or literals"]


def _unfenced(text: str) -> str | None:
    """Return the text inside the code fence around *text*; None if there is no code fence."""
    bare = text.strip()
    opening = _FENCE.match(bare)
    if opening is None or not bare.endswith("```"):
        return None
    return bare[opening.end() : -3].rstrip()


def arguments_in(value: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a call as a dict, and a sentence for each repair.

    Args:
        value: The arguments as the model sent them: JSON text or a dict.

    Raises:
        NotJsonError: If *value* cannot be read as an object. The error message gives the reason.
    """
    repairs: list[str] = []
    is_checked = isinstance(value, str)
    if isinstance(value, str) and not value.strip():
        value = None
    for is_nested in (False, True):
        if isinstance(value, str):
            try:
                value, mended = read_json(value)
            except NotJsonError as error:
                msg = f"the arguments are not a JSON object: {error}"
                raise NotJsonError(msg) from None
            repairs += [f"the arguments: {repair}" for repair in mended]
            if is_nested:
                repairs.append("the arguments were JSON in a string")
    if value is None:
        return {}, repairs
    if isinstance(value, dict) and is_checked:
        return value, repairs
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        try:
            return dict(_sendable(value)), repairs
        except (ValueError, RecursionError) as error:
            msg = f"the arguments are not a JSON object: {_where('', error)}"
            raise NotJsonError(msg) from None
    msg = f"the arguments should be a JSON object, not {clip(value)}"
    raise NotJsonError(msg)


def json_at(text: str, at: int) -> tuple[Any, int]:
    """Return the JSON value that starts at position *at* of *text*, and the position of its end.

    Raises:
        NotJsonError: If no JSON value starts there, or if the value needs a repair.
    """
    try:
        value, end = _lenient.raw_decode(text, at)
        return _sendable(value), end
    except (ValueError, RecursionError) as error:
        raise NotJsonError(_where(text, error)) from None


def embedded(text: str) -> tuple[list[Any], str]:
    """Return the JSON values in *text*, and the words around them.

    Only objects and lists of objects count as values. If one of them is malformed, no value is
    returned, because *text* may have been cut off.
    """
    values: list[Any] = []
    words: list[str] = []
    at = 0
    while (match := _OPENING.search(text, at)) is not None:
        words.append(text[at : match.start()])
        try:
            value, at = json_at(text, match.start())
        except NotJsonError:
            return [], text
        values.append(value)
    return values, _TAGS.sub("", "".join([*words, text[at:]])).strip()


def _sendable(value: Any) -> Any:
    """Return *value* unchanged, if it can be sent as JSON.

    Raises:
        NotJsonError: If JSON in UTF-8 cannot represent *value*, because it contains an infinite
            number, NaN, or half of a surrogate pair.
        RecursionError: If *value* is nested too deeply.
    """
    try:
        _sent.encode(value).encode()
    except UnicodeEncodeError:
        msg = "a string in it holds half of a character"
        raise NotJsonError(msg) from None
    except ValueError:
        msg = "a number in it is too large, or is not a number"
        raise NotJsonError(msg) from None
    return value


def _where(text: str, error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return f"the JSON ends too early, after {counted(len(text), 'character')}"
    # Do not quote the text: it could contain a piece of a secret, which no redactor would recognize
    return f"{error.msg} at character {error.pos + 1}"


_PIECE = re.compile(
    r"""
      "(?P<double> (?:[^"\\]|\\.)*+ )"
    | '(?P<single> (?:[^'\\]|\\.)*+ )'
    # A string that does not end, with all that follows it
    | (?P<rest> ["'].* )
    | (?P<key> (?<![\w.$-])(?:[^\W\d]|\$)[\w$-]*+(?=\s*:) )
    | (?P<literal> \b(?:True|False|None)\b )
    | (?P<comma> ,(?=\s*[}\]]) )
    """,
    re.VERBOSE | re.DOTALL,
)
"""The tokens of a text that JSON may write differently."""
_LITERALS = {"True": "true", "False": "false", "None": "null"}
_ESCAPE = re.compile(r'\\(.)|"', re.DOTALL)
_CONTROLS = frozenset("bfnrt")
_ESCAPES = _CONTROLS.union('"\\/u')
# Escapes of Python and JavaScript
_FOREIGN = frozenset("xUNav01234567\n")


def _as_json(piece: re.Match[str]) -> str:
    """Return the token *piece* as valid JSON; if it can mean two things, return it unchanged."""
    kind = piece.lastgroup
    if kind == "comma":
        return ""
    if kind == "literal":
        return _LITERALS[piece[0]]
    if kind == "key":
        return f'"{piece[0]}"'
    if kind == "rest":
        return piece[0]
    inside = piece["double"] or piece["single"] or ""
    escapes = set(_ESCAPE.findall(inside))
    unknown = escapes - _ESCAPES - {"'", ""}
    # `\d` alone is a backslash and a `d`; next to `\n`, it suggests that `\n` may be two characters
    # too
    if unknown & _FOREIGN or (unknown and escapes & _CONTROLS):
        return piece[0]
    return f'"{_ESCAPE.sub(_escaped, inside)}"'


def _escaped(escape: re.Match[str]) -> str:
    letter = escape[1]
    if letter is None:
        return '\\"'
    if letter == "'":
        return letter
    if letter in _ESCAPES:
        return escape[0]
    return f"\\\\{letter}"


# --- values and their schema ------------------------------------------------------------

_NOUNS = {
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_SCALAR = re.compile(
    r"-?(0|[1-9]\d{0,17})(\.\d{1,17})?([eE][+-]?\d{1,2})?|true|false|null|True|False"
)


@dataclass(frozen=True)
class Repair(Problem):
    r"""A repair of one value in a call: the path of the value, and a sentence about the repair.

    Examples:
        >>> from toolbench import tool
        >>> from toolbench.llm import parse_tool_calls
        >>> @tool
        ... def tag(names: list[str]) -> str:
        ...     "Tag the photo."
        ...     return "tagged"
        >>> message = {"name": "tag", "arguments": {"names": '["sea", "sun"]'}}
        >>> [call] = parse_tool_calls(message, [tag])
        >>> call.arguments
        {'names': ['sea', 'sun']}
        >>> print(call.repairs[0])
        names: "[\"sea\", \"sun\"]" was read as a list
    """


class Mending:
    """Repairs the arguments of one call, and describes each repair in `repairs`.

    Args:
        secret: The paths of the arguments that are secret. The descriptions do not quote these
            arguments.
    """

    def __init__(self, secret: Collection[Path] = ()) -> None:
        self.repairs: list[Repair] = []
        self.odd: list[Repair] = []
        """The unchanged values whose types the schema does not allow."""
        self._secret = secret

    def mended(self, value: Any, node: Node, path: Path = ()) -> Any:
        """Return *value* with all repairs made.

        *node* is the schema of the value, and *path* is the value's path in the arguments.
        """
        if node.classes is not None and type(value) not in node.classes:
            value = self._read(value, node.classes, path)
        if isinstance(value, dict | list) and node.branches:
            node = _chosen(node.alternatives, value) or node
        if isinstance(value, dict):
            return self._object(value, node, path)
        if isinstance(value, list):
            return self._list(value, node, path)
        return value

    def _object(self, value: dict[str, Any], node: Node, path: Path) -> dict[str, Any]:
        new = dict(value)
        own = node.properties
        for name, old in value.items():
            if name in own:
                inner: Node | None = own[name]
            else:
                inner = node.additional
            if inner is None:
                continue
            if old is None and name in own and name not in node.required and not _takes_null(inner):
                del new[name]
                message = "null was left out: the argument is optional"
                self.repairs.append(Repair((*path, name), message))
            else:
                new[name] = self.mended(old, inner, (*path, name))
        return new

    def _list(self, value: list[Any], node: Node, path: Path) -> list[Any]:
        new = list(value)
        for i, item in enumerate(value):
            inner = node.items
            if i < len(node.prefix_items):
                inner = node.prefix_items[i]
            if inner is not None:
                new[i] = self.mended(item, inner, (*path, i))
        return new

    def _read(self, value: Any, classes: frozenset[type], path: Path) -> Any:
        if isinstance(value, float) and value.is_integer() and int in classes:
            # 3.0 is an integer in JSON Schema
            return value
        if isinstance(value, str):
            in_text = _in_string(value)
            if type(in_text) in classes:
                message = f"{self._shown(value, path)} was read as {_NOUNS[type(in_text)]}"
                self.repairs.append(Repair(path, message))
                return in_text
        message = (
            f"{self._shown(value, path)} was accepted, though the schema asks for another type"
        )
        self.odd.append(Repair(path, message))
        return value

    def _shown(self, value: Any, path: Path) -> str:
        for secret in self._secret:
            # The value itself, a part of it, or a value that contains it
            if all(map(eq, secret, path)):
                return MARK
        return clip(value)


def _takes_null(node: Node) -> bool:
    return node.classes is None or type(None) in node.classes


def _chosen(alternatives: Sequence[Node], value: Any) -> Node | None:
    """Return the alternative that fits *value*; None if none or several of them fit."""
    fit: list[Node] = []
    for node in alternatives:
        is_class = node.classes is None or type(value) in node.classes
        has_names = type(value) is not dict or all(name in value for name in node.required)
        if is_class and has_names:
            fit.append(node)
    if len(fit) == 1:
        return fit[0]
    return None


def _in_string(text: str) -> Any:
    """Return the JSON value in a string (`true`, `3`, a list, an object), or else *text* itself."""
    bare = text.strip()
    if bare[:1] + bare[-1:] not in ("[]", "{}") and not _SCALAR.fullmatch(bare):
        return text
    try:
        return read_json(bare)[0]
    except NotJsonError:
        return text
