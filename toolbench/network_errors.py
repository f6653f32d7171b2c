"""Recognise network errors of any package by class name and status, without importing the package.

httpx, requests, urllib, aiohttp, anyio, websockets, MCP's SDK and the packages of providers each
have their own errors. Only the names of the classes and the status are similar in all of them.
"""

import errno
from collections.abc import Iterator
from typing import Literal

ErrorKind = Literal["timeout", "network", "permission"]
"""The kinds of errors: a timeout; a failed connection or a busy host; a missing permission."""

PASSING_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
"""The HTTP statuses of temporary refusals: a later request may succeed."""
UNREACHED = frozenset(
    {
        *("ConnectError", "ConnectTimeout", "ClientConnectorError"),
        *("gaierror", "ConnectionRefusedError"),
    }
)
"""The names of the classes of errors that mean: the host could not be reached at all."""
CONNECTION = frozenset(
    {
        *("TransportError", "NetworkError", "ConnectError", "ConnectionError"),
        *("APIConnectionError", "ClientConnectionError", "ClientPayloadError"),
        *("NewConnectionError", "MaxRetryError", "ProtocolError", "IncompleteRead"),
        *("BrokenResourceError", "ClosedResourceError", "EndOfStream"),
        *("ConnectionClosed", "URLError", "gaierror", "herror", "TimeoutError"),
    }
)
"""The names of the classes of errors that mean: the connection to a host failed."""

_TIMEOUTS = ("Timeout", "TimeoutError", "TimeoutException", "TimeoutExpired")
_MCP = frozenset({"McpError", "MCPError"})
_MCP_KINDS: dict[int, ErrorKind] = {-32000: "network", -32001: "timeout"}
_NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})


def class_names(error: BaseException) -> list[str]:
    """Return the name of the class of *error*, then the names of its base classes."""
    return [kind.__name__ for kind in type(error).__mro__]


def status_of(error: object) -> int | None:
    """Return the HTTP status of *error* or of its response; None if it has none."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "code", "status"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and 300 <= status < 600:
                return status
    return None


def error_kind(error: BaseException) -> ErrorKind | None:
    """Return the kind of *error* if it is about the network or a permission, else None.

    The cause of *error* (`raise ... from cause`) and the first error of a group count too.
    """
    for cause in _stated_causes(error):
        kind = _kind(cause)
        if kind is not None:
            return kind
    return None


def _stated_causes(error: BaseException) -> Iterator[BaseException]:
    visited: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in visited:
        visited.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        else:
            cause = cause.__cause__


def _kind(error: BaseException) -> ErrorKind | None:
    if (status := status_of(error)) is not None:
        return _of_status(status)
    names = class_names(error)
    if _MCP.intersection(names):
        return _MCP_KINDS.get(getattr(error, "code", 0))
    for name in names:
        if name == "PermissionError":
            return "permission"
        if name in CONNECTION and name != "TimeoutError":
            return "network"
        if name.endswith(_TIMEOUTS):
            return "timeout"
    is_lost = isinstance(error, OSError) and error.errno in _NO_WAY
    return "network" if is_lost else None


def _of_status(status: int) -> ErrorKind | None:
    if status in (401, 403):
        return "permission"
    if status in (408, 504):
        return "timeout"
    return "network" if status in PASSING_STATUSES else None
