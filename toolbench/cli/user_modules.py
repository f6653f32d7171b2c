"""Import the user's code that a command names: `file.py` or `module`, and perhaps `:name,name`."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import tool_at
from toolbench.errors import ToolbenchError
from toolbench.magics.catalog import tools_in


class UserModuleError(ToolbenchError):
    """The module that a command names cannot be imported, or does not define the tool."""


def tools_of(spec: str) -> list[ToolDefinition[Any, Any]]:
    """Return the tools that *spec* names: `file.py` or `module` for all, `:name,name` after it for some.

    A name is that of a variable, or the address of a tool, `server.tool`, of a client there.

    Raises:
        UserModuleError: If the module cannot be imported, or does not define the tools.
    """
    place, _, names = spec.partition(":")
    module = module_of(place)
    variables = list(vars(module).items())
    known = {name: value for name, value in variables if isinstance(value, ToolDefinition)}
    chosen = [*known]
    if names:
        chosen = [name.strip() for name in names.split(",")]
    tools, missing = dict[int, ToolDefinition[Any, Any]](), []
    for name in chosen:
        tool = known.get(name) or tool_at(name, tools_in(variables))
        if tool is None:
            missing.append(name)
        else:
            tools[id(tool)] = tool
    if missing or not tools:
        what = " ".join(["no tool", ", ".join(missing)]).strip()
        msg = f"{place} defines {what}. It defines: {', '.join(known) or 'none'}."
        raise UserModuleError(msg)
    return [*tools.values()]


def module_of(place: str) -> ModuleType:
    """Import and return the module *place*, which is a file `.py` or the name of a module.

    Raises:
        UserModuleError: If the module cannot be imported.
    """
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
