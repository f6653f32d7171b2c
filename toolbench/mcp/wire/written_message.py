"""A message together with its JSON text, so that it is serialized only once."""

from dataclasses import dataclass

from mcp.shared.message import SessionMessage


@dataclass
class WrittenMessage(SessionMessage):
    """A message of the SDK, and its text as received or as sent."""

    text: str = ""
    is_exact: bool = True
    """Whether the text is exactly the message; False if a broken line was repaired."""


def written(item: SessionMessage) -> WrittenMessage:
    """Return *item*, a message of the SDK, together with its JSON text.

    Raises:
        PydanticSerializationError: If the message is not valid JSON, for example if it has a lone surrogate.
    """
    if isinstance(item, WrittenMessage):
        return item
    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
    return WrittenMessage(item.message, item.metadata, text)
