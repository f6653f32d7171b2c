"""Check earlier calls against the current schemas of a server."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from toolbench.core.tool_names import ToolAddress
from toolbench.display.escape import on_one_line
from toolbench.errors import Problem, SchemaError, did_you_mean
from toolbench.jsonschema.validate import SchemaValidator, validator_of
from toolbench.mcp.snapshots.snapshot import Snapshot
from toolbench.redaction import MARK, has_mark
from toolbench.values import NOT_KEPT, clip
from toolbench.wording import counted

# The most characters of a call's arguments
_MAX_ARGUMENTS = 300


@dataclass(frozen=True)
class RefusedCall:
    """An earlier call that would be refused now."""

    tool: str
    """The name of the tool on the server."""
    arguments: Mapping[str, Any]
    reasons: tuple[str, ...]
    """The reasons, one sentence each."""
    call: Any = field(default=None, repr=False)
    """The original call: a record, a recorded call or a dict."""

    def __str__(self) -> str:
        arguments = clip(self.arguments, _MAX_ARGUMENTS)
        # A server's names must not look like another call
        reasons = on_one_line("; ".join(self.reasons))
        return f"{on_one_line(self.tool)}({arguments}): {reasons}"


class CheckedCalls(Sequence[RefusedCall]):
    """The sequence of calls that would be refused now, with the number of checked calls."""

    def __init__(self, refused: Sequence[RefusedCall], checked: int) -> None:
        """Keep the *refused* calls, and *checked*, the number of all calls that were checked."""
        self._refused = tuple(refused)
        self.checked = checked
        """The number of checked calls."""

    @overload
    def __getitem__(self, index: int) -> RefusedCall: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RefusedCall]: ...
    def __getitem__(self, index: int | slice) -> RefusedCall | Sequence[RefusedCall]:
        return self._refused[index]

    def __len__(self) -> int:
        return len(self._refused)

    @property
    def summary(self) -> str:
        """A sentence with the numbers of refused and checked calls."""
        if not self.checked:
            return "There are no calls of these tools to check."
        if not self._refused:
            return f"Your {counted(self.checked, 'call')} would still be accepted."
        total = counted(self.checked, "call")
        return f"{len(self._refused):,} of your {total} would be refused now."

    def __repr__(self) -> str:
        return "\n".join([self.summary, *(f"- {call}" for call in self._refused)])


def check_calls(
    snapshot: Snapshot,
    calls: Iterable[Any],
    *,
    before: Snapshot | None = None,
    server: str | None = None,
) -> CheckedCalls:
    """Return the calls in *calls* that the server would now refuse, according to *snapshot*.

    Equal calls count as one. Calls that failed when they were made are ignored.

    Args:
        snapshot: The tools that the server offers now.
        calls: `history()`, a `Recording`, or an iterable of calls. A call is an object with `tool`
            (or `name`) and `arguments`, or a dict with `name` and `arguments`. Hidden secrets, and
            strings that were too long to keep, are not checked.
        before: The tools that the server offered at the time of the calls. If given, calls that
            were invalid even then are ignored, and the result includes calls of tools that have
            been removed since.
        server: The name of the server whose calls are checked. If None, all calls are checked.

    Examples:
        >>> from toolbench.mcp import Snapshot, check_calls
        >>> schema = {"type": "object", "properties": {"sku": {"type": "integer"}}}
        >>> now = Snapshot.of({"tools": {"price": {"name": "price", "inputSchema": schema}}})
        >>> calls = [{"name": "price", "arguments": {"sku": sku}} for sku in (12, "A1")]
        >>> check_calls(now, calls)
        1 of your 2 calls would be refused now.
        - price({"sku": "A1"}): sku: should be an integer, not "A1"
    """
    tools = _Tools(snapshot)
    if before is not None:
        earlier = _Tools(before)
    else:
        earlier = None
    refused: list[RefusedCall] = []
    seen: set[str] = set()
    for call in _each(calls):
        name, arguments = _read(call, server)
        known = name in tools.by_name or (earlier is not None and name in earlier.by_name)
        if name is None or not known or _has_failed(call):
            continue
        if earlier is not None and earlier.reasons(name, arguments):
            continue
        equal = json.dumps([name, _shown(arguments)], sort_keys=True, default=repr)
        if equal in seen:
            continue
        seen.add(equal)
        if reasons := tools.reasons(name, arguments):
            refused.append(RefusedCall(name, arguments, tuple(reasons), call))
    return CheckedCalls(refused, len(seen))


class _Tools:
    """The tools of one snapshot, each with its validator."""

    def __init__(self, snapshot: Snapshot) -> None:
        tools = snapshot.json.get("tools")
        if isinstance(tools, Mapping):
            self.by_name: Mapping[str, Any] = tools
        else:
            self.by_name = {}
        self._validators: dict[str, SchemaValidator | None] = {}

    def reasons(self, name: str, arguments: Mapping[str, Any]) -> list[str]:
        """Return why the call would be refused; an empty list if it would be accepted."""
        if name not in self.by_name:
            return [f"there is no tool {name!r} now.{did_you_mean(name, self.by_name)}"]
        validator = self._validator(name)
        if validator is None:
            return []
        problems = _real(validator.problems(arguments), arguments)
        if problems and None in arguments.values():
            filled = {k: v for k, v in arguments.items() if v is not None}
            problems = _real(validator.problems(filled), filled)
        return [str(problem) for problem in problems]

    def _validator(self, name: str) -> SchemaValidator | None:
        if name not in self._validators:
            try:
                schema = self.by_name[name].get("inputSchema") or {}
                self._validators[name] = validator_of(schema)
            except SchemaError:
                self._validators[name] = None
        return self._validators[name]


def _has_failed(call: Any) -> bool:
    result = getattr(call, "result", None)
    if isinstance(result, Mapping) and result.get("isError"):
        return True
    return getattr(call, "state", "") == "error" or bool(getattr(call, "error", None))


def _shown(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return *arguments* with one and the same mark in place of each hidden value."""
    shown = dict(arguments)
    for name, value in arguments.items():
        if _is_hidden(value):
            shown[name] = MARK
    return shown


def _each(calls: Any) -> Iterator[Any]:
    return iter(getattr(calls, "calls", calls))


def _read(call: Any, server: str | None) -> tuple[str | None, Mapping[str, Any]]:
    if isinstance(call, Mapping):
        name, arguments, of = (
            call.get("name"),
            call.get("arguments"),
            call.get("server"),
        )
    else:
        address = getattr(call, "address", None)
        name = getattr(call, "tool", None) or getattr(call, "name", None)
        of = getattr(call, "server", None)
        if isinstance(address, ToolAddress):
            name, of = address.name, address.server
        arguments = getattr(call, "arguments", None)
    if server is not None and of != server:
        return None, {}
    if not isinstance(arguments, Mapping):
        arguments = {}
    return name, arguments


def _real(problems: list[Problem], arguments: Any) -> list[Problem]:
    """Return *problems* without those of values in *arguments* that are hidden or cut."""
    return [each for each in problems if not _is_hidden(_at(arguments, each.path))]


def _at(value: Any, path: Sequence[Any]) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            # The key is missing
            return None
    return value


def _is_hidden(value: Any) -> bool:
    if isinstance(value, str):
        return MARK in value or has_mark(value) or value.endswith(NOT_KEPT)
    if isinstance(value, Mapping):
        return any(map(_is_hidden, value.values()))
    return isinstance(value, list) and any(map(_is_hidden, value))
