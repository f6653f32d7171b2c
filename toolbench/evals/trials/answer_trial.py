"""Make the trial of one answer, or of a request without an answer."""

import json
from asyncio import CancelledError as AsyncCancelledError
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from typing import Any

from toolbench.display.caps import shorten
from toolbench.errors import BodyError
from toolbench.evals.cases.case import Case
from toolbench.evals.trials.scoring import AnyTool, redactor_of, scores
from toolbench.evals.trials.trial import Trial
from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall, parse_tool_calls
from toolbench.llm.calls.written_calls import unread_call, without_unread
from toolbench.llm.models import Answer, Model, Usage
from toolbench.llm.models.model import with_message, writes_calls
from toolbench.redaction import MARK
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.runs.exception_text import sentence_of
from toolbench.values import plain, str_of

# Characters of a finish reason
_WORD = 200


def trial_of(
    future: "Future[Any]",
    model: Model,
    tools: Mapping[str, AnyTool],
    run_calls: Callable[[list[ToolCall]], tuple[Json, ...]],
    *,
    name: str,
    case: Case,
    repeat: int,
) -> Trial:
    """Return the trial of an answer, scored and without secrets.

    Args:
        future: The answer and its seconds, or the error of the model or the network.
        model: The model that was asked.
        tools: The offered tools, by name.
        run_calls: Runs the calls of a scored answer, and returns their results.
        name: The name of the model.
        case: The case with the prompt.
        repeat: The number of the answer among the answers of this model to this case, from 1.
    """
    try:
        answer, seconds = future.result()
        calls = parse_tool_calls(
            answer.parsed,
            tools,
            provider=model.provider,
            written_calls=writes_calls(model),
        )
        usage = None if answer.usage is None else answer.usage.checked()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a client may raise any error
        hide = redactor_of(case, [], tools)
        why = hide.text(_sentence(model, error))
        return Trial(name, case, repeat, error=why, **_shown(case, hide))
    facts: dict[str, Any] = {
        "seconds": round(seconds, 6),
        "input_tokens": usage and usage.input_tokens,
        "output_tokens": usage and usage.output_tokens,
        "cost": usage and usage.cost,
    }
    try:
        redactor = redactor_of(case, calls, tools)
        scored = scores(case, calls, redactor)
        if case.calls and not calls and (note := unread_call(answer.text)):
            scored["problems"] += (redactor.sentence(note),)
        hide_all = _redactor(model).joined(redactor)
        kept = without_unread(
            answer.parsed, tools.values(), are_written_calls_read=writes_calls(model)
        )
        if kept is not answer.parsed:
            answer = with_message(answer, kept)
        message = hide_all.value(plain(answer.message))
        facts["finish_reason"] = _word(answer.finish_reason, hide_all)
    except Exception as error:  # noqa: BLE001 - a person's rule may raise any error
        why = f"The answer could not be scored: {_sentence(model, error)}"
        hide = redactor_of(case, [], tools)
        texts = _shown(case, hide)
        return Trial(name, case, repeat, error=hide.text(why), **facts, **texts)
    return Trial(
        name,
        case,
        repeat,
        **scored,
        **facts,
        **_shown(case, redactor),
        message=message,
        results=run_calls(calls),
    )


def is_whole(line: Json) -> bool:
    """Tell whether *line* of a file has a whole answer: no error, and nothing of it is hidden."""
    return "error" not in line and "message" in line and MARK not in json.dumps(line["message"])


def saved_answer(line: Json) -> "Future[Any]":
    """Return the answer in *line* of a file and its seconds, as `trial_of` takes them."""
    counts = {key: line.get(key) for key in ("input_tokens", "output_tokens", "cost")}
    usage = Usage(**counts) if any(n is not None for n in counts.values()) else None
    answer = Answer(line["message"], usage=usage, finish_reason=line.get("finish_reason"))
    future: Future[Any] = Future()
    future.set_result((answer, line.get("seconds", 0.0)))
    return future


def _word(reason: Any, redactor: Redactor) -> str | None:
    """Return *reason*, why the model ended its answer, as a short text; it may be any value."""
    return None if reason is None else shorten(redactor.text(str_of(reason)), _WORD)


def _shown(case: Case, redactor: Redactor) -> dict[str, Any]:
    """Return the title and the prompt of *case* with secrets hidden."""
    return {
        "title": redactor.text(case.title),
        "prompt": redactor.text(case.masked_prompt),
    }


def _redactor(model: Model) -> Redactor:
    """Return the redactor for the key of *model*."""
    secrets = getattr(model, "secrets", None)
    return NO_SECRETS if secrets is None else secrets.redactor


def _sentence(model: Model, error: BaseException) -> str:
    """Return why there is no answer, with the model's key hidden."""
    if isinstance(error, BodyError):
        text = f"The answer could not be read: {error}"
    else:
        is_cancelled = isinstance(error, CancelledError | AsyncCancelledError)
        text = "It was cancelled." if is_cancelled else sentence_of(error)
    return _redactor(model).text(text)
