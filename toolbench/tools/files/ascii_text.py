"""ASCII bytes that can be used like a str. Only the parts that are shown are decoded.

In ASCII one byte is one character, so the offsets in the bytes are the offsets in the text.
"""


class AsciiText:
    """ASCII bytes with the methods of `str` that are needed to show lines of a text."""

    def __init__(self, data: bytes) -> None:
        """Make a text from *data*, which must be ASCII."""
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __contains__(self, part: str) -> bool:
        return part.encode() in self._data

    def __getitem__(self, place: int | slice) -> str:
        if isinstance(place, slice):
            return self._data[place].decode("ascii")
        return chr(self._data[place])

    def count(self, part: str, start: int = 0, end: int | None = None) -> int:
        """Return how often *part* occurs between *start* and *end*."""
        return self._data.count(part.encode(), start, end)

    def find(self, part: str, start: int = 0, end: int | None = None) -> int:
        """Return the first offset of *part* between *start* and *end*; -1 if it does not occur there."""
        return self._data.find(part.encode(), start, end)

    def endswith(self, part: str, start: int = 0, end: int | None = None) -> bool:
        """Tell whether the text between *start* and *end* ends with *part*."""
        return self._data.endswith(part.encode(), start, end)


Text = str | AsciiText
"""A text of which lines can be shown."""
