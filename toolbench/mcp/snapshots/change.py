"""One difference between two snapshots, and what it means for callers of the server."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

Kind = Literal["added", "removed", "changed"]
Severity = Literal["breaking", "routing", "additive", "cosmetic"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""From the one that matters most to the one that matters least."""


@dataclass(frozen=True)
class Change:
    """One difference between two snapshots.

    Attributes:
        kind: Whether it was added, removed or changed.
        severity: *breaking*: a call that was valid may be refused, or an output that was
            promised may be missing or new in kind. *routing*: a model may choose or fill
            otherwise. *additive*: something new that no old call notices. *cosmetic*: no caller
            notices.
        where: What differs, as a path into the snapshot: `tools/add/inputSchema/required`.
        before: What stood there.
        after: What stands there.
        text: What it means, in one sentence.
        example: Where it is breaking: the arguments of a call that was valid and is refused
            now, or an output that was not possible before; None if none is known.
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
    """Return *changes*, those that matter most first."""
    return sorted(changes, key=lambda c: (SEVERITIES.index(c.severity), c.where))
