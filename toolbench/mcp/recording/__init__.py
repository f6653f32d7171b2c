"""Record all messages of servers in a file, and replay them without the servers.

`recorder` writes a recording and `recording` reads it. `tape` sorts the frames of one server,
`matcher` finds the recorded answer to a request, and `player` sends it. `frame` describes the
format.

A recording has one JSON object per line, with four keys. `at` is the time in seconds since the
epoch. `direction` is `sent` or `received` for messages, and has other values for other events.
`server` is the name of the server, and `message` is the content. Lines are only appended, so a
recording that was cut off can still be read. If you record to the same file again, the earlier
recording is kept under another name (`shop.jsonl~`).

Secrets are replaced by marks such as `<secret-hidden:1>`; equal numbers stand for equal secrets. A
secret that is spread over several lines of stderr or several blocks of a result is not found.

A replay compares the method and the parameters of a request, without `_meta`. A hidden secret
matches any value, and a date and time matches any other. Equal requests get their answers in the
recorded order, and then the last answer again. Questions are answered as recorded, unless you
answer them. A call that got no answer fails in the same way.
"""

from toolbench.mcp.recording.frame import Frame
from toolbench.mcp.recording.recording import RecordedCall, Recording, is_replaying

__all__ = ["Frame", "RecordedCall", "Recording", "is_replaying"]
