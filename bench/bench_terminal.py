"""What the terminal costs: its start, a small command, a lot of output; beside bare bash."""

import subprocess
import time
from collections.abc import Callable
from statistics import median

import pytest

from toolbench.tools.terminal import TerminalAction, TerminalExecutor

MILLI = 1e-3  # seconds
MEGABYTE = TerminalAction(command="head -c 1000000 big")
ECHO = TerminalAction(command="echo hi")


def seconds(function: Callable[[], object], calls: int, of=median) -> float:
    """What a call takes by the wall clock, as who waits does."""
    taken = []
    for _ in range(calls):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return of(taken)


@pytest.fixture(name="terminal")
def _terminal(tmp_path):
    (tmp_path / "big").write_bytes((b"x" * 99 + b"\n") * 10_000)
    with TerminalExecutor(tmp_path) as terminal:
        terminal(ECHO)
        yield terminal


def test_start(benchmark, tmp_path):
    """A shell is ready, and has answered, in 100 ms."""
    taken = []

    def open_and_close() -> None:
        start = time.perf_counter()
        with TerminalExecutor(tmp_path) as terminal:
            terminal(ECHO)
            taken.append(time.perf_counter() - start)

    benchmark.pedantic(open_and_close, rounds=9)
    benchmark.extra_info["ms to the first answer"] = round(min(taken) / MILLI, 1)
    assert min(taken) <= 100 * MILLI


def test_echo(benchmark, terminal):
    """A small command takes 5 ms in the median, and less than a bash of its own."""
    bash = ["bash", "-c", "echo hi"]
    ours = seconds(lambda: terminal(ECHO), 200, of=min)
    bare = seconds(lambda: subprocess.run(bash, capture_output=True), 20, of=min)
    benchmark.extra_info["times bash -c"] = round(ours / bare, 2)
    benchmark(terminal, ECHO)
    assert ours <= bare
    assert seconds(lambda: terminal(ECHO), 200) <= 5 * MILLI


def test_a_megabyte_of_output(benchmark, terminal, tmp_path):
    """At most 60 ms where nothing else disturbs."""
    head = ["head", "-c", "1000000", tmp_path / "big"]
    ours = seconds(lambda: terminal(MEGABYTE), 15, of=min)
    bare = seconds(lambda: subprocess.run(head, capture_output=True), 15, of=min)
    benchmark.extra_info["times a pipe"] = round(ours / bare, 1)
    benchmark(terminal, MEGABYTE)
    assert ours <= 60 * MILLI
