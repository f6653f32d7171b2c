"""Compare a server's tools and instructions with the approved ones; refuse calls after changes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from threading import Lock
from typing import Any

from toolbench.display.escape import on_one_line, visible
from toolbench.errors import ServerError
from toolbench.mcp.snapshots.diff import Change, by_severity, changes_between
from toolbench.mcp.snapshots.schema_diff import same
from toolbench.mcp.trust.approvals import Approvals
from toolbench.wording import counted

# The most changes named in the error of a refused call
_MAX_CHANGES = 3


# --- characters that a model sees and a person does not --------------------------------------

# The most quoted characters, and how many of them come before the first hidden one
_MAX_QUOTE = 100
_LEAD = 30


@dataclass(frozen=True)
class OfferWarning:
    """A server's string with hidden characters, which the user should check."""

    where: str
    """The path of the string in the offer, such as `tools/add/description`."""
    text: str
    """The problem, in one sentence."""

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def warnings_of(offer: Mapping[str, Any]) -> Iterator[OfferWarning]:
    """Yield a warning for each string in *offer* that has hidden characters."""
    for where, text in _texts(offer):
        clean = visible(text)
        if clean != text:
            found = f"it has hidden characters: {_around_hidden(text, clean)}."
            yield OfferWarning(visible(where), found)


