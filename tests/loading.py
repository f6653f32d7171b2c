"""Modules loaded from a file that no import finds: scripts, servers, generated code."""

import importlib.util
from pathlib import Path
from types import ModuleType


def loaded(file: Path) -> ModuleType:
    """Return a new module made from *file*, which is not entered in `sys.modules`."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
