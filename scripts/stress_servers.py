"""Connect, disconnect, reconnect, list and call the servers of one client from eight threads.

    make stress                               # after the stress of printing; five minutes
    python scripts/stress_servers.py 120      # two

Servers are killed meanwhile, and some never start. It ends with 1 if a thread met an exception that
is none of toolbench's own, if a wait did not end, or if a process is left.
"""

# ruff: noqa: T201, S311 - a script talks to its terminal, and its numbers are no secrets

import faulthandler
import os
import random
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from toolbench.errors import ToolbenchError
from toolbench.mcp import MCPClient
from toolbench.testing import FakeMCPServer

LIGHT = Path(__file__).parents[1] / "tests" / "test_mcp" / "servers" / "light.py"
SILENT = {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]}
WRONG = {"command": sys.executable, "args": ["-c", "exit('typo')"]}
NAMES = ("a", "b", "c", "d")
THREADS = 8
# Seconds
CONNECTING, STUCK = 20.0, 120.0


class Stress:
    """What the threads do with one client, and what went wrong in it."""

    def __init__(self, seconds: float) -> None:
        """Prepare to go on for *seconds*."""
        self.client = MCPClient(timeout=CONNECTING)
        self.chance = random.Random(os.environ.get("SEED"))
        self.end = time.monotonic() + seconds
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._weighted: list[Callable[[str], object]] = [
            *[self._connect] * 4,
            *[self.client.disconnect] * 3,
            *[self.client.reconnect] * 3,
            self.client.forget,
            self._add,
            *[self._kill] * 2,
            *[self._call] * 12,
            *[self._list] * 6,
            *[self._look] * 12,
        ]

    def run(self) -> None:
        """Let the threads work, and close the client."""
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(self.end - time.monotonic(), 0) + STUCK)
            if thread.is_alive():
                self.wrong.append(f"{thread.name} does not end")
                faulthandler.dump_traceback(all_threads=True)
        self.client.sync_close()

    def _work(self) -> None:
        while time.monotonic() < self.end:
            act, name = self.chance.choice(self._weighted), self.chance.choice(NAMES)
            try:
                act(name)
                self.done[act.__name__.strip("_")] += 1
            except ToolbenchError as error:
                self.done[type(error).__name__] += 1
            except Exception:  # noqa: BLE001 - what this looks for
                self.wrong.append(traceback.format_exc())

    def _entry(self, name: str) -> object:
        kind = self.chance.random()
        if kind < 0.05:
            return SILENT
        if kind < 0.1:
            return WRONG
        if kind < 0.4:
            fake = FakeMCPServer(name, era=self.chance.choice(("modern", "legacy")))
            fake.answer("x", name)
            return fake
        tools = self.chance.choice((["x"], ["x", "y"]))
        words = [str(LIGHT), name, *tools]
        return {"command": sys.executable, "args": words, "mode": "legacy"}

    def _connect(self, name: str) -> None:
        timeout = self.chance.choice((1.0, CONNECTING))
        self.client.connect(name, self._entry(name), timeout=timeout)

    def _add(self, name: str) -> None:
        self.client.add({"mcpServers": {name: self._entry(name), "e": self._entry("e")}})

    def _kill(self, name: str) -> None:
        pid = self.client.server(name).connection.pid
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _call(self, name: str) -> None:
        self.client.server(name).call("x")

    def _list(self, name: str) -> None:
        self.client.server(name).refresh()

    def _look(self, name: str) -> None:
        repr(self.client)
        for tool in self.client:
            self.client.tool(tool.name)
        for session in self.client.known.values():
            repr((session, session.status, session.error, session.problems))


def servers_left() -> list[str]:
    """Return the command lines of the servers that run as children of this process."""
    lines = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            line = " ".join(process.cmdline())
            if "light.py" in line or "stdin.read" in line:
                lines.append(line)
    return lines


def main(seconds: float) -> int:
    """Run for *seconds*; return 1 if something went wrong."""
    stress = Stress(seconds)
    stress.run()
    left = servers_left()
    print(dict(stress.done), f"{sum(stress.done.values())} acts, {len(stress.wrong)} exceptions")
    print(f"{len(left)} servers left", *left, sep="\n")
    for text in list(dict.fromkeys(stress.wrong))[:10]:
        print(text)
    return bool(stress.wrong or left)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 300.0))
