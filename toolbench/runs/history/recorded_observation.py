"""The observation of a record: it has no Python objects, and gives the data that it still has."""

from collections import deque
from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import date, time
from typing import Any

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import from_json, to_json

from toolbench.core.coercion.answer_data import answer_data
from toolbench.core.coercion.coercion import (
    ResultObservation,
    is_written_as_json,
    masked_observation,
)
from toolbench.core.coercion.dataframe import data_frame_class, frame_of
from toolbench.core.content import TextContent
from toolbench.core.schema import Observation
from toolbench.display.tables import TableHead, head_of, returned_frame
from toolbench.errors import ToolbenchError
from toolbench.redaction.redactor import Redactor
from toolbench.runs.cancellation.unfinished_observation import UnfinishedObservation
from toolbench.values import text_of

# Bytes of one observation, and of one text among the arguments
LIMIT = 1_000_000
# Results that are not tables
_DATA = frozenset({str, int, float, dict, list})
_JSON = (
    bool,
    int,
    float,
    dict,
    list,
    tuple,
    set,
    frozenset,
    deque,
    BaseModel,
    date,
    time,
)
_LOST = {
    "table": "a table of which it has only the first rows, as text",
    "object": "a Python object, which is not kept",
    "large": "too large to keep",
    "json": "data with a secret in it, which is hidden",
}
_SIMPLE = frozenset({str, int, float, bool, type(None)})


class RecordedObservation(ResultObservation):
    """The observation in a record. Its data is made of the text, so it needs no room."""

    form: SkipJsonSchema[str] = Field(default="", repr=False)
    """What the result was: `nothing`, `text`, `json` (the text is its JSON), `data` (in `result`,
    which is not written), `table`, `object` or `large`; empty if unknown."""
    warnings: SkipJsonSchema[list[str]] = Field(default_factory=list, repr=False)
    """The problems of a server's answer."""
    as_declared: SkipJsonSchema[bool] = Field(default=True, repr=False)
    """Whether the answer of a server fits the output schema of the tool."""

    @property
    def _asides(self) -> list[str]:
        return self.warnings

    @property
    def _is_as_declared(self) -> bool:
        return self.as_declared

    @property
    def data(self) -> Any:
        """The data of the result: JSON (a date is a text), a text, or a table.

        Raises:
            ToolbenchError: If the record does not have it.
        """
        if self.form == "nothing":
            return None
        if self.form == "text":
            return self.text
        if self.form == "data" and self.result is not None:
            return self.result
        if self.form == "json":
            try:
                return from_json(self.text)
            except ValueError:
                raise self._lost() from None
        return self._table()

    @property
    def df(self) -> Any:
        """The data as a pandas DataFrame. In a table, all but numbers are texts.

        Raises:
            MissingExtraError: If pandas is not installed.
            ToolbenchError: If the record does not have the data.
            TypeError: If the data is not a list of objects.
        """
        return frame_of(self.data)

    def _table(self) -> Any:
        head = self.result
        if not isinstance(head, TableHead) or not head.is_whole:
            raise self._lost()
        labels = [row[0] for row in head.rows]
        frame = data_frame_class()(
            [row[1:] for row in head.rows],
            columns=list(head.columns),
            index=None if labels == list(range(len(labels))) else labels,
        )
        frame.index.name = head.label or None
        return frame

    def _lost(self) -> ToolbenchError:
        what = _LOST.get(self.form, "not in its file")
        msg = (
            f"The record does not have the data of this result: it was {what}. `.text` is what "
            "the model read; `.rerun()` of the record makes the result again."
        )
        return ToolbenchError(msg)


def recorded(outcome: Observation, redactor: Redactor) -> Observation:
    """Return *outcome* for a record, without Python objects and the secrets of *redactor*."""
    # First without what is not kept: it is not searched for secrets
    observation = kept_of(masked_observation(_without_objects(outcome), redactor))
    if not isinstance(outcome, ResultObservation) or observation.is_error:
        return observation
    # Too large
    if isinstance(observation, RecordedObservation):
        return observation
    table = _table_of(outcome, redactor)
    if table is None:
        form = _form_of(outcome.result, outcome)
        return RecordedObservation(content=observation.content, form=form)
    return RecordedObservation(content=observation.content, form="table", result=table)


