"""Compare two commits: the same benches, by turns in pairs, as ratios with intervals.

python bench/compare.py BASE                      # this checkout beside commit BASE
python bench/compare.py BASE --rounds 7 core runs # these files only, seven pairs

The benches are those of this checkout; the package is that of each commit. The interval has the
true ratio with a probability of 95 % (Student's t, of the logarithms of the pairs' ratios).
"""

import argparse
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import peers
from ledger import Row
from report import amount
from run import ROOT, everything, measured

# The 97.5 % points of Student's t, by the number of pairs.
_T = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}
_ROUNDS = 5
_FOLDER = "toolbench-base-"
_HEAD = "| work | here | base | ratio | 95 % interval | verdict |\n|---|--:|--:|--:|--:|---|"


@dataclass
class Comparison:
    """What became of one work, from pairs of values."""

    work: str
    unit: str
    here: float
    base: float
    ratio: float
    """The geometric mean of the pairs' ratios: how many times what the base took."""
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether the interval leaves room for no change."""
        if self.low > 1:
            return "more"
        return "less" if self.high < 1 else ""


def compared(pairs: Sequence[tuple[Row, Row]]) -> Comparison:
    """Return the comparison of rows of one work: (here, base), measured after each other."""
    values = [(_value(here), _value(base)) for here, base in pairs]
    row = pairs[0][0]
    here, base = (_middle(each) for each in zip(*values, strict=True))
    logs = [math.log(a / b) for a, b in values if a > 0 and b > 0]
    # Counts of zero, or one pair
    if len(logs) < len(values) or len(logs) < 2:
        ratio = here / base if base else math.inf if here else 1.0
        span = (1.0, 1.0) if here == base else (0.0, math.inf)
        return Comparison(_name(row), row.unit, here, base, ratio, *span)
    middle = fmean(logs)
    half = _T.get(len(logs), _T[max(_T)]) * stdev(logs) / math.sqrt(len(logs))
    span = (math.exp(middle - half), math.exp(middle + half))
    return Comparison(_name(row), row.unit, here, base, math.exp(middle), *span)


def written(comparisons: Sequence[Comparison]) -> str:
    """Return the table: what changed first, by how much."""
    order = sorted(comparisons, key=lambda c: (not c.verdict, -abs(math.log(max(c.ratio, 1e-9)))))
    lines = [
        f"| {c.work} | {amount(c.here, c.unit)} | {amount(c.base, c.unit)} | {c.ratio:.3f} "
        f"| {c.low:.3f} to {c.high:.3f} | {c.verdict} |"
        for c in order
    ]
    return "\n".join([_HEAD, *lines])


def paired(names: Sequence[str], base: Path, rounds: int) -> dict[str, list[tuple[Row, Row]]]:
    """Measure both *rounds* times, each file of one right after that of the other."""
    pairs: dict[str, list[tuple[Row, Row]]] = {}
    for turn in range(rounds):
        for name in names:
            order = [ROOT, base] if turn % 2 else [base, ROOT]
            rows = {of: {_name(row): row for row in measured(name, of)} for of in order}
            for work in rows[ROOT].keys() & rows[base].keys():
                pair = rows[ROOT][work], rows[base][work]
                if not any(row.kind in ("absent", "error") for row in pair):
                    pairs.setdefault(work, []).append(pair)
    return pairs


def end_in_order() -> None:
    """Have signals that end this process end it as an error does: what was begun is removed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Check out *commit* in a folder of its own, which is removed at the end.

    What a killed run left is removed by the next.
    """
    git = ["git", "-C", str(ROOT), "worktree"]
    _remove_left(git)
    with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-") as place:
        path = Path(place, "base")
        try:
            command = [*git, "add", "-q", "--detach", str(path), commit]
            subprocess.run(command, check=True)
            yield path
        finally:
            subprocess.run([*git, "remove", "--force", str(path)], check=False)
            subprocess.run([*git, "prune"], check=True)


def _remove_left(git: Sequence[str]) -> None:
    """Remove the checkouts of runs that were killed: their process is not there any more."""
    listed = subprocess.run(
        [*git, "list", "--porcelain"], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines():
        path = Path(line.removeprefix("worktree "))
        owner = re.match(f"{_FOLDER}([0-9]+)-", path.parent.name)
        if line.startswith("worktree ") and owner and not _runs(int(owner[1])):
            subprocess.run([*git, "remove", "--force", str(path)], check=False)
            shutil.rmtree(path.parent, ignore_errors=True)
    subprocess.run([*git, "prune"], check=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def main() -> int:
    """Measure, print the table."""
    parser = argparse.ArgumentParser(description="Compare two commits.")
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("files", nargs="*", help="core, runs, ...: all if left out")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="pairs; 5")
    chosen = parser.parse_args()
    end_in_order()
    peers.install()
    names = [f"bench_{word}" for word in chosen.files] or everything()
    with checkout(chosen.base) as base:
        pairs = paired(names, base, chosen.rounds)
    comparisons = [compared(each) for each in pairs.values()]
    print(f"\n{written(comparisons)}")
    more = sum(c.verdict == "more" for c in comparisons)
    less = sum(c.verdict == "less" for c in comparisons)
    print(f"\n{len(comparisons)} works: {more} take more than {chosen.base}, {less} less.")
    return 0


def _name(row: Row) -> str:
    """Rows of one work beside several peers are told apart by the peer."""
    return f"{row.work}, beside {row.peer}" if row.peer else row.work


def _value(row: Row) -> float:
    """A curve counts by what its largest size costs for each item."""
    return list(row.points.values())[-1] if row.points else row.ours


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


if __name__ == "__main__":
    sys.exit(main())
