"""Give FastMCP's OAuth a store for the tokens of one server."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, SupportsFloat

from key_value.aio.protocols import AsyncKeyValue

from toolbench.mcp.authorization.token_vault import TokenVault

_SECRETS = frozenset({"access_token", "refresh_token", "id_token", "client_secret"})


class TokenStore(AsyncKeyValue):
    """The tokens of one server, with the interface that FastMCP's OAuth needs.

    Source: py-key-value, the protocol `AsyncKeyValue`.
    """

    def __init__(
        self,
        vault: TokenVault,
        server: str,
        on_secrets: Callable[[Iterable[str]], object],
    ) -> None:
        """Keep the tokens of *server* in *vault*; *on_secrets* is called with tokens to hide."""
        self._vault = vault
        self._server = server
        self._on_secrets = on_secrets

    async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
        """Return the item *key*; None if there is no such item."""
        items = await _in_thread(self._vault.items, self._server)
        item: dict[str, Any] | None = items.get(f"{collection} {key}")
        self._hide(item)
        return item

    async def put(
        self,
        key: str,
        value: Mapping[str, Any],
        *,
        collection: str | None = None,
        ttl: SupportsFloat | None = None,
    ) -> None:
        """Keep *value* as the item *key*. *ttl* is ignored: the server decides when a token expires."""
        self._hide(value)
        await _in_thread(self._put, f"{collection} {key}", dict(value))

    async def delete(self, key: str, *, collection: str | None = None) -> bool:
        """Remove the item *key*; return whether there was such an item."""
        return bool(await _in_thread(self._put, f"{collection} {key}", None))

    async def ttl(
        self, key: str, *, collection: str | None = None
    ) -> tuple[dict[str, Any] | None, float | None]:
        """Return the item *key* and no time limit: it is kept until it is replaced or deleted."""
        return await self.get(key, collection=collection), None

    async def get_many(
        self, keys: Sequence[str], *, collection: str | None = None
    ) -> list[dict[str, Any] | None]:
        """Return the item of each of *keys*, as `get` does."""
        return [await self.get(key, collection=collection) for key in keys]

    async def ttl_many(
        self, keys: Sequence[str], *, collection: str | None = None
    ) -> list[tuple[dict[str, Any] | None, float | None]]:
        """Return the item of each of *keys* and no time limit, as `ttl` does."""
        return [await self.ttl(key, collection=collection) for key in keys]

    async def put_many(
        self,
        keys: Sequence[str],
        values: Sequence[Mapping[str, Any]],
        *,
        collection: str | None = None,
        ttl: SupportsFloat | None = None,
    ) -> None:
        """Keep each of *values* as the item of its key in *keys*, as `put` does."""
        for key, value in zip(keys, values, strict=True):
            await self.put(key, value, collection=collection, ttl=ttl)

    async def delete_many(self, keys: Sequence[str], *, collection: str | None = None) -> int:
        """Remove the item of each of *keys*; return the number of items that existed."""
        return sum([await self.delete(key, collection=collection) for key in keys])

    def _put(self, name: str, value: dict[str, Any] | None) -> bool:
        items = self._vault.items(self._server)
        was_there = items.pop(name, None) is not None
        if value is not None:
            items[name] = value
        self._vault.put(self._server, items)
        return was_there

    def _hide(self, item: Mapping[str, Any] | None) -> None:
        secrets = [(item or {}).get(key) for key in _SECRETS]
        self._on_secrets([text for text in secrets if isinstance(text, str)])


async def _in_thread(work: Callable[..., Any], *args: Any) -> Any:
    """Do *work* in a thread, because a keyring may wait for the user to unlock it."""
    from anyio.to_thread import run_sync  # noqa: PLC0415 - with the first server

    return await run_sync(work, *args)
