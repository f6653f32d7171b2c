"""Content that a model can read: blocks of text and images."""

from base64 import b64encode
from typing import Any, Literal
from urllib.parse import unquote_to_bytes, urlsplit

from pydantic import BaseModel, ConfigDict


class TextContent(BaseModel):
    """A block of text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["text"] = "text"
    text: str
    cache_prompt: bool = False

    def to_llm_dict(self) -> list[dict[str, Any]]:
        """Return the block as a list of one content part, in the format of OpenAI's chat completions."""
        return [{"type": "text", "text": self.text}]

    def to_mcp_blocks(self) -> list[dict[str, Any]]:
        """Return the block as a list of one MCP content block."""
        return [{"type": "text", "text": self.text}]


class ImageContent(BaseModel):
    """One image or several, as `data:` or `https:` URLs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["image"] = "image"
    image_urls: list[str]
    cache_prompt: bool = False

    def to_llm_dict(self) -> list[dict[str, Any]]:
        """Return one content part for each image, in the format of OpenAI's chat completions."""
        return [{"type": "image_url", "image_url": {"url": url}} for url in self.image_urls]

    def to_mcp_blocks(self) -> list[dict[str, Any]]:
        """Return one MCP content block for each image; an image on the web becomes a link."""
        return [_mcp_image(url) for url in self.image_urls]


def _mcp_image(url: str) -> dict[str, Any]:
    scheme, _, rest = url.partition(":")
    if scheme.lower() != "data":
        name = urlsplit(url).path.rpartition("/")[2] or "image"
        return {"type": "resource_link", "uri": url, "name": name}
    head, _, data = rest.partition(",")
    mime_type, *options = head.split(";")
    if "base64" not in options:
        data = b64encode(unquote_to_bytes(data)).decode()
    return {"type": "image", "data": data, "mimeType": mime_type or "text/plain"}


Content = TextContent | ImageContent
"""A block of an observation, as the model receives it."""
