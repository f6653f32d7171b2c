"""Writes the measured figures of the documents from bench/RESULTS.md; `--check` only compares.

A document says which figure it wants: `<!-- figure: call over HTTP; ratio -->1.26<!-- end -->`. That is
the work as RESULTS.md names it, without what is in parentheses, and a column: `toolbench`, `peer` or
`ratio`. `<!-- figure: Date -->` and `<!-- figure: goals -->` are those of the run.
"""
# ruff: noqa: T201 - a script talks to its terminal

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "RESULTS.md"
COLUMNS = ("toolbench", "peer", "ratio")
PLACE = re.compile(r"(<!-- figure: (.+?) -->)(.*?)(<!-- end -->)", re.DOTALL)
DATE = re.compile(r"^- Date: (\d{4}-\d\d-\d\d)", re.MULTILINE)
GOALS = re.compile(r"^\*\*(\d+ of \d+) goals met", re.MULTILINE)
NOTE = re.compile(r" \(.*\)$")
# Whose value it is, and what was timed
BESIDE_IT = re.compile(r"^.*: | (?:CPU|wall)$")


def main(arguments: list[str]) -> int:
    """Write the figures, or with `--check` say which documents have others."""
    known = figures(RESULTS.read_text("utf-8"))
    stale = []
    for document in documents():
        before = document.read_text("utf-8")
        text = filled(before, known)
        if text == before:
            continue
        if "--check" in arguments:
            stale.append(str(document.relative_to(ROOT)))
        else:
            document.write_text(text, "utf-8")
    if stale:
        print(f"Not the figures of bench/RESULTS.md: {', '.join(stale)}. Run `make docs`.")
    return int(bool(stale))


def documents() -> list[Path]:
    """Return the documents that may have figures."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def quoted() -> set[str]:
    """Return the works of which a document has a figure."""
    places = (place for file in documents() for place in PLACE.finditer(file.read_text("utf-8")))
    return {place[2].rpartition("; ")[0] for place in places}


def figures(results: str) -> dict[str, str]:
    """Return the figures of *results*, by the name that a document gives them."""
    found = {}
    for name, pattern in (("Date", DATE), ("goals", GOALS)):
        found[name] = pattern.findall(results)[0]
    for line in results.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or len(cells) < len(COLUMNS) + 1:
            continue
        work = NOTE.sub("", cells[0])
        for column, value in zip(COLUMNS, cells[1:], strict=False):
            found[f"{work}; {column}"] = BESIDE_IT.sub("", value)
    return found


def filled(text: str, known: dict[str, str]) -> str:
    """Return *text* with its figures as they are *known*."""

    def figure(place: re.Match[str]) -> str:
        name = place[2]
        if name not in known:
            sys.exit(f"bench/RESULTS.md has no figure {name!r}.")
        return f"{place[1]}{known[name]}{place[4]}"

    return PLACE.sub(figure, text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
