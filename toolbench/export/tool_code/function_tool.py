"""Write the code of a tool made by `@tool`: an action class, a tool class and an executor."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import getsource, isasyncgenfunction, iscoroutinefunction, isfunction
from textwrap import dedent
from types import ModuleType
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from toolbench.core.executor import CONVERSATION, innermost
from toolbench.core.functions import parse
from toolbench.core.schema import Observation
from toolbench.core.validators import has_base64
from toolbench.errors import ExportError
from toolbench.export.code.statements import Statement, tool_decorators
from toolbench.export.code.symbol_names import names_of
from toolbench.export.tool_code.tool_parts import (
    AnyTool,
    ToolParts,
    class_of,
    stem_of,
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def parts_of_function(
    tool: AnyTool,
    module: ModuleType,
    statements: Sequence[Statement],
    names_in_use: set[str],
    *,
    openhands: bool,
) -> ToolParts:
    """Return the code for a tool that was made from a function by `@tool`.

    Args:
        tool: The tool.
        module: The module that defines the function: the notebook's `__main__`, or a file.
        statements: The statements of *module*.
        names_in_use: The names that the package already uses. This function adds the names of the
            tool's classes.
        openhands: Whether the package is for the OpenHands SDK.

    Raises:
        ExportError: If *statements* do not define the function, or if its arguments cannot be
            fields of a class.
    """
    function = innermost(tool.function)
    place, statements = _definition_of(tool, function, statements)
    original = statements[place]
    statement = _undecorated(original, module)
    statements[place] = statement
    node: Any = statement.node
    name = node.name
    stem = stem_of(tool, ("Action", "Executor", "Tool"), names_in_use)
    action, observation_type = f"{stem}Action", tool.observation_type
    types = frozenset[str]()
    observation = "Observation"
    if observation_type not in (None, Observation):
        observation = observation_type.__name__
        types = frozenset({observation})
    lines = [*_fields(tool, node, function), *_config(tool, node, openhands=openhands)]
    body = "\n".join(lines) or "    pass"
    classes = (
        # no docstring: a model would read it
        f"class {action}(Action):\n{body}\n\n\n"
        + class_of(
            tool,
            stem,
            action=action,
            observation=observation,
            executor=f"{stem}Executor()",
            name=f"{stem}Executor",
            openhands=openhands,
        )
    )
    returns_text = openhands and observation_type is None
    return ToolParts(
        tool=tool,
        tool_class=f"{stem}Tool",
        statements=tuple(statements),
        types=types,
        definition=classes,
        implementation=_executor(
            tool,
            node,
            f"{stem}Executor",
            f"{action}, {observation}",
            returns_text=returns_text,
        ),
        create=f"{stem}Tool.create()",
        undecorated=name if statement is not original else "",
    )


def _definition_of(
    tool: AnyTool, function: Any, statements: Sequence[Statement]
) -> tuple[int, list[Statement]]:
    """Return the index of the statement that defines *function*, and the statements to use.

    The statements to use are *statements* without later definitions of the same name.

    Raises:
        ExportError: If *function* is not defined at the top of a cell or file.
    """
    name = getattr(function, "__name__", "")
    if not isfunction(function) or function.__qualname__ != name or not name.isidentifier():
        msg = (
            f"{tool.name} was made from {getattr(function, '__qualname__', function)!r}, which is "
            "not a function at the top of a cell or file: write a function there that calls it."
        )
        raise ExportError(msg)
    places = [i for i, s in enumerate(statements) if s.is_definition and name in s.names.gives]
    if not places:
        msg = f"{tool.name}: no cell or file defines its function `{name}`."
        raise ExportError(msg)
    try:
        source = dedent(getsource(function)).strip()
    except (OSError, TypeError):
        source = ""
    own = [i for i in places if statements[i].code.strip() == source]
    place = (own or places)[-1]
    others = {i for i in places if i > place}
    remaining = [s for i, s in enumerate(statements) if i not in others]
    return place, remaining


def _undecorated(statement: Statement, module: ModuleType) -> Statement:
    """Return the statement of a function without its decorator `@tool`."""
    node: Any = statement.node
    lines = statement.code.splitlines()
    first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
    for decorator in reversed(tool_decorators(node, module)):
        begin, end = decorator.lineno - first, (decorator.end_lineno or 0) - first
        del lines[begin : end + 1]
    code = "\n".join(lines)
    if code == statement.code:
        return statement
    [new] = ast.parse(code).body
    names = names_of(new, code)
    return replace(statement, code=code, node=new, names=names, is_tool=True)


def _fields(tool: AnyTool, node: _Function, function: Any) -> Iterator[str]:
    """Yield the lines of the action class: a field for each argument of *tool*.

    Raises:
        ExportError: If a parameter cannot be written as a field.
    """
    parameters, described = _parameters(node), parse(function.__doc__).parameters
    for attribute, field in tool.action_type.model_fields.items():
        name = field.alias or attribute
        if name not in parameters:
            msg = (
                f"{tool.name}: its argument `{name}` is not a parameter in the code of its "
                "function: write a parameter for each argument to export it."
            )
            raise ExportError(msg)
        annotation, default = parameters[name]
        options = list[str]()
        if field.alias:
            options.append(f"alias={field.alias!r}")
        description = described.get(name)
        if description and field.description == description:
            options.append(f"description={description!r}")
        if options:
            annotation = f"Annotated[{annotation}, Field({', '.join(options)})]"
        line = f"    {attribute}: {annotation}"
        if default is not None:
            line += f" = {default}"
        yield line


def _config(tool: AnyTool, node: _Function, *, openhands: bool) -> Iterator[str]:
    """Yield the lines of the action class that are not about a single field."""
    options = list[str]()
    if node.args.kwarg is not None:
        options.append('extra="allow"')
    if openhands and has_base64(tool.action_type):
        # The SDK leaves bytes to pydantic
        options += ['val_json_bytes="base64"', 'ser_json_bytes="base64"']
    if options:
        yield f"    model_config = ConfigDict({', '.join(options)})"
    extra = node.args.kwarg and node.args.kwarg.annotation
    if extra is not None:
        yield f"    __pydantic_extra__: dict[str, {ast.unparse(extra)}]"


def _parameters(node: _Function) -> dict[str, tuple[str, str | None]]:
    """Return the annotation and the default of each parameter except `*args` and `**kwargs`."""
    arguments = node.args
    ordered = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(ordered) - len(arguments.defaults))
    defaults = [*missing, *arguments.defaults, *arguments.kw_defaults]
    return {
        argument.arg: _typed(argument, default)
        for argument, default in zip([*ordered, *arguments.kwonlyargs], defaults, strict=True)
    }


def _typed(argument: ast.arg, default: ast.expr | None) -> tuple[str, str | None]:
    annotation = "Any" if argument.annotation is None else ast.unparse(argument.annotation)
    if default is None:
        return annotation, None
    takes_none = any(word in annotation for word in ("None", "Optional", "Any", "object"))
    if isinstance(default, ast.Constant) and default.value is None and not takes_none:
        # `x: int = None` means Optional
        annotation = f"Optional[{annotation}]"
    return annotation, ast.unparse(default)


def _executor(tool: AnyTool, node: _Function, name: str, types: str, *, returns_text: bool) -> str:
    arguments = [*_arguments(tool.action_type.model_fields, node), *_filled_in(tool)]
    call = f"{node.name}({', '.join(arguments)})"
    function = innermost(tool.function)
    head, body, returned = "def", f"return {call}", "Any"
    if returns_text:
        body = f"return observation_of({call})"
        returned = types.partition(", ")[2]
    else:
        # A call of what is async is async too, so a server runs several at once
        if iscoroutinefunction(function):
            head, body = "async def", f"return await {call}"
        elif isasyncgenfunction(function):
            head, body = "async def", f"async for item in {call}:\n            yield item"
        if node.returns is not None:
            # The output schema of an MCP server is made of it
            returned = ast.unparse(node.returns)
    return (
        f"class {name}(ToolExecutor[{types}]):\n"
        f'    """Calls `{node.name}` with the arguments of an action."""\n\n'
        f"{_declared(tool)}"
        f"    {head} __call__(\n"
        f"        self, action: {types.partition(', ')[0]}, conversation: Any = None\n"
        f"    ) -> {returned}:\n"
        '        """Run once."""\n'
        f"        {body}\n"
    )


def _declared(tool: AnyTool) -> str:
    """Return the line of the executor that declares the secrets of *tool*; empty if it has none."""
    pairs = [f"{name!r}: Secret({one.name!r})" for name, one in tool.secrets.items()]
    if not pairs:
        return ""
    return f"    secrets: ClassVar[dict[str, Secret]] = {{{', '.join(pairs)}}}\n\n"


def _filled_in(tool: AnyTool) -> Iterator[str]:
    for name in tool.secrets:
        value = f"self.secrets[{name!r}].value()"
        if tool.executor.shape.secret_types[name] is SecretStr:
            value = f"SecretStr({value})"
        yield f"{name}={value}"


def _arguments(fields: Mapping[str, FieldInfo], node: _Function) -> Iterator[str]:
    by_position = {argument.arg for argument in node.args.posonlyargs}
    for attribute, field in fields.items():
        name = field.alias or attribute
        if name in by_position:
            yield f"action.{attribute}"
        else:
            yield f"{name}=action.{attribute}"
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    if any(argument.arg == CONVERSATION for argument in arguments):
        yield "conversation=conversation"
    if node.args.kwarg is not None:
        yield "**(action.model_extra or {})"
