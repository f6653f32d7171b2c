"""The tabs Recording and Changes: buttons for `%mcp record`, `diff`, `snapshot` and `approve`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar

import ipywidgets as w

from toolbench.display.escape import Html
from toolbench.display.page import Tone, notice
from toolbench.errors import ServerError
from toolbench.mcp.over_time import (
    Comparison,
    approve,
    compare,
    file_of,
    record,
    recording_state,
    stop_recording,
    write_snapshot,
)
from toolbench.mcp.server_session import MCPServerSession
from toolbench.mcp.servers import connected
from toolbench.mcp.snapshots.diff import Change
from toolbench.mcp.snapshots.page import changes_html
from toolbench.mcp.trust.trust import Offer, Trust
from toolbench.widgets.explorer.requests import Failure
from toolbench.widgets.explorer.tabs import Lock, Pane
from toolbench.widgets.kit.parts import put


def _status(text: str, tone: Tone) -> Html:
    return Html(f'<div role="status">{notice(text, tone)}</div>')


class RecordingPane(Pane):
    """The state of the recording, its file, and a button to start and stop it."""

    title = "Recording"
    hears: ClassVar[frozenset[str]] = frozenset({"traffic", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show the button, with which the user starts to record *session*."""
        super().__init__(session, lock)
        parts = self._parts
        self._request = self.request()
        self._last, file = Html(""), file_of(session.name, ".jsonl")
        # The state that the button shows; a cell may have started or stopped a recording since
        self._is_on = False
        self._file = parts.make(
            w.Text,
            "toolbench-field",
            description="File",
            value=file,
            placeholder=file,
            # Otherwise a click arrives before the last key
            continuous_update=False,
        )
        self._button = self.button("Record", self._toggle)
        self._state = parts.html()
        self.widget = parts.column(parts.row(self._file, self._button), self._state)
        self.refresh()

    def refresh(self) -> None:
        """Show that the server is being recorded or, if it is not, how the last click ended."""
        session = self.session
        is_replay = session.entry.transport == "replay"
        self._is_on = is_on = session.recording is not None and not is_replay
        label, tip = "Record", "Record all messages between you and the server in the file"
        if is_on:
            label, tip = "Stop recording", "Stop writing to the file"
            self._last = Html("")
        self._button.description, self._button.tooltip = label, tip
        self._button.disabled = is_replay or not (is_on or session.is_connected)
        self._file.disabled = is_on or is_replay
        put(self._state, self._last or _status(recording_state(session), "info"))

    def _toggle(self) -> None:
        self._button.disabled = True
        act = partial(record, self.session, self._file.value.strip() or self._file.placeholder)
        if self._is_on:
            act = partial(stop_recording, self.session)
        self._request.start(act, self._done)

    def _done(self, said: str | Failure) -> None:
        if isinstance(said, Failure):
            self._last = _status(said.text, "danger")
        else:
            self._last = _status(said, "success")
        self.refresh()


# Changes; a line of `%mcp` has all of them
_MOST_CHANGES = 200
# Files
_PROPOSED = 50


