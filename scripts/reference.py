"""Writes the pages of docs/reference from the docstrings of the public names; `--check` only compares."""
# ruff: noqa: T201 - a script talks to its terminal

import sys
from argparse import _SubParsersAction
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import griffe

from toolbench.magics.call_magics import TOOL_CALL
from toolbench.magics.chat_magics import CHAT, MODEL
from toolbench.magics.mcp_magics import MCP
from toolbench.magics.tool_magics import HISTORY, TOOL, TOOLS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
FIRST = "README.md"
HEAD = """\
# Reference

Made from the docstrings by `make docs`: a page for each package, and here the magics and the commands.
What is not listed is not public and may change. What a class has from another one is described there.
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
    "toolbench.llm.models": None,
    "toolbench.agent": None,
    "toolbench.evals": None,
    "toolbench.serving": None,
    "toolbench.export": None,
    "toolbench.agent.tools": (
        "AskHumanTool",
        "CondensationRequestTool",
        "DelegateTool",
        "EditFileTool",
    ),
    "toolbench.widgets.form": ("SchemaForm",),
    "toolbench.widgets.panel": ("ToolPanel",),
    "toolbench.widgets.explorer": ("Explorer",),
    "toolbench.widgets.evaluation_views.case_form": ("CaseForm",),
    "toolbench.widgets.fields": None,
    "toolbench.testing": None,
    "toolbench.compat": None,
}
COMMANDS = ("new", "lab", "eval", "export", "connect", "doctor")
_FUNCTIONS = {"eval": "eval_"}  # what is called like a function of Python
SKIPPED = ("_", "getdoc")


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` say whether they are as they would be written."""
    texts = pages()
    if "--check" in arguments:
        there = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.md")}
        if there == texts:
            return 0
        print("docs/reference is not what the docstrings say: run `make docs`.")
        return 1
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{FOLDER.relative_to(ROOT)}: {len(texts)} pages written")
    return 0


def pages() -> dict[str, str]:
    """Return the text of each page by the name of its file."""
    package = griffe.load("toolbench", search_paths=[ROOT], docstring_parser="google")
    modules = {
        name: package if name == "toolbench" else package[name.split(".", 1)[1]]
        for name in MODULES
    }
    members = {
        name: [*map(str, chosen_names or exported(name) or public(modules[name]))]
        for name, chosen_names in MODULES.items()
    }
    homes = homes_of_classes(modules, members)
    texts: dict[str, list[str]] = {}
    for name, module in modules.items():
        parts = texts.setdefault(page_of(name), [])
        parts += [f"{'##' if parts else '#'} {name}\n", *sentences(module)]
        for member in members[name]:
            parts += entry(member, module, name, homes)
    contents = [f"- [`{name.removesuffix('.md')}`]({name})" for name in texts]
    first = [HEAD, *contents, "", *magics(), *commands(package)]
    joined = {FIRST: first, **texts}
    return {name: "\n".join(parts).rstrip() + "\n" for name, parts in joined.items()}


def page_of(module: str) -> str:
    """Return the page of *module*: that of its package, or of the parts without a page."""
    parts = module.split(".")[:2]
    has_page = len(parts) > 1 and parts[1] not in ("core", "errors", "runs")
    return f"{'.'.join(parts) if has_page else parts[0]}.md"


def homes_of_classes(
    modules: dict[str, griffe.Module], members: dict[str, list[str]]
) -> dict[str, str]:
    """Return the module that each class is described with, by its path: the first that lists it."""
    homes: dict[str, str] = {}
    for name, module in modules.items():
        for member in filter(None, (found(word, module) for word in members[name])):
            if isinstance(member, griffe.Class):
                homes.setdefault(member.path, name)
    return homes


