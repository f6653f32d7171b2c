"""Who may call: the one that shows the token, from a page or program of this machine."""

from hashlib import sha256
from hmac import compare_digest

from fastmcp.server.auth import AccessToken, TokenVerifier


class OneToken(TokenVerifier):
    """Lets in the caller with the right token; it keeps no more of the token than its hash."""

    def __init__(self, token: str) -> None:
        """Let in callers with *token*."""
        super().__init__()
        self._digest = sha256(token.encode()).digest()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return what the rest of the server is told about a caller; None refuses it."""
        digest = sha256(token.encode(errors="surrogateescape")).digest()
        if not compare_digest(digest, self._digest):
            return None
        return AccessToken(
            token="", client_id="toolbench", scopes=[]
        )  # the token goes no further
