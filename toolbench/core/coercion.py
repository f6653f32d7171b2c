"""Turn the value that an executor returned into an observation, and into content for a model.

`observation_of` and `contents_of` come first. Then follow images and tables, objects that a
notebook draws, the data of MCP servers' answers, DataFrames, and the secrets of a conversation.
Values of a library are recognized without importing the library. Only `.df` imports pandas.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from enum import Enum
from io import BytesIO
from json import loads
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import from_json, to_json

from toolbench.core.content import (
    Content,
    ImageContent,
    TextContent,
    answer_of,
    content_of_block,
    describe,
    image_type,
    is_block,
)
from toolbench.core.kinds import takes_kind
from toolbench.core.result_limit import cut_note, most_that_fits
from toolbench.core.schema import NOTHING_HIDDEN, Observation
from toolbench.core.state import secrets_of
from toolbench.errors import KindError, MissingExtraError, indefinite
from toolbench.jsonschema.problems import pydantic_problems
from toolbench.redaction.redactor import Redactor
from toolbench.values import base64_of, clip, float_text, json_text, mapped, parts, text_of
from toolbench.wording import estimate_tokens

if TYPE_CHECKING:
    import pandas as pd

# --- a returned value as an observation -------------------------------------------------


class ResultObservation(Observation):
    """The return value of a plain function, and its content for a model."""

    result: SkipJsonSchema[Any] = Field(default=None, exclude=True, repr=False)
    """The Python object that the function returned; it never leaves this process."""

    @property
    def data(self) -> Any:
        """The same object as `result`, for code that also handles results of MCP servers."""
        return self.result

    @property
    def df(self) -> Any:
        """The result as a pandas DataFrame.

        A list of objects becomes a table with one row for each object. If the result is an object
        that contains exactly one list, this list becomes the table.

        Raises:
            MissingExtraError: If pandas is not installed.
            TypeError: If the result is not a table, a list of objects, or an object.
        """
        return frame_of(self.result)

    def _structured(self) -> dict[str, Any] | None:
        """Return the result as a JSON object; None if the result is something else."""
        if not _has_names(type(self.result)) or _is_content(self.result) or is_block(self.result):
            return None
        try:
            value = from_json(to_json(self.result, inf_nan_mode="constants"))
        except ValueError:
            # Not JSON: the content is enough
            return None
        return value if isinstance(value, dict) else None


def observation_of(
    result: Any, observation_type: type[Observation] | None, tool: str
) -> Observation:
    """Convert *result*, which the executor of *tool* returned, to an observation.

    An observation is returned unchanged. A dict that `to_dict` wrote becomes an object of the class
    that its key `kind` names, unless *observation_type* has its own field `kind`. The values of any
    other dict, of a pydantic model or of a dataclass become the fields of *observation_type*.

    If *observation_type* is None, a dict with the keys of an observation becomes an `Observation`.
    Any other value becomes a `ResultObservation`, which has the value and its content for a model.

    The content depends on the type of the value:

    - A str becomes text, and an image (bytes, PIL, matplotlib) becomes an image block.
    - A pandas table becomes CSV.
    - An object that a notebook draws becomes its image or text.
    - None, and bytes that are not an image, become a short note.
    - A list of content blocks is kept.
    - Everything else becomes JSON.

    A result object of the packages `mcp` or `fastmcp` is treated like the answer of a server.

    Raises:
        TypeError: If *result* cannot become an observation of the class.
    """
    # Also of another class, for an error
    if isinstance(result, Observation):
        return result
    answer = answer_of(result)
    if answer is not None:
        return _of_answer(answer)
    named = _class_by_kind(result, observation_type)
    if observation_type is None:
        return _of_any_class(result, named)
    target = named or observation_type
    fields = _fields(result)
    try:
        if named is not None:
            return named.from_dict(result)
        if fields is None:
            return observation_type(content=contents_of(result))
        if isinstance(result, BaseModel):
            # Its own names, and those of the models inside it, may differ from those in JSON
            return observation_type.model_validate(fields, by_alias=True, by_name=True)
        return observation_type.model_validate(fields)
    except ValidationError as error:
        first = pydantic_problems(error, value=fields)[0]
        kind = indefinite(type(result).__name__)
        msg = f"{tool} returned {kind} that does not fit {target.__name__}: {first}."
        raise TypeError(msg) from error


def _of_answer(answer: Mapping[str, Any]) -> ResultObservation:
    """Convert *answer*, MCP's answer to `tools/call`, as if a function had returned its data."""
    blocks = answer.get("content") or []
    content = [item for block in blocks for item in describe(block, [])]
    text = "\n".join(item.text for item in content if isinstance(item, TextContent))
    data = answer_data(answer.get("structuredContent"), blocks, text)
    is_error = answer.get("isError") is True
    if not content and data is None and is_error:
        content = [TextContent(text="The tool failed and did not say why.")]
    return ResultObservation(content=content or contents_of(data), is_error=is_error, result=data)


