"""Refuse requests without the right token."""

from collections.abc import Iterable
from hashlib import sha256
from hmac import compare_digest
from typing import Any

from fastmcp.server.auth import AccessToken, TokenVerifier

from toolbench.serving.access.token import OWN_HEADER

_OWN, _USUAL = OWN_HEADER.lower().encode(), b"authorization"


class OneToken(TokenVerifier):
    """A verifier that accepts one token, of which it keeps only a hash."""

    def __init__(self, token: str) -> None:
        """Create a verifier that accepts *token*."""
        super().__init__()
        self._digest = sha256(token.encode()).digest()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return a description of the caller; None refuses the request, as *token* is wrong."""
        if not self._is_right(token.encode(errors="surrogateescape")):
            return None
        # No copy of the token is kept
        return AccessToken(token="", client_id="toolbench", scopes=[])

    def knows(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Tell whether one of the *headers* of a request contains the token."""
        for name, value in headers:
            if name == _OWN and self._is_right(value):
                return True
            scheme, _, token = value.partition(b" ")
            if name == _USUAL and scheme.lower() == b"bearer" and self._is_right(token.strip()):
                return True
        return False

    def _is_right(self, token: bytes) -> bool:
        return compare_digest(sha256(token).digest(), self._digest)


class OwnHeader:
    """ASGI middleware that also accepts the token in the header `OWN_HEADER`."""

    def __init__(self, app: Any) -> None:
        """Wrap *app*, the ASGI application of the server."""
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Move a token in `OWN_HEADER` to `Authorization`, and pass the request on."""
        headers: list[tuple[bytes, bytes]] = [*scope.get("headers", ())]
        others, tokens = [], []
        for name, value in headers:
            if name == _OWN:
                tokens.append((_USUAL, b"Bearer " + value))
            elif name != _USUAL:
                others.append((name, value))
        if tokens:
            scope = {**scope, "headers": [*others, *tokens]}
        await self._app(scope, receive, send)
