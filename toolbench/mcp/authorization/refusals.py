"""Explain to a person an HTTP answer that refuses a request."""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from time import time

ABSENT = "The server wants to know who asks: give 'auth' a token, or \"oauth\""
REFUSED = (
    "The server refuses the token that was sent: check that it is whole, and one for this server"
)
EXPIRED = "The token that was sent has expired: get a new one, and connect again"
_SAYS_EXPIRED = re.compile(r"\bexpir", re.IGNORECASE)
_OTHER_REASON = re.compile(
    r"\bor\b|\b(revoked|malformed|unknown|unrecogni[sz]ed)\b|\binvalid\b(?! (access )?token)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;](?:\s|$)")
_SCOPE = re.compile(r'\bscope="([^"]*)"')


def refusal(status: int, sent: Mapping[str, str], received: Mapping[str, str], body: str) -> str:
    """Return advice to a person after an answer with *status*; empty if there is no advice.

    Args:
        status: The HTTP status.
        sent: The headers of the request, with lower-case names.
        received: The headers of the answer, with lower-case names.
        body: The beginning of the answer.
    """
    challenge = received.get("www-authenticate", "")
    token = sent.get("authorization", "")
    if status == 401:
        if not token:
            return ABSENT
        is_expired = _is_past(token) or _says_expired(f"{challenge}. {body}")
        return EXPIRED if is_expired else REFUSED
    if status == 403 and "insufficient_scope" in challenge:
        scope = _SCOPE.search(challenge)
        needed = f": it needs the scope {scope[1]!r}" if scope else ""
        return f"The token that was sent does not allow this{needed}"
    if status == 407:
        return "The proxy wants a password: put it into the variable that names the proxy"
    return ""


def _says_expired(text: str) -> bool:
    """Tell whether a sentence of *text* says that the token has expired, and names no other reason.

    Servers have a sentence with all reasons at once: "invalid, expired, or no longer recognized".
    """
    return any(
        _SAYS_EXPIRED.search(sentence) and not _OTHER_REASON.search(sentence)
        for sentence in _SENTENCE_END.split(text)
    )


def _is_past(authorization: str) -> bool:
    """Tell whether the token in *authorization* is a JWT that has expired, by its `exp`."""
    parts = authorization.rpartition(" ")[2].split(".")
    if len(parts) != 3:
        return False
    try:
        claims = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return float(claims["exp"]) < time()
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