def _class_by_kind(result: Any, expected: type[Observation] | None) -> type[Observation] | None:
    """Return the observation class that the key `kind` of *result* names; None if there is none.

    Also return None if *expected* has its own field `kind`, because the key is then ordinary data.
    """
    if not isinstance(result, Mapping) or (expected is not None and takes_kind(expected)):
        return None
    kind = None
    # A mapping of another library may fail
    with suppress(Exception):
        kind = result.get("kind")
    if expected is not None and kind == expected.__name__:
        return expected
    if not isinstance(kind, str):
        return None
    # Then it is an ordinary dict
    with suppress(KindError):
        return Observation.resolve_kind(kind)
    return None


def _of_any_class(result: Any, named: type[Observation] | None) -> Observation:
    """Convert *result* to the class *named*, else to `Observation`, else to `ResultObservation`."""
    # Then it is data that looks like an observation
    with suppress(Exception):
        if named is not None:
            return named.from_dict(result)
        if isinstance(result, Mapping) and "content" in result:
            return Observation.model_validate(result)
    return ResultObservation(content=contents_of(result), result=result)


def _fields(result: Any) -> dict[str, Any] | None:
    """Return the named parts of *result* as a dict; None for a value such as a list or number."""
    if _is_content(result) or is_block(result):
        return None
    if isinstance(result, BaseModel):
        # Without computed fields
        return result.model_dump(round_trip=True)
    if isinstance(result, Mapping):
        return dict(result)
    if _has_names(type(result)):
        return asdict(result)
    return None


def _has_names(kind: type) -> bool:
    """Tell whether the objects of the class *kind* are mappings, models or dataclasses."""
    return issubclass(kind, BaseModel | Mapping) or is_dataclass(kind)


# --- a returned value as content --------------------------------------------------------

_NUMBERS = frozenset({bool, int, float})
_DATA = _NUMBERS | {dict}
_LEAVES = _NUMBERS | {str, type(None)}
_NO_CONTENT = _LEAVES | {dict, list, tuple}


def contents_of(value: Any) -> list[Content]:
    """Return *value* as content for a model.

    If *value* is a list that contains content blocks, images or objects of `IPython.display`, each
    item becomes content. Any other list becomes JSON.
    """
    return _maker_of(value)(value)


def is_written_as_json(value: Any) -> bool:
    """Tell whether `contents_of` writes *value* as JSON."""
    return _maker_of(value) is _from_data


def _maker_of(value: Any) -> Callable[[Any], list[Content]]:
    # As most results are
    if type(value) in _DATA:
        return _from_data
    # The object's own code may fail
    with suppress(Exception):
        for fits, make in _MAKERS:
            if fits(value):
                return make
    return _from_data


def _from_data(value: Any) -> list[Content]:
    try:
        text = to_json(value, indent=2, fallback=str).decode()
    except Exception:  # noqa: BLE001 - a loop, bytes that are not text, a user's code
        text = text_of(value)
    return [TextContent(text=text)]


def _from_items(items: Any) -> list[Content]:
    return [content for item in items for content in contents_of(item)]


def _is_binary(value: Any) -> bool:
    return isinstance(value, bytes | bytearray | memoryview)


def _is_content(value: Any) -> bool:
    return isinstance(value, TextContent | ImageContent)


def _comes_from(module: str, *names: str) -> Callable[[Any], bool]:
    """Return a function that tells whether a value is an object of the library *module*.

    It checks whether the value's class, or a base of this class, comes from *module* and has one
    of *names*. The library is not imported.
    """

    def fits(value: Any) -> bool:
        for kind in type(value).__mro__:
            if kind.__name__ in names and kind.__module__.partition(".")[0] == module:
                return True
        return False

    return fits


