"""Turn raw terminal output into the text that a user would see on the screen."""

import re

from toolbench.tools.terminal.buffer import Excerpt, Noise

MARK = Noise(re.compile(rb"(\x1e[0-9a-f]{16}\x1e)"), re.compile(rb"\x1e[0-9a-f]{0,16}\Z"))
"""The mark that the shell prints after all output of a command."""

_CLEAR_LINE = re.compile(r"\x1b\[2K")
_CLEAR_REST = re.compile(r"\x1b\[0?K")
_SEQUENCE = re.compile(
    r"\x1b(?:"
    # Colours, cursor movements
    r"\[[0-?]*[ -/]*[@-~]?"
    # Titles, links
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    # Strings for devices
    r"|[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|[ -/]*[0-~]?"
    r")"
)
# Our own sign for "clear from here to the end of the line"
_ERASE = "\x18"
_INVISIBLE = re.compile(r"[\x00-\x07\x0b\x0c\x0e-\x17\x19-\x1f\x7f-\x9f]")
_MOVE = re.compile(r"([\r\b\x18])")


def clean(raw: bytes) -> str:
    """Return the text that is visible on a screen after the output *raw*.

    Escape sequences and control characters are removed. If the output overwrote a line, for example
    to update a progress bar, the result has only the last state of the line. Bytes that are not
    valid UTF-8 become U+FFFD.
    """
    text = MARK.whole.sub(b"", raw).decode("utf-8", "replace").replace("\r\n", "\n")
    text = text.replace(_ERASE, "")
    text = _CLEAR_LINE.sub("\r" + _ERASE, text)
    text = _SEQUENCE.sub("", _CLEAR_REST.sub(_ERASE, text))
    text = _INVISIBLE.sub("", text)
    if _MOVE.search(text) is None:
        return text
    return "\n".join(map(_overwritten, text.split("\n")))


def _overwritten(line: str) -> str:
    """Return what is visible of *line* after all its cursor movements and erasures."""
    if _MOVE.search(line) is None:
        return line
    screen_line, at = "", 0
    for part in _MOVE.split(line):
        match part:
            case "\r":
                at = 0
            case "\b":
                at = max(0, at - 1)
            case "\x18":
                screen_line = screen_line[:at]
            case _:
                screen_line = screen_line[:at].ljust(at) + part + screen_line[at + len(part) :]
                at += len(part)
    return screen_line


def shown(output: Excerpt, where: str) -> str:
    """Return *output* as text, with a note in its middle if a part was dropped.

    Args:
        output: The first and the last part of the output.
        where: A sentence to add to the note, for example about a file with the whole output.
    """
    if not output.dropped:
        return clean(output.head + output.tail).rstrip("\n")
    head, tail = output.head, output.tail
    if (end := head.rfind(b"\n") + 1) > len(head) // 2:
        head = head[:end]
    if 0 <= (start := tail.find(b"\n")) < len(tail) // 2:
        tail = tail[start + 1 :]
    missing = output.dropped + len(output.head) - len(head) + len(output.tail) - len(tail)
    note = f"[… {missing:,} bytes are left out here.{where} …]"
    return f"{clean(head).rstrip()}\n{note}\n{clean(tail)}".rstrip("\n")
