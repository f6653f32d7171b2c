"""Turn an exception of the SDK, HTTP or a process into a sentence with advice.

The last functions of this module find the cause in the lines that a server wrote to stderr before
it exited.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from toolbench.errors import BodyError, ServerError, ToolbenchError, ended
from toolbench.mcp.authorization.refusals import ABSENT
from toolbench.mcp.connection.open_calls import (
    Call,
    CallTimeoutError,
    HttpFailure,
)
from toolbench.mcp.recording.player import NOT_RECORDED, recorded_failure
from toolbench.network import too_long
from toolbench.values import clip
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.mcp.monitoring.notifications import Inbox

CONNECTION_CLOSED = -32000
METHOD_NOT_FOUND = -32601
REQUEST_TIMEOUT = -32001
PARSE_ERROR = -32700
URL_ELICITATION_REQUIRED = -32042

# HTTP statuses: the client is not known or not allowed
_ABOUT_THE_CLIENT = (401, 403, 407)
# Every MCP server knows one of these methods
_FIRST = ("initialize", "server/discover")

_AUTHORIZATION = ("OAuth", "ClientNotFoundError", "ExpiredClientRegistrationError")
"""How the names of error classes for authorization begin."""

_PARSE_REASON = re.compile(r"\n\s*(Invalid JSON: .*?)(?: \[type=|$)")
_TOO_LONG = re.compile(r"An answer is too long: (.*)", re.DOTALL)
_OF_THE_SDK = (
    (r"SSE stream ended", "the server ended the stream before its answer came"),
    (
        r"SSE stream failed: Server-sent event exceeded",
        f"an event of the server is too long: {too_long()}",
    ),
    (r"SSE stream failed", "the stream of the server's answer cannot be read"),
    (
        r"server answered a request with 202",
        "the server accepted the request, and said that no answer will follow (HTTP 202)",
    ),
    (
        r"Unexpected content type: (.*)",
        "the server's answer is of the kind {0}, and neither JSON nor events",
    ),
)
"""Patterns of SDK messages that replace an answer, each with our sentence."""

# The most lines of an ended server's stderr that a model sees
_READ = 2
# The most characters of a server's message that users and models see
_LONGEST = 1_000
# The most lines of stderr that the user sees
_MAX_LINES = 10
# What the older SDK logs for each request, even if the line is wrapped
_ROUTINE = re.compile(r".*Processing request of type .*|\s+\w+Request\s*")
# The last lines of stderr, in which the beginning of a traceback is searched
_SEARCHED_LINES = 500


class CallFailedError(Exception):
    """A call ended without a result; the message is a full sentence for the caller."""

    def __init__(self, text: str, asides: Sequence[str] = ()) -> None:
        """Create an error with the message *text*; *asides* are notes that only the user sees."""
        super().__init__(text)
        self.asides = asides
        self.status_code: int | None = None
        """The HTTP status of the server's answer if it is the reason, else None."""


class CallStoppedError(CallFailedError):
    """The server stopped the call; this is not a failure of the tool."""


class BrokenError(ServerError):
    """The error of a broken connection, with the last lines of the server's stderr."""

    def __init__(self, text: str, wrote: Sequence[str] = ()) -> None:
        """Create an error with the message *text* and the lines that the server *wrote*."""
        self._text = text
        self._wrote = wrote
        super().__init__(self._with(wrote))

    @property
    def brief(self) -> str:
        """The message for a model, with only the last lines of stderr because logs are long."""
        return self._with(self._wrote[-_READ:])

    @property
    def asides(self) -> list[str]:
        """Notes that only the user sees: the earlier lines of stderr."""
        before = self._wrote[:-_READ]
        if not before:
            return []
        return ["\n".join(["Before that on stderr:", *before])]

    def _with(self, wrote: Sequence[str]) -> str:
        if not wrote:
            return self._text
        return "\n".join([self._text, STDERR, *wrote])


def call_failed(error: Exception, call: Call, inbox: "Inbox") -> CallFailedError:
    """Return the error to raise for the caller after *error* ended *call*."""
    if isinstance(error, BrokenError):
        return CallFailedError(error.brief, error.asides)
    if (recorded := recorded_failure(error)) is not None:
        return CallFailedError(*recorded)
    text = inbox.safe_text(sentence(error, call=call))
    asides = asides_of(call, inbox)
    if call.noise and isinstance(root_of(error), CallTimeoutError):
        # The sentence quotes this line already
        del asides[0]
    failed = CallFailedError(ended(f"{text[:1].upper()}{text[1:]}"), asides)
    if call.http_failure is not None:
        failed.status_code = call.http_failure.status
    return failed


