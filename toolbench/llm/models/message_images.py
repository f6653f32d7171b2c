"""Find the images in a model's message, in any provider's format."""

from collections.abc import Mapping
from typing import Any

from toolbench.llm.calls.messages import plain

IMAGE = "[an image]"
"""The text in place of a model's image, for a provider that does not accept its own images."""


def images_in(message: Mapping[str, Any]) -> list[str]:
    """Return the images of *message* as `data:` or `https:` URLs, in their order.

    An image is an `inlineData` part of Gemini, an `image_generation_call` item of the
    Responses API, one of the `images` of a chat message (from OpenRouter), or an
    `image_url` block in its content.
    """
    parts = [plain(part) for part in message.get("parts") or ()]
    items = [plain(item) for item in message.get("output") or ()]
    images = [plain(image) for image in message.get("images") or ()]
    content = message.get("content")
    images += [plain(b) for b in content] if isinstance(content, list) else []
    urls = [
        *map(_of_part, parts),
        *map(_of_item, items),
        *(_url(image.get("image_url")) for image in images if isinstance(image, dict)),
    ]
    return [url for url in urls if url]


def _of_part(part: Any) -> str | None:
    blob = part.get("inlineData") or part.get("inline_data")
    if not isinstance(blob, Mapping) or not blob.get("data"):
        return None
    kind = str(blob.get("mimeType") or blob.get("mime_type") or "image/png")
    data = str(blob["data"]).translate(str.maketrans("-_", "+/"))
    return f"data:{kind};base64,{data}" if kind.startswith("image/") else None


def _of_item(item: Any) -> str | None:
    if item.get("type") != "image_generation_call" or not item.get("result"):
        return None
    return f"data:image/{item.get('output_format') or 'png'};base64,{item['result']}"


def _url(value: Any) -> str | None:
    url = value.get("url") if isinstance(value, Mapping) else value
    return url if isinstance(url, str) else None
