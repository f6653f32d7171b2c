"""Write toolbench/display/ansi/palette.py: what each colour of a terminal becomes on a page.

Run it when the rules in toolbench/display/ansi/colors.py or the colours in toolbench/display/ansi/rich_styles.py
change: `.venv/bin/python scripts/palette.py`. A test says when that is due.
"""

from pathlib import Path

from rich.color import Color
from rich.style import Style

from toolbench.display.ansi.colors import Rgb, nearest_on_page, to_hex
from toolbench.display.ansi.rich_styles import plain_ink
from toolbench.display.page import TONES

TARGET = Path(__file__).parents[1] / "toolbench" / "display" / "ansi" / "palette.py"
HEAD = '''"""The colours on a page for the colours of a terminal; written by scripts/palette.py."""

ON_PAGE = {  # the colour a program asked for: the nearest that reads on light and dark
'''


def table() -> dict[str, str]:
    """Return what the file is to hold: the 256 colours, plain and dim, and those of notices."""
    colors: set[Rgb] = set(TONES.values())
    for number in range(256):
        for dim in (False, True):
            ink = plain_ink(Style(color=Color.from_ansi(number), dim=dim))
            colors |= {ink} if ink else set()
    return {to_hex(color): to_hex(nearest_on_page(color)) for color in sorted(colors)}


def text() -> str:
    """Return the file."""
    pairs = [f'"{color}": "{near}",' for color, near in table().items()]
    lines = (f"    {' '.join(pairs[n : n + 3])}\n" for n in range(0, len(pairs), 3))
    return f"{HEAD}{''.join(lines)}}}  # fmt: skip\n"


if __name__ == "__main__":
    TARGET.write_text(text())
