"""The card of an exported package: HTML that needs no script and no kernel."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from shlex import quote
from typing import TYPE_CHECKING

from toolbench.display.css import CODE_FONT, LINE, REMARK, TEXT_COLOR, TEXT_FONT
from toolbench.display.escape import NO_MATHS, Html, escape, with_code
from toolbench.display.page import badge, fold
from toolbench.export.installation import in_clean_environment, in_this_kernel
from toolbench.wording import counted

if TYPE_CHECKING:
    from toolbench.export.package import PackageFolder

_BOX = f"{TEXT_FONT};{TEXT_COLOR};border:{LINE};border-radius:8px;padding:10px 14px;margin:0 0 6px"
_HEAD = "display:flex;flex-wrap:wrap;gap:2px 8px;align-items:baseline;margin:0 0 8px"
_ROW = "display:flex;flex-wrap:wrap;gap:2px 12px;margin:0 0 6px"
_LABEL = f"{REMARK};flex:0 0 12em;line-height:22px"
# Beside its label, and in a narrow window below it; the page adds a button to copy it
_LINE = "display:flex;flex:1 1 22em;min-width:0;gap:12px"
_CODE = (
    f"{CODE_FONT};font-size:12px;line-height:20px;margin:0;padding:1px 8px;border-radius:4px;"
    "flex:1 1 20em;min-width:0;white-space:pre-wrap;overflow-wrap:anywhere;"
    "background:rgba(128,128,128,.1)"
)


def package_html(package: "PackageFolder") -> Html:
    """Return *package* as a card: its files, how to import, install and test it, and its notes."""
    rows: list[tuple[str, Sequence[str], str]] = [("Import", [import_line(package)], "")]
    if not package.openhands:
        rows.append(("Install in this kernel", in_this_kernel(package), ""))
    clean = in_clean_environment(package, openhands=package.openhands)
    rows.append(("In a clean environment", clean, "in a terminal"))
    if package.variables:
        rows.append(("Set before", package.variables, "in the environment"))
    rows.append(("Run its tests", [test_line(package)], "in a terminal"))
    lines = "".join(_row(label, texts, remark) for label, texts, remark in rows)
    tools = escape(", ".join(package.tool_names))
    head = (
        f'<div style="{_HEAD}"><strong style="font-size:1.15em">{escape(package.package)}</strong>'
        f'<span>{badge("package", "success")}</span><span style="{REMARK}">{tools}</span></div>'
    )
    tree = Html(f'<pre style="{_CODE}">{escape(tree_of(package))}</pre>')
    files = fold(f"{counted(len(package.files), 'file')} in {package}", tree, is_open=True)
    return Html(
        f'<div {NO_MATHS} style="{_BOX}">{head}{lines}{files}{_notes_html(package.notes)}</div>'
    )


def import_line(package: "PackageFolder") -> str:
    """Return the line of Python that imports the tools of *package*."""
    if package.openhands:
        return f"import {package.package}"
    return f"from {package.package} import create_tools"


def test_line(package: "PackageFolder") -> str:
    """Return the line for a terminal that runs the tests of *package*."""
    python = quote(sys.executable)
    if package.openhands:
        python = quote(f"{str(package).rstrip('/')}_env/bin/python")
    return f"{python} -m pytest {quote(str(package))}"


def tree_of(package: "PackageFolder") -> str:
    """Return the files of *package* as a tree, a line for each."""
    lines = [f"{package.name}/"]
    shown: set[PurePosixPath] = set()
    for place in sorted(package.files, key=lambda place: ("/" not in place, place)):
        path = PurePosixPath(place)
        for folder in reversed(path.parents[:-1]):
            if folder not in shown:
                shown.add(folder)
                lines.append(f"{'    ' * len(folder.parts)}{folder.name}/")
        lines.append(f"{'    ' * len(path.parts)}{path.name}")
    return "\n".join(lines)


def _row(label: str, lines: Iterable[str], remark: str) -> str:
    text = escape("\n".join(lines))
    return (
        f'<div style="{_ROW}"><span style="{_LABEL}">{escape(label)}</span>'
        f'<div style="{_LINE}"><pre data-toolbench-line title="{escape(remark)}" style="{_CODE}">'
        f"{text}</pre></div></div>"
    )


def _notes_html(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    items = "".join(f"<li>{with_code(note)}</li>" for note in notes)
    return (
        f'<div style="{REMARK};margin:8px 0 0">To look at</div>'
        f'<ul style="margin:2px 0 0;padding-left:1.4em;overflow-wrap:anywhere">{items}</ul>'
    )
