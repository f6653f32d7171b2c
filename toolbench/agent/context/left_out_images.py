"""Messages for a model that takes no images: words replace the images."""

from collections.abc import Mapping
from typing import Any

from toolbench.jsonschema.types import Json
from toolbench.llm.providers import Provider

LEFT_OUT = "[an image was left out: the model did not take it]"
_TEXTS: Mapping[Provider, Json] = {
    "openai": {"type": "text", "text": LEFT_OUT},
    "responses": {"type": "input_text", "text": LEFT_OUT},
    "anthropic": {"type": "text", "text": LEFT_OUT},
    "gemini": {"text": LEFT_OUT},
}
_TYPES = frozenset({"image_url", "input_image", "image"})
_KEYS = frozenset({"inlineData", "inline_data", "fileData", "file_data"})


def without_images(message: Json, provider: Provider) -> tuple[Json, int]:
    """Return a user's or tool's *message* without its images, and the number of images."""
    count = 0

    def part(value: Any) -> Any:
        nonlocal count
        if isinstance(value, list | tuple):
            return [part(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        if value.get("type") in _TYPES or _KEYS & value.keys():
            count += 1
            return dict(_TEXTS.get(provider, _TEXTS["openai"]))
        if "functionResponse" in value:
            return {**value, "functionResponse": result(value["functionResponse"])}
        return {key: part(item) for key, item in value.items()}

    def result(value: Json) -> Json:
        """Return the Gemini response *value* without its images; count them."""
        nonlocal count
        images = value.get("parts") or ()
        count += len(images)
        left = {key: item for key, item in value.items() if key != "parts"}
        return left | (
            {"response": {**left["response"], "images": LEFT_OUT}} if images else {}
        )

    return part(message), count
