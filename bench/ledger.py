"""The ledger: every measurement is a row, met or missed, and none stops the run."""

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from measuring import CPU, ROUNDS, WALL, Clock, Timed, by_turns, fewer, profile, timed

# The file the rows of this process go to
SINK = "TOOLBENCH_BENCH_ROWS"
# How much steeper than its order a curve may be
SLACK = 0.15


@runtime_checkable
class Profiled(Protocol):
    """Work elsewhere, which is profiled there."""

    def profile(self) -> str:
        """Return where its time goes."""


@dataclass
class Row:
    """One measurement, and what became of its goal."""

    section: str
    work: str
    kind: str
    """`ratio`, `more`, `limit`, `floor`, `curve`, `absent` or `error`."""
    unit: str = ""
    ours: float = 0.0
    theirs: float | None = None
    peer: str = ""
    goal: float | None = None
    note: str = ""
    profile: str = ""
    points: dict[str, float] = field(default_factory=dict)
    bound: float | None = None
    """Of a goal that cannot be met: how many times the least that it takes, measured in this run."""

    @property
    def ratio(self) -> float | None:
        """Ours over theirs."""
        return self.ours / self.theirs if self.theirs else None

    @property
    def used(self) -> float | None:
        """The share of what the goal allows; more than one is missed."""
        if self.goal is None:
            return None
        if self.kind == "ratio":
            return (self.ratio or 0) / self.goal
        if self.kind == "more":
            return (self.ours - (self.theirs or 0)) / self.goal
        if self.kind == "floor":
            return self.goal / self.ours if self.ours else math.inf
        return self.ours / self.goal if self.goal else self.ours + 1

    @property
    def allowed(self) -> float | None:
        """The most that the goal allows; None where it is not a most."""
        if self.goal is None or self.kind not in ("ratio", "more", "limit"):
            return None
        if self.kind == "ratio":
            return self.goal * (self.theirs or 0)
        return self.goal + (self.theirs or 0)

    @property
    def missed(self) -> bool:
        """Whether there is a goal that can be met, and it was not reached."""
        if self.bound is not None:
            return False
        return self.steep if self.kind == "curve" else (self.used or 0) > 1

    @property
    def steep(self) -> bool:
        """Whether a curve grows faster than it should."""
        return self.ours > (self.goal or 0) + SLACK

    def dump(self) -> str:
        """Return the row as a line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, line: str) -> Self:
        """Return the row of a line of JSON."""
        return cls(**json.loads(line))


class Ledger:
    """Takes the rows of one section."""

    def __init__(self, section: str) -> None:
        self.section = section
        self.rows: list[Row] = []

    def compare(
        self,
        work: str,
        *,
        ours: Callable[[], object] | Timed,
        peer: Callable[[], object] | Timed,
        peer_name: str,
        goal: float | None = None,
        rounds: int = ROUNDS,
        clock: Clock = CPU,
        note: str = "",
    ) -> Row:
        """Time both by turns; *goal* is the largest ratio; a *note* may name the `{rounds}`."""
        mine, theirs = by_turns([timed(ours, clock), timed(peer, clock)], rounds)
        note = note.replace("{rounds}", f"{fewer(rounds)}")
        row = self._row(work, "ratio", _unit(clock), mine, goal, note)
        row.theirs, row.peer = theirs, peer_name
        return self._enter(row, ours)

    def more(
        self,
        work: str,
        *,
        ours: Callable[[], object],
        peer: Callable[[], object],
        peer_name: str,
        limit: float,
        rounds: int = ROUNDS,
        clock: Clock = CPU,
    ) -> Row:
        """Time both by turns; ours may take *limit* seconds more."""
        mine, theirs = by_turns([timed(ours, clock), timed(peer, clock)], rounds)
        row = self._row(work, "more", _unit(clock), mine, limit)
        row.theirs, row.peer = theirs, peer_name
        return self._enter(row, ours)

    def time(
        self,
        work: str,
        ours: Callable[[], object] | Timed,
        *,
        limit: float,
        rounds: int = ROUNDS,
        clock: Clock = CPU,
        note: str = "",
    ) -> Row:
        """Time one thing; *limit* is in seconds; a *note* may name the `{rounds}`."""
        [mine] = by_turns([timed(ours, clock)], rounds)
        note = note.replace("{rounds}", f"{fewer(rounds)}")
        return self._enter(self._row(work, "limit", _unit(clock), mine, limit, note), ours)

    def limit(self, work: str, value: float, unit: str, limit: float, note: str = "") -> Row:
        """Enter a *value* that was counted; at most *limit*."""
        return self._enter(self._row(work, "limit", unit, value, limit, note))

    def beside(
        self,
        work: str,
        value: float,
        unit: str,
        *,
        peer: float,
        peer_name: str,
        goal: float | None = None,
        floor: float | None = None,
        note: str = "",
    ) -> Row:
        """Enter a *value* and the *peer*'s; *goal* is the largest ratio, *floor* the least value."""
        kind = "ratio" if floor is None else "floor"
        row = self._row(work, kind, unit, value, goal if floor is None else floor, note)
        row.theirs, row.peer = peer, peer_name
        return self._enter(row)

    def curve(
        self,
        work: str,
        points: Mapping[int, float],
        *,
        unit: str = "s CPU",
        order: float = 1,
        plain: Mapping[int, float] | None = None,
    ) -> Row:
        """Enter what *points* many items cost in all; the cost grows as their power *order*.

        Where *plain* Python's cost for the same walk grows faster than that, as when the items
        leave the processor's cache, it is the measure.
        """
        goal, note = order, ""
        if plain is not None:
            goal = max(order, steepness(plain))
            note = f"the same in plain Python: n^{steepness(plain):.2f}"
        row = self._row(work, "curve", unit, steepness(points), goal, note)
        row.points = {str(n): value / n**order for n, value in points.items()}
        return self._enter(row)

    def absent(self, work: str, why: str) -> Row:
        """Enter that *work* was not measured."""
        return self._enter(Row(self.section, work, "absent", note=why))

    def error(self, work: str, what: str) -> Row:
        """Enter that measuring *work* failed."""
        return self._enter(Row(self.section, work, "error", note=what))

    def _row(
        self, work: str, kind: str, unit: str, ours: float, goal: float | None, note=""
    ) -> Row:
        return Row(self.section, work, kind, unit, ours, goal=goal, note=note)

    def _enter(self, row: Row, ours: Any = None) -> Row:
        if row.missed and ours is not None:
            row.profile = _profile(ours)
        self.rows.append(row)
        if sink := os.environ.get(SINK):
            with Path(sink).open("a", encoding="utf-8") as file:
                file.write(row.dump() + "\n")
        return row


def section(docstring: str) -> str:
    """Return the section of a file of benchmarks: the first words of its *docstring*."""
    return docstring.partition(":")[0].partition("\n")[0].rstrip(".")


def steepness(points: Mapping[int, float]) -> float:
    """Return the power of the number of items with which the cost grows at last."""
    small, large = sorted(points)[-2:]
    growth = math.log(max(points[large], 1e-9) / max(points[small], 1e-9))
    return growth / math.log(large / small)


def _profile(ours: Any) -> str:
    if isinstance(ours, Profiled):
        return ours.profile()
    work = getattr(ours, "work", ours)
    return profile(work) if callable(work) else ""


def _unit(clock: Clock) -> str:
    return "s wall" if clock is WALL else "s CPU"
