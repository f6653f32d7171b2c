"""Write the past messages of a session as a recording, to replay a bug that just occurred."""

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from toolbench.mcp.monitoring.traffic import Message, paired
from toolbench.mcp.recording.recorder import OPENING, ServerRecorder
from toolbench.redaction import MARK, numbered_mark
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.mcp.monitoring.notifications import Inbox
    from toolbench.mcp.wire.messages import WrittenMessage

# A mark in place of a number
_BARE = re.compile(rf"(?<=[:,\[]){MARK}(?=[,\]}}])")


def write_kept(recorder: ServerRecorder, inbox: "Inbox") -> list[str]:
    """Use *recorder* to write the messages that are still in the traffic of *inbox*.

    Return sentences about missing messages.

    An answer is missing if its request is no longer in the traffic. A request and its answer are
    missing if one of them was shortened because of its length. Lines of stderr are never written,
    because the traffic does not contain them.
    """
    kept = list(inbox.traffic)
    readable, left_out = _readable(kept)
    losses = []
    if kept and kept[0].id > 1:
        first = counted(kept[0].id - 1, "message")
        losses.append(f"The traffic keeps the last messages only: the first {first} are gone.")
        recorder.at = kept[0].time
        inbox.opening.write(recorder, inbox.redactor)
    if left_out:
        what = counted(left_out, "exchange")
        losses.append(f"Left out: {what} with a message that was too long to be kept whole.")
    _write_messages(kept, readable, recorder, inbox)
    for failure in list(inbox.failures):
        recorder.failed(*failure, inbox.redactor)
    recorder.at = None
    return losses


def _write_messages(
    kept: list[Message],
    readable: "dict[int, WrittenMessage]",
    recorder: ServerRecorder,
    inbox: "Inbox",
) -> None:
    """Write those messages of *kept* that are in *readable*, and other lines, by connection."""
    is_opening = False
    for message in kept:
        recorder.at = message.time
        if message.kind == "noise":
            recorder.line("noise", message.text, inbox.redactor)
        if message.id not in readable:
            continue
        if message.direction == "sent":
            begins = message.kind == "request" and message.method in OPENING
            if begins and not is_opening:
                recorder.ended(None)
                recorder.connected(inbox.opening.transport, inbox.opening.mode)
            is_opening = begins
        recorder.message(message.direction, readable[message.id], inbox.redactor)


def _readable(kept: list[Message]) -> "tuple[dict[int, WrittenMessage], int]":
    """Return the messages of complete exchanges by id, and the number of incomplete exchanges."""
    readable: dict[int, WrittenMessage] = {}
    others = 0
    for exchange in paired(kept):
        # An answer without its request, or a line that is not a message
        if exchange.message.kind in ("response", "error", "refusal", "noise"):
            continue
        both = [message for message in (exchange.message, exchange.answer) if message is not None]
        items = {message.id: item for message in both if (item := _read(message)) is not None}
        if len(items) == len(both):
            readable.update(items)
        else:
            others += 1
    return readable, others


def _read(message: Message) -> "WrittenMessage | None":
    """Return *message* as sent, with numbered marks in place of secrets; None if it was cut."""
    if message.is_cut:
        return None
    # Loaded by now
    from toolbench.mcp.wire.messages import WrittenMessage, mended, message_in  # noqa: PLC0415

    # It is unknown which secret it was, but in a replay only a numbered mark matches any value
    mark = numbered_mark(0)
    quoted = _BARE.sub(f'"{mark}"', message.text).replace(MARK, mark)
    text = message.text.replace(MARK, mark)
    for candidate in (text, quoted):
        with suppress(ValueError):
            return WrittenMessage(message_in(candidate), text=candidate)
    with suppress(ValueError):
        # A batch is kept once for each of its messages
        for part in mended(text.encode()):
            if getattr(part, "id", None) == message.request_id:
                return WrittenMessage(part, text=text, is_exact=False)
    return None
