"""Store the OAuth tokens of servers in the keyring, or else in a private file of the user.

The user therefore need not log in again after restarting the kernel. FastMCP's OAuth reads and
writes the tokens through a `TokenStore`.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any, SupportsFloat
from urllib.parse import urlsplit

from platformdirs import user_state_path

from toolbench.core.secrets import keyring_here
from toolbench.files import write_whole

_SERVICE = "jupyter-toolbench"
_SECRETS = frozenset({"access_token", "refresh_token", "id_token", "client_secret"})
_log = logging.getLogger(__name__)

Items = dict[str, dict[str, Any]]
"""The stored items of one server by name: tokens and the registration of the client."""


class TokenVault:
    """The tokens of this user, by server URL."""

    def __init__(self, folder: Path | None = None) -> None:
        """Store tokens in the keyring of the system if there is one, else in files in *folder*.

        Args:
            folder: The folder, by default `tokens` in the state directory. Only the user can read
                its files.
        """
        self._folder = folder
        self._lock = RLock()

    def items(self, server: str) -> Items:
        """Return the stored OAuth data of *server*, such as its tokens, by key.

        The result is empty if nothing is stored or the data cannot be read. The data is written to
        a file if the keyring does not accept it. Such a file takes precedence over the keyring.
        """
        with self._lock:
            text, keyring = self._read(server), keyring_here()
            if text is None and keyring is not None:
                text = _tried(lambda: keyring.get_password(_SERVICE, _name(server)))
            return _items(text)

    def put(self, server: str, items: Items) -> None:
        """Store *items* of *server*, replacing its earlier items."""
        with self._lock:
            if not items:
                self.remove(server)
                return
            text = json.dumps(items)
            keyring, name = keyring_here(), _name(server)
            if keyring is not None:
                _tried(lambda: keyring.set_password(_SERVICE, name, text))
                if _tried(lambda: keyring.get_password(_SERVICE, name)) == text:
                    self._file(server).unlink(missing_ok=True)
                    return
            try:
                self._file(server).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                write_whole(self._file(server), text)
            except OSError as error:
                _log.warning("The token was not kept: %s.", error.strerror)

    def remove(self, server: str) -> bool:
        """Delete the stored OAuth data of *server*, and return whether anything was stored.

        If the keyring or the file system refuses to delete the data, `items` still returns it.
        """
        with self._lock:
            was_there = bool(self.items(server))
            keyring = keyring_here()
            if keyring is not None:
                _tried(lambda: keyring.delete_password(_SERVICE, _name(server)))
            try:
                self._file(server).unlink(missing_ok=True)
            except OSError as error:
                _log.warning("The token was not deleted: %s.", error.strerror)
            return was_there

    def forget_clients(self, server: str) -> None:
        """Remove the registration of this client at *server*, but keep the tokens."""
        with self._lock:
            items = self.items(server)
            self.put(server, {k: v for k, v in items.items() if "redirect_uris" not in v})

    def _read(self, server: str) -> str | None:
        try:
            return self._file(server).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None

    def _file(self, server: str) -> Path:
        folder = self._folder or user_state_path("toolbench") / "tokens"
        return folder / f"{_digest(server)}.json"


def registered_port(items: Items) -> int | None:
    """Return the port of the redirect URI registered in *items*; None if there is none."""
    for item in items.values():
        uris = item.get("redirect_uris")
        if isinstance(uris, list) and uris:
            try:
                return urlsplit(str(uris[0])).port
            except ValueError:
                return None
    return None


def _tried(use: Callable[[], Any]) -> Any:
    """Call *use*, which accesses the keyring; return its result, or None after an error."""
    try:
        return use()
    except Exception as error:  # noqa: BLE001 - each backend has errors of its own
        _log.info("The keyring cannot be used (%s).", type(error).__name__)
        return None


def _items(text: str | None) -> Items:
    try:
        items = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(items, dict):
        return {}
    return {key: item for key, item in items.items() if isinstance(item, dict)}


def _digest(server: str) -> str:
    return sha256(server.encode()).hexdigest()[:32]


def _name(server: str) -> str:
    return f"{urlsplit(server).hostname} {_digest(server)}"


vault = TokenVault()
"""The tokens of this user."""


# --- the store of FastMCP's OAuth --------------------------------------------------------


class TokenStore:
    """The store in which FastMCP's OAuth keeps the tokens of one server.

    Source: the protocol `AsyncKeyValue` of py-key-value. Only the three methods that OAuth calls
    are implemented.
    """

    def __init__(self, server: str, on_secrets: Callable[[Iterable[str]], object]) -> None:
        """Store the tokens of *server* in `vault`; *on_secrets* is called with tokens to hide."""
        self._server = server
        self._on_secrets = on_secrets

    async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
        """Return the item *key*; None if there is no such item."""
        items: Items = await _in_thread(vault.items, self._server)
        item = items.get(f"{collection} {key}")
        self._hide(item or {})
        return item

    async def put(
        self,
        key: str,
        value: Mapping[str, Any],
        *,
        collection: str | None = None,
        ttl: SupportsFloat | None = None,
    ) -> None:
        """Store *value* under *key*; *ttl* is ignored, as the server decides when tokens expire."""
        self._hide(value)
        await _in_thread(self._put, f"{collection} {key}", dict(value))

    async def delete(self, key: str, *, collection: str | None = None) -> bool:
        """Remove the item *key*; tell whether there was such an item."""
        return bool(await _in_thread(self._put, f"{collection} {key}", None))

    def _put(self, name: str, value: dict[str, Any] | None) -> bool:
        items = vault.items(self._server)
        was_there = items.pop(name, None) is not None
        if value is not None:
            items[name] = value
        vault.put(self._server, items)
        return was_there

    def _hide(self, item: Mapping[str, Any]) -> None:
        secrets = []
        for name in _SECRETS:
            if isinstance(text := item.get(name), str):
                secrets.append(text)
        self._on_secrets(secrets)


async def _in_thread(work: Callable[..., Any], *args: Any) -> Any:
    """Call *work* in a thread, because a keyring may wait for the user to unlock it."""
    from anyio.to_thread import run_sync  # noqa: PLC0415 - with the first server

    return await run_sync(work, *args)
