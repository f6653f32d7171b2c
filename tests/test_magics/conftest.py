"""A real IPython shell with toolbench loaded."""

import pytest
from shells import new_shell

from toolbench import history

TOOLS = '''
from typing import Literal
from toolbench import tool

@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    More about it.
    """
    return a + b

@tool
def greet(name: str, style: Literal["short", "long"] = "short", loud: bool = False) -> str:
    """Greet somebody."""
    return f"Hello {name}"

@tool(destructive=True)
def erase(path: str) -> str:
    """Erase a file."""
    return f"erased {path}"

@tool
def fail() -> str:
    """Fail."""
    raise ValueError("the disk is full")
'''


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # Those of tests before, wherever these were
    history().clear()
    with new_shell() as shell:
        shell.run_line_magic("load_ext", "toolbench")
        shell.run_cell(TOOLS).raise_error()
        yield shell
        shell.run_line_magic("unload_ext", "toolbench")
        history().clear()


@pytest.fixture
def mcp(shell):
    """Runs a line of %mcp."""
    return lambda line: shell.run_line_magic("mcp", line)
