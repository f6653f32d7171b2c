"""Get the content at a web address, if the address and those of all redirects are allowed.

A host name is resolved only once, and the connection uses the network address that was checked. So
an attacker cannot change the address of a host name after the check.
"""

from dataclasses import dataclass
from http import HTTPStatus

import httpx2

from toolbench.tools.failure_sentence import RunError
from toolbench.tools.web_read.addresses import Resolver, allowed, resolve

MAX_BYTES = 5_000_000
_MAX_REDIRECTS = 10
_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,text/*;q=0.9,image/*;q=0.5,*/*;q=0.3",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": "Mozilla/5.0 (compatible; toolbench web_read)",
}
# Seconds for one connection, one read
_STEP = httpx2.Timeout(15.0)


@dataclass(frozen=True)
class Fetched:
    """The answer of a web server."""

    url: str
    status: int
    content_type: str
    charset: str | None
    body: bytes
    is_cut: bool
    """Whether the server's body was longer than MAX_BYTES, so that `body` has only its start."""


async def fetch(url: str, *, resolver: Resolver = resolve, private: bool = False) -> Fetched:
    """Return the server's answer at *url*, after redirects.

    Args:
        url: The web address.
        resolver: A function that returns the network addresses of a host and port.
        private: Whether connections to private addresses are allowed.

    Raises:
        RunError: If the request is not allowed or fails; the message gives the reason.
    """
    async with httpx2.AsyncClient(
        headers=_HEADERS, timeout=_STEP, trust_env=False, follow_redirects=False
    ) as client:
        target = _checked(url)
        for _ in range(_MAX_REDIRECTS + 1):
            port = target.port or (443 if target.scheme == "https" else 80)
            addresses = await allowed(target.host, port, resolver=resolver, private=private)
            response = await _answer(client, target, addresses)
            try:
                if not response.has_redirect_location:
                    return await _read(target, response)
                target = _checked(response.headers["location"], target)
            finally:
                await response.aclose()
    msg = f"{url!r} was redirected more than {_MAX_REDIRECTS} times. Use another page."
    raise RunError(msg)


def _checked(url: str, base: httpx2.URL | None = None) -> httpx2.URL:
    """Return *url*, which may be relative to *base*, as an absolute web address.

    Raises:
        RunError: If the address is not valid, or may not be read.
    """
    try:
        target = base.join(url) if base is not None else httpx2.URL(url.strip())
    except (httpx2.InvalidURL, ValueError) as error:
        msg = f"{url!r} is not a valid address: {error}. Write it as https://host/path."
        raise RunError(msg) from error
    if target.scheme not in ("http", "https"):
        msg = f"Only http:// and https:// addresses are read, not {url!r}."
        raise RunError(msg)
    if not target.host:
        msg = f"{url!r} names no host. Write it as https://host/path."
        raise RunError(msg)
    if target.userinfo:
        msg = "An address with a user name or password in it is not read: leave it out."
        raise RunError(msg)
    return target


async def _answer(
    client: httpx2.AsyncClient, target: httpx2.URL, addresses: list[str]
) -> httpx2.Response:
    """Send the request to each of *addresses* until one of them answers, and return the answer."""
    failure = ""
    for address in addresses:
        request = client.build_request(
            "GET",
            target.copy_with(host=address, fragment=None),
            headers={"Host": target.netloc.decode("ascii")},
            extensions={"sni_hostname": target.host},
        )
        try:
            return await client.send(request, stream=True)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            failure = str(error) or type(error).__name__
        except httpx2.HTTPError as error:
            raise _broken(target, error) from error
    msg = (
        f"{target.host} cannot be reached ({failure or 'it has no address'}). "
        "Try again later, or another page."
    )
    raise RunError(msg)


async def _read(target: httpx2.URL, response: httpx2.Response) -> Fetched:
    body = bytearray()
    try:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_BYTES:
                break
    except httpx2.HTTPError as error:
        raise _broken(target, error) from error
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Fetched(
        url=str(target),
        status=response.status_code,
        content_type=kind,
        charset=response.charset_encoding,
        body=bytes(body[:MAX_BYTES]),
        is_cut=len(body) > MAX_BYTES,
    )


def _broken(target: httpx2.URL, error: Exception) -> RunError:
    why = str(error) or type(error).__name__
    return RunError(f"{target.host} did not answer correctly ({why}). Try again, or another page.")


def status_line(status: int) -> str:
    """Return the status in words: `404 Not Found`."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
