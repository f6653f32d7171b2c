"""Score an answer by what its case expects, without a model."""

from asyncio import CancelledError as AsyncCancelledError
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from typing import Any, NamedTuple

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten
from toolbench.errors import BodyError
from toolbench.evals.case import Case
from toolbench.evals.match import SentCall, paired
from toolbench.evals.trial import Trial
from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall, parse_tool_calls
from toolbench.llm.calls.written_calls import unread_call, without_unread
from toolbench.llm.models import Answer, Model, Usage
from toolbench.llm.models.model import with_message, writes_calls
from toolbench.redaction.detect import BY_NAMES, Secrecy
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.runs.exception_text import sentence_of
from toolbench.values import plain, str_of

# Characters of the name of a tool that a model made up
_NAME = 500
_PROBLEM = 5_000
AnyTool = ToolDefinition[Any, Any]


def scores(case: Case, calls: list[ToolCall], redactor: Redactor) -> dict[str, Any]:
    """Return the scores of an answer, as the fields of a `Trial`.

    Args:
        case: The case with the expected calls.
        calls: The calls of the answer, as `parse_tool_calls` returns them.
        redactor: Masks the secrets in the arguments.
    """
    called = [call.name for call in calls]
    expected = Counter(call.name for call in case.calls)
    problems = _selection_problems(case, Counter(called), expected)
    fits = True
    for partner, _, differences in paired(case.calls, [_sent(call) for call in calls], case.rules):
        head = ""
        if len(case.calls) > 1:
            head = f"{partner.name}: "
        for problem in differences:
            fits = False
            problems.append(f"{head}{problem}")
    errors = [str(call.error) for call in calls if call.error is not None]
    problems += errors
    forbidden = [name for name in called if name in case.forbid]
    for name in forbidden:
        problems.append(f"{name} is forbidden, and was called")
    scored: dict[str, Any] = {
        "called": tuple(shorten(name, _NAME) for name in called),
        "calls": tuple(_kept(call, redactor) for call in calls),
        "problems": tuple(shorten(redactor.sentence(text), _PROBLEM) for text in problems),
    }
    # A score that does not apply is left out
    if case.calls:
        scored["picked"] = Counter(called) == expected
    else:
        scored["called_when_none"] = bool(calls)
    if scored.get("picked"):
        scored["filled"] = fits and not errors
    if case.forbid:
        scored["forbidden"] = bool(forbidden)
    if calls:
        scored["repaired"] = any(call.repairs for call in calls)
    return scored


def _selection_problems(case: Case, called: Counter[str], expected: Counter[str]) -> list[str]:
    too_many, missing = called - expected, expected - called
    if too_many and not case.calls:
        return [f"{_names(too_many)} was called, and no call was expected"]
    if missing and too_many:
        return [f"{_names(too_many)} was called, and {_names(missing)} was expected"]
    if missing:
        return [f"{_names(missing)} was expected, and was not called"]
    if too_many:
        return [f"{_names(too_many)} was called too often"]
    return []


def _names(names: Counter[str]) -> str:
    return ", ".join(sorted(names.elements()))


def _sent(call: ToolCall) -> SentCall:
    arguments = plain(call.arguments)
    return SentCall(call.name, arguments, defaults_of(call.tool))


def defaults_of(tool: AnyTool | None) -> Mapping[str, Any]:
    """Return the default values in the schema of *tool*, by argument; empty if *tool* is None."""
    if tool is None:
        return {}
    properties = tool.input_node.properties
    return {name: node.default for name, node in properties.items() if node.has_default}


def _kept(call: ToolCall, redactor: Redactor) -> Json:
    arguments = secrecy_of(call.tool).hide(call.arguments)[0]
    fields: Json = {
        "name": shorten(call.name, _NAME),
        "arguments": redactor.value(plain(arguments)),
    }
    if call.repairs:
        fields["repairs"] = [redactor.sentence(str(repair)) for repair in call.repairs]
    return fields


def secrecy_of(tool: AnyTool | None) -> Secrecy:
    """Return the rules that find secrets in arguments of *tool*.

    Without a tool, an argument is a secret if its name suggests that.
    """
    if tool is None:
        return BY_NAMES
    return tool.secrecy


def redactor_of(case: Case, calls: list[ToolCall], tools: Mapping[str, AnyTool]) -> Redactor:
    """Return a redactor for the secrets in the expected and the sent arguments."""
    secrets: list[str] = []
    for call in calls:
        secrets += secrecy_of(call.tool).secrets_in(call.arguments)
    for expected in case.calls:
        secrecy = secrecy_of(tools.get(expected.name))
        secrets += secrecy.secrets_in(expected.arguments)
    return Redactor(secrets)


