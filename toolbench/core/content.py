"""What a model can read: blocks of text and images."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class TextContent(BaseModel):
    """A block of text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["text"] = "text"
    text: str
    cache_prompt: bool = False

    def to_llm_dict(self) -> list[dict[str, Any]]:
        """Return the block in OpenAI's chat format."""
        return [{"type": "text", "text": self.text}]


class ImageContent(BaseModel):
    """One image or several, as `data:` or `https:` URLs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["image"] = "image"
    image_urls: list[str]
    cache_prompt: bool = False

    def to_llm_dict(self) -> list[dict[str, Any]]:
        """Return the block in OpenAI's chat format: one part per image."""
        return [
            {"type": "image_url", "image_url": {"url": url}} for url in self.image_urls
        ]


Content = TextContent | ImageContent
"""A block of an observation, as the model receives it."""
