"""What a server offers, written down: to keep under version control, and to compare."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from toolbench.mcp.listing import ListedTool
    from toolbench.mcp.session import MCPServerSession


@dataclass(frozen=True)
class ToolsDiff:
    """How one list of tools differs from the one before."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __str__(self) -> str:
        parts = {"added": self.added, "removed": self.removed, "changed": self.changed}
        said = [f"{verb} {', '.join(names)}" for verb, names in parts.items() if names]
        return "; ".join(said) or "no difference"

    @classmethod
    def between(
        cls,
        before: Iterable["ListedTool"],
        after: Iterable["ListedTool"],
    ) -> Self:
        """Return how *after* differs from *before*."""
        old = {tool.name: tool for tool in before}
        new = {tool.name: tool for tool in after}
        return cls(
            added=tuple(name for name in new if name not in old),
            removed=tuple(name for name in old if name not in new),
            changed=tuple(n for n in new if n in old and new[n] != old[n]),
        )


@dataclass(frozen=True)
class Change:
    """One difference between two snapshots."""

    kind: Literal["added", "removed", "changed"]
    where: str
    """What differs, as a path: `tools/add/inputSchema/required`."""
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        return f"{self.kind} {self.where}"


@dataclass(frozen=True)
class Snapshot:
    """All that a server offered at one moment; `json` is what to write to a file."""

    json: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, session: "MCPServerSession") -> Self:
        """Write down what *session* offers now."""
        offered = {
            "server": session.server_info,
            "protocolVersion": session.protocol_version,
            "capabilities": session.capabilities,
            "instructions": session.instructions,
            "tools": {tool.remote_name: tool.to_mcp_tool() for tool in session.tools},
            "disabled": {tool.name: tool.reason for tool in session.disabled_tools},
            "resources": {item.uri: dict(item.raw) for item in session.resources},
            "templates": {t.uri_template: dict(t.raw) for t in session.templates},
            "prompts": {prompt.name: dict(prompt.raw) for prompt in session.prompts},
        }
        return cls({k: _sorted(v) for k, v in offered.items()})

    def diff(self, later: "Snapshot") -> list[Change]:
        """Return what is different in *later*, in the order of the paths."""
        return sorted(_changes("", self.json, later.json), key=lambda c: c.where)


def _sorted(value: Any) -> Any:
    return dict(sorted(value.items())) if isinstance(value, Mapping) else value


def _changes(where: str, before: Any, after: Any) -> list[Change]:
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        same = before == after
        return [] if same else [Change("changed", where, before, after)]
    found: list[Change] = []
    for key in {**before, **after}:
        path = f"{where}/{key}".lstrip("/")
        if key not in before:
            found.append(Change("added", path, after=after[key]))
        elif key not in after:
            found.append(Change("removed", path, before=before[key]))
        else:
            found.extend(_changes(path, before[key], after[key]))
    return found