_is_pil = _comes_from("PIL", "Image")
_is_figure = _comes_from("matplotlib", "Figure")
_is_ipython = _comes_from("IPython", "DisplayObject")


def _has_content(items: Any) -> bool:
    """Tell whether *items* is a list with images or content blocks.

    Every bytes item is checked. Of each other type, only the first item is checked.
    """
    if not isinstance(items, list | tuple):
        return False
    seen = set(_NO_CONTENT)
    for item in items:
        if type(item) in seen:
            continue
        if _is_binary(item):
            if image_type(item):
                return True
            continue
        seen.add(type(item))
        if any(fits(item) for fits in (_is_content, _is_pil, _is_figure, _is_ipython, is_block)):
            return True
    return False


# --- images and tables ------------------------------------------------------------------

_PNG_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I;16"})
# Bytes; a multiple of three, which base64 writes as four letters
_PIECE = 90_000
# Of a table that a model gets, if its tool has no limit of its own
_ROWS = 500


def _from_bytes(data: Any) -> list[Content]:
    mime_type = image_type(data)
    if mime_type is None:
        return [TextContent(text=f"{len(data):,} bytes of binary data")]
    pieces, view = [f"data:{mime_type};base64,"], memoryview(data).cast("B")
    # As a whole, a large image would be copied twice more, to memory that is new each time
    for start in range(0, len(view), _PIECE):
        pieces.append(b64encode(view[start : start + _PIECE]).decode())
    return [ImageContent(image_urls=["".join(pieces)])]


def _from_pil(image: Any) -> list[Content]:
    buffer = BytesIO()
    try:
        # A photo in CMYK, a map of floats
        if image.mode not in _PNG_MODES:
            image = image.convert("RGBA")
        image.save(buffer, format="PNG")
    except (OSError, ValueError) as error:
        # Mostly an empty image
        return [TextContent(text=f"An image that cannot be shown: {error}.")]
    return _from_bytes(buffer.getvalue())


def _from_figure(figure: Any) -> list[Content]:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return _from_bytes(buffer.getvalue())


def _from_table(table: Any, most: int | None = None) -> list[Content]:
    """Return *table* as CSV, cut to *most* tokens; if *most* is None, to the first 500 rows."""
    # An index of mere row numbers
    counted = type(table.index).__name__ == "RangeIndex"
    whole = len(table)

    def written(rows: int) -> str:
        csv = table.head(rows).to_csv(index=not counted, float_format=float_text)
        text = csv.strip() or str(table)
        if rows < whole:
            text += f"\n{cut_note(rows, whole, 'row')}"
        return text

    rows = min(whole, _ROWS)
    if most is not None:
        rows = most_that_fits(whole, lambda count: estimate_tokens(written(count)) <= most)
    return [TextContent(text=written(rows))]


_is_table = _comes_from("pandas", "DataFrame", "Series")


def limited(observation: Observation, most: int) -> Observation:
    """Limit what a model sees of *observation* to *most* tokens, and return *observation*.

    A table is cut only for the model: users see the whole table.
    """
    result = vars(observation).get("result")
    if isinstance(observation, ResultObservation) and _is_table(result):
        content = _from_table(result, most)
        observation = observation.model_copy(update={"content": content})
    observation._max_tokens = most
    return observation


# --- objects that a notebook draws ------------------------------------------------------

_METHODS = {
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_svg_": "image/svg+xml",
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
}
_BUNDLE = "_repr_mimebundle_"
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
# Best first
_TEXTS = ("text/markdown", "text/plain")
# Where these say nothing
_SOURCES = ("text/latex", "application/json", "text/html", "image/svg+xml")
# The text of an object that has no words of its own
_NO_WORDS = re.compile(r"<[\w.<>]+ object( at 0x[0-9a-fA-F]+)?>")
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
# An image or a sound inside of HTML
_LONG_DATA = re.compile(r"data:[^\s\"'<>()]{100,}")
# Characters of HTML or SVG that a model gets
_LONGEST = 20_000
_NOT_DRAWN = (Mapping, BaseModel, list, tuple, set, frozenset)


