"""Content that a model can read: blocks of text and images, including MCP's blocks."""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import unquote_to_bytes, urlsplit

from pydantic import BaseModel, ConfigDict

from toolbench.values import clip


class TextContent(BaseModel):
    """A block of text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["text"] = "text"
    text: str
    cache_prompt: bool = False

    def to_llm_dict(self) -> list[dict[str, Any]]:
        """Return the block as a list of one content part, in OpenAI's format for chat completions.

        Examples:
            >>> from toolbench import Observation, TextContent
            >>> blocks = [TextContent(text="First line. "), TextContent(text="Second.")]
            >>> Observation(content=blocks).text
            'First line. Second.'
            >>> blocks[0].to_llm_dict()
            [{'type': 'text', 'text': 'First line. '}]
        """
        return [{"type": "text", "text": self.text}]

    def to_mcp_blocks(self) -> list[dict[str, Any]]:
        """Return the block as a list of one MCP content block."""
        return [{"type": "text", "text": self.text}]


class ImageContent(BaseModel):
    """One or more images, as `data:` or `https:` URLs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["image"] = "image"
    image_urls: list[str]
    cache_prompt: bool = False

    def to_llm_dict(self) -> list[dict[str, Any]]:
        """Return one content part for each image, in OpenAI's format for chat completions.

        Examples:
            >>> from toolbench import ImageContent
            >>> ImageContent(image_urls=["https://example.com/cat.png"]).to_llm_dict()
            [{'type': 'image_url', 'image_url': {'url': 'https://example.com/cat.png'}}]
        """
        return [{"type": "image_url", "image_url": {"url": url}} for url in self.image_urls]

    def to_mcp_blocks(self) -> list[dict[str, Any]]:
        """Return one MCP content block for each image; an `https:` image becomes a link."""
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


# --- images, by their first bytes ---------------------------------------------------------

_FIRST_BYTES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    # Other RIFF files are sounds and films
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
    # After 14 bytes, the size of the header: other data may begin with BM
    "image/bmp": re.compile(rb"BM.{12}[\x0c\x28\x34\x38\x40\x6c\x7c]\0\0\0", re.DOTALL),
}
"""The patterns of the first bytes of images that every browser can show, by MIME type."""
_SVG = re.compile(rb"<svg|<\?xml")


def image_type(data: bytes | bytearray | memoryview) -> str | None:
    """Return the MIME type of the image in *data*, from its first bytes; None if it is no image."""
    for mime_type, first_bytes in _FIRST_BYTES.items():
        if first_bytes.match(data):
            return mime_type
    return None


# --- blocks of MCP, as servers send them ------------------------------------------------

_ANYTHING = ("unknown type", "application/octet-stream")


def describe(block: Mapping[str, Any], warnings: list[str]) -> list[Content]:
    """Convert an MCP content *block* to content for a model; add its problems to *warnings*."""
    match block.get("type"):
        case "text" if isinstance(block.get("text"), str):
            return [TextContent(text=block["text"])]
        case "image":
            return [_image(block, warnings)]
        case "audio":
            return [TextContent(text=f"[audio: {_kind(block)}, {_size(block, warnings)}]")]
        case "resource_link":
            return [TextContent(text=_link(block))]
        case "resource" if isinstance(block.get("resource"), Mapping):
            return [_resource(block["resource"], warnings)]
    warnings.append(f"A block of the unknown type {clip(block.get('type'))} is in the result.")
    return [TextContent(text=clip(block, 2000))]


def _image(block: Mapping[str, Any], warnings: list[str]) -> Content:
    data = decoded(block.get("data"))
    if data is None:
        warnings.append("The data of an image is not base64.")
        return TextContent(text=f"[image: {_kind(block)}, unreadable]")
    mime_type = image_type(data)
    if mime_type is None and _SVG.match(data):
        mime_type = "image/svg+xml"
    if mime_type is None:
        warnings.append(f"Data labelled {_kind(block)} is not an image of a known kind.")
        return TextContent(text=f"[image: {_kind(block)}, {len(data):,} bytes, unreadable]")
    if mime_type != block.get("mimeType"):
        warnings.append(f"An image of type {mime_type} is labelled {_kind(block)}.")
    return ImageContent(image_urls=[f"data:{mime_type};base64,{block['data']}"])


def _resource(resource: Mapping[str, Any], warnings: list[str]) -> Content:
    head = f"[resource {resource.get('uri')}: {_kind(resource)}"
    if isinstance(resource.get("text"), str):
        return TextContent(text=f"{head}]\n{resource['text']}")
    data = decoded(resource.get("blob"))
    if data is None:
        warnings.append(f"The resource {clip(resource.get('uri'))} has no readable data.")
        return TextContent(text=f"{head}, unreadable]")
    kind = _kind(resource)
    may_be_image = kind.startswith("image/") or kind in _ANYTHING
    if may_be_image and image_type(data) is not None:
        return _image({"data": resource["blob"], "mimeType": kind}, warnings)
    return TextContent(text=f"{head}, {len(data):,} bytes]")


def _link(block: Mapping[str, Any]) -> str:
    name = block.get("title") or block.get("name") or ""
    note = f" — {block['description']}" if block.get("description") else ""
    return f"[link to resource {name} <{block.get('uri')}>: {_kind(block)}{note}]"


def _kind(block: Mapping[str, Any]) -> str:
    return str(block.get("mimeType") or "unknown type")


def _size(block: Mapping[str, Any], warnings: list[str]) -> str:
    data = decoded(block.get("data"))
    if data is None:
        warnings.append("The data of an audio block is not base64.")
        return "unreadable"
    return f"{len(data):,} bytes"


def decoded(data: Any) -> bytes | None:
    """Return the bytes that *data* encodes in base64; None if *data* is not base64."""
    try:
        return b64decode(data, validate=True) if isinstance(data, str) else None
    except ValueError:
        return None


# --- objects of MCP's Python packages -------------------------------------------------

_PACKAGES = ("mcp", "mcp_types", "fastmcp")
_TYPES = ("text", "image", "audio", "resource_link", "resource")
# The methods of FastMCP's `Image`, `Audio` and `File`
_HELPERS = ("to_image_content", "to_audio_content", "to_resource_content")
_RESULTS = ("CallToolResult", "ToolResult")


def is_block(value: Any) -> bool:
    """Tell whether *value* is a content block of the packages `mcp` and `fastmcp`."""
    kind = type(value)
    if kind.__module__.partition(".")[0] not in _PACKAGES:
        return False
    is_model = isinstance(value, BaseModel) and getattr(value, "type", None) in _TYPES
    return is_model or any(hasattr(kind, helper) for helper in _HELPERS)


def content_of_block(value: Any) -> list[Content]:
    """Return the content that a model gets for *value*, for which `is_block` is true."""
    for helper in _HELPERS:
        if hasattr(type(value), helper):
            value = getattr(value, helper)()
    return describe(value.model_dump(mode="json", by_alias=True, exclude_none=True), [])


def answer_of(value: Any) -> dict[str, Any] | None:
    """Return *value* as JSON if it is a tool result of the packages `mcp` or `fastmcp`; else None.

    The JSON has MCP's keys: `content`, `structuredContent`, `isError`.
    """
    kind = type(value)
    is_result = isinstance(value, BaseModel) and kind.__name__ in _RESULTS
    if not is_result or kind.__module__.partition(".")[0] not in _PACKAGES:
        return None
    answer = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    # FastMCP's has no aliases
    names = {"structured_content": "structuredContent", "is_error": "isError"}
    return {names.get(name, name): part for name, part in answer.items()}
