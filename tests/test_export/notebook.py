"""A notebook with the extension, as a person types it."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from forked import run_pytest
from shells import new_shell

from toolbench import history
from toolbench.extension import load_ipython_extension, unload_ipython_extension


class Notebook:
    """One notebook."""

    def __init__(self, shell):
        self.shell = shell

    def run(self, *cells):
        """Run *cells* one after the other."""
        for cell in cells:
            self.shell.run_cell(cell, store_history=True).raise_error()

    def __getitem__(self, name):
        return self.shell.user_ns[name]


@contextmanager
def new_notebook() -> Iterator[Notebook]:
    """Open a notebook, which is the running one, and end it."""
    with new_shell() as shell, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
        load_ipython_extension(shell)
        try:
            yield Notebook(shell)
        finally:
            unload_ipython_extension(shell)
            history().clear()


def notes_of(folder):
    """What the README says should be looked at, a sentence an item."""
    text = (folder / "README.md").read_text("utf-8")
    return re.findall(r"^- (.*)", text.partition("## To look at")[2], re.MULTILINE)


def run_tests_of(folder):
    """Run the tests of the exported project in *folder*; return what they print."""
    return run_pytest(folder).stdout
