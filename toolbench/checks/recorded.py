"""Turn recorded calls into checks that expect the recorded results."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from toolbench.checks.check import Check
from toolbench.checks.check_file import numbered
from toolbench.checks.checks import Checks
from toolbench.core.schema import Observation
from toolbench.errors import CaseError, SchemaError
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.mcp.recording.recording import RecordedCall, Recording
from toolbench.mcp.results import failed_observation, tool_observation
from toolbench.redaction import has_mark, without_numbers
from toolbench.runs.consent_question import one_line
from toolbench.values import clip, every_part, is_json

# Characters of the arguments in the name of a check
_LONGEST = 300


def recorded_checks(recording: Recording, server: str) -> Checks:
    """Return checks that repeat the recorded calls of *server* and expect the recorded results.

    Some calls are left out:

    - repeated calls with the same arguments and answers
    - calls with a secret, and calls without a result
    - calls whose arguments do not match the tool's schema
    - calls that cannot be written to a file

    Args:
        recording: The recording.
        server: The name of the server in the checks. If the recording has only one server, it may
            have another name in the recording.

    Raises:
        ServerError: If the recording has no such server.

    Examples:
        >>> from toolbench.checks import recorded_checks
        >>> from toolbench.mcp import create_mcp_tools
        >>> from toolbench.mcp.recording import Recording
        >>> from toolbench.testing import FakeMCPServer
        >>> server = FakeMCPServer("shop")
        >>> server.answer("price", {"eur": 3})
        >>> with create_mcp_tools(server, record="shop.mcp.jsonl") as client:
        ...     result = client["price"](sku=12)
        >>> [check] = recorded_checks(Recording.read("shop.mcp.jsonl"), "shop")
        >>> check.tool, check.arguments, check.expect
        ('shop.price', {'sku': 12}, {'result': {'eur': 3}})
    """
    name = recording.tape(recording.recorded_name(server)).server
    offered = recording.snapshot(name).json["tools"]
    checks, names = dict[str, Check](), set[str]()
    for call in recording.calls:
        if call.server == name and call.tool in offered and not obstacle(call):
            with suppress(CaseError, SchemaError):
                check = _check_of(call, f"{server}.{call.tool}", offered[call.tool])
                # What makes it another call
                key = json.dumps({**check.to_dict(), "name": "", "expect": {}}, sort_keys=True)
                if key not in checks:
                    checks[key] = numbered(check, names)
                    names.add(checks[key].name)
    return Checks(checks.values())


def _check_of(call: RecordedCall, address: str, tool: Mapping[str, Any]) -> Check:
    """Return the check of *call* at *address*; *tool* is its definition in the server's list.

    Raises:
        CaseError: If the call cannot become a check.
        SchemaError: If a schema of the tool is not valid.
    """
    arguments, promise = arguments_of(call), None
    # An answer of a model is an object of ours
    is_kept = is_json(list(call.answers)) and not _has_secret([call.result, call.failure])
    if not is_kept or validator_of(tool.get("inputSchema") or {}).problems(arguments):
        msg = f"The recorded call of {address} cannot be a check."
        raise CaseError(msg)
    if tool.get("outputSchema"):
        promise = validator_of(tool["outputSchema"])
    result = recorded_result(call, promise)
    return Check.of_result(
        words_of(call, address), address, arguments, result, answers=call.answers
    )


def words_of(recorded: RecordedCall, address: str) -> str:
    """Describe *recorded*, a call of the tool at *address*, on one line."""
    return one_line(f"{address} {clip(arguments_of(recorded), _LONGEST)}")


def arguments_of(recorded: RecordedCall) -> dict[str, Any]:
    """Return the arguments of *recorded*, in which every secret is replaced with the same mark."""
    arguments: dict[str, Any] = without_numbers(dict(recorded.arguments))
    return arguments


def recorded_result(recorded: RecordedCall, promise: SchemaValidator | None = None) -> Observation:
    """Return the recorded result as an observation; for *promise*, see `tool_observation`."""
    if recorded.result is not None and recorded.failure is None:
        return tool_observation(recorded.tool, recorded.result, promise)
    error = (recorded.error or {}).get("message")
    return failed_observation(recorded.tool, recorded.failure or str(error))


def obstacle(recorded: RecordedCall, *, is_compared: bool = True) -> str:
    """Return why *recorded* cannot be called again or compared; empty if it can."""
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
