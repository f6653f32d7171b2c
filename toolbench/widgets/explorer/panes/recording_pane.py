"""The tab to record a server into a file: a button starts and stops the recording."""

from functools import partial
from pathlib import Path
from typing import ClassVar

import ipywidgets as w

from toolbench.display.escape import Html, escape, visible
from toolbench.display.page import Tone, notice
from toolbench.mcp.session import MCPServerSession
from toolbench.widgets.explorer.panes.pane import Lock, Pane
from toolbench.widgets.explorer.updates import Failure, ServerRequest
from toolbench.widgets.kit.parts import put
from toolbench.wording import human_size


class RecordingPane(Pane):
    """The state of the recording, its file, and how to use the file."""

    title = "Recording"
    hears: ClassVar[frozenset[str]] = frozenset({"traffic", "status"})

    def __init__(self, session: MCPServerSession, lock: Lock) -> None:
        """Show the button. A click on the button begins to record *session*."""
        super().__init__(session, lock)
        parts = self._parts
        self._server_request: ServerRequest[Path | None] = ServerRequest(lock)
        self._failure = ""
        self._last: Path | None = None
        self._file = parts.make(
            w.Text,
            "toolbench-field",
            description="File",
            value=f"{file_name(session.name)}.jsonl",
            # Otherwise a click arrives before the last key
            continuous_update=False,
        )
        self._button = parts.button("Record")
        self._state = parts.html()
        self.on(self._button, self._toggle)
        row = parts.row(self._file, self._button)
        self.widget = parts.column(row, self._state)
        self.refresh()

    def refresh(self) -> None:
        """Show whether the server is recorded, and the size of the file."""
        session = self.session
        is_replay = session.entry.transport == "replay"
        is_on = session.recording is not None and not is_replay
        self._button.description = "Stop recording" if is_on else "Record"
        self._button.tooltip = (
            "Write nothing more into the file"
            if is_on
            else "Write all that goes between you and the server into the file"
        )
        self._button.disabled = is_replay or not (is_on or session.is_connected)
        self._file.disabled = is_on or is_replay
        put(self._state, Html(f'<div role="status">{self._state_html()}</div>'))

    def _state_html(self) -> Html:
        session, path = self.session, self.session.recording
        if self._failure:
            return notice(self._failure, "danger")
        if path is not None and session.entry.transport == "replay":
            return _file_html("Replayed from", path, "info")
        if path is not None:
            return _file_html("Recording into", path, "warning")
        if self._last is not None:
            return Html(
                _file_html("Recorded in", self._last, "success")
                + _usage_html(session.name, self._last)
            )
        text = "Not recorded. A recording holds complete messages, without secrets, and replays without the server."
        return notice(text, "neutral")

    def _toggle(self) -> None:
        session, self._failure = self.session, ""
        self._button.disabled = True
        if session.recording is not None:
            self._server_request.start(session.stop_recording, self._stopped)
            return
        name = self._file.value.strip() or f"{file_name(session.name)}.jsonl"
        self._server_request.start(partial(session.start_recording, name), self._started)

    def _started(self, outcome: Path | Failure | None) -> None:
        self._failure = outcome.text if isinstance(outcome, Failure) else ""
        self.refresh()

    def _stopped(self, outcome: Path | Failure | None) -> None:
        if isinstance(outcome, Failure):
            self._failure = outcome.text
        else:
            self._last = outcome
        self.refresh()

    def close(self) -> None:
        """Close the tab; a running recording continues."""
        self._server_request.forget()
        super().close()


def file_name(server: str) -> str:
    """Return *server*, the name of a server, as text that can be used in a file name."""
    letters = "".join(c if c.isalnum() or c in "-_." else "_" for c in server[:60])
    return letters.lstrip(".") or "server"


def _file_html(what: str, path: Path, tone: Tone) -> Html:
    try:
        size = human_size(path.stat().st_size)
    except OSError:
        size = "the file is gone"
    return notice(f"{what} {visible(str(path))} ({size}).", tone)


def _usage_html(server: str, path: Path) -> Html:
    name, file = (escape(visible(text)) for text in (server, str(path)))
    return Html(
        '<div class="toolbench-line tex2jax_ignore mathjax_ignore">'
        f"%mcp connect {name} --replay {file}</div>"
        "<div>answers from it, without the server. Then:</div>"
        '<div class="toolbench-line tex2jax_ignore mathjax_ignore">'
        f"%mcp record {name} --as-notebook {name}.ipynb</div>"
        "<div>writes a notebook that repeats the calls.</div>"
    )
