"""Write the code of a tool that was made by `ToolDefinition(...)` or by a class with `create`."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from inspect import Parameter, isfunction, signature
from types import ModuleType
from typing import Any

from toolbench.core.executor import FunctionExecutor
from toolbench.core.schema import Action, Observation
from toolbench.core.tool import ToolDefinition
from toolbench.errors import ExportError
from toolbench.export.code.statements import Statement
from toolbench.export.code.symbol_names import names_in_code, names_of
from toolbench.export.tool_code.tool_parts import (
    AnyTool,
    ToolParts,
    class_of,
    maker_of,
    stem_of,
)


def parts_of_made(
    tool: AnyTool,
    module: ModuleType,
    statements: Sequence[Statement],
    names_in_use: set[str],
    *,
    openhands: bool,
) -> ToolParts:
    """Return the code for a tool that was made by a call of `ToolDefinition`.

    Args:
        tool: The tool.
        module: The module that contains the call: the notebook's `__main__`, or a file.
        statements: The statements of *module*.
        names_in_use: The names that the package already uses. This function adds the names of the
            tool's classes.
        openhands: Whether the package is for the OpenHands SDK.

    Raises:
        ExportError: If no statement contains this call, if the call has no `executor=`, or if the
            SDK cannot call the executor.
    """
    call = _call_that_made(tool, module, statements)
    expression = next((k.value for k in call.keywords if k.arg == "executor"), None)
    if expression is None:
        msg = f"{tool.name}: the ToolDefinition(...) that made it has no executor=: add it there."
        raise ExportError(msg)
    action, observation = tool.action_type.__name__, "Observation"
    types = {action}
    if tool.action_type is Action:
        action, types = "Action", set()
    if tool.observation_type not in (None, Observation):
        observation = tool.observation_type.__name__
        types.add(observation)
    code = ast.unparse(expression)
    if openhands and isinstance(tool.executor, FunctionExecutor):
        stem = stem_of(tool, ("Executor", "Tool"), names_in_use)
        imported = f"{stem}Executor"
        implementation = _wrapped(tool, imported, action, observation, code)
    else:
        if openhands:
            _check_executor(tool)
        stem = stem_of(tool, ("Tool",), names_in_use)
        imported = maker_of(stem)
        implementation = (
            f"def {imported}() -> Any:\n"
            f'    """Return the executor of `{tool.name}`."""\n'
            f"    return {code}\n"
        )
    return ToolParts(
        tool=tool,
        tool_class=f"{stem}Tool",
        statements=tuple(statements),
        types=frozenset(types),
        definition=class_of(
            tool,
            stem,
            action=action,
            observation=observation,
            executor=f"{imported}()",
            name=imported,
            openhands=openhands,
        ),
        implementation=implementation,
        create=f"{stem}Tool.create()",
        copied=names_in_code(code).uses,
    )


def parts_of_class(
    tool: AnyTool,
    module: ModuleType,
    statements: Sequence[Statement],
    *,
    openhands: bool,
) -> ToolParts:
    """Return the code for a tool that was made by the method `create` of the user's own class.

    *module* is the module that defines the class, and *statements* are its statements.

    Raises:
        ExportError: If *statements* do not define the class, or if the SDK cannot call the
            executor.
    """
    kind = type(tool)
    name = kind.__name__
    if not any(s.is_definition and name in s.names.gives for s in statements):
        msg = f"{tool.name}: no cell or file defines its class `{name}`."
        raise ExportError(msg)
    if openhands:
        _check_executor(tool)
    create = f"{name}.create({_state_for(kind, openhands=openhands)})"
    for statement in statements:
        for part in ast.walk(statement.node):
            if isinstance(part, ast.Call) and ast.unparse(part.func) == f"{name}.create":
                create = ast.unparse(part)
    lazy, statements = _with_lazy_names(name, statements)
    bases = (Action, Observation, None)
    kinds = [t for t in (tool.action_type, tool.observation_type) if t not in bases]
    types = {name, *(t.__name__ for t in kinds)}
    return ToolParts(
        tool=tool,
        tool_class=name,
        statements=tuple(statements),
        types=frozenset(types),
        definition="",
        implementation="",
        create=create,
        lazy=lazy,
    )


def _with_lazy_names(
    name: str, statements: Sequence[Statement]
) -> tuple[frozenset[str], list[Statement]]:
    """Find the names that the class *name* uses only in its method `create`.

    The package imports these names inside `create`, so that `definition.py` does not need them.

    Returns:
        The names, and *statements* in which the class no longer counts as a user of these names.
    """
    changed, lazy = list(statements), frozenset[str]()
    for place, statement in enumerate(statements):
        if isinstance(statement.node, ast.ClassDef) and statement.node.name == name:
            tree = ast.parse(statement.code)
            body: Any = tree.body[0]
            body.body = [n for n in body.body if getattr(n, "name", "") != "create"] or [ast.Pass()]
            rest = names_of(body, ast.unparse(tree))
            names = statement.names
            lazy = names.later - rest.later
            own = replace(names, later=rest.later)
            changed[place] = replace(statement, names=own)
    return lazy, changed


def _state_for(kind: Any, *, openhands: bool) -> str:
    """Return the code of the argument to pass to `create` of the class *kind*; it may be empty."""
    parameters = list(signature(kind.create).parameters.values())
    needs_state = any(
        p.default is Parameter.empty and p.kind is Parameter.POSITIONAL_OR_KEYWORD
        for p in parameters
    )
    if not needs_state:
        return ""
    return "None" if openhands else "ConversationState()"


def _call_that_made(tool: AnyTool, module: ModuleType, statements: Sequence[Statement]) -> ast.Call:
    """Return the syntax tree of the call of `ToolDefinition` that made *tool*.

    Raises:
        ExportError: If no statement has such a call.
    """
    variables = {name for name, value in vars(module).items() if value is tool}
    by_name = by_variable = None
    for statement in statements:
        for call in _definitions_in(statement.node):
            if _name_in(call) == tool.name:
                by_name = call
            elif statement.names.gives & variables:
                by_variable = call
    made = by_name or by_variable
    if made is None:
        msg = (
            f"{tool.name}: no cell or file makes it by ToolDefinition(name={tool.name!r}, ...) "
            "with the name written out: only such a call can be exported."
        )
        raise ExportError(msg)
    return made


def _definitions_in(node: ast.AST) -> Iterator[ast.Call]:
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            function = part.func.value if isinstance(part.func, ast.Subscript) else part.func
            if ast.unparse(function).rpartition(".")[2] == ToolDefinition.__name__:
                yield part


def _name_in(call: ast.Call) -> Any:
    values = (k.value for k in call.keywords if k.arg == "name")
    return next((v.value for v in values if isinstance(v, ast.Constant)), None)


def _check_executor(tool: AnyTool) -> None:
    """Check that the SDK can call the executor of *tool*, to which it always passes a conversation.

    Raises:
        ExportError: If the executor does not accept a conversation.
    """
    call = type(tool.executor).__call__
    if not isfunction(call):
        return
    parameters = signature(call).parameters
    if "conversation" in parameters or len(parameters) > 2:
        return
    msg = (
        f"{tool.name}: the SDK passes a conversation to {type(tool.executor).__name__}.__call__, "
        "which takes none: write (self, action, conversation=None)."
    )
    raise ExportError(msg)


def _wrapped(tool: AnyTool, name: str, action: str, observation: str, code: str) -> str:
    """Return the code of an executor class that calls the function of *tool*.

    Args:
        tool: The tool.
        name: The name of the class.
        action: The name of the action class.
        observation: The name of the observation class.
        code: The expression for the function.
    """
    function = tool.executor.function
    takes_conversation = len(signature(function).parameters) > 1
    arguments = "action, conversation" if takes_conversation else "action"
    call = f"_{name.lower()}_function({arguments})"
    result = f"observation_of({call})" if tool.observation_type is None else call
    return (
        f"_{name.lower()}_function = {code}\n\n\n"
        f"class {name}(ToolExecutor[{action}, {observation}]):\n"
        f'    """Does the work of `{tool.name}`."""\n\n'
        f"    def __call__(self, action: {action}, conversation: Any = None) -> {observation}:\n"
        '        """Run once."""\n'
        f"        return {result}\n"
    )
