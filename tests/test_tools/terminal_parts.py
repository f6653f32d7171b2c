"""What the tests of the terminal share: a terminal, and a way to see who is alive."""

from time import monotonic, sleep

import psutil

from toolbench.tools.terminal import TerminalAction, TerminalExecutor


class Terminal(TerminalExecutor):
    """An executor called with a command."""

    def run(self, command: str, **arguments):
        return self(TerminalAction(command=command, **arguments))

    def type(self, text: str, **arguments):
        return self.run(text, is_input=True, **arguments)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def eventually(condition, seconds: float = 10) -> bool:
    """Look until *condition* holds; other processes tell nobody when they end."""
    end = monotonic() + seconds
    while not condition():
        if monotonic() > end:
            return False
        sleep(0.005)
    return True
