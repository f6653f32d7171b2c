"""Read what a server wrote to stderr before it ended: the exception, and whether `mcp` is its reason."""

import re
from collections.abc import Sequence

STDERR = "Its last lines on stderr:"
"""The line before the last lines of stderr in the message of a broken connection."""

_EXCEPTION = re.compile(r"(\w+\.)*\w*(Error|Exception|Exit|Interrupt)\b.*")
_OF_MCP = re.compile(
    r"(ImportError|ModuleNotFoundError|AttributeError): .*(from|named|module) '?mcp(\.[\w.]+)?'?(\W|$)"
)
# Characters
_LONGEST = 120


def exception_line(lines: Sequence[str]) -> str:
    """Return the last of *lines* that names an exception; if none does, the last line."""
    texts = [text for line in lines if (text := line.strip())]
    exceptions = [text for text in texts if _EXCEPTION.fullmatch(text)]
    return (exceptions or texts or [""])[-1]


def import_advice(lines: Sequence[str]) -> str:
    """Return advice if *lines* of stderr end with an exception of an import of `mcp`; else an empty text."""
    if not _OF_MCP.match(exception_line(lines)):
        return ""
    return (
        "Its environment has no package mcp, or another version than the server needs: start it in an "
        "environment of its own, for example by uvx --with 'mcp<2' SERVER."
    )


def short_reason(server: str, error: str) -> str:
    """Return one short line of *error*, the message about the *server* that failed.

    If the message has lines of stderr, it is the exception in them, or the last of them.
    """
    message, heading, wrote = error.partition(f"\n{STDERR}\n")
    text = exception_line(wrote.splitlines()) if heading else " ".join(message.split("\n"))
    text = text.removeprefix(f"Server {server!r} did not connect: ")
    if len(text) <= _LONGEST and not heading:
        return text
    short = f"{text[:_LONGEST].rstrip()}…" if len(text) > _LONGEST else text
    return f"{short} (%mcp {'stderr' if heading else 'tools'} {server} shows more)"
