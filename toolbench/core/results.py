"""Make an observation out of whatever an executor returned."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from io import BytesIO
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import to_json

from toolbench.core.content import Content, ImageContent, TextContent
from toolbench.core.schema import Observation
from toolbench.core.state import Secrets


class ResultObservation(Observation):
    """What a plain function returned, and the content a model reads of it."""

    result: SkipJsonSchema[Any] = Field(default=None, exclude=True, repr=False)
    """The Python object itself; it stays in this process."""


def observation_of(
    result: Any, observation_type: type[Observation] | None, tool: str
) -> Observation:
    """Return *result* as an observation, of *observation_type* if one is given.

    A str becomes text, a dict or model the fields of the type, or JSON without one; images
    (bytes, PIL, matplotlib) and lists of content become content.

    Raises:
        TypeError: If *result* does not make an observation of that type.
    """
    if isinstance(result, Observation):  # also a plain one that says what failed
        return result
    if observation_type is None:
        return ResultObservation(content=contents_of(result), result=result)
    try:
        fields = _fields(result)
        if fields is not None:
            return observation_type.model_validate(fields)
        return observation_type(content=contents_of(result))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        msg = (
            f"{tool} returned a {type(result).__name__} that makes no "
            f"{observation_type.__name__}: {where}: {first['msg']}."
        )
        raise TypeError(msg) from error


def _fields(result: Any) -> dict[str, Any] | None:
    if isinstance(result, BaseModel):
        return result.model_dump(round_trip=True)  # without what is computed
    if is_dataclass(result) and not isinstance(result, type):
        return asdict(result)
    return dict(result) if isinstance(result, Mapping) else None


def contents_of(result: Any) -> list[Content]:
    """Return what a model reads of *result*."""
    for fits, make in _MAKERS:
        if fits(result):
            return make(result)
    return [TextContent(text=_json(result))]


def _json(value: Any) -> str:
    return to_json(value, indent=2, fallback=str).decode()


def _image(data: bytes) -> list[Content]:
    kind = next((kind for magic, kind in _MAGIC if magic.match(data)), None)
    if kind is None:
        return [TextContent(text=f"{len(data):,} bytes of binary data")]
    url = f"data:image/{kind};base64,{b64encode(data).decode()}"
    return [ImageContent(image_urls=[url])]


def _figure(figure: Any) -> list[Content]:
    buffer = BytesIO()
    if hasattr(figure, "savefig"):
        figure.savefig(buffer, format="png", bbox_inches="tight")
    else:
        figure.save(buffer, format="PNG")
    return _image(buffer.getvalue())


_MAGIC = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "png"),
    (re.compile(rb"\xff\xd8\xff"), "jpeg"),
    (re.compile(rb"GIF8[79]a"), "gif"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "webp"),
    (re.compile(rb"BM.{4}\0{4}", re.DOTALL), "bmp"),
)


def _comes_from(module: str, name: str) -> Callable[[Any], bool]:
    """A predicate for a class of a library that need not be installed."""
    return lambda value: any(
        c.__name__ == name and c.__module__.partition(".")[0] == module
        for c in type(value).__mro__
    )


def _is_contents(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str | bytes)
        and any(isinstance(item, TextContent | ImageContent) for item in value)
    )


_MAKERS: list[tuple[Callable[[Any], bool], Callable[[Any], list[Content]]]] = [
    (lambda v: v is None, lambda v: [TextContent(text="Done. Nothing was returned.")]),
    (lambda v: isinstance(v, str), lambda v: [TextContent(text=v)]),
    (
        lambda v: isinstance(v, bytes | bytearray | memoryview),
        lambda v: _image(bytes(v)),
    ),
    (lambda v: isinstance(v, TextContent | ImageContent), lambda v: [v]),
    (_is_contents, lambda v: [c for item in v for c in contents_of(item)]),
    (_comes_from("PIL", "Image"), _figure),
    (_comes_from("matplotlib", "Figure"), _figure),
]


def masked(observation: Observation, conversation: Any) -> Observation:
    """Return *observation* with the secrets of *conversation* replaced in everything."""
    secrets = getattr(getattr(conversation, "state", conversation), "secrets", None)
    if not secrets:
        return observation
    if not isinstance(secrets, Secrets):  # a conversation of somebody else's
        secrets = Secrets(secrets)
    hidden: Observation = secrets.mask_json(observation)
    return hidden
