"""Read what a server wrote to stderr before it ended: the exception, and whether `mcp` is its reason."""

import re
from collections.abc import Collection, Iterable, Sequence

STDERR = "Its last lines on stderr:"
"""The line before the last lines of stderr in the message of a broken connection."""

_EXCEPTION = re.compile(r"(\w+\.)*\w*(Error|Exception|Exit|Interrupt)\b.*")
_OF_MCP = re.compile(
    r"(ImportError|ModuleNotFoundError|AttributeError): .*(from|named|module) '?mcp(\.[\w.]+)?'?(\W|$)"
)
_LINKS = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
# `RUST_BACKTRACE=1` is a switch that a message offers
_NAME = r"(?P<name>(?!ERR_)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b(?!=\d)"
_ASKED_FOR = [
    re.compile(pattern)
    for pattern in (
        rf"\b{_NAME}.*\b(?i:environment|env var)",
        rf"\b(?i:environment|env var).*\b{_NAME}",
        rf"\b{_NAME}\W{{1,3}}(?i:is |must be |has to be )?(?i:not )?"
        r"(?i:set|defined|provided|required|missing|configured)\b",
        rf"\b(?i:missing|set|provide|requires|needs)\W+(?i:the |required )?\W*{_NAME}",
        rf"KeyError: '{_NAME}'",
    )
]
"""How servers say that a variable of the environment is missing."""
# Characters
_LONGEST_REASON = 120
# Characters of a line: in a hostile one a search takes the square of its length
_SEARCHED = 300


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


def first_cause(lines: Iterable[str]) -> str:
    """Return the exception with which the last traceback in *lines* began; empty if it has only one.

    What an `except` raises is often about something else, and hides the reason.
    """
    first = present = ""
    is_linked = False
    for line in lines:
        text = line.strip()
        if text in _LINKS:
            first, is_linked = first or present, True
        elif text.startswith("Traceback (most recent call last)"):
            if not is_linked:
                first = ""
            present, is_linked = "", False
        elif text and not present and not line.startswith((" ", "\t")):
            present = text
    return first


def variable_advice(lines: Iterable[str], known: Collection[str]) -> str:
    """Return advice if *lines* of stderr ask for a variable that is not in *known*; else an empty text."""
    for line in lines:
        for pattern in _ASKED_FOR:
            match = pattern.search(line[:_SEARCHED])
            if match is not None and match["name"] not in known:
                name = match["name"]
                return (
                    f"It asks for the environment variable {name}. If it may have that, add --env {name} "
                    f'to %mcp connect, or "env": {{"{name}": "${{env:{name}}}"}} to its configuration.'
                )
    return ""


def short_reason(server: str, error: str) -> str:
    """Return one short line of *error*, the message about the *server* that failed.

    If the message has lines of stderr, it is the exception in them, or the last of them.
    """
    message, heading, wrote = error.partition(f"\n{STDERR}\n")
    text = exception_line(wrote.splitlines()) if heading else " ".join(message.split("\n"))
    text = text.removeprefix(f"Server {server!r} did not connect: ")
    if len(text) <= _LONGEST_REASON and not heading:
        return text
    short = f"{text[:_LONGEST_REASON].rstrip()}…" if len(text) > _LONGEST_REASON else text
    return f"{short} (%mcp {'stderr' if heading else 'tools'} {server} shows more)"