def magics() -> Iterator[str]:
    """Give what can be typed after each magic, from the parsers that read it."""
    yield "## Magics\n"
    for parser in (TOOLS, TOOL, HISTORY, TOOL_CALL, MODEL, CHAT, MCP):
        yield f"### `{parser.mark}{parser.prog}`\n"
        yield f"{parser.description}\n"
        for action in parser._actions:
            if isinstance(action, _SubParsersAction):
                yield from (f"- `{c.dest}`: {c.help}" for c in action._choices_actions)
            elif action.help and "-h" not in action.option_strings:
                term = ", ".join(action.option_strings) or action.metavar or action.dest
                yield f"- `{term}`: {action.help}"
        examples = "\n".join(parser.examples)
        yield f"\n```text\n{examples}\n```\n"


def commands(package: griffe.Module) -> Iterator[str]:
    """Give the commands of the shell, from their functions."""
    yield "## Commands\n"
    for name in COMMANDS:
        yield f"### `toolbench {name}`\n"
        yield from sentences(package["cli.app"][_FUNCTIONS.get(name, name)])


def exported(name: str) -> list[str]:
    """Return the public names of the module *name*, if it lists them."""
    names: list[str] = getattr(import_module(name), "__all__", [])
    return names


def public(module: griffe.Module) -> list[str]:
    """Return what *module* itself defines without an underscore, in its order."""
    return [
        name
        for name, member in module.members.items()
        if not name.startswith("_") and not member.is_alias and not member.is_module
    ]


def entry(
    name: str, module: griffe.Module, at: str, homes: dict[str, str]
) -> Iterator[str]:
    """Give the lines for one public name, and for the public methods of a class.

    What the class has from another one is only named. *at* is the module that lists it, *homes*
    where each class is described.
    """
    member = found(name, module)
    if member is None or member.docstring is None:
        return
    if not isinstance(member, griffe.Class):
        yield f"### `{name}{signature(member)}`\n"
        yield from sentences(member)
        return
    yield f"### `{name}`\n"  # short: links lead here
    if homes[member.path] != at:
        yield f"The same as {described_at(member, homes, at)}.\n"
        return
    if parameters := signature(member):
        yield f"`{name}{parameters}`\n"
    yield from sentences(member)
    inherited: dict[griffe.Class, list[str]] = {}
    for method in methods(member):
        owner = method.parent
        if isinstance(owner, griffe.Class) and owner is not member:
            holder = (
                owner if owner.path in homes else first_holder(member, owner, homes)
            )
            if holder is not None:
                inherited.setdefault(holder, []).append(method.name)
                continue
        yield f"#### `{name}.{method.name}{signature(method)}`\n"
        yield from sentences(method)
    for owner, names in inherited.items():
        terms = ", ".join(f"`{word}`" for word in names)
        yield f"From {described_at(owner, homes, at)}: {terms}.\n"


def methods(member: griffe.Class) -> Iterator[griffe.Object]:
    """Give the public members of a class, its own and those it inherits, that say what they do."""
    for name, method in member.all_members.items():
        target = method.final_target if method.is_alias else method
        is_ours = target.path.startswith("toolbench.")
        if is_ours and not name.startswith(SKIPPED) and target.docstring is not None:
            yield target


def first_holder(
    member: griffe.Class, owner: griffe.Class, homes: dict[str, str]
) -> griffe.Class | None:
    """Return the described class nearest to *owner* that *member* has its members from."""
    between = [
        base
        for base in member.mro()
        if base.path in homes and (owner.path == base.path or owner in base.mro())
    ]
    return between[-1] if between else None


def described_at(member: griffe.Class, homes: dict[str, str], at: str) -> str:
    """Return a link to the description of *member* from that of the module *at*."""
    home = page_of(homes[member.path])
    return f"[`{member.name}`]({'' if home == page_of(at) else home}#{member.name.lower()})"


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
    texts = (shown_parameter(p) for p in parameters if p.name not in ("self", "cls"))
    result = getattr(member, "returns", None)
    arrow = f" -> {result}" if result and not isinstance(member, griffe.Class) else ""
    return f"({', '.join(texts)}){arrow}"


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
