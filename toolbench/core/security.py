"""The risk of one call of a tool, as a model or the user rates it."""

from enum import StrEnum


class SecurityRisk(StrEnum):
    """The levels of risk of an action; a model reads and writes these words."""

    UNKNOWN = "UNKNOWN"
    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"

    @property
    def description(self) -> str:
        """The meaning of the level."""
        return _MEANINGS[self]

    def is_riskier(self, other: "SecurityRisk") -> bool:
        """Tell whether this level is above *other*.

        Raises:
            ValueError: If either level is UNKNOWN, because it has no place in the order.

        Examples:
            >>> from toolbench import SecurityRisk
            >>> SecurityRisk.HIGH.is_riskier(SecurityRisk.LOW)
            True
            >>> print(SecurityRisk.MEDIUM, "-", SecurityRisk.MEDIUM.description)
            MEDIUM - changes things inside the workspace or container
        """
        if SecurityRisk.UNKNOWN in (self, other):
            msg = f"{self.value} and {other.value} cannot be compared: UNKNOWN has no rank."
            raise ValueError(msg)
        return _ORDER.index(self) > _ORDER.index(other)


_ORDER = (SecurityRisk.LOW, SecurityRisk.MEDIUM, SecurityRisk.HIGH)
_MEANINGS = {
    SecurityRisk.UNKNOWN: "the risk could not be judged",
    SecurityRisk.LOW: "only reads, changes nothing",
    SecurityRisk.MEDIUM: "changes things inside the workspace or container",
    SecurityRisk.HIGH: "reaches outside: sends data away, deletes for good, raises privileges",
}