def asides_of(call: Call, inbox: "Inbox") -> list[str]:
    """Return notes for the user on unexpected output of the server during *call*.

    The notes quote text on stderr, and lines on stdout that are not messages. If several calls ran
    at the same time, another call may have caused the output.
    """
    asides = []
    if call.noise:
        asides.append(f"{about_noise(call.noise)}.")
    last, cause = _last_words(inbox, call.stderr_since)
    if last:
        lines = ["While this call ran, the server wrote to stderr:"]
        lines += [f"  {line[:300]}" for line in last]
        if cause and cause not in map(str.strip, last):
            lines.append(f"Its first error was {_short(cause)}")
        asides.append(inbox.safe_text("\n".join(lines)))
    return asides


def _last_words(inbox: "Inbox", since: int) -> tuple[list[str], str]:
    """Return the last lines of stderr after line *since*, and the `first_cause` in them.

    Two kinds of lines are left out, because they do not help the user: the boxes that rich draws
    around tracebacks, and the line that a server logs for each request.
    """
    wrote = inbox.stderr.last(_SEARCHED_LINES, since=since)
    last = []
    for line in wrote:
        if not (line.strip().startswith(_BOX) or _ROUTINE.fullmatch(line)):
            last.append(line.rstrip())
    return last[-_MAX_LINES:], first_cause(wrote)


def root_of(error: BaseException) -> BaseException:
    """Return the original error in *error*, which may be a group or wrap another error."""
    while True:
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif type(error) is RuntimeError and isinstance(error.__cause__, Exception):
            # FastMCP's "Client failed to connect: ..."
            error = error.__cause__
        else:
            return error


def code_of(error: BaseException) -> int | None:
    """Return the JSON-RPC code of *error*; None if *error* is not a server's answer."""
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return code
    return None


def forgot_session(error: Exception, call: Call) -> bool:
    """Return whether *call* failed because the server no longer knows the session.

    A server that has forgotten the session answers with HTTP status 404. A server that does not
    know the method also answers 404, but that answer contains a JSON-RPC error code.
    """
    failure = call.http_failure
    if failure is None or failure.status != 404:
        return False
    return not (failure.is_answer and code_of(error) == METHOD_NOT_FOUND)


def lost_connection(error: BaseException) -> bool:
    """Tell whether *error* means that the connection ended before the answer arrived."""
    root = root_of(error)
    return code_of(root) == CONNECTION_CLOSED and str(root) == "Connection closed"


def sentence(error: BaseException, *, call: Call | None = None) -> str:
    """Explain *error* in a sentence without a full stop; *call* may have the HTTP answer."""
    root = root_of(error)
    if refused := _refusal(root, call):
        return refused
    if isinstance(root, TimeoutError):
        return _late(root, call)
    if (code := code_of(root)) is not None:
        return _rpc(root, code)
    if isinstance(root, ValidationError):
        return _protocol(root)
    if isinstance(root, PydanticSerializationError):
        return f"the request cannot be sent: {_short(str(root))}"
    if isinstance(root, ToolbenchError | OSError | RuntimeError):
        return _plain(root)
    words = _short(str(root))
    if _name(root) == "ConnectError":
        return f"nothing answers there ({words})"
    if not words:
        return _name(root)
    if type(root).__module__.startswith("httpx2"):
        return words.rstrip(".")
    return f"{_name(root)}: {words}"


def _late(root: TimeoutError, call: Call | None) -> str:
    if not isinstance(root, CallTimeoutError):
        return "no answer in time"
    if call is not None and call.noise:
        return f"{root}.\n{about_noise(call.noise)}"
    return str(root)


def _refusal(root: BaseException, call: Call | None) -> str:
    """Return a sentence if the authorization or the HTTP request failed; else empty."""
    if _name(root).startswith(_AUTHORIZATION):
        return f"the authorization failed: {_plain(root)}"
    is_own = isinstance(root, ServerError | BodyError)
    if is_own or call is None or call.http_failure is None:
        # Our own error already says what happened
        return ""
    failure = call.http_failure
    is_known_client = failure.status not in _ABOUT_THE_CLIENT
    if failure.is_answer and is_known_client and code_of(root) is not None:
        # The HTTP status adds nothing to an MCP error
        return ""
    return _http(failure)


def _name(error: BaseException) -> str:
    return type(error).__name__


