"""Make the calls of a sweep in an executor's worker; each call becomes a row."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from itertools import islice
from math import isfinite
from threading import Event
from time import perf_counter
from typing import Any

from pydantic import BaseModel, TypeAdapter

from toolbench.core.coercion import ResultObservation, is_drawn
from toolbench.core.content import ImageContent
from toolbench.core.schema import Observation
from toolbench.core.secrets import given, values_of
from toolbench.core.tool import ToolDefinition
from toolbench.display.tables import Frame, as_frame, index_name, returned_frame, shape_text
from toolbench.errors import ToolbenchError
from toolbench.jsonschema.types import Json
from toolbench.redaction.known import KnownSecrets
from toolbench.redaction.redactor import Redactor
from toolbench.runs.exception_text import sentence_of
from toolbench.runs.redirect import redirect_to
from toolbench.runs.run import Run
from toolbench.values import plain, str_of
from toolbench.wording import rounded

OWN_COLUMNS = ("repeat", "state", "error", "seconds")
"""The columns about the call itself."""


LOST = "lost"
"""The state of a call whose worker failed, so that its result is unknown."""


@dataclass(frozen=True, slots=True)
class Row:
    """One call and its result."""

    arguments: Mapping[str, Any]
    """The arguments, with secrets masked."""
    repeat: int
    state: str
    """"ok", "error" (the tool failed), "invalid" (bad arguments) or "lost" (the worker failed)."""
    seconds: float
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The parts of the result by name, if the result is an object; otherwise the whole result under
    `result`."""
    error: str | None = None
    images: tuple[str, ...] = ()
    """Images as `data:` or `https:` URLs."""
    table: Mapping[str, str | list[str] | list[list[str]]] | None = None
    """The first rows of a returned table: `columns`, `rows`, `shape`."""
    warning: str = ""
    """How a server's result differs from what its tool declares; empty if it does not differ."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], arguments: Mapping[str, Any], repeat: int) -> "Row":
        """Return the row that was saved as *data*, a line of a file.

        Raises:
            ValidationError: If *data* is not a row.
        """
        return _adapter().validate_python({**data, "arguments": arguments, "repeat": repeat})


@cache
def _adapter() -> TypeAdapter[Row]:
    return TypeAdapter(Row)


# Characters of a result that are kept
_TEXT = 10_000
# Images of one call that are kept
_IMAGES = 4
# Characters of one image
_IMAGE = 1_000_000
# The size of a table that is kept
_ROWS, _COLUMNS, _CELL = 20, 12, 100
_OWN = frozenset({*Observation.model_fields, "kind"})
# Facts that the sweep adds to a result
_OURS = frozenset({"state", "seconds"})

Result = dict[str, Any]
"""The result of a call as plain data: state, seconds, fields, images, table, warning."""


def make_calls(
    tool: Any, batch: Sequence[Mapping[str, Any]], stop: Event | None = None
) -> list[Result]:
    """Call *tool* with each set of arguments in *batch*, and return the results in order.

    Args:
        tool: The tool, or an object whose method `resolved()` loads the tool in the worker.
        batch: The arguments of each call.
        stop: An event that ends the work. After it is set, no further calls are made, and the
            returned list is shorter than *batch*.
    """
    if not isinstance(tool, ToolDefinition):
        with tool.resolved() as definition:
            return make_calls(definition, batch, stop)
    results: list[Result] = []
    for arguments in batch:
        if stop is not None and stop.is_set():
            break
        results.append(_call(tool, arguments))
    return results


def _call(tool: ToolDefinition[Any, Any], arguments: Mapping[str, Any]) -> Result:
    began = perf_counter()
    secrets = KnownSecrets(arguments, tool.secrecy)
    # Also those of tools that it calls as functions
    read: set[str] = set()
    with ExitStack() as undo:
        try:
            action = tool.action_from_arguments(dict(arguments))
            # The action also has the defaults
            secrets.learn(action)
            values = values_of(tool.secrets)
            secrets.include(Redactor(values.values(), shortest=1))
            undo.enter_context(given(values, read))
            # The output of such a call is not shown
            if secrets.own.secrets:
                run = Run(tool, action, source="python")
                undo.enter_context(redirect_to(run.output))
            result = _read(tool.execute(action))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a tool may raise any error: it is a row
            result = {"state": "error", "error": sentence_of(error)}
            if isinstance(error, ToolbenchError):
                result["state"] = "invalid"
    result["seconds"] = perf_counter() - began
    secrets.include(Redactor(read, shortest=1))
    return _hidden(result, secrets.redactor)


def _hidden(result: Result, redactor: Redactor) -> Result:
    """Return *result* with secrets masked in values from the tool, but not in state and keys."""
    if not redactor:
        return result
    hidden = dict(result)
    for name in result.keys() - _OURS:
        hidden[name] = redactor.value(result[name])
    if (table := result.get("table")) is not None:
        hidden["table"] = {name: redactor.value(table[name]) for name in table}
    return hidden


def _read(observation: Observation) -> Result:
    if observation.is_error:
        return {"state": "error", "error": observation.text[:_TEXT]}
    result: Result = {"state": "ok", "fields": fields_of(observation)}
    images: list[str] = []
    for block in observation.content:
        if isinstance(block, ImageContent):
            images += [url for url in block.image_urls if len(url) <= _IMAGE]
    if images:
        result["images"] = tuple(images[:_IMAGES])
    if not observation._is_as_declared:
        result["warning"] = " ".join(observation._asides)[:_TEXT]
    returned = returned_frame(observation)
    if returned is not None:
        result["table"] = _table(returned)
    return result


def fields_of(observation: Observation) -> Json:
    """Return the fields of a result: the parts of an object, or only `result` for other values."""
    if isinstance(observation, ResultObservation):
        if is_drawn(observation.result):
            return {"result": observation.text[:_TEXT]}
        return _parts(observation.result)
    structured = getattr(observation, "structured", None)
    if isinstance(structured, Mapping):
        if len(structured) == 1 and isinstance(structured.get("result"), Mapping):
            structured = structured["result"]
        return _parts(structured)
    own = {
        name: plain(getattr(observation, name, None))
        for name in type(observation).model_fields
        if name not in _OWN
    }
    # Of a server's tool
    is_known = getattr(observation, "blocks", None) is not None
    if is_known or not own:
        return {"result": observation.text[:_TEXT]}
    return own


def _parts(value: Any) -> Json:
    if (table := as_frame(value)) is not None:
        return {"result": shape_text(table)}
    if isinstance(value, BaseModel):
        return {name: plain(getattr(value, name)) for name in type(value).model_fields}
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping) and value:
        return {str_of(name): plain(item) for name, item in value.items()}
    if isinstance(value, int | float | str | bool | None):
        return {"result": value}
    value_json = plain(value)
    if isinstance(value_json, str):
        value_json = value_json[:_TEXT]
    return {"result": value_json}


def _table(frame: Frame) -> Json:
    """Return the first rows of a table as strings, with row labels unless they only count rows."""
    columns = [str_of(name)[:_CELL] for name in islice(frame.columns, _COLUMNS)]
    index = getattr(frame, "index", None)
    name = index_name(frame)[:_CELL]
    has_labels = index is not None and (bool(name) or type(index).__name__ != "RangeIndex")
    if has_labels:
        columns = [name, *columns]
    rows = islice(frame.itertuples(index=has_labels, name=None), _ROWS)
    cells: list[list[str]] = []
    for row in rows:
        cells.append([*map(_cell_text, islice(row, len(columns)))])
    return {"columns": columns, "rows": cells, "shape": shape_text(frame)}


def _cell_text(cell: Any) -> str:
    if isinstance(cell, float) and isfinite(cell):
        return rounded(cell)
    return str_of(cell)[:_CELL]
