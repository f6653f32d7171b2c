"""The row of one call of a sweep, as it is reported and as it is saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from toolbench.jsonschema.types import Json

OWN_COLUMNS = ("repeat", "state", "error", "seconds")
"""The columns about the call itself."""


class _SavedTable(BaseModel):
    model_config = ConfigDict(strict=True)

    columns: list[str]
    rows: list[list[str]]
    shape: str


@dataclass(frozen=True, slots=True)
class Row:
    """One call and its result."""

    arguments: Mapping[str, Any]
    """The arguments, with secrets hidden."""
    repeat: int
    state: str
    """"ok"; "error" (the tool failed), "invalid" (the arguments do not fit), "lost" (the worker failed)."""
    seconds: float
    fields: Mapping[str, Any]
    """The parts of the result by name, if the result is an object; else the whole result as
    `result`."""
    text: str = ""
    """The text for a model; empty if `result` is the only field."""
    error: str | None = None
    images: Sequence[str] = ()
    """Images as `data:` or `https:` URLs."""
    table: Json | None = None
    """The first rows of a returned table: `columns`, `rows`, `shape`."""
    warning: str = ""
    """How a server's result differs from what its tool declares; empty if it does not."""

    @classmethod
    def of(cls, arguments: Mapping[str, Any], repeat: int, result: Mapping[str, Any]) -> "Row":
        """Return the row of a *result* from `make_calls` or from a file."""
        return cls(
            arguments,
            repeat,
            str(result.get("state", "error")),
            float(result.get("seconds", 0.0)),
            result.get("fields") or {},
            result.get("text", ""),
            result.get("error"),
            tuple(result.get("images", ())),
            result.get("table"),
            result.get("warning", ""),
        )


class SavedRow(BaseModel):
    """The fields that a line of a file needs to become a row."""

    model_config = ConfigDict(strict=True)

    state: str
    seconds: float
    fields: dict[str, Any] | None = None
    text: str = ""
    error: str | None = None
    images: list[str] = []
    table: _SavedTable | None = None
    warning: str = ""