def _texts(offer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the strings that a model sees, each with its path."""
    # Not by recursion: a server decides how deep its schemas are
    todo = [("instructions", offer.get("instructions")), ("tools", offer.get("tools"))]
    while todo:
        where, value = todo.pop()
        if isinstance(value, str):
            yield where, value
        elif isinstance(value, Mapping):
            for key, item in value.items():
                yield f"{where}/{key}", str(key)
                todo.append((f"{where}/{key}", item))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                todo.append((f"{where}/{index}", item))


def _around_hidden(text: str, clean: str) -> str:
    """Return the part of *clean*, which is `visible(text)`, around the first hidden character."""
    start = 0
    # Do not search for a mark of `visible`: the string itself may contain one earlier
    for place, (given, shown) in enumerate(zip(text, clean, strict=False)):
        if given != shown:
            start = max(0, place - _LEAD)
            break
    return repr(" ".join(clean[start : start + _MAX_QUOTE].split()))


# --- the offer -------------------------------------------------------------------------------


class Offer:
    """A server's tools and instructions at one moment, compared with the approved ones.

    An offer never changes. The user can therefore look at its changes and then approve exactly this
    offer, even if the server has listed other tools in the meantime.
    """

    def __init__(
        self, content: Mapping[str, Any], approved: Mapping[str, Any] | Exception | None
    ) -> None:
        """Create an offer with *content*, the tools and instructions of a server.

        *approved* is the content that the user approved. It is None if this equals *content*, and
        an exception if the approved content could not be read.
        """
        self.content = content
        self._approved = approved
        self._changes: list[Change] | None = None
        self._comparing = Lock()

    @property
    def is_approved(self) -> bool:
        """Whether this offer is approved, so that the server may be called."""
        return self._approved is None

    def changes(self) -> list[Change]:
        """Return the changes since approval, most severe first. Empty if this offer is approved.

        The first call compares the tools in the calling thread, which may take a second.
        """
        # Calls that are refused at the same time wait for one comparison
        with self._comparing:
            if self._changes is None:
                self._changes = self._compared()
        return list(self._changes)

    def _compared(self) -> list[Change]:
        if self._approved is None:
            return []
        if isinstance(self._approved, Exception):
            return [_incomparable(self._approved)]
        try:
            changes = by_severity(changes_between(self._approved, self.content))
        except Exception as error:  # noqa: BLE001 - no text of a server may avoid the check
            return [_incomparable(error)]
        return changes or [_unnamed("Something in its tools or instructions changed.")]


class Trust:
    """Compares a server's current offer with the approved one; `approve` approves changes."""

    def __init__(
        self,
        server: str,
        key: str,
        approvals: Approvals,
        when_approved: Callable[[], object] = lambda: None,
    ) -> None:
        """Compare *server* with the approved offer that *approvals* keeps under *key*.

        *when_approved* is called after the user has approved the current offer.
        """
        self._server = server
        self._when_approved = when_approved
        self._key = key
        self._approvals = approvals
        # Used if the file of the approval cannot be written
        self._approved: Mapping[str, Any] | None = None
        # A new list may arrive while the previous one is being approved
        self._lock = Lock()
        self.offer = Offer({}, None)
        """What the server offers now."""
        self.is_first = False
        """Whether this was the server's first offer, which is approved automatically."""

    @property
    def has_changed(self) -> bool:
        """Whether the offer has changed since it was approved."""
        return not self.offer.is_approved

    def changes(self) -> list[Change]:
        """Return the changes of the current offer; see `Offer.changes`."""
        return self.offer.changes()

    def look(self, offer: Mapping[str, Any]) -> None:
        """Set `self.offer` to *offer*, the latest tools and instructions of the server.

        This only checks whether *offer* equals the approved offer. The changes are not computed
        here: for a hostile server this could take long, and would delay the answers of all servers.
        """
        content = {key: offer.get(key) for key in ("instructions", "tools")}
        with self._lock:
            self.offer = self._beside_approved(content)

    def _beside_approved(self, content: Mapping[str, Any]) -> Offer:
        try:
            approved = self._approvals.of(self._key)
            if approved is None:
                approved = self._approved
            if approved is None:
                self.is_first = True
                return self._kept(content)
            if same(approved, content):
                return Offer(content, None)
        except Exception as error:  # noqa: BLE001 - no text of a server may end the connection or avoid the check
            return Offer(content, error)
        return Offer(content, approved)

    def _kept(self, content: Mapping[str, Any]) -> Offer:
        self._approved = content
        self._approvals.approve(self._key, content)
        return Offer(content, None)

    def warnings(self) -> list[OfferWarning]:
        """Return warnings about the server's strings; see `warnings_of`."""
        return list(warnings_of(self.offer.content))

    def approve(self, offer: Offer) -> None:
        """Approve *offer*, whose changes the user has seen, so that its tools can be called again.

        Args:
            offer: The value of `trust.offer` when its changes were shown.

        Raises:
            ServerError: If the server's tools or instructions have changed again since *offer*.
                Nothing is approved then, and the message names the changes.
        """
        with self._lock:
            now = self.offer
            is_shown = same(offer.content, now.content)
            if is_shown:
                self.offer = self._kept(now.content)
        # If the server undid its change, there is nothing left to approve
        if not is_shown and not now.is_approved:
            raise ServerError(
                self._about(now, "was not approved: it changed again after its changes were shown")
            )
        self._when_approved()

    @property
    def refusal(self) -> str:
        """Why calls are refused now, as in the error of `check`; empty if they are allowed."""
        try:
            self.check()
        except ServerError as error:
            return str(error)
        return ""

    def check(self) -> None:
        """Check that the server's tools and instructions have not changed since they were approved.

        Raises:
            ServerError: If they have changed. The message names changes, and says how to approve
                them.
        """
        offer = self.offer
        if not offer.is_approved:
            what = "was not called: its tools or instructions changed since it was approved here"
            raise ServerError(self._about(offer, what))

    def _about(self, offer: Offer, what: str) -> str:
        changes = offer.changes()
        lines = [f"Server {self._server!r} {what} ({counted(len(changes), 'change')})."]
        for change in changes[:_MAX_CHANGES]:
            # A server's names may contain line breaks, to imitate lines of ours
            lines.append(f"- {on_one_line(change.text)}")
        lines.append(f"Check them, then: %mcp approve {quote(self._server)}")
        return "\n".join(lines)


def _incomparable(error: Exception) -> Change:
    return _unnamed(f"It cannot be compared with what was approved: {visible(str(error))}")


def _unnamed(text: str) -> Change:
    return Change("changed", "breaking", "", text=text)
