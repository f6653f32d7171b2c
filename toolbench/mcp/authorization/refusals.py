"""Explain HTTP answers that refuse a request, and servers that are unreachable or slow."""

import json
import os
import re
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from math import ceil
from time import time
from urllib.parse import urlsplit

from toolbench.mcp.config.program import program_name

ABSENT = "The server requires a login: set 'auth' to a token or \"oauth\""
REFUSED = "The server refuses the token that was sent: check that it is complete, and meant for this server"
EXPIRED = "The token that was sent has expired: get a new one, and connect again"
_SAYS_EXPIRED = re.compile(r"\bexpir", re.IGNORECASE)
_OTHER_REASON = re.compile(
    r"\bor\b|\b(revoked|malformed|unknown|unrecogni[sz]ed)\b|\binvalid\b(?! (access )?token)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;](?:\s|$)")
_SCOPE = re.compile(r'\bscope="([^"]*)"')


def refusal(status: int, sent: Mapping[str, str], received: Mapping[str, str], body: str) -> str:
    """Return advice for the user about an HTTP answer that refused a request.

    Return an empty string if there is no advice for this answer.

    Args:
        status: The HTTP status.
        sent: The headers of the request, with lower-case names.
        received: The headers of the answer, with lower-case names.
        body: The beginning of the answer's body.
    """
    challenge = received.get("www-authenticate", "")
    token = sent.get("authorization", "")
    if status == 401:
        if not token:
            return ABSENT
        is_expired = _is_past(token) or _says_expired(f"{challenge}. {body}")
        if is_expired:
            return EXPIRED
        return REFUSED
    if status == 403 and "insufficient_scope" in challenge:
        needed = ""
        if scope := _SCOPE.search(challenge):
            needed = f": it needs the scope {scope[1]!r}"
        return f"The token that was sent does not allow this{needed}"
    if status == 407:
        return "The proxy requires a password: put it into the variable with the proxy's URL"
    return ""


def _says_expired(text: str) -> bool:
    """Tell whether a sentence in *text* says that the token has expired, and gives no other reason.

    Some servers list all possible reasons, as in "invalid, expired, or no longer recognized"; the
    token need not have expired then.
    """
    for sentence in _SENTENCE_END.split(text):
        if _SAYS_EXPIRED.search(sentence) and not _OTHER_REASON.search(sentence):
            return True
    return False


def _is_past(authorization: str) -> bool:
    """Tell whether the token in *authorization* is a JWT that has expired, based on its `exp`."""
    parts = authorization.rpartition(" ")[2].split(".")
    if len(parts) != 3:
        return False
    try:
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return float(claims["exp"]) < time()
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


# --- the network -------------------------------------------------------------------------

_WRONG_CERTIFICATE = re.compile(r"CERTIFICATE_VERIFY_FAILED\]?:?\s*(.*?)(?: \(_ssl|$)")
_OF_CERTIFICATES = {
    "expired": "The server needs a new one, if the clock of this computer is right",
    "mismatch": "It was made for another host: write that into the URL, if it is the same server",
}
"""Advice for error messages of OpenSSL."""
_NO_TLS = (
    "WRONG_VERSION_NUMBER",
    "UNKNOWN_PROTOCOL",
    "RECORD_LAYER_FAILURE",
    "HTTP_REQUEST",
)
_HUNG_UP = ("RemoteProtocolError", "ReadError")
_DOWNLOADERS = frozenset(
    {"npx", "uvx", "uv", "pipx", "bunx", "pnpm", "yarn", "deno", "docker", "podman"}
)


def network_advice(
    url: str, kind: str, text: str, variables: Mapping[str, str] = os.environ
) -> str:
    """Explain why *url* cannot be reached, with advice. Return "" if the reason is unknown.

    Args:
        url: The URL of the server.
        kind: The class name of the error, such as `ConnectError`.
        text: The text of the error.
        variables: The environment variables. They may define a proxy.
    """
    host = urlsplit(url).hostname or "the server"
    if match := _WRONG_CERTIFICATE.search(text):
        advice = (
            "If you trust it, name the file of the authority that signed it in SSL_CERT_FILE, and "
            "connect again"
        )
        for word, other in _OF_CERTIFICATES.items():
            if word in match[1]:
                advice = other
        return f"the certificate of {host} is not trusted ({match[1].rstrip('. ')}). {advice}"
    if any(reason in text for reason in _NO_TLS):
        return f"{host} does not speak TLS. Should the URL begin with http:// instead of https://?"
    proxy = proxy_variable(url, variables)
    if kind == "ProxyError" or (kind == "ConnectError" and proxy):
        return (
            f"the proxy that the variable {proxy or 'HTTPS_PROXY'} names rejects the request "
            f"({text.rstrip('.')}). Correct it, or add {host} to NO_PROXY"
        )
    if kind in _HUNG_UP and url.startswith("http://"):
        return (
            f"{host} closed the connection without an answer. If it speaks TLS, the URL has "
            "to begin with https://"
        )
    return ""


def slowness_advice(command: str, seconds: float) -> str:
    """Return advice for a server, perhaps started by *command*, that needs over *seconds*."""
    program = program_name(command)
    is_downloader = program in _DOWNLOADERS
    least = 120
    if is_downloader:
        least = 300
    more = max(least, ceil(2 * seconds))
    with_time = f"connect again with more time (--timeout {more}, or timeout={more})"
    if is_downloader:
        return (
            f" {program} may still have been downloading the package: {with_time}, or run the "
            "command once in a terminal."
        )
    return f" If it is only slow, {with_time}."


def proxy_variable(url: str, variables: Mapping[str, str]) -> str:
    """Return the variable that names the proxy for *url*; empty if there is no proxy."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    spared = variables.get("no_proxy") or variables.get("NO_PROXY") or ""
    for part in spared.lower().split(","):
        suffix = part.strip().lstrip(".")
        if suffix == "*" or (suffix and f".{host}".endswith(f".{suffix}")):
            return ""
    for name in (f"{parts.scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if variables.get(variable):
                return variable
    return ""
