"""Safe display of hostile text: the only module that turns text, addresses and links into HTML."""

import html
import re
from functools import cache
from json import dumps
from typing import NewType

Html = NewType("Html", str)
"""HTML that the display layer has made and that is safe to show. Other text must be escaped."""

NO_MATHS = 'class="tex2jax_ignore mathjax_ignore"'
"""The attribute that stops MathJax, old and new, from changing the content of an element."""

_LONGEST_ADDRESS = 2_048
_RANGES = (
    # Control characters except tab and newline
    (0x00, 0x08),
    (0x0B, 0x1F),
    (0x7F, 0x9F),
    # Invisible
    (0xAD, 0xAD),
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180E, 0x180E),
    (0x200B, 0x200B),
    (0x2060, 0x2065),
    (0x3164, 0x3164),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    # Reverse the order of the text
    (0x061C, 0x061C),
    (0x200E, 0x200F),
    (0x202A, 0x202E),
    (0x2066, 0x206F),
    # End a line only in some programs
    (0x2028, 0x2029),
    # Can hide whole sentences for a model
    (0xFE00, 0xFE0D),
    (0xE0000, 0xE0FFF),
    # Characters that UTF-8 cannot represent
    (0xD800, 0xDFFF),
    (0xFFF0, 0xFFFB),
    (0xFFFE, 0xFFFF),
)
# What Markdown calls inline code
_CODE = re.compile(r"`([^`\n]+)`")
_HIDDEN = re.compile(f"[{''.join(f'{chr(a)}-{chr(b)}' for a, b in _RANGES)}]")
# A pair that a decoder has not joined
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SPLIT = re.compile("[\ud800-\udbff]")
_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20\"<>\\^`]+", re.IGNORECASE)


def visible(text: str) -> str:
    """Write invisible characters, and characters that reorder text, as visible codes.

    An ASCII control character becomes the code that `cat -v` prints for it, such as `^[`. Any other
    character becomes its number in Unicode, such as `⟨U+202E⟩`. Some invisible characters are kept,
    because languages and emoji need them: joiners and two common variation selectors.
    """
    if not _HIDDEN.search(text):
        return text
    if _SPLIT.search(text):
        text = _PAIR.sub(_join, text)
    # Faster than str.translate: most strings have few such characters
    return _HIDDEN.sub(_spell, text)


def on_one_line(text: str) -> str:
    """Return untrusted *text* on one line, with visible codes for invisible characters."""
    return visible(" ".join(text.split()))


def visible_json(text: str) -> str:
    """Return the JSON *text* with invisible characters as JSON escapes, which keeps its value."""
    return _HIDDEN.sub(lambda hidden: dumps(hidden[0])[1:-1], text)


def _join(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _spell(hidden: re.Match[str]) -> str:
    return _spelled(hidden[0])


@cache
def _spelled(character: str) -> str:
    code = ord(character)
    if code <= 0x7F:
        return f"^{chr(code ^ 0x40)}"
    return f"⟨U+{code:04X}⟩"


def escape(text: str) -> Html:
    """Return HTML that shows *text*, for use in an element or in a quoted attribute."""
    return Html(html.escape(visible(text)))


def with_code(text: str) -> Html:
    """Return *text* as HTML, with the parts between backticks shown as code."""
    return Html(_CODE.sub(r"<code>\1</code>", escape(text)))


def safe_address(url: str) -> str | None:
    """Return *url* if it is a safe http, https or mailto address; otherwise None.

    An address that contains blanks, quotes or hidden characters is not safe.
    """
    plain = len(url) <= _LONGEST_ADDRESS and not _HIDDEN.search(url)
    if plain and _ADDRESS.fullmatch(url):
        return url
    return None


def link(url: str, label: Html) -> Html:
    """Return *label* as a link to *url*, or only *label* if *url* is not a safe address.

    The tooltip shows the address, so that a label cannot hide where the link leads.
    """
    address = safe_address(url)
    if address is None:
        return label
    target = escape(address)
    return Html(
        f'<a href="{target}" title="{target}" target="_blank" rel="noopener noreferrer"'
        f' style="color:inherit;text-decoration:underline">{label}</a>'
    )


# --- terminal control sequences ------------------------------------------------------

# Every expression is linear: no two neighbouring parts can match the same character. The characters
# U+0080 to U+009F, which can begin a sequence too, are not treated as control sequences: usually they
# come from a wrong decoding, and the text after them must stay visible.

# Colours, cursor, erasing
_CSI = r"\x1b\[[0-?]*[ -/]*[@-~]?"
# Titles, hyperlinks, images: ended by BEL or ST, or cut off at the line's end
_STRING = r"\x1b[\]P^_X][^\x07\x1b\x9c\x18\x1a\n]*(?:\x07|\x1b\\|\x9c|\x18|\x1a)?"
# Everything else that begins with ESC
_SHORT = r"\x1b[ -/]*[0-~]?"

SEQUENCE = re.compile(f"{_CSI}|{_STRING}|{_SHORT}")
"""One control sequence, complete or cut off."""

STYLE = re.compile(r"\x1b\[[0-9;]{0,64}m")
"""A sequence that only changes the look of text: the only kind that is kept."""

OTHER = re.compile(rf"(?!{STYLE.pattern})(?:{SEQUENCE.pattern})")
"""Any control sequence except `STYLE`."""

RETURN = re.compile(r"\x1b\[[01]?G")
"""A sequence that moves the cursor to the first column, like a carriage return."""
