"""Where cells run: the shell of this kernel, or one made for the purpose."""

import atexit
import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


class FreshShell:
    """An IPython shell with a namespace of its own and no history."""

    def __init__(self) -> None:
        """Make it. It becomes the shell of the process only where there is none."""
        config = Config(HistoryManager={"enabled": False}, colors="nocolor")
        self._is_the_one = not InteractiveShell.initialized()
        make = InteractiveShell.instance if self._is_the_one else InteractiveShell
        main = sys.modules["__main__"]
        try:
            self.shell: Any = make(config=config, user_ns={})
        finally:
            sys.modules["__main__"] = main  # the shell puts its own there
        atexit.unregister(self.shell.atexit_operations)

    def close(self) -> None:
        """Give the namespace back."""
        self.shell.user_ns.clear()
        self.shell.atexit_operations()
        if self._is_the_one:
            InteractiveShell.clear_instance()
