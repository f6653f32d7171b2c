"""The source of the package, read and parsed once: laws are about it, not about what it does."""

import ast
from pathlib import Path

import pytest

import toolbench

PACKAGE = Path(toolbench.__file__).parent


@pytest.fixture(scope="session")
def trees():
    """The syntax tree of each module, by its path in the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
        if "template" not in path.parts
    }
