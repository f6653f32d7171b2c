"""Record all messages of servers in a file, and replay them without the servers.

`recorder` writes a recording and `recording` reads one. `tape` sorts the messages of one server,
`matcher` finds the recorded answer to a request, and `player` sends this answer. `frame` describes
the format.

A recording has one JSON object per line, with four keys. `at` is the time in seconds since the
epoch. `direction` is `sent` or `received` for messages, and has other values for other events.
`server` is the name of the server, and `message` is the content. Lines are only appended, so a
recording that was cut off can still be read. If you record to the same file again, the earlier
recording is kept under another name (`shop.jsonl~`).

Secrets are replaced by marks such as `<secret-hidden:1>`; equal numbers stand for equal secrets. A
secret that is spread over several lines of stderr or several blocks of a result is not found.

To find the answer to a request, a replay compares its method and its parameters, without `_meta`,
with those of the recorded requests. A hidden secret matches any value, and a date with a time
matches any other. If equal requests were recorded, their answers are used in the recorded order,
and the last answer is then repeated. Questions of the server are answered as in the recording,
unless you answer them yourself. A call that failed without an answer fails in the replay with the
same error.
"""

from toolbench.mcp.recording.frame import Frame
from toolbench.mcp.recording.recording import RecordedCall, Recording, is_replaying

__all__ = ["Frame", "RecordedCall", "Recording", "is_replaying"]
