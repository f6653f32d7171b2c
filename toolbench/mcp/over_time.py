"""Snapshots, comparisons, recordings and approvals of a server, for magics and the explorer.

Most functions return sentences for the user, which a magic prints and the explorer shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from toolbench.errors import ServerError
from toolbench.mcp.recording.recording import Recording, is_recording, offer_in
from toolbench.mcp.servers import connected
from toolbench.mcp.snapshots.check_calls import CheckedCalls, check_calls
from toolbench.mcp.snapshots.diff import SEVERITIES, Change, by_severity
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.mcp.trust.trust import Offer, Trust
from toolbench.runs.history import history
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.mcp.server_session import MCPServerSession

# The most refused calls that are named
_MOST_CALLS = 10


def file_of(server: str, ending: str) -> str:
    """Return a file name for the server *server*, such as `shop.jsonl`."""
    letters = "".join(c if c.isalnum() or c in "-_." else "_" for c in server[:60])
    return (letters.lstrip(".") or "server") + ending


# --- snapshots ---------------------------------------------------------------------------


def write_snapshot(session: "MCPServerSession", file: str, *, overwrite: bool) -> str:
    """Save the tools, resources and prompts of *session* in *file*, for later comparisons.

    Raises:
        FileError: If the file exists with other content and *overwrite* is False, or if it cannot
            be written.
    """
    path = session.snapshot().write(file, overwrite=overwrite)
    tools = counted(len(session.tools), "tool")
    return f"{path}: {tools}. %mcp diff {quote(session.name)} {quote(str(path))} compares."


@dataclass(frozen=True)
class Comparison:
    """The changes of a server, and the earlier calls that it would refuse now."""

    before: str
    """The name of the older side."""
    after: str
    """The name of the server."""
    older: Snapshot
    newer: Snapshot
    changes: Sequence[Change]
    """The changes, most severe first."""
    calls: CheckedCalls

    @property
    def verdict(self) -> str:
        """A sentence: nothing has changed, or how many changes of each severity there are."""
        if not self.changes:
            return f"{self.after} offers the same as {self.before}."
        counts = []
        for severity in SEVERITIES:
            count = sum(change.severity == severity for change in self.changes)
            if count:
                counts.append(f"{count} {severity}")
        return f"{', '.join(counts)}."

    @property
    def about_calls(self) -> list[str]:
        """Sentences on how many calls would be refused now, and on the first of them."""
        return [self.calls.summary, *(f"- {call}" for call in self.calls[:_MOST_CALLS])]


def compare(session: "MCPServerSession", other: str) -> Comparison:
    """Compare the tools, resources and prompts of *session* with an older state, *other*.

    The result also contains earlier calls that the server would refuse now. The earlier calls are
    taken from the history. If *other* is a recording, its calls are checked too.

    Args:
        session: The session with the newer state.
        other: The older state, as the path of a snapshot or a recording, or the name of a connected
            server.

    Raises:
        ServerError: If *other* is neither a file nor a connected server, or cannot be read.
    """
    before, earlier = _older_side(session, other)
    after = session.snapshot()
    return Comparison(
        before=other,
        after=session.name,
        older=before,
        newer=after,
        changes=by_severity(before.diff(after)),
        calls=check_calls(after, earlier, before=before),
    )


def _older_side(session: "MCPServerSession", other: str) -> tuple[Snapshot, list[Any]]:
    """Return the snapshot of *other*, and the earlier calls of both servers to check."""
    path = Path(other).expanduser()
    file: Path | None = None
    if path.is_file():
        offered, name = offer_in(path, session.name), session.name
        if is_recording(path):
            file = path
    else:
        server: Any = connected.session(other)
        if server is None:
            msg = f"{other!r} is not a file, and no server of that name is connected."
            raise ServerError(msg)
        offered, name, file = server.snapshot(), other, server.recording
    servers = (session.name, other)
    calls: list[Any] = [r for r in history() if r.address and r.address.server in servers]
    if file is not None and file.is_file():
        recording = Recording.read(file)
        recorded = recording.recorded_name(name)
        calls += [call for call in recording.calls if call.server == recorded]
    return offered, calls


# --- recordings --------------------------------------------------------------------------


def record(session: "MCPServerSession", file: str) -> str:
    """Record *session* to *file* from now on.

    Raises:
        ServerError: For the same reasons as in `MCPServerSession.start_recording`.
    """
    session.start_recording(file)
    return recording_state(session)


def record_so_far(session: "MCPServerSession", file: str) -> str:
    """Write the messages of *session* that have been kept until now to *file*.

    Raises:
        ServerError: For the same reasons as in `MCPServerSession.record_so_far`.
    """
    losses, name = session.record_so_far(file), session.name
    own = [call for call in Recording.read(file).calls if call.server == name]
    sentences = [
        f"{file}: {counted(len(own), 'call')} so far; nothing more is recorded.",
        *losses,
        f"%mcp connect {quote(name)} --replay {quote(file)} answers from it.",
    ]
    return " ".join(sentences)


def recording_state(session: "MCPServerSession") -> str:
    """Return sentences on whether *session* is recorded or replayed, and how to change that."""
    name, path = session.name, session.recording
    if path is None:
        return (
            f"{name} is not recorded. %mcp record {quote(name)} FILE records it from now on; with "
            "--so-far, it writes what was seen until now."
        )
    if session.entry.transport == "replay":
        return f"{name} is replayed from {path}, not recorded."
    return f"{name} is recorded in {path} from now on. %mcp record {quote(name)} --stop ends it."


def stop_recording(session: "MCPServerSession") -> str:
    """End the recording of *session*.

    Raises:
        ServerError: If the session is not recorded.
    """
    path = session.stop_recording()
    if path is None:
        raise ServerError(recording_state(session))
    return (
        f"{path} is complete. %mcp connect {quote(session.name)} --replay {quote(str(path))} answers from it; then "
        f"%mcp record {quote(session.name)} --as-notebook FILE writes a notebook that repeats the calls."
    )


# --- trust -------------------------------------------------------------------------------


def trust_of(session: "MCPServerSession") -> Trust:
    """Return the `Trust` of *session*, which compares its tools with the approved ones.

    Raises:
        ServerError: If the server needs no approval.
    """
    if session.trust is None:
        msg = f"Server {session.name!r} needs no approval: only programs and URLs do."
        if session.development is not None:
            msg = f"Server {session.name!r} needs no approval while you develop it (--dev)."
        raise ServerError(msg)
    return session.trust


def approve(session: "MCPServerSession", offer: Offer) -> str:
    """Approve *offer*, which contains the tools and instructions that the user has seen.

    Raises:
        ServerError: If the server needs no approval, or its tools or instructions have changed
            again since.
    """
    trust_of(session).approve(offer)
    tools = counted(len(session.tools), "tool")
    return f"{session.name}: {tools} approved as they are now."
