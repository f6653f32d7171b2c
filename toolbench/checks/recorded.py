"""Recorded calls as checks: what was recorded is expected again."""

from contextlib import suppress
from typing import Any

from toolbench.checks.check import Check
from toolbench.checks.checks import Checks
from toolbench.core.schema import Observation
from toolbench.errors import CaseError
from toolbench.jsonschema.validate import validator_of
from toolbench.mcp.recording.recording import RecordedCall, Recording
from toolbench.mcp.results import failed_observation, tool_observation
from toolbench.redaction import has_mark, without_numbers
from toolbench.runs.consent_question import one_line
from toolbench.values import clip, every_part, is_json

# Characters of the arguments in the name of a check
_LONGEST = 300


def recorded_checks(recording: Recording, server: str) -> Checks:
    """Return a check for each recorded call of *server*, which expects the recorded result.

    Left out are calls that were made before with the same arguments, that have a secret or no result,
    whose arguments do not fit the schema of the tool, or that a file cannot hold.

    Args:
        recording: The recording.
        server: The name of the server in the checks; the only server of a recording may have any name.

    Raises:
        ServerError: If the recording has no such server.
    """
    name = recording.tape(recording.recorded_name(server)).server
    offered = recording.snapshot(name).json["tools"]
    checks = dict[str, Check]()
    for call in recording.calls:
        # An answer of a model is an object of ours
        is_kept = is_json(list(call.answers)) and not _has_secret([call.result, call.failure])
        if call.server != name or not is_kept or obstacle(call) or call.tool not in offered:
            continue
        arguments, address = arguments_of(call), f"{server}.{call.tool}"
        if validator_of(offered[call.tool].get("inputSchema") or {}).problems(arguments):
            continue
        with suppress(CaseError):
            words, result = words_of(call, address), recorded_result(call)
            check = Check.of_result(words, address, arguments, result, answers=call.answers)
            checks.setdefault(words, check)
    return Checks(checks.values())


def words_of(recorded: RecordedCall, address: str) -> str:
    """Return the call *recorded* of the tool at *address* on one line."""
    return one_line(f"{address} {clip(arguments_of(recorded), _LONGEST)}")


def arguments_of(recorded: RecordedCall) -> dict[str, Any]:
    """Return the arguments of *recorded*, with one mark for all secrets."""
    arguments: dict[str, Any] = without_numbers(dict(recorded.arguments))
    return arguments


def recorded_result(recorded: RecordedCall) -> Observation:
    """Return the recorded result as an observation."""
    if recorded.result is not None and recorded.failure is None:
        return tool_observation(recorded.tool, recorded.result)
    error = (recorded.error or {}).get("message")
    return failed_observation(recorded.tool, recorded.failure or str(error))


def obstacle(recorded: RecordedCall, *, is_compared: bool = True) -> str:
    """Return why the call *recorded* cannot be made, or not be compared with; empty if it can."""
    hidden = [name for name, value in recorded.arguments.items() if _has_secret(value)]
    if hidden:
        return f"the recording hides a secret of its arguments: {', '.join(hidden)}"
    if _has_secret(list(recorded.answers)):
        return "the recording hides a secret of its answers"
    if is_compared and recorded.seconds is None and recorded.failure is None:
        return "the recording has no result of it"
    return ""


def _has_secret(value: Any) -> bool:
    return any(isinstance(part, str) and has_mark(part) for part in every_part(value))