def recorded_in(fields: Mapping[str, Any], *, is_stopped: bool) -> Observation:
    """Return the observation that a file has as *fields*.

    Args:
        fields: The JSON of `to_dict` of an observation of any class.
        is_stopped: Whether the run was refused or cancelled.
    """
    own = {name: fields[name] for name in ("content", "is_error") if name in fields}
    if is_stopped and own.get("is_error"):
        return UnfinishedObservation.model_validate(own)
    observation = RecordedObservation(**own, form=str(fields.get("form", "")), **_faults(fields))
    blocks, structured = fields.get("blocks") or [], fields.get("structured")
    if not blocks and structured is None:
        return observation
    data = answer_data(structured, blocks, observation.text)
    form = "nothing" if data is None else "data"
    return observation.model_copy(update={"result": data, "form": form})


def kept_of(observation: Observation) -> Observation:
    """Return *observation* for a record: without Python objects, and shortened if it is too large."""
    observation = _without_objects(observation)
    if isinstance(observation, UnfinishedObservation) and observation.partial is not None:
        partial = kept_of(observation.partial)
        rest = kept_of(observation.model_copy(update={"partial": None}))
        return rest.model_copy(update={"partial": partial})
    size = size_of(observation)
    if size <= LIMIT:
        return observation
    head = observation.text[: LIMIT // 100]
    note = f"{head}\n… {size:,} bytes were returned; history keeps only the start."
    if isinstance(observation, UnfinishedObservation):
        return UnfinishedObservation.from_text(note, is_error=observation.is_error)
    faults = _faults(vars(observation))
    is_error = observation.is_error
    return RecordedObservation.from_text(note, is_error=is_error, form="large", **faults)


def _faults(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the problems that *fields* have, if they are the fields of a server's answer."""
    if "as_declared" not in fields:
        return {}
    return {name: fields[name] for name in ("warnings", "as_declared") if name in fields}


def _without_objects(observation: Observation) -> Observation:
    """Return *observation* without the Python objects that a function returned."""
    if isinstance(observation, ResultObservation):
        return observation.model_copy(update={"result": None})
    if isinstance(observation, UnfinishedObservation) and observation.partial is not None:
        partial = _without_objects(observation.partial)
        return observation.model_copy(update={"partial": partial})
    return observation


def fields_of(observation: Observation) -> dict[str, Any]:
    """Return *observation*, of a record, as `to_dict` does, with the fields of a partial result."""
    fields = observation.to_dict()
    if isinstance(observation, UnfinishedObservation) and observation.partial is not None:
        return {**observation.partial.to_dict(), **fields}
    return fields


def _form_of(result: Any, observation: Observation) -> str:
    """Return the form of *result*; see `RecordedObservation`.

    Args:
        result: The value that the tool returned.
        observation: The observation of it, in which no secret is hidden yet.
    """
    content = observation.content
    # Images
    if len(content) != 1 or not isinstance(content[0], TextContent):
        return "object"
    if result is None:
        return "nothing"
    if isinstance(result, str):
        return "text"
    kind = type(result)
    is_data = issubclass(kind, _JSON) or is_dataclass(kind)
    is_whole = is_data and is_written_as_json(result) and _can_be_read(content[0].text)
    return "json" if is_whole else "object"


def _can_be_read(text: str) -> bool:
    """Tell whether *text* is JSON: bytes, or a loop, are not."""
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _table_of(observation: Observation, redactor: Redactor) -> TableHead | None:
    """Return the first rows of the result in *observation*, without the secrets of *redactor*.

    None if the result is not a table.
    """
    result = vars(observation).get("result")
    # As most results are
    if type(result) in _DATA:
        return None
    frame = returned_frame(observation)
    if frame is None:
        return None
    try:
        return head_of(frame, redactor.value)
    except Exception:  # noqa: BLE001 - a table may be any object
        return None


def size_of(value: Any) -> int:
    """Return about how many bytes *value* needs."""
    if isinstance(value, UnfinishedObservation) and value.partial is not None:
        parts = (*value.content, value.for_person, value.partial)
        return sum(map(size_of, parts))
    if isinstance(value, Observation) and value.model_fields_set <= {
        "content",
        "is_error",
        "result",
        "form",
    }:
        return sum(map(size_of, value.content))
    if isinstance(value, TextContent):
        return len(value.text)
    try:
        if type(value) is dict and _SIMPLE.issuperset(map(type, value.values())):
            return sum(len(name) + len(str(item)) for name, item in value.items())
        return len(to_json(value, fallback=str))
    except Exception:  # noqa: BLE001 - half a character, a cycle, a user's str()
        return len(text_of(value))
