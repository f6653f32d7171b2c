"""The tools that a command names: `file.py` or `module`, and perhaps `:name,name`."""

from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.core.tool_names import tool_at
from toolbench.core.user_modules import UserModuleError, module_of
from toolbench.magics.catalog import tools_in


def tools_of(spec: str) -> list[ToolDefinition[Any, Any]]:
    """Return the tools that *spec* names, such as `tools.py` or `package.module:add,split`.

    The part before the colon is a file or a module. The part after the colon names some of its
    tools: by the names of variables, or by addresses such as `server.tool` for the tools of an MCP
    client. Without this part, all tools in the module are returned.

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
