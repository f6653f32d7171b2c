"""Import the user's code: a `.py` file or a module that a magic, command or file names."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from toolbench.errors import ToolbenchError


class UserModuleError(ToolbenchError):
    """The named module cannot be imported, or does not define the tool."""


def module_of(place: str) -> ModuleType:
    """Import and return the module *place*, which is a `.py` file or the name of a module.

    Raises:
        UserModuleError: If the module cannot be imported.
    """
    # A kernel finds the modules of the current folder; so do a command and pytest
    if "" not in sys.path:
        sys.path.append("")
    try:
        if not place.endswith(".py"):
            return import_module(place)
        spec = spec_from_file_location(Path(place).stem, place)
        if spec is None or spec.loader is None:
            raise ImportError(place)
        module = module_from_spec(spec)
        # Its classes are looked up there
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    except Exception as error:
        # The file of a user may raise anything
        msg = f"{place} cannot be imported: {type(error).__name__}: {error}"
        raise UserModuleError(msg) from error
    return module
