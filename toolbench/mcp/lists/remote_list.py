"""Base classes for a server's lists, as sequences that are kept up to date."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from time import monotonic
from typing import Any, ClassVar, TypeVar, overload

from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ended
from toolbench.mcp.connection.connection import Connection, Pages
from toolbench.mcp.connection.reconnection import ReconnectingConnection

T = TypeVar("T")
LEAST = 1.0
"""The minimum seconds between two requests for a list, even if its `ttlMs` is shorter."""


def stale_from(lifetime: float | None) -> float:
    """Return the `monotonic` time at which a list with a *lifetime* in seconds becomes stale."""
    if lifetime is None:
        return inf
    return monotonic() + max(lifetime, LEAST)


class ItemList(Sequence[T]):
    """A sequence of items in the server's order, which are looked up at each use."""

    @abstractmethod
    def items(self) -> list[T]:
        """Return a new list of the current items."""

    @property
    @abstractmethod
    def known_items(self) -> list[T] | None:
        """The items as last listed, without a request; None before the first listing."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        return self.items()[index]

    def __len__(self) -> int:
        return len(self.items())

    def __iter__(self) -> Iterator[T]:
        return iter(self.items())

    def __eq__(self, other: object) -> bool:
        """Tell whether *other* is a list, tuple or `ItemList` with the same items."""
        if isinstance(other, list | tuple | ItemList):
            return self.items() == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # the items change

    def __str__(self) -> str:
        return str(self.items())

    def __repr__(self) -> str:
        # A repr never waits for a server
        items = self.known_items
        if items is None:
            return f"{type(self).__name__}(not listed yet)"
        return f"{items}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython's
        """Show the items as the result of a cell."""
        printer.pretty(self.items())


class RemoteList(ItemList[T]):
    """A list of a server's items, which is requested from the server when it is first used.

    The list is requested again if the server reports a change, or if its `ttlMs` is over. Reading
    the list may therefore wait for the server. If the connection is lost, or the server does not
    return the first page, reading raises `ServerError`. If the server does not return a later page,
    the list has the items of the earlier pages.
    """

    method: ClassVar[str]
    """The method that requests one page."""
    key: ClassVar[str]
    """The key of the items in a page."""
    capability: ClassVar[str] = ""
    """The capability without which the list is not requested."""

    def __init__(self, connection: ReconnectingConnection, seconds: float) -> None:
        """Create a list to request over *connection*, with *seconds* for all pages together."""
        self._connection = connection
        self._seconds = seconds
        self._items: list[T] | None = None
        self._changes = 0
        self._stale_from = inf

    @abstractmethod
    def parse(self, offers: list[Any]) -> list[T]:
        """Return the items in *offers*, the entries of the server's list."""

    def is_offered(self, capabilities: Mapping[str, Any]) -> bool:
        """Tell whether a server that declares *capabilities* has such a list."""
        return self.capability in capabilities

    @property
    def known_items(self) -> list[T] | None:
        """The items as last listed, without a request; None before the first listing."""
        return self._items

    def items(self) -> list[T]:
        """Return the items; request them if they are unknown or no longer fresh.

        Raises:
            ServerError: If the server refuses or cannot be reached.
        """
        return portal.call(self._listed)

    def forget(self) -> None:
        """Request the list again when next used, even if a request is running now."""
        self._items = None
        self._changes += 1

    async def _pages(self, connection: Connection) -> Pages:
        return await connection.pages(self.key, self.method, self._seconds)

    async def _listed(self) -> list[T]:
        is_stale = monotonic() >= self._stale_from and not self._connection.is_recorded
        if self._items is None or is_stale:
            changes = self._changes
            connection = await self._connection.live()
            if not self.is_offered(connection.described().get("capabilities", {})):
                return []
            rows, problem, lifetime = await self._connection.use(self._pages, repeats=True)
            if problem is not None and not rows:
                server = self._connection.inbox.server
                msg = f"Server {server!r} does not list its {self.key}: {ended(problem)}"
                raise ServerError(msg)
            items = self.parse(rows)
            # The list changed during the request: do not keep the items
            if changes != self._changes:
                return items
            self._items, self._stale_from = items, stale_from(lifetime)
        return list(self._items)
