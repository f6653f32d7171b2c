"""Read and write cases as a YAML file, which pydantic-evals reads as a `Dataset`.

The prompt is `inputs`, the calls are `expected_output`, and the fields that only toolbench
has (`match`, `forbid`, `tags`) are `metadata`. Fields that only pydantic-evals uses are kept.
Source: pydantic-evals, `Dataset.to_file`.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml

from toolbench.errors import CaseError
from toolbench.evals.case import Case
from toolbench.files import write_named
from toolbench.jsonschema.yaml_text import write_yaml
from toolbench.values import clip, plain

_OURS = ("match", "forbid", "tags")
_KNOWN = frozenset({"name", "inputs", "expected_output", "metadata", "evaluators"})


@dataclass(frozen=True)
class Head:
    """The content of a file besides its cases, which is kept for pydantic-evals and for users."""

    comment: str = ""
    """The comment lines at the start."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The other fields, such as `name` and `evaluators`; `cases` is empty, to keep its position."""


def read(path: Path) -> tuple[list[Case], Head]:
    """Return the cases in the file *path*, and everything else in the file.

    Raises:
        CaseError: If the file cannot be read, has no list of cases, or has a case that is not
            valid.
    """
    try:
        text = path.read_text(encoding="utf-8")
        data = yaml.safe_load(text)
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise CaseError(msg) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        msg = f"{path} is not YAML: {' '.join(str(error).split())}."
        raise CaseError(msg) from None
    cases = data.get("cases") if isinstance(data, Mapping) else data
    if not isinstance(cases, list):
        msg = f"{path} should hold a list `cases`, each with `inputs` and `expected_output`."
        raise CaseError(msg)
    read_cases = [_case(case, f"{path}, case {n}") for n, case in enumerate(cases, 1)]
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    comment = "".join(takewhile(lambda line: line.startswith("#"), lines))
    fields = {**data, "cases": ()} if isinstance(data, Mapping) else {}
    return read_cases, Head(comment, fields)


def _case(data: Any, place: str) -> Case:
    if not isinstance(data, Mapping) or not set(data) <= _KNOWN or "inputs" not in data:
        msg = (
            f"{place} should have `inputs` (the prompt) and `expected_output` (the calls), and "
            f"may have name and metadata; it is {clip(plain(data))}."
        )
        raise CaseError(msg)
    metadata = data.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        msg = f"{place}: metadata is an object, not {clip(plain(metadata))}."
        raise CaseError(msg)
    rest = {key: plain(metadata[key]) for key in _OURS if metadata.get(key)}
    theirs = {key: value for key, value in metadata.items() if key not in _OURS}
    kept = {"metadata": theirs, "evaluators": data.get("evaluators")}
    try:
        return Case(
            data["inputs"],
            plain(data.get("expected_output")),
            name=data.get("name"),
            kept={key: value for key, value in kept.items() if value},
            **rest,
        )
    except CaseError as error:
        msg = f"{place}: {error}"
        raise CaseError(msg) from None


def write(path: Path, cases: Iterable[Case], head: Head, *, overwrite: bool) -> None:
    """Write *head* and *cases* to the file *path*.

    *head* is the content of the file besides the cases, as `read` returns it.

    Raises:
        FileError: If the file has other content and *overwrite* is false, or cannot be written.
    """
    data = {**head.fields, "cases": [_written(case) for case in cases]}
    # Without the folder, writing says why
    with suppress(OSError, RuntimeError, ValueError):
        path.expanduser().parent.mkdir(parents=True, exist_ok=True)
    write_named(path, head.comment + write_yaml(data), overwrite=overwrite)


def _written(case: Case) -> dict[str, Any]:
    fields = case.to_dict()
    metadata = {key: fields[key] for key in _OURS if key in fields}
    metadata |= case.kept.get("metadata", {})
    written = {
        "name": fields.get("name"),
        "inputs": fields["prompt"],
        "expected_output": fields["expect"],
        "metadata": metadata or None,
        "evaluators": case.kept.get("evaluators"),
    }
    return {
        key: value
        for key, value in written.items()
        if value is not None or key == "expected_output"
    }
