"""Begin and end the recording of a session that is connected. All of it runs in the loop."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from toolbench.errors import ServerError
from toolbench.mcp.monitoring.notifications import Inbox
from toolbench.mcp.recording.failure import CUT_OFF
from toolbench.mcp.recording.recorder import Recorder
from toolbench.mcp.recording.server_recorder import ServerRecorder


def start(
    recorder: Recorder,
    server: str,
    inbox: Inbox,
    hide: Callable[[str, Mapping[str, Any]], Any],
) -> None:
    """Write into *recorder* how the connection was opened, and all that comes from now on.

    Args:
        recorder: The file.
        server: The name of the session.
        inbox: Where the messages of the session go.
        hide: See `ServerRecorder`.
    """
    own = ServerRecorder(recorder, server, hide=hide)
    inbox.opening.write(own, inbox.redactor)
    inbox.recorder = own


async def stop(inbox: Inbox) -> Path | None:
    """Write nothing more; return the file, None if there was none.

    The tools that are being called have not answered, and say so in a replay.
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
    """Return why a session cannot be recorded: it has a *recording*, or is not connected."""
    why = "it is not connected"
    if recording is not None:
        why = f"it is recorded in, or replayed from, {str(recording)!r}"
    return ServerError(f"Server {server!r} cannot be recorded: {why}.")
