"""The tab that shows how a server changed: old and new state side by side, also as an HTML file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import ipywidgets as w

from toolbench.display.escape import Html
from toolbench.display.page import Tone, notice
from toolbench.errors import ServerError
from toolbench.files import write_named
from toolbench.mcp.servers import connected
from toolbench.mcp.session import MCPServerSession
from toolbench.mcp.snapshots.check_calls import check_calls, older_side
from toolbench.mcp.snapshots.diff import Change
from toolbench.mcp.snapshots.page import changes_html, changes_page
from toolbench.mcp.trust.trust import Offer
from toolbench.widgets.explorer.panes.pane import Lock, Pane
from toolbench.widgets.explorer.panes.recording_pane import file_name
from toolbench.widgets.explorer.updates import Failure, ServerRequest
from toolbench.widgets.kit.parts import put, show_if

# Changes; the saved page has all of them
_MOST_CHANGES = 200
_MOST_CALLS = 10
# Files
_PROPOSED = 50


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison of the server with another state."""

    before: str
    """The name of the other state: what the person typed, or "as approved"."""
    changes: Sequence[Change]
    notes: str = ""
    """A text about earlier calls of the tools: which of them the server would refuse now."""


class ChangesPane(Pane):
    """A comparison of the server with its approved state, a snapshot, a recording or another server."""

    title = "Changes"
    hears: ClassVar[frozenset[str]] = frozenset({"tools", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show no comparison, unless the server has changed since a person approved it."""
        super().__init__(session, lock)
        parts, name = self._parts, file_name(session.name)
        self._server_request: ServerRequest[Comparison] = ServerRequest(lock)
        self._trust_request: ServerRequest[list[Change]] = ServerRequest(lock)
        self._writing: ServerRequest[Path] = ServerRequest(lock)
        self._comparison: Comparison | None = None
        # Whose changes are on the page: the button approves this offer, and no later one
        self._shown: Offer | None = None
        self._other = parts.make(
            w.Combobox,
            "toolbench-field",
            description="Compare with",
            placeholder="a snapshot, recording or server",
            options=self._proposals(),
            # Else a click arrives before the last key
            continuous_update=False,
        )
        self._compare = parts.button("Compare")
        self._snapshot = parts.button(
            "Save a snapshot", tip=f"Write what it offers now into {name}.snapshot.json"
        )
        self._approve = parts.button(
            "Approve", tip="Allow calls of its tools, as they are described now"
        )
        self._file = parts.make(
            w.Text,
            "toolbench-field",
            description="Page",
            value=f"{name}-changes.html",
            # Otherwise a click arrives before the last key
            continuous_update=False,
        )
        self._save = parts.button("Save as HTML")
        self._overwrite = parts.button("Overwrite", tip="Replace the file with the new content")
        # Writes the file anew that was not overwritten
        self._write_over: Callable[[], None] = lambda: None
        self._state, self._page = parts.html(), parts.html()
        for button, react in (
            (self._compare, self._start),
            (self._snapshot, self._take_snapshot),
            (self._approve, self._approved),
            (self._save, self._save_page),
            (self._overwrite, lambda: self._write_over()),
        ):
            self.on(button, react)
        self._saving = parts.row(self._file, self._save)
        self.widget = parts.column(
            parts.row(self._other, self._compare, self._snapshot),
            *(self._state, self._overwrite, self._approve, self._page, self._saving),
        )
        self._tell("Nothing compared yet.", "neutral")
        self.refresh()

    def refresh(self) -> None:
        """If the server has changed since a person approved it, show the changes."""
        self._compare.disabled = self._snapshot.disabled = not self.session.is_connected
        self._look_at_trust(
            "Its tools or instructions changed since it was approved here: until you "
            "approve it, its tools are not called."
        )
        show_if(self._saving, is_shown=self._comparison is not None)

    def _look_at_trust(self, sentence: str) -> None:
        """If the server has changed since a person approved it, show *sentence* and the changes."""
        trust, offer = self.session.trust, None
        if trust is not None and not trust.offer.is_approved:
            offer = trust.offer
        if offer is not self._shown:
            self._shown = None
            show_if(self._approve, is_shown=False)
            if offer is not None:
                # In a thread of its own: to compare may take a second
                show = partial(self._ask_to_approve, offer, sentence)
                self._trust_request.start(offer.changes, show)

    def _ask_to_approve(self, offer: Offer, sentence: str, changes: list[Change] | Failure) -> None:
        if isinstance(changes, Failure):
            self._tell(changes.text, "danger")
            return
        self._shown = offer
        self._tell(sentence, "warning")
        self._show(Comparison("as approved", changes))
        show_if(self._approve, is_shown=True)

    def _proposals(self) -> list[str]:
        """Return the names of files and of other servers, to compare the server with."""
        here = Path.cwd()
        files = [f.name for kind in ("*.snapshot.json", "*.jsonl") for f in here.glob(kind)]
        names = {s.name for s in connected.sessions if s is not self.session}
        return [*sorted(files)[:_PROPOSED], *sorted(names)]

    def _tell(self, text: str, tone: Tone) -> None:
        put(self._state, Html(f'<div role="status">{notice(text, tone)}</div>'))
        # It belongs to the sentence that names the file
        show_if(self._overwrite, is_shown=False)

    # --- comparing ----------------------------------------------------------------

    def _start(self) -> None:
        other = self._other.value.strip()
        if not other:
            self._tell("Enter a file or a server to compare with.", "danger")
            return
        self._compare.disabled = True
        self._tell("Comparing…", "info")
        self._server_request.start(partial(compare, self.session, other), self._compared)

    def _compared(self, outcome: Comparison | Failure) -> None:
        self._compare.disabled = not self.session.is_connected
        if isinstance(outcome, Failure):
            self._tell(outcome.text, "danger")
            return
        alike = f"{self.session.name} offers the same as {outcome.before}."
        summary = f"{alike if not outcome.changes else ''}\n{outcome.notes}".strip()
        self._tell(summary, "warning" if outcome.changes else "success")
        self._show(outcome)

    def _show(self, comparison: Comparison) -> None:
        self._comparison = comparison
        names = {"before": comparison.before, "after": self.session.name}
        page = changes_html(comparison.changes, most=_MOST_CHANGES, **names)
        put(self._page, page if comparison.changes else Html(""))
        show_if(self._saving, is_shown=True)

    # --- files --------------------------------------------------------------------

    def _take_snapshot(self) -> None:
        name = f"{file_name(self.session.name)}.snapshot.json"
        self._write(name, partial(_write_snapshot, self.session, name), self._snapshot_taken)

    def _snapshot_taken(self, path: Path) -> None:
        self._written("The snapshot is in", path)
        # To compare with it later
        self._other.value = str(path)

    def _save_page(self) -> None:
        comparison = self._comparison
        if comparison is not None:
            page = changes_page(
                comparison.changes, before=comparison.before, after=self.session.name
            )
            name = self._file.value.strip() or f"{file_name(self.session.name)}.html"
            work = partial(write_named, name, page)
            self._write(name, work, partial(self._written, "The page is in"))

    def _write(
        self,
        name: str,
        work: Callable[..., Path],
        show: Callable[[Path], None],
        *,
        overwrite: bool = False,
    ) -> None:
        """Let *work* write the file *name*; if it exists with other content, a button offers that."""
        self._write_over = partial(self._write, name, work, show, overwrite=True)

        def tell(outcome: Path | Failure) -> None:
            if isinstance(outcome, Failure):
                self._tell(outcome.text, "danger")
                show_if(self._overwrite, is_shown=not overwrite and Path(name).is_file())
            else:
                show(outcome)

        self._writing.start(partial(work, overwrite=overwrite), tell)

    def _written(self, sentence: str, path: Path) -> None:
        self._tell(f"{sentence} {path.absolute()}.", "success")
        self._other.options = self._proposals()

    def _approved(self) -> None:
        trust, shown = self.session.trust, self._shown
        if trust is None or shown is None:
            return
        try:
            trust.approve(shown)
        except ServerError as error:
            self._look_at_trust(str(error).splitlines()[0])
            return
        self._tell("Approved as it is now: its tools can be called again.", "success")
        self._look_at_trust("")

    def close(self) -> None:
        """Close the tab."""
        self._server_request.forget()
        self._trust_request.forget()
        self._writing.forget()
        super().close()


def compare(session: MCPServerSession, other: str) -> Comparison:
    """Compare what *session* offers with *other*: a file, or a connected server.

    Raises:
        ServerError: If *other* is neither a file nor a connected server, or cannot be read.
    """
    before, earlier = older_side(session, other)
    after = session.snapshot()
    calls = check_calls(after, earlier, before=before)
    lines = [calls.summary, *(f"- {call}" for call in calls[:_MOST_CALLS])]
    return Comparison(other, before.diff(after), "\n".join(lines))


def _write_snapshot(session: MCPServerSession, name: str, *, overwrite: bool) -> Path:
    return session.snapshot().write(name, overwrite=overwrite)
