"""Explain the failure of a request in one sentence, and decide whether to retry.

The errors of the providers' packages are recognised by names and attributes, without imports.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from traceback import walk_tb
from typing import Any

from toolbench.errors import ModelConnectionError, ModelError, ended
from toolbench.llm.wire import WIRES
from toolbench.network import (
    CONNECTION,
    PASSING_STATUSES,
    UNREACHED,
    class_names,
    status_of,
)
from toolbench.redaction.redactor import Redactor
from toolbench.values import sentence
from toolbench.wording import counted

TRIES = 4
"""The maximum number of times that a request is sent."""
LONGEST_WAIT = 60.0
"""The longest wait before a retry, in seconds; if a server asks for more, do not retry."""

# Characters of a provider's message
_LONGEST = 600


class HttpRefusal(Exception):  # noqa: N818 - users never see it: it becomes a `Fault`
    """A server answered a request with an error status."""

    def __init__(self, status: int, headers: Mapping[str, str], body: Any) -> None:
        super().__init__(status)
        self.status_code, self.headers, self.body = status, headers, body


class BrokenOffError(ConnectionError):
    """An answer ended before it was complete."""


@dataclass(frozen=True)
class Fault:
    """The reason why a request failed, and what the server said about a retry."""

    reason: str
    """The reason, in one sentence."""
    status: int | None = None
    is_connection: bool = False
    retry_after: float | None = None
    """The wait that the server asks for, in seconds."""

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.status in PASSING_STATUSES

    def wait(self, tries: int) -> float | None:
        """Return the seconds to wait after try number *tries*; None if there is no further try."""
        if not self.is_passing or tries >= TRIES:
            return None
        seconds = self.retry_after
        if seconds is None:
            seconds = 2.0 ** (tries - 1)
        if seconds > LONGEST_WAIT:
            return None
        return seconds

    def error(self, tries: int) -> ModelError:
        """Return the error to raise after *tries* tries have failed."""
        words = ended(printable(self.reason))
        if self.is_passing and tries > 1:
            words += f" It was tried {tries} times."
        if self.is_passing and (self.retry_after or 0) > LONGEST_WAIT:
            words += f" The server asks to wait {counted(round(self.retry_after or 0), 'second')}."
        error = ModelError(words)
        if self.is_connection:
            error = ModelConnectionError(words)
        error.status = self.status
        return error


def printable(words: str) -> str:
    """Return *words* with control characters replaced by spaces, except line breaks."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in words)


def fault_of(error: BaseException, place: str, redactor: Redactor) -> Fault | None:
    """Return a description of a failed request; None if *error* comes from a bug in toolbench.

    Args:
        error: The exception that the transport or a provider's package raised.
        place: The host that the request was sent to, or the name of the client that sent it.
        redactor: Masks the API key, which some providers quote in their error messages.
    """
    status = status_of(error)
    if status is not None:
        words = redactor.sentence(_words(error))
        reason = f"{place} {_verb(status)} ({status})"
        if words:
            reason += f": {words}"
        return Fault(reason, status, retry_after=_retry_after(error))
    if any(map(_is_of_a_header, causes(error))):
        return Fault(
            f"The key for {place} has a character that is not allowed in a header, such as a line break "
            "or a long dash: copy the key again, without anything around it"
        )
    names = {name for cause in causes(error) for name in class_names(cause)}
    if names.isdisjoint(CONNECTION | {"OSError"}):
        is_known = isinstance(error, ValueError | RecursionError) or "APIError" in names
        if is_known or _is_of_a_package(error):
            words = redactor.sentence(sentence(error))
            return Fault(f"{place} sent an answer that cannot be read: {_short(words)}")
        return None
    return Fault(redactor.sentence(_broken(error, place, names)), is_connection=True)


def _is_of_a_package(error: BaseException) -> bool:
    """Tell whether a provider's package raised *error* because of what its server sent."""
    module = ""
    for frame, _ in walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__"))
    packages = tuple(f"{wire.package}." for wire in WIRES.values() if wire.package)
    return module.startswith(packages)


def _broken(error: BaseException, place: str, names: set[str]) -> str:
    if isinstance(error, BrokenOffError):
        return f"The connection to {place} ended in the middle of the answer. Ask again."
    if names & UNREACHED:
        deepest = [sentence(cause) for cause in causes(error)][-1]
        return (
            f"{place} could not be reached ({_short(deepest)}). Is the address right, and does "
            "the server run?"
        )
    if any(name.endswith("Timeout") or name == "TimeoutError" for name in names):
        return f"{place} did not answer in time. Ask again, or check whether it is overloaded."
    words = _short(sentence(error) or type(error).__name__)
    return f"The connection to {place} broke: {ended(words)} Ask again."


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield *error* and the errors that caused it, deepest last."""
    visited: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in visited:
        visited.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _is_of_a_header(error: BaseException) -> bool:
    if isinstance(error, UnicodeEncodeError):
        return error.encoding == "ascii"
    return "illegal header value" in sentence(error).lower()


def _verb(status: int) -> str:
    if status in (401, 403):
        return "did not accept the key"
    if status == 404:
        return "does not know the model or the address"
    if status == 429:
        return "says there are too many requests"
    if status < 400:
        return "redirects the request, and redirects are not followed"
    if status >= 500:
        return "failed"
    return "refused the request"


def _words(error: BaseException) -> str:
    """Return the provider's message in *error*, without the dict around it; empty if none."""
    body = getattr(error, "body", None)
    for value in (body, getattr(error, "details", None)):
        if isinstance(value, list) and value:
            value = value[0]
        message = None
        if isinstance(value, dict):
            message = value.get("error", value)
        if isinstance(message, dict):
            message = message.get("message")
        if isinstance(message, str) and message:
            return _short(message)
    if isinstance(body, str):
        if body.lstrip().startswith("<"):
            return ""
        return _short(body)
    return _short(str(getattr(error, "message", None) or ""))


def _short(words: str) -> str:
    words = " ".join(words.split())
    if len(words) > _LONGEST:
        words = f"{words[:_LONGEST]}…"
    return words


def _retry_after(error: BaseException) -> float | None:
    headers = getattr(error, "headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
    if re.fullmatch(r"\d+(\.\d+)?", milliseconds := headers.get("retry-after-ms", "")):
        return float(milliseconds) / 1_000
    after = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", after):
        return float(after)
    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - time())
    except (ValueError, TypeError, OverflowError):
        return None
