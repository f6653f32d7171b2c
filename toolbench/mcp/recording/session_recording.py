"""Start and stop the recording of a connected session, in the background loop."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolbench.errors import ServerError
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.connection.open_calls import Call
from toolbench.mcp.errors import CallFailedError
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.recording.player import CUT_OFF
from toolbench.mcp.recording.recorder import Recorder, ServerRecorder


def start(
    recorder: Recorder,
    server: str,
    inbox: Inbox,
    hide: Callable[[str, Mapping[str, Any]], Any],
) -> None:
    """Write the opening of the connection to *recorder*, and all messages from now on.

    Args:
        recorder: Writes the file of the recording.
        server: The name of the session.
        inbox: The inbox of the session.
        hide: See `ServerRecorder`.
    """
    own = ServerRecorder(recorder, server, hide=hide)
    inbox.opening.write(own, inbox.redactor)
    inbox.recorder = own


async def stop(inbox: Inbox) -> Path | None:
    """Stop recording; return the path of the file, or None if there was no recording.

    A tool call that still runs is recorded as a failure, which a replay repeats.
    """
    recorder, inbox.recorder = inbox.recorder, None
    if recorder is None:
        return None
    for call in inbox.calls:
        if call.tool is not None:
            recorder.failed(call.token, CUT_OFF, (), inbox.redactor)
    recorder.leave()
    return recorder.path


def cannot_record(server: str, recording: Path | None) -> ServerError:
    """Return the error for a session that cannot be recorded.

    *recording* is the file in which the session is recorded already, or from which it is replayed.
    If *recording* is None, the session is not connected.
    """
    why = "it is not connected"
    if recording is not None:
        why = f"it is recorded in, or replayed from, {str(recording)!r}"
    return ServerError(f"Server {server!r} cannot be recorded: {why}.")


def file_of(entry: ServerEntry, inbox: Inbox) -> Path | None:
    """Return the file into which a session is recorded, or from which it is replayed; else None."""
    if entry.transport == "replay":
        return Path(entry.url)
    return None if inbox.recorder is None else inbox.recorder.path


def note_failure(inbox: Inbox, call: Call, failed: CallFailedError) -> None:
    """Write into the recording, if there is one, that *call* has no result."""
    if inbox.recorder is not None:
        failure = str(failed), tuple(failed.asides)
        inbox.recorder.failed(call.token, *failure, inbox.redactor)