# Characters of a finish reason
_WORD = 200


class Scored(NamedTuple):
    """An answer, or a request that got no answer, with its scores."""

    trial: Trial
    """The trial, without the results of calls."""
    calls: list[ToolCall]
    """The calls of the answer, which can be run."""
    is_whole: bool
    """Whether the message of the trial is complete, with nothing masked."""


def scored_answer(
    future: "Future[Any]",
    model: Model,
    tools: Mapping[str, AnyTool],
    *,
    name: str,
    case: Case,
    repeat: int,
) -> Scored:
    """Return the trial of an answer, with its scores and with secrets masked.

    Args:
        future: A future with the answer and how many seconds it took, or with an error of the model
            or the network.
        model: The model that was asked.
        tools: The offered tools, by name.
        name: The name of the model.
        case: The case with the prompt.
        repeat: The number of the answer, counted from 1, among the answers of this model to this
            case.
    """
    facts: dict[str, Any] = {}
    try:
        answer, seconds = future.result()
        calls = parse_tool_calls(
            answer.parsed,
            tools,
            provider=model.provider,
            written_calls=writes_calls(model),
        )
        facts["seconds"] = round(seconds, 6)
        if answer.usage is not None:
            usage = answer.usage.checked()
            facts["input_tokens"] = usage.input_tokens
            facts["output_tokens"] = usage.output_tokens
            facts["cost"] = usage.cost
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a client may raise any error
        why = _sentence(model, error)
        return _without_answer(name, case, repeat, tools, why)
    try:
        redactor = redactor_of(case, calls, tools)
        scored = scores(case, calls, redactor)
        if case.calls and not calls and (note := unread_call(answer.text)):
            scored["problems"] += (redactor.sentence(note),)
        hide_all = redactor_of_model(model).joined(redactor)
        kept = without_unread(
            answer.parsed, tools.values(), are_written_calls_read=writes_calls(model)
        )
        whole = plain(answer.message)
        if kept is not answer.parsed:
            answer = with_message(answer, kept)
        facts["message"] = hide_all.value(plain(answer.message))
        facts["finish_reason"] = _word(answer.finish_reason, hide_all)
    except Exception as error:  # noqa: BLE001 - a person's rule may raise any error
        facts.pop("message", None)
        why = f"The answer could not be scored: {_sentence(model, error)}"
        return _without_answer(name, case, repeat, tools, why, **facts)
    trial = Trial(name, case, repeat, **scored, **facts, **_shown(case, redactor))
    return Scored(trial, calls, trial.message == whole)


def _without_answer(
    name: str, case: Case, repeat: int, tools: Mapping[str, AnyTool], why: str, **facts: Any
) -> Scored:
    """Return the trial of a request that got no answer, or an answer that cannot be scored."""
    hide = redactor_of(case, [], tools)
    trial = Trial(name, case, repeat, error=hide.text(why), **facts, **_shown(case, hide))
    return Scored(trial, [], is_whole=True)


def as_answered(trial: Trial) -> "Future[Any]":
    """Return a future with the saved answer of *trial*, as `scored_answer` expects it."""
    usage = None
    if (trial.input_tokens, trial.output_tokens, trial.cost) != (None, None, None):
        usage = Usage(trial.input_tokens, trial.output_tokens, trial.cost)
    answer = Answer(dict(trial.message or {}), usage=usage, finish_reason=trial.finish_reason)
    future: Future[Any] = Future()
    future.set_result((answer, trial.seconds))
    return future


def _word(reason: Any, redactor: Redactor) -> str | None:
    """Return the *reason* why the model ended its answer as a short text; it may be any value."""
    if reason is None:
        return None
    return shorten(redactor.text(str_of(reason)), _WORD)


def _shown(case: Case, redactor: Redactor) -> dict[str, Any]:
    """Return the title and the prompt of *case* with secrets masked."""
    return {
        "title": redactor.text(case.title),
        "prompt": redactor.text(case.masked_prompt),
    }


def redactor_of_model(model: Model) -> Redactor:
    """Return the redactor for the key of *model*."""
    secrets = getattr(model, "secrets", None)
    if secrets is None:
        return NO_SECRETS
    return secrets.redactor  # type: ignore[no-any-return]


def _sentence(model: Model, error: BaseException) -> str:
    """Return why there is no answer, with the model's key masked."""
    if isinstance(error, BodyError):
        text = f"The answer could not be read: {error}"
    elif isinstance(error, CancelledError | AsyncCancelledError):
        text = "It was cancelled."
    else:
        text = sentence_of(error)
    return redactor_of_model(model).text(text)
