"""Make system and user messages in each provider's format."""

import re
from collections.abc import Sequence

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.jsonschema.types import Json
from toolbench.llm.providers import Provider

_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,(.*)", re.DOTALL)


def system_message(text: str, provider: Provider = "openai") -> Json:
    """Return *text* as instructions to the model.

    The role is "system" in every dialect. Anthropic and Gemini take instructions outside the
    messages; the models of `toolbench.llm.models` send them there.
    """
    if provider == "gemini":
        return {"role": "system", "parts": [{"text": text}]}
    return {"role": "system", "content": text}


def user_message(content: str | Content | Sequence[Content], provider: Provider = "openai") -> Json:
    """Return *content*, text and images, as a message of the user.

    Args:
        content: A text, a block, or several; images as `data:` or `https:` URLs.
        provider: The dialect of the message.
    """
    if isinstance(content, str) and provider != "gemini":
        return {"role": "user", "content": content}
    if isinstance(content, str):
        content = TextContent(text=content)
    blocks = [content] if isinstance(content, TextContent | ImageContent) else content
    parts = [part for block in blocks for part in _parts(block, provider)]
    return {"role": "user", "parts" if provider == "gemini" else "content": parts}


def _parts(block: Content, provider: Provider) -> list[Json]:
    if isinstance(block, TextContent):
        return [_text(block.text, provider)] if block.text else []
    return [image_part(url, provider) for url in block.image_urls]


def _text(text: str, provider: Provider) -> Json:
    match provider:
        case "gemini":
            return {"text": text}
        case "responses":
            return {"type": "input_text", "text": text}
    return {"type": "text", "text": text}


def image_part(url: str, provider: Provider) -> Json:
    """Return the image at *url*, `data:` or `https:`, as a part of a message."""
    data = _DATA.match(url)
    match provider:
        case "responses":
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        case "anthropic" if data:
            source = {"type": "base64", "media_type": data[1], "data": data[2]}
            return {"type": "image", "source": source}
        case "anthropic":
            return {"type": "image", "source": {"type": "url", "url": url}}
        case "gemini" if data:
            return {"inlineData": {"mimeType": data[1], "data": data[2]}}
        case "gemini":
            return {"fileData": {"fileUri": url}}
    return {"type": "image_url", "image_url": {"url": url}}
