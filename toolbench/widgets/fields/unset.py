"""`UNSET`: no value at all, which is neither `null` nor empty."""

from enum import Enum
from typing import Final


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return self.name

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET
"""The value of a field that is left out of the arguments."""
