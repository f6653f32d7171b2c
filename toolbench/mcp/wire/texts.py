"""A message together with its JSON text, so that it is written down once."""

from dataclasses import dataclass
from typing import Any

from mcp.shared.message import SessionMessage


@dataclass
class WrittenMessage(SessionMessage):
    """A message of the SDK's, and the text it came as or goes out as."""

    text: str = ""


def written(item: SessionMessage) -> WrittenMessage:
    """Return *item* with its text."""
    if isinstance(item, WrittenMessage):
        return item
    return WrittenMessage(item.message, item.metadata, _text(item.message))


def _text(message: Any) -> str:
    try:
        text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:  # nested too deeply for pydantic, not for Python
        text = repr(message)
    return text
