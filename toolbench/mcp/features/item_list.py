"""What a server offers of one kind, as a sequence that follows the server."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, TypeVar, overload

from toolbench.core.background_loop import portal
from toolbench.errors import ServerError, ended
from toolbench.mcp.connection.reconnection import ReconnectingConnection

T = TypeVar("T")


class ItemList(Sequence[T]):
    """Items in the server's order. Each look shows the list as it is then."""

    @abstractmethod
    def items(self) -> list[T]:
        """Return the items as they are now; the list is yours."""

    @property
    @abstractmethod
    def known_items(self) -> list[T] | None:
        """The items as last listed, without asking the server; None if they never were."""

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
        """Equal to a list or tuple of the same items."""
        if isinstance(other, list | tuple | ItemList):
            return self.items() == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # the items change

    def __str__(self) -> str:
        return str(self.items())

    def __repr__(self) -> str:
        items = self.known_items  # a repr never waits for a server
        return f"{type(self).__name__}(not listed yet)" if items is None else f"{items}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython's
        """Show the items where a cell shows its last value."""
        printer.pretty(self.items())


class RemoteList(ItemList[T]):
    """A list that is requested when it is first looked at, and again after a change.

    Reading it may wait for the server; a server that does not list raises `ServerError`.
    """

    method: ClassVar[str]
    """The method of the SDK's session that requests one page."""
    key: ClassVar[str]
    """Where the items are in a page."""
    capability: ClassVar[str]
    """What a server has to claim to be asked."""

    def __init__(self, connection: ReconnectingConnection, seconds: float) -> None:
        """Ask over *connection*, *seconds* at most each time."""
        self._connection = connection
        self._seconds = seconds
        self._items: list[T] | None = None
        self._changes = 0

    @abstractmethod
    def parse(self, offers: list[Any]) -> list[T]:
        """Return the items in what the server listed."""

    @property
    def known_items(self) -> list[T] | None:
        """The items as last listed, without asking the server; None if they never were."""
        return self._items

    def items(self) -> list[T]:
        """Return the items, listed now if they are not known.

        Raises:
            ServerError: If the server does not list them or cannot be reached.
        """
        return portal.call(self._listed)

    def forget(self) -> None:
        """List anew at the next look, also if a look is under way."""
        self._items = None
        self._changes += 1

    async def _listed(self) -> list[T]:
        if self._items is None:
            changes = self._changes
            connection = await self._connection.live()
            if self.capability not in connection.described().get("capabilities", {}):
                return []
            rows, problem = await self._connection.pages(
                self.key,
                lambda session, params: getattr(session, self.method)(params=params),
                self._seconds,
            )
            if problem is not None and not rows:
                server = self._connection.inbox.server
                msg = (
                    f"Server {server!r} does not list its {self.key}: {ended(problem)}"
                )
                raise ServerError(msg)
            items = self.parse(rows)
            if changes != self._changes:  # it is older than the server's word
                return items
            self._items = items
        return list(self._items)
