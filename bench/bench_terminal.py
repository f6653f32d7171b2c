"""What the terminal costs: its start, a small command, a lot of output; beside bare bash."""

import subprocess

import pytest
from measuring import WALL, Cold

from toolbench.tools.terminal import TerminalAction, TerminalExecutor

MEGABYTE = TerminalAction(command="head -c 1000000 big")
ECHO = TerminalAction(command="echo hi")


@pytest.fixture(name="terminal")
def _terminal(tmp_path):
    (tmp_path / "big").write_bytes((b"x" * 99 + b"\n") * 10_000)
    with TerminalExecutor(tmp_path) as terminal:
        terminal(ECHO)
        yield terminal


def bare(*command):
    return lambda: subprocess.run(command, capture_output=True, check=True)


class Starts:
    """Shells that are closed outside the time."""

    def __init__(self, folder):
        self.folder, self.open = folder, []

    def fresh(self):
        while self.open:
            self.open.pop().close()

    def work(self, _):
        self.open.append(TerminalExecutor(self.folder))
        self.open[-1](ECHO)


def test_start(ledger, tmp_path):
    """A shell is ready, and has answered, in 100 ms."""
    starts = Starts(tmp_path)
    ledger.time(
        "terminal: start to first answer",
        Cold(starts.fresh, starts.work, WALL),
        limit=0.1,
        clock=WALL,
    )
    starts.fresh()


def test_echo(ledger, terminal):
    """A small command takes 5 ms in the median, and less than a bash of its own."""
    ledger.time("terminal: echo", lambda: terminal(ECHO), limit=0.005, clock=WALL)
    ledger.compare(
        "terminal: echo, beside a bash of its own",
        ours=lambda: terminal(ECHO),
        peer=bare("bash", "-c", "echo hi"),
        peer_name="bash -c",
        goal=1,
        clock=WALL,
    )


def test_a_megabyte_of_output(ledger, terminal, tmp_path):
    """At most 60 ms."""
    ledger.time("terminal: 1 MB of output", lambda: terminal(MEGABYTE), limit=0.06, clock=WALL)
    ledger.compare(
        "terminal: 1 MB of output, beside a pipe",
        ours=lambda: terminal(MEGABYTE),
        peer=bare("head", "-c", "1000000", str(tmp_path / "big")),
        peer_name="subprocess.run",
        clock=WALL,
    )