def is_drawn(value: Any) -> bool:
    """Tell whether *value* is an object made for display in a notebook, rather than data."""
    kind = type(value)
    if isinstance(value, _NOT_DRAWN) or is_dataclass(kind):
        return False
    return any(callable(getattr(kind, name, None)) for name in (_BUNDLE, *_METHODS))


def display_bundle(value: Any) -> dict[str, Any]:
    """Return the mime bundle that the display methods of *value* produce; empty if there are none.

    A method that fails is skipped, as in a notebook. HTML is returned as the object made it,
    without sanitizing.
    """
    bundle = {mime_type: _called(value, name) for name, mime_type in _METHODS.items()}
    whole = _called(value, _BUNDLE, include=None, exclude=None)
    if isinstance(whole, Mapping):
        bundle.update(whole)
    return {str(mime_type): data for mime_type, data in bundle.items() if data is not None}


def _called(value: Any, name: str, **options: Any) -> Any:
    try:
        method = getattr(type(value), name, None)
        shown = method(value, **options) if callable(method) else None
    except Exception:  # noqa: BLE001 - the object's own code
        return None
    # With metadata, such as a width
    if isinstance(shown, tuple) and shown:
        return shown[0]
    return shown


def content_of_drawn(value: Any, *, is_whole: bool = False) -> list[Content]:
    """Return *value*, an object that a notebook draws, as an image or text for a model.

    The text is the object's markdown or `repr`. If this text has no words, as in `<Chart>`, the
    object's LaTeX, JSON, HTML or SVG is used instead. Long HTML is cut unless *is_whole* is true.
    """
    bundle = display_bundle(value)
    for mime_type in _IMAGES:
        data = bundle.get(mime_type)
        if data and isinstance(data, str | bytes):
            packed = data if isinstance(data, str) else base64_of(data)
            block = {"type": "image", "mimeType": mime_type, "data": "".join(packed.split())}
            # No model takes data that are no image, or labelled as another kind
            return describe(block, [])
    texts = [bundle[kind] for kind in _TEXTS if isinstance(bundle.get(kind), str)]
    text = next(filter(None, texts), "") or text_of(value)
    sources = [bundle[kind] for kind in _SOURCES if kind in bundle]
    if sources and _NO_WORDS.fullmatch(text):
        text = _source(sources[0], is_whole=is_whole)
    return [TextContent(text=_COLORS.sub("", text).strip("\n"))]


def _source(source: Any, *, is_whole: bool) -> str:
    if not isinstance(source, str):
        return json_text(source, indent=2)
    if is_whole:
        return source
    text = _LONG_DATA.sub("data:…", source).strip()
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n… {len(text) - _LONGEST:,} more characters"


_MAKERS: Sequence[tuple[Callable[[Any], bool], Callable[[Any], list[Content]]]] = (
    (lambda v: v is None, lambda v: [TextContent(text="Done. Nothing was returned.")]),
    (lambda v: isinstance(v, str), lambda v: [TextContent(text=v)]),
    (_is_binary, _from_bytes),
    (_is_content, lambda v: [v]),
    (_has_content, _from_items),
    (_is_pil, _from_pil),
    (_is_figure, _from_figure),
    (_is_table, _from_table),
    (is_block, content_of_block),
    (is_drawn, content_of_drawn),
)
"""Pairs of functions: the first tests a value, the second turns such a value into content.

A value that passes no test becomes JSON.
"""


# --- the data in answers of MCP servers -------------------------------------------------


def answer_data(structured: Any, blocks: Sequence[Mapping[str, Any]], text: str) -> Any:
    """Return the data of an MCP server's answer as Python objects.

    If the answer has structured content, the data is this content, without a `{"result": ...}`
    wrapper. A string in the wrapper is parsed if it is a JSON object or list.

    Otherwise, the data comes from the text blocks. If there is only one block and it is JSON, the
    data is the parsed JSON; if not, the data is *text*. Without any text block, the data is None.

    Args:
        structured: The structured content; None if there is none.
        blocks: The blocks of the content, as the server sent them.
        text: The whole text of the answer.
    """
    if structured is not None:
        return _unwrapped(structured)
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    if not texts:
        return None
    if len(texts) == 1 and isinstance(texts[0], str):
        return _parsed(texts[0])
    return text


