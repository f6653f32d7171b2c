"""How long work takes: rounds of enough calls, by turns with its peer, in CPU or wall seconds."""

import cProfile
import gc
import os
import pstats
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Protocol

Clock = Callable[[], float]
CPU: Clock = time.process_time
WALL: Clock = time.perf_counter
CLOCKS = {"CPU": CPU, "wall": WALL}
ROUNDS = 15
# The share of its rounds that there is time for, in the environment of a file of benchmarks
SHARE = "TOOLBENCH_BENCH_SHARE"
# Rounds that are made however short the time is
LEAST = 3
# Seconds that a round takes at least
ROUND = 0.01
# Seconds of a call that is made once to warm up
LONG = 0.2
_ROOT = Path(__file__).parents[1]


class Timed(Protocol):
    """Something that can be timed again and again."""

    def seconds(self) -> float:
        """Do a round and return the seconds of one call."""


class Stopwatch:
    """Work without arguments, called often enough for the clock."""

    def __init__(self, work: Callable[[], object], clock: Clock = CPU) -> None:
        self.work, self._clock = work, clock
        self._calls = 0

    def seconds(self) -> float:
        if self._calls:
            return self._round(self._calls)
        # The first round, which warms up
        return self._enough()

    def _round(self, calls: int) -> float:
        work, clock = self.work, self._clock
        start = clock()
        for _ in range(calls):
            work()
        return (clock() - start) / calls

    def _enough(self) -> float:
        self._calls = 1
        # The first call fills caches; one that takes long is enough to warm up
        start = time.perf_counter()
        first = self._round(1)
        if time.perf_counter() - start > LONG:
            return first
        while (seconds := self._round(self._calls)) * self._calls < ROUND / 2:
            if self._calls >= 100_000:
                break
            self._calls *= 4
        return seconds


class Cold:
    """Work that needs something new for each round, which is made outside the time."""

    def __init__(
        self,
        fresh: Callable[[], Any],
        work: Callable[[Any], object],
        clock: Clock = CPU,
        *,
        clean: bool = False,
    ) -> None:
        """Make what is new with *fresh*, time *work*; *clean*: without the garbage of other rounds."""
        self._fresh, self._work, self._clock = fresh, work, clock
        self._clean = clean

    def seconds(self) -> float:
        subject = self._fresh()
        # Takes long where there are many objects
        if self._clean:
            gc.collect()
        start = self._clock()
        self._work(subject)
        return self._clock() - start

    def work(self) -> None:
        """One round, for the profiler."""
        self._work(self._fresh())


def timed(work: Callable[[], object] | Timed, clock: Clock) -> Timed:
    """Return *work* as something that can be timed."""
    return Stopwatch(work, clock) if callable(work) else work


def fewer(rounds: int) -> int:
    """Return how many of *rounds* there is time for."""
    share = float(os.environ.get(SHARE, "1"))
    return max(min(rounds, LEAST), round(rounds * share))


def by_turns(watches: Sequence[Timed], rounds: int = ROUNDS) -> list[float]:
    """Return the median seconds of each; who begins changes from round to round."""
    taken: list[list[float]] = [[] for _ in watches]
    order = range(len(watches))
    # The round before the first warms up
    for number in range(-1, fewer(rounds)):
        if number % 5 == 0:
            gc.collect()
        first = number % len(watches)
        for which in (*order[first:], *order[:first]):
            seconds = watches[which].seconds()
            if number >= 0:
                taken[which].append(seconds)
    return [median(times) for times in taken]


def profile(work: Callable[[], object], lines: int = 6, seconds: float = 0.5) -> str:
    """Return where the time of *work* goes: the functions that take most of it themselves."""
    profiler = cProfile.Profile()
    end = time.perf_counter() + seconds
    calls = 0
    while calls == 0 or time.perf_counter() < end:
        profiler.runcall(work)
        calls += 1
    stats: dict[Any, Any] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    whole = sum(own for _, _, own, _, _ in stats.values()) or 1
    most = sorted(stats.items(), key=lambda item: -item[1][2])[:lines]
    return "\n".join(
        f"{own / whole:4.0%}  {count / calls:8,.1f} calls  {_place(where)}"
        for where, (_, count, own, _, _) in most
    )


def _place(where: tuple[str, int, str]) -> str:
    file, line, name = where
    if file == "~":
        return name
    path = Path(file)
    if path.is_relative_to(_ROOT / "toolbench") or path.is_relative_to(_ROOT / "bench"):
        return f"{path.relative_to(_ROOT)}:{line} {name}"
    parts = path.parts
    after = parts.index("site-packages") + 1 if "site-packages" in parts else -2
    return f"{'/'.join(parts[after:])}:{line} {name}"
