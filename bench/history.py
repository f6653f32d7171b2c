"""The results of every whole run, as data: a file of JSON each, from which RESULTS.md is written."""

import json
import subprocess
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from ledger import Row

HERE = Path(__file__).parent
PLACE = HERE / "history"
# The part of a file's time that does not depend on its rounds: processes, pages and data are made
FIXED = 0.6


@dataclass
class Entry:
    """One run of all measurements."""

    date: str
    """The UTC time at which it began, as `2026-11-24T03:05`."""
    commit: str
    """The commit that was measured; with a `+` where files had changed since."""
    minutes: float
    load: tuple[float, float]
    """How many processes wanted a core, at the beginning and at the end."""
    machine: list[str]
    """A line for each thing that matters."""
    rows: list[Row]
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each file took."""
    shares: dict[str, float] = field(default_factory=dict)
    """The share of its rounds that each file made in that time."""

    def save(self, place: Path = PLACE) -> Path:
        """Write it into a file of its own, and return the path."""
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{self.date.replace(':', '')}-{self.commit[:10]}.json"
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")
        return path

    @classmethod
    def load_from(cls, path: Path) -> Self:
        """Return the run that *path* holds."""
        data = json.loads(path.read_text("utf-8"))
        rows = [Row(**row) for row in data.pop("rows")]
        return cls(**{**data, "load": tuple(data["load"])}, rows=rows)

    def about(self) -> list[str]:
        """Return the lines that stand at the head of the page."""
        first, last = self.load
        return [
            f"Date: {self.date.partition('T')[0]}; commit: {self.commit}",
            *self.machine,
            f"Load average: {first:.1f} at the beginning, {last:.1f} at the end, "
            f"{self.minutes:.0f} minutes later",
        ]


def newest(place: Path = PLACE) -> Entry | None:
    """Return the last run; None if there is none yet."""
    files = sorted(place.glob("*.json"))
    return Entry.load_from(files[-1]) if files else None


def whole_seconds(place: Path = PLACE) -> dict[str, float]:
    """Return how long each file takes with all its rounds, as the last run has it."""
    entry = newest(place)
    if entry is None:
        return {}
    return {
        name: taken / time_for(entry.shares.get(name, 1))
        for name, taken in entry.seconds.items()
        # Not a file that was left out
        if taken
    }


def time_for(share: float) -> float:
    """Return the part of its whole time that a file takes for a *share* of its rounds."""
    return FIXED + (1 - FIXED) * share


def share_for(time_part: float) -> float:
    """Return the share of its rounds that a file can make in a part of its whole time."""
    return (time_part - FIXED) / (1 - FIXED)


def course(work: str, place: Path = PLACE) -> list[tuple[str, str, Row]]:
    """Return the date, the commit and the row of *work* in every run, oldest first."""
    entries = [Entry.load_from(path) for path in sorted(place.glob("*.json"))]
    return [
        (entry.date, entry.commit, row)
        for entry in entries
        for row in entry.rows
        if row.work == work
    ]


def commit_here(root: Path = HERE.parent) -> str:
    """Return the commit that is checked out, with a `+` if a file that counts was changed."""
    commit = _git(root, "rev-parse", "--short=10", "HEAD")
    changes = _git(root, "status", "--porcelain", "--", "toolbench", "bench/*.py")
    return f"{commit}+" if changes else commit


def stamp(seconds: float) -> str:
    """Return the UTC time of *seconds* since the epoch, to the minute."""
    return time.strftime("%Y-%m-%dT%H:%M", time.gmtime(seconds))


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
