"""IPython shells that end with the test."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


@contextmanager
def new_shell(**options: Any) -> Iterator[InteractiveShell]:
    """Make a shell, and end it: left to IPython, each collects all garbage when Python exits.

    Its history is in memory: on the disk, it takes longer than most tests.
    """
    config = Config({"HistoryManager": {"hist_file": ":memory:"}})
    shell = InteractiveShell(config=config, **options)
    try:
        yield shell
    finally:
        atexit.unregister(shell.atexit_operations)
        shell.history_manager.end_session()
        shell.history_manager.close()
