"""Compare what one server offers now with what was approved. A changed server is not called."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from toolbench.display.escape import visible
from toolbench.errors import ServerError
from toolbench.mcp.snapshots.diff import Change, by_severity, changes_between
from toolbench.mcp.snapshots.schema_diff.equality import same
from toolbench.mcp.trust.approvals import Approvals
from toolbench.mcp.trust.hidden_characters import OfferWarning, warnings_of
from toolbench.wording import counted

# Changes that a refused call names
_MAX_CHANGES = 3


class Trust:
    """What one server offers now (tools and instructions), and what was approved."""

    def __init__(
        self,
        server: str,
        key: str,
        approvals: Approvals,
        when_approved: Callable[[], object] = lambda: None,
    ) -> None:
        """Compare *server* with the approved offer that *approvals* keeps under *key*.

        *when_approved* is called when a person has approved what the server offers now.
        """
        self._server = server
        self._when_approved = when_approved
        self._key = key
        self._approvals = approvals
        self._offer: Mapping[str, Any] = {}
        # Needed if the file cannot be written
        self._approved: Mapping[str, Any] | None = None
        self._offer_read: Mapping[str, Any] | None = None
        self._comparison: _Comparison | None = None
        self.is_first = False
        """Whether the server had no approval yet, so that its offer was approved at once."""

    @property
    def changes(self) -> list[Change]:
        """The changes of the offer since it was approved; empty if nothing has changed.

        `approve` approves the offer that the server had when this property was last read. To find
        the changes may take seconds, so do not read this in the background loop.
        """
        comparison = self._comparison
        if comparison is None:
            return []
        changes = list(comparison.changes)
        # Not before: meanwhile another thread may approve what it has shown
        self._offer_read = comparison.offer
        return changes

    @property
    def has_changed(self) -> bool:
        """Whether the offer has changed since it was approved."""
        return self._comparison is not None

    def look(self, offer: Mapping[str, Any]) -> None:
        """Note *offer*, the newest offer of the server, and whether it is the approved offer."""
        self._offer = {key: offer.get(key) for key in ("instructions", "tools")}
        try:
            approved = self._approvals.of(self._key)
            approved = self._approved if approved is None else approved
            if approved is None:
                self.is_first = True
                self._keep(self._offer)
                return
            is_same = same(approved, self._offer)
        except Exception as error:  # noqa: BLE001 - no text of a server may end the connection or avoid the check
            self._comparison = _Comparison(error, self._offer)
        else:
            self._comparison = None if is_same else _Comparison(approved, self._offer)

    def warnings(self, others: Iterable[str] = ()) -> list[OfferWarning]:
        """Return warnings about the server's texts; see `warnings_of`."""
        return list(warnings_of(self._offer, others))

    def approve(self) -> None:
        """Approve what the server offered when `changes` was last read, or else what it offers now.

        Calls work again, unless the server has changed since then.
        """
        approved = self._offer if self._offer_read is None else self._offer_read
        self._offer_read = None
        self._keep(approved)
        if approved is not self._offer:
            self.look(self._offer)
        if not self.has_changed:
            self._when_approved()

    def _keep(self, offer: Mapping[str, Any]) -> None:
        self._approved = offer
        self._approvals.approve(self._key, offer)
        if offer is self._offer:
            self._comparison = None

    @property
    def refusal(self) -> str:
        """Why the server is not called now: the message of `check`; empty if it is called."""
        try:
            self.check()
        except ServerError as error:
            return str(error)
        return ""

    def check(self) -> None:
        """Raise an error if the offer of the server has changed since it was approved.

        Raises:
            ServerError: If the server changed. The message names changes, and how to approve them.
        """
        comparison = self._comparison
        if comparison is None:
            return
        changes = comparison.changes
        self._offer_read = comparison.offer if self._offer_read is None else self._offer_read
        total = counted(len(changes), "change")
        lines = "\n".join(f"- {change.text}" for change in changes[:_MAX_CHANGES])
        msg = (
            f"Server {self._server!r} was not called: its tools or instructions changed since it "
            f"was approved here ({total}).\n{lines}\n"
            f"Check them, then: %mcp approve {self._server}"
        )
        raise ServerError(msg)


class _Comparison:
    """An offer and the approved one that it differs from; the changes are found when they are read.

    A server can make this slow for all, so it is not done where the answers of all servers wait.
    """

    def __init__(self, approved: Mapping[str, Any] | Exception, offer: Mapping[str, Any]) -> None:
        """Compare *offer* with *approved*, or say the error for which this is not possible."""
        self._approved = approved
        self.offer = offer

    @cached_property
    def changes(self) -> list[Change]:
        """The changes, at least one, the most severe first."""
        if isinstance(self._approved, Exception):
            return [_incomparable(self._approved)]
        try:
            changes = by_severity(changes_between(self._approved, self.offer))
        except Exception as error:  # noqa: BLE001 - no text of a server may avoid the check
            changes = [_incomparable(error)]
        return changes or [_unnamed("Something in its tools or instructions changed.")]


def _incomparable(error: Exception) -> Change:
    return _unnamed(f"It cannot be compared with what was approved: {visible(str(error))}")


def _unnamed(text: str) -> Change:
    return Change("changed", "breaking", "", text=text)
