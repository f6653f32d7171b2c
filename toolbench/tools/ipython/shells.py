"""A new IPython shell for cells that do not run in the kernel's own shell."""

import atexit
import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


class FreshShell:
    """An IPython shell with its own namespace and no history."""

    def __init__(self) -> None:
        """Make the shell. It becomes the shell of the process only if there is none."""
        config = Config(HistoryManager={"enabled": False}, colors="nocolor")
        self._is_the_one = not InteractiveShell.initialized()
        make = InteractiveShell.instance if self._is_the_one else InteractiveShell
        main = sys.modules["__main__"]
        try:
            self.shell: Any = make(config=config, user_ns={})
        finally:
            sys.modules["__main__"] = main  # the shell replaces it
        atexit.unregister(self.shell.atexit_operations)

    def close(self) -> None:
        """Delete the namespace."""
        self.shell.user_ns.clear()
        self.shell.atexit_operations()
        if self._is_the_one:
            InteractiveShell.clear_instance()
