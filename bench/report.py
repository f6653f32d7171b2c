"""The rows of a run as Markdown: what was missed first, then every section, then the curves."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from ledger import Row

# How many times the least that anybody needs is near it
_NEAR = 1.25
_WHY = Path(__file__).with_name("why.toml")
_HEAD = "| work | toolbench | peer or limit | ratio | goal | result |\n|---|--:|--:|--:|--:|---|"
_INTRO = """\
Written by `make bench` in one run; not edited by hand. Times are medians of at least three
rounds (fewer where one takes seconds) in which toolbench and its peer take turns. The **ratio** is the claim: it holds on
other machines, the times do not. A goal is the largest ratio, the most seconds more than
the peer (+), or a limit (≤ or ≥). CPU: processor time of the process; wall: what who waits sees.
**Bound** says that a goal is out of reach: the least that the work takes was measured in the same run, and is
more than the goal allows; ours takes at most a quarter more than that least, and counts as met.
"""
_CURVES = """\
What an item costs among so many, and the power of the number of items with which the whole
grows from the last but one size to the last: 1 is linear. What grows faster than it should
(by more than 0.15) is a **defect**.
"""


def written(rows: Sequence[Row], about: Iterable[str]) -> str:
    """Return the whole page."""
    find_bounds(rows)
    plain = [row for row in rows if row.kind not in ("curve", "absent", "error")]
    curves = [row for row in rows if row.kind == "curve"]
    parts = ["# What toolbench costs", _INTRO, _list(about), _verdict(rows)]
    parts += _explained("Missed", [row for row in rows if row.missed])
    parts += _explained("Bound", [row for row in rows if row.bound is not None])
    for section, entries in groupby(plain, key=lambda row: row.section):
        parts += [f"## {section}", "\n".join([_HEAD, *map(_line, entries)])]
    parts += ["## How cost grows", _CURVES, *_tables(curves)] if curves else []
    for kind, title in (("absent", "Not measured"), ("error", "Failed")):
        lines = [_escaped(f"{row.work}: {row.note}") for row in rows if row.kind == kind]
        parts += [f"## {title}", _list(lines)] if lines else []
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def find_bounds(rows: Sequence[Row]) -> None:
    """Note of each row that missed its goal whether its lower bound was measured, and is over the goal.

    The bound is the peer of the row that why.toml names.
    """
    named, by_work = bounds(), {row.work: row for row in rows}
    for row in rows:
        row.bound = None
        beside = by_work.get(named.get(row.work))
        if not row.missed or row.allowed is None or beside is None:
            continue
        if beside.unit == row.unit and beside.theirs is not None and beside.theirs > row.allowed:
            times = beside.ours / beside.theirs
            if times <= _NEAR:
                row.bound = times


def _why() -> Mapping[str, Any]:
    return tomllib.loads(_WHY.read_text("utf-8"))


def bounds() -> dict[str, str]:
    """Return the row whose peer is the least that a work takes, by the name of the work."""
    return _why()["bound"]  # type: ignore[no-any-return]


def reasons() -> dict[str, str]:
    """Return why goals are missed, by the name of the work."""
    return {work: reason for work, reason in _why().items() if work != "bound"}


def as_text(row: Row) -> str:
    """Return the row as a line for a terminal."""
    if row.kind in ("absent", "error"):
        return f"{row.kind:7}  {row.work}: {row.note}"
    if row.kind == "curve":
        cost = ", ".join(f"{n}: {amount(v, row.unit)}" for n, v in row.points.items())
        return f"{_result(row):20} {row.work}: n^{row.ours:.2f} ({cost})"
    cells = (
        row.work,
        amount(row.ours, row.unit),
        _beside(row),
        _ratio(row),
        _goal(row),
    )
    return f"{_result(row):20} " + " | ".join(cells)


def amount(value: float, unit: str) -> str:
    """Return a value with its unit, in three digits."""
    kind, _, rest = unit.partition(" ")
    scales = {
        "s": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
        "B": ((1e6, "MB"), (1e3, "kB"), (1, "B")),
    }.get(kind)
    if scales is None:
        return f"{value:,.4g} {unit}".rstrip()
    scale, name = next((s for s in scales if abs(value) >= s[0]), scales[-1])
    return f"{value / scale:.3g} {name} {rest}".rstrip()


def _verdict(rows: Sequence[Row]) -> str:
    goals = [row for row in rows if row.goal is not None]
    missed = sum(row.missed for row in goals)
    failed = sum(row.kind == "error" for row in rows)
    told = f"**{len(goals) - missed} of {len(goals)} goals met, {missed} missed.**"
    if bound := sum(row.bound is not None for row in goals):
        told += f" Of those met {bound} are bound."
    if unknown := sum(row.missed and row.work not in reasons() for row in goals):
        told += f" Of those missed {unknown} are **not explained yet**."
    return f"{told} {failed} measurements failed." if failed else told


def _explained(title: str, rows: Sequence[Row]) -> list[str]:
    why = reasons()
    parts = [f"## {title}"] if rows else []
    for row in rows:
        reason = why.get(row.work, "Not explained yet.")
        parts.append(f"**{_escaped(row.work)}** ({_result(row).replace('*', '')}). {reason}")
        if row.profile:
            parts.append(f"```\n{row.profile}\n```")
    return parts


def _line(row: Row) -> str:
    cells = (
        _named(row),
        amount(row.ours, row.unit),
        _beside(row),
        _ratio(row),
        _goal(row),
        _result(row),
    )
    return f"| {' | '.join(cells)} |".replace("\n", " ")


def _named(row: Row) -> str:
    return _escaped(f"{row.work} ({row.note})" if row.note else row.work)


def _escaped(text: str) -> str:
    return text.replace("*", r"\*").replace("|", r"\|")


def _beside(row: Row) -> str:
    if row.theirs is None:
        return amount(row.goal, row.unit.partition(" ")[0]) if row.goal else "none"
    return f"{row.peer}: {amount(row.theirs, row.unit)}"


def _ratio(row: Row) -> str:
    beside = row.theirs if row.theirs is not None else row.goal
    return f"{row.ours / beside:.3g}" if beside else ""


def _goal(row: Row) -> str:
    if row.goal is None:
        return ""
    unit = row.unit.partition(" ")[0] if row.unit[:2] in ("s ", "B") else row.unit
    shown = f"{row.goal:g}" if row.kind == "ratio" else amount(row.goal, unit)
    return {"ratio": "≤ ", "more": "+", "floor": "≥ "}.get(row.kind, "≤ ") + shown


def _result(row: Row) -> str:
    if row.kind == "curve":
        return "**defect**" if row.steep else "fine"
    if row.bound is not None:
        return f"bound, {row.bound:.2f} times the least"
    used = row.used
    if used is None:
        return ""
    return f"**missed**, {used:.2f} times the goal" if row.missed else "met"


def _tables(rows: Sequence[Row]) -> list[str]:
    """A table for each choice of sizes."""
    tables = []
    for sizes, entries in groupby(rows, key=lambda row: tuple(row.points)):
        head = [
            f"| work | {' | '.join(f'{int(n):,}' for n in sizes)} | should | grows | result |",
            f"|---|{'--:|' * len(sizes)}--:|--:|---|",
        ]
        tables.append("\n".join(head + [_curve(row) for row in entries]))
    return tables


def _curve(row: Row) -> str:
    costs = [amount(value, row.unit) for value in row.points.values()]
    cells = [_named(row), *costs, f"n^{row.goal:g}", f"n^{row.ours:.2f}", _result(row)]
    return f"| {' | '.join(cells)} |"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
