"""What the tests of the terminal share: a terminal, and a way to see who is alive."""

import psutil
from patience import eventually

from toolbench.tools.terminal import TerminalAction, TerminalExecutor


class Terminal(TerminalExecutor):
    """An executor called with a command."""

    def run(self, command: str, **arguments):
        return self(TerminalAction(command=command, **arguments))

    def type(self, text: str, **arguments):
        return self.run(text, is_input=True, **arguments)

    def until(self, ending: str, result) -> str:
        """Wait on after *result* until the output ends with *ending*; return all of it."""
        text = result.text

        def ended() -> bool:
            nonlocal text
            if not text.endswith(ending):
                text += self.run("", timeout=0).text
            return text.endswith(ending)

        eventually(ended, what=f"{ending!r} at the end")
        return text

    @property
    def program(self) -> str:
        """The name of the program that typed keys go to."""
        return psutil.Process(self._shell.foreground).name()


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
