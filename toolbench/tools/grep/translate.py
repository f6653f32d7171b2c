"""Find a text that every matching file must contain, as a regex for ripgrep and as plain bytes.

The regex and the bytes may select too many files, but never too few. Python matches the pattern
itself in the selected files, so the result is the same with and without ripgrep.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from itertools import zip_longest

_TOKEN = re.compile(
    r"""(?P<quantifier>(?:[*+?]|\{(?:\d+(?:,\d*)?|,\d*)\})\??(?!\+))
    |(?P<open>\((?:\?:|\?P<\w+>|(?!\?)))
    |(?P<close>\))
    |(?P<bar>\|)
    |(?P<begin>\^)
    |(?P<end>\$)
    |(?P<boundary>\\[bB])
    |\\(?P<kind>[dDwWsS])
    |(?P<dot>\.)
    |\[(?P<negated>\^?)(?P<members>\]?(?:\\.|[^\]\\])*)\]
    |(?P<char>\\x[0-9a-fA-F]{2}|\\[tfvra]|\\[^\w]|[^\\\[\](){}*+?|^$.]|[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
_CHAR = r"\\x[0-9a-fA-F]{2}|\\[tfvrabn]|\\[^\w]|[^\\]"
_MEMBER = re.compile(rf"\\(?P<kind>[dDwWsS])|(?P<first>{_CHAR})(?:-(?P<last>{_CHAR}))?", re.DOTALL)
_CONTROLS = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
# The ASCII part of Python's classes
_KINDS = {
    "d": r"0-9",
    "D": r"\x00-/:-\x7f",
    "w": r"0-9A-Za-z_",
    "W": r"\x00-/:-@\x5b-\x5e`\x7b-\x7f",
    "s": r"\x09-\x0d\x1c-\x20",
    "S": r"\x00-\x08\x0e-\x1b\x21-\x7f",
}
# One or several characters that are not ASCII
_HIGH = r"[\x80-\xff]+"
_ANY = rf"(?:[\x00-\x7f]|{_HIGH})"
_FIXED = {
    "open": "(?:",
    "close": ")",
    "bar": "|",
    # After a byte order mark
    "begin": r"^(?:\xef\xbb\xbf)?",
    "end": r"\r?$",
    "boundary": "(?:)",
    "dot": _ANY,
}
# Letters that match other letters than their capital too, if case is ignored
_FOLDED = {
    # The dotted capital and the dotless small i
    "i": r"(?:i|\xc4[\xb0\xb1])",
    # The long s
    "s": r"(?:s|\xc5\xbf)",
    # The Kelvin sign
    "k": r"(?:k|\xe2\x84\xaa)",
}
_BY_FREQUENCY = b" etaoinsrhldcumfpgwybvkxjqz"
_UNSURE = (b"\xc4\xb0", b"\xc4\xb1", b"\xc5\xbf", b"\xe2\x84\xaa")


@dataclass(frozen=True, slots=True)
class Needed:
    """A text that a file must contain: in a file without this text, the pattern cannot match."""

    regex: str
    """The regex for ripgrep. It matches bytes, ignores case, and expects UTF-16 as UTF-8."""
    literal: bytes
    """The text in lower case, as bytes; empty if no text is in every match."""
    is_all: bool
    """Whether `literal` is the whole pattern."""
    rarest: bytes
    """The byte of `literal` that probably occurs in the fewest files."""

    def may_be_in(self, data: bytes) -> bool:
        """Tell whether the pattern may match in *data*, a file or a part of a file."""
        # A fast test
        rare = self.rarest in data or self.rarest.upper() in data
        if rare and self.literal in data.lower():
            return True
        return not data.isascii() and (
            data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or any(text in data for text in _UNSURE)
        )


def needed_by(pattern: str) -> Needed | None:
    """Return the text that a file must contain to match; None if *pattern* is not simple enough."""
    # Case is ignored anyway
    pattern = pattern.removeprefix("(?i)")
    tokens, at = [], 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            return None
        tokens.append(token)
        at = token.end()
    literal = _literal(tokens)
    rarest = max((literal[n : n + 1] for n in range(len(literal))), key=_rarity, default=b"")
    is_all = 0 < len(literal) == len(tokens)
    return Needed("".join(map(_translated, tokens)), literal, is_all, rarest)


def _literal(tokens: list[re.Match[str]]) -> bytes:
    """Return the longest text of *tokens* that is in every match: not in a group or an optional part."""
    runs, depth = [""], 0
    for token, follower in zip_longest(tokens, tokens[1:]):
        depth += (token.lastgroup == "open") - (token.lastgroup == "close")
        if token.lastgroup == "bar" and not depth:
            return b""
        optional = follower is not None and follower["quantifier"] is not None
        if token["char"] and not depth and not optional:
            char = _char(token["char"])
            if char.isascii():
                runs[-1] += char
                continue
        runs.append("")
    return max(runs, key=len).lower().encode()


def _rarity(byte: bytes) -> int:
    place = _BY_FREQUENCY.find(byte)
    return place if place >= 0 else len(_BY_FREQUENCY)


def _translated(token: re.Match[str]) -> str:
    if token["quantifier"]:
        return token["quantifier"].replace("{,", "{0,")
    if token["kind"]:
        return f"(?:[{_KINDS[token['kind']]}]|{_HIGH})"
    if token["members"] is not None:
        return _set(token["negated"], token["members"])
    if token["char"]:
        char = _char(token["char"])
        if not char.isascii():
            return f"(?:{_HIGH}|[iks])"
        return _FOLDED.get(char.lower()) or _byte(char)
    return _FIXED[token.lastgroup or ""]


def _set(negated: str, members: str) -> str:
    if not members.isascii() or re.search(r"\\x[89a-fA-F]", members):
        return _ANY
    regex = ""
    for member in _MEMBER.finditer(members):
        regex += _KINDS[member["kind"]] if member["kind"] else _range(member)
    return f"(?:[{negated}{regex}]|{_HIGH})"


def _range(member: re.Match[str]) -> str:
    first = _byte(_char(member["first"]))
    return f"{first}-{_byte(_char(member['last']))}" if member["last"] else first


def _char(spelt: str) -> str:
    """Return the character that *spelt*, a part of a pattern, means."""
    if spelt.startswith("\\x"):
        return chr(int(spelt[2:], 16))
    return _CONTROLS.get(spelt[1:], spelt[1:]) if spelt[0] == "\\" else spelt


def _byte(char: str) -> str:
    return f"\\x{ord(char):02x}"
