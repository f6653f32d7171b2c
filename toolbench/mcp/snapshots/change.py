"""One difference between two snapshots of a server, and what it means for the server's callers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

Kind = Literal["added", "removed", "changed"]
Severity = Literal["breaking", "routing", "additive", "cosmetic"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The severities, the worst first."""


@dataclass(frozen=True)
class Change:
    """One difference between two snapshots.

    Attributes:
        kind: Whether a part of what the server offers was added, removed or changed.
        severity: *breaking*: a call that was valid may be refused, or an output that was
            promised may be missing or of a new kind. *routing*: a model may choose another tool
            or other values. *additive*: something new that old calls do not notice. *cosmetic*:
            no caller notices.
        where: The path of the changed part in the snapshot: `tools/add/inputSchema/required`.
        before: The old value.
        after: The new value.
        text: What changed, in one sentence.
        example: For a breaking change: the arguments of a call that was valid and is refused
            now, or an output that was not possible before; None without an example.
    """

    kind: Kind
    severity: Severity
    where: str
    before: Any = None
    after: Any = None
    text: str = ""
    example: Any = None

    def __str__(self) -> str:
        return f"{self.kind} {self.where}"


def by_severity(changes: Iterable[Change]) -> list[Change]:
    """Return *changes*, the most severe first."""
    return sorted(changes, key=lambda c: (SEVERITIES.index(c.severity), c.where))