class ChangesPane(Pane):
    """A comparison of the server with its approved state, a file, or another server.

    The file is a snapshot or a recording.
    """

    title = "Changes"
    hears: ClassVar[frozenset[str]] = frozenset({"tools", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show no comparison, unless the server has changed since the user approved it."""
        super().__init__(session, lock)
        parts = self._parts
        self._looking, self._comparing, self._writing = (self.request() for _ in range(3))
        # The offer whose changes are on the page
        self._shown: Offer | None = None
        self._other = parts.make(
            w.Combobox,
            "toolbench-field",
            description="Compare with",
            placeholder="a snapshot, recording or server",
            options=self._proposals(),
            # Otherwise a click arrives before the last key
            continuous_update=False,
        )
        self._compare = self.button("Compare", self._start)
        snapshot = file_of(session.name, ".snapshot.json")
        self._snapshot = self.button(
            "Save a snapshot",
            partial(self._take_snapshot, snapshot),
            tip=f"Write what it offers now into {snapshot}",
        )
        # Separate from a comparison, so that the button is below what it approves
        self._unapproved = parts.column()
        self._state, self._page = parts.html(), parts.html()
        head = parts.row(self._other, self._compare, self._snapshot)
        self.widget = parts.column(self._unapproved, head, self._state, self._page)
        self._tell("Nothing compared yet.", "neutral")
        self.refresh()

    def refresh(self) -> None:
        """If the server has changed since the user approved it, show the changes."""
        self._compare.disabled = self._snapshot.disabled = not self.session.is_connected
        self._look_at_trust()

    def _tell(self, text: str, tone: Tone) -> None:
        put(self._state, _status(text, tone))

    def _page_of(self, before: str, changes: Sequence[Change]) -> Html:
        if not changes:
            return Html("")
        return changes_html(changes, before=before, after=self.session.name, most=_MOST_CHANGES)

    # --- approving ----------------------------------------------------------------

    def _look_at_trust(self, sentence: str = "") -> None:
        """If the server has changed since the user approved it, show the changes and *sentence*."""
        trust = self.session.trust
        if trust is not None and trust.offer is not self._shown:
            self._shown = None
            self._say_unapproved()
            if not trust.offer.is_approved:
                # In a separate thread, because a comparison may take a second
                show = partial(self._ask_to_approve, trust, trust.offer, sentence)
                self._looking.start(trust.offer.changes, show)

    def _ask_to_approve(
        self, trust: Trust, offer: Offer, sentence: str, changes: list[Change] | Failure
    ) -> None:
        if trust.offer is not offer:
            # Meanwhile a cell has approved the offer, or the server lists something else
            self._look_at_trust(sentence)
            return
        if isinstance(changes, Failure):
            self._say_unapproved(self._parts.html(_status(changes.text, "danger")))
            return
        self._shown = offer
        lines = [sentence or trust.refusal.partition("\n")[0]]
        if len(changes) > _MOST_CHANGES:
            lines.append(
                f"%mcp review {quote(self.session.name)} lists all {len(changes):,} changes."
            )
        head = _status("\n".join(lines), "warning")
        page = self._parts.html(Html(head + self._page_of("as approved", changes)))
        # A new button for each offer, so that a click always approves what the user has read
        button = self.button(
            "Approve",
            partial(self._approve, offer),
            tip="Allow calls of its tools, as they are described now",
        )
        self._say_unapproved(page, button)

    def _say_unapproved(self, *widgets: Any) -> None:
        """Replace the notice about changes that are not approved with *widgets*."""
        old = self._unapproved.children
        self._unapproved.children = widgets
        self._parts.drop(old)

    def _approve(self, offer: Offer) -> None:
        if offer is not self._shown:
            return
        try:
            said = approve(self.session, offer)
        except ServerError as error:
            self._look_at_trust(str(error).partition("\n")[0])
            return
        self._tell(said, "success")
        self._look_at_trust()

    # --- comparing ----------------------------------------------------------------

    def _proposals(self) -> list[str]:
        """Return the names of files and other servers with which the server can be compared."""
        here = Path.cwd()
        files: list[str] = []
        for pattern in ("*.snapshot.json", "*.jsonl"):
            files += [file.name for file in here.glob(pattern)]
        names = {s.name for s in connected.sessions if s is not self.session}
        return [*sorted(files)[:_PROPOSED], *sorted(names)]

    def _start(self) -> None:
        other = self._other.value.strip()
        if not other:
            self._tell("Enter a file or a server to compare with.", "danger")
            return
        self._compare.disabled = True
        self._tell("Comparing…", "info")
        self._comparing.start(partial(compare, self.session, other), self._compared)

    def _compared(self, found: Comparison | Failure) -> None:
        self._compare.disabled = not self.session.is_connected
        if isinstance(found, Failure):
            self._tell(found.text, "danger")
            return
        tone: Tone = "success"
        lines = [found.verdict, *found.about_calls]
        if found.changes:
            tone = "warning"
            lines.append(
                f"%mcp diff {quote(found.after)} {quote(found.before)} --html FILE writes a page of it."
            )
        self._tell("\n".join(lines), tone)
        put(self._page, self._page_of(found.before, found.changes))

    # --- a snapshot ---------------------------------------------------------------

    def _take_snapshot(self, file: str) -> None:
        write = partial(write_snapshot, self.session, file, overwrite=False)
        self._writing.start(write, partial(self._written, file))

    def _written(self, file: str, said: str | Failure) -> None:
        if isinstance(said, Failure):
            self._tell(said.text, "danger")
        else:
            self._tell(said, "success")
            self._other.options = self._proposals()
            # To compare with it later
            self._other.value = file
