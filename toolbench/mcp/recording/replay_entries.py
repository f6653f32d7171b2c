"""Tell whether a replay is wanted, and make configuration entries for the recorded servers."""

import os
from typing import Any

from toolbench.errors import ServerError
from toolbench.mcp.config.server_entry import ServerEntry
from toolbench.mcp.elicitation import Answerer, Question, ask_here, for_person
from toolbench.mcp.recording.player import Player
from toolbench.mcp.recording.recording import Recording
from toolbench.runs.questions import Answer
from toolbench.runs.run import preset_here

_VARIABLE = "TOOLBENCH_REPLAY"


def is_replaying() -> bool:
    """Tell whether `TOOLBENCH_REPLAY` is set, so that `record=` replays the file."""
    return os.environ.get(_VARIABLE, "").strip().lower() not in ("", "0", "no", "false")


def replay_entry(recording: Recording, server: str | None = None) -> ServerEntry:
    """Return the entry of *server*. If the recording has only one server, *server* may be any name.

    Raises:
        ServerError: If *server* is not in the recording.
    """
    player = Player(recording.tape(recording.recorded_name(server)))
    return ServerEntry(transport="replay", server=player, url=str(recording.path))


def replay_config(recording: Recording) -> dict[str, Any]:
    """Return all servers of *recording* as a configuration.

    Raises:
        ServerError: If the recording has no server.
    """
    if not recording.servers:
        msg = (
            f"The recording {str(recording.path)!r} has no server: nothing can be replayed from it."
        )
        raise ServerError(msg)
    servers = {name: replay_entry(recording, name) for name in recording.servers}
    return {"mcpServers": servers}


def recorded_answerer(entry: ServerEntry) -> Answerer | None:
    """Return the answerer that repeats the recorded answers; None if *entry* is not a replay.

    A preset answer, as in `with toolbench.answering(...)`, is used in place of a recorded one.
    """
    if entry.transport != "replay" or not isinstance(entry.server, Player):
        return None
    player = entry.server

    def answer_of(question: Question) -> Answer:
        recorded_answer = player.recorded_answer(question)
        is_preset = preset_here(for_person(question)) is not None
        is_preset = is_preset and not hasattr(question, "messages")
        return ask_here(question) if is_preset else recorded_answer

    return answer_of