def is_said_by(texts: Sequence[str], structured: Any) -> bool:
    """Tell whether *texts*, the text blocks of an answer, only repeat its structured content.

    Servers repeat this content in several ways: as JSON, as the bare string from its `{"result":
    ...}` wrapper, or as one block for each item of a list.
    """
    # As most servers write it; parsing a long text is slower
    if len(texts) == 1 and texts[0].startswith(("{", "[")):
        with suppress(ValueError):
            if to_json(_unwrapped(structured)).decode() == texts[0]:
                return True
    parsed = [_parsed(text) for text in texts]
    said: list[Any] = [list(texts), parsed]
    if len(texts) == 1:
        said += [texts[0], parsed[0]]
    try:
        return structured in said or _unwrapped(structured) in said
    except RecursionError:
        # Nested too deeply for a view
        return True


def _unwrapped(structured: Any) -> Any:
    """Remove the wrapper that FastMCP puts around a value other than an object: `{"result": 3}`."""
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


# --- results as DataFrames --------------------------------------------------------------


def data_frame_class() -> "type[pd.DataFrame]":
    """Return the class `pandas.DataFrame`; this imports pandas, which is slow.

    Raises:
        MissingExtraError: If pandas is not installed.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - optional, and slow to load
    except ImportError as error:
        extra = "pandas"
        raise MissingExtraError(extra) from error
    return pd.DataFrame


def frame_of(data: Any) -> Any:
    """Return *data* as a pandas DataFrame.

    A list of objects becomes a table with one row for each object. An object is a mapping, a
    pydantic model or a dataclass. If *data* is an object that contains exactly one list, this list
    becomes the table. Any other object becomes a table with one row. Members of enums become their
    values.

    Raises:
        MissingExtraError: If pandas is not installed.
        TypeError: If *data* is something else.
    """
    frame = data_frame_class()
    if isinstance(data, frame):
        return data
    rows = parts(data)
    if isinstance(rows, dict):
        lists = [value for value in rows.values() if isinstance(value, list)]
        rows = lists[0] if len(lists) == 1 else [data]
    if not rows or not all(map(_has_names, set(map(type, rows)))):
        way = ".text" if isinstance(data, str) else ".data"
        msg = f"The result isn't a list of objects (got {clip(data)}): use {way}."
        raise TypeError(msg)
    return frame(mapped(rows, _as_data))


def _as_data(value: Any) -> Any:
    """Turn *value*, and all values in it, into dicts and lists; keep objects such as dates."""
    if type(value) in _LEAVES:
        return value
    # By the type: the `__class__` of an object may run code
    if issubclass(type(value), Enum):
        return value.value
    if isinstance(value, BaseModel):
        fields = value.model_dump(by_alias=True)
        # A `RootModel`, or one with a serializer of its own
        if not isinstance(fields, dict):
            return mapped(fields, _as_data)
        for name, item in fields.items():
            # One by one: there may be thousands of models
            if type(item) not in _LEAVES:
                fields[name] = mapped(item, _as_data)
        return fields
    inside = parts(value)
    if inside is None:
        return value
    return mapped(inside, _as_data)


# --- secrets of a conversation ----------------------------------------------------------


def masked(observation: Observation, conversation: Any) -> Observation:
    """Return *observation* with each secret of *conversation* masked."""
    secrets = secrets_of(conversation)
    if not secrets:
        return observation
    return masked_observation(observation, secrets.redactor)


def masked_observation(observation: Observation, redactor: Redactor) -> Observation:
    """Return *observation* with each secret of *redactor* masked.

    If the secrets cannot be masked, return an error observation without the result.
    """
    hidden: Any = redactor.value(observation)
    if not isinstance(hidden, Observation):
        return Observation.from_text(f"The result is not shown: {hidden}.", is_error=True)
    if hidden is not observation:
        # Nothing is left to hide, and no secret is kept
        hidden._hiding = NOTHING_HIDDEN
    return hidden


def masked_error(error: Exception, conversation: Any) -> Exception:
    """Mask the secrets of *conversation* in *error*; if that fails, return another error."""
    secrets = secrets_of(conversation)
    if not secrets:
        return error
    return secrets.redactor.error(error)
