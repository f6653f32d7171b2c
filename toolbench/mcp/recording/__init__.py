"""Record all messages of servers in a file, and replay them without the servers.

`server_recorder` writes, `recording` reads, `tape` puts the frames of one server in order,
`request_matcher` finds the recorded answer to a request, `player` sends it. The format is in `frame`.
"""

from toolbench.mcp.recording.frame import Frame
from toolbench.mcp.recording.recording import RecordedCall, Recording
from toolbench.mcp.recording.replay_entries import is_replaying

__all__ = ["Frame", "RecordedCall", "Recording", "is_replaying"]
