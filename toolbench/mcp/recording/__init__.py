"""Record all messages of servers in a file, and replay them without the servers.

`recorder` writes, `recording` reads, `tape` puts the frames of one server in order,
`matcher` finds the recorded answer to a request, `player` sends it. The format is in `frame`.
"""

from toolbench.mcp.recording.frame import Frame
from toolbench.mcp.recording.recording import RecordedCall, Recording, is_replaying

__all__ = ["Frame", "RecordedCall", "Recording", "is_replaying"]
