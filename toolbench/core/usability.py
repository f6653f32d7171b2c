"""Whether a tool can work on this machine, and if not, why."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unusable:
    """Falsy, and says why: `if not (usable := XTool.is_usable()): print(usable)`."""

    reason: str

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.reason
