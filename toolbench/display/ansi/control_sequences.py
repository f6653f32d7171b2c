"""Regular expressions that find terminal control sequences, so that they can be skipped.

Every expression is linear: no two neighbouring parts can match the same character. The
characters U+0080 to U+009F, which can begin a sequence too, are not treated as control sequences.
Usually they come from a wrong decoding, and the text after them must stay visible.
"""

import re

# Colours, cursor, erasing
_CSI = r"\x1b\[[0-?]*[ -/]*[@-~]?"
# Titles, hyperlinks, images: ended by BEL or ST, or cut off at the line's end
_STRING = r"\x1b[\]P^_X][^\x07\x1b\x9c\x18\x1a\n]*(?:\x07|\x1b\\|\x9c|\x18|\x1a)?"
# Everything else that begins with ESC
_SHORT = r"\x1b[ -/]*[0-~]?"

SEQUENCE = re.compile(f"{_CSI}|{_STRING}|{_SHORT}")
"""One control sequence, complete or cut off."""

STYLE = re.compile(r"\x1b\[[0-9;]{0,64}m")
"""A sequence that only changes the look of text: the only kind that is kept."""

OTHER = re.compile(rf"(?!{STYLE.pattern})(?:{SEQUENCE.pattern})")
"""Any control sequence except `STYLE`."""

RETURN = re.compile(r"\x1b\[[01]?G")
"""A sequence that moves the cursor to the first column, like a carriage return."""
