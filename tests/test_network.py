"""Errors of the network, as the real packages raise them."""

import errno
import socket
import subprocess
import urllib.error
from http.client import IncompleteRead

import pytest

from toolbench.errors import ModelConnectionError, ModelError, ServerError
from toolbench.network import error_kind

httpx2 = pytest.importorskip("httpx2")
REQUEST = httpx2.Request("GET", "http://host/")


def raised_from(cause, error):
    """*error*, raised because of *cause*."""
    error.__cause__ = cause
    return error


def while_handling(first, error):
    """*error*, raised by code that deals with *first*."""
    error.__context__ = first
    return error


def of_status(package, status):
    """What *package* raises for an answer with *status*."""
    response = package.Response(status, request=package.Request("GET", "http://host/"))
    return package.HTTPStatusError("no", request=response.request, response=response)


def of_model(status):
    error = ModelError("no")
    error.status = status
    return error


# Each case is a rule of its own
@pytest.mark.every_case
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ConnectionResetError(), "network"),
        (BrokenPipeError(), "network"),
        (socket.gaierror(-2, "no such host"), "network"),
        (OSError(errno.EHOSTUNREACH, "no route"), "network"),
        (PermissionError(), "permission"),
        (FileNotFoundError(), None),
        (ValueError("timeout"), None),
        (subprocess.TimeoutExpired("ls", 1), "timeout"),
        (IncompleteRead(b""), "network"),
        (urllib.error.URLError("no route"), "network"),
        (urllib.error.HTTPError("http://h", 503, "", {}, None), "network"),
        (urllib.error.HTTPError("http://h", 404, "", {}, None), None),
        (httpx2.ConnectError("no", request=REQUEST), "network"),
        (httpx2.ReadTimeout("no", request=REQUEST), "timeout"),
        (httpx2.RemoteProtocolError("no", request=REQUEST), "network"),
        (httpx2.InvalidURL("no"), None),
        (of_status(httpx2, 429), "network"),
        (of_status(httpx2, 504), "timeout"),
        (of_status(httpx2, 403), "permission"),
        (of_status(httpx2, 400), None),
        (ModelConnectionError("gone"), "network"),
        (of_model(503), "network"),
        (of_model(400), None),
        (ServerError("gone"), "network"),
        (raised_from(ConnectionError(), RuntimeError("no weather")), "network"),
        (while_handling(ConnectionError(), TypeError("bad")), None),
        (ExceptionGroup("g", [TimeoutError()]), "timeout"),
    ],
    ids=lambda value: value if isinstance(value, str | None) else type(value).__name__,
)
def test_is_told_by_names_and_numbers(error, kind):
    """What may pass, what is not allowed; anything else is none of the network's."""
    assert error_kind(error) == kind


def test_of_the_packages_of_providers():
    """Those of openai and anthropic, which are not imported for it."""
    for name in ("openai", "anthropic"):
        package = pytest.importorskip(name)
        response = httpx2.Response(503, request=REQUEST)
        busy = package.InternalServerError("no", response=response, body=None)
        assert error_kind(package.APIConnectionError(request=REQUEST)) == "network"
        assert error_kind(package.APITimeoutError(request=REQUEST)) == "timeout"
        assert error_kind(busy) == "network"


def test_of_requests_and_of_httpx():
    """The two that tools use most; refused for real."""
    requests, httpx = pytest.importorskip("requests"), pytest.importorskip("httpx")
    with socket.socket() as closed:
        # Bound, and nobody listens
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        for get in (requests.get, httpx.get, httpx2.get):
            with pytest.raises(Exception) as caught:
                get(url)
            assert error_kind(caught.value) == "network"
    assert error_kind(requests.exceptions.ReadTimeout()) == "timeout"
    answer = requests.Response()
    answer.status_code = 502
    assert error_kind(requests.HTTPError(response=answer)) == "network"


def test_of_the_sdk_of_mcp_and_of_what_it_stands_on():
    """A connection that was closed, an answer that did not come, another error of a server."""
    anyio = pytest.importorskip("anyio")
    mcp = pytest.importorskip("mcp.shared.exceptions")
    assert error_kind(anyio.BrokenResourceError()) == "network"
    assert error_kind(mcp.MCPError(-32000, "Connection closed")) == "network"
    assert error_kind(mcp.MCPError(-32001, "Timed out")) == "timeout"
    assert error_kind(mcp.MCPError(-32602, "Invalid")) is None
