"""The parts of a tool as code for a package, and Python literals for plain values."""

import re
from collections.abc import Iterable, Mapping
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
_WRITTEN = "_written_by_toolbench_"
_WIDTH = 76


@dataclass(frozen=True)
class ToolParts:
    """The code of one tool, in parts for the package.

    Attributes:
        tool: The tool.
        tool_class: The name of the tool's class in the package.
        statements: The statements of the notebook or file, changed as the package needs them.
        types: The names of the person's classes that the definition needs.
        definition: The classes that we write for the definition; empty if the person's class is
            used.
        implementation: The code that we write for the implementation; empty if the person's class
            is used.
        create: The expression that makes the tool, perhaps together with other tools.
        lazy: The names of the person's code that only `create` of the tool's class uses.
        undecorated: The name of the function from which `@tool` was removed; empty if none.
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


def written(name: str) -> str:
    """Return a placeholder for *name* in code that we write.

    `with_names` replaces the placeholder by *name*, or by an alias if the person's code uses *name*
    for something else.
    """
    return f"{_WRITTEN}{name}"


def with_names(code: str, names: Mapping[str, str]) -> str:
    """Return *code* with each placeholder replaced by its name, or by the alias in *names*."""
    return re.sub(rf"\b{_WRITTEN}(\w+)", lambda match: names.get(match[1], match[1]), code)


def stem_of(tool: AnyTool, parts: Iterable[str], names_in_use: set[str]) -> str:
    """Return the first part of the class names of *tool*: `Add` for `AddAction` and `AddTool`.

    Args:
        tool: The tool.
        parts: Patterns of the names, such as `{}Tool` or `make_{snake}_executor`.
        names_in_use: The names that are taken; the names of this tool are added.
    """
    words = re.split(r"[^A-Za-z0-9]+", tool.name)
    stem = "".join(word[:1].upper() + word[1:] for word in words).removesuffix("Tool")
    stem = first = stem if stem[:1].isalpha() else f"My{stem}"
    patterns, number = list(parts), 2
    while not names_in_use.isdisjoint(names := _names_from(stem, patterns)):
        stem, number = f"{first}{number}", number + 1
    names_in_use |= names
    return stem


def _names_from(stem: str, patterns: Iterable[str]) -> set[str]:
    snake = snake_case(stem)
    forms = {"": stem, "lower": stem.lower(), "snake": snake, "upper": snake.upper()}
    return {p.format(forms[""], **forms) for p in patterns} | {constant_of(stem)}


def constant_of(stem: str) -> str:
    """Return the name of the constant for the tool's description: `SPLIT_BILL_DESCRIPTION`."""
    return f"{snake_case(stem).upper()}_DESCRIPTION"


def literal(value: Any, depth: int = 0) -> str:
    """Return *value*, which is made of JSON values, as a Python literal.

    The lines after the first line are indented by *depth* characters.
    """
    text = pformat(value, sort_dicts=False, width=_WIDTH)
    return text.replace("\n", "\n" + " " * depth)


def text_literal(text: str) -> str:
    """Return *text* as a Python literal. If possible, each line of *text* is on a line of its own."""
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
) -> str:
    """Return the code of a class for a tool without its own class.

    Args:
        tool: The tool.
        stem: The beginning of the names of the tool's classes.
        action: The name of the action type.
        observation: The name of the observation type; if the tool has none, `Observation`.
        executor: The expression that makes the executor.
        name: The name in *executor* that is imported from the implementation.
    """
    fields = {
        "description": constant_of(stem),
        "action_type": action,
        **({} if observation == written("Observation") else {"observation_type": observation}),
        **_hints(tool),
        **_meta(tool),
        "executor": executor,
    }
    anything = written("Any")
    arguments = "\n".join(f"{name}={value}," for name, value in fields.items())
    return (
        f"{constant_of(stem)} = {text_literal(tool.description)}\n\n\n"
        f"class {stem}Tool({written('ToolDefinition')}[{action}, {observation}]):\n"
        f'    """The tool `{tool.name}`."""\n\n'
        f"    name = {tool.name!r}\n\n"
        "    @classmethod\n"
        f"    def create(cls, conv_state: {anything} = None, **params: {anything}) "
        f"-> {written('Sequence')}[{written('Self')}]:\n"
        '        """Return the tool. The code that does the work is imported here."""\n'
        f"        from {PACKAGE}.impl import {name}\n\n"
        "        return [\n"
        "            cls(\n"
        f"{indent(arguments, ' ' * 16)}\n"
        "            )\n"
        "        ]\n"
    )


def _hints(tool: AnyTool) -> Mapping[str, str]:
    if tool.annotations is None:
        return {}
    declared = tool.annotations.model_dump(exclude_unset=True, exclude_none=True)
    hints = ", ".join(f"{name}={value!r}" for name, value in declared.items())
    return {"annotations": f"{written('ToolAnnotations')}({hints})"}


def _meta(tool: AnyTool) -> Mapping[str, str]:
    return {} if tool.meta is None else {"meta": literal(dict(tool.meta), 16)}
