"""`toolbench eval`: test models on the cases of a file; the exit code shows the result."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolbench.cli.user_modules import tools_of
from toolbench.core.user_modules import module_of
from toolbench.display.caps import text_line
from toolbench.errors import ToolbenchError
from toolbench.evals.cases import Cases
from toolbench.evals.evaluation import evaluate
from toolbench.evals.report import EvalReport
from toolbench.files import check_free
from toolbench.llm.models import LocalModel, RecordedModel, as_model

AS_EXPECTED, NOT_AS_EXPECTED, NOT_MEASURED = 0, 1, 2
"""The exit codes, in this order: enough answers passed; too few; some answers are missing."""


class EvalError(ToolbenchError):
    """A tool or model of the command line cannot be used."""


def run_cases(
    file: Path,
    tools: Sequence[str],
    models: Sequence[str],
    *,
    api_key_env: str | None,
    repeats: int,
    save: Path | None,
    max_cost: float | None,
    retry_errors: bool,
) -> EvalReport:
    """Test *models* with *tools* on the cases in *file*, and return the report.

    Raises:
        ToolbenchError: If a file, tool or model cannot be used; the message says which one.
    """
    cases = Cases.read(file)
    definitions: list[Any] = []
    for spec in tools:
        definitions += tools_of(spec)
    by_name = {spec: model_of(spec, api_key_env) for spec in models}
    if len(by_name) == 1:
        [model] = by_name.values()
        by_name = {model.name: model}
    return evaluate(
        by_name,
        definitions,
        cases,
        repeats=repeats,
        save=save,
        max_cost=max_cost,
        retry_errors=retry_errors,
        on_progress=_Progress(),
    )


class _Progress:
    """Prints each note on a separate line, and the progress on one line that is updated.

    If the output is not a terminal, only the first line of the progress is written.
    """

    def __init__(self) -> None:
        self._has_begun = False

    def __call__(self, text: str) -> None:
        is_note = not text.startswith("Evaluation: ")
        text = text_line(text)
        if is_note:
            sys.stderr.write(f"{text}\n")
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        elif not self._has_begun:
            # The estimate
            sys.stderr.write(f"{text}\n")
        self._has_begun = self._has_begun or not is_note


def check_share(min_passed: float) -> None:
    """Check the option `--min-passed` before a model is asked.

    Raises:
        EvalError: If *min_passed* is not between 0 and 1.
    """
    if not 0 <= min_passed <= 1:
        msg = f"--min-passed is a share between 0 and 1, such as 0.8, not {min_passed}."
        raise EvalError(msg)


def check_files(*paths: Path | None, overwrite: bool) -> None:
    """Check that the report will not replace a file, unless *overwrite* is true.

    Call this before a model is asked, because the answers may cost money.

    Raises:
        FileError: If one of *paths* is a file that is not empty.
    """
    for path in paths:
        if path is not None and not overwrite:
            check_free(path)


def write_files(
    report: EvalReport, *, junit: Path | None, html: Path | None, overwrite: bool
) -> None:
    """Write *report* to the files *junit* and *html*. If one of them is None, it is not written.

    Raises:
        FileError: If a file cannot be written.
    """
    if junit is not None:
        report.to_junit(junit, overwrite=overwrite)
    if html is not None:
        report.to_html(html, overwrite=overwrite)


def exit_code(report: EvalReport, min_passed: float) -> int:
    """Return the exit code: 2 if an answer is missing, 1 if too few answers pass, and 0 otherwise.

    *min_passed* is the share of answers, between 0 and 1, that must pass for each model.
    """
    if report.errors or len(report) < report.planned:
        return NOT_MEASURED
    rates = [summary.passed for summary in report.summary.values()]
    if all(rate >= min_passed for rate in rates):
        return AS_EXPECTED
    return NOT_AS_EXPECTED


def model_of(spec: str, api_key_env: str | None) -> Any:
    """Return the model that *spec* names: a URL, a recording, weights, `local` or `module:name`.

    Raises:
        EvalError: If *spec* is none of these.
    """
    if spec.startswith(("http://", "https://")):
        return as_model(spec, api_key_env=api_key_env)
    if spec.endswith(".jsonl"):
        return RecordedModel(spec)
    if spec == "local":
        return LocalModel()
    if spec.endswith(".gguf"):
        return LocalModel(spec)
    place, colon, name = spec.partition(":")
    if colon:
        value = getattr(module_of(place), name, None)
        if value is not None:
            return as_model(value)
    msg = (
        f"{spec!r} is not a model. Give http://host/v1#name, a recording (.jsonl), weights "
        "(.gguf), local, or module:name."
    )
    raise EvalError(msg)