def _plain(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return _short(str(text)).rstrip(".") or _name(error)


def _short(words: str) -> str:
    """Return the beginning of *words*, which a server wrote, to keep messages short."""
    if len(words) <= _LONGEST:
        return words
    return f"{words[:_LONGEST].rstrip()}…"


def _protocol(error: ValidationError) -> str:
    """Return a sentence with the problems that pydantic reports in an answer."""
    lines = []
    for line in error.errors(include_url=False, include_input=False)[:3]:
        path = ".".join(map(str, line["loc"]))
        lines.append(f"{path}: {line['msg']}")
    problems = _short("; ".join(lines))
    return f"the server's answer does not follow the protocol: {problems}"


def _http(failure: HttpFailure) -> str:
    hints = {
        401: ABSENT,
        403: "The server refuses this client: check 'auth' and 'headers'",
        404: "Is the path of the URL right?",
    }
    hint = failure.hint or hints.get(failure.status, "")
    is_endpoint = failure.is_answer or failure.body.lstrip().startswith("{")
    if failure.status == 404 and is_endpoint:
        # The endpoint itself answered
        hint = ""
    if failure.status < 400 and not failure.hint:
        hint = "That is a web page, not an MCP endpoint: check the URL"
    if not hint:
        return str(failure)
    return f"{failure}. {hint}"


def _rpc(error: Any, code: int) -> str:
    """Return a sentence about the JSON-RPC *error*, from the server, the SDK or this client."""
    text, data = str(error), getattr(error, "data", None)
    if lost_connection(error):
        return "the connection was closed"
    if code == NOT_RECORDED:
        return text.rstrip(".")
    if code == REQUEST_TIMEOUT:
        return "no answer in time"
    if code == PARSE_ERROR and (unreadable := _unreadable(text)):
        return unreadable
    for pattern, ours in _OF_THE_SDK:
        if match := re.match(pattern, text):
            return ours.format(clip(match[match.lastindex or 0] or "unknown", 100))
    words = _short(text)
    if code == URL_ELICITATION_REQUIRED and (pages := required_pages(error)):
        urls = _short(", ".join(page["url"] for page in pages))
        return (
            f"{words}: the server wants you to visit a page first, and no visit was confirmed: "
            f"{urls}. Visit it, then call again (MCP error {code})"
        )
    if code == METHOD_NOT_FOUND and data in _FIRST:
        return (
            f"the program is not an MCP server: it does not know the method {data!r}, "
            "or it only echoes its input"
        )
    words = f"{words} (MCP error {clip(code)})"
    if data not in (None, ""):
        words += f" {str(data)[:500]}"
    return words


def _unreadable(text: str) -> str:
    """Return a sentence if *text* reports an answer that could not be read; else empty."""
    if text.startswith("Failed to parse "):
        reason = "it is not a message of JSON-RPC"
        if match := _TOO_LONG.search(text) or _PARSE_REASON.search(text):
            reason = match[1]
        return f"the server's answer could not be read: {reason}"
    if text.startswith("The server's answer "):
        # Ours
        return f"t{_short(text)[1:]}".rstrip(".")
    return ""


def about_noise(line: str) -> str:
    """Return a sentence, without a full stop, about *line*, which should have been a message."""
    return f"The server wrote a line that is not a message: {_short(line)!r}"


def required_pages(error: BaseException) -> list[dict[str, Any]]:
    """Return the web pages that the user must visit before the server answers.

    They are listed as `elicitations` in the data of *error*. Entries without a URL are skipped.
    """
    data = getattr(error, "data", None)
    offered = data.get("elicitations") if isinstance(data, dict) else None
    pages = []
    if isinstance(offered, list):
        for page in offered:
            if isinstance(page, dict) and isinstance(page.get("url"), str):
                pages.append(page)
    return pages


def broken(
    text: str,
    *,
    exit_code: int | None,
    inbox: "Inbox",
    stderr_since: int = 0,
    unfinished: str = "",
    is_process: bool = True,
    variables: Collection[str] = (),
) -> BrokenError:
    """Return the error for a broken connection: *text*, followed by what is known about the cause.

    The cause may be visible in the exit code of the server's process, in lines on stdout that are
    not messages, or in the last lines of stderr. *variables* are the names of the environment
    variables that the server was given. If stderr mentions that another variable is missing, the
    error says how to set it.
    """
    lines = [text]
    if exit_code is not None:
        lines.append(f"Its process ended with {ending(exit_code)}.")
    if unfinished.strip():
        wrote = inbox.redactor.text(unfinished)[:200]
        lines.append(f"On stdout it wrote {wrote!r} and no newline: a message is one line.")
    elif inbox.noise_count and is_process:
        noise = counted(inbox.noise_count, "line")
        lines.append(
            f"Not JSON-RPC messages on its stdout: {noise}; the first: {inbox.noise[0]!r}."
        )
    last, cause = _last_words(inbox, stderr_since)
    if cause and cause not in map(str.strip, last):
        lines.append(f"Its first error was {_short(cause)}")
    advice = import_advice(last) or import_advice([cause])
    lines += filter(None, [advice, variable_advice(last, variables)])
    quoted = [inbox.safe_text(f"  {line[:300]}") for line in last]
    return BrokenError(inbox.safe_text("\n".join(lines)), quoted)


def ending(code: int) -> str:
    """Describe how a process with the exit code *code* ended; a negative code is a signal."""
    if code < 0:
        return f"signal {-code}"
    return f"exit code {code}"


# --- what a server wrote to stderr --------------------------------------------------

STDERR = "Its last lines on stderr:"
"""The line above the last lines of stderr in the error of a broken connection."""

_EXCEPTION = re.compile(r"(\w+\.)*\w*(Error|Exception|Exit|Interrupt)\b.*")
_OF_MCP = re.compile(
    r"(ImportError|ModuleNotFoundError|AttributeError): .*(from|named|module) '?mcp(\.[\w.]+)?'?(\W|$)"
)
# Only the beginning, because the line may be wrapped
_LINKS = ("During handling of the above exception", "The above exception was the direct")
# How lines of a traceback drawn by rich begin
_BOX = ("╭", "│", "╰")
# `RUST_BACKTRACE=1` in a message is only an offer
_NAME = r"(?P<name>(?!ERR_)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b(?!=\d)"
_ASKED_FOR = [
    re.compile(pattern)
    for pattern in (
        rf"\b{_NAME}.*\b(?i:environment|env var)",
        rf"\b(?i:environment|env var).*\b{_NAME}",
        rf"\b{_NAME}\W{{1,3}}(?i:is |must be |has to be )?(?i:not )?"
        r"(?i:set|defined|provided|required|missing|configured)\b",
        r"\b(?i:missing|set|provide|requires|needs)\W+"
        rf"(?i:(?:an?|the|required|your|api|access|key|token|secret) )*\W*{_NAME}",
        rf"KeyError: '{_NAME}'",
    )
]
"""How servers report that an environment variable is missing."""
# Characters
_LONGEST_REASON = 120
# Characters of a line that are searched: in a hostile line, the time grows with its square
_SEARCHED = 300


def exception_line(lines: Sequence[str]) -> str:
    """Return the last of *lines* that names an exception, or else the last line."""
    last = ""
    for line in reversed(lines):
        text = line.strip()
        if _EXCEPTION.fullmatch(text):
            return text
        last = last or text
    return last


def import_advice(lines: Sequence[str]) -> str:
    """Return advice if *lines* of stderr end with an error on importing `mcp`; else empty."""
    if not _OF_MCP.match(exception_line(lines)):
        return ""
    return (
        "Its environment has no package mcp, or another version than the server needs: start it in its "
        "own environment, for example with uvx --with 'mcp<2' SERVER."
    )


def first_cause(lines: Iterable[str]) -> str:
    """Return the original exception in the last traceback of *lines*, or an empty string.

    A traceback may show several exceptions, each raised while the previous exception was being
    handled. The first exception is returned, because the later ones often hide the reason.
    """
    first = present = ""
    is_linked = is_drawn = False
    for line in lines:
        text = line.strip()
        if text.startswith(_LINKS):
            first, is_linked = first or present, True
        elif text.lstrip("╭─ ").startswith("Traceback (most recent call last"):
            if not is_linked:
                first = ""
            present, is_linked, is_drawn = "", False, text.startswith(_BOX)
        elif not text or present or text.startswith(_BOX):
            continue
        elif is_drawn or not line.startswith((" ", "\t")):
            present = text
    return first


def variable_advice(lines: Iterable[str], known: Collection[str]) -> str:
    """Return advice if *lines* of stderr ask for a variable not in *known*; else empty."""
    for line in lines:
        for pattern in _ASKED_FOR:
            match = pattern.search(line[:_SEARCHED])
            if match is not None and match["name"] not in known:
                name = match["name"]
                return (
                    f"It asks for the environment variable {name}. If it may have that, add --env {name} "
                    f'to the line, or "env": {{"{name}": "${{env:{name}}}"}} to its configuration.'
                )
    return ""


def short_reason(server: str, error: str) -> str:
    """Shorten *error*, the message of a server that did not connect, to one line.

    If the message quotes lines of stderr, return the exception in these lines. If they contain no
    exception, return the last line.
    """
    message, heading, wrote = error.partition(f"\n{STDERR}\n")
    if heading:
        text, more = exception_line(wrote.splitlines()), f"log {server} --stderr"
    else:
        text, more = " ".join(message.split("\n")), f"list {server}"
    text = text.removeprefix(f"Server {server!r} did not connect: ")
    if len(text) > _LONGEST_REASON:
        text = f"{text[:_LONGEST_REASON].rstrip()}…"
    elif not heading:
        return text
    return f"{text} (%mcp {more} shows more)"
