"""Turn the output of a terminal program, which is not trusted, into Rich text."""

import re

from rich.ansi import AnsiDecoder
from rich.text import Text

from toolbench.display.ansi.control_sequences import OTHER, RETURN, STYLE
from toolbench.display.caps import cap, joined
from toolbench.display.escape import visible

_STYLED = re.compile(f"({STYLE.pattern})")
_PIECE = re.compile(f"{STYLE.pattern}|.", re.DOTALL)


def from_ansi(text: str, *, limit: int | None = None) -> Text:
    """Return *text* as Rich text with its colours, but without all other control sequences.

    Titles, hyperlinks, cursor movements and other sequences are removed. A line that was
    overwritten (progress bars, spinners) shows its last state. Other control characters, and
    characters that reorder text, are spelled out.

    Args:
        text: The output of the program.
        limit: The most characters to show; the middle of a longer text is left out.
    """
    if limit is None:
        return _decode(_clean(text))
    capped = cap(text, limit, _clean)
    if not capped.omitted:
        return _decode(capped.head)
    return joined(_decode(capped.head), capped.omitted, _decode(capped.tail))


def _clean(text: str) -> str:
    lines = OTHER.sub("", RETURN.sub("\r", text)).split("\n")
    return _visible("\n".join(_last_state(line) for line in lines))


def _last_state(line: str) -> str:
    if "\b" in line:
        line = _backspaced(line)
    if "\r" not in line:
        return line
    states = line.split("\r")
    last = max((i for i, state in enumerate(states) if _STYLED.sub("", state)), default=0)
    colours = (match for state in states[:last] for match in STYLE.findall(state))
    return "".join((*colours, *states[last:]))


def _backspaced(line: str) -> str:
    characters: list[str] = []
    for piece in _PIECE.findall(line):
        if piece != "\b":
            characters.append(piece)
        elif characters and len(characters[-1]) == 1:
            characters.pop()
    return "".join(characters)


def _visible(text: str) -> str:
    return "\x1b".join(visible(part) for part in text.split("\x1b"))


def _decode(text: str) -> Text:
    # one call for all lines: Rich's own loop over lines costs three times as much
    return AnsiDecoder().decode_line(text)
