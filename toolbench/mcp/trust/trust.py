"""Whether one server still says what was approved; until then it is called no more."""

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

_MAX_CHANGES = 3  # changes that a refused call names


class Trust:
    """What was approved of one server, and what it says now."""

    def __init__(self, server: str, key: str, approvals: Approvals) -> None:
        """Compare *server*, known by *key*, with what *approvals* keeps of it."""
        self._server = server
        self._key = key
        self._approvals = approvals
        self._offer: Mapping[str, Any] = {}
        self._approved: Mapping[str, Any] | None = None  # also if no file can be kept
        self._offer_read: Mapping[str, Any] | None = None
        self._changes: list[Change] = []
        self.is_first = False
        """Whether the server was seen here for the first time, and so approved."""

    @property
    def changes(self) -> list[Change]:
        """What the server says otherwise than when it was approved here; empty is well.

        Reading them counts as having seen what `approve` approves.
        """
        if self._changes:
            self._offer_read = self._offer
        return list(self._changes)

    def look(self, offer: Mapping[str, Any]) -> None:
        """Compare *offer*: what the server says now, each time it was listed."""
        self._offer = {key: offer.get(key) for key in ("instructions", "tools")}
        try:
            self._changes = self._compared()
        except Exception as error:  # noqa: BLE001 - no words of a server may end the connection, or get it called
            text = f"What it says cannot be compared with what was approved: {visible(str(error))}"
            self._changes = [Change("changed", "breaking", "", text=text)]

    def _compared(self) -> list[Change]:
        approved = self._approvals.of(self._key)
        approved = self._approved if approved is None else approved
        if approved is None:
            self.is_first = True
            self.approve()
        elif not same(approved, self._offer):
            return by_severity(changes_between(approved, self._offer)) or [
                Change("changed", "breaking", "", text="It says other things.")
            ]
        return []

    def warnings(self, others: Iterable[str] = ()) -> list[OfferWarning]:
        """Return what to look at in what the server says; see `warnings_of`."""
        return list(warnings_of(self._offer, others))

    def approve(self) -> None:
        """Remember what the server said when its changes were last looked at.

        It is called again, unless it has come to say something else since then.
        """
        self._approved = self._offer if self._offer_read is None else self._offer_read
        self._offer_read = None
        self._approvals.approve(self._key, self._approved)
        if self._approved is self._offer:
            self._changes = []
        else:
            self.look(self._offer)

    def check(self) -> None:
        """Refuse a call to a server that changed.

        Raises:
            ServerError: It says what changed, and how the server is approved.
        """
        if not self._changes:
            return
        self._offer_read = self._offer if self._offer_read is None else self._offer_read
        total = counted(len(self._changes), "change")
        lines = "\n".join(f"- {change.text}" for change in self._changes[:_MAX_CHANGES])
        msg = (
            f"Server {self._server!r} was not called: it says other things than when it was "
            f"approved here ({total}).\n{lines}\n"
            f"Look at them, then: %mcp approve {self._server}"
        )
        raise ServerError(msg)
