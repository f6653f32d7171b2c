"""Score an answer by the expectations of its case, without a model."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.display.caps import shorten
from toolbench.evals.cases.call_match import SentCall, paired
from toolbench.evals.cases.case import Case
from toolbench.jsonschema.types import Json
from toolbench.llm.calls import ToolCall
from toolbench.redaction.detect import BY_NAMES, Secrecy
from toolbench.redaction.redactor import NO_SECRETS, Redactor
from toolbench.values import plain

# Characters of the name of a tool that a model made up
_NAME = 500
_PROBLEM = 5_000
AnyTool = ToolDefinition[Any, Any]


def scores(case: Case, calls: list[ToolCall], redactor: Redactor) -> dict[str, Any]:
    """Return the scores of an answer, as the fields of a `Trial`.

    Args:
        case: The case with the expected calls.
        calls: The calls of the answer, from `parse_tool_calls`.
        redactor: Hides the secrets in the arguments.
    """
    called = tuple(call.name for call in calls)
    right, wrong = Counter(called), Counter(call.name for call in case.calls)
    picked = right == wrong if case.calls else None
    problems = _selection_problems(case, right, wrong)
    pairs = paired(case.calls, [_sent(call) for call in calls], case.rules)
    several = len(case.calls) > 1
    for expected, _, differences in pairs:
        head = f"{expected.name}: " if several else ""
        problems += [f"{head}{problem}" for problem in differences]
    problems += [str(call.error) for call in calls if call.error is not None]
    fits = not any(differences for _, _, differences in pairs)
    is_valid = all(call.error is None for call in calls)
    forbidden = [name for name in called if name in case.forbid]
    problems += [f"{name} is forbidden, and was called" for name in forbidden]
    return {
        "called": tuple(shorten(name, _NAME) for name in called),
        "calls": tuple(_kept(call, redactor) for call in calls),
        "picked": picked,
        "filled": (fits and is_valid) if picked else None,
        "called_when_none": None if case.calls else bool(calls),
        "forbidden": bool(forbidden) if case.forbid else None,
        "repaired": any(call.repairs for call in calls) if calls else None,
        "problems": tuple(shorten(redactor.sentence(t), _PROBLEM) for t in problems),
    }


def _selection_problems(case: Case, called: Counter[str], expected: Counter[str]) -> list[str]:
    too_many, missing = called - expected, expected - called
    if too_many and not case.calls:
        return [f"{_names(too_many)} was called, and no call was expected"]
    if missing and too_many:
        return [f"{_names(too_many)} was called, and {_names(missing)} was expected"]
    if missing:
        return [f"{_names(missing)} was expected, and was not called"]
    return [f"{_names(too_many)} was called too often"] if too_many else []


def _names(names: Counter[str]) -> str:
    return ", ".join(sorted(names.elements()))


def _sent(call: ToolCall) -> SentCall:
    arguments = plain(call.arguments)
    return SentCall(call.name, arguments, defaults_of(call.tool))


def defaults_of(tool: AnyTool | None) -> Mapping[str, Any]:
    """Return the default values in the schema of *tool*, by argument; empty if *tool* is None."""
    properties = {} if tool is None else tool.input_node.properties
    return {name: node.default for name, node in properties.items() if node.has_default}


def _kept(call: ToolCall, redactor: Redactor) -> Json:
    arguments = secrecy_of(call.tool).hide(call.arguments)[0]
    fields: Json = {
        "name": shorten(call.name, _NAME),
        "arguments": redactor.value(plain(arguments)),
    }
    repairs = [redactor.sentence(str(repair)) for repair in call.repairs]
    return fields | ({"repairs": repairs} if repairs else {})


def secrecy_of(tool: AnyTool | None) -> Secrecy:
    """Return the rules that find the secrets in arguments of *tool*.

    Without a tool, an argument is a secret if its name looks like the name of a secret.
    """
    return BY_NAMES if tool is None else tool.secrecy


def redactor_of(case: Case, calls: list[ToolCall], tools: Mapping[str, AnyTool]) -> Redactor:
    """Return a redactor for the secrets in the expected and sent arguments."""
    secrets = [
        secret for call in calls for secret in secrecy_of(call.tool).secrets_in(call.arguments)
    ]
    for expected in case.calls:
        secrecy = secrecy_of(tools.get(expected.name))
        secrets += secrecy.secrets_in(expected.arguments)
    return Redactor(secrets) if secrets else NO_SECRETS
