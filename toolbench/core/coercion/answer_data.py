"""The data in the answer of an MCP server: its structured content, or the JSON in its text."""

from collections.abc import Mapping, Sequence
from json import loads
from typing import Any


def answer_data(structured: Any, blocks: Sequence[Mapping[str, Any]], text: str) -> Any:
    """Return the data of an answer as Python objects.

    This is the structured content without its `{"result": ...}` wrapper. If the wrapper holds a
    text that is a JSON object or list, the text is parsed. Without structured content, this is the
    JSON value of the only text block, or else *text*; None if there is no text block.

    Args:
        structured: The structured content; None if there is none.
        blocks: The blocks of the content, as the server sent them.
        text: The whole text of the answer.
    """
    if structured is not None:
        return _unwrapped(structured)
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    if len(texts) != 1 or not isinstance(texts[0], str):
        return text if texts else None
    return _parsed(texts[0])


def is_said_by(texts: Sequence[str], structured: Any) -> bool:
    """Tell whether *texts*, the text blocks of an answer, say the same as its structured content.

    They do as its JSON, as the text in its `{"result": ...}` wrapper, or as one block for each item
    of a list.
    """
    wanted = (structured, _unwrapped(structured))
    parsed = [_parsed(text) for text in texts]
    said: list[Any] = [list(texts), parsed]
    if len(texts) == 1:
        said += [texts[0], parsed[0]]
    try:
        return any(one in wanted for one in said)
    except RecursionError:
        # Nested too deeply for a view
        return True


def _unwrapped(structured: Any) -> Any:
    """Return `3` for `{"result": 3}`: FastMCP wraps values that are not objects in this way."""
    if not isinstance(structured, dict) or structured.keys() != {"result"}:
        return structured
    value = structured["result"]
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    return _parsed(value)


def _parsed(text: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text
