"""Compare what one server offers now with what was approved. A changed server is not called."""

from collections.abc import Iterable, Mapping
from typing import Any

from toolbench.display.escape import visible
from toolbench.errors import ServerError
from toolbench.mcp.snapshots.change import Change, by_severity
from toolbench.mcp.snapshots.diff import changes_between
from toolbench.mcp.snapshots.schema_diff.equality import same
from toolbench.mcp.trust.approvals import Approvals
from toolbench.mcp.trust.warnings import OfferWarning, warnings_of
from toolbench.wording import counted

# Changes that a refused call names
_MAX_CHANGES = 3


class Trust:
    """What one server offers now (tools and instructions), and what was approved."""

    def __init__(self, server: str, key: str, approvals: Approvals) -> None:
        """Compare *server* with the approved offer that *approvals* keeps under *key*."""
        self._server = server
        self._key = key
        self._approvals = approvals
        self._offer: Mapping[str, Any] = {}
        # Needed if the file cannot be written
        self._approved: Mapping[str, Any] | None = None
        self._offer_read: Mapping[str, Any] | None = None
        self._changes: list[Change] = []
        self.is_first = False
        """Whether the server had no approval yet, so that its offer was approved at once."""

    @property
    def changes(self) -> list[Change]:
        """The changes of the offer since it was approved; empty if nothing has changed.

        `approve` approves the offer that the server had when this property was last read.
        """
        if self._changes:
            self._offer_read = self._offer
        return list(self._changes)

    def look(self, offer: Mapping[str, Any]) -> None:
        """Compare *offer*, the newest offer of the server, with the approved offer."""
        self._offer = {key: offer.get(key) for key in ("instructions", "tools")}
        try:
            self._changes = self._compared()
        except Exception as error:  # noqa: BLE001 - no text of a server may end the connection or avoid the check
            text = f"It cannot be compared with what was approved: {visible(str(error))}"
            self._changes = [Change("changed", "breaking", "", text=text)]

    def _compared(self) -> list[Change]:
        approved = self._approvals.of(self._key)
        approved = self._approved if approved is None else approved
        if approved is None:
            self.is_first = True
            self.approve()
        elif not same(approved, self._offer):
            return by_severity(changes_between(approved, self._offer)) or [
                Change(
                    "changed",
                    "breaking",
                    "",
                    text="Something in its tools or instructions changed.",
                )
            ]
        return []

    def warnings(self, others: Iterable[str] = ()) -> list[OfferWarning]:
        """Return warnings about the server's texts; see `warnings_of`."""
        return list(warnings_of(self._offer, others))

    def approve(self) -> None:
        """Approve what the server offered when `changes` was last read, or else what it offers now.

        Calls work again, unless the server has changed since then.
        """
        self._approved = self._offer if self._offer_read is None else self._offer_read
        self._offer_read = None
        self._approvals.approve(self._key, self._approved)
        if self._approved is self._offer:
            self._changes = []
        else:
            self.look(self._offer)

    def check(self) -> None:
        """Raise an error if the offer of the server has changed since it was approved.

        Raises:
            ServerError: If the server changed. The message names changes, and how to approve them.
        """
        if not self._changes:
            return
        self._offer_read = self._offer if self._offer_read is None else self._offer_read
        total = counted(len(self._changes), "change")
        lines = "\n".join(f"- {change.text}" for change in self._changes[:_MAX_CHANGES])
        msg = (
            f"Server {self._server!r} was not called: its tools or instructions changed since it "
            f"was approved here ({total}).\n{lines}\n"
            f"Check them, then: %mcp approve {self._server}"
        )
        raise ServerError(msg)
