"""Record all messages of servers in a file, and replay them without the servers.

`recorder` writes, `recording` reads, `tape` puts the frames of one server in order,
`matcher` finds the recorded answer to a request, `player` sends it. The format is in `frame`.

A recording has one JSON object per line: `at` (seconds since the epoch), `direction` (`sent` and
`received` for messages, others for what happened beside them), `server`, and `message`. It is only
appended to, so a recording that was cut off can be read. Recording into a file again keeps the
earlier recording beside it (`shop.jsonl~`).

Secrets are marks such as `<secret-hidden:1>`; equal numbers stand for the same text. A secret that is
spread over several lines of stderr or several blocks of a result is not found.

A replay compares the method and the parameters of a request, without `_meta`. A hidden secret matches
any value, and a date and time any other. Equal requests are answered in the recorded order; the last
answer stays. Questions are answered as they were, unless you answer them. A call that got no answer
fails as it did.
"""

from toolbench.mcp.recording.frame import Frame
from toolbench.mcp.recording.recording import RecordedCall, Recording, is_replaying

__all__ = ["Frame", "RecordedCall", "Recording", "is_replaying"]
