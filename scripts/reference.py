"""Writes docs/reference.md from the docstrings of the public names; `--check` only compares."""
# ruff: noqa: T201 - a script talks to its terminal

import sys
from argparse import _SubParsersAction
from collections.abc import Iterator
from pathlib import Path

import griffe

from toolbench.magics.call_magics import TOOL_CALL
from toolbench.magics.mcp_magics import MCP
from toolbench.magics.tool_magics import HISTORY, TOOL, TOOLS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference.md"
HEAD = """\
# Reference

Made from the docstrings by `make docs`. The magics and commands come first, then everything under
`toolbench` itself; the rest is by package. What is not listed here is not public and may change.
"""
MODULES = {
    "toolbench": None,
    "toolbench.core.builtins": ("FinishTool", "ThinkTool"),
    "toolbench.errors": None,
    "toolbench.runs.policy": ("Policy", "policy"),
    "toolbench.runs.questions": ("Question", "Answer", "answering"),
    "toolbench.runs.parallel": ("run_tools",),
    "toolbench.tools": (
        "default_tools",
        "register_default_tools",
        *("TerminalTool", "FileEditorTool", "TaskTrackerTool", "GlobTool", "GrepTool"),
        *("ApplyPatchTool", "IPythonTool", "WebReadTool", "BrowserTool"),
    ),
    "toolbench.mcp": None,
    "toolbench.llm": None,
    "toolbench.llm.lint": None,
    "toolbench.widgets.form": ("SchemaForm",),
    "toolbench.widgets.panel": ("ToolPanel",),
    "toolbench.widgets.explorer": ("Explorer",),
    "toolbench.widgets.fields": None,
    "toolbench.testing": None,
    "toolbench.compat": None,
}
TOOL_BASES = ("ToolDefinition", "ToolBase", "Exports")
COMMANDS = ("new", "lab", "doctor")


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` say whether it is as it would be written."""
    text = page()
    if "--check" in arguments:
        if PAGE.read_text(encoding="utf-8") == text:
            return 0
        print("docs/reference.md is not what the docstrings say: run `make docs`.")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: written")
    return 0


def page() -> str:
    """Return the whole page."""
    package = griffe.load("toolbench", search_paths=[ROOT], docstring_parser="google")
    parts = [HEAD, *magics(), *commands(package)]
    for name, wanted in MODULES.items():
        module = package if name == "toolbench" else package[name.split(".", 1)[1]]
        parts += [f"## {name}\n", *sentences(module)]
        for member in wanted or module.exports or public(module):
            parts += entry(str(member), module)
    return "\n".join(parts).rstrip() + "\n"


def magics() -> Iterator[str]:
    """Give what can be typed after each magic, from the parsers that read it."""
    yield "## Magics\n"
    for parser in (TOOLS, TOOL, HISTORY, TOOL_CALL, MCP):
        yield f"### `{parser.mark}{parser.prog}`\n"
        yield f"{parser.description}\n"
        for action in parser._actions:
            if isinstance(action, _SubParsersAction):
                yield from (f"- `{c.dest}`: {c.help}" for c in action._choices_actions)
            elif action.help and "-h" not in action.option_strings:
                named = (
                    ", ".join(action.option_strings) or action.metavar or action.dest
                )
                yield f"- `{named}`: {action.help}"
        shown = "\n".join(parser.examples)
        yield f"\n```text\n{shown}\n```\n"


def commands(package: griffe.Module) -> Iterator[str]:
    """Give the commands of the shell, from their functions."""
    yield "## Commands\n"
    for name in COMMANDS:
        yield f"### `toolbench {name}`\n"
        yield from sentences(package["cli.app"][name])


def public(module: griffe.Module) -> list[str]:
    """Return what *module* itself defines without an underscore, in its order."""
    return [
        name
        for name, member in module.members.items()
        if not name.startswith("_") and not member.is_alias and not member.is_module
    ]


def entry(name: str, module: griffe.Module) -> Iterator[str]:
    """Give the lines for one public name, and for the public methods of a class."""
    member = found(name, module)
    if member is None or member.docstring is None:
        return
    yield f"### `{name}{signature(member)}`\n"
    yield from sentences(member)
    if not isinstance(member, griffe.Class):
        return
    for method_name, method in member.all_members.items():
        method = method.final_target if method.is_alias else method
        if method_name.startswith(("_", "getdoc")) or method.docstring is None:
            continue
        if not method.path.startswith("toolbench.") or is_said_of(member, method):
            continue
        yield f"#### `{name}.{method_name}{signature(method)}`\n"
        yield from sentences(method)


def is_said_of(member: griffe.Class, method: griffe.Object) -> bool:
    """Tell whether *member* has *method* from `ToolDefinition`, where it is described."""
    base = method.parent.name if method.parent else ""
    return member.name != "ToolDefinition" and base in TOOL_BASES


def found(name: str, module: griffe.Module) -> griffe.Object | None:
    """Return what *name* of *module* is, wherever it is defined."""
    member = module.members.get(name)
    if member is None:
        return None
    return member.final_target if member.is_alias else member


def signature(member: griffe.Object) -> str:
    """Return the parameters of a function or a class as they are written."""
    if isinstance(member, griffe.Class):
        init = member.all_members.get("__init__")
        parameters = getattr(init, "parameters", None) if init else None
    elif isinstance(member, griffe.Function):
        parameters = member.parameters
    else:
        return ""
    if parameters is None:
        return ""
    shown = (shown_parameter(p) for p in parameters if p.name not in ("self", "cls"))
    result = getattr(member, "returns", None)
    arrow = f" -> {result}" if result and not isinstance(member, griffe.Class) else ""
    return f"({', '.join(shown)}){arrow}"


STARS = {
    griffe.ParameterKind.var_positional: "*",
    griffe.ParameterKind.var_keyword: "**",
}


def shown_parameter(parameter: griffe.Parameter) -> str:
    """Return one parameter: name, type and default."""
    text = STARS.get(parameter.kind, "") + parameter.name
    if parameter.annotation is not None:
        text += f": {parameter.annotation}"
    if parameter.default is not None and parameter.kind not in STARS:
        text += f" = {parameter.default}"
    return text


def sentences(member: griffe.Object) -> Iterator[str]:
    """Give the docstring as Markdown: sections become lists."""
    if member.docstring is None:
        return
    for section in member.docstring.parse("google", warnings=False):
        if section.kind is griffe.DocstringSectionKind.text:
            yield f"{fenced(section.value)}\n"
        elif section.kind is griffe.DocstringSectionKind.examples:
            for _, text in section.value:
                yield f"```text\n{text}\n```\n"
        elif isinstance(section.value, list):
            yield f"*{(section.title or section.kind.value).capitalize()}*\n"
            for item in section.value:
                name = getattr(item, "name", "") or getattr(item, "annotation", "")
                yield f"- `{name}`: {' '.join(item.description.split())}"
            yield ""


def fenced(text: str) -> str:
    """Return *text* with what somebody typed at a prompt set as code."""
    paragraphs = (
        f"```text\n{paragraph}\n```" if paragraph.startswith(">>>") else paragraph
        for paragraph in text.split("\n\n")
    )
    return "\n\n".join(paragraphs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
