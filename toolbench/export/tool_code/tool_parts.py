"""The code of a tool in a package, and the text of its plain values."""

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
"""A placeholder for the name of the package, in code that is written before the name is known."""
_WRITTEN = "_written_by_toolbench_"
_WIDTH = 76


@dataclass(frozen=True)
class ToolParts:
    """One tool as code.

    Attributes:
        tool: The tool.
        tool_class: The name of its class in the package.
        statements: The statements of the notebook, or the file, as they go into the package.
        types: The names of a person's code that are used in the definition.
        definition: Classes that were written for the definition; empty if a person's own are used.
        implementation: Code that was written for the implementation; empty like `definition`.
        create: The expression that makes the tool, and the tools made together with it.
        lazy: The names of a person's code that are used only to make the tool.
        undecorated: The function that is not a tool any more in the package, if there is one.
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
    """Return a placeholder for *name* in written code, until the person's own names are known."""
    return f"{_WRITTEN}{name}"


def with_names(code: str, names: Mapping[str, str]) -> str:
    """Return *code* with each placeholder of `written` replaced by its name in *names*, or its own."""
    return re.sub(
        rf"\b{_WRITTEN}(\w+)", lambda match: names.get(match[1], match[1]), code
    )


def stem_of(tool: AnyTool, parts: Iterable[str], names_in_use: set[str]) -> str:
    """Return the beginning of the names of the classes of *tool*, as in `{}Action` and `{}Tool`.

    Args:
        tool: The tool.
        parts: The names to make from it, such as `{}Tool` or `make_{}_executor`.
        names_in_use: The names in use; the names of this tool are added.
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
    """Return the name of the constant with the description: `SPLIT_BILL_DESCRIPTION`."""
    return f"{snake_case(stem).upper()}_DESCRIPTION"


def literal(value: Any, depth: int = 0) -> str:
    """Return a JSON-like *value* as Python, its further lines indented by *depth*."""
    text = pformat(value, sort_dicts=False, width=_WIDTH)
    return text.replace("\n", "\n" + " " * depth)


def text_literal(text: str) -> str:
    """Return *text* as Python, with a line for each of its lines if that is possible."""
    plain = text.isprintable() or all(c.isprintable() or c == "\n" for c in text)
    if (
        "\n" not in text
        or not plain
        or '"""' in text
        or "\\" in text
        or text.endswith('"')
    ):
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
        stem: The beginning of the names of its classes.
        action: The name of its action type.
        observation: The name of its observation type; the name of our own if it has none.
        executor: The expression that makes its executor.
        name: The name to import from the implementation for this expression.
    """
    fields = {
        "description": constant_of(stem),
        "action_type": action,
        **(
            {}
            if observation == written("Observation")
            else {"observation_type": observation}
        ),
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
        '        """Return the tool; what does its work is imported here."""\n'
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
