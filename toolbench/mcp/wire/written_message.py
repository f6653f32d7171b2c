"""A message together with its JSON text, so that it is written down once."""

from dataclasses import dataclass

from mcp.shared.message import SessionMessage


@dataclass
class WrittenMessage(SessionMessage):
    """A message of the SDK's, and the text it came as or goes out as."""

    text: str = ""
    is_exact: bool = True
    """Whether the text is the message; else it is a line that was mended to read it."""


def written(item: SessionMessage) -> WrittenMessage:
    """Return *item* with its text.

    Raises:
        PydanticSerializationError: If JSON cannot hold it, as half of a surrogate pair.
    """
    if isinstance(item, WrittenMessage):
        return item
    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
    return WrittenMessage(item.message, item.metadata, text)
