"""Read and write cases as a YAML file, which pydantic-evals reads as a `Dataset`.

The prompt is `inputs`, the calls are `expected_output`, and the fields that only toolbench
has (`match`, `forbid`, `tags`) are `metadata`. Source: pydantic-evals, `Dataset.to_file`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from toolbench.errors import CaseError
from toolbench.evals.cases.case import Case
from toolbench.plain import clip, plain

_OURS = ("match", "forbid", "tags")
_KNOWN = frozenset({"name", "inputs", "expected_output", "metadata", "evaluators"})


def read(path: Path) -> list[Case]:
    """Return the cases of the file *path*.

    Raises:
        CaseError: If the file cannot be read, has no list of cases, or has a case that cannot be
            used.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
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
    return [_case(case, f"{path}, case {n}") for n, case in enumerate(cases, 1)]


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
    try:
        return Case(
            data["inputs"],
            plain(data.get("expected_output")),
            name=data.get("name"),
            **rest,
        )
    except CaseError as error:
        msg = f"{place}: {error}"
        raise CaseError(msg) from None


def write(path: Path, cases: Iterable[Case]) -> None:
    """Write *cases* to the file *path*.

    Raises:
        CaseError: If the file cannot be written.
    """
    data = {"cases": [_written(case) for case in cases]}
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}."
        raise CaseError(msg) from None


def _written(case: Case) -> dict[str, Any]:
    fields = case.to_dict()
    metadata = {key: fields[key] for key in _OURS if key in fields}
    written = {
        "name": fields.get("name"),
        "inputs": fields["prompt"],
        "expected_output": fields["expect"],
        "metadata": metadata or None,
    }
    return {
        key: value
        for key, value in written.items()
        if value is not None or key == "expected_output"
    }
