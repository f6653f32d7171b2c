"""Write the traffic that a session has kept as a recording: a bug that was just seen can be replayed."""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolbench.mcp.monitoring.traffic import Exchange, Message, paired
from toolbench.mcp.recording.recorder import OPENING, ServerRecorder
from toolbench.redaction import MARK, numbered_mark
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.mcp.monitoring.notifications import Inbox
    from toolbench.mcp.wire.messages import WrittenMessage

# In the place of a number
_BARE = re.compile(rf"(?<=[:,\[]){MARK}(?=[,\]}}])")
_ANSWERS = ("response", "error", "refusal")


@dataclass
class SoFar:
    """What was written of the traffic, and what is missing."""

    path: Path
    gone: int = 0
    """The number of messages that the traffic had dropped already."""
    left_out: int = 0
    """The number of messages and exchanges that cannot be read, because one message is cut."""

    @property
    def losses(self) -> list[str]:
        """Sentences on what is missing; empty if nothing is."""
        sentences = []
        if self.gone:
            first = counted(self.gone, "message")
            sentences.append(
                f"The traffic keeps the last messages only: the first {first} are gone."
            )
        if self.left_out:
            what = counted(self.left_out, "exchange")
            sentences.append(f"Left out: {what} with a message that was too long to be kept whole.")
        return sentences


def write_kept(recorder: ServerRecorder, inbox: "Inbox") -> SoFar:
    """Write the traffic of *inbox* with *recorder*, each message at its time, and return what it was.

    Left out are exchanges of which the request is gone or a message is cut. stderr is not in the traffic.
    """
    kept = list(inbox.traffic)
    so_far = SoFar(recorder.path)
    whole: dict[int, WrittenMessage | None] = {}
    for exchange in paired(kept):
        if exchange.message.kind not in _ANSWERS:
            items = _items_of(exchange)
            so_far.left_out += not items
            whole.update(items)
    if kept and (first := kept[0]).id > 1:
        so_far.gone, recorder.at = first.id - 1, first.time
        inbox.opening.write(recorder, inbox.redactor)
    is_opening = False
    for message in kept:
        if message.id not in whole:
            continue
        recorder.at = message.time
        if message.direction == "sent":
            begins = message.kind == "request" and message.method in OPENING
            if begins and not is_opening:
                recorder.ended(None)
                recorder.connected(inbox.opening.transport, inbox.opening.mode)
            is_opening = begins
        item = whole[message.id]
        if item is None:
            recorder.line("noise", message.text, inbox.redactor)
        else:
            recorder.message(message.direction, item, inbox.redactor)
    for token, text, asides in list(inbox.failures):
        recorder.failed(token, text, asides, inbox.redactor)
    recorder.at = None
    return so_far


def _items_of(exchange: Exchange) -> "dict[int, WrittenMessage | None]":
    """Return the messages of *exchange* by number, None for noise; empty if one cannot be read."""
    items: dict[int, WrittenMessage | None] = {}
    for message in filter(None, (exchange.message, exchange.answer)):
        items[message.id] = None
        if message.kind != "noise":
            item = items[message.id] = _read(message)
            if item is None:
                return {}
    return items


def _read(message: Message) -> "WrittenMessage | None":
    """Return *message* as it was on the wire, a numbered mark for each secret; None if it is cut."""
    if message.is_cut:
        return None
    # Loaded by now
    from toolbench.mcp.wire.messages import WrittenMessage, mended, message_in  # noqa: PLC0415

    # Which secret it was is not known any more. Only a numbered mark stands for any value in a replay
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
