"""The parts of a tool as code for a package, and Python literals for plain values."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pprint import pformat
from textwrap import indent
from typing import Any

from toolbench.core.tool import ToolDefinition
from toolbench.export.code.statements import Statement
from toolbench.wording import snake_case

AnyTool = ToolDefinition[Any, Any]
PACKAGE = "_this_package_"
"""A placeholder for the name of the package, which is not known when the code is written."""
_WIDTH = 76


@dataclass(frozen=True)
class ToolParts:
    """The code of one tool, in parts that are written into the modules of the package.

    Attributes:
        tool: The tool.
        tool_class: The name of the tool's class in the package.
        statements: The statements of the notebook or file, after changes for the package.
        types: The names of the user's classes that `definition.py` needs.
        definition: The generated classes for `definition.py`. It is empty if the user wrote the
            tool's class.
        implementation: The generated code for `impl.py`. It is empty if the user wrote the tool's
            class.
        create: The expression that makes the tool. It may also make other tools.
        lazy: The names that only the method `create` of the user's class needs.
        undecorated: The name of the function from which `@tool` was removed. It is empty if there
            is no such function.
        copied: The names in those expressions of the user that `implementation` copies.
    """

    tool: AnyTool
    tool_class: str
    statements: tuple[Statement, ...]
    types: frozenset[str]
    definition: str
    implementation: str
    create: str
    lazy: frozenset[str] = frozenset()
    undecorated: str = ""
    copied: frozenset[str] = frozenset()


def stem_of(tool: AnyTool, suffixes: Iterable[str], names_in_use: set[str]) -> str:
    """Choose the first part of the class names of *tool*, such as `Add` in `AddAction`.

    Args:
        tool: The tool.
        suffixes: The last parts of the class names, such as `Action` and `Tool`.
        names_in_use: The names that the package already uses. This function adds the new names.
    """
    first = ""
    for word in re.split(r"[^A-Za-z0-9]+", tool.name):
        first += word[:1].upper() + word[1:]
    first = first.removesuffix("Tool")
    if not first[:1].isalpha():
        first = f"My{first}"
    stem, number = first, 2
    while True:
        names = {constant_of(stem), maker_of(stem)}
        names.update(stem + suffix for suffix in suffixes)
        if names_in_use.isdisjoint(names):
            names_in_use |= names
            return stem
        stem, number = f"{first}{number}", number + 1


def maker_of(stem: str) -> str:
    """Return the name of the function that makes the tool's executor."""
    return f"make_{snake_case(stem)}_executor"


def constant_of(stem: str) -> str:
    """Return the name of the constant for the tool's description: `SPLIT_BILL_DESCRIPTION`."""
    return f"{snake_case(stem).upper()}_DESCRIPTION"


def literal(value: Any) -> str:
    """Return *value*, which is made of JSON values, as a Python literal."""
    return pformat(value, sort_dicts=False, width=_WIDTH)


def text_literal(text: str) -> str:
    """Return *text* as a Python literal, if possible with each line of *text* on its own line."""
    plain = text.isprintable() or all(c.isprintable() or c == "\n" for c in text)
    if "\n" not in text or not plain or '"""' in text or "\\" in text or text.endswith('"'):
        return repr(text)
    return f'"""\\\n{text}"""'


def class_of(
    tool: AnyTool,
    stem: str,
    *,
    action: str,
    observation: str,
    executor: str,
    name: str,
    openhands: bool,
) -> str:
    """Return the code of a class for a tool for which the user did not write a class.

    Args:
        tool: The tool.
        stem: The first part of the names of the tool's classes.
        action: The name of the action class.
        observation: The name of the observation class. Pass `Observation` if the tool has no own
            class for results.
        executor: The expression that makes the executor, such as `AddExecutor()`.
        name: The name in *executor* that is imported from `impl.py`, such as `AddExecutor`.
        openhands: Whether the package is for the OpenHands SDK. The SDK has no limit for the size
            of results, so this limit is left out.
    """
    arguments = f"description={constant_of(stem)},\naction_type={action},\n"
    if observation != "Observation":
        arguments += f"observation_type={observation},\n"
    if tool.annotations is not None:
        declared = tool.annotations.model_dump(exclude_unset=True, exclude_none=True)
        hints = ", ".join(f"{name}={value!r}" for name, value in declared.items())
        arguments += f"annotations=ToolAnnotations({hints}),\n"
    if tool.meta is not None:
        arguments += f"meta={literal(dict(tool.meta))},\n"
    if tool.max_result_tokens is not None and not openhands:
        arguments += f"max_result_tokens={tool.max_result_tokens},\n"
    arguments += f"executor={executor},"
    return (
        f"{constant_of(stem)} = {text_literal(tool.description)}\n\n\n"
        f"class {stem}Tool(ToolDefinition[{action}, {observation}]):\n"
        f'    """The tool `{tool.name}`."""\n\n'
        f"    name = {tool.name!r}\n\n"
        "    @classmethod\n"
        "    def create(cls, conv_state: Any = None, **params: Any) -> Sequence[Self]:\n"
        '        """Return the tool. The code that does the work is imported here."""\n'
        f"        from {PACKAGE}.impl import {name}\n\n"
        "        return [\n"
        "            cls(\n"
        f"{indent(arguments, ' ' * 16)}\n"
        "            )\n"
        "        ]\n"
    )
